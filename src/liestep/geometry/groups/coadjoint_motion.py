"""SE(3) on se(3)*, coadjoint action."""
from typing import NamedTuple

import numpy as np

from liestep.compile.rows import Vector, put, row
from liestep.geometry.groups.rigid_motions import bracket, dexpinv, in_chart
from liestep.geometry.se3 import apply, exponential


class CoadjointMotion(NamedTuple):
    """Ad*_{g^-1} of g = (R, r) = exp(xi, v): (Pi, Gamma) -> (R Pi + r x R Gamma, R Gamma): liegroup2021, section 2.

    State rows Pi, Gamma; algebra rows xi, v. Conserves |Gamma| and Pi.Gamma, the coadjoint orbit.
    """

    rows: int  # 2

    def state_rows(self) -> int:
        return 2

    def algebra_rows(self) -> int:
        return 2

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        s, c, r = exponential(row(xi, 0), row(xi, 1))
        self.move(0, s, c, row(xi, 0), r, y, out)

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        gamma, pi = apply(s, c, a, r, row(y, 1), row(y, 0))
        put(out, 0, pi)
        put(out, 1, gamma)

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        return dexpinv(sigma, v, out)

    def in_chart(self, sigma: np.ndarray) -> bool:
        return in_chart(sigma)

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        bracket(a, b, out)
