"""Generic figures of cost: work-precision, iterations over the step, scaling with bodies, where runs end."""
from dataclasses import replace

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.compile.counters import evaluations_of
from liestep.errors import InputError
from liestep.figures.ladders import admissible
from liestep.figures.marks import DASHDOT, DOTTED, Mark, marks
from liestep.figures.panels import grid, hollow, label_of, legend_below, logarithmic
from liestep.figures.style import DOUBLE, Results, drawing, new_figure

COSTS = (("evaluations", "evaluations"), ("exponentials", "exponentials"), ("iterations", "solver iterations"),
         ("seconds", "seconds"))
# other runtimes: their overhead is not that of the core
OTHERS = (Mark("#9A9A9A", "", DASHDOT, ""), Mark("#B08D57", "", DOTTED, ""))


@drawing("{title}: state error against what it costs. The lower and the further left a curve, the better. {runs} One"
         " row for each problem; costs are evaluations of forces (of right-hand sides, where a system has no forces of"
         " its own), exponentials of group methods, iterations of implicit solvers, and seconds of a run alone without"
         " statistics; what fewer than two methods use has no column, unless there is only one method. Hollow points"
         " lie within 30 floors of the reference or above 0.1. Lines over seconds lead through the runs that no other"
         " beats in time and error; those without markers are other runtimes on the same problem: their overhead is not"
         " that of the compiled core.")
def work_precision(results: Results) -> Figure:
    metrics = results.metrics
    metrics = metrics.assign(evaluations=evaluations_of(metrics))[metrics["error"].notna()]
    # few: rows are copied often
    metrics = metrics[["problem", "integrator", "error", "floor", "floor_reference", *(name for name, _ in COSTS)]]
    problems = [problem for problem in results.config.problems if (metrics["problem"] == problem).any()]
    least = min(2, metrics["integrator"].nunique())
    costs = [(name, label) for name, label in COSTS if metrics.loc[metrics[name] > 0, "integrator"].nunique() >= least]
    if not problems:
        raise InputError(f"study {results.study.name} has no state errors, which work_precision needs: set"
                         " `reference: true`")
    figure = new_figure(DOUBLE, 41.0*len(problems) + 20.0)
    axes = figure.subplots(len(problems), len(costs), squeeze=False, sharey="row", sharex="col")
    styles, used = marks(results), set()
    for row, problem in enumerate(problems):
        here = metrics[metrics["problem"] == problem]
        for column, (name, label) in enumerate(costs):
            panel = axes[row, column]
            keys = _costs(panel, here, name, styles)
            used |= keys
            logarithmic(panel)
            if not keys:
                panel.text(0.5, 0.5, f"no {label}", transform=panel.transAxes, ha="center", va="center", color="0.45")
            if row == 0:
                panel.set_title(f"error over {label}")
            if row == len(problems) - 1:
                panel.set_xlabel(label)
        axes[row, 0].set_ylabel(f"{label_of(results, problem)}\nstate error")
    others = _others(results, axes[:, -1], problems) if costs[-1][0] == "seconds" else []
    legend_below(figure, [*(styles[key] for key in styles if key in used), *others])
    return figure


def _costs(axes: Axes, runs: pandas.DataFrame, name: str, styles: dict[str, Mark]) -> set[str]:
    """Curves of all integrators with this cost; returns their keys."""
    found = dict(iter(runs[runs[name] > 0].groupby("integrator")))
    used = [key for key in styles if key in found]
    for key in used:
        rows = found[key]
        if name == "seconds":
            # all points, and a line through those that no other run beats in time and error: measured times scatter
            seconds, errors = rows[name].to_numpy(float), rows["error"].to_numpy(float)
            hollow(axes, seconds, errors, styles[key], admissible(rows), line=False)
            kept = front(seconds, errors)
            axes.plot(seconds[kept], errors[kept], **styles[key].line, linewidth=0.9)
        else:
            hollow(axes, rows[name], rows["error"], styles[key], admissible(rows))
    return set(used)


def front(seconds: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Indices of the runs that are more accurate than every faster one, by growing time."""
    order = [int(k) for k in np.lexsort((errors, seconds)) if np.isfinite(errors[k]) and errors[k] > 0.0]
    best, found = np.inf, []
    for k in order:
        if errors[k] < best:
            best = float(errors[k])
            found.append(k)
    return np.array(found, dtype=int)


def _others(results: Results, axes: np.ndarray, problems: list[str]) -> list[Mark]:
    """Timings of other runtimes, from timings.csv."""
    table = results.table("timings")
    table = table[(table["runtime"] != "core") & table["error"].notna()]
    found = []
    for mark, name in zip(OTHERS, dict.fromkeys(table["integrator"]), strict=False):
        for panel, problem in zip(axes, problems, strict=True):
            rows = table[(table["problem"] == problem) & (table["integrator"] == name)].sort_values("tolerance")
            seconds, errors = rows["seconds"].to_numpy(float), rows["error"].to_numpy(float)
            kept = front(seconds, errors)
            panel.plot(seconds[kept], errors[kept], color=mark.colour, linestyle=mark.dash, linewidth=1.3, zorder=1.5)
        found.append(replace(mark, label=f"{name}, other runtime"))
    return found


@drawing("{title}: mean number of solver iterations in a step (in a stage of compositions) against the step. Problems"
         " and methods without iterations are left out. {runs}")
def iterations(results: Results) -> Figure:
    metrics = results.metrics
    metrics = metrics[(metrics["iterations"] > 0) & (metrics["status"] == "ok")]
    several = metrics.groupby("problem")["step"].nunique()
    problems = [problem for problem in results.config.problems if several.get(problem, 0) > 1]
    figure, axes = grid([label_of(results, problem) for problem in problems], 48.0, extra=12.0)
    styles, used = marks(results), set()
    for panel, problem in zip(axes, problems, strict=True):
        here = metrics[metrics["problem"] == problem]
        for key, mark in styles.items():
            rows = here[here["integrator"] == key].sort_values("step")
            if len(rows):
                panel.plot(rows["step"], rows["iterations"]/_solves(results, rows), **mark.line, marker=mark.marker)
                used.add(key)
        logarithmic(panel, y=False)
        panel.set(ylim=(0.0, None), xlabel="step $h$ (s)", ylabel="iterations per stage")
    legend_below(figure, [styles[key] for key in styles if key in used])
    return figure


def _solves(results: Results, rows: pandas.DataFrame) -> pandas.Series:
    """Implicit solves of runs: one for each gradient but the first, which opens the run."""
    return (rows["force_evaluations"] - 1).clip(lower=1)


@drawing("{title}: iterations in a step, and seconds for a step, against the number of bodies n, for the system of the"
         " study that has several sizes, at the smallest step of each size; thin lines show growth like n and like"
         " n cubed. {runs}")
def scaling(results: Results) -> Figure:
    bodies = [len(next(iter(cell.spec.initial.values()))) for cell in results.study.cells]
    metrics = results.metrics.assign(bodies=bodies)
    metrics = metrics[metrics["status"] == "ok"]
    sizes = metrics.groupby("system")["bodies"].nunique()
    systems = [name for name in dict.fromkeys(metrics["system"]) if sizes[name] > 1]
    if not systems:
        raise InputError(f"study {results.study.name} has no system in several sizes, which the figure scaling needs")
    here = metrics[metrics["system"] == systems[0]]
    here = here.sort_values(["bodies", "step"]).groupby(["integrator", "bodies"], sort=False).first().reset_index()
    here = here.assign(per_step=here["iterations"]/_solves(results, here), cost=here["seconds"]/here["steps"])
    wanted = [(name, label) for name, label in (("per_step", "iterations per step"),
                                                ("cost", "seconds per step")) if here[name].gt(0).any()]
    figure, axes = grid([label for _, label in wanted], 62.0, extra=10.0)
    styles, used = marks(results), set()
    for panel, (name, label) in zip(axes, wanted, strict=True):
        for key, mark in styles.items():
            rows = here[(here["integrator"] == key) & here[name].gt(0)]
            if len(rows) > 1:
                panel.plot(rows["bodies"], rows[name], **mark.line, marker=mark.marker)
                used.add(key)
        logarithmic(panel, y=name == "cost")
        if name == "cost":
            _guides(panel, here)
        else:
            panel.set_ylim(bottom=0.0)
        ticks = sorted(set(here["bodies"]))
        panel.set_xticks(ticks, [str(n) for n in ticks])
        panel.set_xticks([], minor=True)
        panel.set(xlabel="bodies n", ylabel=label)
    legend_below(figure, [styles[key] for key in styles if key in used])
    return figure


def _guides(axes: Axes, rows: pandas.DataFrame) -> None:
    """Growth like n and n^3 from below the cheapest method at the smallest size."""
    n = np.array(sorted(set(rows["bodies"])), dtype=float)
    start = 0.5*rows[rows["bodies"] == n[0]]["cost"].min()
    for power in (1, 3):
        values = start*(n/n[0])**power
        axes.plot(n, values, color="0.6", linewidth=0.6, linestyle="-", zorder=1.0)
        axes.annotate("n" if power == 1 else f"n$^{power}$", (n[-1], values[-1]), xytext=(3, 0),
                      textcoords="offset points", va="center", fontsize=6.5, color="0.45")


@drawing("{title}: time that runs reach, against the step; crosses: stopped early. {runs}")
def failures(results: Results) -> Figure:
    metrics = results.metrics
    metrics = metrics[metrics["step"].notna() & (metrics["members"] == 1)]
    problems = [problem for problem in results.config.problems if (metrics["problem"] == problem).any()]
    figure, axes = grid([label_of(results, problem) for problem in problems], 60.0, extra=10.0)
    styles, used = marks(results), set()
    for panel, problem in zip(axes, problems, strict=True):
        here = metrics[metrics["problem"] == problem]
        for key, mark in styles.items():
            rows = here[here["integrator"] == key].sort_values("step")
            if len(rows):
                stopped = (rows["status"] != "ok").to_numpy(bool)
                x, y = rows["step"].to_numpy(float), rows["time_reached"].to_numpy(float)
                panel.plot(x, y, **mark.line)
                panel.plot(x[~stopped], y[~stopped], **mark.points)
                panel.plot(x[stopped], y[stopped], color=mark.colour, marker="x", markeredgewidth=1.1, linestyle="none")
                used.add(key)
        logarithmic(panel)
        panel.axhline(here["t_end"].max(), color="0.6", linewidth=0.6, linestyle=":")
        panel.set(xlabel="step $h$ (s)", ylabel="time reached (s)")
    legend_below(figure, [styles[key] for key in styles if key in used])
    return figure
