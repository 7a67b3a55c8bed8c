"""Ralston's method: least error bound of all Runge-Kutta methods with two stages."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Method, Status, add_to, axpy, put, row, scale


class Ralston(NamedTuple):
    """Order 2, 2 stages, explicit; conserves nothing exactly: y+ = y + h/4 (k_0 + 3 k_1), k_1 = f(y + 2/3 h k_0)."""

    node: Any  # 2/3

    def workspace(self, problem, y):
        return np.zeros((3, *y.shape))

    def start(self, problem, t, y, h, work):
        return Status.OK

    def step(self, problem, t, y, h, work):
        if not problem.rhs(t, y, work[0]):
            return Status.NOT_EVALUABLE
        for i in range(y.shape[0]):
            put(work[2], i, axpy(self.node*h, row(work[0], i), row(y, i)))
        if not problem.rhs(t + self.node*h, work[2], work[1]):
            return Status.NOT_EVALUABLE
        for i in range(y.shape[0]):
            add_to(y, i, scale(0.25*h, axpy(3.0, row(work[1], i), row(work[0], i))))
        problem.project(y)
        return Status.OK


METHODS = {"rk2_ralston": Method(
    summary="order 2, 2 stages, explicit", order=2, formulation="vector_field", conserves="nothing exactly",
    citation="Ralston 1962", build=lambda options, tolerance, t_end: Ralston(2.0/3.0))}
