"""Errors of the local-global transition maps, their time, the design table, long chains and adaptive steps: letters A,
C to F, I and J of the digest, and own."""
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.figures.labels import EndLabel, end_labels
from liestep.figures.marks import Mark
from liestep.figures.panels import cells, label_of, legend_below, logarithmic
from liestep.figures.style import DOUBLE, Results, drawing, ladder, new_figure, subplots
from liestep.papers.lgt2022.figures.common import LEAST, LOST, curve, legend, looks, panels
from liestep.papers.lgt2022.quantities import predicted_change

TABLEAU_OF = {"rk2": "midpoint", "rk4": "rk4", "rk5": "dormand_prince5"}  # methods of the study on lengths


@drawing("Attitude error against the step: eight local-global transition maps, projected steps, and quaternions as"
         " state vectors. 1x and 2x coincide, and so do a with b and c with d at joints: the group moves places only."
         " {runs}")
def work_precision(results: Results) -> Figure:
    return panels(results, "error_attitude", "attitude error", 60.0)


@drawing("Through the pole of the Euler angles: state error against the roll rate with which the pitch passes 90"
         " degrees, a panel for each number of steps; crosses at the top: the run ended at the pole. {runs}")
def pitch_passage(results: Results) -> Figure:
    problems, shown = list(results.config.problems), looks(results)
    counts = sorted({int(cell.spec.steps or 0) for cell in results.study.cells})
    figure = new_figure(DOUBLE, 72.0)
    for axes, count, letter in zip(figure.subplots(1, len(counts), sharey=True), counts, "abcd", strict=False):
        for key, mark in shown.items():
            _passages(axes, results, problems, key, count, mark)
        logarithmic(axes, title=f"({letter}) {count} steps in 3 s", xlabel="roll rate (rad/s)")
    figure.axes[0].set_ylabel("state error")
    legend(figure, results)
    return figure


def _passages(axes: Axes, results: Results, problems: list[str], key: str, count: int, mark: Mark) -> None:
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
        rates, errors = np.array(done).T
        curve(axes, rates, errors, mark)
    for rate, _ in lost:
        axes.plot(rate, 1.0, marker="x", color=LOST)


@drawing("Reference points in the centre of mass (solid) and off it (dashed): error of the centre of mass of (a) the"
         " free body and (b) the body on a spring, (c) attitude error of the fast top. Lines of 1a lie on each other."
         " {runs}")
def reference_points(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 78.0)
    shown = (("free", "center_error", "(a) free body", "error of the centre of mass (m)"),
             ("spring", "center_error", "(b) body on a spring", "error of the centre of mass (m)"),
             ("top", "attitude_entry_error", "(c) fast top", "attitude error, largest entry"))
    for axes, (problem, column, title, label) in zip(figure.subplots(1, 3), shown, strict=True):
        for key, mark in looks(results).items():
            for place, dash in ((problem, "-"), (f"{problem}_offset", (0, (3.0, 1.6)))):
                steps, values = ladder(results, place, key, column)
                axes.plot(steps, np.maximum(values, LEAST), color=mark.colour, linestyle=dash, linewidth=0.9,
                          marker=mark.marker, markersize=3.8, markerfacecolor="white")
        logarithmic(axes, title=title, xlabel="step (s)", ylabel=label)
    legend_below(figure, [replace(mark, dash="-") for mark in looks(results).values()])
    return figure


@drawing("Change of the length of the quaternion over 1 s of the fast top: points are runs, lines the stability"
         " functions at i h |w|/2, to the power of the number of steps; for orders 4 and 5 the quaternion shrinks."
         " {runs}")
def quaternion_norm(results: Results) -> Figure:
    figure, axes = subplots(DOUBLE, 76.0)
    problem, = results.config.problems
    spec = results.study.select(problem)[0].spec
    rate, end = float(np.linalg.norm(spec.initial["body_rate"][0])), spec.t_end
    for key, mark in looks(results).items():
        steps, change = ladder(results, problem, key, "quaternion_length_change")
        axes.plot(steps, np.maximum(np.abs(change), LEAST), **mark.points)
        if key in TABLEAU_OF:
            fine = np.geomspace(steps.min(), steps.max(), 100)
            change = predicted_change(TABLEAU_OF[key], fine, rate, end)
            axes.plot(fine, np.abs(change), color=mark.colour, linewidth=0.8)
    logarithmic(axes, xlabel="step (s)", ylabel="$||Q| - 1|$ after 1 s")
    legend_below(figure, [replace(mark, dash="") for mark in looks(results).values()])
    return figure


@drawing("Large rotations: (a) error per step of a constant turn, (b) error of the free body after 10 s, over the angle"
         " of a step; crosses at the top: the step left the domain of its chart. {runs}")
def large_steps(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 76.0)
    for axes, problem, title in zip(figure.subplots(1, 2), ("turn", "free"), ("(a) constant turn", "(b) free body"),
                                    strict=True):
        spec = results.study.select(problem)[0].spec
        rate = float(np.linalg.norm(spec.initial["body_rate"][0]))
        for key, mark in looks(results).items():
            rows = results.select(problem, key).sort_values("step")
            done = (rows["status"] == "ok").to_numpy()
            angle, error = rows["step"].to_numpy(float)*rate, rows["error_attitude"].to_numpy(float)
            if problem == "turn":
                error = error/rows["steps"].to_numpy(float)
            curve(axes, angle[done], error[done], mark)
            if (~done).any():
                axes.plot(angle[~done], np.full(np.count_nonzero(~done), 30.0), marker="x", linestyle="none",
                          color=mark.colour)
        logarithmic(axes)
        for end in (np.pi, 2.0*np.pi) if problem == "turn" else (np.pi,):
            axes.axvline(end, color="0.6", linewidth=0.6)
        axes.set(title=title, xlabel="rotation in a step (rad)",
                 ylabel="attitude error per step" if problem == "turn" else f"{label_of(results, problem)}: error")
    legend(figure, results)
    return figure


BASE = {"action": "so3_r3", "chart": "exp", "twist": "mixed", "attitude": "quaternion"}
GROUPS = {"se3": "SE(3)", "so3_r3": "SO(3)xR3"}
SHORT = {"quaternion": "Q", "rotation_vector": "rho", "matrix": "R"}
COLUMNS = (("error", "(a) state error"), ("joint_error_max", "(b) residual of joints"),
           ("energy_error_max", "(c) error of the energy"), ("seconds", "(d) time"))
WIDEST = 2.0  # decades that the colours span


@drawing("Time of a Runge-Kutta step relative to the step on quaternions: eight maps and Euler angles. {runs}")
def cost(results: Results) -> Figure:
    problems, shown = list(results.config.problems), looks(results)
    figure, (axes, below) = subplots(DOUBLE, 132.0, 2, 1)
    width = 0.9/len(shown)
    for i, (key, mark) in enumerate(shown.items()):
        times, bases = (np.array([float((rows["seconds"]/rows["steps"]).iloc[0]) for rows in (
            results.select(problem, name) for problem in problems)]) for name in (key, "quaternion"))
        place = np.arange(len(problems)) + (i - 0.5*(len(shown) - 1))*width
        for panel, values, text in ((axes, times/bases, "{:.2f}"), (below, 1e6*times, "{:.1f}")):
            panel.bar(place, values, 0.92*width, color=mark.colour)
            for x, value in zip(place, values, strict=True):
                panel.text(x, value, text.format(value), ha="center", va="bottom", fontsize=5.0, rotation=90)
    axes.axhline(1.0, color="0.3", linewidth=0.5)
    below.set_yscale("log")
    for panel, label in ((axes, "relative to quaternions"), (below, "time of a step ($\\mu$s)")):
        panel.margins(y=0.16)
        panel.set_xticks(range(len(problems)), [label_of(results, problem) for problem in problems])
        panel.set_ylabel(label)
        panel.grid(False, axis="x")
    legend(figure, results)
    return figure


@drawing("All combinations of group, chart, components of the velocity and absolute attitude (Q unit quaternion, rho"
         " rotation vector, R matrix): numbers relative to 1b, SO(3) x R^3 with rotation vectors, mixed velocities and"
         " quaternions, as powers of ten for (a) to (c) and as factors for (d); green is better. {runs}")
def design(results: Results) -> Figure:
    entries = {key: entry.options for key, entry in results.config.integrators.items() if entry is not None}
    problems = list(results.config.problems)
    names = [f"{GROUPS[options['action']]}, {options['chart']}, {options['twist']}, {SHORT[options['attitude']]}"
             for options in entries.values()]
    base = next(key for key, options in entries.items() if all(options[name] == BASE[name] for name in BASE))
    table = results.metrics.set_index(["problem", "integrator"])
    figure = new_figure(DOUBLE, 190.0)
    for axes, (column, title) in zip(figure.subplots(1, len(COLUMNS), sharey=True), COLUMNS, strict=True):
        values = np.array([[float(table.loc[(problem, key), column]) for problem in problems] for key in entries])
        least = 1e-13 if column != "seconds" else 0.0
        ratio = np.maximum(values, least)/np.maximum(values[list(entries).index(base)], least)
        wide = WIDEST if column != "seconds" else 0.5
        powers = np.log10(ratio)
        texts = [[f"{value:+.1f}" if value else "0" for value in line] for line in np.round(powers, 1)]
        if column == "seconds":
            texts = [[f"{value:.2f}" for value in line] for line in ratio]
        cells(axes, powers, texts, names, np.abs(powers) > 0.75*wide, 4.6, cmap="PiYG_r", vmin=-wide, vmax=wide)
        axes.set_title(title)
        axes.set_xticks(range(len(problems)), [label_of(results, problem) for problem in problems], rotation=60,
                        ha="right", rotation_mode="anchor")
    figure.axes[0].tick_params(axis="y", labelsize=5.6)
    return figure


@drawing("Chains of rods: time of a step per body over the number of bodies, with the exponent of the time of a step"
         " from 10 bodies on. {runs}")
def long_chains(results: Results) -> Figure:
    figure, axes = subplots(DOUBLE, 76.0)
    sizes = {problem: len(results.study.select(problem)[0].spec.parameters["mass"])
             for problem in results.config.problems}
    labels = []
    for key, mark in looks(results).items():
        found = [(sizes[problem], float((rows["seconds"]/rows["steps"]).iloc[0])) for problem in sizes
                 for rows in (results.select(problem, key),) if len(rows) and rows["status"].iloc[0] == "ok"]
        n, times = np.array(found).T
        curve(axes, n, 1e6*times/n, mark)
        power = np.polyfit(np.log(n[n >= 10]), np.log(times[n >= 10]), 1)[0]
        labels.append(EndLabel(n[-1], 1e6*times[-1]/n[-1], f"$N^{{{power:.2f}}}$", mark))
    logarithmic(axes, y=False)
    axes.set_ylim(bottom=0.0)
    end_labels(axes, labels, 60.0)
    axes.set(xlabel="bodies N", ylabel="time of a step per body ($\\mu$s)")
    legend(figure, results)
    return figure


@drawing("Adaptive steps: state error at 51 times of the dense output over the tolerance (upper row) and over seconds"
         " of a run alone (lower row). ode45 keeps its absolute tolerance of 1e-6. {runs}")
def adaptive_mechanisms(results: Results) -> Figure:
    problems = list(results.config.problems)
    figure, rows = subplots(DOUBLE, 126.0, 2, len(problems), sharey=True)
    for k, problem in enumerate(problems):
        for key, mark in looks(results).items():
            found = results.select(problem, key)
            found = found[found["status"] == "ok"].sort_values("tolerance")
            for axes, column in zip(rows[:, k], ("tolerance", "seconds"), strict=True):
                curve(axes, found[column].to_numpy(float), found["error"].to_numpy(float), mark)
        rows[0, k].set_title(f"({'abc'[k]}) {label_of(results, problem)}")
        for axes, label in zip(rows[:, k], ("relative tolerance", "seconds"), strict=True):
            logarithmic(axes, xlabel=label)
    for axes in rows[:, 0]:
        axes.set_ylabel("state error")
    legend(figure, results)
    return figure
