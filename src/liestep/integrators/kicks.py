"""Kicks of rigid bodies by forces and torques, the drift of their positions, and the step of kicks and free motions."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.precision import coefficients
from liestep.compile.rows import axpy, put, row
from liestep.compile.status import Status
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.sheet import Options, Parameters, Sheet


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


class FreeMotion:
    """What motions without forces, `flow(problem, i, h, y, work)` of each body i during h, have that remember nothing:
    body i has rows 3i to 3i + 2 of y, its momentum is row 3n + i."""

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> np.ndarray:
        return np.zeros((0, 3), y.dtype)

    def enter(self, problem: RigidBodies, y: np.ndarray, work: np.ndarray) -> Status:
        return Status.OK


class RigidSplit(NamedTuple):
    """One evaluation of the forces for each kick; the last kick of a step and the first of the next share one. Keeps
    orthogonality and momenta of symmetries of space; what else is kept depends on the free motion. Returns what that
    does, or NOT_EVALUABLE."""

    free: Any
    drifts: np.ndarray  # (s,)
    kicks: np.ndarray   # (s + 1,), a kick first; no forces are taken for kicks that are 0

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return np.zeros((2*problem.bodies(), 3), y.dtype), self.free.workspace(problem, y)

    def start(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        status = self.free.enter(problem, y, work[1])
        if status == Status.OK and self.kicks[0] != 0.0 and not problem.forces(y, work[0]):
            return Status.NOT_EVALUABLE
        return status

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        forces, free = work
        if self.kicks[0] != 0.0:
            kick(problem, self.kicks[0]*h, forces, y)
        for k in range(self.drifts.shape[0]):
            for i in range(problem.bodies()):
                status = self.free.flow(problem, i, self.drifts[k]*h, y, free)
                if status != Status.OK:
                    return status
            move(problem, self.drifts[k]*h, y)
            after = self.kicks[k + 1]
            needed = after != 0.0 or (k == self.drifts.shape[0] - 1 and self.kicks[0] != 0.0)
            if needed and not problem.forces(y, forces):
                return Status.NOT_EVALUABLE
            if after != 0.0:
                kick(problem, after*h, forces, y)
        return Status.OK


def kicked(free: Any, before: float = 0.5) -> RigidSplit:
    """Kick, free motion, kick, with this share of the kick before."""
    return RigidSplit(free, coefficients([1.0]), coefficients([before, 1.0 - before]))


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


def have_equal_moments(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    return needs_equal_moments(parameters, sheet) is None
