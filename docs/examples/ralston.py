"""Ralston's method: least error bound of all Runge-Kutta methods with two stages."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Method, Status


class Ralston(NamedTuple):
    """Order 2, 2 stages, explicit; conserves nothing exactly: y+ = y + h/4 (k_0 + 3 k_1), k_1 = f(y + 2/3 h k_0)."""

    node: Any     # (1,) 2/3
    weights: Any  # (2,) 1/4, 3/4

    def workspace(self, problem, y):
        return np.zeros((3, *y.shape))

    def start(self, problem, t, y, h, work):
        return Status.OK

    def step(self, problem, t, y, h, work):
        if not problem.rhs(t, y, work[0]):
            return Status.NOT_EVALUABLE
        problem.stage(self.node, h, work, 1, y, work[2])
        if not problem.rhs(t + self.node[0]*h, work[2], work[1]):
            return Status.NOT_EVALUABLE
        problem.stage(self.weights, h, work, 2, y, y)
        problem.project(y)
        return Status.OK


METHODS = {"rk2_ralston": Method(
    summary="order 2, 2 stages, explicit", order=2, formulation="vector_field", conserves="nothing exactly",
    citation="Ralston 1962",
    build=lambda options, tolerance, t_end: Ralston(np.array([2.0/3.0]), np.array([0.25, 0.75])))}
