"""The table `work`: what an error costs, or, without a reference, what a run costs."""
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from liestep.files.textfiles import TableRow
from liestep.study.tables.kinds import Table

if TYPE_CHECKING:  # claims are read without pandas
    import pandas

LEVELS = (1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
COUNTERS = ("force_evaluations", "rhs_evaluations", "exponentials", "linear_solves", "iterations", "steps_rejected")
WORK = ("steps", *COUNTERS, "cost")
PAIR = ("study", "problem", "problem_label", "integrator", "integrator_id", "integrator_label")
COLUMNS = (*PAIR, "basis", "error", *WORK, "iterations_per_step")
SECONDS_COLUMNS = (*PAIR, "runtime", "basis", "error", "seconds")


def work_rows(metrics: "pandas.DataFrame") -> list[TableRow]:
    """Rows with columns COLUMNS; basis says what a row is. basis "equal error": work at the state error `error`, by
    interpolation between runs in log-log; an error that a method's runs do not enclose has no row. basis = a
    resolution: one run, in studies without a reference."""
    return [row | {"iterations_per_step": row["iterations"]/row["steps"]} for row in _rows(metrics, WORK)]


def seconds_rows(metrics: "pandas.DataFrame", timings: "pandas.DataFrame") -> list[TableRow]:
    """The same of seconds, columns SECONDS_COLUMNS: a table of its own, because times differ between machines and
    between runs. Rows of runtime "other runtime" hold seconds of scipy and heyoka."""
    rows = [row | {"runtime": "core"} for row in _rows(metrics[metrics["seconds"].notna()], ("seconds",))]
    others = timings[timings["runtime"] == "other runtime"]
    for (problem, integrator), runs in others.groupby(["problem", "integrator"], sort=False):
        label = metrics.loc[metrics["problem"] == problem, "problem_label"].iloc[0]
        values = (runs.iloc[0]["study"], problem, label, integrator, integrator, integrator)
        common = {**dict(zip(PAIR, values, strict=True)), "runtime": "other runtime"}
        rows += [common | row for row in at_equal_error(runs, ("seconds",))]
    return rows


def _rows(metrics: "pandas.DataFrame", names: tuple[str, ...]) -> list[TableRow]:
    rows = []
    for _, runs in metrics[metrics["status"] == "ok"].groupby(["problem", "integrator"], sort=False):
        common = dict(runs.iloc[0][list(PAIR)])
        if runs["error"].notna().any():
            rows += [common | row for row in at_equal_error(runs, names)]
        else:
            rows += [common | {name: run[name] for name in names} | {"basis": run["resolution"]}
                     for _, run in runs.iterrows()]
    return rows


def at_equal_error(runs: "pandas.DataFrame", names: tuple[str, ...],
                   levels: tuple[float, ...] = LEVELS) -> list[TableRow]:
    """Values of the columns `names` at the levels that the runs enclose, from the first pair of neighbours (decreasing
    step or tolerance) whose errors enclose the level; interpolated in log-log, zero work stays zero."""
    runs = runs[runs["error"].notna() & (runs["error"] > 0.0)]
    runs = runs.sort_values("tolerance" if runs["tolerance"].notna().all() else "step", ascending=False)
    error = runs["error"].to_numpy(float)
    rows = []
    for level in levels:
        crossing = np.flatnonzero((error[:-1] >= level) & (error[1:] < level))
        if crossing.size == 0:
            continue
        i = int(crossing[0])
        share = log(error[i]/level)/log(error[i]/error[i + 1])
        row = {"basis": "equal error", "error": level}
        for name in names:
            a, b = runs[name].to_numpy(float)[i:i + 2]
            row[name] = exp((1.0 - share)*log(a) + share*log(b)) if a > 0.0 and b > 0.0 else (1.0 - share)*a + share*b
        rows.append(row)
    return rows


TABLE = Table(COLUMNS, lambda results: work_rows(results.metrics),
    timed=("seconds", SECONDS_COLUMNS, lambda results: seconds_rows(results.metrics, results.table("timings"))),
    readable=("problem_label", "integrator_label", "basis", "error", "steps", "steps_rejected", "force_evaluations",
              "rhs_evaluations", "exponentials", "linear_solves", "iterations_per_step", "cost"))
