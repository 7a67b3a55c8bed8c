"""Time loops over many members, which stand in blocks: a block is one member, or those that share registers
(`liestep.compile.lanes.numbers`). They make what the loops of `compile.driver` make of each alone."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.roles import Component, Stepper, Work
from liestep.compile.rows import copy, if_less
from liestep.compile.status import Status
from liestep.compile.trees import with_numbers
from liestep.simulation.runs.execution import Recorder


class Held(NamedTuple):
    """What a thread works with, and how each member finds it."""

    numbers: np.ndarray   # (size,) all numbers of the components that may be written
    rest: np.ndarray      # (bytes/8,) of whole numbers
    counters: np.ndarray  # (len(counters.NAMES),)
    words: np.ndarray     # (2,) of the thread, see `compile.lanes.numbers`
    all: int              # lanes
    y: np.ndarray         # (m, d)


class Ends(NamedTuple):
    """How blocks ended."""

    status: np.ndarray    # (blocks,)
    steps: np.ndarray     # (blocks,) that were completed
    alive: np.ndarray     # (blocks,) word of lanes that were not struck
    counters: np.ndarray  # (blocks, len(counters.NAMES))
    reduced: np.ndarray   # (blocks, 3, K) see `reduce_blocks`, or (0, 3, K)
    weights: np.ndarray   # (BLOCKS,)


@kernel
def reduce_blocks(recorder: Recorder, weights: np.ndarray, out: np.ndarray) -> None:
    """The least and the largest deviation in all blocks of a run, and the sum of their means times weights. The next
    run finds the blocks as new."""
    for c in range(out.shape[1]):
        low, high, total = recorder.block_low[0, c], recorder.block_high[0, c], out[2, c]
        for k in range(weights.shape[0]):
            below, above = recorder.block_low[k, c], recorder.block_high[k, c]
            low, high = if_less(low, below, low, below), if_less(above, high, high, above)
            total += weights[k]*(recorder.block_sum[k, c]/max(recorder.block_count[k], 1))
            recorder.block_sum[k, c], recorder.block_low[k, c], recorder.block_high[k, c] = 0.0, np.inf, -np.inf
        out[0, c], out[1, c], out[2, c] = low, high, total
    for k in range(weights.shape[0]):
        recorder.block_count[k] = 0


@kernel
def row_of(records: Recorder, b: int) -> Recorder:
    """That of a block: arrays with one row are of all blocks."""
    r, c = min(b, records.states.shape[0] - 1), min(b, records.block_sum.shape[0] - 1)
    return Recorder(
        records.states[r], records.series[r], records.scratch, records.baseline[r], records.total[r],
        records.largest[r], records.block_sum[c], records.block_low[c], records.block_high[c], records.block_count[c],
        records.filled[r], records.integrals, records.steps, records.points, records.stride, records.every)


@kernel
def enter(held: Held, b: int, starts: np.ndarray, numbers: np.ndarray, rest: np.ndarray, last: np.ndarray) -> None:
    """A block is at its start, with all its lanes. last: that of integrals."""
    copy(starts[b], held.y)
    for i in range(numbers.shape[1]):
        held.numbers[i] = numbers[min(b, numbers.shape[0] - 1), i]
    for i in range(rest.shape[0]):
        held.rest[i] = rest[i]
    for i in range(held.counters.shape[0]):
        held.counters[i] = 0
    for i in range(last.shape[1]):
        last[0, i] = last[1, i] = last[2, i] = 0.0
    held.words[0] = held.all
    held.words[1] = held.all


def advance_members(integrator: Stepper, problem: Component, work: Work, records: Recorder, held: Held, ends: Ends,
                    starts: np.ndarray, numbers: np.ndarray, rest: np.ndarray, invariant: np.ndarray, h: float,
                    first: int, last: int, begin: int, end: int, t_start: float) -> None:
    """Steps from number `first` to `last` of the blocks from `begin` to before `end`: one alone where it is not the
    whole run. starts: (blocks, m, d). numbers, rest: of each block, or of all, what `held` is at the start. invariant:
    which observables are."""
    y = held.y
    for b in range(begin, end):
        recorder = row_of(records, b)
        for run in range(1 if first > 0 else 0, 2):  # the first one is a trial at the start
            if first == 0:
                enter(held, b, starts, numbers, rest, recorder.integrals.last)
                for i in range(invariant.shape[0]):  # forget the trial
                    recorder.total[0, i] = recorder.total[1, i] = recorder.largest[i] = recorder.scratch[i] = 0.0
                recorder.filled[0] = recorder.filled[1] = 0
            own = with_numbers(problem)
            status, done = Status.OK, last
            for point in range(first + 1 if first > 0 else 0, (last if run == 1 else 0) + 1):
                status = Status.OK
                if point > 0:
                    status = integrator.step(own, t_start + (point - 1)*h, y, h, work)
                else:
                    status = integrator.start(own, t_start, y, h, work)
                if status == Status.OK:
                    status = recorder.record(own, y, point, point*h)
                if status != Status.OK or held.words[0] == 0:
                    done = max(point - 1, 0)
                    break
            if run == 0:
                for i in range(invariant.shape[0]):
                    recorder.baseline[i] = recorder.scratch[i] if invariant[i] else 0.0
        if ends.reduced.shape[0] > 0 and (last == records.points or status != Status.OK or held.words[0] == 0):
            reduce_blocks(recorder, ends.weights, ends.reduced[b])
        ends.status[b] = status
        ends.steps[b] = done
        ends.alive[b] = held.words[0]
        for i in range(held.counters.shape[0]):
            ends.counters[b, i] = held.counters[i]
        copy(y, starts[b])
