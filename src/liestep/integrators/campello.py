"""Campello's family for spherical rigid bodies: rodrigues2021 eqs. (26), (27)."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.rows import copy, put, row, scale
from liestep.compile.status import Status
from liestep.errors import InputError, number_or_nan
from liestep.geometry.rodrigues import NEWMARK, increment
from liestep.geometry.so3 import quadratic
from liestep.integrators._newton import iterate, settled
from liestep.integrators.kicks import kick, move, needs_equal_moments
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.keeping import Keeps, Where
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option


class Campello(NamedTuple):
    """Order 1; the kick takes phi of the old and 1 - phi of the new forces, then the drift of rodrigues2021 eq. (25):
    explicit for phi = 1, else a fixed-point iteration on the new velocities.

    Keeps momenta; symplectic for phi = 1 only, else it dissipates. Returns NOT_CONVERGED.
    """

    phi: float
    tolerance: float  # on the change of the new velocities, relative to the largest, and of rotations in radians
    iterations: int   # at most

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        n = problem.bodies()
        forces = np.zeros((2*n, 3), y.dtype)
        return forces, forces.copy(), np.zeros_like(y), np.zeros_like(y)

    def start(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        return Status.OK if problem.forces(y, work[0]) else Status.NOT_EVALUABLE

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        old, new, first, last = work
        kick(problem, self.phi*h, old, y)
        copy(y, first)
        copy(y, last)
        copy(old, new)
        status, _ = iterate(self, (problem, h, y, work), 0, np.inf, self.iterations)
        if status == Status.OK:
            copy(new, old)
        return status

    def improve(self, given: Any, sweep: int, previous: float) -> tuple[Status, int, float, bool]:
        problem, h, y, work = given
        _, new, first, last = work
        copy(first, y)
        if self.phi != 1.0:
            kick(problem, (1.0 - self.phi)*h, new, y)
        change = self.change(problem, h, y, last)
        self.drift(problem, h, y)
        if not problem.forces(y, new):
            return Status.NOT_EVALUABLE, sweep, change, False
        problem.counters[Counter.ITERATIONS] += 1
        done = self.phi == 1.0 or (sweep > 0 and settled(change, self.tolerance, change, previous, 1e-13))
        if not done:
            copy(y, last)
        return Status.OK, sweep + 1, change, done

    def change(self, problem: RigidBodies, h: float, y: np.ndarray, last: np.ndarray) -> float:
        """Largest change of the velocities, relative to the largest, and of the rotations of a step in radians,
        relative to the largest where that is above one: angular momenta of bodies that do not turn are all rounding."""
        n, worst = problem.bodies(), 0.0
        for kind in range(2 if problem.translates() else 1):
            size, gap = (1.0 if kind == 0 else 0.0), 0.0
            for i in range(n):
                share = abs(h)/problem.moments(i)[0] if kind == 0 else 1.0
                for k in range(3):
                    value = y[(3 + 2*kind)*n + i, k]
                    size = max(size, share*abs(value))
                    gap = max(gap, share*abs(value - last[(3 + 2*kind)*n + i, k]))
            if gap > 0.0:
                worst = max(worst, gap/size)
        return worst

    def drift(self, problem: RigidBodies, h: float, y: np.ndarray) -> None:
        n = problem.bodies()
        for i in range(n):
            w = scale(1.0/problem.moments(i)[0], row(y, 3*n + i))
            s, c = increment(NEWMARK, h, w)
            for k in range(3):
                put(y, 3*i + k, quadratic(s, c, w, row(y, 3*i + k)))
        move(problem, h, y)


def check_phi(value: Any) -> float:
    """Raises InputError unless 0 <= value <= 1."""
    phi = number_or_nan(value)
    if not 0.0 <= phi <= 1.0:
        raise InputError(f"option phi must be a number from 0 to 1, not {value!r}")
    return phi


METHODS = {
    "campello": Method(
        summary="order 1, explicit for phi = 1, else a fixed-point iteration; for equal moments", order=1,
        formulation="rigid_bodies", citation="rodrigues2021 eq. (26); Campello 2015", requires=needs_equal_moments,
        conserves=(Keeps.MANIFOLD, Keeps.MOMENTUM, Where(
            Keeps.SYMPLECTIC, "for phi = 1 only", lambda options, sheet, parameters: options["phi"] == 1.0)),
        options={"phi": Option(1.0, "share of the forces at the start of the step", normalise=check_phi,
                               values="any number from 0 to 1"),
                 "tolerance": Option(1e-15, "change of the new velocities, relative to the largest, and of the"
                                     " rotations of a step in radians"),
                 "iterations": Option(200, "sweeps of the fixed-point iteration, at most")},
        build=lambda options, tolerance, t_end: Campello(options["phi"], options["tolerance"], options["iterations"])),
}
