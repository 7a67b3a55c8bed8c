"""Tables and runs as compact data, which the page turns into rows when somebody opens them."""
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas

from liestep.errors import InputError
from liestep.files.textfiles import TableRow, read_text
from liestep.simulation.references.reference import disagreement, study_reference
from liestep.simulation.runs.files import require_current
from liestep.simulation.runs.maps import rows_of
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.tables.columns import headings
from liestep.study.tables.kinds import table_of
from liestep.study.tables.liestep_tables import filled
from liestep.study.tables.results import StudyResults
from liestep.study.tables.tables import readable

HERE = Path("docs")/"run_it_here.html", Path("docs")/"live"/"live.json"  # page that repeats runs, and what it can do
MOST_STEPS = 1_000_000  # there
DIGITS = 8          # significant digits of numbers in the page; the CSV files have all
MOST_NUMBERS = 64   # numbers of an array that the page shows; files of runs have all
MOST_ROWS = 2000    # of runs or of a table beyond which the page shows what they have in common, and how numbers spread
SPREAD = {"low": "smallest", "median": "median", "high": "largest"}
SHOWN = ("problem_label", "integrator_label", "resolution", "status", "warning", "steps", "error", "energy_error_mean",
         "energy_error_max",
         # of a run, before it is opened
         "momentum_error_max_relative", "unit_length_error_max", "orthogonality_error_max", "cost", "seconds")


def table_data(results: StudyResults, name: str) -> dict[str, Any]:
    """Columns with their headings and units, and rows of a table: the readable columns that are not empty. Raises
    InputError: it does not exist, or has rows of runs that are not in the study."""
    table = results.table(name)
    for keys in (("problem", "integrator", "resolution"), ("problem", "integrator")):
        if set(keys) <= set(table.columns) and "runtime" not in table.columns:
            known = {tuple(getattr(cell, key) for key in keys) for cell in results.study.cells}
            known |= set(results.study.not_applicable)  # rows of the table matrix
            for row in table[list(keys)].itertuples(index=False):
                if tuple(row) not in known:
                    raise InputError(f"{results.study.folder/name}.csv has a row {' '.join(row)} that is not in the"
                                     f" study; run `liestep job analyse {results.study.name}` again")
    shown = readable(table_of(name, results.study.paper), table.columns)
    columns = [column for column in shown if column in table.columns and table[column].notna().any()]
    titles = headings(columns, results.study)
    shown = table[columns]
    if len(table) > MOST_ROWS:
        named = [key for key in ("problem", "integrator", "resolution") if key in table.columns]
        shown, titles = aggregates(table[list(dict.fromkeys((*columns, *named)))], titles)
    return {"columns": list(shown.columns), "headings": [titles[name] for name in shown.columns], "rows": _rows(shown)}


def aggregates(table: pandas.DataFrame, titles: Mapping[str, tuple[str, str]]) -> tuple[pandas.DataFrame,
                                                                                       dict[str, tuple[str, str]]]:
    """One row for all rows of a problem, integrator and resolution, and the headings of its columns: how many rows and
    how many of them are ok, what they have in common, smallest, median and largest of numbers that differ."""
    size = table["resolution"].str.partition("_")[0] if "resolution" in table.columns else ""
    table, found, headed = table.assign(resolution=size), [], {**titles, "runs": ("runs", ""), "ok": ("came to their"
                                                                                                   " end", "")}
    for _, rows in table.groupby(["problem", "integrator", "resolution"], sort=False):
        row: TableRow = {}
        for name, values in rows.items():
            if name not in titles:
                continue
            if values.nunique(dropna=False) == 1:
                row[name] = values.iloc[0]
            elif pandas.api.types.is_numeric_dtype(values) and name != "cell":
                row |= {f"{name}_{kind}": getattr(values, how)() for kind, how in
                        (("low", "min"), ("median", "median"), ("high", "max"))}
                headed |= {f"{name}_{kind}": (f"{titles[name][0]}, {word}", titles[name][1])
                           for kind, word in SPREAD.items()}
        row["runs"] = len(rows)
        if "status" in rows:
            row["ok"] = int((rows["status"] == "ok").sum())
        found.append(row)
    return pandas.DataFrame(found), headed


def _rows(table: pandas.DataFrame) -> list[list]:
    return [[_value(item) for item in row] for row in table.itertuples(index=False)]


def _value(item: Any) -> Any:
    """A cell as JSON can hold it: missing is None, numbers have DIGITS digits."""
    if not filled(item):
        return None
    if hasattr(item, "item"):
        item = item.item()
    if isinstance(item, float):
        short = float(f"{item:.{DIGITS}g}")
        return (int(short) if short.is_integer() and abs(short) < 1e15 else short
                if abs(short) != float("inf") else str(short))
    return item


def runs_data(results: StudyResults) -> dict[str, Any]:
    """Every run of a study: its row of metrics.csv and what its file was made from. What runs share is stored once.
    Raises InputError: metrics.csv is missing or stale."""
    metrics = results.metrics
    columns = [column for column in metrics.columns if metrics[column].notna().any()]
    titles = headings(columns, results.study)
    number = int(metrics["trajectories"].fillna(1).sum()) if "trajectories" in columns else len(metrics)
    cells = [cell for cell in results.study.cells for _ in range(rows_of(cell.spec))]
    rows = metrics[columns]
    if len(metrics) > MOST_ROWS:
        size = metrics["resolution"].str.partition("_")[0]
        first = ~metrics.assign(resolution=size).duplicated(["problem", "integrator", "resolution"])
        cells = [cell for cell, is_first in zip(cells, first, strict=True) if is_first]
        rows, titles = aggregates(rows, titles)
        rows = rows.assign(path=list(metrics["path"][first]), source_hash=list(metrics["source_hash"][first]))
    specifications = [{name: abbreviate(value) for name, value in cell.spec.canonical().items()} for cell in cells]
    shown = [column for name in SHOWN for column in (name, *(f"{name}_{kind}" for kind in SPREAD))
             if column in rows.columns]
    return {"columns": list(rows.columns), "headings": [titles[name] for name in rows.columns], "count": number,
            "rows": _rows(rows), "shown": shown + [name for name in ("runs", "ok") if name in rows.columns],
            "source_hash": shared(list(rows["source_hash"])),
            "here": shared([run_here(cell.spec, results.study.folder) for cell in cells]),
            "specification": {name: shared([spec.get(name) for spec in specifications])
                              for name in dict.fromkeys(name for spec in specifications for name in spec)}}


@cache
def _here(folder: Path) -> dict[str, Any]:
    known = all((folder/path).is_file() for path in HERE)
    return json.loads(read_text(folder/HERE[1]))["systems"] if known else {}


def run_here(spec: RunSpecification, folder: Path) -> str:
    """Address, seen from a folder of this checkout, of the page that repeats a run in a browser; empty where it does
    not know its system, start, parameters, method, options or step, and from elsewhere: bytes do not depend on where
    results lie."""
    told, within = spec.canonical(), folder.resolve().is_relative_to(Path.cwd())
    for name, system in _here(Path.cwd()).items() if within else ():
        starts = [key for key, start in system["presets"].items() if system["system"] == told["problem"]
                  and all(start[entry] == told[entry] for entry in ("parameters", "initial"))]
        left, marks = system["methods"].get(spec.integrator), system["marks"]
        if (starts and left and left["options"] == told["options"] and spec.steps and spec.steps <= MOST_STEPS
                and not (told["t_start"] or told["ensemble"] or told.get("before") or told.get("events"))
                and spec.step and marks[0]/2 <= spec.step <= 4*marks[-1]):
            right = next(key for key in system["methods"] if key != spec.integrator)
            asked = {"system": name, "preset": starts[0], "left": spec.integrator, "right": right, "step": spec.step,
                     "end": spec.t_end}
            return f"{Path(os.path.relpath(HERE[0], folder)).as_posix()}#{urlencode(asked)}"
    return ""


def shared(values: list) -> dict[str, list]:
    """Distinct values, and for each item its place among them (left out where all are equal)."""
    texts = list(map(repr, values))
    distinct = dict(zip(texts, values, strict=True))
    places = {text: place for place, text in enumerate(distinct)}
    choices = {"values": list(distinct.values())}
    return choices if len(distinct) == 1 else choices | {"of": [places[text] for text in texts]}


def abbreviate(value: Any) -> Any:
    """Long arrays by their shape and range."""
    if isinstance(value, Mapping):
        return {name: abbreviate(item) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    try:
        numbers = np.array(value)
    except ValueError:  # lists of different lengths
        return value
    if numbers.size <= MOST_NUMBERS or numbers.dtype.kind not in "biuf":
        return value
    return (f"{' x '.join(map(str, numbers.shape))} numbers from {numbers.min():.6g} to {numbers.max():.6g}, all in the"
            " file's attribute specification")


def references_data(results: StudyResults) -> list[dict[str, Any]]:
    """Reference of each problem: file, engines, hashes; empty without. Raises InputError: missing or stale."""
    if not results.config.reference:
        return []
    rows = []
    for problem in results.config.problems:
        path, spec = study_reference(results.study, problem)
        attributes = require_current(path, spec, ()).attributes
        rows.append({"problem": problem, "path": path, "engines": attributes["engines"],
                      "disagreement": disagreement(attributes), "run_sha256": attributes["run_sha256"],
                      "source_hash": attributes["source_hash"]})
    return rows
