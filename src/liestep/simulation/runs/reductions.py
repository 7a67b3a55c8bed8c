"""What is kept of a trajectory without its samples: last state, extrema and drift slope of its observables.

All of it comes from the sums and extrema that the recorder keeps inside the loop, so that memory does not grow with the
number of steps.
"""
from collections.abc import Iterator

import numpy as np

from liestep.compile.status import Status
from liestep.simulation.runs.execution import Outcome, block_means
from liestep.simulation.runs.recorder import BLOCKS, Recorder

Reduced = tuple[str, tuple[str, ...], np.ndarray, str, str]  # name, dimensions, values, units, meaning
START, END, LOW, HIGH, SLOPE = "start", "end", "low", "high", "slope"  # suffixes of an observable


def reductions(outcome: Outcome, t_end: float) -> Iterator[Reduced]:
    """The numbers of one trajectory. What belongs to the end is NaN for one that stopped early; extrema are those of
    the steps that it made.

    low and high are the extrema of the deviation (of an invariant from its start, else from zero) over all counted
    points and accepted steps, slope is that of `block_slope` in units per second.
    """
    recorder, formulated = outcome.outputs, outcome.formulated
    finished = outcome.status == Status.OK
    last = formulated.to_fields(recorder.states[-1:])  # NaN until the end is reached
    for part in formulated.fields:
        yield f"{part.name}_{END}", part.dims, last[part.name][0], part.units, f"{part.long_name} at the end"
    nothing = np.full(formulated.width, np.nan)
    start = recorder.series[0] if outcome.samples else nothing
    seen = [recorder, *([outcome.accepted] if outcome.accepted else [])]
    found = {START: start, END: recorder.series[-1] if finished else nothing,
             LOW: np.min([start - recorder.baseline, *(one.block_low.min(axis=0) for one in seen)], axis=0),
             HIGH: np.max([start - recorder.baseline, *(one.block_high.max(axis=0) for one in seen)], axis=0),
             SLOPE: block_slope(recorder, t_end) if finished else nothing}
    meaning = {START: "at the start", END: "at the end", LOW: "smallest deviation", HIGH: "largest deviation",
               SLOPE: "slope of the deviation"}
    for observable in formulated.observables:
        for suffix, values in found.items():
            units = f"{observable.units} s-1" if suffix == SLOPE else observable.units
            yield (f"{observable.name}_{suffix}", observable.dimensions, observable.shaped(values[observable.columns]),
                   units, f"{observable.long_name}: {meaning[suffix]}")


def block_slope(recorder: Recorder, t_end: float) -> np.ndarray:
    """(K,): least-squares slope (1/s) of the mean deviations of the blocks at the mean times of their points, weighted
    by how many these are. With equal blocks it is the slope of the table drift; with at most one point in each block,
    that of all points. NaN with points in less than two blocks."""
    counted = recorder.block_count > 0
    if np.count_nonzero(counted) < 2:
        return np.full(recorder.block_sum.shape[1], np.nan)
    edges = -(-np.arange(BLOCKS + 1)*recorder.points//BLOCKS)  # block b holds the points edges[b] + 1 to edges[b + 1]
    first = edges[:-1]//recorder.every + 1
    last = edges[1:]//recorder.every
    time = 0.5*(first + last)*recorder.every*(t_end/recorder.points)
    time, weight = time[counted], recorder.block_count[counted].astype(float)
    means = block_means(recorder)[counted]
    time = time - np.sum(weight*time)/np.sum(weight)
    return np.sum((weight*time)[:, None]*means, axis=0)/np.sum(weight*time*time)
