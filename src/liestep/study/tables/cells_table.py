"""cells.csv.gz: a row for each trajectory of a study that is reduced, read from its files shard by shard."""
import gzip
from collections.abc import Iterator, Sequence

import numpy as np
import pandas

from liestep.files.textfiles import replacing
from liestep.simulation.runs.files import RunFile
from liestep.simulation.runs.maps import first_of, rows_of
from liestep.simulation.runs.shards import name_of
from liestep.study.plan.maps import CELLS
from liestep.study.plan.plan import Cell, Study
from liestep.study.tables.reading import run_file, shards_after


def write_cells(study: Study) -> None:
    """Write the table: keys, number of the cell or member, status, then every number of the files; those of arrays are
    columns name_i_j. A number that a trajectory has not is empty, a counter 0. Raises InputError: a file is missing,
    incomplete or stale, or the folder cannot be written."""
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
