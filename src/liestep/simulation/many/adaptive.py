"""The adaptive loop over members that share registers: each lane has its own time and step. It makes of each what
`compile.driver.advance_adaptive` makes of it alone; a lane that this cannot do is struck.

Lanes take a step together. Those that have come to the end keep what they have: the component and its arrays are of the
type that is written where a lane is at work (`liestep.compile.lanes.numbers`)."""
import math
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import kernel, outlined
from liestep.compile.driver import NEARLY
from liestep.compile.inlining import variant
from liestep.compile.lanes.numbers import (
    W,
    as_masked,
    exponent,
    invert,
    lane,
    lanes,
    mantissa,
    not_struck,
    select,
    some,
    spread,
    strike,
    to_mask,
    write_only,
    written,
)
from liestep.compile.roles import Adaptive, Component, Work
from liestep.compile.rows import copy
from liestep.compile.status import Status
from liestep.integrators import sizes, step_control, taylor
from liestep.integrators.taylor import Taylor
from liestep.simulation.many.loops import Ends, Held, enter, row_of
from liestep.simulation.runs.execution import Recorder


class AdaptiveHeld(NamedTuple):
    """As `loops.Held`."""

    numbers: np.ndarray
    rest: np.ndarray
    counters: np.ndarray
    words: np.ndarray
    all: int
    y: np.ndarray
    out: np.ndarray     # (m, d)
    memory: np.ndarray  # (MEMORY,)
    left: np.ndarray    # (1,) steps of a block that may be made


TIME, STEP, REJECTIONS, OUTPUT, STEPS, MEMORY = range(6)  # places in the memory of the loop, and how many they are


variant(step_control.power, lambda kinds: lanes in kinds, lambda x, p: select(
    to_mask(spread(x) > 0.0) & to_mask(spread(x) < np.inf), math.pow(x, p), spread(np.nan)))


def _first_slope(problem: Any, t: Any, y: np.ndarray, k: np.ndarray, current: np.ndarray) -> Any:
    """Of the lanes that have none."""
    every, there = written(), to_mask(True)
    lacking = every & (current[0] == 0.0)
    if some(lacking):
        write_only(lacking)
        there = to_mask(sizes.generator(problem, t, y, k))
        write_only(lacking & there)
        current[0] = 1.0
        write_only(every)
    return there | invert(lacking)


variant(sizes.first_slope, lambda kinds: getattr(kinds[2], "dtype", None) == lanes, _first_slope)


@kernel
def rough_log(x: Any) -> Any:
    """Logarithms of numbers that are neither tiny nor infinite, with an error below 1e-10."""
    m = mantissa(x)
    t = (m - 1.0)/(m + 1.0)
    u = t*t
    return exponent(x)*math.log(2.0) + 2.0*t*(1.0 + u*(1/3 + u*(1/5 + u*(1/7 + u*(1/9 + u/11)))))


every_rate = kernel(outlined(FunctionType(Taylor.by_rates.__code__, vars(taylor), "every_rate")))


def by_rates(self: Any, c: np.ndarray) -> Any:
    """As `Taylor.by_rates`, where a rough logarithm of each number says of which one the right one is asked: those of
    libm take half the time of a step. Where that does not decide, of zeros for example, all are asked."""
    first = c.shape[0] - 4*self.group_count
    chosen, divided, power = spread(np.inf), spread(1.0), spread(1.0)  # exponent, its number and power
    sure = to_mask(True)
    for g in range(first, first + self.group_count):
        state, rate = max(c[g], self.sizes[g - first]), self.share*c[g + self.group_count]
        for k in range(max(2, self.order - 1), self.order + 1):
            number = c[g + (k - self.order + 3)*self.group_count]
            own, other = state/number, rate/number
            sure = sure & (own > SMALL) & (other > SMALL) & (own < LARGE) & (other < LARGE)
            one, two = rough_log(own)/k, rough_log(other)/(k - 1)
            sure = sure & (abs(one - two) > NEAR)
            rough, value, root = select(two > one, two, one), select(two > one, other, own), select(
                two > one, spread(k - 1), spread(k))
            sure = sure & (abs(rough - chosen) > NEAR)
            less = rough < chosen
            chosen, divided, power = select(less, rough, chosen), select(less, value, divided), select(
                less, root, power)
    if some(written() & invert(sure)):
        return every_rate(self, c)
    return self.share*math.exp(math.log(divided)/power)


SMALL, LARGE, NEAR = 1e-250, 1e250, 1e-8
variant(Taylor.by_rates, lambda kinds: getattr(kinds[1], "dtype", None) == lanes, by_rates)


@kernel
def least(which: Any, values: Any) -> float:
    """The least number among the lanes of a mask."""
    smallest, kept = np.inf, select(which, values, spread(np.inf))
    for i in range(W):
        smallest = min(smallest, lane(kept, i))
    return smallest


@kernel
def record_outputs(which: Any, problem: Component, outputs: Recorder, y: np.ndarray, t: Any,
                   memory: np.ndarray) -> None:
    """The next output of the lanes of a mask, those of the same number together."""
    while some(which):
        k = int(least(which, memory[OUTPUT]))
        same = which & (memory[OUTPUT] == k)
        write_only(same)
        outputs.filled[0] = (k + outputs.stride - 1)//outputs.stride
        outputs.filled[1] = (k + outputs.every - 1)//outputs.every
        if outputs.record(problem, y, k, t) != Status.OK:
            strike(same)
        memory[OUTPUT] = spread(k + 1.0)
        which = which & invert(same)


@kernel
def begin(pair: Adaptive, problem: Component, outputs: Recorder, accepted: Recorder, held: AdaptiveHeld,
          invariant: np.ndarray, t_end: float, work: Work, t_start: float) -> None:
    """A block is at its start, of which nothing is known yet."""
    problem.observe(held.y, outputs.scratch)
    if outputs.integrals.present():
        outputs.integrals.replace(outputs.scratch, 0.0, False)
    for i in range(invariant.shape[0]):
        base = outputs.scratch[i] if invariant[i] else spread(0.0)
        outputs.baseline[i] = base
        accepted.baseline[i] = base
    for i in range(held.counters.shape[0]):
        held.counters[i] = 0
    for i in range(held.memory.shape[0]):
        held.memory[i] = 0.0
    held.memory[STEP] = spread(pair.start(problem, t_start, held.y, t_end, work))
    if outputs.points > 0:  # no outputs are asked for where only ends are: steps say what is not finite
        record_outputs(written(), problem, outputs, held.y, spread(0.0), held.memory)
    accepted.filled[1] = 0
    if accepted.record(problem, held.y, 0, 0.0) != Status.OK:
        strike(written())


def advance_adaptive_members(pair: Adaptive, problem: Component, work: Work, outputs: Recorder, accepted: Recorder,
                             held: AdaptiveHeld, ends: Ends, starts: np.ndarray, numbers: np.ndarray, rest: np.ndarray,
                             invariant: np.ndarray, interval: float, on: bool, start: int, end: int, t_start: float,
                             t_end: float, sign: float, longest: float) -> int:
    """Steps of the blocks from `start`, which goes on if it is `on`, to before `end`, as many as are left; other
    arguments as those of `advance_adaptive` and `loops.advance_members`. Returns the block that is not at its end."""
    for b in range(start, end):
        seen, steps = as_masked(row_of(outputs, b)), as_masked(row_of(accepted, b))
        if not (on and b == start):
            enter(Held(held.numbers, held.rest, held.counters, held.words, held.all, held.y), b, starts,
                  numbers, rest, outputs.integrals.last)
            begin(as_masked(pair), as_masked(problem), seen, steps, as_masked(held), invariant, t_end, as_masked(work),
                  t_start)
        if step_lanes(as_masked(pair), as_masked(problem), seen, steps, as_masked(held), interval, as_masked(work),
                      t_start, t_end, sign, longest) == Status.RUNNING:
            return b
        held.words[1] = held.all
        ends.alive[b] = held.words[0]
        for i in range(held.counters.shape[0]):
            ends.counters[b, i] = held.counters[i]
        copy(held.y, starts[b])
    return end


@kernel
def step_lanes(pair: Adaptive, problem: Component, outputs: Recorder, accepted: Recorder, held: AdaptiveHeld,
               interval: float, work: Work, t_start: float, t_end: float, sign: float, longest: float) -> Status:
    """Steps of a block; RUNNING where none is left and a lane has not come to the end."""
    memory, y = held.memory, held.y
    while held.left[0] > 0:
        held.left[0] -= 1
        t = memory[TIME]
        going = (t < t_end) & not_struck()
        if not some(going):
            return Status.OK
        write_only(going)
        remaining, h = t_end - t, memory[STEP]
        h = select(h > longest, spread(longest), h)
        final = to_mask(pair.control.reaches(h, remaining)) & (remaining <= longest)
        h = select(final, remaining, h)
        strike(going & invert(t + 0.0625*h > t))
        status, error = pair.attempt(problem, t_start + sign*t, y, sign*h, work)
        good = going & to_mask(pair.control.accepts(error)) & to_mask(status == Status.OK)
        time = select(final, spread(t_end), t + h)
        write_only(good & not_struck())
        problem.counters[Counter.STEPS_ACCEPTED] += 1
        memory[STEPS] += 1.0
        due = written() & (memory[OUTPUT] <= outputs.points) & (memory[OUTPUT]*interval < time)
        while some(due):
            write_only(due)
            at = memory[OUTPUT]*interval
            pair.interpolate(problem, t_start + sign*t, y, sign*h, (at - t)/h, held.out, work)
            record_outputs(due, problem, outputs, held.out, sign*at, memory)
            due = good & not_struck() & (memory[OUTPUT] <= outputs.points) & (memory[OUTPUT]*interval < time)
        for part in range(2):  # behind the last step no next one is looked for
            write_only(good & not_struck() & (final if part == 0 else invert(final)))
            if some(written()):
                pair.accept(problem, y, work)
        write_only(good & not_struck())
        at = memory[OUTPUT]*interval
        record_outputs(written() & (memory[OUTPUT] <= outputs.points) & ((at == time) | (final & (at <= time*NEARLY))),
                       problem, outputs, y, sign*time, memory)
        for k in range(1, 3):  # the first step of a lane is counted in another block than those after it
            write_only(good & not_struck() & (memory[STEPS] == 1.0 if k == 1 else memory[STEPS] != 1.0))
            accepted.filled[1] = k
            if some(written()) and accepted.record(problem, y, k, sign*time) != Status.OK:
                strike(written())
        write_only(good)
        memory[STEP] = spread(pair.control.after_success(h, error, memory[REJECTIONS]))
        memory[TIME] = time
        memory[REJECTIONS] = 0.0
        bad = going & invert(good)
        if some(bad):
            write_only(bad)
            problem.counters[Counter.STEPS_REJECTED] += 1
            pair.rejected(h)
            memory[STEP] = spread(pair.control.after_failure(h, error, memory[REJECTIONS]))
            memory[REJECTIONS] += 1.0
    return Status.RUNNING
