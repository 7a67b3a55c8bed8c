"""The adaptive Taylor method on every vector field that can be written as expressions: a step of high order costs one
evaluation of a jet, which is straight-line machine code (`compile.straight.jets`, `compile.straight.straight`), or
loops over a tape where that would be too large (`compile.straight.tape`)."""
import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import separate
from liestep.compile.rows import any_of, atan2, copy, cos, if_equal, if_less, larger, sin, sqrt
from liestep.compile.separate import call_address, new_addresses
from liestep.compile.sources import component_modules, source_hash
from liestep.compile.status import Status
from liestep.compile.straight.jets import Numbers, taylor_coefficients
from liestep.compile.straight.straight import jet_code, loaded
from liestep.compile.straight.symbols import MOST_NODES, SYMBOLIC, Expressions, Node, Untraceable, Value, expressions
from liestep.compile.straight.tape import MOST_OPERATIONS, Tape, tape_of
from liestep.compile.straight.writer import LLVMWriter
from liestep.compile.tracing import digest_of, plain_component
from liestep.errors import InputError
from liestep.integrators.one_step import first_formulated, refused
from liestep.integrators.sizes import LATER, NOT_GIVEN, given_sizes, sizes_for_errors
from liestep.integrators.step_control import Ahead
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import Component, VectorField
from liestep.mechanics.contracts.method import PROJECTED, Certified, Method, Places, each
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet


class StraightJet(NamedTuple):
    """Taylor coefficients of a solution by machine code."""

    jet: int
    polynomial: int
    table: np.ndarray  # time, then the constants of the system
    step: np.ndarray   # (1,)

    def evaluate(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """Coefficients of the solution through y at time t, then the largest numbers of each
        group (`compile.straight.straight.jet_code`), out ((order + 1) m d + 4 groups,); False where there is none."""
        self.table[0] = t
        return call_address(self.jet, y, self.table, out) == 1

    def sum(self, c: np.ndarray, h: float, out: np.ndarray) -> None:
        self.step[0] = h
        call_address(self.polynomial, c, self.step, out)


class LoopedJet(NamedTuple):
    """Taylor coefficients of a solution by loops over a tape: one machine code for all systems."""

    tape: Tape
    addresses: np.ndarray
    groups: np.ndarray  # (m d,) of each number

    @separate(float, 2, 1)
    def evaluate(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """As that of StraightJet."""
        tape, n, order = self.tape, y.size, self.tape.c.shape[1] - 1
        for k in range(order + 1):
            tape.enter(k, t, y)
            for i in range(n):
                out[k*n + i] = tape.c[i, k]
            if k < order:
                tape.advance(k, tape.kind.shape[0] if k == 0 else tape.needed)
            if k == 0 and not tape.holds():
                return False
        first = (order + 1)*n
        out[first:] = 0.0
        for place in range(4):
            k, at = place if place < 2 else order - 3 + place, first + place*((out.shape[0] - first)//4)
            for i in range(n):
                out[at + self.groups[i]] = larger(out[at + self.groups[i]], abs(tape.c[i, k]))
        return True

    def sum(self, c: np.ndarray, h: float, out: np.ndarray) -> None:
        n = out.size
        last = self.tape.c.shape[1] - 1
        for i in range(out.shape[0]):
            for a in range(out.shape[1]):
                at = i*out.shape[1] + a
                total = c[last*n + at]
                for k in range(last - 1, -1, -1):
                    total = total*h + c[k*n + at]
                out[i, a] = total


class Recurrence:
    """The recurrences of a jet on numbers of any kind."""

    def __init__(self, found: Expressions, order: int, base: int = 0, groups: Sequence[int] = ()):
        """base: as for `compile.straight.straight.jet_code`; groups: of each number."""
        self.found, self.order, self.groups = found, order, groups
        self.moving = len(found.inputs) - 1 - base
        self.zeros: list[None] = [None]*self.moving if base else []

    def __call__(self, t: Any, y: np.ndarray, out: np.ndarray, functions: dict[str, Callable]) -> bool:
        numbers = Numbers(functions, one=0.0*y.flat[0] + 1.0)
        lines = taylor_coefficients(self.found, [*self.zeros, *y.flat, t], self.order, numbers)
        lines = [line[:self.moving] for line in lines]
        of_numbers = self.groups if len(self.groups) else [0]*self.moving
        sizes = [max(abs(value) for value, own in zip(lines[k], of_numbers, strict=True) if own == group)
                 for k in (0, 1, self.order - 1, self.order) for group in range(max(of_numbers) + 1)]
        out[:] = [*(value for line in lines for value in line), *sizes]
        return True


class PlainJet(NamedTuple):
    """The same without machine code, for certificates."""

    recurrence: Recurrence

    def evaluate(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        return self.recurrence(t, y, out, {"sqrt": sqrt, "sin": sin, "cos": cos, "atan2": atan2})

    def sum(self, c: np.ndarray, h: float, out: np.ndarray) -> None:
        lines = c[:(self.recurrence.order + 1)*out.size].reshape(-1, *out.shape)
        out[:] = lines[-1]
        for line in lines[-2::-1]:
            out[:] = out*h + line


R = TypeVar("R")
Jet = StraightJet | LoopedJet | PlainJet
LARGEST_ORDER = 15
SMALLEST_ORDER = 2
LATEST = 1e20                      # time: 1e-300 is the last coefficient of a motion that is as slow
ONE_GROUP = np.zeros(0, dtype=np.int64)
MOST_TRACED = 100                  # expressions in memory
MOST_IN_MEMORY = 4*MOST_OPERATIONS  # of all of them together: 300 MB


class TaylorWork(NamedTuple):
    jet: Jet
    c: np.ndarray     # ((order + 1) m d + 4 groups,) coefficients at the state, largest numbers
    new: np.ndarray   # (m, d)
    when: np.ndarray  # (2,) time at the end of the step; 1 when c belongs to the state


class Taylor(NamedTuple):
    """Order p from the tolerance, explicit, one jet for each step; what the form's `project` restores is kept exactly.

    y(t + h) = sum_k c_k h^k. The step is that of Jorba and Zou 2005, section 3.2: both of the last coefficients,
    relative to the size s of the state, give a radius rho = min (s/|c_k|)^(1/k). Each group of rows that belong to one
    field has its own size: its largest number, or that of its rate times the step where this is more;
    h = rho tol^(1/(p - 1)) exp(-0.7/(p - 1)), which for p = 1 - ln(tol)/2 is their rho/e^2 with the factor of
    safety. No step is rejected for its error. Dense output is the same polynomial, projected like the step."""

    tolerance: float
    order: int
    share: float   # of the radius of convergence
    control: Ahead
    groups: np.ndarray = ONE_GROUP  # (m,) of rows, or (m d,) of numbers; empty: all are one
    group_count: int = 1
    sizes: np.ndarray = np.zeros(1)  # (count,) of groups that are zero and have a size nevertheless
    given: np.ndarray = NOT_GIVEN  # (1, numbers), sizes that stand for absolute tolerances
    remembers: bool = False  # each number is a group, whose size is its largest so far

    def measured(self, formulated: Formulated) -> "Taylor":
        groups = np.arange(formulated.start.size) if formulated.apart else formulated.groups
        if self.given.shape[1] > 0:
            return self.grouped(groups, sizes_for_errors(formulated, self.given)[1][0, :int(groups.max(initial=0)) + 1])
        return self.grouped(groups, np.zeros(int(groups.max(initial=0)) + 1))._replace(remembers=formulated.apart)

    def grouped(self, groups: np.ndarray, sizes: np.ndarray) -> "Taylor":
        return self._replace(groups=groups, group_count=len(sizes), sizes=sizes)

    def makes_series(self) -> bool:
        """It has a jet of the equations of motion and never calls them (`liestep.simulation.machine_code.straight`)."""
        return True

    def workspace(self, problem: VectorField, y: np.ndarray) -> TaylorWork:
        """Raises InputError for a right-hand side that cannot be written as expressions."""
        return TaylorWork(jet_of(problem, y, self.order, self.groups),
                          np.zeros((self.order + 1)*y.size + 4*self.group_count, y.dtype),
                          np.zeros_like(y), np.zeros(2))

    def start(self, problem: VectorField, t: float, y: np.ndarray, t_end: float, work: TaylorWork) -> float:
        work.when[0] = t
        self.expand(problem, y, work)
        return min(self.control.next_step[0], t_end) if work.when[1] == 1.0 else t_end

    def expand(self, problem: VectorField, y: np.ndarray, work: TaylorWork) -> None:
        """Coefficients at y, and the next step. Where there are none the step stays as it is, and will fail."""
        problem.counters[Counter.RHS_EVALUATIONS] += self.order
        evaluable = work.jet.evaluate(work.when[0], y, work.c)
        work.when[1] = 0.0
        if evaluable:
            work.when[1] = 1.0
            self.choose(work.c)

    def choose(self, c: np.ndarray) -> None:
        """The next step from the largest numbers of a state, of its rate and of its last two coefficients, which end
        `c`; infinite where all of the last two vanish."""
        first = c.shape[0] - 4*self.group_count
        least, least_before = np.inf, np.inf
        if self.remembers:
            for g in range(self.group_count):
                self.sizes[g] = max(self.sizes[g], c[first + g])
        for g in range(first, first + self.group_count):
            state, before, last = max(c[g], self.sizes[g - first]), c[g + 2*self.group_count], c[g + 3*self.group_count]
            if state > 0.0:  # one that is zero has the size of its rate
                least = min(least, state/last if last > 0.0 else np.inf)
                least_before = min(least_before, state/before if before > 0.0 else np.inf)
        exponent = math.log(least)/self.order if least < np.inf else np.inf
        if least_before < np.inf:
            exponent = min(exponent, math.log(least_before)/(self.order - 1))
        h, small = self.share*math.exp(exponent), 0.0  # 1 where a group may be less than its rate times the step
        for g in range(first, first + self.group_count):
            rate, state = c[g + self.group_count], max(c[g], self.sizes[g - first])
            move = if_less(0.0, rate, rate*h, if_equal(state, 0.0, np.inf, 0.0))
            if not self.remembers:
                move = if_equal(self.sizes[g - first], 0.0, move, 0.0)
            small = if_less(state, move, 1.0, small)
        self.control.next_step[0] = if_less(0.0, small, self.by_rates(c), h) if any_of(small > 0.0) else h

    def by_rates(self, c: np.ndarray) -> float:
        """The next step where the rate of a group, times the step, may be more than the group itself. One that is zero
        with its rate is compared with its first coefficient that is not."""
        exponent = np.inf
        first = c.shape[0] - 4*self.group_count
        for g in range(first, first + self.group_count):
            state, rate = max(c[g], self.sizes[g - first]), self.share*c[g + self.group_count]
            rest, power = (0.0, 1) if max(state, rate) > 0.0 else self.first_coefficient(c, g - first)
            for k in range(max(2, self.order - 1), self.order + 1):
                number = c[g + (k - self.order + 3)*self.group_count]
                if number > 0.0 and max(state, rate, rest) > 0.0 and k > power:
                    own = math.log(state/number)/k if state > 0.0 else -np.inf
                    if rate > 0.0:
                        own = max(own, math.log(rate/number)/(k - 1))
                    if rest > 0.0:
                        own = math.log(rest/number)/(k - power)
                    exponent = min(exponent, own)
        return self.share*math.exp(exponent)

    def first_coefficient(self, c: np.ndarray, group: int) -> tuple[float, int]:
        """Largest number of a group in the first of its coefficients that is not zero, and which it is."""
        rows = self.groups.shape[0]
        count = (c.shape[0] - 4*self.group_count)//(self.order + 1)
        for k in range(2, self.order):
            size = 0.0
            for i in range(count):
                if rows == 0 or self.groups[i*rows//count] == group:
                    size = max(size, abs(c[k*count + i]))
            if size > 0.0:
                return size, k
        return 0.0, 1

    def attempt(self, problem: VectorField, t: float, y: np.ndarray, h: float,
                work: TaylorWork) -> tuple[Status, float]:
        """New state in work.new."""
        if work.when[1] == 0.0:
            return Status.NOT_EVALUABLE, np.inf
        work.jet.sum(work.c, h, work.new)
        problem.project(work.new)
        work.when[0] = t + h
        total = 0.0
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                total += work.new[i, k]
        return (Status.OK, 0.0) if abs(total) < np.inf else (Status.NOT_FINITE, np.inf)

    def interpolate(self, problem: VectorField, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: TaylorWork) -> None:
        work.jet.sum(work.c, s*h, out)
        problem.project(out)

    def rejected(self, h: float) -> None:
        """No size was made by the attempt."""

    def accept(self, problem: VectorField, y: np.ndarray, work: TaylorWork) -> None:
        copy(work.new, y)
        work.when[1] = 0.0
        if not self.control.ends():
            self.expand(problem, y, work)


def field_expressions(problem: VectorField, shape: tuple[int, ...], most: int = MOST_NODES) -> Expressions:
    """The right-hand side of a vector field with rows of this shape, as expressions of its numbers and the time, at
    most so many operations. Raises Untraceable: see there."""
    def rhs(symbols: list[Node]) -> tuple[bool, list[Value]]:
        y = np.array(symbols[:-1], dtype=object).reshape(shape)
        out = np.zeros(shape, dtype=object)
        return plain_component(problem, SYMBOLIC).rhs(symbols[-1], y, out), list(out.flat)

    if np.prod(shape) > most:
        raise Untraceable(f"its state has more than {most} numbers")
    return expressions(rhs, int(np.prod(shape)) + 1, most)


_traced: dict[tuple[Hashable, ...], tuple[int, Expressions | Untraceable]] = {}


def keep(known: dict[tuple[Hashable, ...], Any], key: tuple[Hashable, ...], operations: int, *found: Any) -> None:
    """Note what was found; the oldest of what is known goes where all would take too much memory."""
    known[key] = operations, *found
    while len(known) > 1 and (len(known) > MOST_TRACED or sum(item[0] for item in known.values()) > MOST_IN_MEMORY):
        del known[next(iter(known))]


def remembered(problem: Component, shape: tuple[int, ...], trace: Callable[[Any, tuple[int, ...]], Expressions]
               ) -> Expressions:
    """What `trace` finds for a problem and states of this shape: a trace of the largest ones takes seconds, and a run
    asks three times."""
    key = trace, digest_of(problem), source_hash(*component_modules(problem)), shape
    if key not in _traced:
        counters = problem.counters.copy()
        try:
            new = trace(problem, shape)
            keep(_traced, key, len(new.nodes), new)
        except Untraceable as error:
            keep(_traced, key, 0, error)
        problem.counters[:] = counters  # the trace is no evaluation
    _, traced = _traced[key]
    if isinstance(traced, Untraceable):
        raise traced
    return traced


class Series(NamedTuple):
    """The equations whose series a method takes: their formulation, what it is called, how it is traced, the choices of
    options that it prefers, and what has none of its limits."""

    formulation: str
    thing: str  # "form" | "action"
    equations: str
    trace: Callable[[Any, tuple[int, ...]], Expressions]  # of a problem and the shape of its states
    prefers: tuple[Options, ...]
    instead: str

    def traced(self, problem: Component, shape: tuple[int, ...]) -> Expressions:
        """The equations as expressions. Raises InputError: they cannot be written so, or would be too large."""
        try:
            return remembered(problem, shape, self.trace)
        except Untraceable as error:
            raise InputError(f"this {self.thing} has no Taylor series, because its {self.equations} cannot be traced:"
                             f" {error}; take another {self.instead}") from None

    def combination(self, options: Options, sheet: Sheet, parameters: Parameters) -> None:
        """`Method.combination`: whether there are series at the first start that a system has for these parameters."""
        formulated = first_formulated(sheet, parameters, self.formulation, options)
        if formulated is not None:
            self.traced(formulated.problem, formulated.start.shape)

    def requires(self, parameters: Parameters, sheet: Sheet) -> str | None:
        """`Method.requires`: the same for the options that the method prefers."""
        return refused(self.combination, self.formulation, self.prefers, parameters, sheet)


_jets: dict[tuple[Hashable, ...], tuple[int, Expressions, Any]] = {}


def made_once(make: Callable[..., R], found: Expressions, order: int, **layout: Any) -> R:
    """What is made of the coefficients of expressions: a run asks twice, and for a long chain it takes half a
    second."""
    key = make, id(found), order, repr(layout)
    if key not in _jets:
        keep(_jets, key, len(found.nodes), found, make(found, order, **layout))  # `found`: so its id stays its own
    return _jets[key][-1]


def _code(found: Expressions, order: int, **layout: Any) -> tuple[dict[str, int], np.ndarray]:
    code = jet_code(found, order, **layout)
    return loaded(code.text).addresses, code.constants


def straight_jet(found: Expressions, order: int, y: np.ndarray, **layout: Any) -> StraightJet:
    """Machine code of the coefficients of expressions at states like y, which says whether they are of several members
    (`compile.lanes.jets`)."""
    writer, jet = getattr(y, "jets", (LLVMWriter, StraightJet))
    places, constants = made_once(_code, found, order, kind=writer, **layout)
    return jet(places["jet"], places["sum"], constants.copy(), np.zeros(1))


def jet_of(problem: VectorField, y: np.ndarray, order: int, groups: np.ndarray = ONE_GROUP) -> Jet:
    """Component that evaluates the coefficients of a vector field at states like y; of numbers that are not float64
    by the same recurrences in plain Python. Raises InputError as `Series.traced`."""
    traced = SERIES.traced(problem, y.shape)
    width = y.size//len(groups) if len(groups) else y.shape[1]
    if y.dtype != np.float64:
        return PlainJet(Recurrence(traced, order, groups=np.repeat(groups, width).tolist()))
    if len(traced.nodes) > MOST_NODES:
        of_numbers = np.repeat(groups, width) if len(groups) else np.zeros(y.size, dtype=np.int64)
        tape = made_once(tape_of, traced, order)
        return LoopedJet(tape._replace(c=np.zeros_like(tape.c)), new_addresses(LoopedJet), of_numbers)
    return straight_jet(traced, order, y, width=width, groups=groups.tolist())


def share_of_radius(tolerance: float, order: int) -> float:
    """Step over radius: tol^(1/(p - 1)) exp(-0.7/(p - 1))."""
    return math.exp((math.log(tolerance) - 0.7)/(order - 1.0))


def order_of(tolerance: float, more: int = 0) -> int:
    """Order that Jorba and Zou 2005 recommend, or so many more, at most LARGEST_ORDER."""
    return max(SMALLEST_ORDER, min(LARGEST_ORDER, more + math.ceil(1.0 - 0.5*math.log(tolerance))))


def _check_order(value: int | str) -> int | str:
    """A word of MORE, or a whole number."""
    if isinstance(value, str) and value in MORE:
        return value
    number = value if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, str) and value.strip().isdigit():
        number = int(value)
    if number is None or number < SMALLEST_ORDER:
        raise InputError(f"option order must be tolerance, raised or a whole number from {SMALLEST_ORDER} to"
                         f" {LARGEST_ORDER}, not {value!r}")
    if number > LARGEST_ORDER:
        raise InputError(f"option order is {number}; above {LARGEST_ORDER} the work of a step, which grows like the"
                         " square of the order, gains no step length that float64 could use; the largest order is"
                         f" {LARGEST_ORDER}")
    return number


# part of the cost of a step does not grow with the order: one body or two pendulums gain 1.2 to 2 times by fewer steps,
# four bodies that attract each other lose up to 1.9 times
MORE = {"tolerance": 0, "raised": 4}
ORDER = Option("tolerance", "of the series: tolerance takes 1 - ln(tolerance)/2, raised four more (default of form"
               " quaternion), both at most 15", normalise=_check_order,
               values=f"raised | {SMALLEST_ORDER}, ..., {LARGEST_ORDER}", default_for=lambda parameters, options:
               "raised" if options.get("form") == "quaternion" else "tolerance")


# on spheres (q, dq/dt) with multipliers, fewer operations than (q, omega); on bodies rotations that stay orthonormal
PREFERRED = ({"form": "velocity", "projection": "state", "mass": "diagonal"},
             {"form": "velocity", "projection": "state", "mass": "banded"},
             {"form": "velocity", "projection": "state", "mass": "multipliers"},
             {"projection": "state"}, {"form": "orthonormal"})


def series_of(options: Options, tolerance: float | None, t_end: float, **further: Any) -> Taylor:
    """Component of the checked option `order`. Raises InputError: coefficients of a motion so slow would be zero."""
    assert tolerance is not None
    if abs(t_end) > LATEST:
        raise InputError(f"Taylor series of a run to t = {t_end:g} have coefficients below the least number of float64:"
                         f" give times up to {LATEST:g}, in a larger unit, or take another method")
    order = order_of(tolerance, MORE[options["order"]]) if options["order"] in MORE else options["order"]
    return Taylor(tolerance, order, share_of_radius(tolerance, order), Ahead(np.zeros(2)),
                  given=given_sizes(options, tolerance), **further)


def method_of_series(series: Series, **declared: Any) -> Method:
    """A method of Taylor series of these equations."""
    return Method(order=LARGEST_ORDER, formulation=series.formulation, adaptive=True, prefers=series.prefers,
                  estimates=False, traced=series.traced,
                  combination=series.combination, requires=series.requires, options={"order": ORDER, **LATER},
                  order_for=lambda options, sheet, parameters:
                  LARGEST_ORDER if options["order"] in MORE else options["order"], **declared)


SERIES = Series("vector_field", "form", "right-hand side", partial(field_expressions, most=MOST_OPERATIONS), PREFERRED,
                "form, or dop853")
METHODS = {
    "taylor": method_of_series(
        SERIES, summary="order 2 to 15 from the tolerance, explicit, adaptive with dense output, Taylor series",
        projects=True, conserves=PROJECTED, citation="Jorba and Zou 2005, Exp. Math. 14, 99",
        build=lambda options, tolerance, t_end: series_of(options, tolerance, t_end),
        scipy="Taylor", code="Taylor series", places=Places(reference=8),
        certified=Certified((*each("order", 8, 11, 3)[1:], ({"order": 6, "form": "omega"}, "sphere_lagrangian"),
                             ({"order": 6, "form": "coadjoint"}, "cotangent_rotation")))),
}
