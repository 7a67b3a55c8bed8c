"""The semidirect product SO(3) x so(3)* on T*SO(3)."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, add, put, row
from liestep.geometry.distances import attitudes, vectors
from liestep.geometry.groups.rigid_motions import RigidMotion
from liestep.geometry.so3 import quadratic


@borrows(RigidMotion)
class CotangentRotation(NamedTuple):
    """exp(u, n).(Q, pi) = (exp(u) Q, exp(u) pi + dexp_u n), the group product (g1, m1)(g2, m2) = (g1 g2, m1 + g1 m2):
    liegroup2021, section 3, right trivialised (pi spatial).

    State rows Q e_1, Q e_2, Q e_3, pi; algebra rows u, n. The algebra is that of SE(3).
    """

    rows: int  # 4

    def state_rows(self) -> int:
        return 4

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        put(out, 3, add(quadratic(s, c, a, row(y, 3)), r))
        for k in range(3):
            put(out, k, quadratic(s, c, a, row(y, k)))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        return attitudes(y, z, 0) + vectors(y, z, 3, 4)
