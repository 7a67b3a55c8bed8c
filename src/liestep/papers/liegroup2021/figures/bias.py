"""Reference bias: what an inaccurate reference makes of the accuracies in figures 8 and 10 of liegroup2021."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.marks import Mark, marks
from liestep.figures.panels import legend_below, line_handle
from liestep.figures.style import DOUBLE, Results, drawing, new_figure
from liestep.papers.liegroup2021.figures.chain import bodies

CONSTANT, VARIABLE = "rkmk5", "rkmk54"


def _panel(axes: Axes, results: Results, key: str, paper: str, styles: dict[str, Mark]) -> None:
    """A method's error against the accurate reference (filled) and its distance from the paper's one (hollow), with
    the error of that reference."""
    problems = list(results.config.problems)
    counts = [bodies(results, problem) for problem in problems]

    def column(name: str, integrator: str) -> np.ndarray:
        return np.array([results.select(problem, integrator)[name].iloc[0] for problem in problems], dtype=float)

    own = column("error_final", paper)
    axes.fill_between(counts, own, np.full(len(counts), 1e-12), color="0.9", linewidth=0.0, zorder=0.5)
    axes.semilogy(counts, own, marker=styles[paper].marker, **styles[paper].line)
    axes.semilogy(counts, column("error_final", key), marker=styles[key].marker, **styles[key].line)
    axes.semilogy(counts, column("error_final_second", key), marker=styles[key].marker, markerfacecolor="white",
                  **{**styles[key].line, "linestyle": ":"})
    axes.set_xlabel("pendula $N$")
    axes.set_xticks(counts[1::2])


@drawing("Reference bias, {title}: (a) RKMK5 with as many constant steps as RKMK(5,4), (b) RKMK(5,4). Filled: Euclidean"
         " error in R^6N at the end against two engines that agree to 1e-8 or better; hollow, dotted: distance from the"
         " paper's reference, ode45 at 1e-6 and 1e-12, whose own error bounds the grey area. What is measured inside it"
         " is the error of the reference. {runs}")
def reference_bias(results: Results) -> Figure:
    """Raises InputError for a study without a second reference."""
    paper = results.config.second_reference
    if paper is None:
        raise InputError(f"study {results.study.name} names no second_reference, which the figure needs")
    styles = marks(results)
    figure = new_figure(DOUBLE, 74.0)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    measured = results.metrics[results.metrics["integrator"].isin((CONSTANT, VARIABLE, paper))]
    values = measured[["error_final", "error_final_second"]].to_numpy(float)
    values = values[values > 0.0]
    for axes, key, name in zip(panels, (CONSTANT, VARIABLE), "ab", strict=True):
        _panel(axes, results, key, paper, styles)
        axes.set(title=f"({name}) {styles[key].label}", ylim=(values.min()/3.0, values.max()*3.0))
    panels[0].set_ylabel("error at the end")
    handles = [line_handle(styles[key], f"{styles[key].label}, error", marker=True)
               for key in (CONSTANT, VARIABLE, paper)]
    legend_below(figure, handles, 3)
    return figure
