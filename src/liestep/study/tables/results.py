"""What a study has produced, for tables, figures and claims, checked against today's study and sources."""
import io
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import pandas

from liestep.errors import InputError
from liestep.files.ledger import require_same
from liestep.files.textfiles import read_text
from liestep.simulation.runs.files import RunFile
from liestep.simulation.runs.maps import rows_of
from liestep.study.plan.config import StudyConfig
from liestep.study.plan.plan import Cell, Study
from liestep.study.tables.kinds import KEYS, table_of
from liestep.study.tables.liestep_tables import unquoted
from liestep.study.tables.reading import reference_file, whole_file

# columns of text, also where all entries are digits
TEXTS = ("study", "problem", "integrator", "resolution", "run_sha256", "source_hash")
TIMINGS = ("runtime", "run_sha256", "tolerance", "seconds", "error")  # further columns of timings.csv


def read_csv(path: Path, columns: Iterable[str] = ()) -> pandas.DataFrame:
    """A table written by `csv_text`; only empty fields are missing values. Raises InputError: missing, truncated, not a
    table, or without one of the columns."""
    text = read_text(path)
    if not text.endswith("\n"):
        raise InputError(f"{path} is truncated: its last line has no end; remove it and make it again")
    try:
        table = pandas.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""],
                                dtype=dict.fromkeys(TEXTS, str))
    except Exception:  # of damaged text, pandas raises anything
        raise InputError(f"{path} is not a table of values with commas between them; remove it"
                         " and make it again") from None
    if "'" in text:
        table = table.map(unquoted)
    if missing := [name for name in columns if name not in table.columns]:
        raise InputError(f"{path} has no column {missing[0]}: it is not a table of this program; remove it"
                         " and make it again")
    return table


class StudyResults:
    """Files and tables of one study. `metrics` has one row per run (see `liestep.study.tables.metrics`); keys of
    problems and integrators are those of the study file."""

    def __init__(self, study: Study):
        self.study = study

    @property
    def config(self) -> StudyConfig:
        """The validated study file (`StudyConfig`)."""
        return self.study.config

    @cached_property
    def metrics(self) -> pandas.DataFrame:
        """metrics.csv, rows in the order of the study's cells, and `seconds` of timings.csv where the study has times.
        Raises InputError: missing, or made for another state of the study."""
        table = read_csv(self.study.folder/"metrics.csv", (*KEYS, "run_sha256", "source_hash"))
        wanted = [f"{cell.spec.sha256} {cell.spec.source_hash}" for cell in self.study.cells
                  for _ in range(rows_of(cell.spec))]
        if list(table["run_sha256"] + " " + table["source_hash"]) != wanted:
            raise InputError(f"{self.study.folder/'metrics.csv'} is of another state of the study; run `liestep job"
                             f" analyse {self.study.name}` again")
        require_same(self.study.folder/"metrics.csv")
        # they are no column of metrics.csv: tables repeat byte for byte, times do not
        seconds, path = {}, self.study.folder/"timings.csv"
        if path.is_file():
            timings = read_csv(path, ("run_sha256", "seconds")).dropna(subset=["run_sha256"])
            require_same(path)
            seconds = dict(zip(timings["run_sha256"], timings["seconds"], strict=True))
        # a copy has the columns of one kind together: rows are taken from it often
        return table.copy().assign(seconds=table["run_sha256"].map(seconds))

    def table(self, name: str) -> pandas.DataFrame:
        """A table of the study, or its timings. Raises InputError: missing, no table, or of another study."""
        path = self.study.folder/f"{name}.csv"
        declared = table_of(name, self.study.paper)
        if declared and not path.exists() and name.removesuffix("_seconds") not in self.config.tables:
            raise self.study.complain(("tables",), f"the table {name} is read here, but not made: add it")
        table = read_csv(path, (*declared.keys, *declared.needed) if declared else
                         (*KEYS, *(TIMINGS if name == "timings" else ())))
        if not table["study"].eq(self.study.name).all():
            raise InputError(f"{path} is of another study; run `liestep job analyse {self.study.name}` again")
        require_same(path)
        return table

    def select(self, problem: str, integrator: str) -> pandas.DataFrame:
        """Rows of `metrics` of one pair, in the order of the study file."""
        table = self.metrics
        return table[(table["problem"] == problem) & (table["integrator"] == integrator)]

    def file(self, problem: str, integrator: str, resolution: str) -> RunFile:
        """The file of one run. Raises InputError: unknown keys; missing, incomplete or stale file."""
        cell, = self.study.select(problem, integrator, [resolution])
        return whole_file(self.study, cell)

    def failed(self, cell: Cell) -> bool:
        """Whether a run stopped early; errors as `file`."""
        return whole_file(self.study, cell, ()).failed

    def reference(self, problem: str) -> RunFile | None:
        """The reference of a problem with q, omega, energy at the samples of its runs; None if the study asks for none.
        Raises InputError: missing, incomplete or stale file."""
        return reference_file(self.study, problem) if self.config.reference else None
