"""Time loops over many members, which stand in blocks: a block is one member, or those that share registers
(`liestep.compile.lanes.numbers`). They make what the loops of `compile.driver` make of each alone."""
from typing import NamedTuple

import numpy as np

from liestep.compile.roles import Component, Stepper, Work
from liestep.compile.rows import copy
from liestep.compile.status import Status
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


def advance_members(integrator: Stepper, problem: Component, work: Work, records: Recorder, held: Held, ends: Ends,
                    starts: np.ndarray, numbers: np.ndarray, rest: np.ndarray, invariant: np.ndarray, h: float,
                    first: int, last: int, begin: int, end: int, t_start: float) -> None:
    """Steps from number `first` to `last` of the blocks from `begin` to before `end`: one alone where it is not the
    whole run. starts: (blocks, m, d). numbers, rest: of each block, or of all, what `held` is at the start. invariant:
    which observables are."""
    y = held.y
    for b in range(begin, end):
        r, c = min(b, records.states.shape[0] - 1), min(b, records.block_sum.shape[0] - 1)
        own = min(b, numbers.shape[0] - 1)
        recorder = Recorder(
            records.states[r], records.series[r], records.scratch, records.baseline[r], records.total[r],
            records.largest[r], records.block_sum[c], records.block_low[c], records.block_high[c],
            records.block_count[c], records.filled[r], records.integrals, records.steps, records.points,
            records.stride, records.every)
        for run in range(1 if first > 0 else 0, 2):  # the first one is a trial at the start
            if first == 0:
                copy(starts[b], y)
                for i in range(numbers.shape[1]):
                    held.numbers[i] = numbers[own, i]
                for i in range(rest.shape[0]):
                    held.rest[i] = rest[i]
                for i in range(held.counters.shape[0]):
                    held.counters[i] = 0
                held.words[0] = held.all
                held.words[1] = held.all
                for i in range(invariant.shape[0]):  # forget the trial
                    recorder.total[0, i] = recorder.total[1, i] = recorder.largest[i] = recorder.scratch[i] = 0.0
                for i in range(recorder.integrals.last.shape[1]):
                    recorder.integrals.last[0, i] = recorder.integrals.last[1, i] = 0.0
                    recorder.integrals.last[2, i] = 0.0
                recorder.filled[0] = recorder.filled[1] = 0
            status, done = Status.OK, last
            for point in range(first + 1 if first > 0 else 0, (last if run == 1 else 0) + 1):
                status = Status.OK
                if point > 0:
                    status = integrator.step(problem, t_start + (point - 1)*h, y, h, work)
                else:
                    status = integrator.start(problem, t_start, y, h, work)
                if status == Status.OK:
                    status = recorder.record(problem, y, point, point*h)
                if status != Status.OK or held.words[0] == 0:
                    done = max(point - 1, 0)
                    break
            if run == 0:
                for i in range(invariant.shape[0]):
                    recorder.baseline[i] = recorder.scratch[i] if invariant[i] else 0.0
        ends.status[b] = status
        ends.steps[b] = done
        ends.alive[b] = held.words[0]
        for i in range(held.counters.shape[0]):
            ends.counters[b, i] = held.counters[i]
        copy(y, starts[b])
