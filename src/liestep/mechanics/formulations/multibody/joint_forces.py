"""Torques and forces at the joints of a tree, in the order of its rates, for compiled code."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, add, add_to, axpy, cross, dot, row, scale, sqrt, sub
from liestep.mechanics.formulations.multibody.articulated import BETWEEN, FACTS, FIRST, LAST, SLIDE, matrix, transposed
from liestep.mechanics.formulations.multibody.elements import NoOwn
from liestep.mechanics.formulations.multibody.mechanism import MOVING, PLACE, TURN, VELOCITY


@borrows(NoOwn)  # law, held, potential
class JointForces(NamedTuple):
    """Data of `Tree.limbs`, and a torque in N m, or a force in N, for each rate."""

    parents: np.ndarray
    first: np.ndarray
    kinds: np.ndarray
    facts: np.ndarray
    torque: np.ndarray  # (rates,)

    def forces(self, t: float, s: np.ndarray, out: np.ndarray) -> float:
        """As of `NoOwn`: each does its power on the rate of its joint, and none on the others."""
        power = 0.0
        for i in range(self.parents.shape[0]):
            m, a = MOVING*i, MOVING*self.parents[i]
            arm = transposed(matrix(s, m), row(self.facts, FACTS*self.kinds.shape[0] + 2*i))
            far = sub(add(row(s, m + PLACE), arm), row(s, a + PLACE))
            turn, other = row(s, m + TURN), row(s, a + TURN)
            slide = sub(add(row(s, m + VELOCITY), cross(turn, arm)), add(row(s, a + VELOCITY), cross(other, far)))
            for j in range(self.first[i], self.first[i + 1]):
                if self.torque[j] == 0.0:  # also where turns in sequence are in line
                    continue
                if self.kinds[j] == SLIDE:
                    force = scale(self.torque[j], transposed(matrix(s, a), row(self.facts, FACTS*j + 1)))
                    add_to(out, 2*i, cross(arm, force))
                    add_to(out, 2*i + 1, force)
                    add_to(out, 2*self.parents[i], cross(force, far))
                    add_to(out, 2*self.parents[i] + 1, scale(-1.0, force))
                    power += dot(force, slide)
                else:
                    torque = scale(self.torque[j], self.along(j, s, m, a))
                    add_to(out, 2*i, torque)
                    add_to(out, 2*self.parents[i], scale(-1.0, torque))
                    power += dot(torque, sub(turn, other))
        return power

    def along(self, j: int, s: np.ndarray, m: int, a: int) -> Vector:
        """The vector whose product with the relative angular velocity is a rate."""
        u, v = row(self.facts, FACTS*j), row(self.facts, FACTS*j + 1)
        if self.kinds[j] < FIRST:
            return transposed(matrix(s, m), u)
        first, last = transposed(matrix(s, a), u), transposed(matrix(s, m), v)
        if self.kinds[j] == BETWEEN:
            normal = cross(first, last)
            return scale(1.0/sqrt(dot(normal, normal)), normal)
        near = dot(first, last)
        if self.kinds[j] == LAST:
            return scale(1.0/(1.0 - near*near), axpy(-near, first, last))
        return scale(1.0/(1.0 - near*near), axpy(-near, last, first))
