"""How far the two states of a commutator-free pair are apart: liegroup2021, section 4.2 and footnote 5."""
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import sqrt
from liestep.errors import InputError
from liestep.integrators.error_norms import StateNorm, WithoutSizes
from liestep.mechanics.contracts.formulations import LieAction, MetricAction
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.sheet import Options, Sheet

DISTANCE = {"distance": Option(
    "scaled", "between the two states of the pair. scaled: of rows, each relative to the size of its field, so that"
    " units do not matter; euclidean: of all numbers of the rows, as in liegroup2021; riemannian: angles of directions"
    " and attitudes, velocities carried along", ("scaled", "euclidean", "riemannian"))}
WITHOUT = ("coadjoint", "se3", "so3_r3")  # actions whose states have no such distance here


@borrows(WithoutSizes)
class Euclidean(NamedTuple):
    """Of all numbers of the rows: depends on how the manifold is embedded."""

    unused: int  # a component has at least one field

    def between(self, problem: LieAction, start: np.ndarray, y: np.ndarray, z: np.ndarray, h: float) -> float:
        error = 0.0
        for i in range(y.shape[0]):
            square = 0.0
            for k in range(y.shape[1]):
                gap = y[i, k] - z[i, k]
                square += gap*gap
            error += square
        return sqrt(error)


@borrows(WithoutSizes)
class Riemannian(NamedTuple):
    """Of the manifold itself, from the action (`distance2`)."""

    unused: int

    def between(self, problem: MetricAction, start: np.ndarray, y: np.ndarray, z: np.ndarray, h: float) -> float:
        return sqrt(problem.distance2(y, z))


def distance_of(options: Mapping[str, Any]) -> Euclidean | Riemannian | StateNorm:
    """Component of the checked option `distance`."""
    if options["distance"] == "scaled":
        return StateNorm()
    return Riemannian(0) if options["distance"] == "riemannian" else Euclidean(0)


def require_distance(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> None:
    """Raises InputError for a distance on states that have none."""
    if options["distance"] == "riemannian" and options.get("action") in WITHOUT:
        raise InputError(f"option distance is riemannian, which states with action {options['action']} do not have;"
                         " allowed are scaled and euclidean")
