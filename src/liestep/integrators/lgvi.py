"""The Lie group variational integrator of Lee, Leok and McClamroch for rigid bodies with any moments of inertia.

In body axes, with F = R_k^T R_(k+1) and the momentum P after the half kick, h hat(P) = F J_d - J_d F^T. For F = R(f) of
a rescaled Rodrigues vector f this is

    4/(4 + |f|^2) (J f + (f x J f)/2) = h P

which is solved by Newton's method; the spatial momentum does not change in the drift. For equal moments f is the closed
form of rodrigues2021 eq. (23), after which the equation has no solution near f = 0.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import row, scale
from liestep.compile.status import Status
from liestep.geometry.attitude import in_space, to_body
from liestep.integrators._free_flows import DiscreteTurn, discrete_turn, turn_by_cayley
from liestep.integrators.composition import WEIGHTS, Composition, order_of_weights, weighted
from liestep.integrators.kicks import Kicking, kick, move
from liestep.integrators.weights import composition_weights
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.keeping import SMOOTH
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option


@borrows(Kicking, improve=DiscreteTurn.improve)
class LieGroupVariational(NamedTuple):
    """Order 2, symmetric, implicit in the attitude of each body alone; one evaluation of the forces per step.

    Symplectic, keeps momenta. Returns NOT_CONVERGED where Newton's method fails or meets a fold of the equation.
    """

    tolerance: float  # on the error left in f, relative to its size
    iterations: int   # at most

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        n = problem.bodies()
        kick(problem, 0.5*h, work, y)
        for i in range(n):
            q, g = y[3*i:3*i + 3], scale(h, row(y, 3*n + i))
            body = to_body(q, g)
            status, f = discrete_turn(self, problem.moments(i), body, problem.counters)
            if status != Status.OK:
                return status
            turn_by_cayley(in_space(q, f, body, g), q)
        move(problem, h, y)
        if not problem.forces(y, work):
            return Status.NOT_EVALUABLE
        kick(problem, 0.5*h, work, y)
        return Status.OK


OPTIONS = {"weights": WEIGHTS,
           "tolerance": Option(1e-15, "error left in the rotation of a step, relative to its size"),
           "iterations": Option(50, "Newton iterations of a body in a step, at most")}


METHODS = {
    "lgvi": Method(
        summary="order 2, 4, 6 or 8 by weights, symmetric, implicit in each attitude", order=2,
        formulation="rigid_bodies", symmetric=True, citation="Lee, Leok and McClamroch 2007", options=OPTIONS,
        conserves=SMOOTH, order_for=order_of_weights, calls=weighted("y4", "kl8"),
        build=lambda options, tolerance, t_end: Composition(
            LieGroupVariational(options["tolerance"], options["iterations"]), composition_weights(options["weights"]))),
}
