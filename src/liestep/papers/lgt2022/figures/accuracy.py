"""Errors and joints of the local-global transition maps: what the paper leaves to further research."""
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.figures.marks import Mark, marks
from liestep.figures.panels import label_of, legend_below, line_handle, logarithmic
from liestep.figures.selection import ladder
from liestep.figures.style import DOUBLE, drawing, new_figure

if TYPE_CHECKING:
    from liestep.analysis.results import StudyResults

LEAST = 1e-16  # a residual of zero is drawn here


def _panels(results: "StudyResults", column: str, label: str, height: float) -> Figure:
    """A column of metrics over the step, one panel for each problem, one legend for all."""
    problems, shown = list(results.config.problems), marks(results)
    rows = -(-len(problems)//4)
    figure = new_figure(DOUBLE, height*rows + 14.0)
    panels = np.atleast_1d(figure.subplots(rows, -(-len(problems)//rows), sharey=True)).ravel()
    for axes, problem, letter in zip(panels, problems, "abcdefgh", strict=False):
        for key, mark in shown.items():
            done = results.select(problem, key)
            if (done["status"] == "ok").any():
                steps, values = ladder(results, problem, key, column)
                axes.plot(steps, np.maximum(values, LEAST), marker=mark.marker, markersize=4.0, linewidth=0.8,
                          markerfacecolor="white", **mark.line)
        logarithmic(axes)
        axes.set_title(f"({letter}) {label_of(results, problem)}")
        axes.set_xlabel("step (s)")
    for axes in panels[len(problems):]:
        axes.set_visible(False)
    for axes in panels[::-(-len(problems)//rows)]:
        axes.set_ylabel(label)
    legend_below(figure, [line_handle(mark, mark.label, True) for mark in shown.values()])
    return figure


@drawing("Attitude error against the step: eight local-global transition maps, projected steps, and quaternions as"
         " state vectors. 1x and 2x coincide, and so do a with b and c with d at joints: the group moves places only."
         " {runs}")
def work_precision(results: "StudyResults") -> Figure:
    return _panels(results, "error_attitude", "attitude error", 60.0)


@drawing("Largest residual of a joint against the step. One body on a joint that makes a group keeps it to round-off"
         " with SE(3) and body-fixed velocities together, a screw with screw coordinates only, a universal joint never;"
         " projection keeps all. {runs}")
def joint_drift(results: "StudyResults") -> Figure:
    return _panels(results, "joint_error_max", "largest $|g|$ (m or 1)", 58.0)


@drawing("Through the pole of the Euler angles: state error against the roll rate with which the pitch passes 90"
         " degrees, a panel for each number of steps; crosses at the top: the run ended at the pole. {runs}")
def pitch_passage(results: "StudyResults") -> Figure:
    problems, shown = list(results.config.problems), marks(results)
    counts = sorted({int(cell.spec.steps or 0) for cell in results.study.cells})
    figure = new_figure(DOUBLE, 72.0)
    panels = figure.subplots(1, len(counts), sharey=True)
    for axes, count, letter in zip(panels, counts, "abcd", strict=False):
        for key, mark in shown.items():
            _passages(axes, results, problems, key, count, mark)
        logarithmic(axes)
        axes.set_title(f"({letter}) {count} steps in 3 s")
        axes.set_xlabel("roll rate (rad/s)")
    panels[0].set_ylabel("state error")
    legend_below(figure, [line_handle(mark, mark.label, True) for mark in shown.values()])
    return figure


def _passages(axes: Axes, results: "StudyResults", problems: list[str], key: str, count: int, mark: Mark) -> None:
    """Error of one method against the roll rate."""
    done: list[tuple[float, float]] = []
    lost: list[tuple[float, float]] = []
    for problem in problems:
        cells = [cell for cell in results.study.select(problem, key) if cell.spec.steps == count]
        rate = float(cells[0].spec.initial["body_rate"][0, 0])
        rows = results.select(problem, key)
        row = rows[np.isclose(rows["step"].to_numpy(float), float(cells[0].spec.step or 0.0))].iloc[0]
        (done if row["status"] == "ok" else lost).append((rate, float(row["error"])))
    if done:
        x, y = np.array(done).T
        axes.plot(x, np.maximum(y, LEAST), marker=mark.marker, markersize=4.0, linewidth=0.8,
                  markerfacecolor="white", **mark.line)
    for rate, _ in lost:
        axes.plot(rate, 1.0, marker="x", color="#CC3311")
