"""Files of runs and references, read once: the tables and figures of a study ask for the same ones many times. A file
that was replaced or touched since is read again. Arrays are shared and therefore read-only. A study that is reduced has
cells.csv.gz, with a row for each trajectory."""
import gzip
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path

import numpy as np

from liestep.files.records import notes
from liestep.files.textfiles import replacing
from liestep.simulation.references.reference import ReferenceSpecification, study_reference
from liestep.simulation.runs.files import Names, RunFile, require_current
from liestep.simulation.runs.maps import first_of, rows_of
from liestep.simulation.runs.shards import joined, name_of
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.plan.maps import CELLS
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


def write_cells(study: Study) -> None:
    """Write the table: keys, number of the cell or member, status, then every number of the files; those of arrays are
    columns name_i_j. A number that a trajectory has not is empty, a counter 0. Raises InputError: a file is missing,
    incomplete or stale, or the folder cannot be written."""
    import pandas  # plans of a workflow import this module without it

    names: dict[str, type] = {}
    for cell, _ in reduced_cells(study):
        names |= {name: values.dtype.type for name, values in numbers(run_file(cell))}
    with (replacing(study.folder/CELLS) as temporary, open(temporary, "wb") as file,
          gzip.GzipFile("", "wb", 6, file, mtime=0) as packed):  # without name and time: equal rows, equal bytes
        for number, (cell, resolution) in enumerate(reduced_cells(study)):
            pandas.DataFrame(rows(cell, resolution, names)).to_csv(packed, index=False, header=not number)


def reduced_cells(study: Study) -> Iterator[tuple[Cell, str]]:
    """All shards of what is reduced, each with the label of its resolution."""
    for cell in study.cells:
        if cell.spec.reduced and rows_of(cell.spec):
            yield from ((shard, cell.resolution) for shard in (cell, *shards_after(study, cell)))


def numbers(file: RunFile) -> Iterator[tuple[str, np.ndarray]]:
    """Columns of numbers of a file, (trajectories,) each."""
    for name, values in file.variables.items():
        if name == "status":
            continue
        for place in np.ndindex(values.shape[1:]):
            yield "_".join((name, *map(str, place))), values[(slice(None), *place)]


def rows(cell: Cell, resolution: str, names: dict[str, type]) -> dict[str, np.ndarray | Sequence[str]]:
    """The columns of one file, with the numbers that `names` lists."""
    file, count = run_file(cell), cell.spec.trajectories
    row = dict(numbers(file))
    words = {int(value): name_of(int(value)) for value in np.unique(file["status"])}
    return {"problem": [cell.problem]*count, "integrator": [cell.integrator]*count, "resolution": [resolution]*count,
            "number": np.arange(count) + first_of(cell.spec), "status": [words[value] for value in file["status"]],
            **{name: row.get(name, np.full(count, 0 if issubclass(kind, np.integer) else np.nan, dtype=kind))
               for name, kind in names.items()}}
