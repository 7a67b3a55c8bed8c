"""Equations of motion of two quadrotors and their load, for an embedded vector field and for an
action: liegroup2021 eq. (37)."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, outlined
from liestep.compile.rows import FieldOfRows, Vector, add, axpy, cross, dot, larger, put, row, scale, sub
from liestep.geometry.attitude import orthogonality_error, to_space, towards_rotation
from liestep.geometry.directions import make_tangent, normalise
from liestep.mechanics.systems._quadrotor_control import BODIES, BODY_ROWS, LINKS, POSITION, RATES, VELOCITY, WORK, ZERO

# Rows of what `rates` gives: v', (work', 0, 0), Omega_1', Omega_2', omega_1', omega_2'.
ACCELERATION, POWER, SPINS, TURNS = 0, 1, 2, 4


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


@borrows(FieldOfRows)
class PayloadField(NamedTuple):
    """Vector field in the embedding space: dR_i/dt = R_i hat(Omega_i) by columns, dq_i/dt = omega_i x q_i.

    `project` brings the attitudes towards rotations and the links to unit length, with tangent rates."""

    system: Any
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

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.system.observe(y, out)


class PayloadGenerator(NamedTuple):
    """f = (v, v', work', R_1 Omega_1, Omega_1', R_2 Omega_2, Omega_2', omega_1, omega_2, q_1 x omega_1', q_2
    x omega_2') for R^9 x (SO(3) x R^3)^2 x SE(3)^2, all products direct: liegroup2021 section 6, with the
    work as a further dimension."""

    system: Any
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

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.system.observe(y, out)
