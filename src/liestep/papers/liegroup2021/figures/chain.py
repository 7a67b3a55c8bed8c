"""Figures 8 and 10 of liegroup2021: chains of pendula with constant and variable steps; how the chains fall; and what
an inaccurate reference makes of the accuracies in both figures."""
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.errors import InputError
from liestep.figures.marks import Mark, marks
from liestep.figures.panels import legend_below, line_handle
from liestep.figures.scenes.motion import directions, parameters
from liestep.figures.scenes.space import mix
from liestep.figures.style import DOUBLE, Results, drawing, first_run, new_figure, subplots
from liestep.papers.liegroup2021.figures.common import staircase

VARIABLE, CONSTANT, NEAR, PAPER, DEFAULT = "rkmk54", "rkmk5", "rkmk5_near", "ode45_paper", "ode45"
STEPS_COLOUR = "0.45"
TIMES = (0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3.0)


def bodies(results: Results, problem: str) -> int:
    """Number of pendula."""
    return len(results.study.select(problem)[0].spec.initial["q"])


def _final(results: Results, problem: str, key: str, column: str = "error_final") -> np.ndarray:
    return results.select(problem, key)[column].to_numpy(float)


def _accuracy(axes: Axes, results: Results, problems: list[str], styles: dict[str, Mark]) -> None:
    """The paper's measure: distance from ode45 at 1e-6 and 1e-12; numbers of steps on the right axis."""
    counts = [bodies(results, problem) for problem in problems]
    for key in (CONSTANT, VARIABLE):
        axes.semilogy(counts, [_final(results, problem, key, "error_final_second")[0] for problem in problems],
                      marker=styles[key].marker, **styles[key].line)
    axes.set_ylabel("distance from ode45 at the end")
    steps = axes.twinx()
    accepted = [results.select(problem, VARIABLE)["steps"].iloc[0] for problem in problems]
    steps.plot(counts, accepted, color=STEPS_COLOUR, linestyle="--", linewidth=0.8)
    steps.set_ylabel("steps (dashed)", color=STEPS_COLOUR)
    steps.set_ylim(bottom=0.0)
    steps.grid(False)
    axes.set_xlabel("pendula $N$")
    axes.set_xticks(counts[1::2])


def _errors(axes: Axes, results: Results, problems: list[str], styles: dict[str, Mark]) -> None:
    """Against the reference: RKMK5 over numbers of steps within 5 %, RKMK(5,4), and the paper's own reference."""
    counts = [bodies(results, problem) for problem in problems]
    near = [_final(results, problem, NEAR) for problem in problems]
    axes.fill_between(counts, [errors.min() for errors in near], [errors.max() for errors in near],
                      color=mix(styles[CONSTANT].colour, "white", 0.75), linewidth=0.0)
    axes.semilogy(counts, [np.median(errors) for errors in near], marker=styles[CONSTANT].marker,
                  **styles[CONSTANT].line)
    for key in (VARIABLE, PAPER):
        axes.semilogy(counts, [_final(results, problem, key)[0] for problem in problems], marker=styles[key].marker,
                      **styles[key].line)
    axes.set(ylabel="error at the end", xlabel="pendula $N$")
    axes.set_xticks(counts[1::2])


def _steps(axes: Axes, results: Results, problem: str, styles: dict[str, Mark]) -> None:
    for key in (DEFAULT, VARIABLE):
        staircase(axes, first_run(results, problem, key), linewidth=0.8, **styles[key].line)
    cell = results.study.select(problem, CONSTANT)[0]
    assert cell.spec.step is not None
    axes.axhline(cell.spec.step, linewidth=0.9, **styles[CONSTANT].line)
    axes.set(xlim=(0.0, cell.spec.t_end), ylim=(0.0, None), xlabel="time (s)", ylabel="step (s)")


def _chains(results: Results) -> Figure:
    problems = list(results.config.problems)
    styles = marks(results)
    figure, (left, middle, right) = subplots(DOUBLE, 72.0, 1, 3, width_ratios=(1.1, 1.0, 1.0))
    _accuracy(left, results, problems, styles)
    left.set_title("(a) as in the paper")
    _steps(middle, results, problems[-1], styles)
    middle.set_title(f"(b) steps, N = {bodies(results, problems[-1])}")
    _errors(right, results, problems, styles)
    right.set_title("(c) against the reference")
    legend_below(figure, [
        *(line_handle(styles[key], styles[key].label, marker=key != DEFAULT) for key in (CONSTANT, VARIABLE, PAPER)),
        line_handle(styles[DEFAULT], styles[DEFAULT].label),
        Line2D([], [], color=STEPS_COLOUR, linestyle="--", linewidth=0.8, label="steps of RKMK(5,4), right in (a)"),
        Line2D([], [], color=mix(styles[CONSTANT].colour, "white", 0.75), linewidth=5.0,
               label="RKMK5, 5 % fewer or more steps")], 3)
    return figure


CAPTION = (" (a) as in the paper: Euclidean distance in R^6N at the end from ode45 at 1e-6 and 1e-12, and the number"
           " of steps (right axis); (b) accepted steps against time for the longest chain (MATLAB's ode45 returns four"
           " points for each step by default); (c) against the reference: RKMK5 with as many steps as RKMK(5,4) and up"
           " to 5 % fewer or more (line: median, band: all), RKMK(5,4), and the reference of the paper itself. {runs}")
figure8 = drawing("Chains of N pendula of 1 m: constant and variable steps." + CAPTION)(_chains)
figure10 = drawing("Chains of N pendula, 5 m together: constant and variable steps." + CAPTION)(_chains)


@drawing("Motion of chains of 5 m. They fall from 45 degrees above the horizontal, turning at 1 rad/s, shown every 0.3"
         " s; the motion stays in a vertical plane. Grey: path of the free end. {runs}")
def chain_motion(results: Results) -> Figure:
    problems = list(results.config.problems)
    figure = new_figure(DOUBLE, 78.0)
    colours = colormaps["viridis"](np.linspace(0.0, 0.92, len(TIMES)))[:, :3]
    for number, (axes, problem) in enumerate(zip(figure.subplots(1, len(problems), sharex=True, sharey=True), problems,
                                                 strict=True)):
        file = first_run(results, problem, next(iter(results.config.integrators)))
        lengths = parameters(file)["length"][:, None]
        end = np.sum(lengths*directions(file, np.linspace(0.0, file["time"][-1], 600)), axis=1)
        axes.plot(end[:, 0], end[:, 2], color="0.75", linewidth=0.5)
        for q, colour in zip(directions(file, TIMES), colours, strict=True):
            joints = np.concatenate([np.zeros((1, 3)), np.cumsum(lengths*q, axis=0)])
            axes.plot(joints[:, 0], joints[:, 2], color=tuple(colour), linewidth=1.0, marker="o",
                      markersize=2.0 if len(q) < 10 else 1.2)
        axes.set_aspect("equal")
        axes.set(title=f"({'abc'[number]}) {len(lengths)} pendula of {lengths[0, 0]:.3g} m", xlabel="$x_1$ (m)")
        if number == 0:
            axes.set_ylabel("$x_3$ (m)")
    legend_below(figure, [Line2D([], [], color=tuple(colour), label=f"{time:g} s")
                          for time, colour in zip(TIMES, colours, strict=True)], 6)
    return figure


def _panel(axes: Axes, results: Results, key: str, paper: str, styles: dict[str, Mark]) -> None:
    """A method's error against the accurate reference (filled) and the paper's one (hollow), and that one's error."""
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
    figure, panels = subplots(DOUBLE, 74.0, 1, 2, sharex=True, sharey=True)
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
