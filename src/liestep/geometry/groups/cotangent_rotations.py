"""Several semidirect products SO(3) x so(3)*, one for each body."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, add, put, row
from liestep.geometry.distances import attitudes, vectors
from liestep.geometry.groups.rigid_motions import RigidMotions
from liestep.geometry.so3 import quadratic


@borrows(RigidMotions)
class CotangentRotations(NamedTuple):
    """exp(u, n).(R, pi) of `geometry.groups.cotangent_rotation` for each of n bodies.

    State rows: R_i e_1, R_i e_2, R_i e_3 of all bodies, then all pi_i; algebra rows u_1 ... u_n, n_1 ... n_n.
    """

    bodies: int

    def state_rows(self) -> int:
        return 4*self.bodies

    def algebra_rows(self) -> int:
        return 2*self.bodies

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        n = self.bodies
        put(out, 3*n + i, add(quadratic(s, c, a, row(y, 3*n + i)), r))
        for k in range(3):
            put(out, 3*i + k, quadratic(s, c, a, row(y, 3*i + k)))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        total = vectors(y, z, 3*self.bodies, 4*self.bodies)
        for i in range(self.bodies):
            total += attitudes(y, z, 3*i)
        return total
