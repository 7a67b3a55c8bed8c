"""Figures 5 to 7, 9 and 11 of liegroup2021: the double pendulum by Lie group integrators and classical ones, order,
manifold, and where its angular velocities change abruptly."""
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.artist import setp
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.interpolate import CubicHermiteSpline

from liestep.figures.marks import Mark, marks
from liestep.figures.panels import hollow, legend_below, logarithmic
from liestep.figures.scenes.motion import parameters
from liestep.figures.style import DOUBLE, Results, drawing, first_run, ladder, new_figure, subplots
from liestep.mechanics.formulations import formulate_standard
from liestep.papers.liegroup2021.figures.common import COMPONENTS, guides, staircase
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.files import RunFile

COARSE, FINE = "unit_2", "unit_2_fine"
SOLVERS = (("rkmk54", FINE, "RKMK(5,4)"), ("ode45_paper", FINE, "ODE45, 1e-6 and 1e-12"), ("rkmk5", COARSE, "RKMK5"))
ZOOM = (2.1, 3.0)
SECOND = 1  # number of the second component


@drawing("Double pendulum of 1 m links: all components of the state. By RKMK(5,4), ode45 and RKMK5; the motion is"
         " planar: q2, w1 and w3 are zero. {runs}")
def figure9(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 125.0, 3, 2, sharex=True, sharey="col")
    for row, (key, problem, title) in enumerate(SOLVERS):
        file = first_run(results, problem, key)
        for link in range(2):
            axes = panels[row, link]
            for k in range(3):
                axes.plot(file["time"], file["q"][:, link, k], color=COMPONENTS[k], linewidth=0.8)
                axes.plot(file["time"], file["omega"][:, link, k], color=COMPONENTS[3 + k], linewidth=0.8,
                          linestyle=("-", "-", "--")[k])
            axes.set(xlim=(0.0, file["time"][-1]), title=f"({'abcdef'[2*row + link]}) {title}, pendulum {link + 1}")
    setp(panels[-1], xlabel="time (s)")
    setp(panels[:, 0], ylabel="$q$, $\\omega$ (1/s)")
    names = [*(f"$q^{{({k})}}$" for k in (1, 2, 3)), *(f"$\\omega^{{({k})}}$" for k in (1, 2, 3))]
    legend_below(figure, [Line2D([], [], color=colour, linestyle="--" if k == 5 else "-", label=name)
                          for k, (colour, name) in enumerate(zip(COMPONENTS, names, strict=True))], 6)
    return figure


@drawing("Double pendulum of 1 m links: steps, angular velocities and accelerations. (a) accepted steps; (b) second"
         " components of the angular velocities in [2.1, 3] s, dots: steps of RKMK5, and below"
         " their largest difference from ode45 at 1e-6 and 1e-12; (c) second components of the"
         " angular accelerations along ode45 at 1e-6 and 1e-12. {runs}")
def figure11(results: Results) -> Figure:
    styles = marks(results)
    figure = new_figure(DOUBLE, 86.0)
    layout = figure.subplot_mosaic([["a", "b2", "c"], ["a", "b1", "c"], ["a", "e", "c"]])
    files = ({key: first_run(results, problem, key) for key, problem, _ in SOLVERS}
             | {"ode45": first_run(results, FINE, "ode45")})
    for key in ("ode45", "rkmk54"):
        staircase(layout["a"], files[key], linewidth=0.9, **styles[key].line)
    end = files["rkmk54"]["time"][-1]
    layout["a"].axhline(end/files["rkmk5"].attributes["steps"], linewidth=0.9, **styles["rkmk5"].line)
    layout["a"].set(ylim=(0.0, None), xlim=(0.0, end), ylabel="step (s)", title="(a) steps")
    for link, name in ((1, "b2"), (0, "b1")):
        axes = layout[name]
        for key, width in (("ode45_paper", 2.0), ("rkmk54", 0.9), ("rkmk5", 0.7)):
            shown = (files[key]["time"] >= ZOOM[0] - 0.03) & (files[key]["time"] <= ZOOM[1])
            style: dict[str, Any] = {"marker": ".", "markersize": 2.5} if key == "rkmk5" else {}
            axes.plot(files[key]["time"][shown], files[key]["omega"][shown, link, SECOND], linewidth=width, **style,
                      **styles[key].line)
        axes.set(xlim=ZOOM, ylabel=f"$\\omega_{link + 1}^{{(2)}}$ (1/s)")
    layout["b2"].set_title("(b) angular velocities")
    for name in ("b2", "b1"):
        layout[name].tick_params(labelbottom=False)
    _differences(layout["e"], files, styles)
    rates = _accelerations(files["ode45_paper"])
    for link, colour in enumerate(COMPONENTS[:2]):
        layout["c"].plot(files["ode45_paper"]["time"], rates[:, link, SECOND], color=colour, linewidth=0.9,
                         label=f"$\\dot\\omega_{link + 1}^{{(2)}}$")
    layout["c"].set(xlim=(0.0, end), ylabel="angular acceleration (s$^{-2}$)", title="(c) angular accelerations")
    layout["c"].legend(loc="upper left")
    for name in ("a", "e", "c"):
        layout[name].set_xlabel("time (s)")
    legend_below(figure, [styles[key] for key in ("rkmk54", "rkmk5", "ode45", "ode45_paper")], 4, marker=False)
    return figure


def _differences(axes: Axes, files: dict[str, RunFile], styles: dict[str, Mark]) -> None:
    """Largest difference of the second components of both angular velocities from ode45 at 1e-6 and 1e-12, at its
    samples; between the steps of a method, cubics through its angular velocities and accelerations."""
    accurate = files["ode45_paper"]
    times = accurate["time"][(accurate["time"] >= ZOOM[0]) & (accurate["time"] <= ZOOM[1])]
    for key in ("rkmk54", "rkmk5"):
        curve = CubicHermiteSpline(files[key]["time"], files[key]["omega"], _accelerations(files[key]))(times)
        wanted = accurate["omega"][np.isin(accurate["time"], times)]
        difference = np.abs(curve - wanted)[:, :, SECOND].max(axis=1)
        axes.semilogy(times, np.where(difference > 0.0, difference, np.nan), linewidth=0.9, **styles[key].line)
    axes.set(xlim=ZOOM, ylabel="difference")


def _accelerations(file: RunFile) -> np.ndarray:
    """d omega/dt by the equations of motion at every sample, (time, body, 3)."""
    start = {"q": file["q"][0], "omega": file["omega"][0]}
    problem = formulate_standard(sheet(file.attributes["problem"]), parameters(file), start).problem
    rates = np.zeros((len(file["time"]), 2*file["q"].shape[1], 3))
    for state, rate in zip(np.concatenate([file["q"], file["omega"]], axis=1), rates, strict=True):
        problem.rhs(0.0, state, rate)
    return rates[:, file["q"].shape[1]:]


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
    setp(panels[1], xlabel="step $h$ (s)")
    setp(panels[:, 0], ylabel="error at the end")
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
    setp(panels[-1], xlabel="time (s)")
    setp(panels[:, 0], ylabel=label)
    legend_below(figure, [Line2D([], [], color=colour, label=f"i = {link + 1}") for link, colour in enumerate(LINKS)])
    return figure


@drawing("Double pendulum: 1 - q_i.q_i after every step. Each panel on its own scale. {runs}")
def figure6(results: Results) -> Figure:
    return _eight(results, lambda file: 1.0 - np.sum(file["q"]**2, axis=2), "$1 - q_i\\cdot q_i$")


@drawing("Double pendulum: q_i.omega_i after every step. Each panel on its own scale. {runs}")
def figure7(results: Results) -> Figure:
    return _eight(results, lambda file: np.sum(file["q"]*file["omega"], axis=2), "$q_i\\cdot\\omega_i$ (1/s)")
