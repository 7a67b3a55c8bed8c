"""What a table of a study declares."""
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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


def of_maps(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that say which cell of a map a row is: its number and its parameters."""
    return tuple(name for name in columns if name == "cell" or name.startswith("parameter_"))
