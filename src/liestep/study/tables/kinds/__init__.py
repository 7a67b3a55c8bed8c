"""One file for each table that every study may ask for, named after it, declares `TABLE`; a paper brings its own.
Nothing lists them."""
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import iter_modules
from typing import Any, cast

from liestep.errors import InputError
from liestep.files.textfiles import TableRow
from liestep.study.plan.papers import Paper, declared, paper_module

NAMES = tuple(sorted(found.name for found in iter_modules(__path__)))
KEYS = ("study", "problem", "integrator")  # columns of nearly every table


@dataclass(frozen=True)
class Table:
    """A table: the columns of its CSV file, or what gives them, and how its rows are made from the study's results
    (`study.tables.results.StudyResults`); it is out of date when anything that its module imports is edited. page: what
    makes its own page NAME.md of results, rows and rows by the clock. timed: a second table, of a study with times,
    that is no part of tables.md, since times differ between two runs: its name, its columns, its rows."""

    columns: tuple[str, ...] | Callable[[Any], Sequence[str]]
    rows: Callable[[Any], list[TableRow]]
    readable: tuple[str, ...]      # columns of tables.md and of the report
    keys: tuple[str, ...] = KEYS   # columns without which it is no table of a study
    needed: tuple[str, ...] = ()   # further columns that others read
    page: Callable[[Any, list[TableRow], list[TableRow]], str] | None = None
    timed: tuple[str, tuple[str, ...], Callable[[Any], list[TableRow]]] | None = None


def modules_of(paper: Paper | None) -> Mapping[str, str]:
    """Name -> module of all tables that a study of a paper may ask for. Raises InputError: the paper declares one that
    exists."""
    own = {name: paper.module(module) for name, module in paper.tables.items()} if paper else {}
    if paper and (twice := own.keys() & {*NAMES, *(f"{name}_seconds" for name in NAMES), "metrics", "tables"}):
        raise InputError(f"{paper.id}: the table {min(twice)} exists already; choose another name")
    return {**{name: f"{__name__}.{name}" for name in NAMES}, **own}


def table_of(name: str, paper: Paper | None) -> Table | None:
    """What a table of a study of a paper is, or its other one by the clock; None for a file that is none of them.
    Raises InputError: the module of the paper has none."""
    known = modules_of(paper)
    name = name.removesuffix("_seconds")
    if name not in known:
        return None
    if paper and name in paper.tables:
        return declared(paper_module(paper, paper.tables[name]), "TABLE", Table)
    return cast(Table, importlib.import_module(known[name]).TABLE)


def of_maps(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that say which cell of a map a row is: its number and its parameters."""
    return tuple(name for name in columns if name == "cell" or name.startswith("parameter_"))
