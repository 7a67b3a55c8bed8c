"""Several semidirect products SO(3) x so(3)*, one for each body."""
from typing import NamedTuple

import numpy as np

from liestep.core.rows import add, dot, put, row
from liestep.geometry.so3 import coefficients, quadratic
from liestep.groups.rigid_motions import bracket, dexpinv, in_chart


class CotangentRotations(NamedTuple):
    """exp(u, n).(R, pi) of `groups.cotangent_rotation` for each of n bodies.

    State rows: R_i e_1, R_i e_2, R_i e_3 of all bodies, then all pi_i; algebra rows u_1 ... u_n, n_1 ... n_n.
    """

    bodies: int

    def state_rows(self) -> int:
        return 4*self.bodies

    def algebra_rows(self) -> int:
        return 2*self.bodies

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        n = self.bodies
        for i in range(n):
            u = row(xi, i)
            s, c, d = coefficients(dot(u, u))
            put(out, 3*n + i, add(quadratic(s, c, u, row(y, 3*n + i)), quadratic(c, d, u, row(xi, n + i))))
            for k in range(3):
                put(out, 3*i + k, quadratic(s, c, u, row(y, 3*i + k)))

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        return dexpinv(sigma, v, out)

    def in_chart(self, sigma: np.ndarray) -> bool:
        return in_chart(sigma)

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        bracket(a, b, out)
