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


class Kicking:
    """Methods of steps that remember the forces at their end."""

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return np.zeros((2*problem.bodies(), 3), y.dtype)

    def start(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        return Status.OK if problem.forces(y, work) else Status.NOT_EVALUABLE


@kernel
def move(problem: RigidBodies, h: float, y: np.ndarray) -> None:
    """x_i += h v_i."""
    n = problem.bodies()
    if problem.translates():
        for i in range(n):
            put(y, 4*n + i, axpy(h, row(y, 5*n + i), row(y, 4*n + i)))


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
