"""SE(3) on se(3)*, coadjoint action."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, put, row
from liestep.geometry.groups.rigid_motions import RigidMotion
from liestep.geometry.se3 import apply


@borrows(RigidMotion)
class CoadjointMotion(NamedTuple):
    """Ad*_{g^-1} of g = (R, r) = exp(xi, v): (Pi, Gamma) -> (R Pi + r x R Gamma, R Gamma): liegroup2021, section 2.

    State rows Pi, Gamma; algebra rows xi, v. Conserves |Gamma| and Pi.Gamma, the coadjoint orbit.
    """

    rows: int  # 2

    def state_rows(self) -> int:
        return 2

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        gamma, pi = apply(s, c, a, r, row(y, 1), row(y, 0))
        put(out, 0, pi)
        put(out, 1, gamma)
