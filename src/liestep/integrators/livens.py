"""Integrators from Livens' principle (Kinon and Betsch 2024, livens2025): positions, velocities and momenta are
independent, q' = v, p' = dL/dq - Dg^T lambda, p = dL/dv, g(q) = 0, so that the mass matrix may be singular.

With the increment d = q_1 - q_0 a step is

    d = h v_m,  p_1 - p_0 = h (dT - DV) - h Dg(q_m)^T lambda,  p_m = pbar,  g(q_1) = 0    (72), (86)

where dT, pbar, DV are discrete derivatives of T(q, v) and V. Along d they give back the differences of T and V, which
keeps the generalized energy p.v - T + V and, with an equivariant derivative, momenta exactly; the midpoint rule instead
is the scheme mpl. Three solvers make one map: `full` for all 3 n + m unknowns, `reduced` for d and lambda after v_1 =
2 d/h - v_0 and p_1 = 2 pbar - p_0 (103), `null_space` for the rotation vector of a single quaternion (remark 4.11). The
unknown is the increment: a difference of positions would cost the energy a factor of 2/h in round-off.

eml keeps the generalized energy p.v - T + V to round-off, mpl is the midpoint rule of the same equations. In a unit
quaternion the mass matrix is singular along q, and the velocities of eml carry a parasite there, q.v, that grows
exponentially while the generalized energy stands still: see docs/energy_momentum.md before long runs. Chains of bodies
are eliminated one after the other by the reduced solver (`_linked_bodies`), in time proportional to their number."""
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.rows import Vector, unit
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.linalg import lu, lu_solve
from liestep.geometry.quaternion import (
    Quaternion,
    body_part,
    exponential,
    exponential_slope,
    from_space,
    inner,
    put_quaternion,
    quaternion,
    space_part,
)
from liestep.integrators._linked_bodies import LinkedWork, linked_work
from liestep.integrators._newton import clear, converged, correct, extent, iterate, largest
from liestep.integrators.one_step import COMPOSED, WEIGHTS, OneStep, composed, newton_options
from liestep.integrators.weights import SCHEMES
from liestep.mechanics.contracts.formulations import (
    ConstrainedLagrangian,
    Coordinates,
    LinkedBodies,
    QuaternionHamiltonian,
)
from liestep.mechanics.contracts.method import IN_LINES, MOMENTA, OF_POSITIONS, Certified, Keeps, Places, Where
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet

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
        n, unknowns = problem.size(), problem.size() + problem.bonds()
        balance(problem, rule, t, h, y, self, unknowns)
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


Common = Work | LinkedWork


def new_work(problem: Coordinates, y: np.ndarray, unknowns: int) -> Work:
    """Workspace in the number type of the state."""
    n, m, kind = problem.size(), problem.bonds(), y.dtype
    d, q1, v1, p1, qm, part = (np.zeros(n, kind) for _ in range(6))
    return Work(np.zeros(unknowns, kind), np.zeros((unknowns, unknowns), kind), np.zeros(unknowns),
                d, q1, v1, p1, qm, np.zeros((m, n), kind), np.zeros((m, n), kind), part, np.zeros((n, n), kind),
                np.zeros(m, kind))


def is_chain(problem: Coordinates) -> TypeGuard[LinkedBodies]:
    """Whether bodies can be eliminated one after the other (`LinkedBodies` of `mechanics.contracts.formulations`)."""
    return hasattr(problem, "linked") and bool(problem.linked())


@kernel
def begin(problem: Coordinates, y: np.ndarray, h: float, work: Common) -> None:
    """The guess: the increment of the formulation and the last multipliers."""
    problem.guess(h, y[0], y[1], work.d)
    for k in range(problem.bonds()):
        work.multipliers[k] = y[MULTIPLIERS, k]


@kernel
def move(problem: Coordinates, q: np.ndarray, work: Common) -> None:
    """End and middle of the step from the increment."""
    for i in range(problem.size()):
        work.q1[i] = q[i] + work.d[i]
        work.qm[i] = q[i] + 0.5*work.d[i]


@kernel
def balance(problem: ConstrainedLagrangian, rule: int, t: float, h: float, y: np.ndarray, work: Work,
            unknowns: int) -> None:
    """Twice the balance of momenta without constraint forces, and its derivative, in cleared equations."""
    clear(work.r, work.a, unknowns)
    for i in range(problem.size()):
        work.v1[i] = 2.0/h*work.d[i] - y[1, i]
        work.r[i] = -2.0*y[2, i]
    problem.kinetic(rule, h, y[0], y[1], work.q1, work.v1, 1.0, 2.0/h, work.r, work.a)
    problem.forces(rule, t, h, y[0], work.q1, work.r, work.a)


@kernel
def bind(problem: Coordinates, h: float, work: Work, row: int, column: int) -> None:
    """Constraint forces in the middle of the step, see `pull`, with their derivatives."""
    problem.bend(0.5*h, work.multipliers, work.a[row:])
    problem.slopes(work.qm, work.slopes)
    pull(problem, h, work, row, column)


@kernel
def pull(problem: Coordinates, h: float, work: Work, row: int, column: int) -> None:
    """Constraint forces along `slopes` in r from `row` on, g(q_1) in the last m; multipliers have the columns from
    `column` on, increments the first n."""
    problem.slopes(work.q1, work.ends)
    problem.constraints(work.q1, work.r[column:])
    for k in range(problem.bonds()):
        for i in range(problem.size()):
            s = h*work.slopes[k, i]
            work.r[row + i] += s*work.multipliers[k]
            work.a[row + i, column + k] = s
            work.a[column + k, i] = work.ends[k, i]


@kernel
def follow(problem: ConstrainedLagrangian, rule: int, h: float, y: np.ndarray, work: Common) -> None:
    """Velocity and momentum of the reduced step from its end."""
    for i in range(problem.size()):
        work.v1[i] = 2.0/h*work.d[i] - y[1, i]
    problem.momentum(rule, y[0], y[1], work.q1, work.v1, work.p1)
    for i in range(problem.size()):
        work.p1[i] -= y[2, i]


@kernel
def finish(problem: ConstrainedLagrangian, rule: int, t: float, h: float, y: np.ndarray, work: Common) -> Status:
    """Velocities, momenta, multipliers and work of the reduced solution into the state."""
    status = problem.admissible(y[0], work.q1)
    if status == Status.OK:
        follow(problem, rule, h, y, work)
        deposit(problem, t, h, y, work)
    return status


@kernel
def deposit(problem: Coordinates, t: float, h: float, y: np.ndarray, work: Common) -> None:
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
def correct_increment(problem: Coordinates, work: Common, first: int) -> tuple[float, float, float]:
    """Corrections of the increment and of the multipliers, whose unknowns stand in r from `first` on; change and size
    of the increment, and the size of coordinates."""
    change, size = correct(work.d, work.r, problem.size())
    for k in range(problem.bonds()):
        work.multipliers[k] -= work.r[first + k]
    return change, size, largest(work.q1, problem.size())


def newton(self: Any, given: tuple, x: int, previous: float) -> tuple[Status, int, float, bool]:
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

    def workspace(self, problem: ConstrainedLagrangian, y: np.ndarray) -> Common:
        if is_chain(problem):
            return linked_work(problem, y, 1)
        return new_work(problem, y, self.unknowns(problem))

    def step(self, problem: ConstrainedLagrangian, t: float, y: np.ndarray, h: float, work: Common) -> Status:
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

    def update(self, problem: Coordinates, work: Common) -> tuple[float, float, float]:
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
        begin(problem, y, h, work)
        move(problem, y[0], work)
        follow(problem, self.rule, h, y, work)
        status, _ = iterate(self, (problem, t, h, y, work, work), 0, largest(work.d, problem.size()), self.iterations)
        if status == Status.OK:
            move(problem, y[0], work)
            status = problem.admissible(y[0], work.q1)
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


@kernel
def after(e: Quaternion, q: Quaternion) -> Quaternion:
    """e q."""
    x = from_space(q, (e[1], e[2], e[3]))
    return e[0]*q[0] + x[0], e[0]*q[1] + x[1], e[0]*q[2] + x[2], e[0]*q[3] + x[3]


@borrows(OneStep)
class NullSpaceStep(NamedTuple):
    """q_1 = exp(z) q_0 with the spatial rotation vector z: G(q_m) times the balance of momenta of the reduced step
    holds no constraint force; q_m times it gives the multiplier. Order 2, symmetric; the map of the reduced step, but
    |q| is kept by exp and not solved for."""

    rule: int         # of RULES
    printed: bool     # stop as printed
    tolerance: float  # error left in z, relative to it
    iterations: int   # at most

    def workspace(self, problem: ConstrainedLagrangian, y: np.ndarray) -> tuple[Work, np.ndarray, np.ndarray]:
        return new_work(problem, y, 4), np.zeros(3, y.dtype), np.zeros((3, 3), y.dtype)

    def step(self, problem: ConstrainedLagrangian, t: float, y: np.ndarray, h: float,
             work: tuple[Work, np.ndarray, np.ndarray]) -> Status:
        common, q0 = work[0], quaternion(y[0], 0)
        problem.guess(h, y[0], y[1], common.d)
        u = space_part(q0, quaternion(common.d, 0))
        z: Vector = (2.0*u[0], 2.0*u[1], 2.0*u[2])
        status, z = iterate(self, (problem, t, h, y, work), z, extent(z), self.iterations)
        if status != Status.OK:
            return status
        put_quaternion(common.d, 0, after(exponential(z), q0))
        move(problem, y[0], common)
        balance(problem, self.rule, t, h, y, common, 4)
        qm = quaternion(common.qm, 0)
        common.multipliers[0] = -inner(qm, quaternion(common.r, 0))/(h*inner(qm, qm))
        return finish(problem, self.rule, t, h, y, common)

    def improve(self, given: tuple, z: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        problem, t, h, y, work = given
        common, r, a = work
        q0 = quaternion(y[0], 0)
        put_quaternion(common.d, 0, after(exponential(z), q0))
        move(problem, y[0], common)
        balance(problem, self.rule, t, h, y, common, 4)
        self.project(q0, z, common, r, a)
        residual = largest(r, 3)
        if not residual < np.inf:
            return Status.NOT_CONVERGED, z, residual, False
        if not lu(a, common.pivots, 3):
            return Status.SINGULAR_MATRIX, z, residual, False
        lu_solve(a, common.pivots, r, 3)
        problem.counters[Counter.LINEAR_SOLVES] += 1
        problem.counters[Counter.ITERATIONS] += 1
        problem.counters[Counter.EXPONENTIALS] += 1
        z = (z[0] - r[0], z[1] - r[1], z[2] - r[2])
        change, size = largest(r, 3), extent(z)
        done = residual <= PRINTED if self.printed else converged(change, previous, size, 1.0, self.tolerance)
        return Status.OK, z, change, done

    def project(self, q0: Quaternion, z: Vector, work: Work, r: np.ndarray, a: np.ndarray) -> None:
        """r = G(q_m) times the balance, a its derivative by z."""
        qm, rest = quaternion(work.qm, 0), quaternion(work.r, 0)
        vector = body_part(qm, rest)
        for k in range(3):
            r[k] = vector[k]
            x = after(exponential_slope(z, unit(k)), q0)
            b = work.a
            change = (inner(quaternion(b[0], 0), x), inner(quaternion(b[1], 0), x), inner(quaternion(b[2], 0), x),
                      inner(quaternion(b[3], 0), x))
            outer, turn = body_part(qm, change), body_part(x, rest)
            for i in range(3):
                a[i, k] = outer[i] + 0.5*turn[i]


TIED_WEIGHTS = Option("one", "symmetric composition of the step; with joints momenta stay at order 2, positions at 4",
                      COMPOSED)
SOLVER = Option("reduced", "unknowns: reduced d and multipliers, full also v and p, null_space a rotation vector (one"
                " quaternion only); one map, three costs", ("reduced", "full", "null_space"))
STOP = {
    "stop": Option("round_off", "round_off: until the error left is round-off; printed: residual 1e-9 tested before the"
                   " update", ("round_off", "printed")), **newton_options(40),
}
GRADIENT = Option("equivariant", "discrete derivative of T and V where a system has no exact quotient: of Gonzalez, its"
                  " direction freed of the declared symmetries (equivariant) or not, or the mean value by Gauss points",
                  ("equivariant", "gonzalez", "average"))


def _resolve(options: Options) -> dict[str, Any]:
    """Raises InputError where a solver has no meaning."""
    single = options.get("mass_matrix") is not None
    if options["solver"] == "null_space" and not (single and options.get("coordinates") == "quaternion"):
        meant = "coordinates quaternion" if single else "the quaternion of a single body"
        raise InputError(f"option solver is null_space, which is for {meant}; allowed here are reduced, full")
    return dict(options)


def stopping(options: Options) -> tuple[bool, float, int]:
    return options["stop"] == "printed", options["tolerance"], options["iterations"]


def _inner(options: Options) -> FullStep | NullSpaceStep | ReducedStep:
    rule = RULES[options.get("gradient", "midpoint")]
    if options["solver"] == "full":
        return FullStep(rule, *stopping(options))
    if options["solver"] == "null_space":
        return NullSpaceStep(rule, *stopping(options))
    return ReducedStep(rule, False, *stopping(options))


def composed_order(highest: int) -> Callable[[Options, Sheet, Parameters], int]:
    """Order of the weights, but at most `highest`, and 2 for bodies with joints. The part of p along the constraints
    changes its sign in each step, which therefore is not near the identity. In eml and mpl it arises where there is a
    potential, in all schemes that do not project p where there are joints, whose constraints show in the momenta of the
    bodies: positions and attitudes reach 4 there."""
    def order(options: Options, sheet: Sheet, parameters: Parameters) -> int:
        system = sheet.build(parameters)
        tied = hasattr(system, "joints") and system.joints() > 0
        return min(SCHEMES[options["weights"]].order, 2 if tied else highest)

    return order


MIDPOINT = 0  # of RULES


@borrows(OneStep, improve=newton, workspace=FullStep.workspace, unknowns=ReducedStep.unknowns,
         update=ReducedStep.update)
class VariationalStep(NamedTuple):
    """The variational integrator of Livens' principle with the midpoint rule (outlook of livens2025): L_d = h L(q_m,
    (q_1 - q_0)/h), for mass matrices that may be singular or depend on the position.

        p_0 - h/2 Dg(q_0)^T lambda = pbar - h/2 F,  g(q_1) = 0,  p_1 = pbar + h/2 F - Dg(q_1)^T mu

    with pbar = dL/dv and F = dL/dq at q_m and d/h, d = q_1 - q_0. mu and the velocity at the end follow from p_1 =
    M(q_1) v_1 and Dg(q_1) v_1 = 0, which together are regular also where M is not. Constraint forces act at the nodes,
    where g = 0, so that momenta are exact with quaternion joints too. It is not mpl, whose constraint force acts at
    q_m: the two maps differ by terms of third order in h. In a quaternion a step has no solution once it turns the body
    by about a radian.

    Order 2, symmetric, symplectic; n + m unknowns d and lambda, then n + m linear equations for v_1 and mu. Returns
    NOT_CONVERGED, SINGULAR_MATRIX, or why the coordinates end."""

    tolerance: float  # error left in the increment, relative to it
    iterations: int   # at most
    printed: bool = False  # as of `ReducedStep`

    def step(self: Any, problem: ConstrainedLagrangian, t: float, y: np.ndarray, h: float, work: Work) -> Status:
        begin(problem, y, h, work)
        problem.slopes(y[0], work.slopes)
        status, _ = iterate(self, (problem, t, h, y, work, work), 0, largest(work.d, problem.size()), self.iterations)
        return self.finish(problem, t, h, y, work) if status == Status.OK else status

    def residual(self: Any, problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray, work: Work) -> float:
        """Of twice the balance of momenta at q_0, and g(q_1), with derivatives."""
        balance(problem, MIDPOINT, t, h, y, work, self.unknowns(problem))
        pull(problem, h, work, 0, problem.size())
        return largest(work.r, self.unknowns(problem))

    def finish(self, problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray, work: Work) -> Status:
        """v_1, p_1 = M v_1 and mu from the momentum without mu."""
        n, m = problem.size(), problem.bonds()
        move(problem, y[0], work)
        status = problem.admissible(y[0], work.q1)
        if status != Status.OK:
            return status
        follow(problem, MIDPOINT, h, y, work)
        for i in range(n):
            work.part[i] = 0.0*work.d[i]
        problem.slopes(work.q1, work.ends)
        clear(work.r, work.a, n + problem.bonds())
        problem.kinetic(MIDPOINT, 0.0, work.q1, work.part, work.q1, work.part, 0.0, 1.0, work.r, work.a)  # a = M(q_1)
        for i in range(n):
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
        for i in range(n):
            work.v1[i] = work.r[i]
            for k in range(m):
                work.p1[i] -= work.r[n + k]*work.ends[k, i]
        for k in range(m):
            work.multipliers[k] = 0.5*work.multipliers[k] + work.r[n + k]/h
        deposit(problem, t, h, y, work)
        return Status.OK


# not on chains: where masses are coupled, the multipliers leave an error h^2 in velocities that alternates in sign from
# step to step and does not add up, so that a single step is of order 1 and the method of order 2
BODY = "quaternion_hamiltonian"
SOLVED = Certified((({}, BODY), *(({"solver": solver}, BODY) for solver in ("full", "null_space"))), formulation=BODY)
METHODS = {
    "eml": composed(
        _inner, formulation="constrained_lagrangian",
        summary="order 2, symmetric, implicit, for singular mass matrices and constraints; with a potential order 4"
        " at most by weights",
        conserves=(*OF_POSITIONS, MOMENTA, IN_LINES, Keeps.BOUNDED),
        citation="livens2025 eqs. (72), (86), (103), remark 4.11",
        options={"solver": SOLVER, "gradient": GRADIENT, "weights": TIED_WEIGHTS, **STOP}, resolve=_resolve,
        order_for=composed_order(4), mark=((7, 0, 0), "solid", "EML"), places=Places(shown=6),
        certified=replace(SOLVED, same=tuple(({}, "eml", {"solver": name}) for name in ("full", "null_space")))),
    "mpl": composed(
        _inner, formulation="constrained_lagrangian",
        summary="order 2, symmetric, implicit midpoint rule of Livens' equations; with a potential order 4 at most by"
        " weights",
        conserves=(*OF_POSITIONS, MOMENTA, Keeps.BOUNDED),
        citation="livens2025, section 5.4", options={"solver": SOLVER, "weights": TIED_WEIGHTS, **STOP},
        resolve=_resolve, order_for=composed_order(4), mark=((3, 0, 270), "solid", "MPL"),
        places=Places(shown=7, reference=7), certified=replace(SOLVED, same=(({}, "mph", {}),))),
    "eml_p": composed(
        lambda options: ReducedStep(RULES[options["gradient"]], True, *stopping(options)), symmetric=False,
        summary="order 2, 3 at most by weights, implicit, not symmetric: eml, then q.v of each quaternion is removed",
        formulation="constrained_lagrangian", conserves=(*OF_POSITIONS, MOMENTA, IN_LINES),
        citation="own; livens2025 remark 4.8", order_for=composed_order(3),
        options={"gradient": GRADIENT, "weights": TIED_WEIGHTS, **STOP}, mark=((3, 0, 90), "dashed", "EML-P"),
        certified=Certified((({}, BODY),))),
    "vi_livens": composed(
        lambda options: VariationalStep(options["tolerance"], options["iterations"]),
        summary="order 2, symmetric, implicit, variational, for singular mass matrices and constraints; 4, 6 or 8 by"
        " weights", formulation="constrained_lagrangian",
        conserves=(Keeps.MANIFOLD, Keeps.SYMPLECTIC, Keeps.BOUNDED, Where(
            Keeps.MOMENTUM, "without angles as coordinates", lambda options, sheet, parameters:
            options.get("coordinates") != "spherical")),
        citation="livens2025, outlook; Marsden and West 2001", options={"weights": WEIGHTS, **newton_options(40)},
        places=Places(reference=6)),
}
