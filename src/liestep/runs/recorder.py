"""Samples and running statistics of a run, written inside the compiled time loop."""
from typing import Any, NamedTuple

import numpy as np

from liestep.core.rows import copy
from liestep.core.status import Status

BLOCKS = 100


class Recorder(NamedTuple):
    """Stores the state at every `stride`-th point and accumulates the observables at every `every`-th point.

    A point is a step of a fixed-step run, an output of an adaptive run, or an accepted step. Deviations are
    measured from `baseline` (the initial value of an invariant, zero for a residual). Point 0 counts for the mean,
    but belongs to no block.
    """

    states: Any       # (samples, m, 3)
    series: Any       # (samples, K) observables at the samples
    scratch: Any      # (K,)
    baseline: Any     # (K,)
    total: Any        # (K,) sum of |deviation|
    largest: Any      # (K,) max of |deviation|
    block_sum: Any    # (BLOCKS, K) sum of signed deviations
    block_low: Any    # (BLOCKS, K)
    block_high: Any   # (BLOCKS, K)
    block_count: Any  # (BLOCKS,)
    filled: Any       # (2,) samples written, points counted
    points: Any       # number of the last point, > 0
    stride: Any
    every: Any

    def record(self, problem, y, k):
        """Observe state y as point k; Status.NOT_FINITE when the first observable (the energy) is not finite.

        Points come in order from 0, so the next one to sample or count follows from how many were: divisions are slow.
        """
        slot = self.filled[0]
        sampled = k == slot*self.stride and slot < self.states.shape[0]
        counted = k == self.filled[1]*self.every
        if not (sampled or counted):
            return Status.OK
        problem.observe(y, self.scratch)
        if not abs(self.scratch[0]) < np.inf:
            return Status.NOT_FINITE
        if counted:
            self.count(k)
        if sampled:
            copy(y, self.states[slot])
            for c in range(self.scratch.shape[0]):
                self.series[slot, c] = self.scratch[c]
            self.filled[0] = slot + 1
        return Status.OK

    def count(self, k):
        """Add the observables in `scratch` to the statistics of point k."""
        block = (k - 1)*self.block_sum.shape[0]//self.points
        if block >= self.block_sum.shape[0]:  # accepted steps: their number is not known beforehand
            block = self.block_sum.shape[0] - 1
        for c in range(self.scratch.shape[0]):
            d = self.scratch[c] - self.baseline[c]
            self.total[c] += abs(d)
            if abs(d) > self.largest[c]:
                self.largest[c] = abs(d)
            if k > 0:
                self.block_sum[block, c] += d
                if d < self.block_low[block, c]:
                    self.block_low[block, c] = d
                if d > self.block_high[block, c]:
                    self.block_high[block, c] = d
        if k > 0:
            self.block_count[block] += 1
        self.filled[1] += 1


def new_recorder(rows: int, baseline: np.ndarray, points: int, samples: int, every: int = 1) -> Recorder:
    """Recorder for points 0..points of a state with `rows` rows; `samples` = 0 keeps statistics only."""
    width = baseline.size
    return Recorder(
        states=np.full((samples, rows, 3), np.nan), series=np.full((samples, width), np.nan), scratch=np.zeros(width),
        baseline=baseline, total=np.zeros(width), largest=np.zeros(width), block_sum=np.zeros((BLOCKS, width)),
        block_low=np.full((BLOCKS, width), np.inf), block_high=np.full((BLOCKS, width), -np.inf),
        block_count=np.zeros(BLOCKS, dtype=np.int64), filled=np.zeros(2, dtype=np.int64), points=int(points),
        stride=int(points//(samples - 1)) if samples > 1 else int(points + 1), every=int(every))
