"""R^3n on itself."""
from typing import Any, NamedTuple

from liestep.core.rows import add, put, row


class Translation(NamedTuple):
    """exp(a).y = y + a: commutative, so that brackets vanish and dexpinv is the identity."""

    rows: Any  # n

    def state_rows(self):
        return self.rows

    def algebra_rows(self):
        return self.rows

    def act(self, xi, y, out):
        for i in range(y.shape[0]):
            put(out, i, add(row(y, i), row(xi, i)))

    def dexpinv(self, sigma, v, out):
        for i in range(v.shape[0]):
            put(out, i, row(v, i))
        return True

    def in_chart(self, sigma):
        return True

    def bracket(self, a, b, out):
        for i in range(a.shape[0]):
            put(out, i, (0.0, 0.0, 0.0))
