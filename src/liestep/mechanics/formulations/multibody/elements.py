"""Force elements between two points of bodies or the ground, and an author's forces, for compiled code.

A body's axes, place, rate and velocity are rows of the mechanism's scratch (`mechanism`); the ground is the body behind
the last one. An element pulls on body b at its point P_b, and with the opposite on body a at the same place of space,
so that momentum is kept. Elements of one coordinate q, with Q = -k (q - q_0) - c q' + p_0 + p_1 t + p_2 sin(p_3 t)
- T cos(p_3 t + p) - F q'/sqrt(q'^2 + v_0^2) + a function of q, q' and t:

    LENGTH   q = |P_b - P_a|            Q along that line, on a at P_a
    GAP      the same of -k q alone     without a division, so that the points may meet
    SLIDE    q = u_a.(P_b - P_a)        Q along the axis u of a
    TURN     q = angle about u_a from e_a to f_b, within half a turn of q_0, beside a joint that keeps u; with neither k
             nor a function q' alone counts, and all turns are allowed

BUSHING: z = (d, theta), the place of P_b and the rotation vector of b's frame, both in a's frame. Of V = z.K z/2 it
pulls with -K_d z and turns with -dexpinv_(-theta) K_theta z, and damps with -D (velocity, rate) there."""
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import outlined
from liestep.compile.rows import Vector, add, add_to, atan2, axpy, cos, cross, dot, put, row, scale, sin, sqrt, sub
from liestep.geometry.charts import rotation_rate
from liestep.geometry.quaternion import to_rotation_vector
from liestep.mechanics.formulations.multibody.mechanism import (
    BODY,
    MOVING,
    PLACE,
    PUSH,
    SPIN,
    TURN,
    VELOCITY,
    across,
    times,
)

Law = IntEnum("Law", "LENGTH GAP SLIDE TURN BUSHING", start=0)
MOST_NEWTON = 30
HALF_TURN = 3.1  # rad from rest, beyond which the angle is not told


class NoOwn(NamedTuple):
    """What an author's component has: here nothing. `liestep.plain.mechanisms` writes others."""

    nothing: int = 0

    def law(self, k: int, q: float, rate: float, t: float) -> float:
        """Value of function k of an element's coordinate, its rate and the time."""
        return 0.0

    def held(self, k: int, x: Vector, out: np.ndarray) -> None:
        """Of function k of a joint at the place x its value, gradient and second derivatives into rows of out: [0, 0],
        [1], [2:5]; of a curve its point at x[0] and the first two derivatives: [0], [1], [2]."""

    def forces(self, t: float, s: np.ndarray, out: np.ndarray) -> float:
        """Adds torques about the centres of mass (rows 2i) and forces (rows 2i + 1), spatial, to out; returns the power
        of those without potential."""
        return 0.0

    def potential(self, s: np.ndarray) -> float:
        """In J."""
        return 0.0


class NoElements(NamedTuple):
    """Of a mechanism without them: nothing, so that its compiled code has none."""

    nothing: int = 0

    def accelerate(self, s: np.ndarray, c: np.ndarray, clock: int) -> None:
        pass

    def hold(self, c: np.ndarray, b: int, x: Vector, w: Vector) -> tuple[float, Vector, Vector]:
        return 0.0, x, w

    def forces(self, s: np.ndarray, t: float) -> float:
        return 0.0

    def energy(self, s: np.ndarray) -> float:
        return 0.0

    def number(self) -> int:
        return 0

    def ends(self, k: int) -> tuple[int, int]:
        return 0, 0

    def reads(self, k: int) -> tuple[bool, bool]:
        return False, False

    def alone(self, k: int, s: np.ndarray, t: float) -> None:
        pass

    def load(self, i: int) -> tuple[Vector, Vector]:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


class Elements(NamedTuple):
    """Data of `force_elements`, and the author's component."""

    table: np.ndarray      # (k, 5) kind, a, b, first row of constants, number of the function or -1
    constants: np.ndarray  # rows of `force_elements.packed`
    own: Any
    loads: np.ndarray      # (2(n + 1), 3) spatial torque about the centre of mass and force, by body; the ground
    held: np.ndarray       # (5, 3) what `NoOwn.held` writes
    pulls: int             # 1: the author's component has forces

    def accelerate(self, s: np.ndarray, c: np.ndarray, clock: int) -> None:
        """Adds accelerations to scratch s with the mechanism's constants c, and power with a clock."""
        last = s.shape[0] - 1
        power = self.forces(s, s[last, 0])
        for i in range(self.loads.shape[0]//2 - 1):
            m = MOVING*i
            add_to(s, m + SPIN, times(c, BODY*i + 4, times(s, m, row(self.loads, 2*i))))
            add_to(s, m + PUSH, scale(c[BODY*i, 1], row(self.loads, 2*i + 1)))
        if clock == 1:
            s[last, 1] += power

    @outlined
    def forces(self, s: np.ndarray, t: float) -> float:
        """`loads` at a state; returns the power of what has no energy, in W."""
        for k in range(self.loads.shape[0]):
            put(self.loads, k, (0.0, 0.0, 0.0))
        power = 0.0
        for k in range(self.table.shape[0]):
            power += self.six(k, s) if self.table[k, 0] == Law.BUSHING else self.one(k, s, t)
        return power + self.own.forces(t, s, self.loads)

    def number(self) -> int:
        """Elements, and the author's component with forces."""
        return self.table.shape[0] + self.pulls

    def ends(self, k: int) -> tuple[int, int]:
        """Bodies that element k pulls; -1, -1: all."""
        return (self.table[k, 1], self.table[k, 2]) if k < self.table.shape[0] else (-1, -1)

    def reads(self, k: int) -> tuple[bool, bool]:
        """Whether element k depends on places, and on velocities."""
        kind = self.table[k, 0] if k < self.table.shape[0] else Law.BUSHING
        return kind != Law.TURN, kind != Law.GAP

    @outlined
    def alone(self, k: int, s: np.ndarray, t: float) -> None:
        """`loads` of element k alone, at the bodies that it pulls."""
        a, b = self.ends(k)
        for i in range(self.loads.shape[0]):
            if a < 0 or i//2 == a or i//2 == b:
                put(self.loads, i, (0.0, 0.0, 0.0))
        if a < 0:
            self.own.forces(t, s, self.loads)
        elif self.table[k, 0] == Law.BUSHING:
            self.six(k, s)
        else:
            self.one(k, s, t)

    def load(self, i: int) -> tuple[Vector, Vector]:
        """Torque about the centre of mass of body i and force, spatial."""
        return row(self.loads, 2*i), row(self.loads, 2*i + 1)

    @outlined
    def energy(self, s: np.ndarray) -> float:
        """In J."""
        c, total = self.constants, self.own.potential(s)
        for k in range(self.table.shape[0]):
            at = self.table[k, 3]
            if self.table[k, 0] == Law.BUSHING:
                d, theta = self.offset(k, s)
                pull, turn = self.product(at + 8, d, theta)
                total += 0.5*(dot(d, pull) + dot(theta, turn))
            else:
                gap = self.coordinate(k, s)[0] - c[at + 5, 1]
                total += 0.5*c[at + 5, 0]*gap*gap
        return total

    @outlined
    def hold(self, c: np.ndarray, b: int, x: Vector, w: Vector) -> tuple[float, Vector, Vector]:
        """At the place x the function of the row whose vectors stand in c from b: its value, its gradient, and its
        second derivatives times w. Rows b + 4 and b + 5 are (first, last, number of intervals) and (number, closed,
        which). Without intervals it is the function itself. Else it is the distance from the nearest point of a curve
        c(s) along one of two normals, n = (e - (e.t)t)/|..| or t x n with e in row b + 2, and on the curve its second
        derivatives are -n.c'' t t^T/|c'|^2."""
        f, k = self.held, int(c[b + 5, 0])
        if c[b + 4, 2] == 0.0:
            self.own.held(k, x, f)
            return f[0, 0], row(f, 1), (dot(row(f, 2), w), dot(row(f, 3), w), dot(row(f, 4), w))
        if not self.nearest(k, row(c, b + 4), c[b + 5, 1], x):
            return np.nan, x, w
        size = dot(row(f, 1), row(f, 1))
        along, e = scale(1.0/sqrt(size), row(f, 1)), row(c, b + 2)
        n = axpy(-dot(e, along), along, e)
        n = scale(1.0/sqrt(dot(n, n)), n)
        if c[b + 5, 2] == 1.0:
            n = cross(along, n)
        return dot(n, sub(x, row(f, 0))), n, scale(-dot(n, row(f, 2))*dot(along, w)/size, along)

    def nearest(self, k: int, span: Vector, closed: float, x: Vector) -> bool:
        """The point of curve k that is nearest to x, and its derivatives, into `held`: the best of points at equal
        intervals, and Newton's steps from there. False where it is none or beyond an end."""
        f, step, best, s = self.held, (span[1] - span[0])/span[2], np.inf, span[0]
        for j in range(int(span[2]) + 1):
            self.own.held(k, (span[0] + j*step, 0.0, 0.0), f)
            gap = sub(x, row(f, 0))
            if dot(gap, gap) < best:
                best, s = dot(gap, gap), span[0] + j*step
        size, moved = abs(span[0]) + abs(span[1]), step
        for _ in range(MOST_NEWTON):
            self.own.held(k, (s, 0.0, 0.0), f)
            if not abs(moved) > 1e-9*step:  # of steps that become squares of the last ones
                break
            gap = sub(x, row(f, 0))
            moved = dot(gap, row(f, 1))/(dot(row(f, 1), row(f, 1)) - dot(gap, row(f, 2)))
            s += min(max(moved, -step), step)
        return abs(moved) <= 1e-9*step and (closed == 1.0 or (s >= span[0] - 1e-9*size and s <= span[1] + 1e-9*size))

    def pull(self, k: int, s: np.ndarray, force: Vector, torque: Vector) -> None:
        """Loads of a force at P_b and of a torque on body b, and of the opposite on a, there or in line at P_a."""
        point, inline = self.end(k, s), self.table[k, 0] <= Law.GAP
        for side in range(2):
            i, sign = self.table[k, 1 + side], 2.0*side - 1.0
            arm = sub(point, row(s, MOVING*i + PLACE))
            if inline:
                arm = across(s, MOVING*i, row(self.constants, self.table[k, 3] + side))
            add_to(self.loads, 2*i, scale(sign, add(torque, cross(arm, force))))
            add_to(self.loads, 2*i + 1, scale(sign, force))

    def end(self, k: int, s: np.ndarray) -> Vector:
        """P_b in space."""
        m = MOVING*self.table[k, 2]
        return add(row(s, m + PLACE), across(s, m, row(self.constants, self.table[k, 3] + 1)))

    def between(self, k: int, s: np.ndarray) -> Vector:
        """P_b - P_a in space."""
        m = MOVING*self.table[k, 1]
        return sub(self.end(k, s), add(row(s, m + PLACE), across(s, m, row(self.constants, self.table[k, 3]))))

    def moving(self, k: int, s: np.ndarray) -> tuple[Vector, Vector]:
        """Velocity of P_b against body a where that is, and rate of b against a, in space."""
        m, n, point = MOVING*self.table[k, 1], MOVING*self.table[k, 2], self.end(k, s)
        one, two = row(s, m + TURN), row(s, n + TURN)
        here = add(row(s, n + VELOCITY), cross(two, sub(point, row(s, n + PLACE))))
        there = add(row(s, m + VELOCITY), cross(one, sub(point, row(s, m + PLACE))))
        return sub(here, there), sub(two, one)

    def coordinate(self, k: int, s: np.ndarray) -> tuple[float, Vector, Vector]:
        """q, and the force and the torque on b at Q = 1."""
        c, at, none = self.constants, self.table[k, 3], (0.0, 0.0, 0.0)
        m, n = MOVING*self.table[k, 1], MOVING*self.table[k, 2]
        if self.table[k, 0] <= Law.GAP:
            gap = self.between(k, s)
            length = sqrt(dot(gap, gap))
            return length, scale(1.0/length if self.table[k, 0] == Law.LENGTH else 1.0, gap), none
        u = across(s, m, row(c, at + 2))
        if self.table[k, 0] == Law.SLIDE:
            return dot(u, self.between(k, s)), u, none
        e, f, rest = across(s, m, row(c, at + 3)), across(s, n, row(c, at + 4)), c[at + 5, 1]
        if c[at + 5, 0] == 0.0 and self.table[k, 4] < 0:
            return rest, none, u
        first, second = dot(e, f), dot(cross(e, f), u)
        angle = atan2(cos(rest)*second - sin(rest)*first, cos(rest)*first + sin(rest)*second)
        if abs(angle) > HALF_TURN:
            angle = np.nan  # past half a turn it would jump, and the energy with it: the run ends here
        return rest + angle, none, u

    def one(self, k: int, s: np.ndarray, t: float) -> float:
        """Loads of an element of one coordinate; returns the power of what is not elastic."""
        c, at = self.constants, self.table[k, 3]
        q, force, torque = self.coordinate(k, s)
        if self.table[k, 0] == Law.GAP:
            self.pull(k, s, scale(-c[at + 5, 0], force), torque)
            return 0.0
        velocity, turn = self.moving(k, s)
        rate = dot(force, velocity) + dot(torque, turn)
        value = c[at + 6, 0] + c[at + 6, 1]*t + c[at + 7, 0]*sin(c[at + 7, 1]*t) - c[at + 5, 2]*rate
        value -= c[at + 8, 2]*cos(c[at + 7, 1]*t + c[at + 7, 2])  # of a motor, on a
        value -= c[at + 8, 0]*rate/sqrt(rate*rate + c[at + 8, 1]*c[at + 8, 1])
        if self.table[k, 4] >= 0:
            value += self.own.law(self.table[k, 4], q, rate, t)
        total = value - c[at + 5, 0]*(q - c[at + 5, 1])
        self.pull(k, s, scale(total, force), scale(total, torque))
        return value*rate

    def axis(self, k: int, side: int, number: int, s: np.ndarray) -> Vector:
        """An axis in space of the frame of a bushing at a (side 0) or b."""
        return across(s, MOVING*self.table[k, 1 + side], row(self.constants, self.table[k, 3] + 2 + 3*side + number))

    def inside(self, k: int, s: np.ndarray, v: Vector) -> Vector:
        """Components of a spatial vector in the frame at a."""
        return dot(v, self.axis(k, 0, 0, s)), dot(v, self.axis(k, 0, 1, s)), dot(v, self.axis(k, 0, 2, s))

    def outside(self, k: int, s: np.ndarray, v: Vector) -> Vector:
        """A vector in space of its components in the frame at a."""
        return axpy(v[0], self.axis(k, 0, 0, s), axpy(v[1], self.axis(k, 0, 1, s), scale(v[2], self.axis(k, 0, 2, s))))

    def product(self, at: int, u: Vector, v: Vector) -> tuple[Vector, Vector]:
        """The matrix (6, 6) whose rows stand in two rows each from `at`, times (u, v)."""
        c = self.constants
        return ((dot(row(c, at), u) + dot(row(c, at + 1), v), dot(row(c, at + 2), u) + dot(row(c, at + 3), v),
                 dot(row(c, at + 4), u) + dot(row(c, at + 5), v)),
                (dot(row(c, at + 6), u) + dot(row(c, at + 7), v), dot(row(c, at + 8), u) + dot(row(c, at + 9), v),
                 dot(row(c, at + 10), u) + dot(row(c, at + 11), v)))

    def offset(self, k: int, s: np.ndarray) -> tuple[Vector, Vector]:
        """z of a bushing: the rotation vector by a quaternion, of angles below half a turn."""
        x, y, z = (self.inside(k, s, self.axis(k, 1, 0, s)), self.inside(k, s, self.axis(k, 1, 1, s)),
                   self.inside(k, s, self.axis(k, 1, 2, s)))
        w = 0.5*sqrt(1.0 + x[0] + y[1] + z[2])
        theta = to_rotation_vector((w, (y[2] - z[1])/(4.0*w), (z[0] - x[2])/(4.0*w), (x[1] - y[0])/(4.0*w)))
        return self.inside(k, s, self.between(k, s)), theta

    def six(self, k: int, s: np.ndarray) -> float:
        """Loads of a bushing; returns the power of its damping."""
        at = self.table[k, 3]
        d, theta = self.offset(k, s)
        velocity, turn = self.moving(k, s)
        v, w = self.inside(k, s, velocity), self.inside(k, s, turn)
        pull, moment = self.product(at + 8, d, theta)
        slow, brake = self.product(at + 20, v, w)
        force, torque = add(pull, slow), add(rotation_rate(0, theta, moment), brake)
        self.pull(k, s, self.outside(k, s, scale(-1.0, force)), self.outside(k, s, scale(-1.0, torque)))
        return -dot(slow, v) - dot(brake, w)
