"""Carry out a specification: build the components, run the compiled loop, whose recorder keeps samples and running
statistics, collect everything that goes into the file."""
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.cache import CompiledLoop, loop_for
from liestep.compile.counters import counts
from liestep.compile.dispatch import kernel
from liestep.compile.driver import advance, advance_adaptive, new_memory
from liestep.compile.interpreted import FirstLoop, NotWorthIt, forbidden
from liestep.compile.pieces import SLOW, Pieces, TooLong
from liestep.compile.roles import Component, Integrator
from liestep.compile.rows import any_of, copy, if_less, larger
from liestep.compile.sources import some_runs
from liestep.compile.status import Status
from liestep.compile.translation import plugin_errors
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated, Observable
from liestep.mechanics.formulations import formulate
from liestep.simulation.runs.specified import TRACED, RunSpecification

BLOCKS = 100
LEAST_SAMPLES = 8  # stored samples in every block of a run whose drift can be judged


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


@kernel
def finite(y: np.ndarray) -> bool:
    """Whether all numbers of a state are."""
    total = 0.0
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            total += abs(y[i, j])
    return total < np.inf


class Recorder(NamedTuple):
    """Stores the state at every `stride`-th point and accumulates the observables at every `every`-th point. A point is
    a step of a fixed-step run, an output of an adaptive run, or an accepted step. Deviations are measured from
    `baseline` (the initial value of an invariant, zero for all others). Point 0 counts for the mean, but belongs to no
    block."""

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

    def record(self, problem: Component, y: np.ndarray, k: int, t: float) -> Status:
        """Observe state y as point k at time t; Status.NOT_FINITE when the first observable (the energy) is not finite.
        Points come in order from 0, so the next one to sample or count follows from how many were: divisions are
        slow."""
        slot = self.filled[0]
        sampled = k == slot*self.stride and slot < self.states.shape[0]
        counted = k == self.filled[1]*self.every
        integrated = self.integrals.present()
        if not (sampled or counted or integrated):
            return Status.OK
        problem.observe(y, self.scratch)
        # 0: maybe no energy
        if not abs(self.scratch[0]) < np.inf or (any_of(self.scratch[0] == 0.0) and not finite(y)):
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
            self.largest[c] = larger(self.largest[c], abs(d))
            if k > 0:
                self.block_sum[block, c] += d
                self.block_low[block, c] = if_less(d, self.block_low[block, c], d, self.block_low[block, c])
                self.block_high[block, c] = larger(self.block_high[block, c], d)
        if k > 0:
            self.block_count[block] += 1
        self.filled[1] += 1


def new_integrals(observables: Iterable[Observable], *, integrate: bool = True) -> Integrals | NoIntegrals:
    """Integrals at the start of a run. Without `integrate` no column is one, in the type that they would have, so that
    the machine code is the same."""
    found = [column for part in observables if part.integral for column in range(part.columns.start, part.columns.stop)]
    kept = found if integrate else []
    return (Integrals if found else NoIntegrals)(np.array(kept, dtype=np.int64), np.zeros((3, len(kept))))


def new_recorder(shape: tuple[int, ...], baseline: np.ndarray, points: int, samples: int, every: int = 1, *,
                 observables: Iterable[Observable] = (), integrals: Integrals | NoIntegrals | None = None,
                 steps: bool = True, blocks: bool = True) -> Recorder:
    """Recorder for points 0..points of a state of shape (m, d); `samples` = 0 keeps statistics only. baseline: (K,), or
    (members, K) for recorders of as many runs, `members_of`. observables: say which columns are integrals. integrals:
    those of another recorder of the same run. steps: whether each point ends a step. blocks: whether each member has
    its own."""
    *many, width = baseline.shape
    by_block = (*(many if blocks else [1]*len(many)), BLOCKS)
    return Recorder(
        states=np.full((*many, samples, *shape), np.nan), series=np.full((*many, samples, width), np.nan),
        scratch=np.zeros(width), baseline=baseline, total=np.zeros((*many, 2, width)), largest=np.zeros((*many, width)),
        block_sum=np.zeros((*by_block, width)), block_low=np.full((*by_block, width), np.inf),
        block_high=np.full((*by_block, width), -np.inf), block_count=np.zeros(by_block, dtype=np.int64),
        filled=np.zeros((*many, 2), dtype=np.int64),
        integrals=new_integrals(observables) if integrals is None else integrals, steps=bool(steps), points=int(points),
        stride=int(points//(samples - 1)) if samples > 1 else int(points + 1), every=int(every))


STEP_LOG = 100_000  # accepted steps between two returns of the adaptive loop, at most
Progress = Callable[[float], None]  # called with the completed fraction of the run
# sees all nodes so far of a run that samples every step, and their times (None: k h); whether the run may end there
Watch = Callable[[np.ndarray, np.ndarray | None], bool]
WATCHED = 1000  # steps between two looks of it, at least


class RunTooLong(InputError):
    """The steps of a run took longer than its limit."""


@dataclass
class Outcome:
    """One trajectory: sampled rows, observables and statistics, and how it ended."""

    formulated: Formulated
    outputs: Recorder
    accepted: Recorder | None
    status: Status
    time_reached: float
    steps: int
    counters: dict[str, int]
    step_log: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    symplectic_error: float = np.nan  # of one step from the start, see `simulation.tangents.exponents`
    zero: str = ""  # fields without a size, where steps became too small
    growth: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))  # of derivatives, see there

    @property
    def samples(self) -> int:
        return int(self.outputs.filled[0])


def film_comment(run_sha256: str, run_sources: str) -> str:
    """The comment of a film, which names its run by specification and sources."""
    return f"{run_sha256} {run_sources}"


def build(spec: RunSpecification, state: dict[str, np.ndarray] | None = None) -> tuple[Formulated, Integrator]:
    """Formulated problem and integrator component of a specification, optionally from another initial state."""
    facts, declared = spec.sheet, spec.method.on(spec.sheet)
    with np.errstate(all="ignore"):  # of numbers of 1e300, whose squares are not finite: the first step will say so
        formulated = formulate(facts, spec.parameters, state or spec.initial, declared.formulation, spec.options)
    if spec.before and spec.before.rows is not None:
        formulated = replace(formulated, start=np.array(spec.before.rows, dtype=np.float64))
    elif formulated.clock is not None:
        formulated.start[formulated.clock, 0] = spec.t_start
    return formulated, declared.made(formulated, spec.options, spec.tolerance, spec.duration)


def recorders(spec: RunSpecification, formulated: Formulated, baseline: np.ndarray, *, blocks: bool = True
              ) -> tuple[Recorder, Recorder | None]:
    """Of the points of a run, or of several (see `new_recorder`), and of the accepted steps of adaptive ones."""
    new = partial(new_recorder, formulated.start.shape, baseline, observables=formulated.observables, blocks=blocks)
    if spec.steps is not None:
        return new(spec.steps, spec.samples, spec.statistics_every), None
    accepted = new(1, 0)
    return new(spec.outputs - 1, spec.samples, integrals=accepted.integrals, steps=False), accepted


def not_run(spec: RunSpecification) -> Outcome:
    """The outcome of a run whose code cannot be compiled: no sample, no step."""
    formulated, _ = build(spec)
    recorder, _ = recorders(spec, formulated, np.zeros(formulated.width))
    return Outcome(formulated, recorder, None, Status.NOT_COMPILED, 0.0, 0, counts(formulated.problem.counters))


@plugin_errors()
def run_once(spec: RunSpecification, state: dict[str, np.ndarray] | None = None, progress: Progress | None = None,
             limit: float | None = None, watch: Watch | None = None, interpreted: bool = False) -> Outcome:
    """Integrate one trajectory, or as much of it as `watch` wants; a failing step ends it and is recorded, never
    raised. limit: s that its steps may take. interpreted: a run whose loop is not compiled yet may run in plain Python
    as long as that pays (`liestep.compile.interpreted`); the bits are the same. Raises InputError: an error in a
    plugin's code, or RunTooLong, the limit; PluginError when it cannot be compiled; KeyboardInterrupt: Ctrl-C, within a
    step or 0.5 s; its sentence says how far the run had come."""
    formulated, integrator = build(spec, state)
    run = _run_adaptive if spec.steps is None else _run_fixed
    if interpreted or forbidden():
        first = FirstLoop(progress)
        with suppress(NotWorthIt):
            outcome = run(spec, formulated, integrator, first.loop_for, first.progress, limit, watch)
            if outcome.status in (Status.OK, Status.RUNNING) or not first.interpreted:  # RUNNING: `watch` had enough
                return outcome
        first.give_up()
        formulated, integrator = build(spec, state)
    return run(spec, formulated, integrator, loop_for, progress, limit, watch)


def set_baseline(baseline: np.ndarray, columns: np.ndarray, counters: np.ndarray, *tried: Recorder) -> None:
    """Invariants at the start, zero for other observables, from a trial of the run's own loop that ended at point 0:
    a loop of its own for them would have to be compiled. Counters and what recorders have counted return to zero."""
    baseline[:] = np.where(columns, tried[0].scratch, 0.0)
    counters[:] = 0
    for one in tried:
        one.total[:] = one.largest[:] = one.filled[:] = one.integrals.last[:] = 0


def for_loop(formulated: Formulated, integrator: Integrator, steps: float, *loop: Any
             ) -> tuple[Component, Integrator]:
    """Problem and integrator for the time loop, see `simulation.machine_code.straight.for_loop`."""
    if formulated.formulation not in TRACED:
        return formulated.problem, integrator
    with some_runs:
        from liestep.simulation.machine_code import straight

    return straight.for_loop(formulated, integrator, steps, *loop)


@contextmanager
def in_pieces(spec: RunSpecification, loop: Callable, numbers: int, limit: float | None,
               reached: Callable[[], float]) -> Iterator[Pieces]:
    """Pieces of a run; how far it had come is said where it is given up."""
    try:
        with Pieces(numbers if isinstance(loop, CompiledLoop) else SLOW, limit) as pieces:
            yield pieces
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted: {spec.integrator} on {spec.problem} had come to t = {reached():.6g} of"
                                f" {spec.t_end:.6g} s") from None
    except TooLong:
        raise RunTooLong(f"a run takes longer than {limit:.3g} s: it had come to t = {reached():.6g} of"
                         f" {spec.t_end:.6g} s") from None


def _run_fixed(spec: RunSpecification, formulated: Formulated, integrator: Integrator, finds: Callable,
               progress: Progress | None, limit: float | None, watch: Watch | None) -> Outcome:
    assert spec.steps is not None
    assert spec.step is not None
    y, baseline, h = formulated.start.copy(), np.zeros(formulated.width), spec.step
    recorder, _ = recorders(spec, formulated, baseline)
    work = integrator.workspace(formulated.problem, y)
    problem, integrator = for_loop(formulated, integrator, spec.steps, advance, recorder, work)
    begin, gone = clock = spec.grid
    loop = finds(advance, integrator, problem, recorder, work)
    loop(integrator, problem, recorder, y.copy(), h, 0, 0, integrator.workspace(formulated.problem, y), *clock)
    set_baseline(baseline, formulated.invariant_columns, formulated.problem.counters, recorder)
    status, done, look = Status.OK, 0, WATCHED if watch else spec.steps
    with in_pieces(spec, loop, y.size, limit, lambda: begin + (gone + done)*h) as pieces:
        while status == Status.OK and done < spec.steps:
            last = min(done + pieces.steps, look, spec.steps)
            status, done = loop(integrator, problem, recorder, y, h, done, last, work, *clock)
            pieces.ended()
            if watch and (done < last or done in (look, spec.steps)):
                if watch(recorder.states[:done + 1], None):
                    break
                look = done + max(WATCHED, done//2)
            if progress and status == Status.OK:
                progress(done/spec.steps)
    return Outcome(formulated, recorder, None, formulated.ending(Status(status), y), begin + (gone + done)*h, int(done),
                   counts(problem.counters))


def gap_of(spec: RunSpecification, formulated: Formulated) -> float:
    """How far from a stop its two sides are evaluated: more where the time is a number of the state, which drifts."""
    return (2.0**-50 if formulated.clock is None else 2.0**-46)*max(abs(spec.t_start), abs(spec.t_end))


class Legs:
    """An adaptive run from stop to stop, each leg with a start of the method. A leg is evaluated a few roundings inside
    of its ends, on its own side of what jumps there."""

    def __init__(self, spec: RunSpecification, formulated: Formulated):
        self.spec, self.clock, self.gap = spec, formulated.clock, gap_of(spec, formulated)
        self.ends = [spec.duration]  # of this leg, the last one, and of those after it, from the last one
        for stop in spec.stops[::-int(spec.direction)]:
            end = spec.direction*(stop - spec.t_start)
            if 16.0*self.gap < end < self.ends[-1] - 16.0*self.gap:
                self.ends.append(end)

    @property
    def end(self) -> float:
        """Of the leg, for the loop."""
        return self.ends[-1] - (self.gap if len(self.ends) > 1 else 0.0)

    def after(self, status: Status, y: np.ndarray, memory: np.ndarray, last: np.ndarray) -> Status:
        """The status of the run when the loop returned at y, with its `last` time and step; enters the next leg."""
        if status != Status.OK or len(self.ends) == 1:
            return status
        last[0] = stop = self.ends.pop()
        memory[:3] = stop + self.gap, 0.0, 0.0
        if self.clock is not None:
            y[self.clock, 0] = self.spec.t_start + self.spec.direction*float(memory[0])
        return Status.RUNNING


def _run_adaptive(spec: RunSpecification, formulated: Formulated, pair: Integrator, finds: Callable,
                  progress: Progress | None, limit: float | None, watch: Watch | None) -> Outcome:
    y, baseline = formulated.start.copy(), np.zeros(formulated.width)
    outputs, accepted = recorders(spec, formulated, baseline)
    assert accepted is not None
    work, out = pair.workspace(formulated.problem, y), np.zeros_like(y)
    problem, pair = for_loop(formulated, pair, 0, advance_adaptive, outputs, accepted, work)
    memory, log = new_memory(spec.longest), np.zeros((WATCHED if watch else STEP_LOG, 2))
    loop = finds(advance_adaptive, pair, problem, outputs, accepted, work)
    interval, legs = spec.duration/(spec.outputs - 1), Legs(spec, formulated)
    loop(pair, problem, outputs, accepted, y.copy(), out, memory.copy(), log[:0],  # no room for a step
         interval, legs.end, pair.workspace(formulated.problem, y), spec.t_start, spec.direction)
    set_baseline(baseline, formulated.invariant_columns, formulated.problem.counters, outputs, accepted)
    logs, steps, status = [], 0, Status.RUNNING
    with in_pieces(spec, loop, y.size, limit, lambda: spec.t_start + spec.direction*float(memory[0])) as pieces:
        while status == Status.RUNNING:
            room = log[:pieces.steps]  # at most all of it
            if watch:
                accepted = _with_room(accepted, steps + 1 + len(room), y.shape)
            status, entries = loop(pair, problem, outputs, accepted, y, out, memory, room, interval, legs.end,
                                   work, spec.t_start, spec.direction)
            status = legs.after(Status(status), y, memory, log[int(entries) - 1])
            pieces.ended()
            steps += int(entries)
            if spec.log_steps or watch:
                logs.append(log[:entries].copy())
            if progress:
                progress(memory[0]/spec.duration)
            if watch:
                ends = np.concatenate([np.zeros(1), *(part[:, 0] for part in logs)])
                if watch(accepted.states[:steps + 1], spec.t_start + spec.direction*ends):
                    break
    step_log = np.concatenate(logs) if logs else np.zeros((0, 2))
    step_log[:, 0] = spec.t_start + spec.direction*step_log[:, 0]
    return Outcome(formulated, outputs, accepted, formulated.ending(Status(status), y),
                   spec.t_start + spec.direction*float(memory[0]), steps, counts(problem.counters), step_log,
                   zero=_without_size(formulated, y) if status == Status.STEP_TOO_SMALL else "")


def _without_size(formulated: Formulated, y: np.ndarray) -> str:
    """Names of fields, or of single numbers that have sizes of their own, which are zero."""
    names = []
    for name, values in formulated.to_fields(y[None]).items():
        zero = np.ravel(values[0] == 0.0)
        names += [f"{name}[{k}]" for k in np.flatnonzero(zero)] if formulated.apart else [name]*bool(zero.all())
    return ", ".join(names)


def _with_room(recorder: Recorder, points: int, shape: tuple[int, ...]) -> Recorder:
    """The recorder, which keeps every point, with room for so many; at least twice as much if it has less."""
    kept = len(recorder.states)
    if points <= kept:
        return recorder
    states = np.zeros((max(points, 2*kept), *shape))
    states[:kept] = recorder.states
    return recorder._replace(states=states, series=np.zeros((len(states), recorder.scratch.size)), stride=1)


def trajectory(spec: RunSpecification, state: dict[str, np.ndarray] | None = None, progress: Progress | None = None,
               interpreted: bool = False) -> Outcome:
    """One trajectory (see `run_once`); where exponents are asked for, with the growth of derivatives in each of its
    blocks and the symplecticity of its step, NaN for a run that stopped early."""
    outcome = run_once(spec, state, progress, interpreted=interpreted)
    if spec.exponents:
        outcome.growth = np.full((BLOCKS, spec.exponents), np.nan)
        if outcome.status == Status.OK:
            with some_runs:
                from liestep.simulation.tangents.exponents import growth_of, symplectic_error

            initial = spec.initial if state is None else state
            outcome.growth = growth_of(spec, initial, BLOCKS)
            if spec.ensemble is None:
                outcome.symplectic_error = symplectic_error(spec, initial)
    return outcome


def replica_states(spec: RunSpecification) -> list[dict[str, np.ndarray]]:
    """Initial states one unit in the last place apart (signs from a fixed sequence); the first is the original."""
    if spec.replicas == 1:
        return [dict(spec.initial)]
    signs = np.random.Generator(np.random.PCG64(20090101))
    return [dict(spec.initial), *({name: np.nextafter(value, value + signs.choice([-1.0, 1.0], value.shape))
                                   for name, value in spec.initial.items()} for _ in range(spec.replicas - 1))]


def starts_of(spec: RunSpecification, most: int = 1) -> Iterator[dict[str, np.ndarray]]:
    """Initial states of the members of an ensemble, or of its shard: see `Ensemble.states`."""
    fields = formulate(spec.sheet, spec.parameters, spec.initial, "vector_field", {}).fields
    assert spec.ensemble is not None
    return spec.ensemble.states(fields, spec.initial, most)


def spread(outcomes: list[Outcome], name: str) -> np.ndarray:
    """Largest distance (`StateField.distance`, over pairs of replicas) of a state field at each common sample."""
    samples = min(outcome.samples for outcome in outcomes)
    part = next(field for field in outcomes[0].formulated.fields if field.name == name)
    values = [outcome.formulated.to_fields(outcome.outputs.states[:samples])[name] for outcome in outcomes]
    return np.max([part.distance(first, second) for first, second in combinations(values, 2)], axis=0, initial=0.0)


def slope_weights(points: int, every: int, t_end: float) -> tuple[np.ndarray, float]:
    """(BLOCKS,): what means of blocks are multiplied by in the least-squares slope (1/s) of the mean deviations at the
    mean times of their points, weighted by how many these are; and what the sum is divided by, NaN with points in less
    than two blocks. With equal blocks it is the slope of the table drift; with at most one point in each block, that of
    all points."""
    edges = -(-np.arange(BLOCKS + 1)*points//BLOCKS)  # block b holds the points edges[b] + 1 to edges[b + 1]
    first, last = edges[:-1]//every + 1, edges[1:]//every
    counted, weights = last >= first, np.zeros(BLOCKS)
    if np.count_nonzero(counted) < 2:
        return weights, np.nan
    time, weight = (0.5*(first + last)*every*(t_end/points))[counted], (last - first + 1.0)[counted]
    time = time - np.sum(weight*time)/np.sum(weight)
    weights[counted] = weight*time
    return weights, float(np.sum(weight*time*time))


def block_means(recorder: Recorder) -> np.ndarray:
    """Means of the signed deviations over each of the BLOCKS equal parts of the run; NaN where it did not come."""
    count = recorder.block_count[..., None]
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, recorder.block_sum/np.maximum(count, 1), np.nan)
