"""Runge-Kutta-Munthe-Kaas methods of any explicit tableau on any left action.

y' = d/ds exp(s f(t, y)).y at s = 0, f: M -> g. The tableau solves sigma' = dexpinv_sigma
f(exp(sigma).y_n), sigma(0) = 0."""
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.precision import coefficients
from liestep.compile.rows import axpy, put, row
from liestep.compile.status import Status
from liestep.integrators.declared_tableaux import TABLEAU, tableau_of
from liestep.integrators.dexpinv import DEXPINV, Exact, chart_order, dexpinv_component, truncated_order
from liestep.integrators.one_step import OneStep, combine
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
    does not exist."""

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


@borrows(OneStep)
class CasasOwren(NamedTuple):
    """Order 4, 4 stages, explicit; conserves the orbit of the action.

    sigma_s = h sum_r a_sr k_r + h^2 e_s [k_0, k_(s-1)], k_s = f(exp(sigma_s).y), y+ = exp(sigma_4).y: liegroup2021
    section 2. Neither dexpinv nor a limit of rotations."""

    a: np.ndarray  # (5, 4)
    e: np.ndarray  # (5,) 0 where there is no commutator
    c: np.ndarray  # (4,)

    def workspace(self, problem: LieAction, y: np.ndarray) -> Any:
        """(stages, sigma and commutator; stage state)"""
        return np.zeros((6, problem.algebra_rows(), 3), y.dtype), np.zeros_like(y)

    def step(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        k, z = work
        sigma, commutator = k[4], k[5]
        for s in range(5):
            if s > 0:
                combine(self.a[s], h, k, s, sigma)
                if self.e[s] != 0.0:
                    problem.bracket(k[0], k[s - 1], commutator)
                    for i in range(sigma.shape[0]):
                        put(sigma, i, axpy(h*h*self.e[s], row(commutator, i), row(sigma, i)))
                problem.act(sigma, y, y if s == 4 else z)
            if s < 4 and not problem.algebra(t + self.c[s]*h, y if s == 0 else z, k[s]):
                return Status.NOT_EVALUABLE
        return Status.OK if problem.project(y) else Status.SINGULAR_MATRIX


A = [[Fraction(x) for x in line.split()]
     for line in ("0 0 0 0", "1/2 0 0 0", "0 1/2 0 0", "0 0 1 0", "1/6 1/3 1/3 1/6")]
E = [Fraction(0), Fraction(0), Fraction(-1, 8), Fraction(0), Fraction(-1, 12)]
C = [Fraction(0), Fraction(1, 2), Fraction(1, 2), Fraction(1)]

METHODS = {
    "rkmk": Method(
        summary="order 4 with 4 stages, or any explicit tableau, known or declared, Lie group action", order=4,
        formulation="lie_action", conserves=ORBIT, projects=True, citation="Munthe-Kaas 1999; liegroup2021 section 2",
        options=TABLEAU | DEXPINV,
        order_for=lambda options, sheet, parameters: truncated_order(tableau_of(options).order, options),
        calls={f"tableau={name}": {"order": TABLEAUX[name].order, "citation": TABLEAUX[name].source}
               for name in ("euler", "heun", "kutta3", "dormand_prince5")},
        build=lambda options, tolerance, t_end: MuntheKaas(*tableau_of(options).arrays(), dexpinv_component(options))),
    "rkmk4_2comm": Method(
        summary="order 4, 4 stages, 2 commutators, explicit, Lie group action", order=4, formulation="lie_action",
        conserves=ORBIT, projects=True, citation="Casas and Owren 2003; liegroup2021 section 2",
        order_for=lambda options, sheet, parameters: chart_order(4, options),
        build=lambda options, tolerance, t_end: CasasOwren(*map(coefficients, (A, E, C)))),
}
