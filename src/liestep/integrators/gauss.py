"""Gauss collocation on a vector field: the symplectic Runge-Kutta methods (Hairer, Lubich and Wanner 2006, II.1.3)."""
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.precision import coefficients, square_root
from liestep.compile.status import Status
from liestep.integrators._newton import converged, iterate
from liestep.integrators.one_step import OneStep
from liestep.mechanics.contracts.formulations import VectorField
from liestep.mechanics.contracts.keeping import Facts, Keeps, Where
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.option import Option, whole_number
from liestep.mechanics.contracts.sheet import Options, Sheet


@kernel
def replace_slope(h: float, y: np.ndarray, new: np.ndarray, k: np.ndarray) -> float:
    """k = new (m, d); returns the largest change of h k in a row, relative to the row of y and its change in the step;
    NaN if there is one."""
    worst = 0.0
    for i in range(y.shape[0]):
        change, size = 0.0, 0.0
        for j in range(y.shape[1]):
            change += abs(h*(new[i, j] - k[i, j]))
            size += abs(y[i, j]) + abs(h*new[i, j])
            k[i, j] = new[i, j]
        if change > 0.0:
            change = change/size
        if not change <= worst:
            worst = change
    return worst


@borrows(OneStep)
class Collocation(NamedTuple):
    """Order 2s with s stages, implicit, symmetric; keeps quadratic invariants of the vector field, and the symplectic
    form where its coordinates are canonical. Fixed-point iteration over the slopes, each used as soon as it is there: a
    step must be short for the fastest motion. Returns NOT_CONVERGED."""

    a: np.ndarray     # (s, s)
    b: np.ndarray     # (s,)
    c: np.ndarray     # (s,)
    tolerance: float  # error left in a row of the state, relative to it
    iterations: int   # at most

    def workspace(self, problem: VectorField, y: np.ndarray) -> Any:
        return np.zeros((self.b.shape[0], *y.shape), y.dtype), np.zeros_like(y), np.zeros_like(y)

    def step(self, problem: VectorField, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        k = work[0]
        for s in range(self.b.shape[0]):
            for i in range(y.shape[0]):
                for j in range(y.shape[1]):
                    k[s, i, j] = 0.0
        status, _ = iterate(self, (problem, t, h, y, work), 0, 1.0, self.iterations)
        if status == Status.OK:
            problem.project(y)
        return status

    def improve(self, given: Any, x: int, previous: float) -> tuple[Status, int, float, bool]:
        """One change of all slopes; after the last one y is the end of the step."""
        problem, t, h, y, work = given
        k, z, slope = work
        stages = self.b.shape[0]
        change, done = 0.0, False
        # the last one is the end of the step: one call of each method, see `compile.driver`
        for s in range(stages + 1):
            if s == stages:
                done = converged(change, previous, 1.0, 1.0, self.tolerance)
                if not done:
                    break
            problem.stage(self.b if s == stages else self.a[s], h, k, stages, y, y if s == stages else z)
            if s < stages:
                if not problem.rhs(t + self.c[s]*h, z, slope):
                    return Status.NOT_EVALUABLE, x, change, False
                moved = replace_slope(h, y, slope, k[s])
                if not moved <= change:
                    change = moved
        problem.counters[Counter.ITERATIONS] += 1
        return Status.OK, x, change, done


def tableau(stages: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a, b, c) of two or three stages in the number type of the run."""
    if stages == 2:
        r = square_root(3)
        exact: tuple[Any, Any] = (((Fraction(1, 4), Fraction(1, 4) - r/6), (Fraction(1, 4) + r/6, Fraction(1, 4))),
                                  (Fraction(1, 2), Fraction(1, 2)))
    else:
        r = square_root(15)
        exact = (((Fraction(5, 36), Fraction(2, 9) - r/15, Fraction(5, 36) - r/30),
                  (Fraction(5, 36) + r/24, Fraction(2, 9), Fraction(5, 36) - r/24),
                  (Fraction(5, 36) + r/30, Fraction(2, 9) + r/15, Fraction(5, 36))),
                 (Fraction(5, 18), Fraction(4, 9), Fraction(5, 18)))
    a, b = exact
    return coefficients(a), coefficients(b), coefficients([sum(row) for row in a])


def _quadratic(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
    """Whether lengths, tangency and orthogonality are the manifold, which is kept without a projection."""
    return ("lie_action" in sheet.forms and "stabilisation" not in options
            and options.get("projection", "none") == "none")


def _momentum(options: Options, sheet: Sheet, parameters: Mapping[str, Any]) -> bool:
    """Whether the momentum map is quadratic in the state."""
    return _quadratic(options, sheet, parameters) and (sheet.mass is None or np.ndim(sheet.mass(parameters)) == 1)


QUADRATIC: Facts = (Where(Keeps.MANIFOLD, "of lengths, tangency and orthogonality", _quadratic),
                    Where(Keeps.MOMENTUM, "that are quadratic in the state", _momentum))
METHODS = {
    "gauss": Method(
        summary="order 4 with 2 stages, 6 with 3; implicit, symmetric", order=4, formulation="vector_field",
        symmetric=True, conserves=QUADRATIC, citation="Butcher 1964",
        options={"stages": whole_number("stages", 2, (2, 3), "stages; the order is twice their number"),
                 "tolerance": Option(1e-15, "error left in a row of the state, as the last two changes show it,"
                                     " relative to it"),
                 "iterations": Option(200, "iterations, at most")},
        order_for=lambda options, sheet, parameters: 2*options["stages"],
        symmetric_for=lambda options, sheet, parameters: options.get("projection", "none") == "none",
        build=lambda options, tolerance, t_end: Collocation(*tableau(options["stages"]), options["tolerance"],
                                                            options["iterations"])),
}
