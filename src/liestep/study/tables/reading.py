"""Files of runs and references, read once: the tables and figures of a study ask for the same ones many times. A file
that was replaced or touched since is read again. Arrays are shared and therefore read-only."""
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from pathlib import Path

from liestep.files.records import notes
from liestep.simulation.references.reference import ReferenceSpecification, study_reference
from liestep.simulation.runs.files import Names, RunFile, require_current
from liestep.simulation.runs.maps import rows_of
from liestep.simulation.runs.shards import joined
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.plan.plan import Cell, Study

ROOM = 512*1024**2  # bytes of variables that are kept; the files read longest ago go first

# path -> state of the file when it was read, its content, whether all variables were read
_kept: OrderedDict[Path, tuple[Hashable, RunFile, bool]] = OrderedDict()
_size = 0  # bytes of all files that are kept


def run_file(cell: Cell, names: Names = None) -> RunFile:
    """The file of a cell with at least the variables `names` (None: all); errors as `require_current`."""
    return _current_file(cell.path, cell.spec, names)


def whole_file(study: Study, cell: Cell, names: Names = None) -> RunFile:
    """The file of a cell; of a first shard those of all shards together. Errors as `require_current`."""
    shards = [cell, *shards_after(study, cell)]
    return joined([run_file(shard, names) for shard in shards]) if len(shards) > 1 else run_file(cell, names)


def shards_after(study: Study, cell: Cell) -> Iterator[Cell]:
    """The cells whose files are counted with that of `cell`."""
    if rows_of(cell.spec) == 1 and cell.spec.trajectories > 1:
        yield from (other for other in study.select(cell.problem, cell.integrator)
                    if rows_of(other.spec) == 0 and other.resolution.startswith(f"{cell.resolution}_"))


def reference_file(study: Study, problem: str) -> RunFile:
    """The reference of a problem of a study; errors as `require_current`."""
    path, spec = study_reference(study, problem)
    return _current_file(path, spec)


def _current_file(path: Path, spec: RunSpecification | ReferenceSpecification, names: Names = None) -> RunFile:
    global _size
    try:
        state = notes(path), spec.sha256, spec.source_hash
    except OSError:
        return require_current(path, spec, names)  # which says what is wrong
    known = _kept.pop(path, None)
    if known is not None and known[0] == state and _covers(known[1], known[2], names):
        _kept[path] = known  # the last one
        return known[1]
    _size -= _bytes(known[1]) if known else 0
    file = require_current(path, spec, names)
    for values in file.variables.values():
        values.setflags(write=False)
    _kept[path] = state, file, names is None
    _size += _bytes(file)
    while _size > ROOM and len(_kept) > 1:
        _size -= _bytes(_kept.popitem(last=False)[1][1])
    return file


def _covers(file: RunFile, whole: bool, names: Names) -> bool:
    wanted = names(file.attributes) if callable(names) else names
    return whole or (wanted is not None and all(name in file.variables for name in wanted))


def _bytes(file: RunFile) -> int:
    return sum(values.nbytes for values in file.variables.values())
