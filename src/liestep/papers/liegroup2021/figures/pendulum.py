"""Figures 5 to 7 of liegroup2021: the double pendulum by Lie group integrators and classical
ones, order and manifold."""
from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.figures.marks import marks
from liestep.figures.panels import hollow, legend_below, logarithmic
from liestep.figures.selection import first_run, ladder
from liestep.figures.style import DOUBLE, Results, drawing, subplots
from liestep.papers.liegroup2021.figures.common import guides
from liestep.simulation.runs.files import RunFile

PROBLEM = "chain"
ORDERS = (("lie_euler", "Lie Euler"), ("lie_heun", "Lie Euler Heun"), ("rkmk4", "RKMK4"),
          ("cf4", "RKMK4, commutator free"), ("rkmk4_2comm", "RKMK4, 2 commutators"), ("rkmk3", "RKMK3"))
PRINTED_COUNTS = (19, 39, 79, 159)
MANIFOLD = (("ode45", "ODE45"), ("rk4", "RK4"), ("lie_euler", "Lie Euler"), ("lie_heun", "Lie Euler Heun"),
            ("cf4", "CF RKMK4"), ("rkmk4", "RKMK4"), ("rkmk4_2comm", "RKMK4, 2 commutators"), ("rkmk3", "RKMK3"))
LINKS = ("#0077BB", "#EE7733")
FLOOR_FACTOR = 30.0


@drawing("Double pendulum: order of Lie group integrators. Euclidean error in R^12 at the end against the step, with"
         " slopes 1 to 4 through the point of the paper's largest step. Large markers: the paper's numbers of steps,"
         " 19, 39, 79 and 159, hollow where they lie within 30 floors of the reference (grey); dots: others. {runs}")
def figure5(results: Results) -> Figure:
    styles = marks(results)
    figure, panels = subplots(DOUBLE, 104.0, 2, 3, sharex=True, sharey=True)
    floor = FLOOR_FACTOR*results.metrics.loc[results.metrics["problem"] == PROBLEM, "floor"].max()
    end = results.study.select(PROBLEM)[0].spec.t_end
    low, high = np.inf, 0.0
    for number, (axes, (key, title)) in enumerate(zip(panels.flat, ORDERS, strict=True)):
        steps, errors = ladder(results, PROBLEM, key, "error_final")
        paper = np.isin(np.round(end/steps), PRINTED_COUNTS)
        start = int(np.flatnonzero(paper)[-1])
        guides(axes, steps[start], errors[start], end/PRINTED_COUNTS[-1])
        hollow(axes, steps[paper], errors[paper], styles[key], errors[paper] >= floor)
        axes.plot(steps[~paper], errors[~paper], color=styles[key].colour, marker=".", markersize=2.5, linestyle="none")
        low, high = min(low, errors.min()), max(high, errors.max())
        axes.set_title(f"({'abcdef'[number]}) {title}")
    for axes in panels.flat:
        logarithmic(axes)
        axes.set_ylim(0.3*low, 3.0*high)
        axes.axhspan(0.3*low, max(floor, 0.3*low), color="0.9", linewidth=0.0, zorder=0.5)
    for axes in panels[1]:
        axes.set_xlabel("step $h$ (s)")
    for axes in panels[:, 0]:
        axes.set_ylabel("error at the end")
    return figure


def _eight(results: Results, quantity: Callable[[RunFile], np.ndarray], label: str) -> Figure:
    """A quantity of both links, (time, 2), against time for the eight methods of figures 6 and 7, linear axes."""
    figure, panels = subplots(DOUBLE, 150.0, 4, 2, sharex=True)
    for number, (axes, (key, title)) in enumerate(zip(panels.flat, MANIFOLD, strict=True)):
        file = first_run(results, PROBLEM, key)
        values = quantity(file)
        for link, colour in enumerate(LINKS):
            axes.plot(file["time"], values[:, link], color=colour, linewidth=0.5)
        axes.set_xlim(0.0, file["time"][-1])
        axes.set_title(f"({'abcdefgh'[number]}) {title}: at most {np.abs(values).max():.1e}")
    for axes in panels[-1]:
        axes.set_xlabel("time (s)")
    for axes in panels[:, 0]:
        axes.set_ylabel(label)
    legend_below(figure, [Line2D([], [], color=colour, label=f"i = {link + 1}") for link, colour in enumerate(LINKS)])
    return figure


@drawing("Double pendulum: 1 - q_i.q_i after every step. Each panel on its own scale. {runs}")
def figure6(results: Results) -> Figure:
    return _eight(results, lambda file: 1.0 - np.sum(file["q"]**2, axis=2), "$1 - q_i\\cdot q_i$")


@drawing("Double pendulum: q_i.omega_i after every step. Each panel on its own scale. {runs}")
def figure7(results: Results) -> Figure:
    return _eight(results, lambda file: np.sum(file["q"]*file["omega"], axis=2), "$q_i\\cdot\\omega_i$ (1/s)")
