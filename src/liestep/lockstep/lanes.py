"""Trajectories of one system from many starts by `taylor`, several in lockstep: each operation of a jet is one
instruction for all lanes. Every lane has its own time and step, and takes the next start when it has come to its end.

All lanes make the operations of a single run, so that the results have the same bits for any number of lanes and
threads. `lockstep.loop` is the time loop.
"""
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from liestep.compile.cache import loop_for
from liestep.compile.counters import Counter, counts
from liestep.compile.processor import has_wide_registers
from liestep.compile.status import Status
from liestep.compile.straight.straight import Straight, jet_code, loaded
from liestep.compile.straight.symbols import Expressions, Untraceable
from liestep.compile.tracing import digest_of
from liestep.compile.translation import plugin_errors
from liestep.errors import InputError
from liestep.integrators.step_control import Ahead
from liestep.integrators.taylor import Taylor, field_expressions
from liestep.lockstep.code import LaneTrace, LaneWriter
from liestep.lockstep.loop import Alone, LaneMethod, Lanes, Members, advance_lanes
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.machine_code.straight import MOST_OPERATIONS, routines_of, straight_field
from liestep.simulation.runs.execution import Outcome, build, run_once
from liestep.simulation.runs.recorder import Recorder, new_recorder
from liestep.simulation.runs.specification import RunSpecification

MOST_TOGETHER = 64      # trajectories of one call of the loop: their recorders are in memory at the same time
MOST_NUMBERS = 8_000_000  # float64 in them
# operations of a jet for eight lanes: with 5,100 they take 0.7 of the time of four, with 7,700 as much, with 13,300 1.3
MOST_OF_EIGHT = 7_000
BLOCKED = ("block_sum", "block_low", "block_high", "block_count")  # arrays of a recorder with a row for each block


def outcomes(spec: RunSpecification, states: Sequence[Mapping[str, np.ndarray]], lanes: int | None = None,
             threads: int = 1) -> Iterator[Callable[[], Outcome]]:
    """What gives the outcome of each start, in their order: in lockstep where that can be, with so many lanes in each
    of the threads (None: see `code_in_lanes`), else a single run (see `run_once` for what it raises)."""
    code = _code(spec, states[0], lanes) if len(states) > 1 else None
    if code is None:
        yield from (partial(run_once, spec, dict(state)) for state in states)
        return
    together = max(1, min(MOST_TOGETHER, -(-len(states)//threads), MOST_NUMBERS//(code.size*spec.samples)))
    parts = [states[first:first + together] for first in range(0, len(states), together)]
    with ThreadPoolExecutor(threads) as pool:
        for at in range(0, len(parts), threads):  # not all at once: their recorders would not fit the memory
            for found in pool.map(code.run, parts[at:at + threads]):
                yield from found


def code_in_lanes(found: Expressions, order: int, width: int, lanes: int | None = None,
                  groups: Sequence[int] = ()) -> tuple[int, Straight]:
    """The number of lanes and their jet. By default eight where the processor has registers for them and the jet is
    short, else four: what a long one keeps of eight lanes is more than the first cache holds."""
    if lanes is None:
        code = jet_code(found, order, width, groups=groups, writer=LaneWriter(4))
        if code.operations > MOST_OF_EIGHT or not has_wide_registers():
            return 4, code
        lanes = 8
    return lanes, jet_code(found, order, width, groups=groups, writer=LaneWriter(lanes))


class LaneCode:
    """Machine code of the lanes for the runs of a specification."""

    def __init__(self, spec: RunSpecification, formulated: Formulated, pair: Taylor, lanes: int | None):
        """Raises Untraceable where there is none."""
        self.spec, self.formulated, self.pair = spec, formulated, pair
        problem, start = formulated.problem, formulated.start
        self.digest = digest_of(problem)
        self.problem = straight_field(problem, start, formulated.width, pair)
        found = field_expressions(problem, start.shape)
        self.lanes, self.code = code_in_lanes(found, pair.order, start.shape[1], lanes, pair.groups.tolist())
        self.methods = routines_of(LaneTrace(problem, self.lanes, MOST_OPERATIONS), f"{self.lanes}", __name__, start,
                                   formulated.width, pair)
        self.addresses = loaded(self.code.text).addresses
        self.polynomial = loaded(jet_code(found, pair.order, width=start.shape[1]).text).addresses["sum"]
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
                          np.zeros((count, len(Counter)), dtype=np.int64), np.zeros(count, dtype=np.int64),
                          np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.int64), kept)
        pair = self.pair._replace(control=Ahead(np.zeros(2)))  # threads share the other
        return (pair, self.problem, outputs, accepted, self._lanes(shape), members, spec.t_end/(spec.outputs - 1),
                spec.t_end)

    def _lockstep(self, built: Sequence[Formulated]) -> list[Outcome]:
        given = self.arrays(built)
        _, _, outputs, accepted, _, members, _, _ = given
        loop_for(advance_lanes, *given[:-2])(*given)
        return [Outcome(one, _of(outputs, i), _of(accepted, i), Status(int(members.status[i])),
                        float(members.memory[i, 0]), int(members.steps[i]), counts(members.counters[i]))
                for i, one in enumerate(built)]

    def _lanes(self, shape: tuple[int, ...]) -> Lanes:
        number, size, width = self.lanes, int(np.prod(shape)), self.formulated.width
        rows = (self.pair.order + 1)*size + 4*self.pair.group_count
        statistics = new_recorder(shape, np.zeros(width*number), 1, 0)
        statistics = statistics._replace(**{name: getattr(statistics, name)[:1] for name in BLOCKED})
        member, begun, ready, plain, made, gathered = np.zeros((6, number), dtype=np.int64)
        alone = Alone(self.polynomial, gathered, np.zeros(rows), np.zeros(shape), np.zeros(2), np.zeros(1),
                      np.zeros(shape), np.zeros((1, 2)))
        return Lanes(self.addresses["jet"], self.addresses["sum"], self._method("project"), self._method("observe"),
                     self.code.constants.copy(), np.ones((size, number)), np.zeros((rows, number)), np.zeros(number),
                     np.zeros(number), np.zeros((size, number)), np.zeros((size + 1, number)),
                     statistics.scratch.reshape(width, number), statistics, member, begun, ready, np.zeros(number),
                     plain, made, alone)

    def _method(self, name: str) -> LaneMethod:
        return LaneMethod(loaded(self.methods[name].text).addresses["routine"], self.methods[name].constants)


def _code(spec: RunSpecification, state: Mapping[str, np.ndarray], lanes: int | None = None) -> LaneCode | None:
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
