"""The size of each field of a state, against which pairs on vector fields measure errors unless an absolute tolerance
is given: the largest of its numbers since the start."""
from typing import Any

import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import VectorField
from liestep.mechanics.contracts.sheet import number_in

ATOL = number_in("atol", "scale", "absolute tolerance: scale, the run's tolerance times the size of each field, so that"
                 " units do not matter, or one number for all fields in their own units",
                 "positive number", lambda number: 0.0 < number < np.inf, instead="scale")


def absolute(value: Any) -> float:
    """The absolute tolerance of a checked option; 0 where it follows from the sizes."""
    return 0.0 if value == "scale" else float(value)


NUDGE = 2.0**-51  # relative


def sizes_of(formulated: Formulated) -> tuple[np.ndarray, np.ndarray]:
    """Groups (m,) of the rows and room for (3, groups): their sizes up to the state, those with the step that is
    tried, and rates that give a size to what starts at zero."""
    groups = formulated.groups
    return groups, np.zeros((3, int(groups.max(initial=0)) + 1))


def sizes_for_errors(formulated: Formulated) -> tuple[np.ndarray, np.ndarray]:
    """Those for the error of a step. Rows that enter no field count in none: the work of a magnetic force is round-off,
    which no step makes smaller."""
    groups, sizes = sizes_of(formulated)
    sizes[0, np.arange(sizes.shape[1]) == formulated.grouping[1]] = np.inf
    return groups, sizes


@kernel
def try_sizes(groups: np.ndarray, sizes: np.ndarray, y: np.ndarray, new: np.ndarray, h: float) -> None:
    """Sizes with a step h from y to `new`."""
    for g in range(sizes.shape[1]):
        sizes[1, g] = max(sizes[0, g], abs(h)*sizes[2, g])
    for i in range(y.shape[0]):
        for k in range(y.shape[1]):
            sizes[1, groups[i]] = max(sizes[1, groups[i]], abs(y[i, k]), abs(new[i, k]))


@kernel
def keep_sizes(sizes: np.ndarray) -> None:
    """The step is accepted."""
    for g in range(sizes.shape[1]):
        sizes[0, g] = sizes[1, g]


@kernel
def any_at_zero(groups: np.ndarray, sizes: np.ndarray, y: np.ndarray) -> bool:
    """Whether a group of the start y is zero, after `try_sizes` of y."""
    try_sizes(groups, sizes, y, y, 0.0)
    least = np.inf
    for g in range(sizes.shape[1]):
        least = min(least, sizes[1, g])
    return least == 0.0


@kernel
def nudge(groups: np.ndarray, sizes: np.ndarray, y: np.ndarray, h: float, out: np.ndarray) -> None:
    """y with its numbers moved by round-off, those that are zero by that of their rates times h."""
    for i in range(y.shape[0]):
        for k in range(y.shape[1]):
            if sizes[1, groups[i]] == 0.0:
                out[i, k] = NUDGE*h*sizes[2, groups[i]]
            else:
                out[i, k] = y[i, k]*(1.0 + NUDGE if (i + k) % 2 == 0 else 1.0 - NUDGE)


@kernel
def note_rates(groups: np.ndarray, sizes: np.ndarray, rates: np.ndarray, factor: float) -> None:
    """Rates of groups that start at zero. The changes of rates at a nudged state over the nudge, too: they are the size
    of the terms whose sum is the rate, which may be round-off alone."""
    for i in range(rates.shape[0]):
        if sizes[1, groups[i]] == 0.0:
            for k in range(rates.shape[1]):
                sizes[2, groups[i]] = max(sizes[2, groups[i]], abs(rates[i, k])*factor)


@kernel
@outlined
def evaluate(problem: VectorField, t: float, y: np.ndarray, out: np.ndarray) -> bool:
    """The right-hand side, for calls at the start of a run that need not be inlined."""
    return problem.rhs(t, y, out)


@kernel
def rates_from_zero(problem: VectorField, t: float, y: np.ndarray, h: float, groups: np.ndarray, sizes: np.ndarray,
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
