"""Steps of the integrators of `livens`.

With the increment d = q_1 - q_0 a step is

    d = h v_m,  p_1 - p_0 = h (dT - DV) - h Dg(q_m)^T lambda,  p_m = pbar,  g(q_1) = 0    (72), (86)

where dT, pbar, DV are discrete derivatives of T(q, v) and V. Along d they give back the differences of T and V, which
keeps the generalized energy p.v - T + V and, with an equivariant derivative, momenta exactly; the midpoint rule instead
is the scheme mpl. Three solvers make one map: `full` for all 3 n + m unknowns, `reduced` for d and lambda after v_1 =
2 d/h - v_0 and p_1 = 2 pbar - p_0 (103), `null_space` for the rotation vector of a single quaternion (remark 4.11). The
unknown is the increment: a difference of positions would cost the energy a factor of 2/h in round-off.
"""
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.status import Status
from liestep.geometry.linalg import lu, lu_solve
from liestep.integrators._linked_bodies import LinkedWork, linked_work
from liestep.integrators._newton import clear, converged, correct, iterate, largest
from liestep.integrators.one_step import OneStep
from liestep.mechanics.contracts.formulations import (
    ConstrainedLagrangian,
    Coordinates,
    LinkedBodies,
    QuaternionHamiltonian,
)

MULTIPLIERS, WORK = 3, 4  # rows of the state
RULES = {"midpoint": 0, "equivariant": 1, "gonzalez": 2, "average": 3}
PRINTED = 1e-9     # residual at which the printed solver stops, before one more update


class Work(NamedTuple):
    """Workspace of a step with N unknowns."""

    r: np.ndarray       # (N,)
    a: np.ndarray       # (N, N)
    pivots: np.ndarray  # (N,)
    d: np.ndarray       # (n,) increment
    q1: np.ndarray      # (n,) end of the step
    v1: np.ndarray
    p1: np.ndarray
    qm: np.ndarray      # (n,) middle
    slopes: np.ndarray  # (m, n) Dg(q_m)
    ends: np.ndarray    # (m, n) Dg(q_1)
    part: np.ndarray    # (n,) and (n, n) of the full solver
    block: np.ndarray
    multipliers: np.ndarray  # (m,)

    def reduced(self, problem: ConstrainedLagrangian, rule: int, t: float, h: float, y: np.ndarray) -> float:
        """Equations of the reduced step, first n + m; largest residual."""
        n, unknowns, q, v, p = problem.size(), problem.size() + problem.bonds(), y[0], y[1], y[2]
        clear(self.r, self.a, unknowns)
        for i in range(n):
            self.v1[i] = 2.0/h*self.d[i] - v[i]
            self.r[i] = -2.0*p[i]
        problem.kinetic(rule, h, q, v, self.q1, self.v1, 1.0, 2.0/h, self.r, self.a)
        problem.forces(rule, t, h, q, self.q1, self.r, self.a)
        bind(problem, h, self, 0, n)
        return largest(self.r, unknowns)

    def flow(self, problem: QuaternionHamiltonian, kind: int, polar: float, t: float, h: float, y: np.ndarray) -> float:
        """Equations of the Hamiltonian step (`quaternion_hamiltonian`); largest residual."""
        n, unknowns, q, p = problem.size(), 2*problem.size() + problem.bonds(), y[0], y[2]
        clear(self.r, self.a, unknowns)
        for i in range(n):
            self.r[i] = self.d[i]
            self.r[n + i] = self.p1[i] - p[i]
            self.a[i, i] = 1.0
            self.a[n + i, n + i] = 1.0
        problem.flow(kind, polar, h, q, p, self.q1, self.p1, self.r, self.a)
        problem.forces(0, t, h, q, self.q1, self.r[n:], self.a[n:])
        bind(problem, h, self, n, 2*n)
        return largest(self.r, unknowns)

    def solve(self, problem: Coordinates, n: int) -> bool:
        """Overwrite r (n,) by the solution; False where the matrix is singular."""
        if not lu(self.a, self.pivots, n):
            return False
        lu_solve(self.a, self.pivots, self.r, n)
        return True


def new_work(problem: Coordinates, y: np.ndarray, unknowns: int) -> Work:
    """Workspace in the number type of the state."""
    n, m, kind = problem.size(), problem.bonds(), y.dtype
    d, q1, v1, p1, qm, part = (np.zeros(n, kind) for _ in range(6))
    return Work(np.zeros(unknowns, kind), np.zeros((unknowns, unknowns), kind), np.zeros(unknowns, dtype=np.int64),
                d, q1, v1, p1, qm, np.zeros((m, n), kind), np.zeros((m, n), kind), part, np.zeros((n, n), kind),
                np.zeros(m, kind))


def is_chain(problem: Coordinates) -> TypeGuard[LinkedBodies]:
    """Whether bodies can be eliminated one after the other (`LinkedBodies` of `mechanics.contracts.formulations`)."""
    return hasattr(problem, "linked") and bool(problem.linked())


@kernel
def begin(problem: Coordinates, y: np.ndarray, h: float, work: Any) -> None:
    """The guess: the increment of the formulation and the last multipliers."""
    problem.guess(h, y[0], y[1], work.d)
    for k in range(problem.bonds()):
        work.multipliers[k] = y[MULTIPLIERS, k]


@kernel
def move(problem: Coordinates, q: np.ndarray, work: Any) -> None:
    """End and middle of the step from the increment."""
    for i in range(problem.size()):
        work.q1[i] = q[i] + work.d[i]
        work.qm[i] = q[i] + 0.5*work.d[i]


@kernel
def bind(problem: Coordinates, h: float, work: Work, row: int, column: int) -> None:
    """Constraint forces in r from `row` on, g(q_1) in the last m, with their derivatives; multipliers have the columns
    from `column` on, increments the first n."""
    n, m = problem.size(), problem.bonds()
    problem.bend(0.5*h, work.multipliers, work.a[row:])
    problem.slopes(work.qm, work.slopes)
    problem.slopes(work.q1, work.ends)
    problem.constraints(work.q1, work.r[column:])
    for k in range(m):
        for i in range(n):
            s = h*work.slopes[k, i]
            work.r[row + i] += s*work.multipliers[k]
            work.a[row + i, column + k] = s
            work.a[column + k, i] = work.ends[k, i]


@kernel
def finish(problem: ConstrainedLagrangian, rule: int, t: float, h: float, y: np.ndarray, work: Any) -> Status:
    """Velocities, momenta, multipliers and work of the reduced solution into the state."""
    status = problem.admissible(y[0], work.q1)
    if status != Status.OK:
        return status
    for i in range(problem.size()):
        work.v1[i] = 2.0/h*work.d[i] - y[1, i]
    problem.momentum(rule, y[0], y[1], work.q1, work.v1, work.p1)
    for i in range(problem.size()):
        work.p1[i] -= y[2, i]
    deposit(problem, t, h, y, work)
    return Status.OK


@kernel
def deposit(problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray, work: Any) -> None:
    """The end of the step, and the work of its loads, into the state."""
    if y.shape[0] > WORK:
        y[WORK, 0] += problem.work(t, h, y[0], work.q1)
    for i in range(problem.size()):
        y[0, i] = work.q1[i]
        y[1, i] = work.v1[i]
        y[2, i] = work.p1[i]
    for k in range(problem.bonds()):
        y[MULTIPLIERS, k] = work.multipliers[k]


@kernel
def correct_increment(problem: Coordinates, work: Any, first: int) -> tuple[float, float, float]:
    """Corrections of the increment and of the multipliers, whose unknowns stand in r from `first` on; change and size
    of the increment, and the size of coordinates."""
    change, size = correct(work.d, work.r, problem.size())
    for k in range(problem.bonds()):
        work.multipliers[k] -= work.r[first + k]
    return change, size, largest(work.q1, problem.size())


def newton(self: Any, given: Any, x: int, previous: float) -> tuple[Status, int, float, bool]:
    """`improve` of `_newton.iterate` for a step with `unknowns(problem)`, their equations in the workspace `common` and
    the largest residual by `residual(problem, t, h, y, work)`, and `update(problem, work)`: (change, size, reach)."""
    problem, t, h, y, work, common = given
    move(problem, y[0], common)
    residual = self.residual(problem, t, h, y, work)
    if not residual < np.inf:
        return Status.NOT_CONVERGED, x, residual, False
    if not common.solve(problem, self.unknowns(problem)):
        return Status.SINGULAR_MATRIX, x, residual, False
    problem.counters[Counter.LINEAR_SOLVES] += 1
    problem.counters[Counter.ITERATIONS] += 1
    change, size, reach = self.update(problem, work)
    done = residual <= PRINTED if self.printed else converged(change, previous, size, reach, self.tolerance)
    return Status.OK, x, change, done


@borrows(OneStep, improve=newton)
class ReducedStep(NamedTuple):
    """Order 2, symmetric, implicit, n + m unknowns: REML (103). `projected` removes q.v after the step (eml_p), which
    is not symmetric. Returns NOT_CONVERGED, SINGULAR_MATRIX, or why the coordinates end."""

    rule: int         # of RULES
    projected: bool
    printed: bool     # stop as printed: residual below PRINTED, then one update more
    tolerance: float  # error left in the increment, relative to it
    iterations: int   # at most

    def workspace(self, problem: ConstrainedLagrangian, y: np.ndarray) -> Work | LinkedWork:
        if is_chain(problem):
            return linked_work(problem, y, 1)
        return new_work(problem, y, self.unknowns(problem))

    def step(self, problem: ConstrainedLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        begin(problem, y, h, work)
        status, _ = iterate(self, (problem, t, h, y, work, work), 0, largest(work.d, problem.size()), self.iterations)
        if status == Status.OK:
            move(problem, y[0], work)
            status = finish(problem, self.rule, t, h, y, work)
        if status == Status.OK and self.projected:
            problem.make_tangent(y[0], y[1])
        return status

    def unknowns(self, problem: Coordinates) -> int:
        return problem.size() + problem.bonds()

    def residual(self, problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray, work: Any) -> float:
        return work.reduced(problem, self.rule, t, h, y)

    def update(self, problem: Coordinates, work: Any) -> tuple[float, float, float]:
        return correct_increment(problem, work, problem.size())


@borrows(OneStep, improve=newton)
class FullStep(NamedTuple):
    """The map of `ReducedStep` with all 3 n + m unknowns d, p_1, v_1, lambda: EML (86), its rows combined so that the
    second is the one of the reduced step."""

    rule: int
    printed: bool
    tolerance: float
    iterations: int

    def workspace(self, problem: ConstrainedLagrangian, y: np.ndarray) -> Work:
        return new_work(problem, y, self.unknowns(problem))

    def step(self, problem: ConstrainedLagrangian, t: float, y: np.ndarray, h: float, work: Work) -> Status:
        n, q, v, p = problem.size(), y[0], y[1], y[2]
        begin(problem, y, h, work)
        for i in range(n):
            work.q1[i] = q[i] + work.d[i]
            work.v1[i] = 2.0/h*work.d[i] - v[i]
        problem.momentum(self.rule, q, v, work.q1, work.v1, work.p1)
        for i in range(n):
            work.p1[i] -= p[i]
        status, _ = iterate(self, (problem, t, h, y, work, work), 0, largest(work.d, n), self.iterations)
        if status == Status.OK:
            move(problem, q, work)
            status = problem.admissible(q, work.q1)
        if status == Status.OK:
            deposit(problem, t, h, y, work)
        return status

    def unknowns(self, problem: ConstrainedLagrangian) -> int:
        return 3*problem.size() + problem.bonds()

    def update(self, problem: ConstrainedLagrangian, work: Work) -> tuple[float, float, float]:
        n = problem.size()
        for i in range(n):
            work.v1[i] -= work.r[n + i]
            work.p1[i] -= work.r[2*n + i]
        return correct_increment(problem, work, 3*n)

    def residual(self, problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray, work: Work) -> float:
        """Rows: balance of momenta and Legendre's condition added up, kinematics, Legendre's condition, constraints;
        columns: d, v_1, p_1, lambda."""
        n, q, v, p = problem.size(), y[0], y[1], y[2]
        a, r = work.a, work.r
        clear(r, a, self.unknowns(problem))
        for part in range(4):  # 2 pbar - h dT and 2 pbar, with derivatives by q_1 and by v_1
            clear(work.part, work.block, n)
            whole, column = part < 2, n*(part % 2)
            row = 0 if whole else 2*n
            problem.kinetic(self.rule, h if whole else 0.0, q, v, work.q1, work.v1, 1.0 - part % 2, float(part % 2),
                            work.part, work.block)
            for i in range(n):
                r[row + i] = work.part[i]
                for j in range(n):
                    a[row + i, column + j] = work.block[i, j]
        for i in range(n):
            r[i] -= 2.0*p[i]
            r[n + i] = work.d[i] - 0.5*h*(v[i] + work.v1[i])
            a[n + i, i] = 1.0
            a[n + i, n + i] = -0.5*h
            r[2*n + i] -= p[i] + work.p1[i]
            a[2*n + i, 2*n + i] = -1.0
        problem.forces(self.rule, t, h, q, work.q1, r, a)
        bind(problem, h, work, 0, 3*n)
        return largest(r, self.unknowns(problem))
