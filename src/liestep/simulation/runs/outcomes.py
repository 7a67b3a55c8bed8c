"""Make a run: its one trajectory or all of them, with what its specification asks for beside them.

No source of a run's file: which of the modules that it imports are sources says `RunSpecification.modules`."""
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from liestep.compile.status import Status
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.runs.batches import Batch, Repeated, Runs, in_groups
from liestep.simulation.runs.content import DENSE, Content, collected, gathered
from liestep.simulation.runs.execution import BLOCKS, Outcome, Progress, build, replica_states, run_once, starts_of
from liestep.simulation.runs.specification import RunSpecification
from liestep.simulation.runs.starts import each


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
        starts = list(each(states))
        found = ([(range(len(starts)), partial(repeated.run, states, blocks))] if repeated.possible else
                 in_groups(spec, repeated.formulated, len(starts), partial(_built, spec, starts),
                           partial(_alone, spec, starts), blocks))
        for numbers, run in found:
            yield [first + number for number in numbers], run
        first += len(starts)


def _built(spec: RunSpecification, starts: Sequence[dict[str, np.ndarray]], number: int) -> tuple[Formulated, Any]:
    return build(spec, starts[number])


def _alone(spec: RunSpecification, starts: Sequence[dict[str, np.ndarray]], number: int) -> Batch:
    return Batch.of(trajectory(spec, starts[number]))


def trajectory(spec: RunSpecification, state: dict[str, np.ndarray], progress: Progress | None = None,
               interpreted: bool = False) -> Outcome:
    """One trajectory (see `run_once`); where exponents are asked for, with the growth of derivatives in each of its
    blocks and the symplecticity of its step, NaN for a run that stopped early."""
    outcome = run_once(spec, state, progress, interpreted=interpreted)
    if spec.exponents:
        outcome.growth = np.full((BLOCKS, spec.exponents), np.nan)
        if outcome.status == Status.OK:
            from liestep.simulation.tangents.exponents import growth_of, symplectic_error

            outcome.growth = growth_of(spec, state, BLOCKS)
            if spec.ensemble is None:
                outcome.symplectic_error = symplectic_error(spec, state)
    return outcome
