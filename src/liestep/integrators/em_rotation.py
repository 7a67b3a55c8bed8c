"""Energy-momentum method on T*SO(3) by the Cayley map, in three unknowns (own; compare Simo and Wong 1991, Lewis and
Simo 1994).

With W = I^-1 Q^T pi at the ends of a step

    z = h (W_0 + W_1)/2,   Q_1 = Q_0 cay(z),   pi_1 = pi_0 + h tau((Q_0 + Q_1)/2)
    cay(z) = 1 + (hat z + hat z hat z/2)/(1 + |z|^2/4)

Q_1 - Q_0 = (Q_0 + Q_1) hat z/2, so that the work of the torque of a potential that is linear in Q is its difference."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.rows import Vector, add, axpy, cross, dot, put, row, scale, sub
from liestep.compile.status import Status
from liestep.geometry.attitude import to_body, to_space
from liestep.integrators._newton import converged, iterate
from liestep.integrators.composition import WEIGHTS, composed
from liestep.integrators.one_step import OneStep
from liestep.mechanics.contracts.formulations import CotangentRotation
from liestep.mechanics.contracts.method import TOPS, Keeps
from liestep.mechanics.contracts.sheet import Option


@kernel
def one_norm(u: Vector) -> float:
    """Sum of absolute values; NaN if one is."""
    return abs(u[0]) + abs(u[1]) + abs(u[2])


@borrows(OneStep)
class CayleyStep(NamedTuple):
    """Order 2, symmetric, implicit, by fixed-point iteration on z: its rate is of the order of the rotation of a step.
    Energy and momenta are exact for free bodies and potentials linear in Q; Q^T Q is kept. Returns NOT_CONVERGED."""

    tolerance: float  # error left in z, relative to it
    iterations: int   # at most

    def workspace(self, problem: CotangentRotation, y: np.ndarray) -> Any:
        return np.zeros_like(y), np.zeros_like(y)

    def step(self, problem: CotangentRotation, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        new, mean = work
        begin = self.rate(problem.inertia(), y, row(y, 3))
        z = scale(h, begin)
        status, z = iterate(self, (problem, h, y, begin, new, mean), z, one_norm(z), self.iterations)
        if status != Status.OK:
            return status
        self.turn(y, z, new, mean)
        momentum = axpy(h, problem.torque(mean), row(y, 3))
        problem.carry(h, mean, y)
        for i in range(3):
            put(y, i, row(new, i))
        put(y, 3, momentum)
        return Status.OK

    def improve(self, given: Any, z: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        problem, h, y, begin, new, mean = given
        self.turn(y, z, new, mean)
        end = axpy(h, problem.torque(mean), row(y, 3))
        target = scale(0.5*h, add(begin, self.rate(problem.inertia(), new, end)))
        change, size = one_norm(sub(target, z)), one_norm(target)
        problem.counters[Counter.ITERATIONS] += 1
        return Status.OK, target, change, converged(change, previous, size, size, self.tolerance)

    def rate(self, moments: Vector, y: np.ndarray, momentum: Vector) -> Vector:
        """W = I^-1 Q^T pi."""
        p = to_body(y, momentum)
        return p[0]/moments[0], p[1]/moments[1], p[2]/moments[2]

    def turn(self, y: np.ndarray, z: Vector, new: np.ndarray, mean: np.ndarray) -> None:
        """Q_0 cay(z) and its mean with Q_0."""
        w = to_space(y, z)
        share = 1.0/(1.0 + 0.25*dot(z, z))
        for i in range(3):
            u = row(y, i)
            c = cross(w, u)
            d = scale(share, axpy(0.5, cross(w, c), c))
            put(new, i, add(u, d))
            put(mean, i, axpy(0.5, d, u))


METHODS = {
    "em_rotation": composed(
        lambda options: CayleyStep(options["tolerance"], options["iterations"]), formulation="cotangent_rotation",
        summary="order 2, symmetric, implicit, three unknowns on T*SO(3); 4, 6 or 8 by weights",
        conserves=(Keeps.MANIFOLD, *TOPS),
        citation="own; compare Simo and Wong 1991, Lewis and Simo 1994",
        options={"weights": WEIGHTS,
                 "tolerance": Option(1e-15, "error left in the rotation of a step, as the last two changes show it,"
                                     " relative to it"),
                 "iterations": Option(200, "iterations, at most")}),
}
