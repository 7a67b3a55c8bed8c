"""Runs of components that the same machine code takes, as arrays with a row for each: members of an ensemble, cells of
a map. What does not depend on start and parameters is made once, and each run finds it as a run alone would."""
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.cache import code_mark, loop_for, prepare
from liestep.compile.counters import NAMES
from liestep.compile.driver import advance_adaptive, new_memory
from liestep.compile.pieces import Pieces
from liestep.compile.roles import Component, Integrator, Work
from liestep.compile.sources import black_box
from liestep.compile.status import Status
from liestep.compile.translation import plugin_errors
from liestep.compile.trees import arrays, made_once
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.varied import NotAlike, Varied, changed, of_member, varies
from liestep.simulation.many.blocks import adaptive, fixed, scalars
from liestep.simulation.runs.batch import Batch
from liestep.simulation.runs.execution import (
    STEP_LOG,
    Legs,
    Recorder,
    build,
    in_pieces,
    new_integrals,
    new_recorder,
    recorders,
    set_baseline,
)
from liestep.simulation.runs.specified import RunSpecification


class Part(NamedTuple):
    """A component before its first step, as time loops take it; the workspace is that of the problem itself."""

    formulated: Formulated
    problem: Component
    integrator: Integrator
    y: np.ndarray
    work: Work

    @classmethod
    def of(cls, formulated: Formulated, integrator: Integrator) -> "Part":
        problem, y = formulated.problem, formulated.start.copy()
        return cls(formulated, problem, integrator, y, integrator.workspace(problem, y.copy()))

    @property
    def kind(self) -> tuple[Hashable, ...]:
        """The same for parts that one machine code takes and whose rows are read alike."""
        made = self.formulated
        return self.y.shape, code_mark(self[1:]), made.fields, made.observables, made.notes


class OneByOne:
    """Runs of an adaptive method, of parts that one machine code takes, each into a row of a batch with room for `n`.
    blocks: keep the blocks of each."""

    def __init__(self, spec: RunSpecification, part: Part, n: int, blocks: bool):
        self.spec, width = spec, part.formulated.width
        self.invariant, self.y = part.formulated.invariant_columns, np.zeros_like(part.y)
        outputs, accepted = recorders(spec, part.formulated, np.zeros((n, width)), blocks=blocks)
        self.trial = new_recorder(part.y.shape, np.zeros(width), 1, 0, observables=part.formulated.observables)
        self.memory, self.out = new_memory(spec.longest), np.zeros_like(part.y)
        self.legs = Legs(spec, part.formulated)
        self.log = np.zeros((STEP_LOG, 2))
        loop = loop_for(advance_adaptive, part.integrator, part.problem, self.trial, self.trial, part.work)
        self.call = loop.ready(*self._arguments(part, part.y, self.trial, self.trial, 0))
        self.addressed = prepare(part.problem, part.integrator, part.work)
        self.pieces = partial(in_pieces, spec, loop, part.y.size, None, lambda: spec.t_start)
        self.made = Batch(part.formulated, outputs, accepted, np.zeros(n, np.int64), np.full(n, spec.t_start),
                          np.zeros(n, np.int64), np.zeros((n, len(NAMES)), np.int64), np.full(n, np.nan))

    def _arguments(self, part: Part, y: np.ndarray, outputs: Recorder, accepted: Recorder | None, room: int
                   ) -> tuple[Any, ...]:
        """Of the time loop from y, for `room` more steps."""
        spec = self.spec
        return (part.integrator, part.problem, outputs, accepted, y, self.out, self.memory, self.log[:room],
                spec.duration/(spec.outputs - 1), self.legs.end, part.work, spec.t_start, spec.direction)

    def run(self, k: int, part: Part, pieces: Pieces) -> None:
        """That of row k."""
        spec, made, trial = self.spec, self.made, self.trial
        outputs, accepted = made.row(k)
        if outputs.integrals.present():
            trial, outputs = (one._replace(integrals=new_integrals(part.formulated.observables))
                              for one in (trial, outputs))
            accepted = accepted and accepted._replace(integrals=outputs.integrals)
        if self.addressed:
            prepare(part.problem, part.integrator, part.work)
        self.memory[:], self.legs = new_memory(spec.longest), Legs(spec, part.formulated)
        self.y[...] = part.y
        self.call(*self._arguments(part, self.y, trial, trial, 0))
        set_baseline(outputs.baseline, self.invariant, part.formulated.problem.counters, trial)
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


@plugin_errors()
def one_by_one(spec: RunSpecification, parts: Sequence[Part], blocks: bool) -> Batch:
    """Runs of an adaptive method in their order; each finds the arrays of the first one as they are, which all may
    share. Raises InputError, PluginError: one of them cannot be run."""
    runs, memory = OneByOne(spec, parts[0], len(parts), blocks), [
        (array, array.copy()) for array in arrays(parts[0][1:]) if array.flags.writeable]
    with runs.pieces() as pieces:
        for k, part in enumerate(parts):
            try:
                runs.run(k, part, pieces)
            finally:
                for array, new in memory:
                    array[...] = new
    return runs.made


def together(spec: RunSpecification, parts: Sequence[Part], blocks: bool, **kept: Any) -> Batch:
    """Runs of parts that are alike; kept: what `many.blocks.fixed` takes. Raises as `one_by_one`."""
    if spec.steps is None:
        made = one_by_one(spec, parts, blocks)
    else:
        made = fixed(spec, [(part.formulated, part.integrator) for part in parts],
                     np.array([part.y for part in parts]), blocks=blocks, **kept)
    return read_by(made, [part.formulated.to_fields for part in parts],
                   [part.formulated.momentum_scale for part in parts])


def read_by(made: Batch, each: Sequence[Callable[..., dict[str, np.ndarray]]], scales: Sequence[float]) -> Batch:
    """A batch with what reads the fields of each, and their momentum scales."""
    def to_fields(rows: np.ndarray) -> dict[str, np.ndarray]:
        parts_read = [read(own) for read, own in zip(each, rows.reshape(len(each), -1, *rows.shape[1:]), strict=True)]
        return {name: np.concatenate([fields[name] for fields in parts_read]) for name in parts_read[0]}

    made = replace(made, scale=np.array(scales))
    if all(read is each[0] for read in each):
        return made
    return replace(made, each=each, formulated=replace(made.formulated, to_fields=to_fields))


class Traced:
    """Runs of components that differ by numbers alone, built once from parameters that are `Varied`. given: the
    arguments of `build` for one of them, or for a slice. Raises NotAlike, or what code raises that takes plain numbers
    only, or because one of the runs cannot be made."""

    def __init__(self, given: Callable[[Any], tuple[Any, ...]], numbers: range):
        (self.spec, *_), (many, *_) = given(numbers[0]), given(slice(numbers.start, numbers.stop))
        self.part, self.every = (Part.of(*build(one)) for one in (self.spec, many))
        made, self.first = self.every.formulated, numbers.start
        self.reads, self.scales, self.varied = made.to_fields, made.momentum_scale, dict[int, np.ndarray]()

        @made_once
        def place(values: np.ndarray) -> np.ndarray:  # without axes for a plain number, see `trees.with_numbers`
            self.varied[id(one := np.array(values[0]))] = values
            return one

        shared = {id(own.values) for own in varies(self.every.problem) if own.ndim}
        if {id(own.values) for own in varies((self.every.integrator, self.every.work))} - shared:
            raise NotAlike("what integrators prepare differs")
        self.problem, self.integrator = changed((self.every.problem, self.every.integrator),
                                                lambda own: place(own.values))
        if made.ending is not Formulated.ending or made.joints or many.frame != self.spec.frame:
            raise NotAlike("what is said of runs may differ")
        for number in {numbers[0], numbers[len(numbers)//2], numbers[-1]}:
            alone = Part.of(*build(*given(number)))
            own, *read = of_member((tuple(self.every[1:]), self.reads, self.scales), number - self.first)
            if alone.kind != self.part.kind or _bits(alone.y, own, *read) != _bits(
                    alone.y, tuple(alone[1:]), alone.formulated.to_fields, alone.formulated.momentum_scale):
                raise NotAlike(f"run {number} that is built alone is another one")

    def run(self, numbers: range, **kept: Any) -> Batch:
        """The runs with these numbers; kept: what `many.blocks.fixed` takes."""
        def own(item: Any) -> Any:
            return item.values[here] if isinstance(item, Varied) else [item]*len(numbers)

        here = slice(numbers.start - self.first, numbers.stop - self.first)
        pair = replace(self.part.formulated, problem=self.problem), self.integrator
        made = fixed(self.spec, [pair], np.array(own(self.every.y)),
                     varied={key: values[here] for key, values in self.varied.items()}, **kept)
        reads = [of_member(self.reads, k - self.first) for k in numbers] if varies(self.reads) else own(self.reads)
        return read_by(replace(made, formulated=self.part.formulated), reads, own(self.scales))


def _bits(y: np.ndarray, tree: Any, read: Callable[..., dict[str, np.ndarray]], scale: float) -> tuple[Any, ...]:
    """All numbers of a component, and how it reads a state."""
    fields = read(y[None])
    return scalars(tree), scale, [*fields], [(one.shape, one.tobytes()) for one in arrays(tree, *fields.values())]


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
        return replace(made, scale=np.full(len(y), starts.scale(states)))

    def _alone(self, y: np.ndarray, blocks: bool = False, ends: bool = False) -> Batch:
        """One after the other, of an adaptive method."""
        part = Part.of(self.formulated, self.integrator)
        made = one_by_one(self.spec, [part._replace(y=row.copy()) for row in y], blocks)
        return replace(made, outputs=made.outputs._replace(states=made.outputs.states[:, -1:])) if ends else made
