"""Implicit methods on T*SO(3), right trivialised.

`slgi` are the symplectic Lie group integrators of liegroup2021 eqs. (15)-(17), reduced to three unknowns.

The equations for xi, n and M_theta of the paper only contain functions of hat(xi), which commute.
Eliminating n and M_theta gives

    xi  = h w(Q_t, M),   M = theta dexp_(theta xi) pi_0 + (1 - theta) dexp_(-(1 - theta) xi) pi_1,
    Q_t = exp(theta xi) Q_0
    Q_1 = exp(xi) Q_0,   pi_1 = pi_0 + h tau(Q_t)

so that momenta along which tau vanishes are kept exactly, whatever the accuracy of xi, and without torque the map does
not depend on theta. In the axes of the body at the start of the step, z = Q_0^T xi, P = Q_0^T pi_0, T = Q_0^T tau(Q_t):

    I z = h (dexp_(-z) P + h (dexp_(-z) - theta dexp_(-theta z)) T)

is solved by Newton's method with the analytic Jacobian. Several bodies are coupled by their forces only: there the
step is a fixed point of sweeps over the bodies (`SymplecticSweeps`).

`em_rotation` is an energy-momentum method by the Cayley map, in three unknowns (own; compare Simo and Wong 1991, Lewis
and Simo 1994).

With W = I^-1 Q^T pi at the ends of a step

    z = h (W_0 + W_1)/2,   Q_1 = Q_0 cay(z),   pi_1 = pi_0 + h tau((Q_0 + Q_1)/2)
    cay(z) = 1 + (hat z + hat z hat z/2)/(1 + |z|^2/4)

Q_1 - Q_0 = (Q_0 + Q_1) hat z/2, so that the work of the torque of a potential that is linear in Q is its difference."""
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.roles import Arrays
from liestep.compile.rows import Vector, add, axpy, copy, cross, dot, put, row, scale, sqrt, sub, unit
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.attitude import in_space, to_body, to_space, turn
from liestep.geometry.so3 import dexp_coefficients, dexp_slope, in_chart, quadratic
from liestep.integrators._newton import converged, extent, iterate, settled, solve_columns
from liestep.integrators.one_step import WEIGHTS, Composition, OneStep, composed, order_of_weights, weighted
from liestep.integrators.weights import composition_weights
from liestep.mechanics.contracts.formulations import CotangentRotation, RigidBodies
from liestep.mechanics.contracts.method import TOPS, VARIATIONAL, Certified, Keeps, Method, Places, each
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet, number_in

SWEEPS = 200   # at most
ROUNDING = 1e3  # times the tolerance: changes below it that shrink no more are of rounding


class HeldTorque(NamedTuple):
    """One body under a torque that does not change with its attitude, as `cotangent_rotation` asks for it."""

    values: np.ndarray  # (2, 3) moments of inertia, torque in space
    counters: np.ndarray

    def inertia(self) -> Vector:
        return row(self.values, 0)

    def pull(self, y: np.ndarray, stage: np.ndarray, z: Vector) -> Vector:
        return row(self.values, 1)

    def torque_slope(self, y: np.ndarray, u: Vector) -> Vector:
        return 0.0*u[0], 0.0*u[1], 0.0*u[2]


Sweep = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, HeldTorque]


@borrows(OneStep)
class SymplecticSweeps(NamedTuple):
    """Several bodies that turn and move. At the attitudes exp(theta xi_i) Q_i and positions x_i + theta h V_i with
    V_i = theta v_i + (1 - theta) v_i^+ the forces F_i and torques are taken once for all bodies:

        Q_i^+ = exp(xi_i) Q_i,  pi_i^+ = pi_i + h tau_i,  x_i^+ = x_i + h V_i,  v_i^+ = v_i + h F_i/m_i

    with xi_i as for one body (liegroup2021 eqs. (15)-(17)), so that positions follow the same rule as rotations. Each
    sweep evaluates the forces and solves for each body alone.

    Order 2 and symmetric for theta = 1/2, else 1; implicit by sweeps over all bodies, one evaluation of the forces
    each.

    Symplectic, keeps the momenta of symmetries that `SymplecticTheta` keeps for one body: exactly, whatever
    the sweeps leave. Returns NOT_CONVERGED, NOT_EVALUABLE, or CHART_LIMIT for a turn by 2 pi or more."""

    inner: "SymplecticTheta"
    sweeps: int  # at most

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Sweep:
        n, dtype = problem.bodies(), y.dtype
        return (np.zeros_like(y), np.zeros((2*n, 3), dtype), np.zeros((2*n, 3), dtype), np.zeros((3, 3), dtype),
                HeldTorque(np.zeros((2, 3), dtype), problem.counters))

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Sweep) -> Status:
        stage, f, moved, _, _ = work
        n = problem.bodies()
        copy(y, stage)
        for i in range(n):
            p, j = to_body(y[3*i:3*i + 3], row(y, 3*n + i)), problem.moments(i)
            put(moved, i, (h*p[0]/j[0], h*p[1]/j[1], h*p[2]/j[2]))
            if problem.translates():
                put(moved, n + i, row(y, 5*n + i))
        status, _ = iterate(self, (problem, h, y, work), 0, np.inf, self.sweeps)
        if status == Status.OK:
            self.finish(problem, y, h, f, moved)
        return status

    def improve(self, given: tuple, x: int, previous: float) -> tuple[Status, int, float, bool]:
        problem, h, y, work = given
        stage, f, moved, jacobian, held = work
        self.place(problem, y, h, moved, stage)
        if not problem.forces(stage, f):
            return Status.NOT_EVALUABLE, x, previous, False
        status, change = self.sweep(problem, y, h, f, moved, stage, jacobian, held)
        small = self.inner.tolerance
        return status, x, change, settled(change, small, change, previous, ROUNDING*small)

    def place(self, problem: RigidBodies, y: np.ndarray, h: float, moved: np.ndarray, stage: np.ndarray) -> None:
        """Attitudes and positions at which the forces are taken."""
        n, theta = problem.bodies(), self.inner.theta
        for i in range(n):
            frame = y[3*i:3*i + 3]
            turn(to_space(frame, scale(theta, row(moved, i))), frame, stage[3*i:3*i + 3])
            if problem.translates():
                put(stage, 4*n + i, axpy(theta*h, row(moved, n + i), row(y, 4*n + i)))
        problem.counters[Counter.EXPONENTIALS] += n

    def sweep(self, problem, y, h, f, moved, stage, jacobian, held):
        """(status, change): rotations and velocities V under the forces f, and how much the largest of either kind
        changed: rotations in radians, relative to 1 + the largest, velocities relative to the largest."""
        n, theta = problem.bodies(), self.inner.theta
        turned, speed, gap, lag = 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            frame, old = y[3*i:3*i + 3], row(moved, i)
            put(held.values, 0, problem.moments(i))
            put(held.values, 1, row(f, i))
            status, z = self.inner.solve(held, frame, h, to_body(frame, row(y, 3*n + i)), old, stage[3*i:3*i + 3],
                                         jacobian)
            if status != Status.OK:
                return status, 0.0
            d = sub(z, old)
            turned, gap = max(turned, dot(z, z)), max(gap, dot(d, d))
            put(moved, i, z)
            if problem.translates():
                v = axpy((1.0 - theta)*h/problem.mass(i), row(f, n + i), row(y, 5*n + i))
                d = sub(v, row(moved, n + i))
                speed, lag = max(speed, dot(v, v)), max(lag, dot(d, d))
                put(moved, n + i, v)
        change = sqrt(gap)/(1.0 + sqrt(turned))
        if lag > 0.0:
            change = max(change, sqrt(lag/speed))
        return Status.OK, change

    def finish(self, problem: RigidBodies, y: np.ndarray, h: float, f: np.ndarray, moved: np.ndarray) -> None:
        n = problem.bodies()
        for i in range(n):
            frame = y[3*i:3*i + 3]
            turn(to_space(frame, row(moved, i)), frame, frame)
            put(y, 3*n + i, axpy(h, row(f, i), row(y, 3*n + i)))
            if problem.translates():
                put(y, 4*n + i, axpy(h, row(moved, n + i), row(y, 4*n + i)))
                put(y, 5*n + i, axpy(h/problem.mass(i), row(f, n + i), row(y, 5*n + i)))
        problem.counters[Counter.EXPONENTIALS] += n


@borrows(OneStep)
class SymplecticTheta(NamedTuple):
    """Order 2 for theta = 1/2, else 1; implicit; theta and 1 - theta are adjoint, theta = 1/2 is symmetric. Symplectic,
    keeps Q^T Q to round-off and, exactly, the momenta of symmetries: pi where the torque vanishes, the axial momentum
    of a symmetric top. Returns NOT_CONVERGED, or CHART_LIMIT when a step turns the body by 2 pi or more."""

    theta: float
    tolerance: float  # on |z - h I^-1 (...)|, relative to 1 + h |P|/I per axis; one Newton step more follows
    iterations: int   # at most

    def workspace(self, problem: CotangentRotation, y: np.ndarray) -> Arrays:
        return np.zeros_like(y), np.zeros((3, 3), y.dtype)

    def step(self, problem: CotangentRotation, t: float, y: np.ndarray, h: float, work: Arrays) -> Status:
        stage, jacobian = work
        inertia, start = problem.inertia(), to_body(y, row(y, 3))
        z = (h*start[0]/inertia[0], h*start[1]/inertia[1], h*start[2]/inertia[2])
        copy(y, stage)
        problem.aim(t + self.theta*h, h)
        status, z = self.solve(problem, y, h, start, z, stage, jacobian)
        if status != Status.OK:
            return status
        turn(to_space(y, scale(self.theta, z)), y, stage)
        momentum = axpy(h, problem.pull(y, stage, z), row(y, 3))
        problem.carry(h, stage, y)
        problem.add_work(stage, z, y)
        turn(in_space(y, z, start, row(y, 3)), y, y)
        put(y, 3, momentum)
        problem.counters[Counter.EXPONENTIALS] += 2
        return Status.OK

    def solve(self, problem, y, h, start, z, stage, jacobian):
        """(status, z) of the equation in the head of this file, from a guess of z: attitude in the first rows of y,
        momentum `start` in the body."""
        status, z = iterate(self, (problem, y, h, start, stage, jacobian), z, 0.0, self.iterations)
        if status == Status.OK and not in_chart(z):
            status = Status.CHART_LIMIT
        return status, z

    def improve(self, given: tuple, z: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        problem, y, h, start, stage, jacobian = given
        inertia = problem.inertia()
        turn(to_space(y, scale(self.theta, z)), y, stage)
        problem.counters[Counter.EXPONENTIALS] += 1
        residual = self.residual(problem, y, h, z, start, inertia, stage, jacobian)
        small = True
        for i in range(3):
            limit = self.tolerance*(inertia[i] + abs(h)*extent(start))
            small = small and abs(residual[i]) <= limit
        volume, step = solve_columns(row(jacobian, 0), row(jacobian, 1), row(jacobian, 2), residual)
        if not volume > 0.0:
            return Status.NOT_CONVERGED, z, previous, False
        problem.counters[Counter.LINEAR_SOLVES] += 1
        problem.counters[Counter.ITERATIONS] += 1
        return Status.OK, sub(z, step), previous, small

    def residual(self, problem, y, h, z, start, inertia, stage, jacobian):
        """I z - h (...) at the attitude `stage`; writes its derivatives along the three axes
        into the rows of `jacobian`."""
        theta = self.theta
        whole, part = scale(-1.0, z), scale(-theta, z)
        k = dexp_coefficients(dot(whole, whole))
        j = dexp_coefficients(dot(part, part))
        kick = scale(h, to_body(y, problem.pull(y, stage, z)))
        end = add(start, kick)
        target = axpy(-theta, quadratic(j[0], j[1], part, kick), quadratic(k[0], k[1], whole, end))
        for i in range(3):
            e = unit(i)
            turned = to_space(y, scale(theta, quadratic(j[0], j[1], scale(theta, z), e)))
            bent = scale(h, to_body(y, problem.torque_slope(stage, turned)))
            slope = sub(quadratic(k[0], k[1], whole, bent), dexp_slope(k, whole, end, e))
            slope = axpy(-theta,
                         sub(quadratic(j[0], j[1], part, bent), scale(theta, dexp_slope(j, part, kick, e))), slope)
            put(jacobian, i, sub(scale(inertia[i], e), scale(h, slope)))
        return (inertia[0]*z[0] - h*target[0], inertia[1]*z[1] - h*target[1], inertia[2]*z[2] - h*target[2])


SOLVER = {
    "tolerance": Option(1e-13, "residual of the rotation of a step in radians, relative to 1 + its angle; one Newton"
                        " step more follows"),
    "iterations": Option(50, "Newton iterations, at most"),
}
THETA = {"theta": number_in("theta", 0.5, "where in the step the torque is taken", "number from 0 to 1",
                            lambda theta: 0.0 <= theta <= 1.0)}
APPLIED = "applied torques at theta h with the mean angular velocity of the step, within the iteration: the same order"


def _one(options: Options) -> SymplecticTheta:
    return SymplecticTheta(options.get("theta", 0.5), options["tolerance"], options["iterations"])


def _build(options: Options, tolerance: float | None, t_end: float) -> SymplecticTheta | Composition:
    inner = _one(options)
    return inner if options["weights"] == "one" else Composition(inner, composition_weights(options["weights"]))


def _combination(options: Options, sheet: Sheet, parameters: Parameters) -> None:
    if options["weights"] != "one" and (options["theta"] != 0.5 or "cotangent_rotation" not in sheet.forms):
        raise InputError(f"option weights is {options['weights']!r}, which is for theta = 0.5 and one body; allowed"
                         " here is one")


@kernel
def one_norm(u: Vector) -> float:
    """Sum of absolute values; NaN if one is."""
    return abs(u[0]) + abs(u[1]) + abs(u[2])


@borrows(OneStep)
class CayleyStep(NamedTuple):
    """Order 2, symmetric, implicit, by fixed-point iteration on z: its rate is of the order of the rotation of a step.
    Energy and momenta are exact for free bodies and potentials linear in Q; Q^T Q is kept. Returns NOT_CONVERGED."""

    tolerance: float  # error left in z, relative to it
    iterations: int   # at most

    def workspace(self, problem: CotangentRotation, y: np.ndarray) -> Arrays:
        return np.zeros_like(y), np.zeros_like(y)

    def step(self, problem: CotangentRotation, t: float, y: np.ndarray, h: float, work: Arrays) -> Status:
        new, mean = work
        begin = self.rate(problem.inertia(), y, row(y, 3))
        z = scale(h, begin)
        status, z = iterate(self, (problem, h, y, begin, new, mean), z, one_norm(z), self.iterations)
        if status != Status.OK:
            return status
        self.turn(y, z, new, mean)
        momentum = axpy(h, problem.torque(mean), row(y, 3))
        problem.carry(h, mean, y)
        for i in range(3):
            put(y, i, row(new, i))
        put(y, 3, momentum)
        return Status.OK

    def improve(self, given: tuple, z: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        problem, h, y, begin, new, mean = given
        self.turn(y, z, new, mean)
        end = axpy(h, problem.torque(mean), row(y, 3))
        target = scale(0.5*h, add(begin, self.rate(problem.inertia(), new, end)))
        change, size = one_norm(sub(target, z)), one_norm(target)
        problem.counters[Counter.ITERATIONS] += 1
        return Status.OK, target, change, converged(change, previous, size, size, self.tolerance)

    def rate(self, moments: Vector, y: np.ndarray, momentum: Vector) -> Vector:
        """W = I^-1 Q^T pi."""
        p = to_body(y, momentum)
        return p[0]/moments[0], p[1]/moments[1], p[2]/moments[2]

    def turn(self, y: np.ndarray, z: Vector, new: np.ndarray, mean: np.ndarray) -> None:
        """Q_0 cay(z) and its mean with Q_0."""
        w = to_space(y, z)
        share = 1.0/(1.0 + 0.25*dot(z, z))
        for i in range(3):
            u = row(y, i)
            c = cross(w, u)
            d = scale(share, axpy(0.5, cross(w, c), c))
            put(new, i, add(u, d))
            put(mean, i, axpy(0.5, d, u))


METHODS = {
    "slgi": Method(
        summary="order 2 for theta = 1/2 (symmetric), else 1, or 4, 6 and 8 by weights; implicit, on T*SO(3)", order=2,
        formulation="cotangent_rotation", symmetric=True, citation="liegroup2021, eqs. (15)-(17)",
        conserves=VARIATIONAL, options={"weights": WEIGHTS, **THETA, **SOLVER}, combination=_combination,
        order_for=lambda options, sheet, parameters: order_of_weights(options, sheet, parameters)
        if options["theta"] == 0.5 else 1,
        symmetric_for=lambda options, sheet, parameters: options["theta"] == 0.5, forces=APPLIED, build=_build,
        elsewhere={"rigid_bodies": lambda options, tolerance, t_end: SymplecticSweeps(_one(options), SWEEPS)},
        calls=weighted(y4={"mark": ((8, 0, 22), "dashed", "SLGI composed")}), mark=((8, 1, 0), "solid", "SLGI"),
        places=Places(shown=4, likely=True), certified=Certified(
            each("theta", 0.0, 0.25), same=(({}, "slgi_kk", {}),),
            adjoints=tuple(({"theta": theta}, {"theta": 1.0 - theta}) for theta in (0.25, 0.0)))),
    "slgi_kk": Method(
        summary="order 2, symmetric, implicit, on SO(3) x R^3 with a quadratic Hamiltonian: the same motion as slgi",
        order=2, formulation="quadratic_rotation", symmetric=True, citation="liegroup2021, section 3.4.1, SLGIKK",
        conserves=VARIATIONAL, options=SOLVER, forces=APPLIED, build=lambda options, tolerance, t_end: _one(options),
        mark=((8, 2, 0), "dotted", "SLGIKK")),
    "em_rotation": composed(
        lambda options: CayleyStep(options["tolerance"], options["iterations"]), formulation="cotangent_rotation",
        summary="order 2, symmetric, implicit, three unknowns on T*SO(3); 4, 6 or 8 by weights",
        conserves=(Keeps.MANIFOLD, *TOPS),
        citation="own; compare Simo and Wong 1991, Lewis and Simo 1994",
        options={"weights": WEIGHTS,
                 "tolerance": Option(1e-15, "error left in the rotation of a step, as the last two changes show it,"
                                     " relative to it"),
                 "iterations": Option(200, "iterations, at most")},
        mark=((7, 1, 0), "solid", "EM on SO(3)"), certified=Certified(each("weights", "s4", "kl8"))),
}
