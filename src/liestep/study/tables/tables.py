"""All tables of a study: tidy CSV files, and tables.md to read."""
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from liestep.files.textfiles import csv_text, write_text_atomically
from liestep.study.plan.maps import CELLS, is_reduced
from liestep.study.plan.plan import Study
from liestep.study.tables import (
    cells_table,
    crossover,
    drift_table,
    ensembles,
    exponents_table,
    growth,
    metrics,
    order_table,
    takeover,
    validity,
    which_page,
    which_table,
    work_table,
)
from liestep.study.tables.results import StudyResults
from liestep.study.tables.steps import ACCEPTED, over_steps

RUN = ("study", "problem", "problem_label", "integrator", "integrator_id", "integrator_label", "resolution", "step",
       "tolerance", "t_end", "members", "status", "message")
LARGEST = re.compile(r"_error_max(_\w+)?$")
LENGTH = ("unit_length_error_mean", "unit_length_error_max", "tangency_error_max")
ENERGY_COLUMNS = (*RUN, "energy_start", "energy_change", "energy_error_mean", "energy_error_max",
                  "energy_error_mean_relative", "member_low", "member_median", "member_high", *LENGTH)
MOMENTUM_COLUMNS = (*RUN, "momentum_conserved", "momentum_scale", *(f"momentum_error_max_{axis}" for axis in "xyz"),
                    "momentum_error_max", "momentum_error_max_relative", *LENGTH)
READABLE = {  # columns of tables.md
    "orders": ("problem_label", "integrator_label", "order_theory", "p", "u", "class", "window_h_min", "window_h_max",
               "points", "floor", "energy_order", "verdict"),
    "energy": ("problem_label", "integrator_label", "resolution", "status", "energy_error_mean", "energy_error_max",
               "energy_change", "energy_error_mean_relative", "member_low", "member_median", "member_high",
               "unit_length_error_mean"),
    "momentum": ("problem_label", "integrator_label", "resolution", "status", "momentum_conserved",
                 "momentum_error_max_x", "momentum_error_max_y", "momentum_error_max_z", "momentum_error_max_relative",
                 "unit_length_error_max"),
    "drift": ("problem", "integrator", "resolution", "invariant", "t_end", "verdict", "verdict_alone",
              "confirmed_by", "confirms", "amplitude", "slope", "bound", "growth", "reason"),
    "crossover": (*crossover.PAIR[1:], "t_end", "crossover", "first", "last", "other_first", "other_last"),
    "growth": ("problem_label", "integrator_label", "resolution", "t_end", "status", "growth", "reason", "error",
               "floor"),
    "horizons": ("problem", "integrator", "resolution", "t_end", "amplitude", "horizon", "lyapunov_time",
                 "horizon_lyapunov_times", "separation_end"),
    "exponents": exponents_table.COLUMNS[1:],
    "work": ("problem_label", "integrator_label", "basis", "error", "steps", "steps_rejected", "force_evaluations",
             "rhs_evaluations", "exponentials", "linear_solves", "iterations_per_step", "cost"),
    "which": which_table.WHICH_COLUMNS[1:], "which_seconds": which_table.WHICH_COLUMNS[1:],
    "matrix": which_table.MATRIX_COLUMNS[1:],
    "takeover": takeover.COLUMNS[1:], "validity": validity.COLUMNS[1:], "ensembles": ensembles.COLUMNS[1:],
}


def analyse(study: Study) -> list[Path]:
    """Write metrics.csv, the tables that the study asks for, and tables.md; returns the paths.

    Raises:
        InputError: a file is missing, incomplete or stale.
    """
    rows = metrics.metrics_rows(study)
    paths = [_write(study, "metrics", metrics.columns(rows), rows)]
    if is_reduced(study.config):
        cells_table.write_cells(study)
        paths.append(study.folder/CELLS)
    results = StudyResults(study)
    parts = [f"# {study.config.title}\n", study.config.description.strip() + "\n" if study.config.description else ""]
    for name in study.config.tables:
        columns, rows = TABLES[name](results)
        paths.append(_write(study, name, columns, rows))
        if name == "which":
            paths += _write_which(results, rows)
        shown = readable(name, columns)
        parts += [f"## {name}\n",
                  markdown([column for column in shown if any(filled(row.get(column)) for row in rows)], rows)]
    if (study.folder/"timings.csv").is_file() and "work" in study.config.tables:
        paths.append(write_seconds(study))
    page = study.folder/"tables.md"
    write_text_atomically(page, "\n".join(part for part in parts if part))
    return [*paths, page]


def _write_which(results: StudyResults, rows: list[dict[str, Any]]) -> Iterable[Path]:
    """Write the page, and where runs are timed the table by seconds, which is no part of tables.md."""
    if results.config.timing:
        timed = which_table.which_rows(results, which_table.CLOCK)
        yield _write(results.study, "which_seconds", which_table.WHICH_COLUMNS, timed)
        rows = [*rows, *timed]
    path = results.study.folder/"which.md"
    write_text_atomically(path, which_page.which_page(results, rows))
    yield path


def of_maps(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns that say which cell of a map a row is: its number and its parameters."""
    return tuple(name for name in columns if name == "cell" or name.startswith("parameter_"))


def readable(name: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Columns of a table that people read."""
    chosen = READABLE.get(name)
    if chosen is None:
        return tuple(columns)
    place = chosen.index("resolution") + 1 if "resolution" in chosen else len(chosen)
    return (*chosen[:place], *of_maps(columns), *chosen[place:])


def _write(study: Study, name: str, columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> Path:
    path = study.folder/f"{name}.csv"
    write_text_atomically(path, csv_text(columns, rows))
    return path


def filled(value: Any) -> bool:
    """Neither None nor NaN."""
    return value is not None and value == value


def markdown(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A table with five significant digits; what is missing is empty."""
    columns = list(columns)
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |"*len(columns)]
    lines += ["| " + " | ".join(_text(row.get(name)) for name in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _text(value: Any) -> str:
    if not filled(value):
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value).replace("|", "\\|")


def _orders(results: StudyResults) -> tuple:
    return order_table.COLUMNS, order_table.orders_table(over_steps(results.metrics))


def _energy(results: StudyResults) -> tuple:
    """energy_change is E(end) - E(0); member_* are the 5, 50 and 95 % quantiles of an ensemble's mean energy errors.
    All errors are over every step, those of adaptive runs over the accepted ones."""
    rows, columns = [], (*ENERGY_COLUMNS, *of_maps(results.metrics.columns))
    for run in over_steps(results.metrics).to_dict("records"):
        row = {name: run.get(name) for name in columns}
        if run["members"] > 1:
            members = results.file(run["problem"], run["integrator"], run["resolution"]).variables
            means = members.get(f"energy_error_mean{ACCEPTED}", members["energy_error_mean"])
            row |= dict(zip(("member_low", "member_median", "member_high"),
                            map(float, np.quantile(means, (0.05, 0.5, 0.95))), strict=True))
        rows.append(row)
    return columns, rows


def _momentum(results: StudyResults) -> tuple:
    """momentum_error_max_relative: over the conserved components, divided by sum_i |sum_j M_ij v_j| at the start. The
    largest errors of all further invariants and residuals of the systems follow."""
    rows = []
    further = [name for name in results.metrics.columns
               if LARGEST.search(name) and not name.endswith(ACCEPTED) and name not in metrics.STATISTICS]
    columns = (*MOMENTUM_COLUMNS, *further, *of_maps(results.metrics.columns))
    for run in over_steps(results.metrics).to_dict("records"):
        scale = run["momentum_scale"]
        relative = {"momentum_error_max_relative": run["momentum_error_max"]/scale if scale else None}
        rows.append({name: run.get(name) for name in columns} | relative)
    return columns, rows


def _work(results: StudyResults) -> tuple:
    return work_table.COLUMNS, work_table.work_rows(results.metrics)


def write_seconds(study: Study) -> Path:
    """seconds.csv from timings.csv and metrics.csv.

    Raises:
        InputError: one of them is missing or stale.
    """
    results = StudyResults(study)
    return _write(study, "seconds", work_table.SECONDS_COLUMNS,
                  work_table.seconds_rows(results.metrics, results.table("timings")))


TABLES = {"orders": _orders, "energy": _energy, "momentum": _momentum, "work": _work,
          "drift": lambda results: (drift_table.DRIFT_COLUMNS, drift_table.drift_rows(results.study)),
          "horizons": lambda results: (drift_table.HORIZON_COLUMNS, drift_table.horizon_rows(results.study)),
          "exponents": lambda results: (exponents_table.COLUMNS, exponents_table.exponent_rows(results.study)),
          "which": lambda results: (which_table.WHICH_COLUMNS, which_table.which_rows(results)),
          "matrix": lambda results: (which_table.MATRIX_COLUMNS, which_table.matrix_rows(results)),
          "takeover": lambda results: (takeover.COLUMNS, takeover.takeover_rows(results)),
          "validity": lambda results: (validity.COLUMNS, validity.validity_rows(results)),
          "ensembles": lambda results: (ensembles.COLUMNS, ensembles.ensemble_rows(results)),
          "growth": lambda results: (growth.COLUMNS, growth.growth_rows(results)),
          "crossover": lambda results: (crossover.COLUMNS, crossover.crossover_rows(results))}
