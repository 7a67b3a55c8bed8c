"""Runs made again and compared bit by bit: what shows forged results of which nobody has kept a hash."""
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from liestep.errors import InputError
from liestep.files.records import file_sha256
from liestep.simulation.runs.files import write
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import computed
from liestep.workflow.manifest import Complaint, read_manifest


def recompute(results: Path, config: Path, count: int) -> Iterator[Complaint]:
    """Runs of the manifest, drawn at random, that differ from what their studies make. Raises InputError where there is
    no run, none is asked for, or one is of no study in `config`."""
    names = [name.split("/") for name in read_manifest(results)["products"] if name.endswith(".nc")]
    runs = sorted(parts for parts in names if parts[-4:-3] == ["runs"])
    if count < 1 or not runs:
        raise InputError(f"--recompute {count}: {results} has {len(runs)} runs; ask for one or more of them")
    with tempfile.TemporaryDirectory() as folder:
        for *study, _, problem, integrator, file in random.SystemRandom().sample(runs, min(count, len(runs))):
            found = Study.find("/".join(study), config, results)
            cell, = found.select(problem, integrator, [file.removesuffix(".nc")])
            again = Path(folder, file)
            write(computed(cell), again)
            if file_sha256(again) != file_sha256(cell.path):
                yield Complaint(cell.path, f"{cell.path} is not what {found.path} makes on this machine")
            again.unlink()
