"""The step of `_livens_steps` for a single unit quaternion with three unknowns (livens2025, remark 4.11)."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.rows import Vector, unit
from liestep.compile.status import Status
from liestep.geometry.linalg import lu, lu_solve
from liestep.geometry.quaternion import (
    Quaternion,
    body_part,
    exponential,
    exponential_slope,
    from_space,
    inner,
    put_quaternion,
    quaternion,
    space_part,
)
from liestep.integrators._livens_steps import PRINTED, Work, finish, move, new_work
from liestep.integrators._newton import clear, converged, extent, iterate, largest
from liestep.integrators.one_step import OneStep
from liestep.mechanics.contracts.formulations import ConstrainedLagrangian


@kernel
def after(e: Quaternion, q: Quaternion) -> Quaternion:
    """e q."""
    x = from_space(q, (e[1], e[2], e[3]))
    return e[0]*q[0] + x[0], e[0]*q[1] + x[1], e[0]*q[2] + x[2], e[0]*q[3] + x[3]


@borrows(OneStep)
class NullSpaceStep(NamedTuple):
    """q_1 = exp(z) q_0 with the spatial rotation vector z: G(q_m) times the balance of momenta of the reduced step
    holds no constraint force; q_m times it gives the multiplier. Order 2, symmetric; the map of the reduced step, but
    |q| is kept by exp and not solved for."""

    rule: int         # of RULES
    printed: bool     # stop as printed
    tolerance: float  # error left in z, relative to it
    iterations: int   # at most

    def workspace(self, problem: ConstrainedLagrangian, y: np.ndarray) -> tuple[Work, np.ndarray, np.ndarray]:
        return new_work(problem, y, 4), np.zeros(3, y.dtype), np.zeros((3, 3), y.dtype)

    def step(self, problem: ConstrainedLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        common, q0 = work[0], quaternion(y[0], 0)
        problem.guess(h, y[0], y[1], common.d)
        u = space_part(q0, quaternion(common.d, 0))
        z: Vector = (2.0*u[0], 2.0*u[1], 2.0*u[2])
        status, z = iterate(self, (problem, t, h, y, work), z, extent(z), self.iterations)
        if status != Status.OK:
            return status
        put_quaternion(common.d, 0, after(exponential(z), q0))
        move(problem, y[0], common)
        self.balance(problem, t, h, y, common)
        qm = quaternion(common.qm, 0)
        common.multipliers[0] = -inner(qm, quaternion(common.r, 0))/(h*inner(qm, qm))
        return finish(problem, self.rule, t, h, y, common)

    def improve(self, given: Any, z: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        problem, t, h, y, work = given
        common, r, a = work
        q0 = quaternion(y[0], 0)
        put_quaternion(common.d, 0, after(exponential(z), q0))
        move(problem, y[0], common)
        self.balance(problem, t, h, y, common)
        self.project(q0, z, common, r, a)
        residual = largest(r, 3)
        if not residual < np.inf:
            return Status.NOT_CONVERGED, z, residual, False
        if not lu(a, common.pivots, 3):
            return Status.SINGULAR_MATRIX, z, residual, False
        lu_solve(a, common.pivots, r, 3)
        problem.counters[Counter.LINEAR_SOLVES] += 1
        problem.counters[Counter.ITERATIONS] += 1
        problem.counters[Counter.EXPONENTIALS] += 1
        z = (z[0] - r[0], z[1] - r[1], z[2] - r[2])
        change, size = largest(r, 3), extent(z)
        done = residual <= PRINTED if self.printed else converged(change, previous, size, 1.0, self.tolerance)
        return Status.OK, z, change, done

    def balance(self, problem: ConstrainedLagrangian, t: float, h: float, y: np.ndarray, work: Work) -> None:
        """The first equation of the reduced step without the constraint force, and its derivative."""
        clear(work.r, work.a, 4)
        for i in range(4):
            work.v1[i] = 2.0/h*work.d[i] - y[1, i]
            work.r[i] = -2.0*y[2, i]
        problem.kinetic(self.rule, h, y[0], y[1], work.q1, work.v1, 1.0, 2.0/h, work.r, work.a)
        problem.forces(self.rule, t, h, y[0], work.q1, work.r, work.a)

    def project(self, q0: Quaternion, z: Vector, work: Work, r: np.ndarray, a: np.ndarray) -> None:
        """r = G(q_m) times the balance, a its derivative by z."""
        qm, rest = quaternion(work.qm, 0), quaternion(work.r, 0)
        found = body_part(qm, rest)
        for k in range(3):
            r[k] = found[k]
            x = after(exponential_slope(z, unit(k)), q0)
            b = work.a
            change = (inner(quaternion(b[0], 0), x), inner(quaternion(b[1], 0), x), inner(quaternion(b[2], 0), x),
                      inner(quaternion(b[3], 0), x))
            outer, turn = body_part(qm, change), body_part(x, rest)
            for i in range(3):
                a[i, k] = outer[i] + 0.5*turn[i]
