"""What explicit maps of rigid bodies share: kicks by forces and torques, and the drift of the positions."""
from typing import Any

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import axpy, put, row
from liestep.compile.status import Status
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.sheet import Parameters, Sheet


@kernel
def kick(problem: RigidBodies, h: float, f: np.ndarray, y: np.ndarray) -> None:
    """pi_i += h tau_i and v_i += h F_i/m_i with the rows of `forces` in f."""
    n = problem.bodies()
    for i in range(n):
        put(y, 3*n + i, axpy(h, row(f, i), row(y, 3*n + i)))
    if problem.translates():
        for i in range(n):
            put(y, 5*n + i, axpy(h/problem.mass(i), row(f, n + i), row(y, 5*n + i)))


@kernel
def move(problem: RigidBodies, h: float, y: np.ndarray) -> None:
    """x_i += h v_i."""
    n = problem.bodies()
    if problem.translates():
        for i in range(n):
            put(y, 4*n + i, axpy(h, row(y, 5*n + i), row(y, 4*n + i)))


class Kicking:
    """Half a kick, the motion `flow(problem, i, h, y, room)` of each body i without forces, half a kick: the methods of
    steps that remember the forces at their end, and what else they remember in their `room`."""

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return np.zeros((2*problem.bodies(), 3), y.dtype), self.room(problem, y)

    def room(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return np.zeros((0, 3), y.dtype)

    def enter(self, problem: RigidBodies, y: np.ndarray, room: Any) -> Status:
        return Status.OK

    def start(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        status = self.enter(problem, y, work[1])
        return Status.NOT_EVALUABLE if status == Status.OK and not problem.forces(y, work[0]) else status

    def step(self: Any, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        f, room = work
        kick(problem, 0.5*h, f, y)
        for i in range(problem.bodies()):
            status = self.flow(problem, i, h, y, room)
            if status != Status.OK:
                return status
        move(problem, h, y)
        if not problem.forces(y, f):
            return Status.NOT_EVALUABLE
        kick(problem, 0.5*h, f, y)
        return Status.OK


def needs_equal_moments(parameters: Parameters, sheet: Sheet) -> str | None:
    """`Method.requires` of the closed-form maps for spherical bodies."""
    assert sheet.moments is not None
    moments = np.asarray(sheet.moments(parameters))
    body = int(np.argmax((moments != moments[:, :1]).any(axis=1)))
    if (moments[body] == moments[body, 0]).all():
        return None
    values = ", ".join(f"{value:g}" for value in moments[body])
    return (f"it is for bodies with three equal moments of inertia, and body {body} has {values} kg m2 (lgvi and dlm"
            " take any)")


def have_equal_moments(parameters: Parameters, sheet: Sheet) -> bool:
    return needs_equal_moments(parameters, sheet) is None
