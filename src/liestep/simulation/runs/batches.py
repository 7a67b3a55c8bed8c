"""Runs of components that the same machine code takes, as arrays with a row for each: members of an ensemble, cells of
a map. What does not depend on start and parameters is made once, and each run finds it as a run alone would."""
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count, repeat
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.cache import code_mark, loop_for, prepare
from liestep.compile.counters import NAMES
from liestep.compile.driver import advance_adaptive, new_memory
from liestep.compile.pieces import Pieces
from liestep.compile.sources import black_box
from liestep.compile.status import Status
from liestep.compile.translation import plugin_errors
from liestep.errors import InputError, PluginError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.many.blocks import adaptive, fixed
from liestep.simulation.runs.batch import Batch, changed
from liestep.simulation.runs.execution import (
    STEP_LOG,
    Legs,
    Recorder,
    build,
    for_loop,
    in_pieces,
    new_integrals,
    recorders,
    set_baseline,
)
from liestep.simulation.runs.specified import RunSpecification

FEW = 8  # components that are held at a time


def members_of(recorders: Recorder) -> Iterator[Recorder]:
    """`member` of one after the other."""
    n = len(recorders.baseline)
    return map(Recorder._make, zip(*(
        repeat(value) if name == "scratch" or not isinstance(value, np.ndarray)
        else value if len(value) == n else repeat(value[0])
        for name, value in zip(Recorder._fields, recorders, strict=True)), strict=False))


class Part(NamedTuple):
    """A component before its first step, as time loops take it; the workspace is that of the problem itself."""

    formulated: Formulated
    problem: Any
    integrator: Any
    y: np.ndarray
    work: Any

    @classmethod
    def of(cls, formulated: Formulated, integrator: Any, steps: int | None) -> "Part":
        problem, taken = formulated.problem, integrator
        if steps is None:
            problem, taken = for_loop(formulated, integrator, 0, many=True)
        y = formulated.start.copy()
        return cls(formulated, problem, taken, y, taken.workspace(formulated.problem, y.copy()))

    @property
    def kind(self) -> tuple[Any, ...]:
        """The same for parts that one machine code takes and whose rows are read alike."""
        made = self.formulated
        return self.y.shape, code_mark(self[1:]), made.fields, made.observables, made.notes


class Rows:
    """Runs of parts that are alike, each into a row of a batch with room for `n`; those of adaptive methods run a few
    at a time, and only what reads them is kept. blocks: keep the blocks of each. error: why they cannot be run."""

    def __init__(self, spec: RunSpecification, n: int, blocks: bool, error: Exception | None = None,
                 fewest: int | None = None):
        self.spec, self.n, self.blocks, self.error, self.fewest = spec, n, blocks, error, fewest
        self.kept: dict[int, tuple[float, Callable[..., dict[str, np.ndarray]]]] = {}  # of runs by their numbers
        self.waiting: list[Part] = []
        self.made: Batch | None = None

    def add(self, number: int, part: Part) -> None:
        """Run a part, now or later; what is wrong says `ended`."""
        self.kept[number] = part.formulated.momentum_scale, part.formulated.to_fields
        self.waiting.append(part)
        if len(self.waiting) == FEW and self.spec.steps is None and not self.error:
            try:
                self.all()
            except (InputError, PluginError) as error:
                self.error = error

    def ended(self) -> Batch:
        """All that were added. Raises InputError, PluginError: one of them cannot be run."""
        if self.error:
            raise self.error
        if self.spec.steps is None:
            made = self.all()
        else:
            made = fixed(self.spec, [(part.formulated, part.integrator) for part in self.waiting],
                         np.array([part.y for part in self.waiting]), blocks=self.blocks, fewest=self.fewest)
        n, (scales, each) = len(self.kept), zip(*self.kept.values(), strict=True)
        rows = partial(changed, change=lambda values: values[:n])
        own: Any = {name: value[:n] for name, value in vars(made).items() if isinstance(value, np.ndarray)}
        made = replace(made, **own, scale=scales.__getitem__, outputs=rows(made.outputs),
                       accepted=made.accepted and rows(made.accepted))

        def to_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
            found = [read(own) for read, own in zip(each, rows.reshape(n, -1, *rows.shape[1:]), strict=True)]
            return {name: np.concatenate([fields[name] for fields in found]) for name in found[0]}

        if all(read is each[0] for read in each):
            return made
        return replace(made, each=each, formulated=replace(made.formulated, to_fields=to_fields))

    def _open(self, part: Part) -> Batch:
        """Room for the runs, and the time loop."""
        spec, n, width = self.spec, self.n, part.formulated.width
        self.invariant, self.y = part.formulated.invariant_columns, np.zeros_like(part.y)
        outputs, accepted, self.trial = recorders(spec, part.formulated, np.zeros((n, width)), blocks=self.blocks)
        self.memory, self.out = new_memory(spec.longest), np.zeros_like(part.y)
        self.legs = Legs(spec, part.formulated)
        self.log = np.zeros((STEP_LOG, 2))
        loop = loop_for(advance_adaptive, part.integrator, part.problem, self.trial, self.trial, part.work)
        self.call = loop.ready(*self._arguments(part, part.y, self.trial, self.trial, 0))
        self.addressed = prepare(part.problem, part.integrator, part.work)
        self.pieces = partial(in_pieces, spec, loop, part.y.size, None, lambda: spec.t_start)
        self.free = zip(count(), members_of(outputs), members_of(accepted) if accepted else repeat(None), strict=False)
        return Batch(part.formulated, outputs, accepted, np.zeros(n, np.int64), np.full(n, spec.t_start),
                     np.zeros(n, np.int64), np.zeros((n, len(NAMES)), np.int64), lambda number: np.nan)

    def _arguments(self, part: Part, y: np.ndarray, outputs: Recorder, accepted: Recorder | None, room: int
                   ) -> tuple[Any, ...]:
        """Of the time loop from y, for `room` more steps."""
        spec = self.spec
        return (part.integrator, part.problem, outputs, accepted, y, self.out, self.memory, self.log[:room],
                spec.duration/(spec.outputs - 1), self.legs.end, part.work, spec.t_start, spec.direction)

    @plugin_errors()
    def all(self) -> Batch:
        """Run those that wait, in their order; each finds the arrays of the first one as they are, which all may
        share."""
        parts, self.waiting = self.waiting, []
        self.made = made = self.made or self._open(parts[0])
        memory = [(array, array.copy()) for part in parts[:1] for array in _arrays(part[1:])]
        with self.pieces() as pieces:
            for part in parts:
                try:
                    self._run(made, part, pieces)
                finally:
                    for array, new in memory:
                        array[...] = new
        return made

    def _run(self, made: Batch, part: Part, pieces: Pieces) -> None:
        spec, trial, (k, outputs, accepted) = self.spec, self.trial, next(self.free)
        if outputs.integrals.present():
            trial, outputs = (one._replace(integrals=new_integrals(part.formulated.observables))
                              for one in (trial, outputs))
            accepted = accepted and accepted._replace(integrals=outputs.integrals)
        if self.addressed:
            prepare(part.problem, part.integrator, part.work)
        trial.filled[:], self.memory[:], self.legs = 0, new_memory(spec.longest), Legs(spec, part.formulated)
        self.y[...] = part.y
        self.call(*self._arguments(part, self.y, trial, trial, 0))
        set_baseline(outputs.baseline, trial, self.invariant, part.formulated.problem.counters)
        self.memory[:], self.out[:] = new_memory(spec.longest), 0.0
        status, steps = Status.RUNNING, 0
        while status == Status.RUNNING:
            status, ended = self.call(*self._arguments(part, part.y, outputs, accepted, pieces.steps))
            status = self.legs.after(status, part.y, self.memory, self.log[int(ended) - 1])
            steps += ended
            pieces.ended()
        made.status[k], made.steps[k] = part.formulated.ending(Status(status), part.y), steps
        made.time_reached[k] += spec.direction*float(self.memory[0])
        made.counters[k] = part.formulated.problem.counters


class Repeated:
    """Steps of one component, from many starts. `possible` says whether it can be had: the component must not depend on
    the start, and be compiled: what a black box raises is said of one member."""

    def __init__(self, spec: RunSpecification):
        self.spec, (self.formulated, self.integrator) = spec, build(spec)
        self.possible = (self.formulated.starts is not None and not spec.exponents
                         and not black_box(self.formulated.problem))

    def run(self, states: Mapping[str, np.ndarray], **kept: Any) -> Batch:
        """The runs from states, each field (n, ...); kept: what `many.blocks.fixed` takes. Raises what `run_once` does.
        """
        starts = self.formulated.starts
        assert starts is not None
        y, pairs = np.ascontiguousarray(starts.rows(states)), [(self.formulated, self.integrator)]
        if self.spec.steps is None:
            made = adaptive(self.spec, pairs, y, self._alone, **kept)
        else:
            made = fixed(self.spec, pairs, y, **kept)
        return replace(made, scale=lambda number: starts.scale(
            {name: values[number] for name, values in states.items()}))

    def _alone(self, y: np.ndarray, blocks: bool = False, ends: bool = False) -> Batch:
        """One after the other, of an adaptive method."""
        rows, part = Rows(self.spec, len(y), blocks), Part.of(self.formulated, self.integrator, None)
        for number, row in enumerate(y):
            rows.add(number, part._replace(y=row.copy()))
        made = rows.ended()
        return replace(made, outputs=made.outputs._replace(states=made.outputs.states[:, -1:])) if ends else made


def _arrays(item: Any) -> Iterator[np.ndarray]:
    """The arrays of components that may be written."""
    if isinstance(item, np.ndarray):
        if item.flags.writeable:
            yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _arrays(part)
