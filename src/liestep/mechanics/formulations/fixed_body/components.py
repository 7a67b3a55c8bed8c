"""Formulations of a rigid body that turns about a fixed point, components for compiled code
(`mechanics.formulations.fixed_body.forms` lists their fields and observables).

Attitude state: rows Q e_1, Q e_2, Q e_3 (axes of the body in space), then the spatial angular momentum pi. With Pi =
Q^T pi and the body rate I^-1 Pi: dQ/dt = hat(w) Q, dpi/dt = tau, w = Q I^-1 Q^T pi (liegroup2021, section 3).

A system (`mechanics.systems.heavy_top`, `mechanics.systems.free_rigid_body`) offers

    inertia                   (3,) moments about the body's axes and the fixed point
    torque(q)                 tau (3,), spatial, at the attitude q
    torque_slope(q, u)        d/de tau(exp(e hat u) q) at e = 0
    observe(y, out)           observables of the attitude state
    dual(y, out)              f of the coadjoint motion of the body state (Pi, Gamma), or of Pi alone
    dual_observe(y, out)      observables of the body state
    weight()                  gravity (3,), spatial; for `QuadraticTop` only
    applied(t, q, omega)      optional: a spatial torque in N m of time and the spatial angular velocity beside tau
    body_torque(q)            optional: Q^T tau of rotations, where it takes fewer operations than turning tau
    body_applied(t, q, w)     optional: Q^T applied(t, q, Q w), w the angular velocity in the body"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, hands_on, kernel
from liestep.compile.roles import System
from liestep.compile.rows import FieldOfRows, Vector, add, axpy, cross, dot, put, row, scale, sqrt
from liestep.geometry.attitude import put_axes, to_body, to_space
from liestep.geometry.quaternion import columns
from liestep.mechanics.contracts import formulations
from liestep.mechanics.formulations.rigid_bodies.components import DampedBodies, spatial_velocity


@kernel
def body_rate(inertia: np.ndarray, p: Vector) -> Vector:
    """I^-1 Pi."""
    return p[0]/inertia[0], p[1]/inertia[1], p[2]/inertia[2]


@kernel
def kinetic_energy(inertia: np.ndarray, p: Vector) -> float:
    """1/2 Pi.I^-1 Pi."""
    return 0.5*dot(p, body_rate(inertia, p))


@kernel
def rotation_energy(inertia: np.ndarray, y: np.ndarray) -> float:
    """1/2 Pi.I^-1 Pi of an attitude state."""
    return kinetic_energy(inertia, to_body(y, row(y, 3)))


@hands_on("system", formulations.CotangentRotation, "torque_slope", "observe")
class RigidBody(NamedTuple):
    """What symplectic integrators on T*SO(3) ask for; the state has no other rows than Q and pi. Also the body as one
    of n rigid bodies that do not move, n = 1."""

    system: System
    counters: np.ndarray

    def inertia(self) -> Vector:
        return self.moments(0)

    def torque(self, y: np.ndarray) -> Vector:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        return self.system.torque(y)

    def carry(self, h: float, stage: np.ndarray, y: np.ndarray) -> None:
        """Advance the rows of y beyond Q and pi with the attitude of `stage`: none."""

    def bodies(self) -> int:
        return 1

    def translates(self) -> bool:
        return False

    def mass(self, i: int) -> float:
        return 0.0

    def moments(self, i: int) -> Vector:
        moments = self.system.inertia
        return moments[0], moments[1], moments[2]

    def forces(self, y: np.ndarray, out: np.ndarray) -> bool:
        put(out, 0, self.torque(y))
        return True

    def loads(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """All torques at time t: `DrivenBody` has the same methods as this class, and there those for applied torques
        act."""
        return self.forces(y, out)

    def applied(self, t: float, y: np.ndarray, w: Vector) -> Vector:
        return 0.0, 0.0, 0.0

    def add_power(self, out: np.ndarray, i: int) -> None:
        pass

    def aim(self, t: float, h: float) -> None:
        pass

    def pull(self, y: np.ndarray, stage: np.ndarray, z: Vector) -> Vector:
        return self.torque(stage)

    def add_work(self, stage: np.ndarray, z: Vector, y: np.ndarray) -> None:
        pass


@borrows(RigidBody)
class QuadraticTop(NamedTuple):
    """Heavy top with a quadratic Hamiltonian on SO(3) x R^3, momenta (pi, p): liegroup2021, section 3.4.1.

    H = 1/2 Pi.I^-1 Pi + 1/2 |p + Q^T g|^2 - 1/2 |g|^2 with the gravity g (the paper's -Gamma0) and the constant p = -m
    l chi, so that H is the energy of the top plus 1/2 |p|^2; dpi/dt = g x Q p, the q that belongs to p has dq/dt = p +
    Q^T g. State rows Q e_1, Q e_2, Q e_3, pi, q, p."""

    system: System
    counters: np.ndarray

    def torque(self, y: np.ndarray) -> Vector:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        return cross(self.system.weight(), to_space(y, row(y, 5)))

    def torque_slope(self, y: np.ndarray, u: Vector) -> Vector:
        return cross(self.system.weight(), cross(u, to_space(y, row(y, 5))))

    def carry(self, h: float, stage: np.ndarray, y: np.ndarray) -> None:
        pull = to_body(stage, self.system.weight())
        put(y, 4, axpy(h, add(row(y, 5), pull), row(y, 4)))


@hands_on("plain", formulations.CotangentRotation)
@hands_on("plain", formulations.RigidBodies)
@borrows(observe=DampedBodies.observe)
class DrivenBody(NamedTuple):
    """The methods of `RigidBody` or `QuadraticTop`, where those for applied torques do something.

    The state has one row more below: (W, 0, 0) with the work W = int applied.omega dt in J. Observables are those
    without it, with the energy less the work, which is the invariant; then W and T + V."""

    plain: Any           # RigidBody or QuadraticTop
    system: System          # with applied(t, q, omega)
    counters: np.ndarray
    moment: np.ndarray   # (3,) scratch: the time at which a step takes its torque, its length; power of the last loads
    column: int          # of the work in `observe`

    def load(self, t: float, y: np.ndarray, w: Vector) -> Vector:
        """Both torques, the spatial angular velocity being w."""
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        applied = self.applied(t, y, w)  # first: traces sum in the order of evaluation
        return add(self.plain.torque(y), applied)

    def applied(self, t: float, y: np.ndarray, w: Vector) -> Vector:
        """The torque beside that of the system, whose power is kept."""
        applied = self.system.applied(t, y, w)
        self.moment[2] = dot(applied, w)
        return applied

    def loads(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        put(out, 0, self.load(t, y, spatial_velocity(y, 0, row(y, 3), self.plain.moments(0))))
        return True

    def add_power(self, out: np.ndarray, i: int) -> None:
        put(out, i, (self.moment[2], 0.0, 0.0))

    def aim(self, t: float, h: float) -> None:
        self.moment[0] = t
        self.moment[1] = h

    def pull(self, y: np.ndarray, stage: np.ndarray, z: Vector) -> Vector:
        return self.load(self.moment[0], stage, to_space(y, scale(1.0/self.moment[1], z)))

    def add_work(self, stage: np.ndarray, z: Vector, y: np.ndarray) -> None:
        rotation = to_space(y, z)
        w = scale(1.0/self.moment[1], rotation)
        y[y.shape[0] - 1, 0] += dot(self.system.applied(self.moment[0], stage, w), rotation)


class TurnedTorque(NamedTuple):
    """`body_torque` and `body_applied` of what has none."""

    system: System

    def body_torque(self, q: np.ndarray) -> Vector:
        return to_body(q, self.system.torque(q))

    def body_applied(self, t: float, q: np.ndarray, w: Vector) -> Vector:
        return to_body(q, self.system.applied(t, q, to_space(q, w)))


@borrows(FieldOfRows)
class QuaternionField(NamedTuple):
    """Vector field of a unit quaternion (s, v) and half the body rate u: dv/dt = s u + v x u, ds/dt = -v.u, du_1/dt =
    2 (I_2 - I_3)/I_1 u_2 u_3 + (Q^T tau)_1/(2 I_1) and so on: a derivative waits for few operations. Rows v, u, (s, 0,
    0), so that a product of series serves three numbers; with applied torques one for the work follows."""

    body: Any      # RigidBody or DrivenBody
    torques: Any   # with body_torque
    loads: Any     # with body_applied
    q: np.ndarray  # (5, 3) scratch: the attitude state
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        v, u, (a, b, c) = row(y, 0), row(y, 1), self.body.moments(0)
        put_axes((y[2, 0], v[0], v[1], v[2]), self.q, 0)
        put(out, 0, axpy(y[2, 0], u, cross(v, u)))
        put(out, 2, (-dot(v, u), 0.0, 0.0))
        w = scale(2.0, u)
        applied = self.loads.body_applied(t, self.q, w)
        torque = add(self.torques.body_torque(self.q), applied)
        put(out, 1, (2.0*(b - c)/a*(u[1]*u[2]) + 0.5/a*torque[0], 2.0*(c - a)/b*(u[2]*u[0]) + 0.5/b*torque[1],
                     2.0*(a - b)/c*(u[0]*u[1]) + 0.5/c*torque[2]))
        if y.shape[0] > 3:
            put(out, 3, (dot(applied, w), 0.0, 0.0))
        return True

    def project(self, y: np.ndarray) -> None:
        v = row(y, 0)
        length = sqrt(y[2, 0]*y[2, 0] + dot(v, v))
        put(y, 0, scale(1.0/length, v))
        y[2, 0] /= length

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        w, moments = scale(2.0, row(y, 1)), self.body.moments(0)
        for k, axis in enumerate(columns((y[2, 0], y[0, 0], y[0, 1], y[0, 2]))):
            put(self.q, k, axis)
        put(self.q, 3, to_space(self.q, (moments[0]*w[0], moments[1]*w[1], moments[2]*w[2])))
        put(self.q, 4, row(y, y.shape[0] - 1))
        self.body.observe(self.q, out)


@borrows(FieldOfRows)
class DualField(NamedTuple):
    """Vector field of the body state: dPi/dt = f_1 x Pi + f_2 x Gamma, dGamma/dt = f_1 x Gamma."""

    system: System
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.system.dual(y, out)
        turn, change = row(out, 0), cross(row(out, 0), row(y, 0))
        if y.shape[0] > 1:
            change = add(change, cross(row(out, 1), row(y, 1)))
            put(out, 1, cross(turn, row(y, 1)))
        put(out, 0, change)
        return True

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.system.dual_observe(y, out)


@borrows(observe=DualField.observe)
class DualGenerator(NamedTuple):
    """f = -dH/dmu for the coadjoint action mu -> Ad*_{g^-1} mu; the plus sign that liegroup2021 prints in its first
    example belongs to the other trivialisation (erratum 1)."""

    system: System

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.system.dual(y, out)
        return True
