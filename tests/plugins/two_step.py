"""Adams and Bashforth's two-step method on a vector field: its history lives in the workspace, its first step, by the
midpoint rule, is made inside `step`."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Method, Status, copy


class TwoStepWork(NamedTuple):
    k: Any      # (2, m, d) right-hand sides at the state and one step before
    middle: Any # (m, d)
    ready: Any  # (1,) 1 when k[1] is there


class AdamsBashforth(NamedTuple):
    """Order 2, one evaluation per step, explicit; steps of one size."""

    weights: Any   # (2,) 3/2, -1/2
    midpoint: Any  # (1,) 1

    def workspace(self, problem, y):
        return TwoStepWork(np.zeros((2, *y.shape), y.dtype), np.zeros_like(y), np.zeros(1, dtype=np.int64))

    def start(self, problem, t, y, h, work):
        work.ready[0] = 0
        return Status.OK

    def step(self, problem, t, y, h, work):
        if not problem.rhs(t, y, work.k[0]):
            return Status.NOT_EVALUABLE
        if work.ready[0] == 0:
            problem.stage(self.midpoint, 0.5*h, work.k, 1, y, work.middle)
            if not problem.rhs(t + 0.5*h, work.middle, work.k[1]):
                return Status.NOT_EVALUABLE
            problem.stage(self.midpoint, h, work.k[1:], 1, y, y)
            work.ready[0] = 1
        else:
            problem.stage(self.weights, h, work.k, 2, y, y)
        copy(work.k[0], work.k[1])
        return Status.OK


METHODS = {"adams_bashforth2": Method(
    summary="order 2, two-step, explicit", order=2, formulation="vector_field",
    build=lambda options, tolerance, t_end: AdamsBashforth(np.array([1.5, -0.5]), np.ones(1)))}
