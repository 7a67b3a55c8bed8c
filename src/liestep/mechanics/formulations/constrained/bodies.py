"""Rigid bodies with spherical joints: data and observables.

Rows for each body: position x of the centre of mass, Q e_1, Q e_2, Q e_3, linear momentum, angular
momentum about the centre of mass (spin), all spatial. A joint holds x_a + Q_a X_a = x_b + Q_b X_b; body b = -1 is the
ground, where Q_b X_b stands for a fixed point. Its force mu acts on body a, -mu on body b. The load of livens2025
section 5.5 acts on body 0: a force 8 f(t) and a torque 6 f(t) along e1, f a triangle from 0 to 1 s."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, add, cross, dot, row, sub
from liestep.geometry.attitude import to_body, to_space

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


def chained(bodies: Any, number: int) -> bool:
    """Whether `number` bodies are an open chain in their order, without a load: joint k holds body k on body k - 1, the
    first one on the ground."""
    order = np.arange(number)
    return (len(bodies.first) == number and not bodies.peak > 0.0 and bool(np.all(bodies.first == order))
            and bool(np.all(bodies.second == order - 1)))
