"""One file for each table that a study may ask for, named after it, declares `TABLE`. Nothing lists them."""
import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pkgutil import iter_modules
from typing import Any, cast

NAMES = tuple(sorted(found.name for found in iter_modules(__path__)))
KEYS = ("study", "problem", "integrator")  # columns of nearly every table


@dataclass(frozen=True)
class Table:
    """A table: the columns of its CSV file, or what gives them, and how its rows are made from the study's results
    (`study.tables.results.StudyResults`); it is out of date when anything that its module imports is edited."""

    columns: tuple[str, ...] | Callable[[Any], Sequence[str]]
    rows: Callable[[Any], list[dict[str, Any]]]
    readable: tuple[str, ...]      # columns of tables.md and of the report
    keys: tuple[str, ...] = KEYS   # columns without which it is no table of a study
    needed: tuple[str, ...] = ()   # further columns that others read

    def columns_of(self, results: Any) -> tuple[str, ...]:
        return tuple(self.columns(results) if callable(self.columns) else self.columns)


def table_of(name: str) -> Table | None:
    """What a table is, or its other one by seconds; None for a file of a study that is none of them."""
    name = name.removesuffix("_seconds")
    return cast(Table, importlib.import_module(f"{__name__}.{name}").TABLE) if name in NAMES else None


def of_maps(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that say which cell of a map a row is: its number and its parameters."""
    return tuple(name for name in columns if name == "cell" or name.startswith("parameter_"))
