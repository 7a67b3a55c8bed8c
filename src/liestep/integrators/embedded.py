"""Adaptive explicit pairs on a vector field, with dense output; the step control is a component.

Methods of a pair: start -> first step; attempt -> (status, error); interpolate; accept. Its field `control` decides.
"""
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import copy, sqrt
from liestep.compile.status import Status
from liestep.integrators.sizes import ATOL, absolute, evaluate, keep_sizes, rates_from_zero, sizes_of, try_sizes
from liestep.integrators.step_control import MatlabControl
from liestep.integrators.tableaux import DORMAND_PRINCE54
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import VectorField
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option
from liestep.mechanics.contracts.sheet import Options


class DormandPrince(NamedTuple):
    """Order 5(4), 7 stages, first same as last, local extrapolation: MATLAB's ode45 with its
    4th-order continuous extension.

    Conserves nothing exactly. twospheres2009 uses it as "RK45".
    """

    a: np.ndarray      # (7, 7)
    b: np.ndarray      # (7,)
    c: np.ndarray      # (7,)
    e: np.ndarray      # (7,) weights of the error: b - b_hat
    dense: np.ndarray  # (7, 4) coefficients of s, s^2, s^3, s^4
    control: Any
    # without an absolute tolerance: group of each row, and sizes (see `integrators.sizes`)
    groups: np.ndarray = np.zeros(0, dtype=np.int64)
    sizes: np.ndarray = np.zeros((3, 0))

    def measured(self, formulated: Formulated) -> Any:
        """With the groups of a system's rows."""
        groups, sizes = sizes_of(formulated)
        return self._replace(groups=groups, sizes=sizes) if self.control.atol == 0.0 else self

    def workspace(self, problem: VectorField, y: np.ndarray) -> Any:
        return np.zeros((9, *y.shape), y.dtype)  # 7 slopes, new state, stage state

    def start(self, problem: VectorField, t: float, y: np.ndarray, t_end: float, work: Any) -> float:
        evaluate(problem, t, y, work[0])
        if self.control.atol == 0.0:
            rates_from_zero(problem, t, y, 0.01*t_end, self.groups, self.sizes, (work[0], work[1], work[8]))
            try_sizes(self.groups, self.sizes, y, y, 0.0)
        threshold = self.control.atol/self.control.rtol
        speed = 0.0
        for i in range(y.shape[0]):
            if self.control.atol == 0.0:
                threshold = self.sizes[1, self.groups[i]]
            for k in range(y.shape[1]):
                size = max(abs(y[i, k]), threshold)
                if size != 0.0:  # no more than what starts at zero
                    speed = max(speed, abs(work[0, i, k])/size)
        return self.control.first(speed)

    def attempt(self, problem: VectorField, t: float, y: np.ndarray, h: float, work: Any) -> tuple[Status, float]:
        """New state in work[7]; error = |h| max |e.k|/max(|y|, |y+|, atol/rtol)."""
        new = work[7]
        for s in range(1, 7):
            z = new if s == 6 else work[8]
            problem.stage(self.a[s], h, work, s, y, z)
            if not problem.rhs(t + self.c[s]*h, z, work[s]):
                return Status.NOT_EVALUABLE, np.inf
        threshold = self.control.atol/self.control.rtol
        if self.control.atol == 0.0:
            try_sizes(self.groups, self.sizes, y, new, h)
        error = 0.0
        for i in range(y.shape[0]):
            if self.control.atol == 0.0:
                threshold = self.sizes[1, self.groups[i]]
            for k in range(y.shape[1]):
                defect = self.e[0]*work[0, i, k]
                for r in range(1, 7):
                    defect = self.e[r]*work[r, i, k] + defect
                if defect == 0.0:
                    continue
                ratio = abs(defect)/max(abs(y[i, k]), abs(new[i, k]), threshold)
                if not ratio <= error:  # a NaN stays
                    error = ratio
        return Status.OK, abs(h)*error

    def interpolate(self, problem: VectorField, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: Any) -> None:
        """State at t + s h, 0 <= s <= 1, order 4."""
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                total = 0.0
                for r in range(7):
                    weight = s*(self.dense[r, 0] + s*(self.dense[r, 1] + s*(self.dense[r, 2] + s*self.dense[r, 3])))
                    total = weight*work[r, i, k] + total
                out[i, k] = h*total + y[i, k]

    def accept(self, problem: VectorField, y: np.ndarray, work: Any) -> None:
        if self.control.atol == 0.0:
            keep_sizes(self.sizes)
        copy(work[7], y)
        copy(work[6], work[0])


def dormand_prince(options: Options, tolerance: float | None, t_end: float) -> DormandPrince:
    """The pair with MATLAB's step control for checked options."""
    assert tolerance is not None
    tableau = DORMAND_PRINCE54
    control = MatlabControl(tolerance, absolute(options["atol"]), 0.2, t_end/10.0)
    return DormandPrince(*tableau.arrays(), tableau.error_weights(), tableau.dense_rows(), control)


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


def _caution(sizes: Mapping[str, float]) -> str | None:
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
    "ode45": Method(
        summary="order 5(4), 7 stages, explicit, adaptive with dense output (MATLAB's ode45)",
        order=5, formulation="vector_field", adaptive=True,
        citation="Dormand and Prince 1980; Shampine and Reichelt 1997",
        options={"atol": ATOL},
        build=dormand_prince),
    "ode45_norm": Method(
        summary="order 5(4), MATLAB's ode45 with NormControl: the error of the whole state decides",
        order=5, formulation="vector_field", adaptive=True,
        citation="Dormand and Prince 1980; Shampine and Reichelt 1997",
        options={"atol": Option(1e-6, "absolute tolerance; the run's tolerance is the relative one")},
        caution=_caution, build=_build),
}
