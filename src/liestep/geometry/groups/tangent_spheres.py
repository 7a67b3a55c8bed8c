"""SE(3)^n on (TS^2)^n."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, put, row
from liestep.geometry.distances import tangent_vectors
from liestep.geometry.groups.rigid_motions import RigidMotions
from liestep.geometry.se3 import apply


@borrows(RigidMotions)
class TangentSpheres(NamedTuple):
    """exp(A, a).(q, w) = (exp(A) q, exp(A) w + dexp_A(a) x exp(A) q) on each of n spheres: liegroup2021, section 4.

    State rows q_1..q_n, w_1..w_n; algebra rows A_1..A_n, a_1..a_n. With n = 1 and (q, w) = (Gamma, Pi) it is the
    coadjoint action of SE(3) on se(3)*: see `coadjoint_motion`.
    """

    n: int

    def state_rows(self) -> int:
        return 2*self.n

    def algebra_rows(self) -> int:
        return 2*self.n

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        n = y.shape[0]//2
        q, w = apply(s, c, a, r, row(y, i), row(y, n + i))
        put(out, i, q)
        put(out, n + i, w)

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        n, total = y.shape[0]//2, 0.0
        for i in range(n):
            total += tangent_vectors(row(y, i), row(y, n + i), row(z, i), row(z, n + i))
        return total
