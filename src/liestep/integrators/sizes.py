"""The size of each field of a state, against which pairs measure errors unless an absolute tolerance is given: the
largest of its numbers since the start; and the size of the difference between the two methods of a Lie group pair, as
components of the pair."""
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows, kernel, outlined
from liestep.compile.rows import copy, dot, if_equal, put, quotient, row, scale, sqrt, sub
from liestep.errors import InputError, number_or_nan
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import LieAction, VectorField
from liestep.mechanics.contracts.sheet import Option, Options

NOT_GIVEN = np.zeros((4, 0))


def _check_atol(value: Any) -> Any:
    """Scale, a positive number, or a list of them."""
    if isinstance(value, str) and value == "scale":
        return value
    several = isinstance(value, list | tuple | np.ndarray)
    numbers = [*map(number_or_nan, value if several else [value])]
    if not numbers or not all(0.0 < one < np.inf for one in numbers):
        raise InputError(f"option atol must be scale, a positive number or a list of them, not {value!r}")
    return numbers if several else numbers[0]


ATOL = Option("scale", "absolute tolerance: scale, the run's tolerance times the size of each field, so that units do"
              " not matter; one number for all fields in their own units; or a list of one number for each field, of a"
              " plain rhs for each number of y", normalise=_check_atol,
              values="any positive number, or a list of them")
LATER = {"atol": replace(ATOL, later=True)}


def absolute(value: Any) -> float:
    """The absolute tolerance of a checked option; 0 where it follows from the sizes."""
    return float(value) if isinstance(value, float) else 0.0


def given_sizes(options: Options, tolerance: float) -> np.ndarray:
    """Sizes that absolute tolerances stand for, (1, numbers), for `sizes_for_errors`; `NOT_GIVEN` without them."""
    value = options.get("atol", "scale")
    return NOT_GIVEN if value == "scale" else np.atleast_2d(value)/tolerance


NUDGE = 2.0**-51  # relative
FAR_MORE = 1000.0


class RowGroups(NamedTuple):
    """Group of each number of a state: that of its row."""

    groups: np.ndarray = np.zeros(0, dtype=np.int64)  # (m,)

    def of(self, i: int, k: int) -> int:
        return self.groups[i]

    def fixed(self) -> bool:
        """Whether sizes stay as they were given."""
        return False


class NumberGroups(NamedTuple):
    """Group of each number, where rows do not say it or sizes are given."""

    groups: np.ndarray  # (m, d)
    given: bool = False

    def of(self, i: int, k: int) -> int:
        return self.groups[i, k]

    def fixed(self) -> bool:
        return self.given


Groups = RowGroups | NumberGroups


def sizes_of(formulated: Formulated) -> tuple[np.ndarray, np.ndarray]:
    """Group (m, d) of each number and room for (4, groups): their sizes with the step that is tried, those up to the
    state, rates that give a size to what starts at zero, and what rejected steps made of what is zero."""
    shape = formulated.start.shape
    groups = (np.arange(formulated.start.size).reshape(shape) if formulated.apart else
              np.repeat(formulated.groups[:, None], shape[1], axis=1))
    return groups, np.zeros((4, int(groups.max(initial=0)) + 1))


def sizes_for_errors(formulated: Formulated, given: np.ndarray = NOT_GIVEN) -> tuple[Groups, np.ndarray]:
    """Groups and sizes for the error of a step. Rows that enter no field count in none: the work of a magnetic force is
    round-off, which no step makes smaller. Raises InputError: another number of given sizes than of fields."""
    groups, sizes = sizes_of(formulated)
    if len(given) != 1:
        if formulated.apart:
            return NumberGroups(groups), sizes
        sizes[1, np.arange(sizes.shape[1]) == formulated.grouping[1]] = np.inf
        return RowGroups(formulated.groups), sizes
    known = formulated.to_fields(formulated.start[None])
    needed, what = (groups.size, "numbers of y") if formulated.apart else (len(known), f"fields {', '.join(known)}")
    if given.size not in (1, needed):
        raise InputError(f"option atol has {given.size} numbers; there are {needed} {what}")
    given = np.broadcast_to(given[0], needed)
    if formulated.apart:
        return NumberGroups(groups, True), given[None].copy()
    smallest = np.full((1, sizes.shape[1]), np.inf)
    for i, group in enumerate(formulated.groups):  # the least of the fields that it enters
        moved = formulated.start.copy()
        moved[i] += 1e-3*(np.abs(moved).max() or 1.0)
        for size, (name, values) in zip(given, formulated.to_fields(moved[None]).items(), strict=True):
            if not np.array_equal(values, known[name]):
                smallest[0, group] = min(smallest[0, group], size)
    return NumberGroups(groups, True), smallest


@kernel
def try_sizes(groups: Groups, sizes: np.ndarray, y: np.ndarray, new: np.ndarray, h: float) -> None:
    """Sizes with a step h from y to `new`."""
    if groups.fixed():
        return
    for g in range(sizes.shape[1]):
        sizes[0, g] = max(sizes[1, g], abs(h)*sizes[2, g])
    for i in range(y.shape[0]):
        for k in range(y.shape[1]):
            g = groups.of(i, k)
            sizes[0, g] = max(sizes[0, g], abs(y[i, k]), abs(new[i, k]))


@kernel
def keep_sizes(groups: Groups, sizes: np.ndarray, y: np.ndarray) -> None:
    """The step to y is accepted."""
    noted = 0.0
    if not groups.fixed():
        for g in range(sizes.shape[1]):
            sizes[1, g] = sizes[0, g]
            noted += sizes[3, g]
    if noted > 0.0:
        forget_noted(groups, sizes, y)


@kernel
@outlined
def forget_noted(groups: Groups, sizes: np.ndarray, y: np.ndarray) -> None:
    """What rejected steps made of a group counts until it is no longer zero."""
    for i in range(y.shape[0]):
        for k in range(y.shape[1]):
            g = groups.of(i, k)
            if y[i, k] != 0.0 and sizes[3, g] != 0.0:
                sizes[1, g] = abs(y[i, k]) if sizes[3, g] > 0.0 else max(sizes[1, g], abs(y[i, k]))
                sizes[3, g] = -1.0  # until all numbers are seen
    for g in range(sizes.shape[1]):
        sizes[3, g] = max(sizes[3, g], 0.0)


@kernel
@outlined
def note_rejected(groups: Groups, sizes: np.ndarray, h: float) -> None:
    """The step h that was tried is too long. What was zero before it, and of which it made far more than the rate at
    the start gives, is measured against that: by its own size no step past a kink would be short enough."""
    for g in range(0 if groups.fixed() else sizes.shape[1]):
        if (sizes[1, g] == 0.0 or sizes[3, g] > 0.0) and FAR_MORE*abs(h)*sizes[2, g] < sizes[0, g] < np.inf:
            sizes[1, g] = sizes[3, g] = sizes[0, g]


@kernel
def any_at_zero(groups: Groups, sizes: np.ndarray, y: np.ndarray) -> bool:
    """Whether a group of the start y is zero, whose sizes are noted."""
    try_sizes(groups, sizes, y, y, 0.0)
    keep_sizes(groups, sizes, y)
    least = np.inf
    for g in range(sizes.shape[1]):
        least = min(least, sizes[0, g])
    return least == 0.0


@kernel
def nudge(groups: Groups, sizes: np.ndarray, y: np.ndarray, h: float, out: np.ndarray) -> None:
    """y with its numbers moved by round-off, those that are zero by that of their rates times h."""
    for i in range(y.shape[0]):
        for k in range(y.shape[1]):
            if sizes[0, groups.of(i, k)] == 0.0:
                out[i, k] = NUDGE*h*sizes[2, groups.of(i, k)]
            else:
                out[i, k] = y[i, k]*(1.0 + NUDGE if (i + k) % 2 == 0 else 1.0 - NUDGE)


@kernel
def note_rates(groups: Groups, sizes: np.ndarray, rates: np.ndarray, factor: float) -> None:
    """Rates of groups that start at zero. The changes of rates at a nudged state over the nudge, too: they are the size
    of the terms whose sum is the rate, which may be round-off alone."""
    for i in range(rates.shape[0]):
        for k in range(rates.shape[1]):
            if sizes[0, groups.of(i, k)] == 0.0:
                sizes[2, groups.of(i, k)] = max(sizes[2, groups.of(i, k)], abs(rates[i, k])*factor)


@kernel
@outlined
def evaluate(problem: VectorField, t: float, y: np.ndarray, out: np.ndarray) -> bool:
    """The right-hand side, for calls at the start of a run that need not be inlined."""
    return problem.rhs(t, y, out)


@kernel
def rates_from_zero(problem: VectorField, t: float, y: np.ndarray, h: float, groups: Groups, sizes: np.ndarray,
                    work: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """Rates of all groups that start at zero, for steps of about h. work: the rates at y; rates and state that are
    overwritten."""
    rates, changed, state = work
    if any_at_zero(groups, sizes, y):
        note_rates(groups, sizes, rates, 1.0)
        for _ in range(2):  # the second time what starts at zero moves the rates of what depends on it
            nudge(groups, sizes, y, h, state)
            if evaluate(problem, t, state, changed):
                for i in range(y.shape[0]):
                    for k in range(y.shape[1]):
                        changed[i, k] = -1.0*rates[i, k] + changed[i, k]
                note_rates(groups, sizes, changed, 1.0/NUDGE)


NORM = {
    "norm": Option("state", "of the error. state: of rows of the state, each relative to the size of its field, so that"
                   " units do not matter; algebra: Euclidean, of all numbers of the algebra, as in liegroup2021",
                   ("state", "algebra")),
    **LATER,
}


@kernel
def length(sigma: np.ndarray) -> float:
    """Euclidean norm of all numbers of an element of the algebra."""
    total = 0.0
    for i in range(sigma.shape[0]):
        total += dot(row(sigma, i), row(sigma, i))
    return sqrt(total)


@kernel
@outlined
def generator(problem: LieAction, t: float, y: np.ndarray, out: np.ndarray) -> bool:
    """f at a state, where it need not be inlined: at the start of a run and for dense output."""
    return problem.algebra(t, y, out)


@kernel
def first_slope(problem: LieAction, t: float, y: np.ndarray, k: np.ndarray, current: np.ndarray) -> bool:
    """f at the state in k, unless it is there: then current[0] is 1."""
    if current[0] == 0.0 and not generator(problem, t, y, k):
        return False
    current[0] = 1.0
    return True


@kernel
@outlined
def moved(problem: LieAction, sigma: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """exp(sigma).y where it need not be inlined."""
    problem.act(sigma, y, out)


class WithoutSizes:
    """Methods of norms that ask for no sizes of fields."""

    def start(self, problem: LieAction, t: float, y: np.ndarray, h: float, k: np.ndarray, sigma: np.ndarray,
              new: np.ndarray) -> None:
        """A run begins."""

    def keep(self, y: np.ndarray) -> None:
        """The step to y is accepted."""

    def rejected(self, h: float) -> None:
        """A step h is not."""


@borrows(WithoutSizes)
class AlgebraNorm(NamedTuple):
    """|sigma|, Euclidean norm of all numbers of the algebra, whatever their units: liegroup2021 section 4."""

    unused: float  # a component has at least one field

    def size(self, problem: LieAction, sigma: np.ndarray, y: np.ndarray, new: np.ndarray, end: np.ndarray,
             h: float) -> float:
        return length(sigma)


class StateNorm(NamedTuple):
    """Root mean square over rows of |z - y+|/s, with y+ the end of the step, z that of the other method (exp(sigma).y+
    for a small sigma) and s the size of the row's field so far and at y+ (`integrators.sizes`): the same in all frames
    and units."""

    groups: Groups = RowGroups()
    sizes: np.ndarray = NOT_GIVEN

    def start(self, problem: LieAction, t: float, y: np.ndarray, h: float, k: np.ndarray, sigma: np.ndarray,
              new: np.ndarray) -> None:
        """Rates of what starts at zero (`sizes.rates_from_zero`), over a step h; k (2 or more, d, 3), sigma (d, 3) and
        new (m, d) are overwritten."""
        if not any_at_zero(self.groups, self.sizes, y):
            return
        copy(y, new)
        for r in range(3):
            if not generator(problem, t, new, k[min(r, 1)]):
                return
            for i in range(sigma.shape[0]):
                put(sigma, i, scale(h, row(k[0], i)) if r == 0 else scale(h/NUDGE, sub(row(k[1], i), row(k[0], i))))
            moved(problem, sigma, y, new)
            note_rates(self.groups, self.sizes, new, 1.0/h)
            nudge(self.groups, self.sizes, y, h, new)

    def size(self, problem: LieAction, sigma: np.ndarray, y: np.ndarray, new: np.ndarray, end: np.ndarray,
             h: float) -> float:
        """end (m, d) is overwritten."""
        problem.act(sigma, new, end)
        return self.between(problem, y, new, end, h)

    def between(self, problem: LieAction, y: np.ndarray, new: np.ndarray, other: np.ndarray, h: float) -> float:
        """y is the start of the step."""
        try_sizes(self.groups, self.sizes, y, new, h)
        total = 0.0
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                gap, own = other[i, k] - new[i, k], self.sizes[0, self.groups.of(i, k)]
                if self.groups.fixed():  # beside an absolute tolerance, the relative one is of each number
                    own += max(abs(y[i, k]), abs(new[i, k]))
                share = quotient(gap, own)
                total += if_equal(gap, 0.0, 0.0, share*share)
        return sqrt(total/y.shape[0])

    def keep(self, y: np.ndarray) -> None:
        keep_sizes(self.groups, self.sizes, y)

    def rejected(self, h: float) -> None:
        note_rejected(self.groups, self.sizes, h)


def error_norm(options: Options, tolerance: float) -> AlgebraNorm | StateNorm:
    """Of the checked option `norm`. Raises InputError: another norm with an absolute tolerance."""
    given = given_sizes(options, tolerance)
    if options["norm"] == "state":
        return StateNorm(sizes=given)
    if given is not NOT_GIVEN:
        raise InputError("option atol is of fields of the state: give norm: state with it")
    return AlgebraNorm(0.0)


def for_system(norm: Any, formulated: Formulated) -> Any:
    """The norm with the fields of a system's rows, where it asks for them."""
    return StateNorm(*sizes_for_errors(formulated, norm.sizes)) if isinstance(norm, StateNorm) else norm
