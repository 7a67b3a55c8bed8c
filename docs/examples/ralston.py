"""Ralston's method, order 2: y+ = y + h/4 (k_0 + 3 k_1), k_0 = f(t, y), k_1 = f(t + 2/3 h, y + 2/3 h k_0)."""
import numpy as np

from liestep.extend import Fraction, Method, NamedTuple, Status, coefficients


class Ralston(NamedTuple):
    weights: np.ndarray  # (2, 2) of the slopes, in the stage and in the step

    def workspace(self, problem, y):
        return np.zeros((3, *y.shape))

    def start(self, problem, t, y, h, work):
        return Status.OK

    def step(self, problem, t, y, h, work):
        known = problem.rhs(t, y, work[0])
        problem.stage(self.weights[0], h, work, 1, y, work[2])
        known = problem.rhs(t + self.weights[0, 0]*h, work[2], work[1]) and known
        problem.stage(self.weights[1], h, work, 2, y, y)
        return Status.OK if known else Status.NOT_EVALUABLE


METHODS = {"rk2_ralston": Method("order 2, 2 stages, explicit", 2, "vector_field", citation="Ralston 1962",
    build=lambda options, tolerance, t_end: Ralston(coefficients([[Fraction(2, 3), 0], [0.25, 0.75]])))}
