"""Livens' energy-momentum scheme with the constraint of velocities at the end of the step and a second multiplier,
after Gear, Gupta and Leimkuhler (livens2025 section 2.3). With d = q_1 - q_0,

    d = h v_m + h Dg(q_m)^T gamma,  p_1 - p_0 = h (dT - DV) - h Dg(q_m)^T lambda - h (gamma.D2g) p_m,  p_m = pbar
    g(q_1) = 0,  Dg(q_1) v_1 = 0

gamma stands in both equations as the multiplier of Dg(q) p would in the variational principle. For quadratic
constraints momentum maps of unit quaternions therefore stay, and p.v - T + V changes by -gamma.(Dg(q_1) p_1 - Dg(q_0)
p_0), which is zero where Dg p is: for a free body, or a mass matrix that is a multiple of one.

gamma cannot stand in p = dL/dv - Dg^T gamma alone, as the multiplier of Dg v would: with d = h v_m, the end condition
of a unit quaternion then says |v_1| = |v_0|, which is no motion of a body with different moments."""
from typing import NamedTuple

import numpy as np

from liestep.extend import Keeps, Method, Status, borrows
from liestep.integrators._newton import clear, iterate, largest
from liestep.integrators.livens import (
    GRADIENT,
    RULES,
    STOP,
    Work,
    begin,
    correct_increment,
    deposit,
    move,
    new_work,
    newton,
    stopping,
)
from liestep.integrators.one_step import OneStep
from liestep.mechanics.contracts.formulations import ConstrainedLagrangian
from liestep.mechanics.contracts.method import LINEAR, MOMENTA


class StabilisedWork(NamedTuple):
    """Workspace beside that of `livens`."""

    common: Work
    gamma: np.ndarray   # (m,)
    by_q: np.ndarray    # (n, n) derivative of 2 pbar - h dT by q_1
    by_v: np.ndarray    # (n, n) and by v_1
    own_q: np.ndarray   # (n, n) derivative of 2 pbar by q_1
    own_v: np.ndarray   # (n, n) and by v_1
    bend: np.ndarray    # (n, n) gamma.D2g
    double: np.ndarray  # (n,) 2 pbar
    weights: np.ndarray  # (m,) multipliers for single second derivatives


@borrows(OneStep, improve=newton)
class StabilisedStep(NamedTuple):
    """Order 2, symmetric, implicit; n + 2 m unknowns d, lambda, gamma. Returns NOT_CONVERGED, SINGULAR_MATRIX, or why
    the coordinates end."""

    rule: int         # of RULES
    printed: bool     # stop as printed: residual below PRINTED, then one update more
    tolerance: float  # error left in the increment, relative to it
    iterations: int   # at most

    def workspace(self, problem: ConstrainedLagrangian, y: np.ndarray) -> StabilisedWork:
        n, m, kind = problem.size(), problem.bonds(), y.dtype
        by_q, by_v, own_q, own_v, bend = (np.zeros((n, n), kind) for _ in range(5))
        return StabilisedWork(new_work(problem, y, self.unknowns(problem)), np.zeros(m, kind), by_q, by_v, own_q, own_v,
                              bend, np.zeros(n, kind), np.zeros(m, kind))

    def step(self, problem: ConstrainedLagrangian, t: float, y: np.ndarray, h: float, work: StabilisedWork) -> Status:
        c = work.common
        begin(problem, y, h, c)
        for k in range(problem.bonds()):
            work.gamma[k] = 0.0*y[0, 0]
        status, _ = iterate(self, (problem, t, h, y, work, c), 0, largest(c.d, problem.size()), self.iterations)
        if status == Status.OK:
            move(problem, y[0], c)
            status = problem.admissible(y[0], c.q1)
        if status != Status.OK:
            return status
        self.velocity(problem, h, y, work)
        problem.momentum(self.rule, y[0], y[1], c.q1, c.v1, c.p1)
        for i in range(problem.size()):
            c.p1[i] -= y[2, i]
        deposit(problem, t, h, y, c)
        return Status.OK

    def unknowns(self, problem: ConstrainedLagrangian) -> int:
        return problem.size() + 2*problem.bonds()

    def residual(self, problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray, work: StabilisedWork
                 ) -> float:
        self.equations(problem, t, h, y, work)
        return largest(work.common.r, self.unknowns(problem))

    def update(self, problem: ConstrainedLagrangian, work: StabilisedWork) -> tuple[float, float, float]:
        n, m = problem.size(), problem.bonds()
        for k in range(m):
            work.gamma[k] -= work.common.r[n + m + k]
        return correct_increment(problem, work.common, n)

    def velocity(self, problem: ConstrainedLagrangian, h: float, y: np.ndarray, work: StabilisedWork) -> None:
        """v_1 = 2 d/h - 2 Dg(q_m)^T gamma - v_0; leaves Dg(q_m) in the workspace."""
        common = work.common
        problem.slopes(common.qm, common.slopes)
        for i in range(problem.size()):
            common.v1[i] = 2.0/h*common.d[i] - y[1, i]
            for k in range(problem.bonds()):
                common.v1[i] -= 2.0*work.gamma[k]*common.slopes[k, i]

    def equations(self, problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray,
                  work: StabilisedWork) -> None:
        n, c = problem.size(), work.common
        clear(c.r, c.a, n + 2*problem.bonds())
        self.velocity(problem, h, y, work)
        for i in range(n):
            c.part[i] = 0.0*c.d[i]
            work.double[i] = 0.0*c.d[i]
            for j in range(n):
                work.by_q[i, j], work.by_v[i, j], work.bend[i, j], c.block[i, j] = 0.0, 0.0, 0.0, 0.0
                work.own_q[i, j], work.own_v[i, j] = 0.0, 0.0
        problem.kinetic(self.rule, h, y[0], y[1], c.q1, c.v1, 0.0, 1.0, c.part, work.by_v)
        problem.kinetic(self.rule, h, y[0], y[1], c.q1, c.v1, 1.0, 0.0, c.r, work.by_q)
        problem.kinetic(self.rule, 0.0, y[0], y[1], c.q1, c.v1, 1.0, 0.0, work.double, work.own_q)
        problem.kinetic(self.rule, 0.0, y[0], y[1], c.q1, c.v1, 0.0, 1.0, c.part, work.own_v)
        problem.bend(1.0, work.gamma, work.bend)
        # 2 pbar - h dT + h (gamma.D2g) pbar: its derivatives by q_1 and by v_1
        for i in range(n):
            c.r[i] -= 2.0*y[2, i]
            for k in range(n):
                s = 0.5*h*work.bend[i, k]
                c.r[i] += s*work.double[k]
                for j in range(n):
                    work.by_q[i, j] += s*work.own_q[k, j]
                    work.by_v[i, j] += s*work.own_v[k, j]
        problem.forces(self.rule, t, h, y[0], c.q1, c.r, c.a)
        problem.bend(0.5*h, c.multipliers, c.a)
        problem.slopes(c.q1, c.ends)
        problem.constraints(c.q1, c.r[n:])
        for i in range(n):
            for j in range(n):
                total = work.by_q[i, j] + 2.0/h*work.by_v[i, j]
                for k in range(n):
                    total -= work.by_v[i, k]*work.bend[k, j]
                c.a[i, j] += total
        self.multipliers(problem, h, work)

    def multipliers(self, problem: ConstrainedLagrangian, h: float, work: StabilisedWork) -> None:
        """Columns of lambda and gamma, rows of g(q_1) and of Dg(q_1) v_1."""
        n, m, c = problem.size(), problem.bonds(), work.common
        for k in range(m):
            for j in range(m):
                work.weights[j] = 1.0 if j == k else 0.0
            for i in range(n):
                for j in range(n):
                    c.block[i, j] = 0.0
            problem.bend(1.0, work.weights, c.block)  # second derivative of g_k
            slip = 0.0*h
            for i in range(n):
                s = h*c.slopes[k, i]
                c.r[i] += s*c.multipliers[k]
                c.a[i, n + k] = s
                c.a[n + k, i] = c.ends[k, i]
                slip += c.ends[k, i]*c.v1[i]
                column, row = 0.0*h, 2.0/h*c.ends[k, i]
                for j in range(n):
                    column += 0.5*h*c.block[i, j]*work.double[j] - 2.0*work.by_v[i, j]*c.slopes[k, j]
                    row += c.v1[j]*c.block[j, i] - c.ends[k, j]*work.bend[j, i]
                c.a[i, n + m + k] = column
                c.a[n + m + k, i] = row
            c.r[n + m + k] = slip
            for j in range(m):
                product = 0.0*h
                for i in range(n):
                    product -= 2.0*c.ends[k, i]*c.slopes[j, i]
                c.a[n + m + k, n + m + j] = product


METHODS = {
    "eml_ggl": Method(
        summary="order 2, symmetric, implicit: eml with the constraint of velocities at the end of the step", order=2,
        formulation="constrained_lagrangian", symmetric=True,
        conserves=(Keeps.MANIFOLD, MOMENTA, LINEAR),
        citation="livens2025 section 2.3; Gear, Gupta and Leimkuhler 1985; the scheme is our own",
        options={"gradient": GRADIENT, **STOP},
        build=lambda options, tolerance, t_end: StabilisedStep(RULES[options["gradient"]], *stopping(options))),
}
