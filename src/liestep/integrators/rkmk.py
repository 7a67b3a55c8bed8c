"""Runge-Kutta-Munthe-Kaas methods of any explicit tableau on any left action.

y' = d/ds exp(s f(t, y)).y at s = 0, f: M -> g. The tableau solves sigma' = dexpinv_sigma
f(exp(sigma).y_n), sigma(0) = 0.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.status import Status
from liestep.integrators.declared_tableaux import TABLEAU, tableau_of
from liestep.integrators.dexpinv import DEXPINV, Exact, dexpinv_component, truncated_order
from liestep.integrators.one_step import OneStep
from liestep.integrators.stages import combine
from liestep.integrators.tableaux import TABLEAUX
from liestep.mechanics.contracts.formulations import LieAction
from liestep.mechanics.contracts.keeping import ORBIT
from liestep.mechanics.contracts.method import Method


@borrows(OneStep)
class MuntheKaas(NamedTuple):
    """Order of the tableau, explicit; conserves the orbit of the action (unit length, tangency)
    to round-off, no energy.

    liegroup2021 section 2. One specialisation serves all tableaux, one all truncations of dexpinv. Returns CHART_LIMIT
    when a stage or the step rotates by 2 pi (exact dexpinv only, which one stage does not need), NOT_EVALUABLE when f
    does not exist.
    """

    a: np.ndarray  # (s, s) strictly lower triangular
    b: np.ndarray  # (s,)
    c: np.ndarray  # (s,)
    dexpinv: Any = Exact(0)

    def workspace(self, problem: LieAction, y: np.ndarray) -> Any:
        """(stages, sigma and scratch; stage state)"""
        return np.zeros((self.b.shape[0] + 2, problem.algebra_rows(), 3), y.dtype), np.zeros_like(y)

    def step(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        stages = self.b.shape[0]
        k, z = work
        sigma, scratch = k[stages], k[stages + 1]
        if not problem.algebra(t, y, k[0]):
            return Status.NOT_EVALUABLE
        # the last one is the end of the step: one call of each method, see `compile.driver`
        for s in range(1, stages + 1):
            combine(self.b if s == stages else self.a[s], h, k, s, sigma)
            if s == stages and stages > 1 and not self.dexpinv.in_chart(problem, sigma):
                return Status.CHART_LIMIT
            problem.act(sigma, y, y if s == stages else z)
            if s < stages:
                if not problem.algebra(t + self.c[s]*h, z, k[s]):
                    return Status.NOT_EVALUABLE
                if not self.dexpinv.apply(problem, sigma, k[s], scratch):
                    return Status.CHART_LIMIT
        return Status.OK if problem.project(y) else Status.SINGULAR_MATRIX


METHODS = {
    "rkmk": Method(
        summary="order 4 with 4 stages, or any explicit tableau, known or declared, Lie group action", order=4,
        formulation="lie_action", conserves=ORBIT, projects=True, citation="Munthe-Kaas 1999; liegroup2021 section 2",
        options=TABLEAU | DEXPINV,
        order_for=lambda options, sheet, parameters: truncated_order(tableau_of(options).order, options),
        calls={f"tableau={name}": {"order": TABLEAUX[name].order, "citation": TABLEAUX[name].source}
               for name in ("euler", "heun", "kutta3", "dormand_prince5")},
        build=lambda options, tolerance, t_end: MuntheKaas(*tableau_of(options).arrays(), dexpinv_component(options))),
}
