"""Adaptive Munthe-Kaas pairs: both methods of an embedded tableau in the Lie algebra, liegroup2021 section 4."""
from typing import Any, NamedTuple

import numpy as np

from liestep.contracts.method import ORBIT, Method
from liestep.contracts.sheet import Options
from liestep.core.rows import axpy, copy, dot, put, row, scale, sqrt
from liestep.core.status import Status
from liestep.integrators.controlled import CONTROL, controlled
from liestep.integrators.dexpinv import DEXPINV, dexpinv_component, truncated_order
from liestep.integrators.stages import combine
from liestep.integrators.tableaux import DORMAND_PRINCE54, EmbeddedTableau


class PairWork(NamedTuple):
    k: Any        # (s, d, 3) values of dexpinv_sigma f
    sigma: Any    # (d, 3)
    scratch: Any  # (d, 3)
    slope: Any    # (d, 3) f at the new state
    new: Any      # (m, d)
    current: Any  # (1,) 1 when k[0] is f at the state


class MuntheKaasPair(NamedTuple):
    """Order of the tableau, explicit, first same as last, local extrapolation; conserves the orbit of the action.

    The error is |sigma_1 - sigma_hat|, Euclidean norm in the algebra. f at the new state is the next step's first
    stage; its dexpinv belongs to the old chart and is not. Dense output is exp(sigma(s)).y with the tableau's
    continuous extension: on the manifold, and of the extension's order (4 for Dormand and Prince).
    """

    a: Any        # (s, s), its last row equal to b
    b: Any        # (s,)
    c: Any        # (s,)
    e: Any        # (s,) b - b_hat
    dense: Any    # (s, degree) coefficients of s, s^2, ...
    dexpinv: Any

    def workspace(self, problem, y):
        stages, rows = self.b.shape[0], problem.algebra_rows()
        return PairWork(np.zeros((stages, rows, 3), y.dtype), np.zeros((rows, 3), y.dtype),
                        np.zeros((rows, 3), y.dtype), np.zeros((rows, 3), y.dtype), np.zeros_like(y), np.zeros(1))

    def start(self, work):
        work.current[0] = 0.0

    def attempt(self, problem, t, y, h, work):
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
        error = 0.0
        for i in range(work.sigma.shape[0]):
            error += dot(row(work.sigma, i), row(work.sigma, i))
        return Status.OK, sqrt(error)

    def interpolate(self, problem, t, y, h, s, out, work):
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

    def accept(self, y, work):
        copy(work.new, y)
        copy(work.slope, work.k[0])


def _method(tableau: EmbeddedTableau, summary: str) -> Method:
    def build(options: Options, tolerance: float | None, t_end: float) -> Any:
        assert tolerance is not None
        pair = MuntheKaasPair(*tableau.arrays(), tableau.error_weights(), tableau.dense_rows(),
                              dexpinv_component(options))
        return controlled(pair, tableau.embedded_order, options, tolerance)

    return Method(summary=f"{summary}, explicit, adaptive with dense output, Lie group action", order=tableau.order,
                  formulation="lie_action", conserves=ORBIT, adaptive=True,
                  citation=f"liegroup2021 section 4; {tableau.source}", options=DEXPINV | CONTROL,
                  order_for=lambda options, sheet, parameters: truncated_order(tableau.order, options), build=build)


METHODS = {"rkmk54": _method(DORMAND_PRINCE54, "order 5(4), 7 stages")}
