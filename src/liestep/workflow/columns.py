"""What each column of the tables is: unit, over which times, meaning; `liestep describe metrics` says it."""
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from liestep.study.tables import metrics, timing
from liestep.study.tables.kinds import NAMES, table_of

Row = tuple[str, str, str]  # column; unit and times; meaning
ENDS = {"_accepted": "over accepted steps", "_reached": "of a run that stopped early, up to the time that it reached",
        **{f"_{axis}": f"component {axis}" for axis in metrics.AXES}}


@cache
def _known() -> dict[str, list[str]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def about(column: str) -> tuple[str, str, str]:
    """Unit, times and meaning of a column. Raises KeyError: it is not described."""
    for end, words in ENDS.items():
        if column.endswith(end) and column not in _known():
            unit, times, meaning = about(column.removesuffix(end))
            return unit, "accepted steps" if end == "_accepted" else times, f"{meaning}; {words}"
    unit, times, meaning = _known()[column]
    return unit, times, meaning


def columns_of_tables() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Tables that every study may have, with their columns; metrics.csv of a study has more, as `FURTHER` says."""
    yield "metrics", metrics.COLUMNS
    yield "timings", timing.COLUMNS
    for name in NAMES:
        table = table_of(name, None)
        assert table is not None
        yield name, sys.modules[table.rows.__module__].COLUMNS
        if table.timed:
            yield table.timed[0], table.timed[1]


FURTHER: list[Row] = [
    ("error_FIELD", "1, common samples of run and reference", "error of one state field, see error"),
    ("OBSERVABLE_mean", "as the observable, every step (adaptive: outputs)", "mean of the deviation's size"),
    ("OBSERVABLE_max", "as the observable, every step (adaptive: outputs)", "largest deviation"),
    ("OBSERVABLE_mean_square", "its square, every step (adaptive: outputs)", "mean of the squared deviation"),
    ("parameter_NAME", "as the parameter", "of maps: its value in the cell"),
    ("NAME_reached", "as the column NAME", f"that {ENDS['_reached']}")]


def dictionary() -> Iterator[tuple[str, str, list[Row]]]:
    """Table, nothing, rows, as `liestep.workflow.schemas.tables` has them. Units are those of presets in SI; where a
    preset has units of its own, in these."""
    for name, columns in columns_of_tables():
        rows = [(column, ", ".join(filter(None, found[:2])), found[2])
                for column, found in ((column, about(column)) for column in columns)]
        yield name, "", rows + FURTHER*(name == "metrics")
