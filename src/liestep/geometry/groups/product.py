"""R^3n on itself, and direct products of actions."""
from typing import Any, NamedTuple

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


class Product(NamedTuple):
    """(g, h).(x, y) = (g.x, h.y): the rows of the first factor, then those of the second. Products nest."""

    first: Any    # an action
    second: Any
    state: int    # rows of the first factor's state
    algebra: int  # rows of the first factor's algebra

    def state_rows(self) -> int:
        return self.first.state_rows() + self.second.state_rows()

    def algebra_rows(self) -> int:
        return self.first.algebra_rows() + self.second.algebra_rows()

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        self.first.act(xi[:self.algebra], y[:self.state], out[:self.state])
        self.second.act(xi[self.algebra:], y[self.state:], out[self.state:])

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        k = self.algebra
        one = self.first.dexpinv(sigma[:k], v[:k], out[:k])
        other = self.second.dexpinv(sigma[k:], v[k:], out[k:])
        return one and other

    def in_chart(self, sigma: np.ndarray) -> bool:
        return self.first.in_chart(sigma[:self.algebra]) and self.second.in_chart(sigma[self.algebra:])

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        k = self.algebra
        self.first.bracket(a[:k], b[:k], out[:k])
        self.second.bracket(a[k:], b[k:], out[k:])

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        return (self.first.distance2(y[:self.state], z[:self.state])
                + self.second.distance2(y[self.state:], z[self.state:]))


def product(*factors: tuple[Any, int]) -> Any:
    """Product of actions given as (action, rows of its state)."""
    (first, rows), *others = factors
    if not others:
        return first
    return Product(first, product(*others), rows, first.algebra_rows())
