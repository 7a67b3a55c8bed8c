"""MATLAB's ode45 with the option NormControl: the error is that of the whole state, not of its worst number."""
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import sqrt
from liestep.compile.status import Status
from liestep.integrators.embedded import dormand_prince
from liestep.mechanics.contracts.formulations import VectorField
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.sheet import Options

RATIO = 100.0  # of sizes of fields in one norm


@kernel
def length(y: np.ndarray) -> float:
    """Euclidean norm of all numbers of an array of rows."""
    total = 0.0
    for i in range(y.shape[0]):
        for k in range(y.shape[1]):
            total = y[i, k]*y[i, k] + total
    return sqrt(total)


class NormControlled(NamedTuple):
    """Order 5(4), the step of `DormandPrince`, error = h |e.k|/max(|y|, |y+|, atol/rtol) with Euclidean norms of the
    whole state. Conserves nothing exactly."""

    pair: Any
    control: Any  # that of the pair

    def workspace(self, problem: VectorField, y: np.ndarray) -> Any:
        return self.pair.workspace(problem, y)

    def start(self, problem: VectorField, t: float, y: np.ndarray, t_end: float, work: Any) -> float:
        problem.rhs(t, y, work[0])
        return self.control.first(length(work[0])/max(length(y), self.control.atol/self.control.rtol))

    def attempt(self, problem: VectorField, t: float, y: np.ndarray, h: float, work: Any) -> tuple[Status, float]:
        """New state in work[7], defect in work[8]."""
        status, _ = self.pair.attempt(problem, t, y, h, work)
        if status != Status.OK:
            return status, np.inf
        defect = work[8]
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                total = self.pair.e[0]*work[0, i, k]
                for r in range(1, 7):
                    total = self.pair.e[r]*work[r, i, k] + total
                defect[i, k] = total
        threshold = self.control.atol/self.control.rtol
        return Status.OK, abs(h)*length(defect)/max(length(y), length(work[7]), threshold)

    def interpolate(self, problem: VectorField, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: Any) -> None:
        self.pair.interpolate(problem, t, y, h, s, out, work)

    def accept(self, problem: VectorField, y: np.ndarray, work: Any) -> None:
        self.pair.accept(problem, y, work)


def _warning(sizes: Mapping[str, float]) -> str | None:
    """That one field decides, where others are far smaller."""
    large, small = (choose((size, name) for name, size in sizes.items() if size > 0.0) for choose in (max, min))
    if large[0] < RATIO*small[0]:
        return None
    return (f"ode45_norm measures the error of the whole state in one norm: {small[1]} (up to {small[0]:.2g}) is small"
            f" beside {large[1]} (up to {large[0]:.2g}): its relative error may be {large[0]/small[0]:.1g} times"
            " the tolerance; ode45 measures each field against its own size")


def _build(options: Options, tolerance: float | None, t_end: float) -> Any:
    pair = dormand_prince(options, tolerance, t_end)
    return NormControlled(pair, pair.control)


METHODS = {
    "ode45_norm": Method(
        summary="order 5(4), MATLAB's ode45 with NormControl: the error of the whole state decides",
        order=5, formulation="vector_field", adaptive=True,
        citation="Dormand and Prince 1980; Shampine and Reichelt 1997",
        options={"atol": Option(1e-6, "absolute tolerance; the run's tolerance is the relative one")},
        warning=_warning, build=_build),
}
