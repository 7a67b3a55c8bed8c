"""Make a run: its one trajectory or all of them, with what its specification asks for beside them.

No source of a run's file: which of the modules that it imports are sources says `RunSpecification.modules`."""
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from liestep.compile.status import Status
from liestep.simulation.runs.batches import Batch, Repeated
from liestep.simulation.runs.content import DENSE, Content, collected, gathered
from liestep.simulation.runs.execution import BLOCKS, Outcome, Progress, replica_states, run_once, starts_of
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
        return gathered(spec, (run() for _, run in members(spec)))
    return collected(spec, [trajectory(spec, state, progress if k == 0 else None, interpreted)
                            for k, state in enumerate(replica_states(spec))])


def members(spec: RunSpecification) -> Iterator[tuple[int, Callable[[], Batch]]]:
    """What gives the outcomes of the next so many members of an ensemble, or of its shard, in order (see
    `run_once`)."""
    repeated = Repeated(spec)
    for states in starts_of(spec):
        if repeated.possible:
            yield len(next(iter(states.values()))), partial(repeated.run, states, spec.reduced or spec.samples > DENSE)
        else:
            for state in each(states):
                yield 1, lambda state=state: Batch.of(trajectory(spec, state))  # type: ignore[misc]


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
