"""Explicit Runge-Kutta methods of any tableau on a vector field: the baselines that know nothing of the manifold."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import PROJECTED, Certified, Method, Places, Status, VectorField, borrows, each
from liestep.integrators.one_step import OneStep
from liestep.integrators.tableaux import TABLEAU, TABLEAUX, Tableau, from_decimals, tableau_of


@borrows(OneStep)
class ExplicitRungeKutta(NamedTuple):
    """Order of the tableau, explicit; conserves nothing exactly. `problem.project` acts after each step. One
    specialisation serves all tableaux. Time enters the right-hand side as t + c_i h."""

    a: np.ndarray  # (s, s) strictly lower triangular
    b: np.ndarray  # (s,)
    c: np.ndarray  # (s,)

    def workspace(self, problem: VectorField, y: np.ndarray) -> np.ndarray:
        return np.zeros((self.b.shape[0] + 1, *y.shape), y.dtype)

    def step(self, problem: VectorField, t: float, y: np.ndarray, h: float, work: np.ndarray) -> Status:
        stages = self.b.shape[0]
        z = work[stages]
        if not problem.rhs(t, y, work[0]):
            return Status.NOT_EVALUABLE
        # the last one is the end of the step: one call of each method, see `compile.driver`
        for s in range(1, stages + 1):
            problem.stage(self.b if s == stages else self.a[s], h, work, s, y, y if s == stages else z)
            if s < stages and not problem.rhs(t + self.c[s]*h, z, work[s]):
                return Status.NOT_EVALUABLE
        problem.project(y)
        return Status.OK


def _method(tableau: Tableau, summary: str, **declared: Any) -> Method:
    return Method(summary=summary, order=tableau.order, formulation="vector_field", conserves=PROJECTED,
                  projects=True, citation=tableau.source,
                  build=lambda options, tolerance, t_end: ExplicitRungeKutta(*tableau.arrays()), **declared)


METHODS = {
    "explicit_euler": _method(TABLEAUX["euler"], "order 1, 1 stage, explicit", mark=("4", "dotted", "explicit Euler"),
                              also=("euler", "forward_euler"), places=Places(recommended=False)),
    "rk2_midpoint": _method(TABLEAUX["midpoint"], "order 2, 2 stages, explicit",
                            mark=("s", "dashed", "RK2 midpoint")),
    "rk2_heun": _method(TABLEAUX["heun"], "order 2, 2 stages, explicit", mark=("d", "dotted", "RK2 Heun")),
    "rk4": _method(TABLEAUX["rk4"], "order 4, 4 stages, explicit", mark=("P", "dashed", "RK4"), scipy="RK4",
                   places=Places(shown=3, stands_in=1, won_from=1e-4), certified=Certified((
                       {}, *((form, "sphere_lagrangian") for form in (
                           {"projection": "state"}, {"form": "velocity"}, {"mass": "banded"})),
                       ({"form": "coadjoint"}, "cotangent_rotation")))),
    "runge_kutta": Method(
        summary="any explicit tableau, known or declared", order=4, formulation="vector_field",
        conserves=PROJECTED, projects=True, citation="Kutta 1901",
        options=TABLEAU, order_for=lambda options, sheet, parameters: tableau_of(options).order,
        build=lambda options, tolerance, t_end: ExplicitRungeKutta(*tableau_of(options).arrays()),
        mark=((6, 2, 0), "dashed", "RK, any tableau"), decimals=from_decimals,
        places=Places(recommended=False),  # the tableaux that are known have ids of their own
        certified=Certified(each("tableau", "kutta3", "dormand_prince5", "dop853")[1:])),
}
