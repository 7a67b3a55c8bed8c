"""Trajectories of one system from many starts by `taylor`, several in lockstep: each operation of a jet is one
instruction for all lanes. Every lane has its own time and step, and takes the next start when it has come to its end.

All lanes make the operations of a single run, so that the results have the same bits for any number of lanes and
threads. Time loop, recorder and projection are those of single runs.
"""
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from liestep.contracts.formulated import Formulated
from liestep.core.address import call_address
from liestep.core.cache import loop_for
from liestep.core.counters import Counter, counts
from liestep.core.dispatch import kernel
from liestep.core.driver import advance_adaptive
from liestep.core.processor import has_wide_registers
from liestep.core.status import Status
from liestep.core.straight import jet_code, loaded
from liestep.core.symbols import Untraceable
from liestep.core.translation import plugin_errors
from liestep.errors import InputError
from liestep.formulations.straight import StraightField, digest_of, straight_field
from liestep.integrators._jets import LaneJet
from liestep.integrators.step_control import Ahead
from liestep.integrators.taylor import Taylor, TaylorWork, field_expressions
from liestep.runs.execution import Outcome, build, run_once
from liestep.runs.recorder import Integrals, Recorder, new_recorder
from liestep.runs.specification import RunSpecification

MOST_TOGETHER = 64      # trajectories of one call of the loop: their recorders are in memory at the same time
MOST_NUMBERS = 8_000_000  # float64 in them
one_step = kernel(advance_adaptive)


class Lanes(NamedTuple):
    """Machine code of the lanes, and their numbers side by side."""

    jet: int
    several: int              # sums of all lanes
    polynomial: int           # sum of one
    table: np.ndarray         # times of the lanes, then the constants of the system
    y: np.ndarray             # (m d, lanes)
    coefficients: np.ndarray  # ((order + 1) m d + 3, lanes)
    h: np.ndarray             # (lanes,)
    sums: np.ndarray          # (m d, lanes)
    member: np.ndarray        # (lanes,) trajectory of each, -1 for none
    ready: np.ndarray         # (lanes,)
    gathered: np.ndarray      # (lanes,)
    c: np.ndarray             # (lanes, (order + 1) m d + 3)
    new: np.ndarray           # (lanes, m, d)
    step: np.ndarray          # (1,)
    out: np.ndarray           # (m, d)
    log: np.ndarray           # (1, 2) so that the time loop returns after each step


class Members(NamedTuple):
    """Trajectories, of each what `advance_adaptive` needs; the first dimension is theirs."""

    y: np.ndarray          # (M, m, d)
    memory: np.ndarray     # (M, 4)
    meter: np.ndarray      # (M, counters)
    when: np.ndarray       # (M, 2)
    next_step: np.ndarray  # (M, 2)
    steps: np.ndarray      # (M,)
    status: np.ndarray     # (M,)
    taken: np.ndarray      # (1,) how many have a lane, or had one
    kept: np.ndarray       # (K,) 1 for the columns of invariants


@kernel
def load(problem: Any, outputs: Any, lanes: Any, members: Any) -> int:
    """Give free lanes the next trajectories, and show all lanes their states and times; the number of lanes in use."""
    alive = 0
    for lane in range(lanes.member.shape[0]):
        if lanes.member[lane] < 0 and members.taken[0] < members.y.shape[0]:
            i = members.taken[0]
            lanes.member[lane] = i
            members.taken[0] = i + 1
            field = StraightField(problem.field, problem.projection, problem.observables, problem.stages,
                                  members.meter[i])
            field.observe(members.y[i], outputs.baseline[i])
            for k in range(members.kept.shape[0]):
                if members.kept[k] == 0:
                    outputs.baseline[i, k] = 0.0
            for k in range(members.meter.shape[1]):
                members.meter[i, k] = 0
        i = lanes.member[lane]
        if i >= 0:
            alive += 1
            lanes.table[lane] = members.when[i, 0]
            y = members.y[i]
            for a in range(y.shape[0]):
                for b in range(y.shape[1]):
                    lanes.y[a*y.shape[1] + b, lane] = y[a, b]
    return alive


@kernel
def expand(pair: Any, lanes: Any, members: Any, t_end: float) -> None:
    """Coefficients at the states of all lanes, their next steps, and the sums after these."""
    there = call_address(lanes.jet, lanes.y, lanes.table, lanes.coefficients)
    for lane in range(lanes.member.shape[0]):
        i = lanes.member[lane]
        lanes.ready[lane] = (there >> lane) & 1
        lanes.gathered[lane] = 0
        if i >= 0:
            jet = LaneJet(lane, lanes.ready, lanes.h, lanes.sums, lanes.coefficients, lanes.gathered, lanes.polynomial,
                          lanes.step)
            work = TaylorWork(jet, lanes.c[lane], lanes.new[lane], members.when[i])
            own = Taylor(pair.tolerance, pair.order, pair.share, Ahead(members.next_step[i]))
            own.look(work, jet.evaluate(0.0, members.y[i], work.c))
            lanes.h[lane] = min(members.next_step[i, 0], t_end - members.memory[i, 0])
            if members.memory[i, 3] > 0.0:  # only the start of a trajectory looks again
                members.memory[i, 1] = members.next_step[i, 0]
                lanes.ready[lane] = 0
    call_address(lanes.several, lanes.coefficients, lanes.h, lanes.sums)


def advance_lanes(pair: Any, problem: Any, outputs: Any, accepted: Any, lanes: Any, members: Any, interval: float,
                  t_end: float) -> None:
    """All trajectories to their ends; recorders have the trajectories as their first dimension."""
    o, a = outputs, accepted
    while load(problem, outputs, lanes, members) > 0:
        expand(pair, lanes, members, t_end)
        for lane in range(lanes.member.shape[0]):
            i = lanes.member[lane]
            if i < 0:
                continue
            jet = LaneJet(lane, lanes.ready, lanes.h, lanes.sums, lanes.coefficients, lanes.gathered, lanes.polynomial,
                          lanes.step)
            sampled = Recorder(
                o.states[i], o.series[i], o.scratch[i], o.baseline[i], o.total[i], o.largest[i], o.block_sum[i],
                o.block_low[i], o.block_high[i], o.block_count[i], o.filled[i],
                Integrals(o.integrals.columns, o.integrals.last[i]), o.steps, o.points, o.stride, o.every)
            counted = Recorder(
                a.states[i], a.series[i], a.scratch[i], a.baseline[i], a.total[i], a.largest[i], a.block_sum[i],
                a.block_low[i], a.block_high[i], a.block_count[i], a.filled[i],
                Integrals(a.integrals.columns, a.integrals.last[i]), a.steps, a.points, a.stride, a.every)
            status, made = one_step(
                Taylor(pair.tolerance, pair.order, pair.share, Ahead(members.next_step[i])),
                StraightField(problem.field, problem.projection, problem.observables, problem.stages, members.meter[i]),
                sampled, counted, members.y[i], lanes.out, members.memory[i], lanes.log, interval, t_end,
                TaylorWork(jet, lanes.c[lane], lanes.new[lane], members.when[i]))
            members.steps[i] += made
            if status != Status.RUNNING:
                members.status[i] = status.value
                lanes.member[lane] = -1


def outcomes(spec: RunSpecification, states: Sequence[Mapping[str, np.ndarray]], lanes: int | None = None,
             threads: int = 1) -> Iterator[Callable[[], Outcome]]:
    """What gives the outcome of each start, in their order: in lockstep where that can be, with so many lanes in each
    of the threads, else a single run (see `run_once` for what it raises)."""
    code = _code(spec, states[0], lanes or (8 if has_wide_registers() else 4)) if len(states) > 1 else None
    if code is None:
        yield from (partial(run_once, spec, dict(state)) for state in states)
        return
    together = max(1, min(MOST_TOGETHER, -(-len(states)//threads), MOST_NUMBERS//(code.size*spec.samples)))
    parts = [states[first:first + together] for first in range(0, len(states), together)]
    with ThreadPoolExecutor(threads) as pool:
        for at in range(0, len(parts), threads):  # not all at once: their recorders would not fit the memory
            for found in pool.map(code.run, parts[at:at + threads]):
                yield from found


class LaneCode:
    """Machine code of the lanes for the runs of a specification."""

    def __init__(self, spec: RunSpecification, formulated: Formulated, pair: Taylor, lanes: int):
        """Raises Untraceable where there is none."""
        self.spec, self.formulated, self.pair, self.lanes = spec, formulated, pair, lanes
        self.digest = digest_of(formulated.problem)
        self.problem = straight_field(formulated.problem, formulated.start, formulated.width, pair)
        found = field_expressions(formulated.problem, formulated.start.shape)
        self.code = jet_code(found, pair.order, lanes, formulated.start.shape[1])
        self.addresses = loaded(self.code.text).addresses
        self.polynomial = loaded(jet_code(found, pair.order, width=formulated.start.shape[1]).text).addresses["sum"]
        self.size = formulated.start.size + formulated.width
        self._lockstep([])  # compiled before threads ask for it

    def run(self, states: Sequence[Mapping[str, np.ndarray]]) -> list[Callable[[], Outcome]]:
        """Starts that cannot be built, and those whose equations have other numbers than the first, run by
        themselves."""
        built = {k: alike for k, state in enumerate(states) if (alike := self._alike(state)) is not None}
        found = dict(zip(built, self._lockstep(list(built.values())), strict=True))
        return [partial(found.__getitem__, k) if k in found else partial(run_once, self.spec, dict(state))
                for k, state in enumerate(states)]

    def _alike(self, state: Mapping[str, np.ndarray]) -> Formulated | None:
        try:
            with plugin_errors():
                formulated, _ = build(self.spec, dict(state))
        except InputError:
            return None
        return formulated if digest_of(formulated.problem) == self.digest else None

    def arrays(self, built: Sequence[Formulated]) -> tuple[Any, ...]:
        """The arguments of `advance_lanes` for these starts."""
        spec, first, count = self.spec, self.formulated, len(built)
        seen, shape = first.observables, first.start.shape
        kept = np.zeros(first.width, dtype=np.int64)
        for part in seen:
            kept[part.columns] = part.kind == "invariant" and not part.integral
        baseline = np.zeros((count, first.width))
        accepted = _repeated(new_recorder(shape, kept.astype(float), 1, 0, observables=seen), baseline)
        outputs = _repeated(new_recorder(shape, kept.astype(float), spec.outputs - 1, spec.samples, observables=seen,
                                         steps=False), baseline)._replace(integrals=accepted.integrals)
        members = Members(np.array([one.start for one in built]).reshape(count, *shape), np.zeros((count, 4)),
                          np.zeros((count, len(Counter)), dtype=np.int64), np.zeros((count, 2)), np.zeros((count, 2)),
                          np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64),
                          np.zeros(1, dtype=np.int64), kept)
        return (self.pair, self.problem, outputs, accepted, self._lanes(shape), members,
                spec.t_end/(spec.outputs - 1), spec.t_end)

    def _lockstep(self, built: Sequence[Formulated]) -> list[Outcome]:
        given = self.arrays(built)
        _, _, outputs, accepted, _, members, _, _ = given
        loop_for(advance_lanes, *given[:-2])(*given)
        return [Outcome(one, _of(outputs, i), _of(accepted, i), Status(int(members.status[i])),
                        float(members.memory[i, 0]), int(members.steps[i]), counts(members.meter[i]))
                for i, one in enumerate(built)]

    def _lanes(self, shape: tuple[int, ...]) -> Lanes:
        number, size = self.lanes, int(np.prod(shape))
        rows = (self.pair.order + 1)*size + 3
        return Lanes(self.addresses["jet"], self.addresses["sum"], self.polynomial, self.code.constants.copy(),
                     np.ones((size, number)), np.zeros((rows, number)), np.zeros(number), np.zeros((size, number)),
                     np.full(number, -1), np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64),
                     np.zeros((number, rows)), np.zeros((number, *shape)), np.zeros(1), np.zeros(shape),
                     np.zeros((1, 2)))


def _code(spec: RunSpecification, state: Mapping[str, np.ndarray], lanes: int) -> LaneCode | None:
    """Machine code of the lanes; None for runs that have none."""
    if spec.steps is not None or spec.exponents or spec.log_steps:
        return None
    try:
        with plugin_errors():
            formulated, pair = build(spec, dict(state))
            return LaneCode(spec, formulated, pair, lanes)
    except (InputError, Untraceable):
        return None


def _repeated(recorder: Recorder, baseline: np.ndarray) -> Recorder:
    """Recorders of several trajectories in one: each array but the baselines and the columns is there for each."""
    def each(item: np.ndarray) -> np.ndarray:
        return np.repeat(item[None], len(baseline), axis=0)

    own = _arrays(recorder, each)
    integrals = recorder.integrals._replace(last=each(recorder.integrals.last))
    return recorder._replace(**own | {"baseline": baseline, "integrals": integrals})


def _arrays(recorder: Recorder, change: Callable[[np.ndarray], np.ndarray]) -> dict[str, Any]:
    return {name: change(value) for name, value in recorder._asdict().items() if isinstance(value, np.ndarray)}


def _of(recorder: Recorder, i: int) -> Recorder:
    """The recorder of one trajectory."""
    own = _arrays(recorder, lambda item: item[i])
    return recorder._replace(**own | {"integrals": recorder.integrals._replace(last=recorder.integrals.last[i])})
