"""Rigid bodies with spherical joints: data, observables and the vector field of index 1 (Newton and Euler).

Rows of the vector field for each body: position x of the centre of mass, Q e_1, Q e_2, Q e_3, linear momentum, angular
momentum about the centre of mass (spin), all spatial. A joint holds x_a + Q_a X_a = x_b + Q_b X_b; body b = -1 is the
ground, where Q_b X_b stands for a fixed point. Its force mu acts on body a, -mu on body b. The load of livens2025
section 5.5 acts on body 0: a force 8 f(t) and a torque 6 f(t) along e1, f a triangle from 0 to 1 s.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, hands_on, kernel
from liestep.compile.rows import FieldOfRows, Vector, add, axpy, cross, dot, put, row, scale, sub, unit
from liestep.geometry.attitude import to_body, to_space
from liestep.geometry.linalg import cholesky, cholesky_solve
from liestep.mechanics.contracts.formulations import Component

ROWS = 6                   # rows of one body
FORCE, TORQUE = 8.0, 6.0   # N, N m for each newton of f


@kernel
def load_at(peak: float, t: float) -> float:
    """f(t): 0 to `peak` at 0.5 s and back to 0 at 1 s."""
    return 2.0*peak*t if t <= 0.5 else (2.0*peak*(1.0 - t) if t < 1.0 else 0.0*peak)


class Bodies(NamedTuple):
    """N bodies and K joints."""

    mass: np.ndarray      # (N,)
    inertia: np.ndarray   # (N, 3) about the centres of mass
    first: np.ndarray     # (K,) body a of each joint
    second: np.ndarray    # (K,) body b, -1 for the ground
    arm: np.ndarray       # (K, 3) X_a, in body a
    other: np.ndarray     # (K, 3) X_b, in body b or in space
    gravity: np.ndarray   # (3,)
    peak: float           # of the load, N

    def number(self) -> int:
        return self.mass.shape[0]

    def joints(self) -> int:
        return self.first.shape[0]

    def inverse(self, y: np.ndarray, b: int, u: Vector) -> Vector:
        """Q J^-1 Q^T u of body b."""
        q = y[ROWS*b + 1:]
        p = to_body(q, u)
        return to_space(q, (p[0]/self.inertia[b, 0], p[1]/self.inertia[b, 1], p[2]/self.inertia[b, 2]))

    def rate(self, y: np.ndarray, b: int) -> Vector:
        """Spatial angular velocity."""
        return self.inverse(y, b, row(y, ROWS*b + 5))

    def place(self, y: np.ndarray, b: int, x: Vector) -> Vector:
        """Point x of body b in space."""
        return x if b < 0 else add(row(y, ROWS*b), to_space(y[ROWS*b + 1:], x))

    def gap(self, y: np.ndarray, k: int) -> Vector:
        """x_a + Q_a X_a - x_b - Q_b X_b of joint k."""
        return sub(self.place(y, self.first[k], row(self.arm, k)), self.place(y, self.second[k], row(self.other, k)))

    def height(self, b: int, x: Vector) -> float:
        """Potential energy of body b at x."""
        return -self.mass[b]*dot((self.gravity[0], self.gravity[1], self.gravity[2]), x)

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """Energy, angular momentum about the origin (3), linear momentum (3), largest joint gap."""
        for k in range(8):
            out[k] = 0.0
        for b in range(self.number()):
            i = ROWS*b
            x, p, spin = row(y, i), row(y, i + 4), row(y, i + 5)
            turn = add(cross(x, p), spin)
            out[0] += 0.5*dot(p, p)/self.mass[b] + 0.5*dot(spin, self.rate(y, b)) + self.height(b, x)
            for k in range(3):
                out[1 + k] += turn[k]
                out[4 + k] += p[k]
        for k in range(self.joints()):
            gap = self.gap(y, k)
            out[7] = max(out[7], max(abs(gap[0]), max(abs(gap[1]), abs(gap[2]))))


@hands_on("bodies", Component, "observe")
@borrows(FieldOfRows)
class JointedField(NamedTuple):
    """Vector field with the joints' accelerations solved for their forces; nothing is projected."""

    bodies: Bodies
    matrix: np.ndarray   # (3 K, 3 K) scratch
    force: np.ndarray    # (3 K,) joint forces
    moved: np.ndarray    # (N, 3) angular velocities
    pushed: np.ndarray   # (2 N, 3) accelerations and angular accelerations without joints
    counters: np.ndarray

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        c = self.bodies
        self.counters[Counter.RHS_EVALUATIONS] += 1
        f = load_at(c.peak, t)
        for b in range(c.number()):
            i, w = ROWS*b, c.rate(y, b)
            put(self.moved, b, w)
            put(out, i, scale(1.0/c.mass[b], row(y, i + 4)))
            for k in range(3):
                put(out, i + 1 + k, cross(w, row(y, i + 1 + k)))
            put(out, i + 4, scale(c.mass[b], (c.gravity[0], c.gravity[1], c.gravity[2])))
            put(out, i + 5, (TORQUE*f if b == 0 else 0.0*f, 0.0*f, 0.0*f))
            if b == 0:
                out[i + 4, 0] += FORCE*f
            put(self.pushed, b, scale(1.0/c.mass[b], row(out, i + 4)))
            put(self.pushed, c.number() + b, c.inverse(y, b, sub(row(out, i + 5), cross(w, row(y, i + 5)))))
        if not self.join(y):
            return False
        for k in range(c.joints()):
            mu = (self.force[3*k], self.force[3*k + 1], self.force[3*k + 2])
            self.push(y, c.first[k], row(c.arm, k), mu, out)
            if c.second[k] >= 0:
                self.push(y, c.second[k], row(c.other, k), scale(-1.0, mu), out)
        return True

    def push(self, y: np.ndarray, b: int, x: Vector, mu: Vector, out: np.ndarray) -> None:
        """Add the force mu at the point x of body b to the rates of its momenta."""
        i = ROWS*b
        put(out, i + 4, add(row(out, i + 4), mu))
        put(out, i + 5, add(row(out, i + 5), cross(to_space(y[i + 1:], x), mu)))

    def acceleration(self, y: np.ndarray, b: int, x: Vector) -> Vector:
        """Of the point x of body b without joint forces."""
        r, w = to_space(y[ROWS*b + 1:], x), row(self.moved, b)
        turned = cross(row(self.pushed, self.bodies.number() + b), r)
        return add(row(self.pushed, b), add(turned, cross(w, cross(w, r))))

    def join(self, y: np.ndarray) -> bool:
        """Forces that keep the ends of all joints together; False where joints are redundant."""
        c = self.bodies
        for k in range(c.joints()):
            u = self.acceleration(y, c.first[k], row(c.arm, k))
            if c.second[k] >= 0:
                u = sub(u, self.acceleration(y, c.second[k], row(c.other, k)))
            for i in range(3):
                self.force[3*k + i] = -u[i]
            for j in range(k + 1):
                for i in range(3):
                    column = add(self.reply(y, k, j, 1, unit(i)), self.reply(y, k, j, -1, unit(i)))
                    for r in range(3):
                        self.matrix[3*k + r, 3*j + i] = column[r]
        if not cholesky(self.matrix, 3*c.joints()):
            return False
        cholesky_solve(self.matrix, self.force, 3*c.joints())
        return True

    def reply(self, y: np.ndarray, k: int, j: int, side: int, e: Vector) -> Vector:
        """Acceleration at the end `side` (1 first, -1 second) of joint k, with this sign, by the force e of joint j."""
        c = self.bodies
        b = c.first[k] if side > 0 else c.second[k]
        x = row(c.arm, k) if side > 0 else row(c.other, k)
        found = (0.0*e[0], 0.0*e[1], 0.0*e[2])
        if b < 0:
            return found
        q = y[ROWS*b + 1:]
        if b == c.first[j]:
            found = axpy(1.0/c.mass[b], e, cross(c.inverse(y, b, cross(to_space(q, row(c.arm, j)), e)), to_space(q, x)))
        if b == c.second[j]:
            turn = cross(c.inverse(y, b, cross(to_space(q, row(c.other, j)), e)), to_space(q, x))
            found = sub(found, axpy(1.0/c.mass[b], e, turn))
        return scale(float(side), found)


def chained(bodies: Any, number: int) -> bool:
    """Whether `number` bodies are an open chain in their order, without a load: joint k holds body k on body k - 1, the
    first one on the ground."""
    order = np.arange(number)
    return (len(bodies.first) == number and not bodies.peak > 0.0 and bool(np.all(bodies.first == order))
            and bool(np.all(bodies.second == order - 1)))


def redundant(bodies: Any, places: np.ndarray, attitudes: np.ndarray) -> bool:
    """Whether the joints' constraints depend on each other at positions (N, 3) and attitudes (N, 3, 3)."""
    if np.all(bodies.second < bodies.first) and len(set(bodies.first)) == len(bodies.first):
        return False  # a tree: each joint places a body of its own
    slopes = np.zeros((3*len(bodies.first), 6*len(bodies.mass)))
    for k, (a, b) in enumerate(zip(bodies.first, bodies.second, strict=True)):
        for body, x, sign in ((a, bodies.arm[k], 1.0), (b, bodies.other[k], -1.0)):
            if body >= 0:
                r = attitudes[body] @ x
                slopes[3*k:3*k + 3, 6*body:6*body + 3] += sign*np.eye(3)
                slopes[3*k:3*k + 3, 6*body + 3:6*body + 6] -= sign*np.cross(np.eye(3), r)
    longest = max(np.abs(bodies.arm).max(initial=0.0), np.abs(bodies.other).max(initial=0.0)) or 1.0
    slopes.reshape(len(slopes), -1, 6)[:, :, 3:] /= longest  # in any unit of length
    return bool(np.linalg.matrix_rank(slopes, tol=1e-10) < len(slopes))
