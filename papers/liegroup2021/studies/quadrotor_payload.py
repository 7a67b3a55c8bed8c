"""Two quadrotors carry a point mass on rigid massless links (liegroup2021 section 6).

The load is at y, quadrotor i at x_i = y - l_i q_i: the direction q_i points from the quadrotor to the load, dq_i/dt =
omega_i x q_i. e3 points along gravity, that is down. R_i turns body to space, dR_i/dt = R_i hat(Omega_i) with the body
rate Omega_i. Forces u_i act on the quadrotors, moments M_i (body) turn them; both come from `PayloadControl`,
which depends on time.

    T = 1/2 m_y |v|^2 + 1/2 sum_i (m_i |v - l_i omega_i x q_i|^2 + Omega_i.J_i Omega_i),
    U = -m_y g y_3 - sum_i m_i g (y - l_i q_i)_3
    M_q (v' - g e3) = sum_i (q_i.u_i - m_i l_i |omega_i|^2) q_i,  M_q = m_y 1 + sum_i m_i q_i q_i^T
    omega_i' = q_i x (v' - g e3)/l_i - q_i x u_i/(m_i l_i),  J_i Omega_i' = M_i - Omega_i x J_i Omega_i
    work' = sum_i (u_i.x_i' + M_i.Omega_i)

These are the equations (37) with v' eliminated. The work is integrated with the state: T + U - work is conserved
whatever the controller does. Without controller and moments the system is conservative, and its angular momentum
about e3 is conserved too.

The state error is that of the load and the links. Attitudes and body rates are left out: they do not act back on
the load (unless attitude_control is geometric), and under a constant moment the bodies spin so fast that their
error would hide all others.
"""
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import hands_on
from liestep.compile.roles import System
from liestep.compile.rows import FieldOfRows, below, larger
from liestep.compile.tracing import Functions, plain_component
from liestep.extend import (
    ActionForm,
    Counter,
    Form,
    Formulated,
    InputError,
    Observable,
    Option,
    Options,
    Parameter,
    Parameters,
    Preset,
    Sheet,
    StateField,
    Vector,
    add,
    axpy,
    borrows,
    check_attitude,
    check_directions,
    check_tangent,
    cross,
    dot,
    kernel,
    new_counters,
    orthogonality_error,
    outlined,
    own,
    put,
    row,
    scale,
    sqrt,
    sub,
    to_space,
)
from liestep.geometry.attitude import make_tangent, normalise, towards_rotation
from liestep.geometry.groups.actions import Attitudes, TangentSpheres, Translation, product
from liestep.mechanics.contracts.formulations import Component

# Rows of the state: load position, load velocity, (work, 0, 0), then per quadrotor the columns of its attitude and its
# body rate, then q_1, q_2, omega_1, omega_2.
POSITION, VELOCITY, WORK, BODIES, BODY_ROWS, LINKS, RATES, ROWS = 0, 1, 2, 3, 4, 11, 13, 15
SMALLEST_FORCE = 1e-6   # N; below it, F or u_i has no direction
SMALLEST_SINE = 1e-6    # of the angle between F or u_i and the heading
DESIRED = "#D62728"     # the path, as the paper draws it

ZERO = (0.0, 0.0, 0.0)
Jet = tuple[Vector, Vector, Vector]                   # a vector and its first two time derivatives
Jet4 = tuple[Vector, Vector, Vector, Vector, Vector]  # its first four

# Rows of what `rates` gives: v', (work', 0, 0), Omega_1', Omega_2', omega_1', omega_2'.
ACCELERATION, POWER, SPINS, TURNS = 0, 1, 2, 4


@kernel
def unit(x: Vector, x1: Vector, x2: Vector) -> Jet:
    """n = x/|x| and its first two time derivatives, from those of x."""
    inverse = 1.0/sqrt(dot(x, x))
    n = scale(inverse, x)
    s1 = dot(n, x1)                       # d|x|/dt
    n1 = scale(inverse, axpy(-s1, n, x1))
    s2 = dot(n1, x1) + dot(n, x2)
    n2 = scale(inverse, axpy(-2.0*s1, n1, axpy(-s2, n, x2)))
    return n, n1, n2


@kernel
def cross_derivatives(a: Jet, b: Jet) -> Jet:
    """a x b and its first two time derivatives; a and b come with theirs."""
    first = add(cross(a[1], b[0]), cross(a[0], b[1]))
    second = add(cross(a[2], b[0]), axpy(2.0, cross(a[1], b[1]), cross(a[0], b[2])))
    return cross(a[0], b[0]), first, second


@kernel
def combine(r: Vector, a: Vector, b: Vector, c: Vector) -> Vector:
    """r_1 a + r_2 b + r_3 c"""
    return axpy(r[0], a, axpy(r[1], b, scale(r[2], c)))


class PayloadControl(NamedTuple):
    """Forces u_i on the quadrotors and moments M_i on their bodies: Lee, Sreenath and Kumar, CDC 2013, as used in
    liegroup2021 section 6.

    Three loops. The load follows a path with the force F; the links of the quadrotors, which can only pull along q_i,
    are turned towards directions q_id that let the pulls add up to F; optionally the bodies turn so that their thrusts
    point along the forces u_i. Everything is spatial but the moments and body rates. No branch but those of `below`
    looks at values, so that the same code runs on symbols and on arrays (`liestep.compile.tracing`).
    """

    tracking: int              # 1: forces as below, 0: none
    geometric: int             # 1: attitudes follow the forces, 0: constant moments only
    load_mass: float
    mass: np.ndarray           # (2,)
    length: np.ndarray         # (2,)
    inertia: np.ndarray        # (2, 3)
    gravity: float
    load_gain: np.ndarray      # (2,) on position and velocity
    link_gain: np.ndarray      # (2,) on direction and rate
    attitude_gain: np.ndarray  # (2,) on attitude and body rate
    path: np.ndarray           # (k, 3) coefficients of 1, t, t^2, ...
    formation: np.ndarray      # (2, 3) r_i
    share: np.ndarray          # (2,) 1/((r_i.e3)|r_1 + r_2|)
    heading: Vector            # unit tuple s
    moment: Vector             # tuple, body
    pull: np.ndarray           # (2, 3) scratch: mu_i

    def desired(self, t: Any) -> Jet4:
        """Desired load position and its first four time derivatives."""
        a = b = c = d = e = ZERO
        for k in range(self.path.shape[0] - 1, -1, -1):
            e, d, c, b = axpy(t, e, d), axpy(t, d, c), axpy(t, c, b), axpy(t, b, a)
            a = axpy(t, a, row(self.path, k))
        return a, b, scale(2.0, c), scale(6.0, d), scale(24.0, e)

    def feedback(self, e: Vector, e1: Vector, forward: Vector) -> Vector:
        """m_y (-k_y e - k_y' e' + forward)"""
        return scale(self.load_mass, axpy(-self.load_gain[0], e, axpy(-self.load_gain[1], e1, forward)))

    def load_force(self, t: Any, x: Vector, v: Vector) -> Vector:
        """F from load position and velocity."""
        p, p1, p2, _, _ = self.desired(t)
        return self.feedback(sub(x, p), sub(v, p1), (p2[0], p2[1], p2[2] - self.gravity))

    def frame(self, f: Vector, f1: Vector, f2: Vector) -> tuple[bool, Jet, Jet, Jet]:
        """(exists, b_1, b_2, b_3): b_3 = -F/|F|, b_2 along -F x s, b_1 = b_2 x b_3, each with its
        first two time derivatives."""
        s = self.heading
        b3 = unit(scale(-1.0, f), scale(-1.0, f1), scale(-1.0, f2))
        side = cross(b3[0], s)
        b2 = unit(side, cross(b3[1], s), cross(b3[2], s))
        singular = below(dot(f, f),
                         SMALLEST_FORCE*SMALLEST_FORCE) or below(dot(side, side), SMALLEST_SINE*SMALLEST_SINE)
        return not singular, cross_derivatives(b2, b3), b2, b3

    @outlined
    def forces(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """u_i (2, 3); False where F vanishes or is parallel to the heading s.

        F' and F'' use the closed-loop v' = g e3 + (mu_1 + mu_2)/m_y, so that no derivative of omega_i is needed.
        """
        if self.tracking == 0:
            for i in range(2):
                put(out, i, ZERO)
            return True
        x, v = row(y, POSITION), row(y, VELOCITY)
        _, p1, p2, p3, p4 = self.desired(t)
        f = self.load_force(t, x, v)
        total = ZERO
        for i in range(2):
            q = row(y, LINKS + i)
            mu = scale(self.share[i]*dot(f, q), q)
            put(self.pull, i, mu)
            total = add(total, mu)
        acceleration = scale(1.0/self.load_mass, total)
        e1, e2 = sub(v, p1), sub(add(acceleration, (0.0, 0.0, self.gravity)), p2)
        f1 = self.feedback(e1, e2, p3)
        rate = ZERO
        for i in range(2):
            q = row(y, LINKS + i)
            q1 = cross(row(y, RATES + i), q)
            rate = add(rate, scale(self.share[i], axpy(dot(f1, q) + dot(f, q1), q, scale(dot(f, q), q1))))
        e3 = sub(scale(1.0/self.load_mass, rate), p3)
        f2 = self.feedback(e2, e3, p4)
        exists, b1, b2, b3 = self.frame(f, f1, f2)
        for i in range(2):
            r, q, w = row(self.formation, i), row(y, LINKS + i), row(y, RATES + i)
            goal = combine(r, b1[0], b2[0], b3[0])
            goal_rate = cross(goal, combine(r, b1[1], b2[1], b3[1]))
            goal_change = cross(goal, combine(r, b1[2], b2[2], b3[2]))
            direction_error = cross(goal, q)
            rate_error = add(w, cross(q, cross(q, goal_rate)))
            change = axpy(-dot(q, goal_rate), cross(w, q), scale(-1.0, cross(q, cross(q, goal_change))))
            # omega_i' in closed loop
            change = axpy(-self.link_gain[0], direction_error, axpy(-self.link_gain[1], rate_error, change))
            inertia, ratio = self.mass[i]*self.length[i], self.mass[i]/self.load_mass
            along = axpy(inertia*dot(w, w) + ratio*dot(q, total), q, row(self.pull, i))
            across = axpy(inertia, cross(q, change), scale(-ratio, cross(q, cross(q, row(self.pull, 1 - i)))))
            put(out, i, add(along, across))
        return exists

    @outlined
    def moments(self, y: np.ndarray, u: np.ndarray, out: np.ndarray) -> bool:
        """M_i (2, 3), body, and with `geometric` the forces u_i that the thrusts can give; False where u_i vanishes.

        A quadrotor pushes along its third axis only: u_i becomes (u_i.R_i e_3) R_i e_3. The axis turns
        towards c = -u_i/|u_i| by M = Omega x J Omega - J (k_R R^T(c x R e_3) + k_Omega Omega), the part of
        Lee, Leok and McClamroch, CDC 2010, that acts on the direction of the thrust. The turn about it is
        damped only: it needs no heading, which would have singularities of its own. The rate of c is
        neglected, which costs a lag of k_Omega/k_R.
        """
        exists = True
        for i in range(2):
            put(out, i, self.moment)
            if self.geometric == 1:
                j = BODIES + BODY_ROWS*i
                axis, rate, inertia, force = row(y, j + 2), row(y, j + 3), row(self.inertia, i), row(u, i)
                if below(dot(force, force), SMALLEST_FORCE*SMALLEST_FORCE):
                    exists = False
                c = scale(-self.attitude_gain[0]/sqrt(dot(force, force)), force)
                turn = axpy(self.attitude_gain[1], rate, (dot(c, row(y, j + 1)), -dot(c, row(y, j)), 0.0))
                spin = cross(rate, (inertia[0]*rate[0], inertia[1]*rate[1], inertia[2]*rate[2]))
                put(out, i, (out[i, 0] + spin[0] - inertia[0]*turn[0], out[i, 1] + spin[1] - inertia[1]*turn[1],
                             out[i, 2] + spin[2] - inertia[2]*turn[2]))
                put(u, i, scale(dot(force, axis), axis))
        return exists


class QuadrotorPayload(NamedTuple):
    """The system with its controller; gravity acts along +e3."""

    load_mass: float
    mass: np.ndarray     # (2,)
    length: np.ndarray   # (2,)
    inertia: np.ndarray  # (2, 3) principal moments
    gravity: float
    control: Any         # forces(t, y, out), moments(y, forces, out)
    force: np.ndarray    # (2, 3) scratch
    moment: np.ndarray   # (2, 3) scratch

    @outlined
    def rates(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """Rates of change of all velocities and the power of the control, rows as above; False where
        the control does not exist."""
        if not self.control.forces(t, y, self.force) or not self.control.moments(y, self.force, self.moment):
            return False
        m = self.load_mass
        a, b, c, right = (m, 0.0, 0.0), (0.0, m, 0.0), (0.0, 0.0, m), ZERO  # rows of M_q
        for i in range(2):
            q, w, u = row(y, LINKS + i), row(y, RATES + i), row(self.force, i)
            m = self.mass[i]
            a, b, c = axpy(m*q[0], q, a), axpy(m*q[1], q, b), axpy(m*q[2], q, c)
            right = axpy(dot(q, u) - m*self.length[i]*dot(w, w), q, right)
        ab, bc, ca = cross(a, b), cross(b, c), cross(c, a)  # columns of the adjugate: M_q >= m_y 1 is far from singular
        fall = scale(1.0/dot(a, bc), axpy(right[0], bc, axpy(right[1], ca, scale(right[2], ab))))  # v' - g e3
        put(out, ACCELERATION, (fall[0], fall[1], fall[2] + self.gravity))
        power = 0.0
        for i in range(2):
            q, w, u, moment = row(y, LINKS + i), row(y, RATES + i), row(self.force, i), row(self.moment, i)
            rate, j = row(y, BODIES + BODY_ROWS*i + 3), row(self.inertia, i)
            put(out, TURNS + i, scale(1.0/self.length[i], cross(q, axpy(-1.0/self.mass[i], u, fall))))
            torque = sub(moment, cross(rate, (j[0]*rate[0], j[1]*rate[1], j[2]*rate[2])))
            put(out, SPINS + i, (torque[0]/j[0], torque[1]/j[1], torque[2]/j[2]))
            power = power + dot(u, self.velocity(y, i)) + dot(moment, rate)
        put(out, POWER, (power, 0.0, 0.0))
        return True

    def velocity(self, y: np.ndarray, i: int) -> Vector:
        """Velocity of quadrotor i."""
        return axpy(-self.length[i], cross(row(y, RATES + i), row(y, LINKS + i)), row(y, VELOCITY))

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """Energy less work, angular momentum about the origin, how far the state is off the manifold, and the work."""
        x, v, m = row(y, POSITION), row(y, VELOCITY), self.load_mass
        energy = 0.5*m*dot(v, v) - m*self.gravity*x[2] - y[WORK, 0]
        momentum = scale(m, cross(x, v))
        mean, largest, tangency, orthogonality = 0.0, 0.0, 0.0, 0.0
        for i in range(2):
            q, w, m, u, j = (row(y, LINKS + i), row(y, RATES + i), self.mass[i], self.velocity(y, i),
                             BODIES + BODY_ROWS*i)
            place = axpy(-self.length[i], q, x)
            rate, inertia = row(y, j + 3), row(self.inertia, i)
            spin = (inertia[0]*rate[0], inertia[1]*rate[1], inertia[2]*rate[2])
            energy += 0.5*m*dot(u, u) + 0.5*dot(rate, spin) - m*self.gravity*place[2]
            momentum = add(axpy(m, cross(place, u), to_space(y[j:j + 3], spin)), momentum)
            length = abs(1.0 - dot(q, q))
            mean += 0.5*length
            largest = larger(largest, length)
            tangency = larger(tangency, abs(dot(q, w)))
            orthogonality = larger(orthogonality, orthogonality_error(y[j:j + 3]))
        out[0] = energy
        out[1], out[2], out[3] = momentum
        out[4], out[5], out[6], out[7], out[8] = mean, largest, tangency, orthogonality, y[WORK, 0]


@hands_on("system", Component, "observe")
@borrows(FieldOfRows)
class PayloadField(NamedTuple):
    """Vector field in the embedding space: dR_i/dt = R_i hat(Omega_i) by columns, dq_i/dt = omega_i x q_i.

    `project` brings the attitudes towards rotations and the links to unit length, with tangent rates."""

    system: System
    rates: np.ndarray  # (6, 3) scratch
    counters: np.ndarray
    orthonormal: int   # 1: `project` acts

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        if not self.system.rates(t, y, self.rates):
            return False
        put(out, POSITION, row(y, VELOCITY))
        put(out, VELOCITY, row(self.rates, ACCELERATION))
        put(out, WORK, row(self.rates, POWER))
        for i in range(2):
            j = BODIES + BODY_ROWS*i
            a, b, c, rate = row(y, j), row(y, j + 1), row(y, j + 2), row(y, j + 3)
            put(out, j, axpy(rate[2], b, scale(-rate[1], c)))
            put(out, j + 1, axpy(rate[0], c, scale(-rate[2], a)))
            put(out, j + 2, axpy(rate[1], a, scale(-rate[0], b)))
            put(out, j + 3, row(self.rates, SPINS + i))
            put(out, LINKS + i, cross(row(y, RATES + i), row(y, LINKS + i)))
            put(out, RATES + i, row(self.rates, TURNS + i))
        return True

    def project(self, y: np.ndarray) -> None:
        if self.orthonormal == 1:
            for i in range(2):
                towards_rotation(y, BODIES + BODY_ROWS*i)
                normalise(y, LINKS + i)
                make_tangent(y, LINKS + i, RATES + i)


@hands_on("system", Component, "observe")
class PayloadGenerator(NamedTuple):
    """f = (v, v', work', R_1 Omega_1, Omega_1', R_2 Omega_2, Omega_2', omega_1, omega_2, q_1 x omega_1', q_2
    x omega_2') for R^9 x (SO(3) x R^3)^2 x SE(3)^2, all products direct: liegroup2021 section 6, with the
    work as a further dimension."""

    system: System
    rates: np.ndarray  # (6, 3) scratch

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        if not self.system.rates(t, y, self.rates):
            return False
        put(out, 0, row(y, VELOCITY))
        put(out, 1, row(self.rates, ACCELERATION))
        put(out, 2, row(self.rates, POWER))
        for i in range(2):
            j = BODIES + BODY_ROWS*i
            put(out, 3 + 2*i, to_space(y[j:j + 3], row(y, j + 3)))
            put(out, 4 + 2*i, row(self.rates, SPINS + i))
            put(out, 7 + i, row(y, RATES + i))
            put(out, 9 + i, cross(row(y, LINKS + i), row(self.rates, TURNS + i)))
        return True


FIELDS = (
    StateField("load_position", "m", "position of the load, e3 down", ("xyz",), "relative"),
    StateField("load_velocity", "m s-1", "velocity of the load", ("xyz",), "relative"),
    StateField("attitude", "1", "attitudes of the quadrotors, body to space", ("body", "xyz", "axis"), "derived"),
    StateField("body_rate", "rad s-1", "angular velocities of the quadrotors, body frame", ("body", "xyz"), "derived"),
    StateField("q", "1", "directions from the quadrotors to the load, spatial"),
    StateField("omega", "rad s-1", "angular velocities of the links, orthogonal to q, spatial", norm="relative",
               tangent="q"),
)


def _observables(conserved: tuple[bool, bool, bool]) -> tuple[Observable, ...]:
    """Columns of `QuadrotorPayload.observe`."""
    return (
        Observable("energy", slice(0, 1), "J", "total energy without the work of the control"),
        Observable("momentum_map", slice(1, 4), "kg m2 s-1", "total angular momentum about the origin, spatial",
                   conserved=conserved, stem="momentum_error"),
        Observable("unit_length_error", slice(4, 5), "1", "mean over the links of |1 - q.q|", "residual",
                   statistics=("mean",)),
        Observable("unit_length_error_largest", slice(5, 6), "1", "maximum over the links of |1 - q.q|", "residual",
                   statistics=("max",), stem="unit_length_error"),
        Observable("tangency_error", slice(6, 7), "s-1", "maximum over the links of |q.omega|", "residual"),
        Observable("orthogonality_error", slice(7, 8), "1", "largest entry of |R^T R - 1| over the bodies", "residual"),
        Observable("work", slice(8, 9), "J", "work of the control forces and moments since the start", "plain"),
    )


def _check(parameters: Parameters) -> None:
    formation = parameters["formation"]
    if np.any(np.abs(np.linalg.norm(formation, axis=1) - 1.0) > 1e-12):
        raise InputError("parameter formation must be two unit vectors to 1e-12; give full precision, for"
                         " example sqrt(3)/2")
    if np.any(np.abs(formation[:, 2]) < 1e-6) or np.linalg.norm(formation.sum(axis=0)) < 1e-6:
        raise InputError("parameter formation must be two directions with a vertical part and a sum that is not zero:"
                         " the links could not lift")
    if not np.any(parameters["heading"]):
        raise InputError("parameter heading must not be zero")
    if parameters["attitude_control"] == "geometric" and parameters["control"] == "none":
        raise InputError("attitude_control geometric follows the forces of the control: parameter control"
                         " must be tracking")


def _vector(values: np.ndarray) -> Vector:
    """Three numbers as a tuple of floats."""
    x, y, z = map(float, values)
    return x, y, z


def _build(parameters: Parameters) -> QuadrotorPayload:
    p = parameters
    formation, heading = p["formation"], p["heading"]
    control = PayloadControl(
        int(p["control"] == "tracking"), int(p["attitude_control"] == "geometric"), p["load_mass"], p["mass"],
        p["length"], p["inertia"], p["gravity"], p["load_gain"], p["link_gain"], p["attitude_gain"], p["path"],
        formation, 1.0/(formation[:, 2]*np.linalg.norm(formation.sum(axis=0))),
        _vector(heading/np.linalg.norm(heading)), _vector(p["moment"]), np.zeros((2, 3)))
    return QuadrotorPayload(p["load_mass"], p["mass"], p["length"], p["inertia"], p["gravity"], control,
                            np.zeros((2, 3)), np.zeros((2, 3)))


def _manifold(parameters: Parameters, state: Mapping[str, np.ndarray]) -> None:
    check_attitude("attitude", state["attitude"])
    check_directions("q", state["q"])
    check_tangent("omega", state["omega"], "q", state["q"])


def _bodies(rows: np.ndarray) -> np.ndarray:
    """(..., 2, 4, 3): the columns of each attitude, then its body rate."""
    return rows[..., BODIES:LINKS, :].reshape(*rows.shape[:-2], 2, BODY_ROWS, 3)


def _to_rows(state: Mapping[str, np.ndarray]) -> np.ndarray:
    rows = np.zeros((ROWS, 3), dtype=np.result_type(*state.values()))
    rows[POSITION], rows[VELOCITY] = state["load_position"], state["load_velocity"]
    _bodies(rows)[:, :3], _bodies(rows)[:, 3] = np.swapaxes(state["attitude"], 1, 2), state["body_rate"]
    rows[LINKS:RATES], rows[RATES:] = state["q"], state["omega"]
    return rows


def _to_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
    bodies = _bodies(rows)
    return {"load_position": rows[..., POSITION, :], "load_velocity": rows[..., VELOCITY, :],
            "attitude": np.swapaxes(bodies[..., :3, :], -1, -2), "body_rate": bodies[..., 3, :],
            "q": rows[..., LINKS:RATES, :], "omega": rows[..., RATES:, :]}


def _field(parameters: Parameters, state: Mapping[str, np.ndarray], options: Options) -> Formulated:
    return _formulated(PayloadField(_build(parameters), np.zeros((6, 3)), new_counters(),
                                    int(options["form"] == "orthonormal")), parameters, state)


def _action(parameters: Parameters, state: Mapping[str, np.ndarray], options: Options) -> Formulated:
    body = ((Attitudes(1), 3), (Translation(1), 1))
    action = product((Translation(3), BODIES), *body, *body, (TangentSpheres(2), ROWS - LINKS))
    generator = PayloadGenerator(_build(parameters), np.zeros((6, 3)))
    return _formulated(ActionForm(action, generator, new_counters()), parameters, state)


def _formulated(problem: Any, parameters: Parameters, state: Mapping[str, np.ndarray]) -> Formulated:
    return Formulated(problem, _to_rows(state), FIELDS, _observables(_conserved(parameters)), _to_fields,
                      _momentum_scale(parameters, state))


def _momentum_scale(parameters: Parameters, state: Mapping[str, np.ndarray]) -> float:
    length, mass, position, velocity = (parameters["length"][:, None], parameters["mass"], state["load_position"],
                                        state["load_velocity"])
    places, velocities = position - length*state["q"], velocity - length*np.cross(state["omega"], state["q"])
    terms = [parameters["load_mass"]*np.linalg.norm(np.cross(position, velocity)),
             *(mass*np.linalg.norm(np.cross(places, velocities), axis=1)),
             *np.linalg.norm(parameters["inertia"]*state["body_rate"], axis=1)]
    return float(np.sum(terms))


def _conserved(parameters: Parameters) -> tuple[bool, bool, bool]:
    free = parameters["control"] == "none" and not np.any(parameters["moment"])
    return free and parameters["gravity"] == 0.0, free and parameters["gravity"] == 0.0, free


def _kinetic(parameters: Parameters, fields: Mapping[str, np.ndarray]) -> np.ndarray:
    velocity, rate = fields["load_velocity"], fields["body_rate"]
    bodies = velocity[:, None] - parameters["length"][:, None]*np.cross(fields["omega"], fields["q"])
    return 0.5*(parameters["load_mass"]*np.sum(velocity*velocity, axis=1)
                + np.sum(parameters["mass"]*np.sum(bodies*bodies, axis=2), axis=1)
                + np.sum(parameters["inertia"]*rate*rate, axis=(1, 2)))


def desired_path(parameters: Parameters, time: np.ndarray) -> np.ndarray:
    """Desired position of the load at each time, (time, 3)."""
    return np.stack(np.broadcast_arrays(*_arrays(parameters).desired(time)[0]), axis=-1)


def desired_directions(parameters: Parameters, time: np.ndarray, fields: Mapping[str, np.ndarray]) -> np.ndarray:
    """Directions q_id that the controller asks of the links, (time, 2, 3), from load_position and
    load_velocity (time, 3)."""
    control, zero = _arrays(parameters), (0.0, 0.0, 0.0)
    force = control.load_force(time, tuple(fields["load_position"].T), tuple(fields["load_velocity"].T))
    _, *frame = control.frame(force, zero, zero)
    axes = np.array([axis[0] for axis in frame])  # (axis, xyz, time)
    return np.einsum("ka,axt->tkx", parameters["formation"], axes)


def _arrays(parameters: Parameters) -> PayloadControl:
    """The controller as plain Python on arrays, for the figures: one definition of what is desired."""
    return plain_component(_build(parameters).control, Functions(np.sqrt, np.sin, np.cos))


def places(parameters: Parameters, load: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Places (..., 2, 3) of the quadrotors (m) from that of the load (..., 3) and directions (..., 2, 3)."""
    return load[..., None, :] - np.asarray(parameters["length"])[:, None]*q


def draw(looks: Any, scene: Any, load: np.ndarray, at: np.ndarray, attitudes: np.ndarray, arm: float) -> None:
    """Load (3,), links and quadrotors at (2, 3) with attitudes (2, 3, 3): two arms of half length `arm` (m) along the
    first two body axes with a rotor at each end. looks: `liestep.figures.scenes.looks`."""
    circle = np.linspace(0.0, 2.0*np.pi, 25)[:, None]
    for place, attitude, colour in zip(at, attitudes, looks.COLOURS[1:], strict=False):
        scene.line(np.stack([load, place]), looks.METAL, 1.2, lift=0.02, fade=0.2)
        for axis in range(2):
            across = arm*attitude[:, axis]
            scene.line(np.stack([place - across, place + across]), colour, 1.8, lift=0.03, outline=0.5, fade=0.2)
            for tip in (place - across, place + across):
                rim = tip + 0.44*arm*(np.cos(circle)*attitude[:, 0] + np.sin(circle)*attitude[:, 1])
                scene.line(rim, looks.mix(colour, "black", 0.25), 0.7, lift=0.03, fade=0.2)
        scene.balls(place[None], colour, 4.0, lift=0.06, fade=0.2)
    scene.balls(load[None], looks.COLOURS[0], 7.5, lift=0.1, fade=0.0)


def flight(file: Any, parameters: Parameters, films: Any) -> Any:
    """The film: load, links and the two arms of each quadrotor; the path that the load is asked to follow is dashed
    red."""
    load = file["load_position"]
    at = places(parameters, load, file["q"])
    arm = 0.3*float(parameters["length"].min())
    wanted = desired_path(parameters, file["time"]) if parameters["control"] == "tracking" else load[:0]

    def sample(scene: Any, k: int) -> None:
        for start in range(0, len(wanted) - 1, 2*max(len(wanted)//60, 1)):
            scene.line(wanted[start:start + max(len(wanted)//60, 1) + 1], DESIRED, 0.8, lift=-1.0, fade=0.0)
        films.trail(scene, load, films.looks.COLOURS[0], k)
        draw(films.looks, scene, load[k], at[k], file["attitude"][k], arm)

    corners = 1.5*arm*np.vstack([np.eye(3), -np.eye(3)])  # arms with their rotors in any attitude
    reach = np.concatenate([load, wanted, *(at[:, i] + corner for i in range(2) for corner in corners)])
    return films.FilmScene(films.View(-60.0, 20.0, (0.0, 0.0, -1.0)), sample, reach)


def _tilted(degrees: float) -> list[list[float]]:
    """Directions from two quadrotors above the load, tilted to both sides in the plane of e1 and e3."""
    angle = math.radians(degrees)
    return [[math.sin(angle), 0.0, math.cos(angle)], [-math.sin(angle), 0.0, math.cos(angle)]]


def start(parameters: Parameters, degrees: float = 80.0) -> dict[str, np.ndarray]:
    """At rest at (-2, 0, 0), links tilted by 80 degrees."""
    return {"load_position": np.array([-2.0, 0.0, 0.0]), "load_velocity": np.zeros(3),
            "attitude": np.stack([np.eye(3)]*2), "body_rate": np.zeros((2, 3)), "q": np.array(_tilted(degrees)),
            "omega": np.zeros((2, 3))}


def _steep_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """The same with 45 degrees. From 80 degrees F comes within 0.3 N of zero, where its frame turns faster than the
    bodies can: of nine attitude gains (w^2, 2 w), w = 10 to 200 rad/s, four lost the load; from 45 degrees none did."""
    return start(parameters, 45.0)


def _moving_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """The same place, with everything moving: links at 2 to 4 rad/s, bodies at 3 to 4 rad/s, load at 2 m/s."""
    state = start(parameters)
    turns = np.array([[1.0, 2.0, -2.0], [2.0, -3.0, 1.0]])
    return state | {"load_velocity": np.array([1.0, 1.5, -1.0]),
                    "body_rate": np.array([[1.0, -2.0, 3.0], [2.0, 3.0, 1.0]]), "omega": np.cross(state["q"], turns)}


STILL = {  # the numbers of the authors' public code, but no moments
    "load_mass": 0.4, "mass": [0.755, 0.755], "length": [0.6, 0.8], "inertia": [[0.0820, 0.0845, 0.1377]]*2,
    "gravity": 9.81, "control": "tracking", "load_gain": [12.0, 5.0], "link_gain": [16.0, 5.0],
    "formation": [[0.5, 0.0, 3.0**0.5/2.0], [-0.5, 0.0, 3.0**0.5/2.0]], "heading": [0.0, -1.0, 0.0],
    "path": [[-2.5, 0.0, -0.75], [1.0, 0.0, -5.0], [0.0, 0.0, 1.0]],
    "moment": [0.0, 0.0, 0.0], "attitude_control": "none", "attitude_gain": [1600.0, 80.0],
}

SHEET = Sheet(
    title="Two quadrotors with a suspended load",
    equations="M_q (v' - g e3) = sum_i (q_i.u_i - m_i l_i |omega_i|^2) q_i; omega_i' = q_i x (v' - g e3)/l_i - q_i x"
    " u_i/(m_i l_i); J_i Omega_i' = M_i - Omega_i x J_i Omega_i; q_i' = omega_i x q_i; R_i' = R_i hat(Omega_i)",
    citation="liegroup2021 section 6, eq. (37)",
    parameters={
        "load_mass": Parameter("kg", "mass of the load, a point", (), "positive"),
        "mass": Parameter("kg", "masses of the quadrotors", (2,), "positive"),
        "length": Parameter("m", "lengths of the massless links", (2,), "positive"),
        "inertia": Parameter("kg m2", "principal moments of inertia of each quadrotor", (2, 3), "moments"),
        "gravity": Parameter("m s-2", "acceleration of gravity along +e3, which points down"),
        "control": Parameter("1", "tracking: forces that let the load follow the path; none: no forces", (), "choice",
                             ("tracking", "none")),
        "load_gain": Parameter("s-2, s-1", "gains on position and velocity of the load", (2,), "non-negative"),
        "link_gain": Parameter("s-2, s-1", "gains on direction and rate of the links", (2,), "non-negative"),
        "formation": Parameter("1", "desired link directions in the frame of the load's force, unit vectors", (2, 3)),
        "heading": Parameter("1", "direction that fixes the frame's turn about the force; only its direction counts",
                             (3,)),
        "path": Parameter("m, m s-1, m s-2, ...",
                          "desired load position: coefficients of 1, t, t^2, ...; one row: hover", ("k", 3)),
        "moment": Parameter("N m", "constant moment on each quadrotor, body frame, added to that of attitude_control",
                            (3,)),
        "attitude_control": Parameter("1", "geometric: thrusts act along the third body axes, which follow the forces;"
                                      " none: forces act in any direction", (), "choice", ("none", "geometric")),
        "attitude_gain": Parameter("s-2, s-1", "gains of the geometric attitude control, times inertia", (2,),
                                   "non-negative"),
    },
    combination=_check,
    build=_build,
    state_shapes=lambda parameters: {
        "load_position": (3,), "load_velocity": (3,), "attitude": (2, 3, 3), "body_rate": (2, 3), "q": (2, 3),
        "omega": (2, 3)},
    manifold=_manifold,
    kinetic_energy=_kinetic,
    conserved_momentum=_conserved,
    forms={
        "vector_field": Form(_field, {"form": Option(
            "embedded", "all rows in the embedding space; orthonormal returns attitudes to rotations, links to unit"
            " length and their rates to tangents after each step", ("embedded", "orthonormal"),
            after_steps=("orthonormal",))}),
        "lie_action": Form(_action, {"action": Option("direct_product", "action of the group", ("direct_product",))}),
    },
    default_preset="paper",
    motion=flight,
    presets={
        "paper": Preset("no attitude controller: a constant moment of 1 N m about each axis spins the bodies to"
                        " 38 rad/s",
                        "liegroup2021 section 6; numbers of the authors' public code", "inferred",
                        STILL | {"moment": [1.0, 1.0, 1.0]}, start, 5.0),
        "no_moment": own("without moments the bodies keep their attitudes", STILL, start, 5.0,
                         "liegroup2021 section 6; numbers of the authors' public code"),
        "attitude_control": own("quadrotors push along their own axes, which a geometric controller turns towards the"
                                " forces; links start at 45 degrees", STILL, _steep_start, 5.0,
                                "Lee, Leok and McClamroch 2010", attitude_control="geometric"),
        "uncontrolled": own("links and bodies in free fall, everything moving: conservative", STILL, _moving_start, 5.0,
                            control="none"),
    },
)
