"""SO(3) on vectors."""
from typing import NamedTuple

import numpy as np

from liestep.core.rows import cross, put, row
from liestep.geometry.so3 import dexpinv, exp_apply, in_chart


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
        for i in range(y.shape[0]):
            put(out, i, exp_apply(u, row(y, i)))

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        u = row(sigma, 0)
        put(out, 0, dexpinv(u, row(v, 0)))
        return in_chart(u)

    def in_chart(self, sigma: np.ndarray) -> bool:
        return in_chart(row(sigma, 0))

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        put(out, 0, cross(row(a, 0), row(b, 0)))
