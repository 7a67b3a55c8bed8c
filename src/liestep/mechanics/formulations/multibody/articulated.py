"""Accelerations of trees of bodies in O(n) by the articulated-body algorithm (Featherstone 2008, Rigid Body Dynamics
Algorithms, chapter 7), for compiled code: the equations of `mechanism` without its rows and multipliers.

A joint of body b on a, about the centres of mass and in the axes of space, leaves the rates x of b against a:

    dV_b = X dV_a + bias + S d2x/dt2,   force of the joint: S^T F = Q - J d2x/dt2,   Q = -c dx/dt

with inertia J and damping c of each rate. The bias is that of the rows, up to squares of their residuals, so that
joints drift as with these. What is solved for is dV less what it were without joints. Kinds of rates, with the point P
of body b that stays at one of a, or slides:

    SLIDE    of P along u of a; dx/dt = v.(velocity of P against a), v of a
    HINGE    about u of b and v of a
    TURNED   about u of b, of three orthogonal ones
    FIRST    about u of a, of turns in sequence about u, ..., v of b
    BETWEEN  about u x v, the turn between those two
    LAST     about v of b"""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, add, add_to, axpy, cross, dot, put, row, scale, sqrt, sub, unit
from liestep.mechanics.formulations.multibody.mechanism import BODY, MOVING, PLACE, PUSH, SPIN, TURN, VELOCITY

SLIDE, HINGE, TURNED, FIRST, BETWEEN, LAST = range(6)
FACTS = 3   # rows of `facts` of a rate: u, v, (J, c, 0)
LIMB = 17   # rows of `scratch` of a body: inertia A, B^T and C of (A B; B^T C) (9), then those below
FORCE, BIAS, GAIN, OWN, GAP = 9, 11, 13, 15, 16  # torque and force; bias; what joints add to dV; spin without joints,
#                                                  spatial; from the parent's centre of mass to that of the body
RATE = 5    # rows of `scratch` of a rate, behind those: S (2), inertia S (2), (1/D, rest, Q)
Matrix = tuple[Vector, Vector, Vector]


@kernel
def matrix(a: np.ndarray, i: int) -> Matrix:
    """Rows i, i + 1 and i + 2."""
    return row(a, i), row(a, i + 1), row(a, i + 2)


@kernel
def column(m: Matrix, k: int) -> Vector:
    """Column k."""
    return m[0][k], m[1][k], m[2][k]


@kernel
def product(m: Matrix, v: Vector) -> Vector:
    """m v"""
    return dot(m[0], v), dot(m[1], v), dot(m[2], v)


@kernel
def transposed(m: Matrix, v: Vector) -> Vector:
    """m^T v"""
    return axpy(v[0], m[0], axpy(v[1], m[1], scale(v[2], m[2])))


@kernel
def less(m: Matrix, f: float, u: Vector, v: Vector) -> Matrix:
    """m - f u v^T"""
    return axpy(-f*u[0], v, m[0]), axpy(-f*u[1], v, m[1]), axpy(-f*u[2], v, m[2])


class NoTree(NamedTuple):
    """Of a mechanism that is none, or whose joints are stabilised: nothing, so that its compiled code has none."""

    nothing: int = 0

    def accelerate(self, s: np.ndarray, c: np.ndarray) -> bool:
        return False


class Articulated(NamedTuple):
    """Data of `Tree.limbs`; bodies stand behind their parents."""

    parents: np.ndarray  # (n,) n for the ground
    first: np.ndarray    # (n + 1,) first rate of each body
    kinds: np.ndarray    # (rates,)
    facts: np.ndarray    # FACTS rows of each rate; P of each body from its centre of mass, and from that of its parent
    scratch: np.ndarray  # LIMB rows of each body and the ground, RATE rows of each rate

    def accelerate(self, s: np.ndarray, c: np.ndarray) -> bool:
        """From accelerations without joints in the mechanism's scratch s, with its constants c, those with them; the
        power of the damping is added to that of torques."""
        n = self.parents.shape[0]
        for i in range(n):
            self.move(i, s, c)
        for r in range(n):
            self.fold(n - 1 - r)
        for i in range(n):
            self.unfold(i, s)
        return True

    def move(self, i: int, s: np.ndarray, c: np.ndarray) -> None:
        """Inertia of body i, bias and S of its joint, and Q."""
        w, m, a, at, none = self.scratch, MOVING*i, MOVING*self.parents[i], LIMB*i, (0.0, 0.0, 0.0)
        frame, above, inertia = matrix(s, m), matrix(s, a), matrix(c, BODY*i + 1)
        for k in range(3):
            put(w, at + k, transposed(frame, product(inertia, column(frame, k))))
            put(w, at + 3 + k, none)
            put(w, at + 6 + k, scale(c[BODY*i, 0], unit(k)))
        put(w, at + FORCE, none)
        put(w, at + FORCE + 1, none)
        spin, before = transposed(frame, row(s, m + SPIN)), row(w, LIMB*self.parents[i] + OWN)
        turn, other, point = row(s, m + TURN), row(s, a + TURN), FACTS*self.kinds.shape[0] + 2*i
        between, arm = sub(turn, other), transposed(frame, row(self.facts, point))
        gap, bent, pushed, slide = sub(transposed(above, row(self.facts, point + 1)), arm), none, none, none
        if self.kinds[self.first[i]] == SLIDE:
            gap = sub(row(s, m + PLACE), row(s, a + PLACE))
            slide = add(sub(sub(row(s, m + VELOCITY), row(s, a + VELOCITY)), cross(other, gap)), cross(between, arm))
            pushed = scale(2.0, cross(other, slide))
        if self.kinds[self.first[i + 1] - 1] == SLIDE:
            bent = cross(other, between)
        for j in range(self.first[i], self.first[i + 1]):
            to, u, v = self.rate(j), row(self.facts, FACTS*j), row(self.facts, FACTS*j + 1)
            axis, change, rate = none, none, 0.0
            if self.kinds[j] == SLIDE:
                rate = dot(transposed(above, v), slide)
                put(w, to + 1, transposed(above, u))
            else:
                if self.kinds[j] <= TURNED:
                    axis, change, rate = self.alone(j, transposed(frame, u), transposed(above, v), turn, other)
                else:
                    axis, change, rate = self.several(j, transposed(above, u), transposed(frame, v), turn, other)
                put(w, to + 1, cross(arm, axis))
            put(w, to, axis)
            bent = add(bent, change)
            w[to + 4, 2] = -self.facts[FACTS*j + 2, 1]*rate
            s[s.shape[0] - 1, 1] += w[to + 4, 2]*rate
        pushed = add(pushed, sub(cross(other, cross(other, add(gap, arm))), cross(turn, cross(turn, arm))))
        put(w, at + BIAS, add(bent, sub(before, spin)))
        put(w, at + BIAS + 1, add(sub(pushed, cross(bent, arm)), sub(
            add(row(s, a + PUSH), cross(before, gap)), row(s, m + PUSH))))
        put(w, at + OWN, spin)
        put(w, at + GAP, gap)

    def rate(self, j: int) -> int:
        """First row of rate j in scratch."""
        return LIMB*(self.parents.shape[0] + 1) + RATE*j

    def alone(self, j: int, u: Vector, v: Vector, turn: Vector, other: Vector) -> tuple[Vector, Vector, float]:
        """Axis in space of a HINGE or TURNED, its derivative times the rate, and the rate, by the rates of both bodies.
        The rows of a hinge keep a part of the rate across the axis in the axes of a."""
        between, change = sub(turn, other), cross(turn, u)
        if self.kinds[j] == TURNED:
            return u, scale(dot(u, between), change), dot(u, between)
        y = sub(cross(other, cross(between, u)), cross(between, change))
        y = axpy(-dot(y, u)/dot(v, u), v, y)
        return u, axpy(-dot(change, between), u, cross(u, y)), dot(u, between)

    def several(self, j: int, u: Vector, v: Vector, turn: Vector, other: Vector) -> tuple[Vector, Vector, float]:
        """The same of turns in sequence."""
        between, du, dv = sub(turn, other), cross(other, u), cross(turn, v)
        if self.kinds[j] == BETWEEN:
            normal, change = cross(u, v), add(cross(du, v), cross(u, dv))
            size = 1.0/sqrt(dot(normal, normal))
            normal = scale(size, normal)
            rate = dot(normal, between)
            return normal, scale(rate*size, axpy(-dot(normal, change), normal, change)), rate
        if self.kinds[j] == LAST:
            u, v, du = v, u, dv
        near = dot(u, v)
        rate = dot(axpy(-near, v, u), between)/(1.0 - near*near)
        return u, scale(rate, du), rate

    def fold(self, i: int) -> None:
        """Inertia and force of body i with all that it carries, as its parent feels them through the joint."""
        w, at, to = self.scratch, LIMB*i, LIMB*self.parents[i]
        a, b, c = matrix(w, at), matrix(w, at + 3), matrix(w, at + 6)
        torque, force = row(w, at + FORCE), row(w, at + FORCE + 1)
        for r in range(self.first[i + 1] - self.first[i]):
            j = self.first[i + 1] - 1 - r
            k = self.rate(j)
            u, v = row(w, k), row(w, k + 1)
            x, y = add(product(a, u), transposed(b, v)), add(product(b, u), product(c, v))
            inverse = 1.0/(dot(u, x) + dot(v, y) + self.facts[FACTS*j + 2, 0])
            rest = w[k + 4, 2] - dot(u, torque) - dot(v, force)
            torque, force = axpy(rest*inverse, x, torque), axpy(rest*inverse, y, force)
            a, b, c = less(a, inverse, x, x), less(b, inverse, y, x), less(c, inverse, y, y)
            put(w, k + 2, x)
            put(w, k + 3, y)
            w[k + 4, 0], w[k + 4, 1] = inverse, rest
        if self.parents[i] == self.parents.shape[0]:
            return
        gap, x, y = row(w, at + GAP), row(w, at + BIAS), row(w, at + BIAS + 1)
        torque = add(torque, add(product(a, x), transposed(b, y)))
        force = add(force, add(product(b, x), product(c, y)))
        add_to(w, to + FORCE, add(torque, cross(gap, force)))
        add_to(w, to + FORCE + 1, force)
        d = (cross(gap, column(b, 0)), cross(gap, column(b, 1)), cross(gap, column(b, 2)))
        b = (add(b[0], cross(gap, c[0])), add(b[1], cross(gap, c[1])), add(b[2], cross(gap, c[2])))
        for k in range(3):
            add_to(w, to + 3 + k, b[k])
            add_to(w, to + 6 + k, c[k])
            add_to(w, to + k, add(add(a[k], column(d, k)), cross(gap, column(b, k))))

    def unfold(self, i: int, s: np.ndarray) -> None:
        """What joints add to the accelerations of body i, after that of its parent."""
        w, at, to, m = self.scratch, LIMB*i, LIMB*self.parents[i], MOVING*i
        turn = row(w, to + GAIN)
        push = add(add(row(w, to + GAIN + 1), cross(turn, row(w, at + GAP))), row(w, at + BIAS + 1))
        turn = add(turn, row(w, at + BIAS))
        for j in range(self.first[i], self.first[i + 1]):
            k = self.rate(j)
            change = (w[k + 4, 1] - dot(row(w, k + 2), turn) - dot(row(w, k + 3), push))*w[k + 4, 0]
            turn, push = axpy(change, row(w, k), turn), axpy(change, row(w, k + 1), push)
        put(w, at + GAIN, turn)
        put(w, at + GAIN + 1, push)
        add_to(s, m + SPIN, product(matrix(s, m), turn))
        add_to(s, m + PUSH, push)
