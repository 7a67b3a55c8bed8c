"""The Lie algebra of SE(3)^n in rows A_1..A_n, a_1..a_n: what all actions of rigid motions share, whatever they act
on."""
from typing import Any

import numpy as np

from liestep.compile.rows import put, row
from liestep.geometry.se3 import bracket as bracket_of_one
from liestep.geometry.se3 import dexpinv as dexpinv_of_one
from liestep.geometry.se3 import exponential
from liestep.geometry.se3 import in_chart as one_in_chart


class RigidMotions:
    """Methods of actions of n rigid motions that have `move`."""

    move: Any  # (i, s, c, a, r, y, out)

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        n = xi.shape[0]//2
        for i in range(n):
            s, c, r = exponential(row(xi, i), row(xi, n + i))
            self.move(i, s, c, row(xi, i), r, y, out)

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        """out = dexpinv_sigma(v); False where a rotation of sigma reaches 2 pi. out may be v."""
        n = v.shape[0]//2
        ok = True
        for i in range(n):
            a = row(sigma, i)
            ok = ok and one_in_chart(a)
            b, c = dexpinv_of_one(a, row(sigma, n + i), row(v, i), row(v, n + i))
            put(out, i, b)
            put(out, n + i, c)
        return ok

    def in_chart(self, sigma: np.ndarray) -> bool:
        """Whether all rotations of sigma stay below 2 pi."""
        n = sigma.shape[0]//2
        ok = True
        for i in range(n):
            ok = ok and one_in_chart(row(sigma, i))
        return ok

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        """out = [a, b]; out may be a or b."""
        n = a.shape[0]//2
        for i in range(n):
            rotation, translation = bracket_of_one(row(a, i), row(a, n + i), row(b, i), row(b, n + i))
            put(out, i, rotation)
            put(out, n + i, translation)


class RigidMotion(RigidMotions):
    """The same of one."""

    def algebra_rows(self) -> int:
        return 2

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        s, c, r = exponential(row(xi, 0), row(xi, 1))
        self.move(0, s, c, row(xi, 0), r, y, out)
