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
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, hands_on, kernel
from liestep.compile.rows import FieldOfRows, Vector, add, axpy, cross, dot, put, row, scale, sub
from liestep.geometry.attitude import to_body, to_space, towards_rotation
from liestep.mechanics.contracts import formulations
from liestep.mechanics.formulations.work import separate_work


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


@hands_on("system", formulations.Component, "observe")
class RigidBody(NamedTuple):
    """What symplectic integrators on T*SO(3) ask for; the state has no other rows than Q and pi."""

    system: Any
    counters: np.ndarray

    def inertia(self) -> Vector:
        moments = self.system.inertia
        return moments[0], moments[1], moments[2]

    def angular_velocity(self, y: np.ndarray) -> Vector:
        """w = Q I^-1 Q^T pi, spatial."""
        return to_space(y, body_rate(self.system.inertia, to_body(y, row(y, 3))))

    def torque(self, y: np.ndarray) -> Vector:
        """tau at the attitude in the first rows of y, spatial."""
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        return self.system.torque(y)

    def torque_slope(self, y: np.ndarray, u: Vector) -> Vector:
        return self.system.torque_slope(y, u)

    def carry(self, h: float, stage: np.ndarray, y: np.ndarray) -> None:
        """Advance the rows of y beyond Q and pi with the attitude of `stage`: none."""

    def load(self, t: float, y: np.ndarray, w: Vector) -> Vector:
        """All torques at time t, the spatial angular velocity being w: `DrivenBody` has the same methods as this
        class, and there those for applied torques act."""
        return self.torque(y)

    def add_power(self, t: float, y: np.ndarray, w: Vector, out: np.ndarray, i: int) -> None:
        pass

    def aim(self, t: float, h: float) -> None:
        pass

    def pull(self, y: np.ndarray, stage: np.ndarray, z: Vector) -> Vector:
        return self.torque(stage)

    def add_work(self, stage: np.ndarray, z: Vector, y: np.ndarray) -> None:
        pass


@hands_on("system", formulations.Component, "observe")
class PinnedBody(NamedTuple):
    """The body as one of n rigid bodies that do not move, n = 1."""

    system: Any
    counters: np.ndarray

    def bodies(self) -> int:
        return 1

    def translates(self) -> bool:
        return False

    def mass(self, i: int) -> float:
        return 0.0

    def moments(self, i: int) -> Vector:
        return self.system.inertia[0], self.system.inertia[1], self.system.inertia[2]

    def forces(self, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        put(out, 0, self.system.torque(y))
        return True


@borrows(RigidBody)
class QuadraticTop(NamedTuple):
    """Heavy top with a quadratic Hamiltonian on SO(3) x R^3, momenta (pi, p): liegroup2021, section 3.4.1.

    H = 1/2 Pi.I^-1 Pi + 1/2 |p + Q^T g|^2 - 1/2 |g|^2 with the gravity g (the paper's -Gamma0) and the constant p = -m
    l chi, so that H is the energy of the top plus 1/2 |p|^2; dpi/dt = g x Q p, the q that belongs to p has dq/dt = p +
    Q^T g. State rows Q e_1, Q e_2, Q e_3, pi, q, p.
    """

    system: Any
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
class DrivenBody(NamedTuple):
    """The methods of `RigidBody` or `QuadraticTop`, where those for applied torques do something.

    The state has one row more below: (W, 0, 0) with the work W = int applied.omega dt in J. Observables are those
    without it, with the energy less the work, which is the invariant; then W and T + V.
    """

    plain: Any           # RigidBody or QuadraticTop
    system: Any          # with applied(t, q, omega)
    counters: np.ndarray
    moment: np.ndarray   # (2,) scratch: the time at which a step takes its torque, and its length
    column: int          # of the work in `observe`

    def angular_velocity(self, y: np.ndarray) -> Vector:
        return self.plain.angular_velocity(y)

    def load(self, t: float, y: np.ndarray, w: Vector) -> Vector:
        """Both torques."""
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        return add(self.plain.torque(y), self.system.applied(t, y, w))

    def add_power(self, t: float, y: np.ndarray, w: Vector, out: np.ndarray, i: int) -> None:
        """Power of the applied torque into row i."""
        put(out, i, (dot(self.system.applied(t, y, w), w), 0.0, 0.0))

    def aim(self, t: float, h: float) -> None:
        self.moment[0] = t
        self.moment[1] = h

    def pull(self, y: np.ndarray, stage: np.ndarray, z: Vector) -> Vector:
        """Both torques at the attitude `stage` within a step of rotation z in the body's axes at its start y."""
        return self.load(self.moment[0], stage, to_space(y, scale(1.0/self.moment[1], z)))

    def add_work(self, stage: np.ndarray, z: Vector, y: np.ndarray) -> None:
        """Work of the applied torque over a step of rotation z: y is the state at its start."""
        rotation = to_space(y, z)
        w = scale(1.0/self.moment[1], rotation)
        y[y.shape[0] - 1, 0] += dot(self.system.applied(self.moment[0], stage, w), rotation)

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.plain.observe(y, out)
        separate_work(y[y.shape[0] - 1, 0], self.column, out)


def has_applied(system: Any) -> bool:
    """Whether a system declares an applied torque: known from its class, before anything is compiled."""
    return hasattr(type(system), "applied")


@hands_on("body", formulations.Component, "observe")
@borrows(FieldOfRows)
class AttitudeField(NamedTuple):
    """Vector field of (Q, pi) in the embedding space R^12."""

    body: Any          # RigidBody or DrivenBody
    counters: np.ndarray
    orthonormal: int   # 1: `project` acts

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        w = self.body.angular_velocity(y)
        torque = self.body.load(t, y, w)
        for i in range(3):
            put(out, i, cross(w, row(y, i)))
        put(out, 3, torque)
        self.body.add_power(t, y, w, out, 4)
        return True

    def project(self, y: np.ndarray) -> None:
        if self.orthonormal == 1:
            towards_rotation(y, 0)


@hands_on("body", formulations.Component, "observe")
class AttitudeGenerator(NamedTuple):
    """f(Q, pi): (w, tau - w x pi) for `geometry.groups.rigid_motions`, (w, tau) for the direct product of SO(3)
    and R^3."""

    body: Any          # RigidBody or DrivenBody
    semidirect: bool

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        w = self.body.angular_velocity(y)
        torque = self.body.load(t, y, w)
        put(out, 0, w)
        put(out, 1, sub(torque, cross(w, row(y, 3))) if self.semidirect else torque)
        self.body.add_power(t, y, w, out, 2)
        return True


@borrows(FieldOfRows)
class DualField(NamedTuple):
    """Vector field of the body state: dPi/dt = f_1 x Pi + f_2 x Gamma, dGamma/dt = f_1 x Gamma."""

    system: Any
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


class DualGenerator(NamedTuple):
    """f = -dH/dmu for the coadjoint action mu -> Ad*_{g^-1} mu; the plus sign that liegroup2021 prints in its first
    example belongs to the other trivialisation (erratum 1)."""

    system: Any

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.system.dual(y, out)
        return True

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.system.dual_observe(y, out)
