"""The splitting of Dullweber, Leimkuhler and McLachlan for rigid bodies with any moments of inertia."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows
from liestep.compile.rows import dot, put, row
from liestep.compile.status import Status
from liestep.geometry.so3 import coefficients, quadratic
from liestep.integrators.kicks import Kicking, kick, move
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.keeping import SMOOTH
from liestep.mechanics.contracts.method import Method


@borrows(Kicking)
class AxisSplitting(NamedTuple):
    """Order 2, symmetric, explicit, one evaluation of the forces per step: between two half kicks, five turns about the
    body axes 1 2 3 2 1, each the exact flow of one term of the kinetic energy. Symplectic, keeps momenta of symmetries
    of space; a symmetry of the body about one of its axes is broken by the turns about the others."""

    turns: int  # 5

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        n = problem.bodies()
        kick(problem, 0.5*h, work, y)
        for i in range(n):
            for turn in range(self.turns):
                axis = min(turn, self.turns - 1 - turn)
                part = h if axis == 2 else 0.5*h
                e = row(y, 3*i + axis)
                angle = part*dot(e, row(y, 3*n + i))/problem.moments(i)[axis]
                s, c, _ = coefficients(angle*angle)
                for k in range(3):
                    if k != axis:
                        put(y, 3*i + k, quadratic(angle*s, angle*angle*c, e, row(y, 3*i + k)))
        problem.counters[Counter.EXPONENTIALS] += n*self.turns
        move(problem, h, y)
        if not problem.forces(y, work):
            return Status.NOT_EVALUABLE
        kick(problem, 0.5*h, work, y)
        return Status.OK


METHODS = {
    "dlm": Method(
        summary="order 2, explicit, symmetric, five turns about body axes, one evaluation of the forces", order=2,
        formulation="rigid_bodies", symmetric=True,
        conserves=SMOOTH,
        citation="Dullweber, Leimkuhler and McLachlan 1997; Miller et al. 2002",
        build=lambda options, tolerance, t_end: AxisSplitting(5)),
}
