"""Discrete gradients: y' = y + h S((y + y')/2) DH(y, y') with DH.(y' - y) = H(y') - H(y), which keeps H to round-off
(McLachlan, Quispel and Robidoux 1999, Phil. Trans. R. Soc. A 357, 1021), and their symmetric compositions."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    Certified,
    Counter,
    Keeps,
    Option,
    Options,
    Places,
    SkewGradient,
    Status,
    borrows,
    each,
    if_at_most,
    kernel,
)
from liestep.integrators._newton import converged, iterate
from liestep.integrators.gauss import ITERATION, NONE, nodes_of, replace_slope, tableau
from liestep.integrators.one_step import COMPOSED, WEIGHTS, OneStep, composed, weighted

RULES = ("gonzalez", "mean_value", "itoh_abe")
NODES = 5           # of the mean value: exact for polynomials H to degree 10
CLOSE = 1e-5        # relative changes of a coordinate below it have the slope in place of the quotient: its error is
                    # that of the midpoint rule, of third order in them, and the quotient's is round-off over them


@kernel
def between(s: float, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a + s (b - a)."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] + s*(b[i, j] - a[i, j])


@kernel
def complete(gain: float, held: float, a: np.ndarray, b: np.ndarray, g: np.ndarray) -> float:
    """The smallest change of g after which g.(b - a) is the gain of H (Gonzalez 1996), and its factor, or with the one
    that is held, if it is a number."""
    size = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            d = b[i, j] - a[i, j]
            size += d*d
            gain -= g[i, j]*d
    factor = held if held < np.inf else gain/size if size > 0.0 else 0.0
    if size > 0.0:
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                g[i, j] += factor*(b[i, j] - a[i, j])
    return factor


class MeanGradient(NamedTuple):
    """Mean of the gradient over the nodes between both ends, completed: one node is Gonzalez' rule."""

    b: np.ndarray  # (s,) weights
    c: np.ndarray  # (s,) nodes

    def gradient(self, problem: SkewGradient, a: np.ndarray, b: np.ndarray, point: np.ndarray, slope: np.ndarray,
                 g: np.ndarray, held: float) -> float:
        """The discrete gradient between a and b into g; point and slope are room. The factor of `complete`."""
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                g[i, j] = 0.0
        for s in range(self.b.shape[0]):
            between(self.c[s], a, b, point)
            problem.slope(point, slope)
            for i in range(a.shape[0]):
                for j in range(a.shape[1]):
                    g[i, j] += self.b[s]*slope[i, j]
        return complete(problem.hamiltonian(b) - problem.hamiltonian(a), held, a, b, g)


class CoordinateGradient(NamedTuple):
    """Quotients of H along a path from one end to the other that changes one coordinate after the other (Itoh and Abe
    1988), the mean of both orders of the coordinates."""

    close: float

    def gradient(self, problem: SkewGradient, a: np.ndarray, b: np.ndarray, point: np.ndarray, slope: np.ndarray,
                 g: np.ndarray, held: float) -> float:
        d = a.shape[1]
        count = a.shape[0]*d
        for turn in range(2):
            between(0.0, a, b, point)
            last = problem.hamiltonian(point)
            for k in range(count):
                place = k if turn == 0 else count - 1 - k
                i, j = place//d, place % d
                change = b[i, j] - a[i, j]
                if abs(change) > self.close*(abs(a[i, j]) + abs(b[i, j])):
                    point[i, j] = b[i, j]
                    value = problem.hamiltonian(point)
                    found = (value - last)/change
                else:
                    point[i, j] = a[i, j] + 0.5*change
                    problem.slope(point, slope)
                    found = slope[i, j]
                    point[i, j] = b[i, j]
                    value = problem.hamiltonian(point)
                last = value
                g[i, j] = found if turn == 0 else 0.5*(g[i, j] + found)
        return 0.0


@borrows(OneStep)
class DiscreteGradient(NamedTuple):
    """Order 2, implicit, symmetric; keeps the energy. Fixed-point iteration over the rates: a step must be short for
    the fastest motion. Returns NOT_CONVERGED."""

    rule: Any
    tolerance: float  # error left in a row of the state, relative to it
    iterations: int   # at most

    def workspace(self, problem: SkewGradient, y: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.zeros_like(y), np.zeros_like(y), np.zeros_like(y), np.zeros_like(y), np.zeros_like(y),
                np.zeros_like(y))

    def step(self, problem: SkewGradient, t: float, y: np.ndarray, h: float, work: tuple[np.ndarray, ...]) -> Status:
        new, rates = work[0], work[1]
        between(0.0, y, y, new)
        for i in range(y.shape[0]):
            for j in range(y.shape[1]):
                rates[i, j] = 0.0
        status, _ = iterate(self, (problem, h, y, work), (0, 0.0), 1.0, self.iterations)
        if status == Status.OK:
            between(0.0, new, y, y)
        return status

    def improve(self, given: tuple, x: tuple[int, float], previous: float
                ) -> tuple[Status, tuple[int, float], float, bool]:
        """Two changes of the end of the step: one of the coordinates alone reaches the momenta with the next, so that
        only two together are smaller than those before. After a quarter of the iterations the factor of `complete` is
        held: round-off of an H that is large beside what the step changes of it would move it without end."""
        problem, h, y, work = given
        new, rates, point, slope, g, found = work
        (count, factor), change = x, 0.0
        for _ in range(2):
            factor = self.rule.gradient(problem, y, new, point, slope, g,
                                        factor if count >= self.iterations//4 else np.inf)
            between(0.5, y, new, point)
            if not problem.turn(point, g, found):
                return Status.NOT_EVALUABLE, x, previous, False
            moved = replace_slope(h, y, found, rates, NONE)
            change = if_at_most(moved, change, change, moved)
            for i in range(y.shape[0]):
                for j in range(y.shape[1]):
                    new[i, j] = y[i, j] + h*rates[i, j]
        problem.counters[Counter.ITERATIONS] += 2
        return Status.OK, (count + 1, factor), change, converged(change, previous, 1.0, 1.0, self.tolerance)


def _made(options: Options) -> DiscreteGradient:
    if options["rule"] == "itoh_abe":
        rule: CoordinateGradient | MeanGradient = CoordinateGradient(CLOSE)
    else:
        rule = MeanGradient(*tableau(nodes_of("gauss", 1 if options["rule"] == "gonzalez" else NODES))[1:])
    return DiscreteGradient(rule, options["tolerance"], options["iterations"])


METHODS = {
    "discrete_gradient": composed(
        _made, summary="order 2, or 4 to 8 by weights; implicit, keeps the energy of systems that know it",
        formulation="skew_gradient", conserves=(Keeps.ENERGY,),
        citation="Gonzalez 1996, J. Nonlinear Sci. 6, 449; Itoh and Abe 1988; McLachlan, Quispel and Robidoux 1999",
        options={"rule": Option("gonzalez", "gradient at the middle or its mean value, completed so that H is kept, or"
                                " quotients of H", RULES),
                 "weights": WEIGHTS,
                 **ITERATION},
        calls=weighted(*COMPOSED[1:]), places=Places(shown=14),
        certified=Certified(each("rule", "mean_value", "itoh_abe"))),
}
