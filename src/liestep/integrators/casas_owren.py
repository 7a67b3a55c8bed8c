"""The fourth-order Munthe-Kaas method with two commutators, of Casas and Owren."""
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.precision import coefficients
from liestep.compile.rows import axpy, put, row
from liestep.compile.status import Status
from liestep.integrators.dexpinv import chart_order
from liestep.integrators.one_step import OneStep
from liestep.integrators.stages import combine
from liestep.mechanics.contracts.formulations import LieAction
from liestep.mechanics.contracts.keeping import ORBIT
from liestep.mechanics.contracts.method import Method


@borrows(OneStep)
class CasasOwren(NamedTuple):
    """Order 4, 4 stages, explicit; conserves the orbit of the action.

    sigma_s = h sum_r a_sr k_r + h^2 e_s [k_0, k_(s-1)], k_s = f(exp(sigma_s).y), y+ = exp(sigma_4).y: liegroup2021
    section 2. Neither dexpinv nor a limit of rotations.
    """

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
    "rkmk4_2comm": Method(
        summary="order 4, 4 stages, 2 commutators, explicit, Lie group action", order=4, formulation="lie_action",
        conserves=ORBIT, projects=True, citation="Casas and Owren 2003; liegroup2021 section 2",
        order_for=lambda options, sheet, parameters: chart_order(4, options),
        build=lambda options, tolerance, t_end: CasasOwren(*map(coefficients, (A, E, C)))),
}
