"""SO(3) and SO(3)^n on vectors."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, cross, dot, put, row
from liestep.geometry.distances import attitudes, directions
from liestep.geometry.so3 import coefficients, dexpinv, in_chart, quadratic


class SphereRotations(NamedTuple):
    """exp(u_1, ..., u_n).(v_1, ..., v_n) = (exp(u_1) v_1, ..., exp(u_n) v_n): each vector, a direction or a momentum on
    so(3)*, has a rotation of its own."""

    n: int

    def state_rows(self) -> int:
        return self.n

    def algebra_rows(self) -> int:
        return self.n

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        for i in range(xi.shape[0]):
            u = row(xi, i)
            s, c, _ = coefficients(dot(u, u))
            self.move(i, s, c, u, u, y, out)

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        put(out, i, quadratic(s, c, a, row(y, i)))

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        for i in range(sigma.shape[0]):
            put(out, i, dexpinv(row(sigma, i), row(v, i)))
        return self.in_chart(sigma)

    def in_chart(self, sigma: np.ndarray) -> bool:
        ok = True
        for i in range(sigma.shape[0]):
            ok = in_chart(row(sigma, i)) and ok
        return ok

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        for i in range(a.shape[0]):
            put(out, i, cross(row(a, i), row(b, i)))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        """Sum of the squared angles."""
        total = 0.0
        for i in range(y.shape[0]):
            total += directions(row(y, i), row(z, i))
        return total


@borrows(SphereRotations)
class Attitudes(NamedTuple):
    """exp(u_1, ..., u_n).(Q_1, ..., Q_n) = (exp(u_1) Q_1, ..., exp(u_n) Q_n) on attitudes, body to space. State rows
    Q_i e_1, Q_i e_2, Q_i e_3 of all bodies."""

    n: int

    def state_rows(self) -> int:
        return 3*self.n

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        for k in range(3*i, 3*i + 3):
            put(out, k, quadratic(s, c, a, row(y, k)))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        total = 0.0
        for i in range(self.n):
            total += attitudes(y, z, 3*i)
        return total
