"""Taylor series in the Lie algebra: the adaptive Munthe-Kaas method of order up to 15 on any action whose equations can
be written as expressions."""
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import hands_on
from liestep.compile.rows import larger, put
from liestep.compile.status import Status
from liestep.compile.straight.symbols import SYMBOLIC, Expressions, Node, Value, expressions
from liestep.compile.tracing import Dual, parts, plain_component, with_slopes
from liestep.geometry import charts, so3
from liestep.geometry.so3 import term
from liestep.integrators import taylor
from liestep.integrators.sizes import StateNorm, for_system, keep_sizes, moved, try_sizes
from liestep.integrators.step_control import Ahead
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import LieAction
from liestep.mechanics.contracts.method import ORBIT, Certified, each
from liestep.mechanics.contracts.sheet import Options


class LieTaylorWork(NamedTuple):
    jet: taylor.Jet
    c: np.ndarray      # ((order + 1) 3 d + 4 groups,) coefficients of sigma at the state, largest numbers
    new: np.ndarray    # (m, d)
    when: np.ndarray   # (3,) time at the end of the step; 1 when c belongs to the state; length of the step
    sigma: np.ndarray  # (d, 3)
    still: np.ndarray  # (m, d) a state of zeros
    k: np.ndarray      # (2, d, 3)


@hands_on("series", taylor.Taylor, "makes_series", "rejected")
class LieTaylor(NamedTuple):
    """Order p from the tolerance, explicit, one jet for each step; conserves the orbit of the action. y(t + h) =
    exp(sigma(h)).y with sigma' = dexpinv_sigma f(exp(sigma).y), sigma(0) = 0 (Munthe-Kaas 1999); sigma(h) is the sum of
    its Taylor series. Steps as those of `taylor`; each row of sigma is measured against what moves a field of the state
    by its own size: 1 rad for rotations, a momentum for one that is added. Dense output is that series."""

    series: Any   # Taylor
    control: Ahead
    norm: Any     # StateNorm: the sizes of the state's fields
    moves: np.ndarray  # (d, fields) how far a unit of each row of sigma moves each field

    def measured(self, formulated: Formulated) -> "LieTaylor":
        norm, rows = for_system(self.norm, formulated), formulated.problem.algebra_rows()
        return self._replace(series=self.series.grouped(np.arange(rows), np.ones(rows)), norm=norm,
                             moves=np.zeros((rows, norm.sizes.shape[1])))

    def workspace(self, problem: LieAction, y: np.ndarray) -> LieTaylorWork:
        """Raises InputError for an action or a generator that cannot be written as expressions."""
        rows = (problem.algebra_rows(), 3)
        count = (self.series.order + 1)*rows[0]*rows[1] + 4*self.series.group_count
        return LieTaylorWork(chart_jet(problem, y, self.series.order, self.series.groups), np.zeros(count, y.dtype),
                             np.zeros_like(y), np.zeros(3), np.zeros(rows, y.dtype), np.zeros_like(y),
                             np.zeros((2, *rows), y.dtype))

    def start(self, problem: LieAction, t: float, y: np.ndarray, t_end: float, work: LieTaylorWork) -> float:
        if self.moves.shape[0] > 0:
            self.norm.start(problem, t, y, 0.01*t_end, work.k, work.sigma, work.new)
            self.find_moves(problem, y, work)
            self.measure(y, y, 0.01*t_end)
        return self.series.start(problem, t, y, t_end, work)

    def find_moves(self, problem: LieAction, y: np.ndarray, work: LieTaylorWork) -> None:
        """Small steps from y, for what turns it, and from zero, for what is added to it and may be small beside it."""
        zero, small = 0.0*y[0, 0], 0.0009765625  # of y's kind of numbers; 2^-10
        for place in range(3*work.sigma.shape[0]):
            r, part = place//3, place % 3
            for base in (y, work.still):
                for i in range(work.sigma.shape[0]):
                    put(work.sigma, i, (zero, zero, zero))
                work.sigma[r, part] = zero + small
                moved(problem, work.sigma, base, work.new)
                for i in range(y.shape[0]):
                    for k in range(y.shape[1]):
                        g = self.norm.groups.of(i, k)
                        self.moves[r, g] = larger(self.moves[r, g], abs(work.new[i, k] - base[i, k])/small)

    def measure(self, y: np.ndarray, new: np.ndarray, h: float) -> None:
        """Sizes of the rows of sigma after a step h from y to `new`."""
        try_sizes(self.norm.groups, self.norm.sizes, y, new, h)
        for r in range(self.moves.shape[0]):
            size = np.inf
            for g in range(self.moves.shape[1]):
                if self.moves[r, g] > 0.0:
                    size = min(size, self.norm.sizes[0, g]/self.moves[r, g])
            if size < np.inf:
                self.series.sizes[r] = size

    def attempt(self, problem: LieAction, t: float, y: np.ndarray, h: float,
                work: LieTaylorWork) -> tuple[Status, float]:
        """New state in work.new."""
        if work.when[1] == 0.0:
            return Status.NOT_EVALUABLE, np.inf
        work.jet.sum(work.c, h, work.sigma)
        if not problem.in_chart(work.sigma):
            return Status.CHART_LIMIT, np.inf
        problem.act(work.sigma, y, work.new)
        if not problem.project(work.new):
            return Status.SINGULAR_MATRIX, np.inf
        work.when[0], work.when[2] = t + h, h
        return Status.OK, 0.0

    def interpolate(self, problem: LieAction, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: LieTaylorWork) -> None:
        work.jet.sum(work.c, s*h, work.sigma)
        problem.act(work.sigma, y, out)
        problem.project(out)

    def accept(self, problem: LieAction, y: np.ndarray, work: LieTaylorWork) -> None:
        if self.moves.shape[0] > 0:
            self.measure(y, work.new, work.when[2])
            keep_sizes(self.norm.groups, self.norm.sizes, work.new)
        self.series.accept(problem, y, work)


def series_kernels(powers: int) -> tuple[tuple[Callable, Callable], ...]:
    """What stands for the functions of rotations, whose closed forms have no derivatives at the angle zero: their
    series up to a power of the squared angle."""
    def sums(*names: str) -> Callable[[Node], tuple[Node | Fraction, ...]]:
        def apply(z2: Node) -> tuple[Node | Fraction, ...]:
            found: list[Any] = [Fraction(1)]
            for _ in range(powers):
                found.append(found[-1]*z2)
            return tuple(sum(term(name, k)*power for k, power in enumerate(found)) for name in names)
        return apply

    return ((so3.coefficients, sums("s", "c", "d")), (so3.dexpinv_coefficients, sums("g", "g'")),
            (so3.dexp_coefficients, sums("c", "d", "c'", "d'")), (charts.half_angle, sums("C", "S")))


# at the angle zero the power k of its square has no coefficient below 2 k: complete for every order, and of a lower
# order no more operations
NEAR_ZERO = SYMBOLIC._replace(kernels=series_kernels((taylor.LARGEST_ORDER - 1)//2))
INFINITESIMAL = with_slopes(SYMBOLIC._replace(kernels=series_kernels(0)))


def chart_expressions(problem: LieAction, shape: tuple[int, ...]) -> Expressions:
    """sigma' = dexpinv_sigma f(t, y) and y' = d/de exp(e f).y at e = 0 as expressions of sigma, y and the time, for
    series at sigma = 0. Raises Untraceable: the action or its generator cannot be written so."""
    rows = problem.algebra_rows()
    near, still = (plain_component(problem, functions) for functions in (NEAR_ZERO, INFINITESIMAL))

    def rate(symbols: list[Node]) -> tuple[bool, list[Value]]:
        sigma = np.array(symbols[:3*rows], dtype=object).reshape(rows, 3)
        y = np.array(symbols[3*rows:-1], dtype=object).reshape(shape)
        f, out = (np.zeros((rows, 3), dtype=object) for _ in range(2))
        moved = np.zeros(shape, dtype=object)
        evaluable = near.algebra(symbols[-1], y, f)
        inside = near.dexpinv(sigma, f, out)
        still.act(np.vectorize(lambda x: Dual(0.0, x), otypes="O")(f),
                  np.vectorize(lambda x: Dual(x, 0.0), otypes="O")(y), moved)
        return evaluable and inside, [*out.flat, *(parts(x)[1] for x in moved.flat)]

    return expressions(rate, 3*rows + int(np.prod(shape)) + 1)


def chart_jet(problem: LieAction, y: np.ndarray, order: int, groups: np.ndarray = taylor.ONE_GROUP) -> taylor.Jet:
    """Component that evaluates the coefficients of sigma, in groups of its rows, at states like y. Raises InputError as
    `Series.traced`."""
    traced = SERIES.traced(problem, y.shape)
    if y.dtype != np.float64:
        return taylor.PlainJet(taylor.Recurrence(traced, order, y.size, np.repeat(groups, 3).tolist()))
    width = 3 if y.shape[1] == 3 else 1
    return taylor.straight_jet(traced, order, y, width=width, base=y.size, groups=np.repeat(groups, 3//width).tolist())


def _build(options: Options, tolerance: float | None, t_end: float) -> LieTaylor:
    series = taylor.series_of(options, tolerance, t_end, sizes=np.ones(1))
    return LieTaylor(series, series.control, StateNorm(sizes=series.given), np.zeros((0, 0)))


SERIES = taylor.Series("lie_action", "action", "equations", chart_expressions, (), "chart, or rkmk853")
METHODS = {
    "lie_taylor": taylor.method_of_series(
        SERIES, summary="order 2 to 15 from the tolerance, explicit, adaptive with dense output, Taylor series in the"
        " algebra", conserves=ORBIT, projects=True,
        citation="Munthe-Kaas 1999; Jorba and Zou 2005, Exp. Math. 14, 99", build=_build, scipy="LieTaylor",
        certified=Certified(each("order", 8, 11, 3)[1:]), code="Taylor series in the algebra"),
}
