"""Symplectic Lie group integrators on several rigid bodies that turn and move.

At the attitudes exp(theta xi_i) Q_i and positions x_i + theta h V_i with V_i = theta v_i + (1 - theta) v_i^+ the forces
F_i and torques are taken once for all bodies:

    Q_i^+ = exp(xi_i) Q_i,  pi_i^+ = pi_i + h tau_i,  x_i^+ = x_i + h V_i,  v_i^+ = v_i + h F_i/m_i

with xi_i as for one body (liegroup2021 eqs. (15)-(17)), so that positions follow the same rule as rotations. Each sweep
evaluates the forces and solves for each body alone.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, axpy, copy, dot, put, row, scale, sqrt, sub
from liestep.compile.status import Status
from liestep.geometry.attitude import to_body, to_space, turn
from liestep.integrators._newton import iterate, settled
from liestep.integrators.one_step import OneStep
from liestep.mechanics.contracts.formulations import RigidBodies

SWEEPS = 200   # at most
ROUNDING = 1e3  # times the tolerance: changes below it that shrink no more are of rounding


class Held(NamedTuple):
    """One body under a torque that does not change with its attitude, as `cotangent_rotation` asks for it."""

    values: np.ndarray  # (2, 3) moments of inertia, torque in space
    counters: np.ndarray

    def inertia(self) -> Vector:
        return row(self.values, 0)

    def torque(self, y: np.ndarray) -> Vector:
        return row(self.values, 1)

    def pull(self, y: np.ndarray, stage: np.ndarray, z: Vector) -> Vector:
        return row(self.values, 1)

    def torque_slope(self, y: np.ndarray, u: Vector) -> Vector:
        return 0.0*u[0], 0.0*u[1], 0.0*u[2]


@borrows(OneStep)
class SymplecticSweeps(NamedTuple):
    """Order 2 and symmetric for theta = 1/2, else 1; implicit by sweeps over all bodies, one evaluation of the forces
    each.

    Symplectic, keeps the momenta of symmetries that `liestep.integrators.slgi` keeps for one body: exactly, whatever
    the sweeps leave. Returns NOT_CONVERGED, NOT_EVALUABLE, or CHART_LIMIT for a turn by 2 pi or more.
    """

    inner: Any   # SymplecticTheta
    sweeps: int  # at most

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        n, dtype = problem.bodies(), y.dtype
        return (np.zeros_like(y), np.zeros((2*n, 3), dtype), np.zeros((2*n, 3), dtype), np.zeros((3, 3), dtype),
                Held(np.zeros((2, 3), dtype), problem.counters))

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        stage, f, moved, _, _ = work
        n = problem.bodies()
        copy(y, stage)
        for i in range(n):
            p, j = to_body(y[3*i:3*i + 3], row(y, 3*n + i)), problem.moments(i)
            put(moved, i, (h*p[0]/j[0], h*p[1]/j[1], h*p[2]/j[2]))
            if problem.translates():
                put(moved, n + i, row(y, 5*n + i))
        status, _ = iterate(self, (problem, h, y, work), 0, np.inf, self.sweeps)
        if status == Status.OK:
            self.finish(problem, y, h, f, moved)
        return status

    def improve(self, given: Any, x: int, previous: float) -> tuple[Status, int, float, bool]:
        problem, h, y, work = given
        stage, f, moved, jacobian, held = work
        self.place(problem, y, h, moved, stage)
        if not problem.forces(stage, f):
            return Status.NOT_EVALUABLE, x, previous, False
        status, change = self.sweep(problem, y, h, f, moved, stage, jacobian, held)
        small = self.inner.tolerance
        return status, x, change, settled(change, small, change, previous, ROUNDING*small)

    def place(self, problem: RigidBodies, y: np.ndarray, h: float, moved: np.ndarray, stage: np.ndarray) -> None:
        """Attitudes and positions at which the forces are taken."""
        n, theta = problem.bodies(), self.inner.theta
        for i in range(n):
            frame = y[3*i:3*i + 3]
            turn(to_space(frame, scale(theta, row(moved, i))), frame, stage[3*i:3*i + 3])
            if problem.translates():
                put(stage, 4*n + i, axpy(theta*h, row(moved, n + i), row(y, 4*n + i)))
        problem.counters[Counter.EXPONENTIALS] += n

    def sweep(self, problem, y, h, f, moved, stage, jacobian, held):
        """(status, change): rotations and velocities V under the forces f, and how much the largest of either kind
        changed: rotations in radians, relative to 1 + the largest, velocities relative to the largest."""
        n, theta = problem.bodies(), self.inner.theta
        turned, speed, gap, lag = 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            frame, old = y[3*i:3*i + 3], row(moved, i)
            put(held.values, 0, problem.moments(i))
            put(held.values, 1, row(f, i))
            status, z = self.inner.solve(held, frame, h, to_body(frame, row(y, 3*n + i)), old, stage[3*i:3*i + 3],
                                         jacobian)
            if status != Status.OK:
                return status, 0.0
            d = sub(z, old)
            turned, gap = max(turned, dot(z, z)), max(gap, dot(d, d))
            put(moved, i, z)
            if problem.translates():
                v = axpy((1.0 - theta)*h/problem.mass(i), row(f, n + i), row(y, 5*n + i))
                d = sub(v, row(moved, n + i))
                speed, lag = max(speed, dot(v, v)), max(lag, dot(d, d))
                put(moved, n + i, v)
        change = sqrt(gap)/(1.0 + sqrt(turned))
        if lag > 0.0:
            change = max(change, sqrt(lag/speed))
        return Status.OK, change

    def finish(self, problem: RigidBodies, y: np.ndarray, h: float, f: np.ndarray, moved: np.ndarray) -> None:
        n = problem.bodies()
        for i in range(n):
            frame = y[3*i:3*i + 3]
            turn(to_space(frame, row(moved, i)), frame, frame)
            put(y, 3*n + i, axpy(h, row(f, i), row(y, 3*n + i)))
            if problem.translates():
                put(y, 4*n + i, axpy(h, row(moved, n + i), row(y, 4*n + i)))
                put(y, 5*n + i, axpy(h/problem.mass(i), row(f, n + i), row(y, 5*n + i)))
        problem.counters[Counter.EXPONENTIALS] += n
