"""What Lie group methods for index-3 equations share: their memory and Newton's iteration."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import outlined
from liestep.compile.rows import axpy, copy, put, row
from liestep.compile.status import Status
from liestep.integrators._newton import iterate, settled
from liestep.mechanics.contracts.formulations import IndexThree

CLOSE = 1e-11  # corrections below it that no longer shrink are round-off


class StepWork(NamedTuple):
    v: np.ndarray      # (3, 2n, 3) V_n, V_(n-1), V_(n-2)
    past: np.ndarray   # (2, 2n, 3) increments of the last steps
    u: np.ndarray      # (2n, 3) U
    start: np.ndarray  # (2, 2n, 3) what V and dV/dt of the new time are without U
    new: np.ndarray    # (2, 2n, 3) V and dV/dt of the new time
    a: np.ndarray      # (3, 2n, 3) of generalized-alpha: a, dV/dt; scratch
    found: np.ndarray  # (m,) scaled multipliers
    xi: np.ndarray     # (algebra rows, 3)
    state: np.ndarray  # (rows, d)
    steps: np.ndarray  # (1,) steps so far
    clock: np.ndarray  # (3,) of generalized-alpha the power; of bliedf the work at the last steps
    starter: Any       # workspace of the method that makes the first steps


def step_work(problem: IndexThree, y: np.ndarray, starter: Any) -> StepWork:
    """Memory of a run."""
    n, m = problem.bodies(), problem.joint_rows()
    return StepWork(np.zeros((3, 2*n, 3)), np.zeros((2, 2*n, 3)), np.zeros((2*n, 3)), np.zeros((2, 2*n, 3)),
                    np.zeros((2, 2*n, 3)), np.zeros((3, 2*n, 3)), np.zeros(m), np.zeros((problem.algebra_rows(), 3)),
                    np.zeros_like(y), np.zeros(1, dtype=np.int64), np.zeros(3), starter.workspace(problem, y))


class Newton(NamedTuple):
    """Newton's method for one step, from the U and the scaled multipliers in `work`."""

    tolerance: float  # of the largest correction of U, in rad and m
    iterations: int
    dae_index: int    # 3: the joints' positions, g = 0; 2: their velocities, A V = 0

    @outlined
    def solve(self, problem: IndexThree, y: np.ndarray, work: Any, s: float, cv: float, cc: float, ca: float) -> Status:
        """The new state in y, without multipliers. V = start_0 + cv U + cc [U, past_0], dV/dt = start_1 + ca V."""
        status, _ = iterate(self, (problem, y, work, s, cv, cc, ca), 0, np.inf, self.iterations)
        if status != Status.OK:
            return status
        self.put_state(problem, y, work, cv, cc, ca)
        copy(work.state, y)
        return Status.OK if problem.in_chart(work.xi) else Status.CHART_LIMIT

    def improve(self, given: Any, x: int, before: float) -> tuple[Status, int, float, bool]:
        problem, y, work, s, cv, cc, ca = given
        self.put_state(problem, y, work, cv, cc, ca)
        size = problem.newton(work.state, work.u, work.new[0], work.new[1], work.past[0], work.found, s, cv, cc, ca,
                              self.dae_index)
        # what is left is estimated from how fast the corrections shrink
        done = size < self.tolerance or (before < np.inf and settled(size*size, 0.1*self.tolerance*before, size, before,
                                                                     CLOSE))
        return Status.OK if size < np.inf else Status.SINGULAR_MATRIX, x, size, done

    def put_state(self, problem: IndexThree, y: np.ndarray, work: Any, cv: float, cc: float, ca: float) -> None:
        """State, V and dV/dt of the new time from U."""
        for i in range(problem.bodies()):
            kw, kp = problem.commutator(work.u, work.past[0], i)
            for k in range(2):
                r = 2*i + k
                velocity = axpy(cv, row(work.u, r), axpy(cc, kw if k == 0 else kp, row(work.start[0], r)))
                put(work.new[0], r, velocity)
                put(work.new[1], r, axpy(ca, velocity, row(work.start[1], r)))
                put(work.xi, 4*i + k, row(work.u, r))
                put(work.xi, 4*i + 2 + k, (0.0, 0.0, 0.0))
        copy(y, work.state)
        problem.act(work.xi, y, work.state)
        problem.put_velocity(work.new[0], work.state)


