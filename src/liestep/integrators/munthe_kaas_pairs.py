"""Adaptive Munthe-Kaas pairs: both methods of an embedded tableau in the Lie algebra, liegroup2021 section 4."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.rows import axpy, copy, put, row, scale
from liestep.compile.status import Status
from liestep.integrators.controlled import CONTROL, controlled
from liestep.integrators.dexpinv import DEXPINV, dexpinv_component, truncated_order
from liestep.integrators.embedded_tableaux import PAIR, pair_of
from liestep.integrators.error_norms import NORM, error_norm, for_system
from liestep.integrators.stages import combine
from liestep.integrators.tableaux import DORMAND_PRINCE54
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import LieAction
from liestep.mechanics.contracts.keeping import ORBIT
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.sheet import Options


class PairWork(NamedTuple):
    k: np.ndarray        # (s, d, 3) values of dexpinv_sigma f
    sigma: np.ndarray    # (d, 3)
    scratch: np.ndarray  # (d, 3)
    slope: np.ndarray    # (d, 3) f at the new state
    new: np.ndarray      # (m, d)
    moved: np.ndarray    # (m, d) of the error norm
    current: np.ndarray  # (1,) 1 when k[0] is f at the state


class MuntheKaasPair(NamedTuple):
    """Order of the tableau, explicit, first same as last, local extrapolation; conserves the orbit of the action.

    The error is the norm of sigma_1 - sigma_hat. f at the new state is the next step's first stage; its dexpinv belongs
    to the old chart and is not. Dense output is exp(sigma(s)).y with the tableau's continuous extension: on the
    manifold, and of the extension's order (4 for Dormand and Prince, else 3 or that of the tableau).
    """

    a: np.ndarray      # (s, s), its last row equal to b
    b: np.ndarray      # (s,)
    c: np.ndarray      # (s,)
    e: np.ndarray      # (s,) b - b_hat
    dense: np.ndarray  # (s, degree) coefficients of s, s^2, ...
    dexpinv: Any
    norm: Any

    def measured(self, formulated: Formulated) -> Any:
        """With the fields of a system's rows."""
        return self._replace(norm=for_system(self.norm, formulated))

    def workspace(self, problem: LieAction, y: np.ndarray) -> Any:
        stages, rows = self.b.shape[0], problem.algebra_rows()
        return PairWork(np.zeros((stages, rows, 3), y.dtype), np.zeros((rows, 3), y.dtype),
                        np.zeros((rows, 3), y.dtype), np.zeros((rows, 3), y.dtype), np.zeros_like(y), np.zeros_like(y),
                        np.zeros(1))

    def start(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Any) -> None:
        self.norm.start(problem, t, y, h, work.k, work.sigma, work.new)
        work.current[0] = 0.0

    def attempt(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Any) -> tuple[Status, float]:
        """New state in work.new."""
        stages = self.b.shape[0]
        for s in range(int(work.current[0]), stages):
            if s > 0:
                combine(self.a[s], h, work.k, s, work.sigma)
                problem.act(work.sigma, y, work.new)
            if not problem.algebra(t + self.c[s]*h, work.new if s > 0 else y, work.k[s]):
                return Status.NOT_EVALUABLE, np.inf
            if s == 0:
                work.current[0] = 1.0
            else:
                if s == stages - 1:
                    copy(work.k[s], work.slope)
                if not self.dexpinv.apply(problem, work.sigma, work.k[s], work.scratch):
                    return Status.CHART_LIMIT, np.inf
        combine(self.e, h, work.k, stages, work.sigma)
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

    def accept(self, y: np.ndarray, work: Any) -> None:
        self.norm.keep()
        copy(work.new, y)
        copy(work.slope, work.k[0])


def _build(options: Options, tolerance: float | None, t_end: float) -> Any:
    assert tolerance is not None
    tableau = pair_of(options)
    pair = MuntheKaasPair(*tableau.arrays(), tableau.error_weights(), tableau.dense_rows(), dexpinv_component(options),
                          error_norm(options))
    return controlled(pair, tableau.embedded_order, options, tolerance)


METHODS = {
    "rkmk_pair": Method(
        summary="order 5(4) with 7 stages, or any explicit embedded tableau, known or declared, adaptive with dense"
        " output, Lie group action", order=DORMAND_PRINCE54.order, formulation="lie_action", conserves=ORBIT,
        adaptive=True, citation="Munthe-Kaas 1999; liegroup2021 section 4", options=PAIR | DEXPINV | CONTROL | NORM,
        order_for=lambda options, sheet, parameters: truncated_order(pair_of(options).order, options), build=_build),
}
