"""Components whose methods are machine code that was compiled separately (`simulation.machine_code.straight` finds
it)."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.address import call_address
from liestep.compile.dispatch import hands_on
from liestep.mechanics.contracts.formulations import LieChart, VectorField


class Machine(NamedTuple):
    """A routine in use."""

    address: int
    table: np.ndarray  # constants of the system

    def call(self, t: float, a: np.ndarray, b: np.ndarray, counters: np.ndarray, out: np.ndarray) -> bool:
        return call_address(self.address, t, a, b, self.table, counters, out) == 1


class StraightField(NamedTuple):
    """`VectorField` in machine code."""

    field: Machine
    projection: Machine
    observables: Machine
    stages: int         # address of the sum of stages
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        return self.field.call(t, y, y, self.counters, out)

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        call_address(self.stages, weights, h, k, count, y, out)

    def project(self, y: np.ndarray) -> None:
        self.projection.call(0.0, y, y, self.counters, y)

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.observables.call(0.0, y, y, self.counters, out)


class Seen(NamedTuple):
    """Observables in machine code."""

    code: Machine
    counters: np.ndarray

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.code.call(0.0, y, y, self.counters, out)


@hands_on("form", LieChart)
class StraightAction(NamedTuple):
    """An action on states and a map to its algebra, as `mechanics.formulations.action.ActionForm`, that map in machine
    code."""

    form: Any           # of the action; without its generator where `seen` needs none
    generator: Machine
    seen: Any           # what observes: `Seen` or the form
    counters: np.ndarray

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        return self.generator.call(t, y, y, self.counters, out)

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        return self.form.distance2(y, z)

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.seen.observe(y, out)


@hands_on("form", VectorField)
class StraightRates(NamedTuple):
    """A vector field with its right-hand side in machine code, its other methods as they are."""

    form: Any
    field: Machine
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        return self.field.call(t, y, y, self.counters, out)
