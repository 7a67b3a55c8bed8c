"""Time loops over many members, which stand in blocks: a block is one member, or those that share registers
(`liestep.compile.lanes.numbers`). They make what the loops of `compile.driver` make of each alone."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.lanes.choices import any_of
from liestep.compile.rows import copy, if_less, larger
from liestep.compile.status import Status
from liestep.simulation.runs.execution import Recorder, finite


@borrows(Recorder)
class BlockRecorder(NamedTuple):
    """The recorder of a block, as `Recorder`, whose members choose without branches."""

    states: np.ndarray
    series: np.ndarray
    scratch: np.ndarray
    baseline: np.ndarray
    total: np.ndarray
    largest: np.ndarray
    block_sum: np.ndarray
    block_low: np.ndarray
    block_high: np.ndarray
    block_count: np.ndarray
    filled: np.ndarray
    integrals: Any
    steps: bool
    points: int
    stride: int
    every: int

    def record(self, problem: Any, y: np.ndarray, k: int, t: float) -> Status:
        """As that of `Recorder`."""
        slot = self.filled[0]
        sampled = k == slot*self.stride and slot < self.states.shape[0]
        counted = k == self.filled[1]*self.every
        integrated = self.integrals.present()
        if not (sampled or counted or integrated):
            return Status.OK
        problem.observe(y, self.scratch)
        if not abs(self.scratch[0]) < np.inf:
            return Status.NOT_FINITE
        if any_of(self.scratch[0] == 0.0) and not finite(y):
            return Status.NOT_FINITE
        if integrated:
            self.integrals.replace(self.scratch, t, self.steps)
        if counted:
            self.count(k)
        if sampled:
            copy(y, self.states[slot])
            for c in range(self.scratch.shape[0]):
                self.series[slot, c] = self.scratch[c]
            self.filled[0] = slot + 1
        return Status.OK

    def count(self, k: int) -> None:  # type: ignore[override]
        """As that of `Recorder`."""
        block = (k - 1)*self.block_sum.shape[0]//self.points
        if block >= self.block_sum.shape[0]:
            block = self.block_sum.shape[0] - 1
        for c in range(self.scratch.shape[0]):
            d = self.scratch[c] - self.baseline[c]
            self.total[0, c] += abs(d)
            self.total[1, c] += d*d
            self.largest[c] = larger(self.largest[c], abs(d))
            if k > 0:
                self.block_sum[block, c] += d
                self.block_low[block, c] = if_less(d, self.block_low[block, c], d, self.block_low[block, c])
                self.block_high[block, c] = if_less(self.block_high[block, c], d, d, self.block_high[block, c])
        if k > 0:
            self.block_count[block] += 1
        self.filled[1] += 1

    def begin(self) -> None:
        """Forget the trial at the start."""
        for c in range(self.scratch.shape[0]):
            self.total[0, c] = 0.0
            self.total[1, c] = 0.0
            self.largest[c] = 0.0
            self.scratch[c] = 0.0
        for j in range(self.integrals.last.shape[1]):
            for k in range(3):
                self.integrals.last[k, j] = 0.0
        self.filled[0] = 0
        self.filled[1] = 0


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


def advance_members(integrator: Any, problem: Any, work: Any, records: BlockRecorder, held: Held, ends: Ends,
                    starts: np.ndarray, numbers: np.ndarray, rest: np.ndarray, invariant: np.ndarray, h: float,
                    first: int, last: int, begin: int, end: int, t_start: float) -> None:
    """Steps from number `first` to `last` of the blocks from `begin` to before `end`: one alone where it is not the
    whole run. starts: (blocks, m, d). numbers, rest: of each block, or of all, what `held` is at the start. invariant:
    which observables are."""
    y = held.y
    for b in range(begin, end):
        c, own = min(b, records.block_sum.shape[0] - 1), min(b, numbers.shape[0] - 1)
        recorder = BlockRecorder(
            records.states[b], records.series[b], records.scratch, records.baseline[b], records.total[b],
            records.largest[b], records.block_sum[c], records.block_low[c], records.block_high[c],
            records.block_count[c], records.filled[b], records.integrals, records.steps, records.points,
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
                recorder.begin()
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
