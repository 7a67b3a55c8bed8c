"""Kick, drift, kick for spherical rigid bodies: rodrigues2021 eqs. (21), (23), (25), (27), (30).

With the half kick w = Omega + h/(2J) tau the attitude turns about the fixed axis w by an angle f(h|w|). For three equal
moments of inertia this is the exact flow of a kinetic energy that depends on |pi| only, so that each rule for f gives
an exactly symplectic map that keeps every momentum of a symmetry.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import dot, put, row, scale, sqrt
from liestep.compile.status import Status
from liestep.geometry.attitude import to_quaternion
from liestep.geometry.rodrigues import cayley, cayley_modified, compose, compose_modified, increment
from liestep.geometry.so3 import quadratic
from liestep.integrators.kicks import Kicking, kick, move
from liestep.mechanics.contracts.formulations import RigidBodies


@borrows(Kicking)
class KickDrift(NamedTuple):
    """Order 2 and symmetric with two half kicks, order 1 with a whole one before the drift; explicit, one evaluation of
    the forces per step; symplectic, keeps momenta. For three equal moments of inertia.

    STEP_TOO_LARGE where rule 0 has h|w| > 1.
    """

    rule: int      # of `geometry.rodrigues.increment`
    before: float  # share of the kick before the drift
    after: float

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        n = problem.bodies()
        kick(problem, self.before*h, work, y)
        for i in range(n):
            w = scale(1.0/problem.moments(i)[0], row(y, 3*n + i))
            s, c = increment(self.rule, h, w)
            if not abs(c) < np.inf:
                return Status.STEP_TOO_LARGE
            for k in range(3):
                put(y, 3*i + k, quadratic(s, c, w, row(y, 3*i + k)))
        move(problem, h, y)
        if not problem.forces(y, work):
            return Status.NOT_EVALUABLE
        if self.after != 0.0:
            kick(problem, self.after*h, work, y)
        return Status.OK


class ChartDrift(NamedTuple):
    """`KickDrift` with two half kicks, but the attitude is kept in a chart as printed: alpha_(k+1) = alpha_k (+) delta
    with rescaled Rodrigues vectors (rodrigues2021 eq. (5)), or the same with modified Rodrigues parameters.

    CHART_LIMIT where an attitude has no coordinates: turned by pi, or by 2 pi for modified parameters.
    """

    rule: int
    modified: bool

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return np.zeros((2*problem.bodies(), 3), y.dtype), np.zeros((problem.bodies(), 3), y.dtype)

    def start(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        f, chart = work
        for i in range(problem.bodies()):
            w, x1, x2, x3 = to_quaternion(y[3*i:3*i + 3])
            scalar = 1.0 + w if self.modified else 0.5*w
            if not scalar > 0.0 and not scalar < 0.0:
                return Status.CHART_LIMIT
            put(chart, i, (x1/scalar, x2/scalar, x3/scalar))
        return Status.OK if problem.forces(y, f) else Status.NOT_EVALUABLE

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        f, chart = work
        n = problem.bodies()
        kick(problem, 0.5*h, f, y)
        for i in range(n):
            w = scale(1.0/problem.moments(i)[0], row(y, 3*n + i))
            s, c = increment(self.rule, h, w)
            if not abs(c) < np.inf:
                return Status.STEP_TOO_LARGE
            delta = scale(2.0*s/(2.0 - c*dot(w, w)), w)
            if self.modified:
                d, v = compose_modified(row(chart, i), scale(0.5/(1.0 + sqrt(1.0 + 0.25*dot(delta, delta))), delta))
            else:
                d, v = compose(row(chart, i), delta)
            if not (d > 0.0 or d < 0.0):
                return Status.CHART_LIMIT
            alpha = (v[0]/d, v[1]/d, v[2]/d)
            put(chart, i, alpha)
            s, c = cayley_modified(alpha) if self.modified else cayley(alpha)
            put(y, 3*i, quadratic(s, c, alpha, (1.0, 0.0, 0.0)))
            put(y, 3*i + 1, quadratic(s, c, alpha, (0.0, 1.0, 0.0)))
            put(y, 3*i + 2, quadratic(s, c, alpha, (0.0, 0.0, 1.0)))
        move(problem, h, y)
        if not problem.forces(y, f):
            return Status.NOT_EVALUABLE
        kick(problem, 0.5*h, f, y)
        return Status.OK
