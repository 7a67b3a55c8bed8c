"""Exponential midpoint rule on any Lie group action: y1 = exp(h f(y_half)) y0, y_half = exp(h/2 f(y0)) y0. Order 2."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import ORBIT, Method, Status, put, row, scale


class LieMidpoint(NamedTuple):
    """Order 2, two stages, explicit; stays on the orbit of the action."""

    share: Any  # where f is evaluated: 0.5

    def workspace(self, problem, y):
        return np.zeros((problem.algebra_rows(), 3)), np.zeros(y.shape)

    def start(self, problem, t, y, h, work):
        return Status.OK

    def step(self, problem, t, y, h, work):
        xi, middle = work
        if not problem.algebra(t, y, xi):
            return Status.NOT_EVALUABLE
        for i in range(xi.shape[0]):
            put(xi, i, scale(self.share*h, row(xi, i)))
        problem.act(xi, y, middle)
        if not problem.algebra(t + self.share*h, middle, xi):
            return Status.NOT_EVALUABLE
        for i in range(xi.shape[0]):
            put(xi, i, scale(h, row(xi, i)))
        problem.act(xi, y, y)
        return Status.OK


METHODS = {"my_midpoint": Method(
    summary="order 2, 2 stages, explicit, Lie group action", order=2, formulation="lie_action", conserves=ORBIT,
    build=lambda options, tolerance, t_end: LieMidpoint(0.5))}
