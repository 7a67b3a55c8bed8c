"""Mass matrices and biases of trees in joint coordinates, for compiled code: torques by the recursive Newton-Euler
algorithm, masses by that of composite bodies (Featherstone 2008, Rigid Body Dynamics Algorithms, chapters 5 and 6).

Vectors are spatial; forces and inertias of a body are about its reference point. The ground has the acceleration -g."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, add, add_to, axpy, cross, dot, put, row, scale, sin, sqrt, unit
from liestep.geometry.quaternion import columns
from liestep.mechanics.formulations.multibody.articulated import Matrix, column, matrix, product, transposed

FREE, BALL, SLIDE, HINGE = range(4)
BODY, JOINT = 9, 3  # rows of `facts`, of a body: turn (3), place, centre of mass, (mass, 0, 0), inertia (3); of a
#                     joint: axis, point, (reference, 0, 0)
LIMB = 14           # rows of scratch of a body: attitude (3), and
RATE, SPIN, PUSH, GAP, LOAD, MASS, MOMENT, INERTIA = 3, 4, 5, 6, 7, 9, 10, 11  # angular velocity, its derivative,
#                     acceleration, from the parent's point, force and torque, (m, 0, 0), m c, inertia (3)


@kernel
def turned(m: Matrix, u: Vector, angle: float) -> Matrix:
    """m R, R the rotation about a unit vector."""
    s, c = sin(angle), 2.0*sin(0.5*angle)**2
    one, two, three = cross(m[0], u), cross(m[1], u), cross(m[2], u)
    return (axpy(c, cross(one, u), axpy(s, one, m[0])), axpy(c, cross(two, u), axpy(s, two, m[1])),
            axpy(c, cross(three, u), axpy(s, three, m[2])))


@kernel
def of_quaternion(q: np.ndarray, i: int) -> Matrix:
    """Attitude of a quaternion of any length."""
    length = sqrt(q[i]*q[i] + q[i + 1]*q[i + 1] + q[i + 2]*q[i + 2] + q[i + 3]*q[i + 3])
    a = columns((q[i]/length, q[i + 1]/length, q[i + 2]/length, q[i + 3]/length))
    return column(a, 0), column(a, 1), column(a, 2)


@kernel
def carried(rate: Vector, spin: Vector, arm: Vector) -> Vector:
    """Acceleration of a point of a body less that of another one."""
    return add(cross(spin, arm), cross(rate, cross(rate, arm)))


@kernel
def joined(m: Matrix, n: Matrix) -> Matrix:
    """m n"""
    return transposed(n, m[0]), transposed(n, m[1]), transposed(n, m[2])


class JointSpace(NamedTuple):
    """Data of `Tree`."""

    parents: np.ndarray   # (n,) n for the ground
    first: np.ndarray     # (n + 1,) first joint of each body
    joints: np.ndarray    # (joints + 1, 3) kind, places in q and v; the numbers of these
    facts: np.ndarray     # BODY rows of each body, JOINT rows of each joint, gravity

    def move(self, i: int, q: np.ndarray, v: np.ndarray, w: np.ndarray) -> None:
        """Attitude, velocity and acceleration of body i, and what its rates make."""
        n, at, a = self.parents.shape[0], LIMB*i, LIMB*self.parents[i]
        frame = joined(matrix(w, a), matrix(self.facts, BODY*i))
        gap, rate, spin = product(matrix(w, a), row(self.facts, BODY*i + 3)), row(w, a + RATE), row(w, a + SPIN)
        lever = (0.0, 0.0, 0.0)
        push = add(row(w, a + PUSH), carried(rate, spin, gap))
        for j in range(self.first[i], self.first[i + 1]):
            kind, here, to, fact = self.joints[j, 0], self.joints[j, 1], self.joints[j, 2], BODY*n + JOINT*j
            axis, far = product(frame, row(self.facts, fact)), product(frame, row(self.facts, fact + 1))
            if kind == SLIDE:
                moved = scale(q[here] - self.facts[fact + 2, 0], axis)
                gap, push = add(gap, moved), add(push, axpy(2.0*v[to], cross(rate, axis), carried(rate, spin, moved)))
                put(w, LIMB*(n + 1) + 2*to, axis)
                continue
            gap, push = add(gap, far), add(push, carried(rate, spin, far))
            if kind == HINGE:
                frame = turned(frame, row(self.facts, fact), q[here] - self.facts[fact + 2, 0])
                put(w, LIMB*(n + 1) + 2*to + 1, axis)
                own = scale(v[to], axis)
            else:
                free = 3 if kind == FREE else 0
                turn = of_quaternion(q, here + free)
                frame = turn if kind == FREE else joined(frame, turn)
                for k in range(3):
                    if kind == FREE:  # on the ground
                        put(w, LIMB*(n + 1) + 2*(to + k), unit(k))
                    put(w, LIMB*(n + 1) + 2*(to + free + k) + 1, column(frame, k))
                own = product(frame, (v[to + free], v[to + free + 1], v[to + free + 2]))
            spin, rate = add(spin, cross(rate, own)), add(rate, own)
            lever = scale(-1.0, product(frame, row(self.facts, fact + 1)))
            gap, push = add(gap, lever), add(push, carried(rate, spin, lever))
        for k in range(self.begin(i), self.begin(i + 1)):
            add_to(w, LIMB*(n + 1) + 2*k, cross(row(w, LIMB*(n + 1) + 2*k + 1), lever))
        for k in range(3):
            put(w, at + k, frame[k])
        put(w, at + RATE, rate)
        put(w, at + SPIN, spin)
        put(w, at + PUSH, push)
        put(w, at + GAP, gap)

    def begin(self, i: int) -> int:
        """Place in v of the first rate of body i."""
        return self.joints[self.first[i], 2]

    def weigh(self, i: int, w: np.ndarray) -> None:
        """Force, torque, mass and inertia of body i alone."""
        at, mass = LIMB*i, self.facts[BODY*i + 5, 0]
        frame, inertia, rate, spin = matrix(w, at), matrix(self.facts, BODY*i + 6), row(w, at + RATE), row(w, at + SPIN)
        arm, own = product(frame, row(self.facts, BODY*i + 4)), transposed(frame, rate)
        force = scale(mass, add(row(w, at + PUSH), carried(rate, spin, arm)))
        torque = add(product(inertia, transposed(frame, spin)), cross(own, product(inertia, own)))
        put(w, at + LOAD, force)
        put(w, at + LOAD + 1, add(product(frame, torque), cross(arm, force)))
        put(w, at + MASS, (mass, 0.0, 0.0))
        put(w, at + MOMENT, scale(mass, arm))
        for k in range(3):
            turn = product(frame, product(inertia, transposed(frame, unit(k))))
            put(w, at + INERTIA + k, axpy(mass, cross(arm, cross(unit(k), arm)), turn))

    def fold(self, i: int, w: np.ndarray, masses: np.ndarray, bias: np.ndarray) -> None:
        """Rows of the rates of body i, that carries all behind it; hand these over to its parent."""
        n, at, a, mass = self.parents.shape[0], LIMB*i, LIMB*self.parents[i], w[LIMB*i + MASS, 0]
        moment, gap = row(w, at + MOMENT), row(w, at + GAP)
        for k in range(self.begin(i), self.begin(i + 1)):
            move, turn = self.made(k, w)
            bias[k] = dot(turn, row(w, at + LOAD + 1)) + dot(move, row(w, at + LOAD))
            force = axpy(mass, move, cross(turn, moment))
            torque = add(product(matrix(w, at + INERTIA), turn), cross(moment, move))
            b = i
            while b < n:
                for j in range(self.begin(b), min(self.begin(b + 1), k + 1)):
                    move, turn = self.made(j, w)
                    masses[k, j] = masses[j, k] = dot(turn, torque) + dot(move, force)
                torque, b = add(torque, cross(row(w, LIMB*b + GAP), force)), self.parents[b]
        add_to(w, a + LOAD, row(w, at + LOAD))
        add_to(w, a + LOAD + 1, add(row(w, at + LOAD + 1), cross(gap, row(w, at + LOAD))))
        w[a + MASS, 0] += mass
        add_to(w, a + MOMENT, axpy(mass, gap, moment))
        for k in range(3):
            more = add(cross(gap, cross(unit(k), axpy(mass, gap, moment))), cross(moment, cross(unit(k), gap)))
            add_to(w, a + INERTIA + k, add(row(w, at + INERTIA + k), more))

    def made(self, k: int, w: np.ndarray) -> tuple[Vector, Vector]:
        """See `solve`."""
        at = LIMB*(self.parents.shape[0] + 1) + 2*k
        return row(w, at), row(w, at + 1)


def solve(joints: JointSpace, q: np.ndarray, v: np.ndarray, w: np.ndarray, masses: np.ndarray, bias: np.ndarray
          ) -> None:
    """Mass matrix (v, v) without armature, and bias (v,). w is scratch, zero: LIMB rows of each body and the ground, of
    each rate two: the velocity of its body's point and the angular velocity that it makes."""
    n = joints.parents.shape[0]
    for k in range(3):
        put(w, LIMB*n + k, unit(k))
    put(w, LIMB*n + PUSH, scale(-1.0, row(joints.facts, joints.facts.shape[0] - 1)))
    for i in range(n):
        joints.move(i, q, v, w)
        joints.weigh(i, w)
    for r in range(n):
        joints.fold(n - 1 - r, w, masses, bias)
