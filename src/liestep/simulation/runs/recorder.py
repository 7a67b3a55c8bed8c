"""Samples and running statistics of a run, written inside the compiled time loop."""
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.rows import copy
from liestep.compile.status import Status
from liestep.mechanics.contracts.formulated import Observable

BLOCKS = 100


class Integrals(NamedTuple):
    """Integrals over time of some columns of the observables, by the trapezoidal rule over every step. Two recorders of
    one run share them: that of the accepted steps moves them on, that of the outputs looks ahead from the last step."""

    columns: np.ndarray  # (J,)
    last: np.ndarray     # (3, J) of the last step: its time, the integrand there, and the integral up to it

    def present(self) -> bool:
        return self.columns.shape[0] > 0

    def replace(self, values: np.ndarray, t: float, advance: bool) -> None:
        """Write the integrals up to time t over the integrands in `values`; `advance` ends a step at t."""
        for j in range(self.columns.shape[0]):
            c = self.columns[j]
            integrand = values[c]
            values[c] = self.last[2, j] + 0.5*(t - self.last[0, j])*(self.last[1, j] + integrand)
            if advance:
                self.last[0, j] = t
                self.last[1, j] = integrand
                self.last[2, j] = values[c]


class NoIntegrals(NamedTuple):
    """No column is an integral: a type of its own, because asking at every step takes 2 to 3 % of a fast step."""

    columns: np.ndarray  # (0,)
    last: np.ndarray     # (3, 0)

    def present(self) -> bool:
        return False

    def replace(self, values: np.ndarray, t: float, advance: bool) -> None:
        pass


class Recorder(NamedTuple):
    """Stores the state at every `stride`-th point and accumulates the observables at every `every`-th point.

    A point is a step of a fixed-step run, an output of an adaptive run, or an accepted step. Deviations are
    measured from `baseline` (the initial value of an invariant, zero for all others). Point 0 counts for the mean,
    but belongs to no block."""

    states: np.ndarray       # (samples, m, d)
    series: np.ndarray       # (samples, K) observables at the samples
    scratch: np.ndarray      # (K,)
    baseline: np.ndarray     # (K,)
    total: np.ndarray        # (2, K) sums of |deviation| and of its square
    largest: np.ndarray      # (K,) max of |deviation|
    block_sum: np.ndarray    # (BLOCKS, K) sum of signed deviations
    block_low: np.ndarray    # (BLOCKS, K)
    block_high: np.ndarray   # (BLOCKS, K)
    block_count: np.ndarray  # (BLOCKS,)
    filled: np.ndarray       # (2,) samples written, points counted
    integrals: Integrals | NoIntegrals
    steps: bool              # whether each point is the end of a step
    points: int              # number of the last point, > 0
    stride: int
    every: int

    def record(self, problem: Any, y: np.ndarray, k: int, t: float) -> Status:
        """Observe state y as point k at time t; Status.NOT_FINITE when the first observable (the energy) is not finite.

        Points come in order from 0, so the next one to sample or count follows from how many were: divisions are slow.
        """
        slot = self.filled[0]
        sampled = k == slot*self.stride and slot < self.states.shape[0]
        counted = k == self.filled[1]*self.every
        integrated = self.integrals.present()
        if not (sampled or counted or integrated):
            return Status.OK
        problem.observe(y, self.scratch)
        if not abs(self.scratch[0]) < np.inf:
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

    def count(self, k: int) -> None:  # type: ignore[override]  # of tuple, which no recorder needs
        """Add the observables in `scratch` to the statistics of point k."""
        block = (k - 1)*self.block_sum.shape[0]//self.points
        if block >= self.block_sum.shape[0]:  # accepted steps: their number is not known beforehand
            block = self.block_sum.shape[0] - 1
        for c in range(self.scratch.shape[0]):
            d = self.scratch[c] - self.baseline[c]
            self.total[0, c] += abs(d)
            self.total[1, c] += d*d
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


def new_integrals(observables: Iterable[Observable], *, integrate: bool = True) -> Integrals | NoIntegrals:
    """Integrals at the start of a run. Without `integrate` no column is one, in the type that they would have, so that
    the machine code is the same."""
    found = [column for part in observables if part.integral for column in range(part.columns.start, part.columns.stop)]
    kept = found if integrate else []
    kind = Integrals if found else NoIntegrals
    return kind(np.array(kept, dtype=np.int64), np.zeros((3, len(kept))))


def new_recorder(shape: tuple[int, ...], baseline: np.ndarray, points: int, samples: int, every: int = 1, *,
                 observables: Iterable[Observable] = (), integrals: Integrals | NoIntegrals | None = None,
                 steps: bool = True) -> Recorder:
    """Recorder for points 0..points of a state of shape (m, d); `samples` = 0 keeps statistics only.

    observables: say which columns are integrals. integrals: those of another recorder of the same run. steps: whether
    each point ends a step."""
    width = baseline.size
    return Recorder(
        states=np.full((samples, *shape), np.nan), series=np.full((samples, width), np.nan), scratch=np.zeros(width),
        baseline=baseline, total=np.zeros((2, width)), largest=np.zeros(width), block_sum=np.zeros((BLOCKS, width)),
        block_low=np.full((BLOCKS, width), np.inf), block_high=np.full((BLOCKS, width), -np.inf),
        block_count=np.zeros(BLOCKS, dtype=np.int64), filled=np.zeros(2, dtype=np.int64),
        integrals=new_integrals(observables) if integrals is None else integrals, steps=bool(steps), points=int(points),
        stride=int(points//(samples - 1)) if samples > 1 else int(points + 1), every=int(every))
