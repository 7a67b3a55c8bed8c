"""Generic figures against the step: state error, energy error and length error, one panel for each problem of a study;
and error constants of methods of one order side by side."""
from functools import lru_cache
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.labels import EndLabel, end_labels
from liestep.figures.marks import marks
from liestep.figures.panels import grid, hollow, label_of, legend_below, logarithmic, slope_triangle
from liestep.figures.style import DOUBLE, Results, drawing, subplots
from liestep.study.tables.kinds.orders import orders_table
from liestep.study.tables.metrics import over_steps
from liestep.study.tables.order import FLOOR_FACTOR, LARGEST_ERROR

NEAR = 0.1  # a whole number: an exponent that is so close to it, or within its uncertainty, has a triangle
PANEL = 38.0  # mm, height of a panel without its title and the label of its axis
# class of an estimate -> what stands beside the curve
CLASSES = {"short range": "short", "pre-asymptotic": "bent", "floor-limited": "floor", "saturated": "> 0.1",
           "failed": "few runs"}


def _ladder(results: Results, column: str, label: str, order: str | None, floor: bool) -> Figure:
    """Panels of `column` over the step, with the orders beside the curves and one legend below all panels. order:
    prefix of the columns of the order table ("" for the state error, "energy_"), None for no orders."""
    metrics = over_steps(results.metrics)
    metrics = metrics.loc[metrics[column].notna() & (metrics["members"] == 1),
                          list(dict.fromkeys(("problem", "integrator", "status", "step", "error", "floor",
                                              "floor_reference", column)))]
    problems = [problem for problem in results.config.problems if (metrics["problem"] == problem).any()]
    orders = _orders(results) if order is not None else {}
    figure, axes = grid([label_of(results, problem) for problem in problems], 54.0, extra=12.0)
    styles, used = marks(results), set()
    for panel, problem in zip(axes, problems, strict=True):
        rows = metrics[metrics["problem"] == problem]
        complete = dict(iter(rows[rows["status"] == "ok"].groupby("integrator")))
        labels: list[EndLabel] = []
        anchors: dict[int, tuple[Any, ...]] = {}
        for key in styles:
            if key not in complete:
                continue
            runs = complete[key]
            x, y = runs["step"].to_numpy(float), runs[column].to_numpy(float)
            solid = admissible(runs) if floor else np.ones(len(x), dtype=bool)
            hollow(panel, x, y, styles[key], solid)
            found = orders.get((problem, key))
            used.add(key)
            shown = np.isfinite(y) & (y > 0.0)
            if found is not None and shown.any():
                last = int(np.argmax(np.where(shown, x, 0.0)))
                labels.append(EndLabel(x[last], y[last], _order_text(found, order), styles[key]))
            number = _whole_order(found, order) if found is not None else None
            if number is not None and solid.sum() > 1:
                constant = float(np.median(y[solid]/x[solid]**number))
                if number not in anchors or constant < anchors[number][0]:  # below the best is room for a triangle
                    anchors[number] = (constant, x[solid], y[solid])
        for number, (_, x, y) in anchors.items():
            slope_triangle(panel, x, y, number)
        logarithmic(panel)
        if floor:
            _floor_band(panel, rows)
        panel.set(xlabel="step $h$ (s)", ylabel=label)
        end_labels(panel, labels, PANEL)
    legend_below(figure, [styles[key] for key in styles if key in used])
    return figure


def _name(column: str, prefix: str | None) -> str:
    return {"p": "order", "u": "u", "class": "class"}[column].join((prefix, "")) if prefix else column


@lru_cache(maxsize=1)
def _orders(results: Results) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["problem"], row["integrator"]): row for row in orders_table(over_steps(results.metrics))}


def _order_text(row: dict[str, Any], prefix: str | None) -> str:
    """Observed order with its uncertainty, or why there is none."""
    if row["adaptive"]:
        return "tol."
    kind = row[_name("class", prefix)]
    if kind != "asymptotic":
        return CLASSES[kind]
    return f"{row[_name('p', prefix)]:.2f} ± {row[_name('u', prefix)]:.2f}"


def _whole_order(row: dict[str, Any], prefix: str | None) -> int | None:
    """The whole number that a curve's exponent is, None where it is none: theory may promise
    less than a problem shows."""
    if row["adaptive"] or row[_name("class", prefix)] != "asymptotic":
        return None
    exponent, uncertainty = row[_name("p", prefix)], row[_name("u", prefix)]
    number = round(exponent)
    return number if number > 0 and abs(exponent - number) <= max(uncertainty, NEAR) else None


def admissible(runs: pandas.DataFrame) -> np.ndarray:
    """Points that order estimates may use."""
    error, floor = runs["error"].to_numpy(float), runs["floor"].fillna(runs["floor_reference"]).to_numpy(float)
    return (error >= FLOOR_FACTOR*floor) & (error <= LARGEST_ERROR)


def _floor_band(axes: Axes, rows: pandas.DataFrame) -> None:
    """Grey from the disagreement of the two reference engines downwards; the limits hold it and all points."""
    level, errors = rows["floor_reference"].max(), rows.loc[rows["error"] > 0.0, "error"]
    if level > 0.0:
        bottom = 0.3*min(errors.min(), level)
        axes.axhspan(bottom, level, color="0.87", linewidth=0.0, zorder=0.5)
        axes.set_ylim(bottom, 3.0*errors.max())


@drawing("{title}: scaled state error against the step. Beside each curve stands its observed order with its"
         " uncertainty, or why it has none. {runs} Adaptive methods stand at their mean accepted step. Hollow points"
         " lie within 30 floors of the reference or above 0.1 and are in no estimate; the grey band is the disagreement"
         " of the two reference engines. Bent: the slope still changes; short: it holds over less than a decade; floor:"
         " too few errors above it; > 0.1: all errors are saturated; tol.: adaptive. Triangles stand under measured"
         " curves.")
def convergence(results: Results) -> Figure:
    return _ladder(results, "error", "state error", "", floor=True)


@drawing("{title}: mean energy error over all steps against the step (mean accepted step of adaptive methods),"
         " divided by the largest kinetic energy of the reference where there is one. Its exponent, beside the curves,"
         " is not the order of the method; words there as in the figure convergence. {runs}")
def energy_convergence(results: Results) -> Figure:
    relative = results.metrics["energy_error_mean_relative"].notna().any()
    if relative:
        return _ladder(results, "energy_error_mean_relative", "mean $|E - E(0)|/E_s$", "energy_", floor=False)
    return _ladder(results, "energy_error_mean", "mean $|E - E(0)|$ (J)", None, floor=False)


@drawing("{title}: mean over steps and bodies of |1 - q.q| against the step (mean accepted step of adaptive methods);"
         " exact zeros are left out. {runs}")
def length_convergence(results: Results) -> Figure:
    return _ladder(results, "unit_length_error_mean", "mean $|1 - q_i\\cdot q_i|$", None, floor=False)


@drawing("{title}: e/h^p for the theoretical order p, median over the admissible runs (bar: all of them), divided by"
         " that of the first integrator of the study that has the same order on the same problem. {runs}")
def error_constants(results: Results) -> Figure:
    styles, rows = marks(results), []
    for problem in results.config.problems:
        first: dict[float, float] = {}
        for key in styles:
            runs = results.select(problem, key)
            runs = runs[(runs["status"] == "ok") & ~runs["adaptive"].astype(bool)]
            constants = (runs["error"]/runs["step"]**runs["order"]).to_numpy(float)[admissible(runs)]
            if constants.size:
                order = float(runs["order"].iloc[0])
                scale = first.setdefault(order, float(np.median(constants)))
                rows.append((f"{label_of(results, problem)}, " if len(results.config.problems) > 1 else "", key, order,
                             constants/scale))
    if not rows:
        raise InputError(f"study {results.study.name} has no admissible errors of fixed steps, which the figure"
                         " error_constants needs")
    figure, axes = subplots(DOUBLE, 6.0*len(rows) + 16.0)
    for place, (_, key, _, constants) in enumerate(rows):
        middle = float(np.median(constants))
        axes.plot([constants.min(), constants.max()], [place, place], color=styles[key].colour, linewidth=1.2)
        axes.plot([middle], [place], **styles[key].points)
        axes.annotate(f"{middle:.3g}", (middle, place), xytext=(0.0, 4.0), textcoords="offset points", ha="center",
                      fontsize=6.0, color="0.35")
    axes.set_yticks(range(len(rows)),
                    [f"{problem}{styles[key].label}, order {order:g}" for problem, key, order, _ in rows])
    axes.set(ylim=(len(rows) - 0.5, -0.7), xscale="log")
    axes.axvline(1.0, color="0.6", linewidth=0.6, zorder=0.8)
    axes.set_xlabel("error constant, relative")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(lambda x, position: f"{x:g}" if f"{x:.0e}"[0] in "235" else "")
    return figure
