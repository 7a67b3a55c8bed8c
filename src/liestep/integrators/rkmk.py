"""Runge-Kutta-Munthe-Kaas methods of any explicit tableau on any left action.

y' = d/ds exp(s f(t, y)).y at s = 0, f: M -> g. The tableau solves sigma' = dexpinv_sigma f(exp(sigma).y_n), sigma(0) = 0.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.core.status import Status
from liestep.geometry.rows import axpy, put, row, scale
from liestep.integrators.method import Method
from liestep.integrators.tableaux import TABLEAUX


class MuntheKaas(NamedTuple):
    """Order of the tableau, explicit; conserves the orbit of the action (unit length, tangency) to round-off, no energy.

    liegroup2021 section 2. Returns CHART_LIMIT when a stage rotates by 2 pi, NOT_EVALUABLE when f does not exist.
    """

    a: Any  # (s, s) strictly lower triangular
    b: Any  # (s,)
    c: Any  # (s,)

    def workspace(self, problem, y):
        rows = problem.algebra_rows()
        return np.zeros((self.b.shape[0] + 1, rows, 3)), np.zeros(y.shape)

    def start(self, problem, t, y, work):
        pass

    def step(self, problem, t, y, h, work):
        stages = self.b.shape[0]
        k, z = work
        sigma = k[stages]
        if not problem.algebra(t, y, k[0]):
            return Status.NOT_EVALUABLE
        for s in range(1, stages):
            for i in range(sigma.shape[0]):
                total = scale(h*self.a[s, 0], row(k[0], i))
                for r in range(1, s):
                    if self.a[s, r] != 0.0:
                        total = axpy(h*self.a[s, r], row(k[r], i), total)
                put(sigma, i, total)
            problem.act(sigma, y, z)
            if not problem.algebra(t + self.c[s]*h, z, k[s]):
                return Status.NOT_EVALUABLE
            if not problem.dexpinv(sigma, k[s], k[s]):
                return Status.CHART_LIMIT
        for i in range(sigma.shape[0]):
            total = scale(h*self.b[0], row(k[0], i))
            for r in range(1, stages):
                total = axpy(h*self.b[r], row(k[r], i), total)
            put(sigma, i, total)
        problem.act(sigma, y, y)
        return Status.OK


def _method(tableau, summary: str) -> Method:
    return Method(summary=summary, order=tableau.order, formulation="lie_action", citation=f"Munthe-Kaas 1999; {tableau.source}",
                  conserves="unit length, tangency", build=lambda options, tolerance, t_end: MuntheKaas(*tableau.arrays()))


METHODS = {
    "lie_euler": _method(TABLEAUX["euler"], "order 1, 1 stage, explicit, Lie group action"),
    "rkmk4": _method(TABLEAUX["rk4"], "order 4, 4 stages, explicit, Lie group action, exact dexpinv"),
}
