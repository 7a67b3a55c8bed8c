"""The variational integrator of Livens' principle with the midpoint rule (outlook of livens2025): L_d = h L(q_m, (q_1 -
q_0)/h), for mass matrices that may be singular or depend on the position.

    p_0 - h/2 Dg(q_0)^T lambda = pbar - h/2 F,  g(q_1) = 0,  p_1 = pbar + h/2 F - Dg(q_1)^T mu

with pbar = dL/dv and F = dL/dq at q_m and d/h, d = q_1 - q_0. mu and the velocity at the end follow from p_1 = M(q_1)
v_1 and Dg(q_1) v_1 = 0, which together are regular also where M is not. Constraint forces act at the nodes, where g =
0, so that momenta are exact with quaternion joints too. It is not mpl, whose constraint force acts at q_m: the two maps
differ by terms of third order in h. In a quaternion a step has no solution once it turns the body by about a radian.
"""
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows
from liestep.compile.status import Status
from liestep.integrators._livens_steps import MULTIPLIERS, WORK, Work, begin, correct_increment, move, new_work, newton
from liestep.integrators._newton import clear, iterate, largest
from liestep.integrators.composition import WEIGHTS, Composition, order_of_weights
from liestep.integrators.one_step import OneStep
from liestep.integrators.weights import composition_weights
from liestep.mechanics.contracts.formulations import ConstrainedLagrangian
from liestep.mechanics.contracts.keeping import Keeps, Where
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option

MIDPOINT = 0  # of RULES


@borrows(OneStep, improve=newton)
class VariationalStep(NamedTuple):
    """Order 2, symmetric, symplectic; n + m unknowns d and lambda, then n + m linear equations for v_1 and mu. Returns
    NOT_CONVERGED, SINGULAR_MATRIX, or why the coordinates end."""

    tolerance: float  # error left in the increment, relative to it
    iterations: int   # at most
    printed: bool = False  # as of `ReducedStep`

    def workspace(self, problem: ConstrainedLagrangian, y: np.ndarray) -> Work:
        return new_work(problem, y, self.unknowns(problem))

    def step(self, problem: ConstrainedLagrangian, t: float, y: np.ndarray, h: float, work: Work) -> Status:
        begin(problem, y, h, work)
        problem.slopes(y[0], work.slopes)
        status, _ = iterate(self, (problem, t, h, y, work, work), 0, largest(work.d, problem.size()), self.iterations)
        return self.finish(problem, t, h, y, work) if status == Status.OK else status

    def unknowns(self, problem: ConstrainedLagrangian) -> int:
        return problem.size() + problem.bonds()

    def update(self, problem: ConstrainedLagrangian, work: Work) -> tuple[float, float, float]:
        return correct_increment(problem, work, problem.size())

    def residual(self, problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray, work: Work) -> float:
        """Of twice the balance of momenta at q_0, and g(q_1), with derivatives."""
        n = problem.size()
        clear(work.r, work.a, self.unknowns(problem))
        for i in range(n):
            work.v1[i] = 2.0/h*work.d[i] - y[1, i]
            work.r[i] = -2.0*y[2, i]
        problem.kinetic(MIDPOINT, h, y[0], y[1], work.q1, work.v1, 1.0, 2.0/h, work.r, work.a)
        problem.forces(MIDPOINT, t, h, y[0], work.q1, work.r, work.a)
        problem.slopes(work.q1, work.ends)
        problem.constraints(work.q1, work.r[n:])
        for k in range(problem.bonds()):
            for i in range(n):
                s = h*work.slopes[k, i]
                work.r[i] += s*work.multipliers[k]
                work.a[i, n + k] = s
                work.a[n + k, i] = work.ends[k, i]
        return largest(work.r, self.unknowns(problem))

    def finish(self, problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray, work: Work) -> Status:
        """v_1, p_1 = M v_1 and mu from the momentum without mu."""
        n, m = problem.size(), problem.bonds()
        move(problem, y[0], work)
        status = problem.admissible(y[0], work.q1)
        if status != Status.OK:
            return status
        for i in range(n):
            work.v1[i] = 2.0/h*work.d[i] - y[1, i]
            work.part[i] = 0.0*work.d[i]
        problem.momentum(MIDPOINT, y[0], y[1], work.q1, work.v1, work.p1)
        problem.slopes(work.q1, work.ends)
        clear(work.r, work.a, n + problem.bonds())
        problem.kinetic(MIDPOINT, 0.0, work.q1, work.part, work.q1, work.part, 0.0, 1.0, work.r, work.a)  # a = M(q_1)
        for i in range(n):
            work.p1[i] -= y[2, i]
            for k in range(m):
                work.p1[i] += 0.5*h*work.multipliers[k]*work.slopes[k, i]
                work.a[i, n + k] = work.ends[k, i]
                work.a[n + k, i] = work.ends[k, i]
            work.r[i] = work.p1[i]
        for k in range(m):
            work.r[n + k] = 0.0*work.r[0]
        if not work.solve(problem, n + m):
            return Status.SINGULAR_MATRIX
        problem.counters[Counter.LINEAR_SOLVES] += 1
        if y.shape[0] > WORK:
            y[WORK, 0] += problem.work(t, h, y[0], work.q1)
        for i in range(n):
            y[0, i] = work.q1[i]
            y[1, i] = work.r[i]
            for k in range(m):
                work.p1[i] -= work.r[n + k]*work.ends[k, i]
            y[2, i] = work.p1[i]
        for k in range(m):
            y[MULTIPLIERS, k] = 0.5*work.multipliers[k] + work.r[n + k]/h
        return Status.OK


METHODS = {
    "vi_livens": Method(
        summary="order 2, symmetric, implicit, variational, for singular mass matrices and constraints; 4, 6 or 8 by"
        " weights", order=2, formulation="constrained_lagrangian", symmetric=True,
        conserves=(Keeps.MANIFOLD, Keeps.SYMPLECTIC, Keeps.BOUNDED, Where(
            Keeps.MOMENTUM, "without angles as coordinates", lambda options, sheet, parameters:
            options.get("coordinates") != "spherical")),
        citation="livens2025, outlook; Marsden and West 2001",
        options={"weights": WEIGHTS,
                 "tolerance": Option(1e-15, "error left in the increment of a step, as Newton's last two changes show"
                                     " it, relative to the increment"),
                 "iterations": Option(40, "Newton iterations, at most")},
        order_for=order_of_weights,
        build=lambda options, tolerance, t_end: Composition(
            VariationalStep(options["tolerance"], options["iterations"]), composition_weights(options["weights"]))),
}
