"""Gauss collocation on a vector field, and the pairs IIIA and IIIB of Lobatto for Hamilton's equations: the symplectic
Runge-Kutta methods (Hairer, Lubich and Wanner 2006, II.1.3, II.2.2 and VI.4).

One stage of Gauss, the midpoint rule, is the variational integrator of L((q + q')/2, (q' - q)/h); two stages of Lobatto
are the one of the trapezoidal rule, which is Stoermer-Verlet where H = T(p) + V(q) (ibid. VI.6). Nodes are roots of
polynomials, which stand in gauss.toml, and the weights follow (ibid. II.1.2)."""
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.precision import coefficients
from liestep.compile.roles import Arrays
from liestep.compile.rows import if_at_most, if_less, wipe
from liestep.compile.status import Status
from liestep.integrators._newton import converged, iterate
from liestep.integrators.one_step import OneStep
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import CanonicalField, VectorField
from liestep.mechanics.contracts.method import CANONICAL, Certified, Facts, Keeps, Method, Places, Where, each
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet, whole_number

GIVEN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _value(p: Sequence[Fraction | int], x: Fraction) -> Fraction:
    total = Fraction(0)
    for c in reversed(p):
        total = total*x + c
    return total


def nodes_of(kind: str, stages: int) -> list[Fraction]:
    """Nodes of order 2s, gauss: roots of the shifted Legendre polynomial; or of order 2s - 2, lobatto: 0 and 1 among
    them, roots of the derivative of order s - 2 of (x (x - 1))^(s - 1)."""
    text = "".join(GIVEN[kind][str(stages)].split())
    half = [Fraction(x) for x in text.split(",") if x]
    return [*half, *[Fraction(1, 2)]*(stages % 2), *(1 - x for x in reversed(half))]


def fractions(nodes: Sequence[Fraction]) -> tuple[list[list[Fraction]], list[Fraction]]:
    """a_ij, the integral of the Lagrange polynomial l_j from 0 to c_i, and b_j, that to 1."""
    a: list[list[Fraction]] = [[] for _ in nodes]
    b = []
    for j, node in enumerate(nodes):
        p, size = [Fraction(1)], Fraction(1)
        for k, other in enumerate(nodes):
            if k != j:
                p = [low - other*high for low, high in zip([Fraction(0), *p], [*p, Fraction(0)], strict=True)]
                size *= node - other
        integral = [Fraction(0), *(c/(k + 1)/size for k, c in enumerate(p))]
        b.append(_value(integral, Fraction(1)))
        for row, end in zip(a, nodes, strict=True):
            row.append(_value(integral, end))
    return a, b


def tableau(nodes: Sequence[Fraction]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a, b, c) in the number type of the run."""
    a, b = fractions(nodes)
    return coefficients(a), coefficients(b), coefficients(nodes)


def partner(nodes: Sequence[Fraction]) -> np.ndarray:
    """The matrix that makes collocation and itself a symplectic pair, b_j (1 - a_ji/b_i): IIIB beside IIIA of Lobatto.
    """
    a, b = fractions(nodes)
    every = range(len(b))
    return coefficients([[b[j]*(1 - a[j][i]/b[i]) for j in every] for i in every])


NONE = np.zeros(0, dtype=np.bool_)


@kernel
def replace_slope(h: float, y: np.ndarray, new: np.ndarray, k: np.ndarray, left_out: np.ndarray) -> float:
    """k = new (m, d); returns the largest change of h k in a row, relative to the row of y and its change in the step,
    but for rows that are left out; NaN if there is one."""
    worst = 0.0
    for i in range(y.shape[0]):
        change, size = 0.0, 0.0
        for j in range(y.shape[1]):
            change += abs(h*(new[i, j] - k[i, j]))
            size += abs(y[i, j]) + abs(h*new[i, j])
            k[i, j] = new[i, j]
        if not (i < left_out.shape[0] and left_out[i]):
            change = change/if_less(0.0, change, size, 1.0)
            worst = if_at_most(change, worst, worst, change)
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
    left_out: np.ndarray = NONE  # (m,) rows that enter no field: the work of a magnetic force is round-off

    def measured(self: Any, formulated: Formulated) -> Any:
        groups, left_out = formulated.grouping
        return self._replace(left_out=groups == left_out)

    def workspace(self, problem: VectorField, y: np.ndarray) -> Arrays:
        return np.zeros((self.b.shape[0], *y.shape), y.dtype), np.zeros_like(y), np.zeros_like(y)

    def step(self, problem: VectorField, t: float, y: np.ndarray, h: float, work: Arrays) -> Status:
        k = work[0]
        for s in range(self.b.shape[0]):
            wipe(k[s])
        status, _ = iterate(self, (problem, t, h, y, work), 0, 1.0, self.iterations)
        if status == Status.OK:
            self.reach(problem, self.b.shape[0], h, k, y, y)
            problem.project(y)
        return status

    def improve(self, given: tuple, x: int, previous: float) -> tuple[Status, int, float, bool]:
        """One change of all slopes."""
        problem, t, h, y, work = given
        k, z, slope = work
        change = 0.0
        for s in range(self.b.shape[0]):
            self.reach(problem, s, h, k, y, z)
            if not problem.rhs(t + self.c[s]*h, z, slope):
                return Status.NOT_EVALUABLE, x, change, False
            moved = replace_slope(h, y, slope, k[s], self.left_out)
            change = if_at_most(moved, change, change, moved)
        problem.counters[Counter.ITERATIONS] += 1
        return Status.OK, x, change, converged(change, previous, 1.0, 1.0, self.tolerance)

    def reach(self, problem: VectorField, s: int, h: float, k: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        """out: stage s, or the end of the step behind the last one."""
        stages = self.b.shape[0]
        problem.stage(self.b if s == stages else self.a[s], h, k, stages, y, out)


@borrows(Collocation)
class PartitionedCollocation(NamedTuple):
    """Collocation for the coordinates with its partner for the momenta: symplectic, symmetric."""

    a: np.ndarray        # (s, s) of the coordinates
    partner: np.ndarray  # (s, s) of the momenta
    b: np.ndarray        # (s,)
    c: np.ndarray        # (s,)
    tolerance: float     # as of Collocation
    iterations: int
    left_out: np.ndarray = NONE

    def reach(self, problem: CanonicalField, s: int, h: float, k: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        stages = self.b.shape[0]
        for i in range(y.shape[0]):
            weights = self.b if s == stages else self.partner[s] if i == 1 else self.a[s]
            for j in range(y.shape[1]):
                rate = 0.0*h
                for r in range(stages):
                    rate += weights[r]*k[r, i, j]
                out[i, j] = y[i, j] + h*rate


def _quadratic(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    """Whether lengths, tangency and orthogonality are the manifold, which is kept without a projection."""
    return ("lie_action" in sheet.forms and "stabilisation" not in options
            and options.get("projection", "none") == "none")


def _momentum(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    """Whether the momentum map is quadratic in the state."""
    return _quadratic(options, sheet, parameters) and (sheet.mass is None or np.ndim(sheet.mass(parameters)) == 1)


QUADRATIC: Facts = (Where(Keeps.MANIFOLD, "of lengths, tangency and orthogonality", _quadratic),
                    Where(Keeps.MOMENTUM, "that are quadratic in the state", _momentum))
def _canonical(options: Options, sheet: Sheet, parameters: Parameters) -> bool:
    return "canonical_field" in sheet.forms


def _lobatto(options: Options) -> PartitionedCollocation:
    nodes = nodes_of("lobatto", options["stages"])
    a, b, c = tableau(nodes)
    return PartitionedCollocation(a, partner(nodes), b, c, options["tolerance"], options["iterations"])


ITERATION = {"tolerance": Option(1e-15, "error left in a row of the state, as the last two changes show it,"
                                 " relative to it"),
             "iterations": Option(200, "iterations, at most")}  # of fixed points
METHODS = {
    "gauss": Method(
        summary="order 4 with 2 stages, twice their number up to 12; implicit, symmetric", order=4,
        formulation="vector_field", symmetric=True,
        conserves=(*QUADRATIC, *(Where(fact, "in canonical coordinates", _canonical) for fact in CANONICAL)),
        citation="Butcher 1964",
        options={"stages": whole_number("stages", 2, tuple(range(1, 7)), "stages; the order is twice their number"),
                 **ITERATION},
        order_for=lambda options, sheet, parameters: 2*options["stages"],
        symmetric_for=lambda options, sheet, parameters: options.get("projection", "none") == "none",
        build=lambda options, tolerance, t_end: Collocation(*tableau(nodes_of("gauss", options["stages"])),
                                                            options["tolerance"], options["iterations"]),
        mark=((4, 2, 0), "dashdot", "Gauss"), scipy="Gauss", places=Places(shown=9, reference=5),
        also=("gauss_legendre",),
        certified=Certified(each("stages", 1, 3, 4, 5, 6))),
    "lobatto": Method(
        summary="order 4 with 3 stages, 2 to 8 with 2 to 5; implicit, symmetric pairs IIIA and IIIB", order=4,
        formulation="canonical_field", symmetric=True, conserves=CANONICAL,
        forces="of time and velocity, at the stages",
        citation="Jay 1996, SIAM J. Numer. Anal. 33, 368",
        options={"stages": whole_number("stages", 3, (2, 3, 4, 5), "stages; the order is twice their number less 2"),
                 **ITERATION},
        order_for=lambda options, sheet, parameters: 2*options["stages"] - 2,
        build=lambda options, tolerance, t_end: _lobatto(options),
        places=Places(shown=12), certified=Certified(each("stages", 2, 4, 5))),
}
