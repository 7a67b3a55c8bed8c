"""Observables of systems with forces of time and velocity, the same in all families."""
from collections.abc import Callable

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.roles import System
from liestep.mechanics.contracts.formulated import Observable
from liestep.mechanics.contracts.sheet import Parameters, Runner

Requires = Callable[[Parameters, Runner], str | None]


def declares(system: System, method: str) -> bool:
    """Whether a system has an optional method, as its forces: known from its class, before anything is compiled."""
    return hasattr(type(system), method)


@kernel
def separate_work(work: float, column: int, out: np.ndarray) -> None:
    """Of observables that begin with T + V: the energy less the work in its place, work and T + V from a column on."""
    out[column + 1] = out[0]
    out[column] = work
    out[0] -= work


def with_work(observables: tuple[Observable, ...], column: int) -> tuple[Observable, ...]:
    """Observables of a system with forces, which have work and mechanical energy from this column on."""
    energy, *others = observables
    return (Observable("energy", energy.columns, "J", "total energy less the work of the forces",
                       statistics=energy.statistics), *others,
            Observable("work", slice(column, column + 1), "J", "work of the forces since the start", "plain"),
            Observable("mechanical_energy", slice(column + 1, column + 2), "J", "kinetic and potential energy",
                       "plain"))


def requires_forces(kind: str, declared: Callable[[Parameters], bool], other: Requires | None) -> Requires:
    """`Sheet.requires`: what the system says itself, and that the forces or torques (`kind`) that it has at parameters
    for which `declared` is true need a method that takes them."""
    def requires(values: Parameters, method: Runner) -> str | None:
        if not method.takes_forces and declared(values):
            return f"its formulation has no {kind} that depend on time and velocity, and the system has"
        return other(values, method) if other else None

    return requires
