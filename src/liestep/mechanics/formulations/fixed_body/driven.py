"""A rigid body about a fixed point with an applied torque of time and velocity beside that of the potential.

A system that offers `applied(t, q, omega)`, a spatial torque in N m at the attitude q (rows Q e_1, Q e_2, Q e_3) and
the spatial angular velocity omega, has one row more below its state: (W, 0, 0) with the work W = int applied.omega dt
in J. Observables are those without it, with the energy less the work, which is the invariant; then W and T + V.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import hands_on
from liestep.compile.rows import Vector, add, dot, put, scale
from liestep.geometry.attitude import to_space
from liestep.mechanics.contracts.formulations import CotangentRotation
from liestep.mechanics.formulations.work import separate_work


@hands_on("plain", CotangentRotation)
class DrivenBody(NamedTuple):
    """The methods of `RigidBody` or `QuadraticTop`, where those for applied torques do something."""

    plain: Any           # RigidBody or QuadraticTop
    system: Any          # with applied(t, q, omega)
    counters: np.ndarray
    moment: np.ndarray   # (2,) scratch: the time at which a step takes its torque, and its length
    column: int          # of the work in `observe`

    def angular_velocity(self, y: np.ndarray) -> Vector:
        return self.plain.angular_velocity(y)

    def load(self, t: float, y: np.ndarray, w: Vector) -> Vector:
        """Both torques."""
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        return add(self.plain.torque(y), self.system.applied(t, y, w))

    def add_power(self, t: float, y: np.ndarray, w: Vector, out: np.ndarray, i: int) -> None:
        """Power of the applied torque into row i."""
        put(out, i, (dot(self.system.applied(t, y, w), w), 0.0, 0.0))

    def aim(self, t: float, h: float) -> None:
        self.moment[0] = t
        self.moment[1] = h

    def pull(self, y: np.ndarray, stage: np.ndarray, z: Vector) -> Vector:
        """Both torques at the attitude `stage` within a step of rotation z in the body's axes at its start y."""
        return self.load(self.moment[0], stage, to_space(y, scale(1.0/self.moment[1], z)))

    def add_work(self, stage: np.ndarray, z: Vector, y: np.ndarray) -> None:
        """Work of the applied torque over a step of rotation z: y is the state at its start."""
        rotation = to_space(y, z)
        w = scale(1.0/self.moment[1], rotation)
        y[y.shape[0] - 1, 0] += dot(self.system.applied(self.moment[0], stage, w), rotation)

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.plain.observe(y, out)
        separate_work(y[y.shape[0] - 1, 0], self.column, out)


def has_applied(system: Any) -> bool:
    """Whether a system declares an applied torque: known from its class, before anything is compiled."""
    return hasattr(type(system), "applied")
