"""Controller of two quadrotors that carry a point mass: Lee, Sreenath and Kumar, CDC 2013, as used
in liegroup2021 section 6.

Three loops. The load follows a path with the force F; the links of the quadrotors, which can only pull along q_i, are
turned towards directions q_id that let the pulls add up to F; optionally the bodies turn so that their thrusts point
along the forces u_i. Everything is spatial but the moments and body rates. e3 points along gravity. No branch but those
of `below` looks at values, so that the same code runs on symbols and on arrays (`liestep.compile.tracing`).
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import Vector, add, axpy, below, cross, dot, put, row, scale, sqrt, sub

# Rows of the state: load position, load velocity, (work, 0, 0), then per quadrotor the columns of its attitude and its
# body rate, then q_1, q_2, omega_1, omega_2.
POSITION, VELOCITY, WORK, BODIES, BODY_ROWS, LINKS, RATES, ROWS = 0, 1, 2, 3, 4, 11, 13, 15
SMALLEST_FORCE = 1e-6   # N; below it, F or u_i has no direction
SMALLEST_SINE = 1e-6    # of the angle between F or u_i and the heading

ZERO = (0.0, 0.0, 0.0)
Jet = tuple[Vector, Vector, Vector]                   # a vector and its first two time derivatives
Jet4 = tuple[Vector, Vector, Vector, Vector, Vector]  # its first four


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
    """Forces u_i on the quadrotors and moments M_i on their bodies."""

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
