"""SO(3) on vectors."""
from typing import NamedTuple

import numpy as np

from liestep.compile.rows import Vector, cross, dot, put, row
from liestep.geometry.distances import attitudes
from liestep.geometry.so3 import coefficients, dexpinv, in_chart, quadratic


class Rotation(NamedTuple):
    """exp(u).(v_1, ..., v_m) = (exp(u) v_1, ..., exp(u) v_m): directions, momenta on so(3)*, or the
    three axes of an attitude.

    An attitude Q (body to space) is kept by its columns Q e_1, Q e_2, Q e_3 as three rows, so that
    exp(u) Q turns each row.
    """

    vectors: int  # m

    def state_rows(self) -> int:
        return self.vectors

    def algebra_rows(self) -> int:
        return 1

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        u = row(xi, 0)
        s, c, _ = coefficients(dot(u, u))
        self.move(0, s, c, u, u, y, out)

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        for k in range(y.shape[0]):
            put(out, k, quadratic(s, c, a, row(y, k)))

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        u = row(sigma, 0)
        put(out, 0, dexpinv(u, row(v, 0)))
        return in_chart(u)

    def in_chart(self, sigma: np.ndarray) -> bool:
        return in_chart(row(sigma, 0))

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        put(out, 0, cross(row(a, 0), row(b, 0)))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        """Of attitudes, three rows."""
        return attitudes(y, z, 0)
