"""How far the two states of a commutator-free pair are apart: liegroup2021, section 4.2 and footnote 5."""
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.contracts.option import Option
from liestep.contracts.sheet import Options, Sheet
from liestep.core.rows import sqrt
from liestep.errors import InputError

DISTANCE = {"distance": Option(
    "euclidean", "between the two states of the pair: of all numbers of the rows, or riemannian: angles of directions"
    " and attitudes, velocities carried along", ("euclidean", "riemannian"), silent=lambda options: True)}
WITHOUT = ("coadjoint", "se3", "so3_r3")  # actions whose states have no such distance here


class Euclidean(NamedTuple):
    """Of all numbers of the rows: depends on how the manifold is embedded."""

    unused: int  # a component has at least one field

    def between(self, problem: Any, y: np.ndarray, z: np.ndarray) -> float:
        error = 0.0
        for i in range(y.shape[0]):
            square = 0.0
            for k in range(y.shape[1]):
                gap = y[i, k] - z[i, k]
                square += gap*gap
            error += square
        return sqrt(error)


class Riemannian(NamedTuple):
    """Of the manifold itself, from the action (`distance2`)."""

    unused: int

    def between(self, problem: Any, y: np.ndarray, z: np.ndarray) -> float:
        return sqrt(problem.distance2(y, z))


def distance_of(options: Mapping[str, Any]) -> Euclidean | Riemannian:
    """Component of the checked option `distance`."""
    return Riemannian(0) if options.get("distance") == "riemannian" else Euclidean(0)


def require_distance(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> None:
    """Raises InputError for a distance on states that have none."""
    if options.get("distance") == "riemannian" and options.get("action") in WITHOUT:
        raise InputError(f"option distance is riemannian, which states with action {options['action']} do not have;"
                         " allowed is euclidean")
