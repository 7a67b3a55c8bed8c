"""Make a run: its one trajectory or all of them, with what its specification asks for beside them."""
from liestep.compile.sources import some_runs
from liestep.compile.translation import without_folders
from liestep.errors import PluginError
from liestep.simulation.runs.content import Content, collected
from liestep.simulation.runs.execution import Progress, not_run, replica_states, trajectory
from liestep.simulation.runs.specified import RunSpecification


def carry_out(spec: RunSpecification, progress: Progress | None = None, *, interpreted: bool = False) -> Content:
    """Run a specification (all its replicas or members) and collect the content of its file. interpreted: see
    `run_once`. Raises InputError: what runs with such an ending do not have; PluginError: the code of a plugin cannot
    be compiled."""
    if spec.ending:
        with some_runs:
            if spec.ending == "legs":
                from liestep.simulation.endings.legs import run
            else:
                from liestep.simulation.endings.control import run

        return run(spec, progress)
    if spec.ensemble is not None:
        with some_runs:
            from liestep.simulation.runs.members import gathered, members

        return gathered(spec, ((numbers, run()) for numbers, run in members(spec)))
    return collected(spec, [trajectory(spec, state, progress if k == 0 else None, interpreted)
                            for k, state in enumerate(replica_states(spec))])


def not_compiled(spec: RunSpecification, error: PluginError) -> Content:
    """The content of a run that cannot be made: no sample, and the reason."""
    if spec.ensemble:
        with some_runs:
            from liestep.simulation.runs.members import Batch, gathered

        content = gathered(spec, [([k], Batch.of(not_run(spec))) for k in range(spec.ensemble.size)])
    else:
        content = collected(spec, [not_run(spec)]*spec.replicas)
    content.attributes["message"] = without_folders(str(error))
    return content
