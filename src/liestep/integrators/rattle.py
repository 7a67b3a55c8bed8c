"""RATTLE on any system with a constant regular mass matrix and holonomic constraints (Andersen 1983; symplectic:
Leimkuhler and Skeel 1994): the variational rival of the energy-momentum schemes, joints included.

    P = p_0 - h/2 DV(q_0) - Dg(q_0)^T lambda,  q_1 = q_0 + h M^-1 P,  g(q_1) = 0
    p_1 = P - h/2 DV(q_1) - Dg(q_1)^T mu,      Dg(q_1) M^-1 p_1 = 0

Multipliers of the state are those of both halves, divided by h. On spheres it is the map of `vi_sphere`."""
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.status import Status
from liestep.geometry.linalg import lu, lu_solve
from liestep.integrators._newton import converged, iterate, largest, worse
from liestep.integrators.livens import MULTIPLIERS, WORK
from liestep.integrators.one_step import WEIGHTS, composed, newton_options
from liestep.mechanics.contracts.formulations import ConstantMass
from liestep.mechanics.contracts.method import VARIATIONAL, Certified


class RattleWork(NamedTuple):
    slope: np.ndarray    # (n,) DV at the start of the step
    spare: np.ndarray    # (n, n) for derivatives that nobody asks for
    q1: np.ndarray       # (n,)
    push: np.ndarray     # (n,) P
    free: np.ndarray     # (n,) increment without multipliers
    d: np.ndarray        # (n,) increment
    slopes: np.ndarray   # (m, n) Dg
    pulls: np.ndarray    # (m, n) rows M^-1 Dg(q_0)^T
    a: np.ndarray        # (m, m)
    r: np.ndarray        # (m,)
    multipliers: np.ndarray  # (m,)
    pivots: np.ndarray   # (m,)


class Rattle(NamedTuple):
    """Order 2, symmetric, symplectic; m unknowns, solved by Newton's method. Returns NOT_CONVERGED or
    SINGULAR_MATRIX."""

    tolerance: float  # error left in the increment of a step, relative to it
    iterations: int   # at most

    def workspace(self, problem: ConstantMass, y: np.ndarray) -> RattleWork:
        n, m, kind = problem.size(), problem.bonds(), y.dtype
        slope, q1, push, free, d = (np.zeros(n, kind) for _ in range(5))
        return RattleWork(slope, np.zeros((n, n), kind), q1, push, free, d, np.zeros((m, n), kind),
                          np.zeros((m, n), kind), np.zeros((m, m), kind), np.zeros(m, kind), np.zeros(m, kind),
                          np.zeros(m))

    def start(self, problem: ConstantMass, t: float, y: np.ndarray, h: float, work: RattleWork) -> Status:
        self.gradient(problem, t, y[0], work)
        return Status.OK

    def gradient(self, problem: ConstantMass, t: float, q: np.ndarray, work: RattleWork) -> None:
        """DV less the loads at time t: the midpoint rule between equal ends over one second."""
        for i in range(problem.size()):
            work.slope[i] = 0.0
        problem.forces(0, t - 0.5, 1.0, q, q, work.slope, work.spare)

    def step(self, problem: ConstantMass, t: float, y: np.ndarray, h: float, work: RattleWork) -> Status:
        n, m = problem.size(), problem.bonds()
        q, v, p = y[0], y[1], y[2]
        for i in range(n):
            work.push[i] = p[i] - 0.5*h*work.slope[i]
        status = self.positions(problem, h, q, work)
        if status == Status.OK:
            status = problem.admissible(q, work.q1)
        if status != Status.OK:
            return status
        if y.shape[0] > WORK:
            y[WORK, 0] += problem.work(t, h, q, work.q1)
        for k in range(m):
            y[MULTIPLIERS, k] = work.multipliers[k]/h
            for i in range(n):
                work.push[i] -= work.multipliers[k]*work.slopes[k, i]
        for i in range(n):
            q[i] = work.q1[i]
        self.gradient(problem, t + h, q, work)
        for i in range(n):
            p[i] = work.push[i] - 0.5*h*work.slope[i]
        status = self.momenta(problem, q, p, work)
        if status != Status.OK:
            return status
        for k in range(m):
            y[MULTIPLIERS, k] -= work.r[k]/h
        problem.inverse_mass(p, v)
        return Status.OK

    def positions(self, problem: ConstantMass, h: float, q: np.ndarray, work: RattleWork) -> Status:
        """Newton's method for lambda; leaves the increment, the end and Dg(q_0) in the workspace."""
        n, m = problem.size(), problem.bonds()
        problem.inverse_mass(work.push, work.free)
        problem.slopes(q, work.slopes)
        for k in range(m):
            problem.inverse_mass(work.slopes[k], work.pulls[k])
            work.multipliers[k] = 0.0
        previous = 0.0
        for i in range(n):
            work.d[i] = h*work.free[i]
            previous = max(previous, abs(work.d[i]))
            work.q1[i] = q[i] + work.d[i]
        if m == 0:
            return Status.OK
        status, _ = iterate(self, (problem, h, q, work), 0, previous, self.iterations)
        if status == Status.OK:
            for i in range(n):
                work.q1[i] = q[i] + work.d[i]
            problem.slopes(q, work.slopes)
        return status

    def improve(self, given: tuple, x: int, previous: float) -> tuple[Status, int, float, bool]:
        problem, h, q, work = given
        n, m = problem.size(), problem.bonds()
        for i in range(n):
            work.q1[i] = q[i] + work.d[i]
        problem.constraints(work.q1, work.r)
        self.normal(problem, work.q1, work)
        if not lu(work.a, work.pivots, m):
            return Status.SINGULAR_MATRIX, x, previous, False
        lu_solve(work.a, work.pivots, work.r, m)
        problem.counters[Counter.LINEAR_SOLVES] += 1
        problem.counters[Counter.ITERATIONS] += 1
        for k in range(m):
            work.multipliers[k] += work.r[k]/h
        change, size = 0.0, 0.0
        for i in range(n):
            step = 0.0*work.d[i]
            for k in range(m):
                step -= work.r[k]*work.pulls[k, i]
            work.d[i] += step
            change, size = worse(change, abs(step)), worse(size, abs(work.d[i]))
        return Status.OK, x, change, converged(change, previous, size, largest(work.q1, n), self.tolerance)

    def normal(self, problem: ConstantMass, q: np.ndarray, work: RattleWork) -> None:
        """a = Dg(q) M^-1 Dg(q_0)^T; Dg(q) stays in the workspace."""
        problem.slopes(q, work.slopes)
        for k in range(problem.bonds()):
            for j in range(problem.bonds()):
                total = 0.0*q[0]
                for i in range(problem.size()):
                    total += work.slopes[k, i]*work.pulls[j, i]
                work.a[k, j] = total

    def momenta(self, problem: ConstantMass, q: np.ndarray, p: np.ndarray, work: RattleWork) -> Status:
        """mu from the hidden constraint, linear; leaves -mu in r."""
        n, m = problem.size(), problem.bonds()
        if m == 0:
            return Status.OK
        problem.slopes(q, work.slopes)
        for k in range(m):
            problem.inverse_mass(work.slopes[k], work.pulls[k])
            total = 0.0*q[0]
            for i in range(n):
                total += work.pulls[k, i]*p[i]
            work.r[k] = -total
        self.normal(problem, q, work)
        if not lu(work.a, work.pivots, m):
            return Status.SINGULAR_MATRIX
        lu_solve(work.a, work.pivots, work.r, m)
        problem.counters[Counter.LINEAR_SOLVES] += 1
        for i in range(n):
            for k in range(m):
                p[i] += work.r[k]*work.slopes[k, i]
        return Status.OK


METHODS = {
    "rattle": composed(
        lambda options: Rattle(options["tolerance"], options["iterations"]), formulation="constant_mass",
        summary="order 2, symmetric, implicit in the multipliers; 4, 6 or 8 by weights", conserves=VARIATIONAL,
        citation="Andersen 1983; Leimkuhler and Skeel 1994", options={"weights": WEIGHTS, **newton_options(50)},
        mark=((5, 2, 0), "dashdot", "RATTLE"), also=("shake",),
        certified=Certified(same=(({}, "vi_sphere", {"solver": "explicit"}),))),
}
