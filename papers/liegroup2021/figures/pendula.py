"""Figures 5 to 11 of liegroup2021, double pendulum and chains of pendula: order, manifold, where angular velocities
change abruptly, constant and variable steps, how the chains fall, what an inaccurate reference makes of the accuracies,
and what variable steps gain. They find runs by the keys of the study files in config/studies/liegroup2021; figures 1, 4
and 12 of the paper are sketches."""
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.artist import setp
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.mechanics.formulations import formulate_standard
from liestep.paper import (
    DOUBLE,
    SOLID,
    InputError,
    Mark,
    Results,
    RunFile,
    cells,
    directions,
    drawing,
    first_run,
    hollow,
    label_of,
    ladder,
    legend_below,
    line_handle,
    logarithmic,
    marks,
    mix,
    new_figure,
    parameters,
    sheet,
    subplots,
)

from ..gains import gains

COMPONENTS = ("#0077BB", "#EE7733", "#009988", "#882255", "#BB9900", "#777777")  # components of vectors
GUIDES = (1, 2, 3, 4)


def guides(axes: Axes, step: float, error: float, smallest: float) -> None:
    """Lines of slope 1 to 4 through a point, from it down to the smallest step."""
    for order in GUIDES:
        axes.plot([step, smallest], [error, error*(smallest/step)**order],
                  color=mix("black", "white", 0.35 + 0.1*order), linewidth=0.6, linestyle=SOLID, zorder=1.5)
        axes.annotate(f"{order}", (smallest, error*(smallest/step)**order), xytext=(-3.0, 0.0),
                      textcoords="offset points", ha="right", va="center", fontsize=6.5, color="0.4")


def staircase(axes: Axes, file: RunFile, **style: Any) -> None:
    """Accepted steps of an adaptive run against time: each step over its own interval."""
    end, step = file["accepted_time"], file["accepted_step"]
    axes.stairs(step, np.concatenate([[0.0], end]), baseline=None, **style)


COARSE, FINE = "unit_2", "unit_2_fine"
SOLVERS = (("rkmk54", FINE, "RKMK(5,4)"), ("ode45_paper", FINE, "ode45, 1e-6 and 1e-12"), ("rkmk5", COARSE, "RKMK5"))
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
    from scipy.interpolate import CubicHermiteSpline

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
ORDERS = (("lie_euler", "Lie-Euler"), ("lie_heun", "Lie-Euler-Heun"), ("rkmk4", "RKMK4"),
          ("cf4", "CF4"), ("rkmk4_2comm", "RKMK4, 2 commutators"), ("rkmk3", "RKMK3"))
PRINTED_COUNTS = (19, 39, 79, 159)
MANIFOLD = (("ode45", "ode45"), ("rk4", "RK4"), ("lie_euler", "Lie-Euler"), ("lie_heun", "Lie-Euler-Heun"),
            ("cf4", "CF4"), ("rkmk4", "RKMK4"), ("rkmk4_2comm", "RKMK4, 2 commutators"), ("rkmk3", "RKMK3"))
LINKS = ("#0077BB", "#EE7733")
FLOOR_FACTOR = 30.0


@drawing("Double pendulum: order of Lie group integrators. Euclidean error in R^12 at the end against the step, with"
         " slopes 1 to 4 through the point of the paper's largest step. Large markers: the paper's numbers of steps,"
         " 19, 39, 79 and 159, hollow where they lie within 30 times the error of the reference (grey); dots: others."
         " {runs}",
         shows=("error",))
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


@drawing("Double pendulum: 1 - q_i.q_i after every step. Each panel on its own scale. {runs}", shows=("unit_length",))
def figure6(results: Results) -> Figure:
    return _eight(results, lambda file: 1.0 - np.sum(file["q"]**2, axis=2), "$1 - q_i\\cdot q_i$")


@drawing("Double pendulum: q_i.omega_i after every step. Each panel on its own scale. {runs}")
def figure7(results: Results) -> Figure:
    return _eight(results, lambda file: np.sum(file["q"]*file["omega"], axis=2), "$q_i\\cdot\\omega_i$ (1/s)")


VARIABLE, CONSTANT, NEAR, PAPER, DEFAULT = "rkmk54", "rkmk5", "rkmk5_near", "ode45_paper", "ode45"
STEPS_COLOUR = "0.45"
TIMES = (0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3.0)


def bodies(results: Results, problem: str) -> int:
    """Number of pendula."""
    return len(results.study.select(problem)[0].spec.initial["q"])


def _final(results: Results, problems: list[str], key: str, column: str = "error_final") -> np.ndarray:
    """A column of metrics of the first run of an integrator on each problem."""
    return np.array([results.select(problem, key)[column].iloc[0] for problem in problems], dtype=float)


def _accuracy(axes: Axes, results: Results, problems: list[str], styles: dict[str, Mark]) -> None:
    """The paper's measure: distance from ode45 at 1e-6 and 1e-12; numbers of steps on the right axis."""
    counts = [bodies(results, problem) for problem in problems]
    for key in (CONSTANT, VARIABLE):
        axes.semilogy(counts, _final(results, problems, key, "error_final_second"), marker=styles[key].marker,
                      **styles[key].line)
    axes.set_ylabel("distance from ode45 at the end")
    steps = axes.twinx()
    steps.plot(counts, _final(results, problems, VARIABLE, "steps"), color=STEPS_COLOUR, linestyle="--", linewidth=0.8)
    steps.set_ylabel("steps (dashed)", color=STEPS_COLOUR)
    steps.set_ylim(bottom=0.0)
    steps.grid(False)
    axes.set(xlabel="pendula $N$", xticks=counts[1::2])


def _errors(axes: Axes, results: Results, problems: list[str], styles: dict[str, Mark]) -> None:
    """Against the reference: RKMK5 over numbers of steps within 5 %, RKMK(5,4), and the paper's own reference."""
    counts = [bodies(results, problem) for problem in problems]
    near = [results.select(problem, NEAR)["error_final"].to_numpy(float) for problem in problems]
    axes.fill_between(counts, [errors.min() for errors in near], [errors.max() for errors in near],
                      color=mix(styles[CONSTANT].colour, "white", 0.75), linewidth=0.0)
    axes.semilogy(counts, [np.median(errors) for errors in near], marker=styles[CONSTANT].marker,
                  **styles[CONSTANT].line)
    for key in (VARIABLE, PAPER):
        axes.semilogy(counts, _final(results, problems, key), marker=styles[key].marker, **styles[key].line)
    axes.set(ylabel="error at the end", xlabel="pendula $N$", xticks=counts[1::2])


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
        *(line_handle(styles[key], styles[key].label, marker=key != DEFAULT)
          for key in (CONSTANT, VARIABLE, PAPER, DEFAULT)),
        Line2D([], [], color=STEPS_COLOUR, linestyle="--", linewidth=0.8, label="steps of RKMK(5,4), right in (a)"),
        Line2D([], [], color=mix(styles[CONSTANT].colour, "white", 0.75), linewidth=5.0,
               label="RKMK5, 5 % fewer or more steps")], 3)
    return figure


CAPTION = (" (a) as in the paper: Euclidean distance in R^6N at the end from ode45 at 1e-6 and 1e-12, and the number"
           " of steps (right axis); (b) accepted steps against time for the longest chain (MATLAB's ode45 returns four"
           " points for each step by default); (c) against the reference: RKMK5 with as many steps as RKMK(5,4) and up"
           " to 5 % fewer or more (line: median, band: all), RKMK(5,4), and the reference of the paper itself. {runs}")
figure8 = drawing("Chains of N pendula of 1 m: constant and variable steps." + CAPTION, shows=("error_final",))(_chains)
figure10 = drawing("Chains of N pendula, 5 m together: constant and variable steps." + CAPTION,
                   shows=("error_final",))(_chains)


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
    own = _final(results, problems, paper)
    axes.fill_between(counts, own, np.full(len(counts), 1e-12), color="0.9", linewidth=0.0, zorder=0.5)
    axes.semilogy(counts, own, marker=styles[paper].marker, **styles[paper].line)
    axes.semilogy(counts, _final(results, problems, key), marker=styles[key].marker, **styles[key].line)
    axes.semilogy(counts, _final(results, problems, key, "error_final_second"), marker=styles[key].marker,
                  markerfacecolor="white", **{**styles[key].line, "linestyle": ":"})
    axes.set(xlabel="pendula $N$", xticks=counts[1::2])


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
    handles.append(Line2D([], [], color="0.4", linestyle=":", marker="o", markerfacecolor="white",
                          label="distance from ode45"))
    legend_below(figure, handles, 3)
    return figure


QUANTITY, OVER = "error_final", "steps"
DARK = 0.5  # share of the colour scale above which figures are black


def _gains(results: Results) -> tuple[list[float], np.ndarray, np.ndarray]:
    """Tolerances, largest first; gains (problems, tolerances), and which of them are lower bounds."""
    cells = [cell for cell in results.study.cells if cell.integrator == VARIABLE]
    tolerances = sorted({cell.spec.tolerance for cell in cells if cell.spec.tolerance is not None}, reverse=True)
    if not tolerances:
        raise InputError(f"study {results.study.name} has no runs of {VARIABLE}, which the figure needs")
    found = [gains(results.select(problem, VARIABLE).sort_values("tolerance", ascending=False),
                   results.select(problem, CONSTANT), QUANTITY, OVER) for problem in results.config.problems]
    return tolerances, np.array([values for values, _ in found]), np.array([bounds for _, bounds in found])


def _map(axes: Axes, results: Results, tolerances: list[float], values: np.ndarray, bounds: np.ndarray) -> None:
    scale = LogNorm(1.0, max(float(np.nanmax(values)), 10.0))
    texts = [[f"{'>' if bound else ''}{value:.2g}" if value < 100.0 else f"{value:.0f}" if value < np.inf else ""
              for value, bound in zip(*lines, strict=True)] for lines in zip(values, bounds, strict=True)]
    cells(axes, values, texts, [label_of(results, problem) for problem in results.config.problems],
          scale(values) <= DARK, cmap="cividis", norm=scale)
    axes.set(facecolor="0.85", xlabel="log10 of the tolerance", xticks=range(len(tolerances)),
             xticklabels=[f"{np.log10(tolerance):.0f}" for tolerance in tolerances])


@drawing("{title}: (a) error at the end of as many constant steps of RKMK5, interpolated between numbers of steps,"
         " divided by that of RKMK(5,4), for each start (elevation of both links; also sideways: rotation out of the"
         " vertical plane) and tolerance; >: fewer constant steps than the run takes leave the chart, so that the gain"
         " is at least this. (b, c) Errors over steps from the starts with the largest and the smallest median gain."
         " {runs}", shows=("error_final",))
def gain(results: Results) -> Figure:
    """Raises InputError for a study without adaptive runs."""
    tolerances, values, bounds = _gains(results)
    styles = marks(results)
    figure = new_figure(DOUBLE, 92.0)
    shape = figure.add_gridspec(2, 2, width_ratios=(1.6, 1.0))
    _map(figure.add_subplot(shape[:, 0]), results, tolerances, values, bounds)
    figure.axes[0].set_title("(a) gain by variable steps")
    problems, median = list(results.config.problems), np.nanmedian(values, axis=1)
    upper = figure.add_subplot(shape[0, 1])
    lower = figure.add_subplot(shape[1, 1], sharex=upper, sharey=upper)
    for axes, place, letter in ((upper, int(np.nanargmax(median)), "b"), (lower, int(np.nanargmin(median)), "c")):
        for key in (CONSTANT, VARIABLE):
            rows = results.select(problems[place], key)
            rows = rows[rows["status"] == "ok"].sort_values(OVER)
            axes.loglog(rows[OVER], rows[QUANTITY], marker=styles[key].marker, markersize=2.5, **styles[key].line)
        axes.set(title=f"({letter}) {label_of(results, problems[place])}", ylabel="error at the end")
    lower.set_xlabel("steps")
    legend_below(figure, [styles[key] for key in (CONSTANT, VARIABLE)], 2)
    return figure
