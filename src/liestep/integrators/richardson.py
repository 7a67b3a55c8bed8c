"""The quaternion update of molecular dynamics codes for rigid bodies: velocity Verlet and Richardson extrapolation."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, row, sqrt
from liestep.compile.status import Status
from liestep.geometry.attitude import put_axes, to_quaternion
from liestep.integrators.kicks import have_equal_moments, kick, move
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.keeping import Keeps, Where
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.formulations.rigid_bodies.components import spatial_velocity

Quaternion = tuple[float, float, float, float]


@kernel
def advanced(h: float, w: Vector, q: Quaternion, base: Quaternion) -> Quaternion:
    """(base + h/2 (0, w) q) divided by its length."""
    k = 0.5*h
    a = base[0] - k*(w[0]*q[1] + w[1]*q[2] + w[2]*q[3])
    b = base[1] + k*(w[0]*q[0] + w[1]*q[3] - w[2]*q[2])
    c = base[2] + k*(w[1]*q[0] + w[2]*q[1] - w[0]*q[3])
    d = base[3] + k*(w[2]*q[0] + w[0]*q[2] - w[1]*q[1])
    size = sqrt(a*a + b*b + c*c + d*d)
    return a/size, b/size, c/size, d/size


class Richardson(NamedTuple):
    """Order 2, explicit, one evaluation of the forces per step: half kicks, and q <- 2 q_half - q_full from one step
    and two half steps of Euler's method for the quaternion, normalised after each.

    Keeps momenta of kicks; symplectic and symmetric only for equal moments, where it is a drift by the angle z + z^3/24
    + ... The quaternions live in the workspace.
    """

    weight: float  # 2, of the two half steps; that of the full one is 1 - weight

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        n = problem.bodies()
        return np.zeros((2*n, 3), y.dtype), np.zeros((n, 4), y.dtype), np.zeros((3, 3), y.dtype)

    def start(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        f, quaternions, _ = work
        for i in range(problem.bodies()):
            self.keep(quaternions, i, to_quaternion(y[3*i:3*i + 3]))
        return Status.OK if problem.forces(y, f) else Status.NOT_EVALUABLE

    def keep(self, quaternions: np.ndarray, i: int, q: Quaternion) -> None:
        for k in range(4):
            quaternions[i, k] = q[k]

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        f, quaternions, frame = work
        n = problem.bodies()
        kick(problem, 0.5*h, f, y)
        for i in range(n):
            p, j = row(y, 3*n + i), problem.moments(i)
            q = (quaternions[i, 0], quaternions[i, 1], quaternions[i, 2], quaternions[i, 3])
            w = spatial_velocity(y, i, p, j)
            full, middle = advanced(h, w, q, q), advanced(0.5*h, w, q, q)
            put_axes(middle, frame, 0)
            half = advanced(0.5*h, spatial_velocity(frame, 0, p, j), middle, middle)
            a, b = self.weight, 1.0 - self.weight
            q = (a*half[0] + b*full[0], a*half[1] + b*full[1], a*half[2] + b*full[2], a*half[3] + b*full[3])
            q = advanced(0.0, w, q, q)
            self.keep(quaternions, i, q)
            put_axes(q, y, 3*i)
        move(problem, h, y)
        if not problem.forces(y, f):
            return Status.NOT_EVALUABLE
        kick(problem, 0.5*h, f, y)
        return Status.OK


METHODS = {
    "richardson": Method(
        summary="order 2, explicit, quaternions by Richardson extrapolation, one evaluation of the forces", order=2,
        formulation="rigid_bodies", symmetric=False,
        symmetric_for=lambda options, sheet, parameters: have_equal_moments(parameters, sheet),
        conserves=(Keeps.MANIFOLD, Keeps.MOMENTUM, Where(
            Keeps.SYMPLECTIC, "where the moments are equal, and only there",
            lambda options, sheet, parameters: have_equal_moments(parameters, sheet))),
        citation="LAMMPS, math_extra: fix nve/asphere, fix nve/bpm/sphere",
        build=lambda options, tolerance, t_end: Richardson(2.0)),
}
