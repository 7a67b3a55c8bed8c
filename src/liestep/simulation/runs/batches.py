"""Runs from many starts, as arrays with a row for each: the component, its integrator and their memory are made once,
and each run finds them as new ones would be."""
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from liestep.compile.cache import loop_for
from liestep.compile.counters import NAMES, counts
from liestep.compile.driver import advance
from liestep.compile.sources import black_box
from liestep.compile.status import Status
from liestep.compile.translation import plugin_errors
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.machine_code.straight import for_loop
from liestep.simulation.runs.execution import (
    Outcome,
    Recorder,
    build,
    in_pieces,
    member,
    new_integrals,
    new_recorder,
    set_baseline,
)
from liestep.simulation.runs.specification import RunSpecification


@dataclass
class Batch:
    """Trajectories of one component. Recorders and arrays have a row for each; `scale` gives the momentum scale of
    one."""

    formulated: Formulated
    outputs: Recorder
    accepted: Recorder | None
    status: np.ndarray        # (n,)
    time_reached: np.ndarray  # (n,)
    steps: np.ndarray         # (n,)
    counters: np.ndarray      # (n, len(counters.NAMES))
    scale: Callable[[int], float]
    growth: np.ndarray = field(default_factory=lambda: np.zeros((1, 0, 0)))  # see `Outcome`

    @classmethod
    def of(cls, outcome: Outcome) -> "Batch":
        """A single one."""
        def row(recorder: Recorder) -> Recorder:
            own: dict[str, Any] = {name: value[None] for name, value in recorder._asdict().items()
                                   if isinstance(value, np.ndarray) and name != "scratch"}
            return recorder._replace(**own)

        return cls(outcome.formulated, row(outcome.outputs), outcome.accepted and row(outcome.accepted),
                   np.array([outcome.status]), np.array([outcome.time_reached]), np.array([outcome.steps]),
                   np.array([list(outcome.counters.values())]), lambda number: outcome.formulated.momentum_scale,
                   outcome.growth[None])

    @property
    def samples(self) -> np.ndarray:
        """(n,): how many were written."""
        return self.outputs.filled[:, 0]

    @property
    def finished(self) -> np.ndarray:
        """(n,): whether it came to its end."""
        return self.status == Status.OK

    def member(self, number: int) -> Outcome:
        """One of them."""
        return Outcome(replace(self.formulated, momentum_scale=self.scale(number)), member(self.outputs, number),
                       self.accepted and member(self.accepted, number), Status(self.status[number]),
                       float(self.time_reached[number]), int(self.steps[number]), counts(self.counters[number]))


class Repeated:
    """Fixed steps of one component, from many starts. `possible` says whether it can be had: the component must not
    depend on the start, and be compiled: what a black box raises is said of one member."""

    def __init__(self, spec: RunSpecification):
        self.spec, (self.formulated, self.integrator) = spec, build(spec)
        self.possible = (self.formulated.starts is not None and spec.steps is not None and not spec.exponents
                         and not black_box(self.formulated.problem))

    def _batch(self, y: np.ndarray, states: Mapping[str, np.ndarray], blocks: bool) -> Batch:
        """The runs from rows, and states, before their first step."""
        spec, formulated, starts = self.spec, self.formulated, self.formulated.starts
        assert spec.steps is not None
        assert starts is not None
        n, scale = len(y), starts.scale
        recorder = new_recorder(y.shape[1:], np.zeros((n, formulated.width)), spec.steps, spec.samples,
                                spec.statistics_every, observables=formulated.observables, blocks=blocks)
        return Batch(formulated, recorder, None, np.zeros(n, np.int64), np.full(n, spec.t_start), np.zeros(n, np.int64),
                     np.zeros((n, len(NAMES)), np.int64),
                     lambda number: scale({name: values[number] for name, values in states.items()}))

    @plugin_errors()
    def run(self, states: Mapping[str, np.ndarray], blocks: bool) -> Batch:
        """The runs from states, each field (n, ...); `blocks`: keep the blocks of each. Raises what `run_once` does."""
        spec, formulated, seen = self.spec, self.formulated, self.formulated.observables
        assert spec.steps is not None
        assert formulated.starts is not None
        y = np.ascontiguousarray(formulated.starts.rows(states))
        made, h, begin = self._batch(y, states, blocks), spec.step, spec.t_start
        trial = new_recorder(y.shape[1:], np.zeros(formulated.width), spec.steps, 0, observables=seen)
        problem, integrator = for_loop(formulated, self.integrator, spec.steps)
        work = integrator.workspace(formulated.problem, y[0].copy())
        loop = loop_for(advance, integrator, problem, trial, work)
        call = loop.ready(integrator, problem, trial, y[0], h, 0, 0, work, begin)
        memory = [(array, array.copy())
                  for array in _arrays((formulated.problem, problem, integrator, work, trial.filled))]
        with in_pieces(spec, loop, y[0].size, None, lambda: begin) as pieces:
            for k in range(len(y)):
                recorder = member(made.outputs, k)
                if recorder.integrals.present():
                    recorder, trial = (one._replace(integrals=new_integrals(seen)) for one in (recorder, trial))
                for array, new in memory:
                    np.copyto(array, new)
                call(integrator, problem, trial, y[k].copy(), h, 0, 0, work, begin)
                set_baseline(recorder.baseline, trial, formulated)
                status, done = Status.OK, 0
                while status == Status.OK and done < spec.steps:
                    pieces.steps = min(pieces.steps, spec.steps - done)
                    status, done = call(integrator, problem, recorder, y[k], h, done, done + pieces.steps, work, begin)
                    pieces.ended()
                made.status[k], made.steps[k] = formulated.ending(Status(status), y[k]), done
                made.counters[k] = problem.counters
        made.time_reached += made.steps*h
        return made


def _arrays(item: Any) -> Iterator[np.ndarray]:
    """The arrays of components that may be written."""
    if isinstance(item, np.ndarray):
        if item.flags.writeable:
            yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _arrays(part)
