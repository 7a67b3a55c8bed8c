"""Sizes of the fields of a state: engines measure errors against them, so that units do not matter."""
from collections.abc import Callable

import numpy as np

from liestep.integrators.sizes import NUDGE, any_at_zero, note_rates, nudge, sizes_of
from liestep.mechanics.contracts.formulated import Formulated

Field = Callable[[float, np.ndarray], np.ndarray]  # f(t, y), y the rows of a state in one array
INCREMENT = 1e-6                                   # of the time in which the state changes, for a difference of rates
MOVE = 2.0**-10                                    # of a state's numbers, to see forces that vanish with their slopes


def largest(groups: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Largest number of each group of rows (m, d)."""
    found = np.zeros(int(groups.max(initial=0)) + 1)
    np.maximum.at(found, groups, np.abs(rows).max(axis=1))
    return found


def characteristic_time(f: Field, formulated: Formulated, most: float) -> float:
    """Time in which a field changes by its own size, from its rate and, so that a start from rest has one, from the
    rate of this rate; at most `most`."""
    start, groups = formulated.start, formulated.groups
    rates, size = f(0.0, start.ravel()), largest(groups, start)

    def shortest(change: np.ndarray, power: float) -> float:
        change = largest(groups, change.reshape(start.shape))
        moves = (size > 0.0) & (change > 0.0)
        return float(((size[moves]/change[moves])**power).min(initial=most))

    time = shortest(rates, 1.0)
    later = INCREMENT*time
    return min(time, shortest((f(0.0, start.ravel() + later*rates) - rates)/later, 0.5))


def start_sizes(f: Field, formulated: Formulated, time: float) -> np.ndarray:
    """Size of each group of rows: its largest number, or that of its rate times `time` where it starts at zero."""
    start, (groups, sizes) = formulated.start, sizes_of(formulated)
    rates, nudged = f(0.0, start.ravel()).reshape(start.shape), np.zeros_like(start)
    if any_at_zero(groups, sizes, start):
        note_rates(groups, sizes, rates, 1.0)
        for _ in range(2):  # as `rates_from_zero`
            nudge(groups, sizes, start, time, nudged)
            note_rates(groups, sizes, f(0.0, nudged.ravel()).reshape(start.shape) - rates, 1.0/NUDGE)
        # bonds that are straight at the start have neither torques nor slopes of them, and some later
        moved = start*(1.0 + MOVE*(-1.0)**np.add(*np.indices(start.shape)))
        note_rates(groups, sizes, f(0.0, moved.ravel()).reshape(start.shape) - rates, 1.0)
    return np.maximum(largest(groups, start), time*sizes[2])
