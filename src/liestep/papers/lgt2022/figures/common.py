"""What the figures of lgt2022 share. They find runs by the keys of the study files in config/studies/lgt2022."""
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.figures.marks import Mark, marks
from liestep.figures.panels import label_of, legend_below, line_handle, logarithmic
from liestep.figures.selection import ladder
from liestep.figures.style import DOUBLE, new_figure

if TYPE_CHECKING:
    from liestep.analysis.results import StudyResults

LEAST = 1e-16  # a residual of zero is drawn here
LOST = "#CC3311"


def curve(axes: Axes, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, mark: Mark) -> None:
    """Line with hollow markers; numbers below LEAST are drawn there."""
    axes.plot(x, np.maximum(y, LEAST), marker=mark.marker, markersize=3.8, linewidth=0.8, markerfacecolor="white",
              **mark.line)


def over_steps(axes: Axes, results: "StudyResults", problem: str, column: str, keys: Iterable[str] = ()) -> None:
    """A column of metrics over the step for the methods with complete runs; both axes logarithmic."""
    for key, mark in marks(results).items():
        done = results.select(problem, key)
        if (not keys or key in keys) and (done["status"] == "ok").any():
            steps, values = ladder(results, problem, key, column)
            curve(axes, steps, np.abs(values), mark)
    logarithmic(axes)
    axes.set_xlabel("step (s)")


def legend(figure: Figure, results: "StudyResults", keys: Iterable[str] = ()) -> None:
    """Legend of the methods below all panels."""
    legend_below(figure, [line_handle(mark, mark.label, True) for key, mark in marks(results).items()
                          if not keys or key in keys])


def panels(results: "StudyResults", column: str, label: str, height: float, problems: Sequence[str] = ()) -> Figure:
    """A column of metrics over the step, one panel for each problem, one legend for all."""
    problems = list(problems or results.config.problems)
    rows = -(-len(problems)//4)
    figure = new_figure(DOUBLE, height*rows + 14.0)
    found = np.atleast_1d(figure.subplots(rows, -(-len(problems)//rows), sharey=True)).ravel()
    for axes, problem, letter in zip(found, problems, "abcdefgh", strict=False):
        over_steps(axes, results, problem, column)
        axes.set_title(f"({letter}) {label_of(results, problem)}")
    for axes in found[len(problems):]:
        axes.set_visible(False)
    for axes in found[::-(-len(problems)//rows)]:
        axes.set_ylabel(label)
    legend(figure, results)
    return figure
