"""Make a run: its one trajectory or all of them, with what its specification asks for beside them.

No source of a run's file: which of the modules that it imports are sources says `RunSpecification.modules`."""
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from liestep.compile.status import Status
from liestep.simulation.runs.content import Content, collected
from liestep.simulation.runs.execution import BLOCKS, Outcome, Progress, ensemble_states, replica_states, run_once
from liestep.simulation.runs.specification import RunSpecification


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
        outcomes = [run() for run in members(spec)]
    else:
        outcomes = [trajectory(spec, state, progress if k == 0 else None, interpreted)
                    for k, state in enumerate(replica_states(spec))]
    return collected(spec, outcomes)


def members(spec: RunSpecification) -> Iterator[Callable[[], Outcome]]:
    """What gives the outcome of each member of an ensemble, or of its shard, in order (see `run_once`)."""
    return (partial(trajectory, spec, state) for state in ensemble_states(spec))


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
