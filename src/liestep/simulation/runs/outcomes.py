"""Make a run: its one trajectory or all of them, with what its specification asks for beside them.

No source of a run's file: which of the modules that it imports are sources says `RunSpecification.modules`."""
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from liestep.compile.sources import black_box
from liestep.compile.status import Status
from liestep.compile.translation import plugin_errors
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.runs.batches import Batch, Part, Repeated, Rows
from liestep.simulation.runs.content import DENSE, Content, collected, gathered
from liestep.simulation.runs.execution import BLOCKS, Outcome, Progress, build, replica_states, run_once, starts_of
from liestep.simulation.runs.specification import RunSpecification

MOST_NUMBERS = 300  # of a state of runs that are made together, each with a component of its own
AT_ONCE = 128          # runs whose rows are held at a time: more are not faster
FEWER, KINDS = 16, 4   # of them after some that were not all alike, and of which there may be so many kinds and one

Runs = tuple[Sequence[int], Callable[[], Batch]]  # their numbers, and what makes them


def carry_out(spec: RunSpecification, progress: Progress | None = None, *, interpreted: bool = False) -> Content:
    """Run a specification (all its replicas or members) and collect the content of its file. interpreted: see
    `run_once`. Raises InputError: see `liestep.simulation.runs.until.observed`; PluginError: the code of a plugin
    cannot be compiled."""
    if spec.events:
        from liestep.simulation.runs.legs import journey

        return journey(spec, progress)
    if spec.control:
        from liestep.simulation.runs.control import controlled

        return controlled(spec, progress)
    if spec.observed:
        from liestep.simulation.runs.until import observed

        return observed(spec, progress)
    if spec.ensemble is not None:
        return gathered(spec, ((numbers, run()) for numbers, run in members(spec)))
    return collected(spec, [trajectory(spec, state, progress if k == 0 else None, interpreted)
                            for k, state in enumerate(replica_states(spec))])


def members(spec: RunSpecification) -> Iterator[Runs]:
    """What gives the outcomes of the members of an ensemble, or of its shard (see `run_once`)."""
    repeated, first, blocks = Repeated(spec), 0, spec.reduced or spec.samples > DENSE
    for states in starts_of(spec):
        count = len(next(iter(states.values())))

        def some(which: int | slice, states: Mapping[str, np.ndarray] = states) -> dict[str, np.ndarray]:
            return {name: values[which] for name, values in states.items()}

        def start(number: int, some: Callable = some) -> tuple[Any, ...]:
            return spec, some(number)

        found = ((range(k, min(k + AT_ONCE, count)), partial(repeated.run, some(slice(k, k + AT_ONCE)), blocks))
                 for k in range(0, count, AT_ONCE)) if repeated.possible else in_groups(
                     spec, repeated.formulated, count, start, blocks)
        for numbers, run in found:
            yield [first + number for number in numbers], run
        first += count


def in_groups(spec: RunSpecification, like: Formulated, count: int, start: Callable[[int], tuple[Any, ...]],
              blocks: bool) -> Iterator[Runs]:
    """What gives the outcomes of `count` runs with components of their own, those that are alike together. start: gives
    the arguments of `build` for each, or raises InputError. like: one of the components."""
    alone = (like.start.size > MOST_NUMBERS or like.shown or spec.exponents
             or black_box(like.problem))  # what it raises is said of one run
    groups: list[tuple[tuple[Any, ...], Rows]] = []
    room = 0  # for runs beside those of the groups
    for number in range(count):
        if alone:
            yield (number,), lambda number=number: Batch.of(trajectory(*start(number)))  # type: ignore[misc]
            continue
        if room == 0 or len(groups) > KINDS:
            yield from ((tuple(rows.kept), rows.ended) for _, rows in groups)
            room, groups = AT_ONCE if len(groups) < 2 else FEWER, []
        room -= 1
        try:
            with plugin_errors():
                part = Part.of(*build(*start(number), shared=True), spec.steps, many=True)
        except InputError as error:
            yield (number,), Rows(spec, 0, blocks, error).ended
            continue
        kind = part.kind
        rows = next((rows for known, rows in groups if known == kind), None)
        if rows is None:
            groups.append((kind, rows := Rows(spec, room + 1, blocks)))
        rows.add(number, part)
    yield from ((tuple(rows.kept), rows.ended) for _, rows in groups)


def trajectory(spec: RunSpecification, state: dict[str, np.ndarray] | None = None, progress: Progress | None = None,
               interpreted: bool = False) -> Outcome:
    """One trajectory (see `run_once`); where exponents are asked for, with the growth of derivatives in each of its
    blocks and the symplecticity of its step, NaN for a run that stopped early."""
    outcome = run_once(spec, state, progress, interpreted=interpreted)
    if spec.exponents:
        outcome.growth = np.full((BLOCKS, spec.exponents), np.nan)
        if outcome.status == Status.OK:
            from liestep.simulation.tangents.exponents import growth_of, symplectic_error

            initial = spec.initial if state is None else state
            outcome.growth = growth_of(spec, initial, BLOCKS)
            if spec.ensemble is None:
                outcome.symplectic_error = symplectic_error(spec, initial)
    return outcome
