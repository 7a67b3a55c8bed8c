"""Adaptive Munthe-Kaas pairs: both methods of an embedded tableau in the Lie algebra, liegroup2021 section 4."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, add, axpy, copy, put, row, scale, sqrt, sub
from liestep.compile.status import Status
from liestep.integrators.declared_tableaux import PAIR, pair_of
from liestep.integrators.dexpinv import DEXPINV, dexpinv_component, truncated_order
from liestep.integrators.error_norms import NORM, error_norm, for_system, generator, moved
from liestep.integrators.one_step import combine
from liestep.integrators.step_control import CONTROL, HairerControl, controlled
from liestep.integrators.tableaux import DOP853, DORMAND_PRINCE54
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import LieAction
from liestep.mechanics.contracts.keeping import ORBIT
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.sheet import Options


class LiePair:
    """What pairs in the Lie algebra share: k[0] of a step is f at the last stage of the one before."""

    def measured(self: Any, formulated: Formulated) -> Any:
        """With the fields of a system's rows."""
        return self._replace(norm=for_system(self.norm, formulated))

    def stages(self: Any, problem: LieAction, t: float, y: np.ndarray, h: float, count: int, work: Any) -> Status:
        """Slopes; the state of the last stage in work.new, its sigma in work.sigma, f there in work.slope."""
        for s in range(int(work.current[0]), count):
            if s > 0:
                combine(self.a[s], h, work.k, s, work.sigma)
                problem.act(work.sigma, y, work.new)
            if not problem.algebra(t + self.c[s]*h, work.new if s > 0 else y, work.k[s]):
                return Status.NOT_EVALUABLE
            if s == 0:
                work.current[0] = 1.0
            else:
                if s == count - 1:
                    copy(work.k[s], work.slope)
                if not self.dexpinv.apply(problem, work.sigma, work.k[s], work.scratch):
                    return Status.CHART_LIMIT
        return Status.OK

    def accept(self: Any, problem: LieAction, y: np.ndarray, work: Any) -> None:
        self.norm.keep()
        copy(work.new, y)
        copy(work.slope, work.k[0])


class PairWork(NamedTuple):
    k: np.ndarray        # (s, d, 3) values of dexpinv_sigma f
    sigma: np.ndarray    # (d, 3)
    scratch: np.ndarray  # (d, 3)
    slope: np.ndarray    # (d, 3) f at the new state
    new: np.ndarray      # (m, d)
    moved: np.ndarray    # (m, d) of the error norm
    current: np.ndarray  # (1,) 1 when k[0] is f at the state


@borrows(LiePair)
class MuntheKaasPair(NamedTuple):
    """Order of the tableau, explicit, first same as last, local extrapolation; conserves the orbit of the action.

    The error is the norm of sigma_1 - sigma_hat. f at the new state is the next step's first stage; its dexpinv belongs
    to the old chart and is not. Dense output is exp(sigma(s)).y with the tableau's continuous extension: on the
    manifold, and of the extension's order (4 for Dormand and Prince, else 3 or that of the tableau)."""

    a: np.ndarray      # (s, s), its last row equal to b
    b: np.ndarray      # (s,)
    c: np.ndarray      # (s,)
    e: np.ndarray      # (s,) b - b_hat
    dense: np.ndarray  # (s, degree) coefficients of s, s^2, ...
    dexpinv: Any
    norm: Any

    def workspace(self, problem: LieAction, y: np.ndarray) -> Any:
        stages, rows = self.b.shape[0], problem.algebra_rows()
        return PairWork(np.zeros((stages, rows, 3), y.dtype), np.zeros((rows, 3), y.dtype),
                        np.zeros((rows, 3), y.dtype), np.zeros((rows, 3), y.dtype), np.zeros_like(y), np.zeros_like(y),
                        np.zeros(1))

    def start(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Any) -> None:
        self.norm.start(problem, t, y, h, work.k, work.sigma, work.new)
        work.current[0] = 0.0

    def attempt(self: Any, problem: LieAction, t: float, y: np.ndarray, h: float, work: Any
                ) -> tuple[Status, float]:
        """New state in work.new."""
        status = self.stages(problem, t, y, h, self.b.shape[0], work)
        if status != Status.OK:
            return status, np.inf
        combine(self.e, h, work.k, self.b.shape[0], work.sigma)
        return Status.OK, self.norm.size(problem, work.sigma, y, work.new, work.moved, h)

    def interpolate(self, problem: LieAction, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: Any) -> None:
        """State at t + s h, 0 <= s <= 1."""
        degree = self.dense.shape[1]
        for i in range(work.sigma.shape[0]):
            total = (0.0, 0.0, 0.0)
            for r in range(self.b.shape[0]):
                weight = 0.0
                for p in range(degree):
                    weight = s*(self.dense[r, degree - 1 - p] + weight)
                total = axpy(weight, row(work.k[r], i), total)
            put(work.sigma, i, scale(h, total))
        problem.act(work.sigma, y, out)


def _build(options: Options, tolerance: float | None, t_end: float) -> Any:
    assert tolerance is not None
    tableau = pair_of(options)
    pair = MuntheKaasPair(*tableau.arrays(), tableau.error_weights(), tableau.dense_rows(), dexpinv_component(options),
                          error_norm(options))
    return controlled(pair, tableau.embedded_order, options, tolerance)


class Work853(NamedTuple):
    k: np.ndarray        # (16, d, 3) values of dexpinv_sigma f; 12 is that of the new state, 13..15 of dense output
    f: np.ndarray        # (7, d, 3) coefficients of dense output
    sigma: np.ndarray    # (d, 3)
    end: np.ndarray      # (d, 3) sigma of the new state
    slope: np.ndarray    # (d, 3) f at the new state
    scratch: np.ndarray  # (d, 3)
    new: np.ndarray      # (m, d)
    stage: np.ndarray    # (m, d)
    current: np.ndarray  # (2,) 1 when k[0] is f at the state; 1 when `f` belongs to the step


@borrows(LiePair)
class MuntheKaas853(NamedTuple):
    """Order 8(5,3), 12 stages, explicit, local extrapolation; conserves the orbit of the action.

    sigma' = dexpinv_sigma f(exp(sigma).y), sigma(0) = 0, by DOP853 (Hairer, Norsett and Wanner 1993, II.5 and II.10).
    Dense output is exp(sigma(s)).y with DOP853's polynomial of order 7 for sigma: on the manifold, three more
    evaluations in steps with an output. The error is the norm of sigma_1 - sigma_hat of order 5, reduced by that
    of order 3 as in DOP853, relative to the tolerance."""

    a: np.ndarray   # (16, 16)
    c: np.ndarray   # (16,)
    e3: np.ndarray  # (16,)
    e5: np.ndarray  # (16,)
    d: np.ndarray   # (4, 16)
    tolerance: float
    dexpinv: Any
    norm: Any
    control: Any

    def workspace(self, problem: LieAction, y: np.ndarray) -> Any:
        rows = (problem.algebra_rows(), 3)
        return Work853(np.zeros((16, *rows), y.dtype), np.zeros((7, *rows), y.dtype), np.zeros(rows, y.dtype),
                       np.zeros(rows, y.dtype), np.zeros(rows, y.dtype), np.zeros(rows, y.dtype), np.zeros_like(y),
                       np.zeros_like(y), np.zeros(2))

    def start(self, problem: LieAction, t: float, y: np.ndarray, t_end: float, work: Any) -> float:
        """First step T/100, as of the other pairs: steps that are too long are rejected."""
        work.current[0] = 0.0
        self.norm.start(problem, t, y, 0.01*t_end, work.k, work.sigma, work.new)
        return 0.01*t_end

    def attempt(self: Any, problem: LieAction, t: float, y: np.ndarray, h: float, work: Any
                ) -> tuple[Status, float]:
        """New state in work.new."""
        work.current[1] = 0.0
        status = self.stages(problem, t, y, h, 13, work)
        if status != Status.OK:
            return status, np.inf
        copy(work.sigma, work.end)
        return Status.OK, self.error(problem, y, h, work)

    def error(self, problem: LieAction, y: np.ndarray, h: float, work: Any) -> float:
        """err5^2/sqrt(err5^2 + 0.01 err3^2) over the tolerance, of the norms of the two estimates."""
        fifth, third = 0.0, 0.0
        for r in range(2):  # one call of the norm, which moves the state, so that it is inlined once
            combine(self.e5 if r == 0 else self.e3, h, work.k, 13, work.sigma)
            fifth, third = third, self.norm.size(problem, work.sigma, y, work.new, work.stage, h)
        if fifth == 0.0:
            return 0.0
        return fifth*fifth/sqrt(fifth*fifth + 0.01*third*third)/self.tolerance

    def interpolate(self, problem: LieAction, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: Any) -> None:
        """State at t + s h, 0 <= s <= 1."""
        if work.current[1] == 0.0:
            self.prepare_dense(problem, t, y, h, work)
        for i in range(work.sigma.shape[0]):
            total = (0.0, 0.0, 0.0)
            for r in range(7):
                total = scale(s if r % 2 == 0 else 1.0 - s, add(row(work.f[6 - r], i), total))
            put(work.sigma, i, total)
        moved(problem, work.sigma, y, out)

    def prepare_dense(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Any) -> None:
        """Where one of the three further stages has no value there is no state, and the run ends."""
        there = True
        for s in range(13, 16):
            combine(self.a[s], h, work.k, s, work.sigma)
            moved(problem, work.sigma, y, work.stage)
            there = generator(problem, t + self.c[s]*h, work.stage, work.k[s]) and there
            there = self.dexpinv.apply(problem, work.sigma, work.k[s], work.scratch) and there
        for i in range(work.sigma.shape[0]):
            change, old, new = row(work.end, i), scale(h, row(work.k[0], i)), scale(h, row(work.k[12], i))
            put(work.f[0], i, change if there else (np.nan, np.nan, np.nan))
            put(work.f[1], i, sub(old, change))
            put(work.f[2], i, sub(scale(2.0, change), add(old, new)))
            for r in range(4):
                put(work.f[3 + r], i, scale(h, self.combined(r, i, work)))
        work.current[1] = 1.0

    def combined(self, r: int, i: int, work: Any) -> Vector:
        """sum_j d_rj k_j of row i of the algebra."""
        total = (0.0, 0.0, 0.0)
        for j in range(16):
            total = axpy(self.d[r, j], row(work.k[j], i), total)
        return total


def _build_853(options: Options, tolerance: float | None, t_end: float) -> Any:
    assert tolerance is not None
    control = HairerControl(exponent=0.125, safety=0.9, smallest=0.2, largest=10.0)
    a, _, c = DOP853.arrays()  # row 12 of a holds the weights b
    return MuntheKaas853(a, c, DOP853.e3, DOP853.e5, DOP853.d, tolerance, dexpinv_component(options),
                         error_norm(options), control)


METHODS = {
    "rkmk_pair": Method(
        summary="order 5(4) with 7 stages, or any explicit embedded tableau, known or declared, adaptive with dense"
        " output, Lie group action", order=DORMAND_PRINCE54.order, formulation="lie_action", conserves=ORBIT,
        adaptive=True, citation="Munthe-Kaas 1999; liegroup2021 section 4", options=PAIR | DEXPINV | CONTROL | NORM,
        order_for=lambda options, sheet, parameters: truncated_order(pair_of(options).order, options), build=_build),
    "rkmk853": Method(
        summary="order 8(5,3), 12 stages, explicit, adaptive with dense output, Lie group action", order=8,
        formulation="lie_action", conserves=ORBIT, adaptive=True, citation=f"Munthe-Kaas 1999; {DOP853.source}",
        options=DEXPINV | NORM,
        order_for=lambda options, sheet, parameters: truncated_order(8, options), build=_build_853),
}
