"""R^3n on itself."""
from typing import NamedTuple

import numpy as np

from liestep.compile.rows import add, put, row
from liestep.geometry.distances import vectors


class Translation(NamedTuple):
    """exp(a).y = y + a: commutative, so that brackets vanish and dexpinv is the identity."""

    rows: int  # n

    def state_rows(self) -> int:
        return self.rows

    def algebra_rows(self) -> int:
        return self.rows

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        for i in range(y.shape[0]):
            put(out, i, add(row(y, i), row(xi, i)))

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        for i in range(v.shape[0]):
            put(out, i, row(v, i))
        return True

    def in_chart(self, sigma: np.ndarray) -> bool:
        return True

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        for i in range(a.shape[0]):
            put(out, i, (0.0, 0.0, 0.0))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        return vectors(y, z, 0, y.shape[0])
