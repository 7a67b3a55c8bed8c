"""Figures of lgt2022, which has one diagram and no number: letters A to J of the digest, and own. Errors of the
local-global transition maps, their time, the design table, long chains, adaptive steps; joints under these maps (drift,
lower pairs, stabilisation) and index-3 methods (multipliers, stiff springs, dissipation); figure 1 and table 1, made
from the code that the runs use. They find runs by the keys of the study files in studies."""
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.compile.tracing import Functions, plain_component
from liestep.integrators.tableaux import TABLEAUX
from liestep.paper import (
    DASHED,
    DOTTED,
    DOUBLE,
    SOLID,
    EndLabel,
    Mark,
    Results,
    cells,
    drawing,
    end_labels,
    first_run,
    label_of,
    ladder,
    legend_below,
    line_handle,
    logarithmic,
    mark_of,
    marks,
    new_figure,
    shade,
    slope_triangle,
    subplots,
    variant,
)

from .quantities import predicted_change

LEAST = 1e-16  # a residual of zero is drawn here
LOST = "#CC3311"
STOPPED = Mark(LOST, "x", "", "stopped early")
# group and chart -> letter of the paper with the number of its variant of rkmk; cayley2 is our own addition
MAPS = {("se3", "exp"): ("a", 0), ("so3_r3", "exp"): ("b", 1), ("so3_r3", "cayley"): ("c", 2),
        ("se3", "cayley"): ("d", 3), ("so3_r3", "cayley2"): ("c", 2), ("se3", "cayley2"): ("d", 3)}
def curve(axes: Axes, x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray, mark: Mark) -> None:
    """Line with markers; numbers below LEAST are drawn there."""
    axes.plot(x, np.maximum(y, LEAST), marker=mark.marker, markersize=3.8, linewidth=0.8, **mark.line)


def over_steps(axes: Axes, results: Results, problem: str, column: str) -> None:
    """A column of metrics over the step for the methods with complete runs; both axes logarithmic."""
    for key, mark in marks(results).items():
        if (results.select(problem, key)["status"] == "ok").any():
            steps, values = ladder(results, problem, key, column)
            curve(axes, steps, np.abs(values), mark)
    logarithmic(axes, xlabel="step (s)")


def legend(figure: Figure, results: Results, *others: Mark) -> None:
    """Legend of the methods below all panels."""
    legend_below(figure, [*marks(results).values(), *others])


TABLEAU_OF = {"rk2": "midpoint", "rk4": "rk4", "rk5": "dormand_prince5"}  # methods of the study on lengths


@drawing("Attitude error against the step: eight local-global transition maps, projected steps, and quaternions as"
         " state vectors. 1x and 2x coincide, and so do a with b and c with d at joints: the group changes positions"
         " only. {runs}", shows=("error",))
def work_precision(results: Results) -> Figure:
    problems = list(results.config.problems)
    rows = -(-len(problems)//4)
    columns = -(-len(problems)//rows)
    figure, panels = subplots(DOUBLE, 60.0*rows + 14.0, rows, columns, sharey=True, squeeze=False)
    for axes, problem, letter in zip(panels.flat, problems, "abcdefgh", strict=False):
        over_steps(axes, results, problem, "error_attitude")
        axes.set_title(f"({letter}) {label_of(results, problem)}")
    for axes in panels.flat[len(problems):]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel("attitude error")
    legend(figure, results)
    return figure


@drawing("Through the pole of the Euler angles: state error against the roll rate with which the pitch passes 90"
         " degrees, a panel for each number of steps; crosses at the top: the run ended at the pole. {runs}",
         shows=("error",))
def pitch_passage(results: Results) -> Figure:
    problems, shown = list(results.config.problems), marks(results)
    counts = sorted({int(cell.spec.steps or 0) for cell in results.study.cells})
    figure = new_figure(DOUBLE, 72.0)
    for axes, count, letter in zip(figure.subplots(1, len(counts), sharey=True), counts, "abcd", strict=False):
        for key, mark in shown.items():
            _passages(axes, results, problems, key, count, mark)
        logarithmic(axes, title=f"({letter}) {count} steps in 3 s", xlabel="roll rate (rad/s)")
    figure.axes[0].set_ylabel("state error")
    legend(figure, results, *[STOPPED]*bool((results.metrics["status"] != "ok").any()))
    return figure


def _passages(axes: Axes, results: Results, problems: list[str], key: str, count: int, mark: Mark) -> None:
    """Error of one method against the roll rate."""
    done: list[tuple[float, float]] = []
    for problem in problems:
        spec = next(cell.spec for cell in results.study.select(problem, key) if cell.spec.steps == count)
        rate, rows = float(spec.initial["body_rate"][0, 0]), results.select(problem, key)
        row = rows[np.isclose(rows["step"].to_numpy(float), float(spec.step or 0.0))].iloc[0]
        if row["status"] == "ok":
            done.append((rate, float(row["error"])))
        else:
            axes.plot(rate, 1.0, marker="x", color=LOST)
    rates, errors = np.reshape(done, (-1, 2)).T
    curve(axes, rates, errors, mark)


@drawing("Reference points in the centre of mass (solid) and off it (dashed): error of the centre of mass of (a) the"
         " free body and (b) the body on a spring, (c) attitude error of the fast top. Lines of 1a lie on each other."
         " {runs}")
def reference_points(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 78.0)
    shown = (("free", "center_error", "(a) free body", "error of the centre of mass (m)"),
             ("spring", "center_error", "(b) body on a spring", "error of the centre of mass (m)"),
             ("top", "attitude_entry_error", "(c) fast top", "attitude error, largest entry"))
    for axes, (problem, column, title, label) in zip(figure.subplots(1, 3), shown, strict=True):
        for key, mark in marks(results).items():
            for place, dash in ((problem, "-"), (f"{problem}_offset", (0, (3.0, 1.6)))):
                steps, values = ladder(results, place, key, column)
                axes.plot(steps, np.maximum(values, LEAST), color=mark.colour, linestyle=dash, linewidth=0.9,
                          marker=mark.marker, markersize=3.8)
        logarithmic(axes, title=title, xlabel="step (s)", ylabel=label)
    legend_below(figure, [replace(mark, dash="-") for mark in marks(results).values()])
    return figure


@drawing("Change of the length of the quaternion over 1 s of the fast top: points are runs, lines the stability"
         " functions at i h |w|/2, to the power of the number of steps; for orders 4 and 5 the quaternion shrinks."
         " {runs}")
def quaternion_norm(results: Results) -> Figure:
    figure, axes = subplots(DOUBLE, 76.0)
    problem, = results.config.problems
    spec = results.study.select(problem)[0].spec
    rate, end = float(np.linalg.norm(spec.initial["body_rate"][0])), spec.t_end
    for key, mark in marks(results).items():
        steps, change = ladder(results, problem, key, "quaternion_length_change")
        axes.plot(steps, np.maximum(np.abs(change), LEAST), **mark.points)
        if key in TABLEAU_OF:
            fine = np.geomspace(steps.min(), steps.max(), 100)
            change = predicted_change(TABLEAU_OF[key], fine, rate, end)
            axes.plot(fine, np.abs(change), color=mark.colour, linewidth=0.8)
    logarithmic(axes, xlabel="step (s)", ylabel="$||Q| - 1|$ after 1 s")
    legend_below(figure, [replace(mark, dash="") for mark in marks(results).values()])
    return figure


@drawing("Large rotations: (a) error per step of a constant turn, (b) error of the free body after 10 s, over the angle"
         " of a step; vertical lines: pi and 2 pi; crosses at the top: the step left the domain of its chart. {runs}")
def large_steps(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 76.0)
    for axes, problem, title in zip(figure.subplots(1, 2), ("turn", "free"), ("(a) constant turn", "(b) free body"),
                                    strict=True):
        spec = results.study.select(problem)[0].spec
        rate = float(np.linalg.norm(spec.initial["body_rate"][0]))
        for key, mark in marks(results).items():
            rows = results.select(problem, key).sort_values("step")
            done = (rows["status"] == "ok").to_numpy()
            angle, error = rows["step"].to_numpy(float)*rate, rows["error_attitude"].to_numpy(float)
            if problem == "turn":
                error = error/rows["steps"].to_numpy(float)
            curve(axes, angle[done], error[done], mark)
            axes.plot(angle[~done], np.full(np.count_nonzero(~done), 30.0), marker="x", linestyle="none",
                      color=mark.colour)
        logarithmic(axes)
        for end in (np.pi, 2.0*np.pi) if problem == "turn" else (np.pi,):
            axes.axvline(end, color="0.6", linewidth=0.6)
        axes.set(title=title, xlabel="rotation in a step (rad)",
                 ylabel="attitude error per step" if problem == "turn" else "attitude error")
    legend(figure, results)
    return figure


BASE = {"action": "so3_r3", "chart": "exp", "twist": "mixed", "attitude": "quaternion"}
COLUMNS = (("error", "(a) state error"), ("joint_error_max", "(b) residual of joints"),
           ("energy_error_max", "(c) energy error"), ("seconds", "(d) time"))
WIDEST = 2.0  # decades that the colours span


@drawing("Time of a Runge-Kutta step, above relative to the step on quaternions: eight maps and Euler angles, bars from"
         " left to right in the order of the legend. {runs}")
def cost(results: Results) -> Figure:
    problems, shown = list(results.config.problems), marks(results)
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


@drawing("All combinations of group, chart, components of the velocity and absolute attitude: numbers relative to 1b,"
         " SO(3) x R^3 with rotation vectors, mixed velocities and quaternions, as powers of ten for (a) to (c) and as"
         " factors for (d); green is better. {runs}")
def design(results: Results) -> Figure:
    entries = {key: entry.options for key, entry in results.config.integrators.items() if entry is not None}
    problems = list(results.config.problems)
    names = [mark.label.partition(": ")[2] for mark in marks(results).values()]
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
    for key, mark in marks(results).items():
        found = [(sizes[problem], float((rows["seconds"]/rows["steps"]).iloc[0])) for problem in sizes
                 for rows in (results.select(problem, key),) if len(rows) and rows["status"].iloc[0] == "ok"]
        n, times = np.array(found).T
        curve(axes, n, 1e6*times/n, mark)
        power = np.polyfit(np.log(n[n >= 10]), np.log(times[n >= 10]), 1)[0]
        labels.append(EndLabel(n[-1], 1e6*times[-1]/n[-1], f"{power:.2f}", (mark,)))
    logarithmic(axes, y=False)
    axes.set_ylim(bottom=0.0)
    end_labels(axes, labels, 60.0)
    axes.set(xlabel="bodies N", ylabel="time of a step per body ($\\mu$s)")
    legend(figure, results)
    return figure


@drawing("Adaptive steps: state error at 51 times of the dense output over the tolerance (upper row) and over seconds"
         " of a run alone (lower row). ode45 keeps its absolute tolerance of 1e-6, DOP853 that of 1e-12, which"
         " sets its steps in (c), where parts of the state vanish. {runs}")
def adaptive_mechanisms(results: Results) -> Figure:
    problems = list(results.config.problems)
    figure, rows = subplots(DOUBLE, 126.0, 2, len(problems), sharey=True)
    for k, problem in enumerate(problems):
        for key, mark in marks(results).items():
            found = results.select(problem, key)
            found = found[found["status"] == "ok"].sort_values("tolerance")
            for axes, column in zip(rows[:, k], ("tolerance", "seconds"), strict=True):
                curve(axes, found[column].to_numpy(float), found["error"].to_numpy(float), mark)
        logarithmic(rows[0, k], xlabel="relative tolerance", title=f"({'abc'[k]}) {label_of(results, problem)}")
        logarithmic(rows[1, k], xlabel="seconds")
    for axes in rows[:, 0]:
        axes.set_ylabel("state error")
    legend(figure, results)
    return figure


STARTS = {"corrected": SOLID, "shift": DASHED, "plain": DOTTED}
STARTED = {"corrected": "corrected start", "shift": "shifted accelerations", "plain": "neither"}


def two_rows(results: Results, columns: tuple[str, str], labels: tuple[str, str],
             triangle: tuple[int, str, float], **layout: Any) -> Figure:
    """Two columns of the tables over the step, a panel for each problem, with a slope triangle of an order beside an
    integrator in one of the rows (row, integrator, order)."""
    problems = list(results.config.problems)
    figure, rows = subplots(DOUBLE, 126.0, 2, len(problems), **layout)
    row, key, order = triangle
    for k, problem in enumerate(problems):
        for axes, column in zip(rows[:, k], columns, strict=True):
            over_steps(axes, results, problem, column)
        rows[0, k].set_title(f"({'abc'[k]}) {label_of(results, problem)}")
        slope_triangle(rows[row, k], *ladder(results, problem, key, columns[row]), order)
    for axes, label in zip(rows[:, 0], labels, strict=True):
        axes.set_ylabel(label)
    legend(figure, results)
    return figure


@drawing("Generalized-alpha with rho = 0.9: largest entry of the attitude's error at the end (upper row), and largest"
         " residual of the joints' velocities (lower row): round-off with SE(3) on a joint that makes a group, of"
         " second order otherwise. The fast top errs more with SE(3). {runs}")
def generalized_alpha(results: Results) -> Figure:
    return two_rows(results, ("attitude_entry_error", "joint_rate_error_max"),
                    ("attitude error, largest entry", "largest $|A V|$ (m/s)"), (0, "shift_1b", 2.0), sharey="row")


def _map_mark(action: str, chart: str) -> Mark:
    """Look of Runge-Kutta steps through a map, 1a to 1d."""
    letter, number = MAPS[action, chart]
    return replace(variant(mark_of("rkmk"), number), colour=shade("rkmk", number), dash=SOLID, label=f"1{letter}")


@drawing("Error of the multipliers of generalized-alpha, largest entry over the first 0.1 s from the first step on,"
         " over the step: solid with the corrected start, dashed with shifted accelerations, dotted with neither (on"
         " the dashed ones). Order 2 with SE(3) for every start; with SO(3) x R^3 order 1 without the correction."
         " {runs}")
def multipliers(results: Results) -> Figure:
    figure, axes = subplots(DOUBLE, 82.0)
    for key, entry in results.config.integrators.items():
        assert entry is not None
        mark = _map_mark(entry.options["action"], entry.options["chart"])
        found = np.array([[float(value) for value in results.select(problem, key)[["step", "multiplier_error"]].iloc[0]]
                          for problem in results.config.problems])
        axes.plot(found[:, 0], found[:, 1], color=mark.colour, marker=mark.marker,
                  linestyle=STARTS[entry.options["start"]],
                  markersize=3.8, linewidth=0.9)
        for start, map_of, order in (("shift", ("se3", "cayley"), 2.0), ("plain", ("so3_r3", "exp"), 1.0)):
            if entry.options["start"] == start and (entry.options["action"], entry.options["chart"]) == map_of:
                slope_triangle(axes, found[:, 0], found[:, 1], order)
    logarithmic(axes, xlabel="step (s)", ylabel="error of the multipliers (N)")
    legend_below(figure, [*(_map_mark(*one) for one in list(MAPS)[:4]),
                          *(line_handle(Mark("0.3", "", dash, name), STARTED[name]) for name, dash in STARTS.items())])
    return figure


@drawing("Backward differentiation: largest entry of the error of attitudes (upper row) and of body rates (lower row)"
         " at the end; k = 3 has order 3 in the rates with the commutator only. {runs}")
def bliedf(results: Results) -> Figure:
    return two_rows(results, ("attitude_entry_error", "rate_entry_error"),
                    ("attitude error, largest entry", "rate error, largest entry (rad/s)"), (1, "bdf3_1b", 3.0))


@drawing("Energy less its start over 1000 s: generalized-alpha loses energy by its numerical damping, explicit steps"
         " drift at their order. (b) largest change so far. {runs}")
def dissipation(results: Results) -> Figure:
    problem, = results.config.problems
    figure, (left, right) = subplots(DOUBLE, 78.0, 1, 2)
    for key, mark in marks(results).items():
        file = first_run(results, problem, key)
        change = file["energy"] - file["energy"][0]
        left.plot(file["time"], change, linewidth=0.9, **mark.line)
        right.plot(file["time"][1:], np.maximum(np.maximum.accumulate(np.abs(change))[1:], 1e-12), linewidth=0.9,
                   **mark.line)
    left.set(title="(a) change", xlabel="time (s)", ylabel="$E - E(0)$ (J)")
    logarithmic(right, title="(b) largest so far", xlabel="time (s)", ylabel="$|E - E(0)|$ (J)")
    legend(figure, results)
    return figure


@drawing("Stiffness of the spring that holds the body: (a) attitude error after 3 s, (b) largest error of the energy,"
         " steps of 10 ms. Crosses at the top: the run ended. {runs}")
def stiffness_sweep(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 78.0)
    problems = list(results.config.problems)
    stiffness = np.array([float(results.study.select(problem)[0].spec.parameters["spring_stiffness"])
                          for problem in problems])
    for axes, column, title, label in zip(
            figure.subplots(1, 2), ("error_attitude", "energy_error_max"), ("(a) attitude", "(b) energy"),
            ("attitude error", "largest $|E - E(0)|$ (J)"), strict=True):
        for key, mark in marks(results).items():
            rows = [results.select(problem, key).iloc[0] for problem in problems]
            done = np.array([row["status"] == "ok" for row in rows])
            curve(axes, stiffness[done], np.array([float(row[column]) for row in rows])[done], mark)
        ceiling = 3.0*max(line.get_ydata().max() for line in axes.lines if len(line.get_ydata()))
        for key in marks(results):
            lost = [results.select(problem, key).iloc[0]["status"] != "ok" for problem in problems]
            axes.plot(stiffness[lost], np.full(sum(lost), ceiling), marker="x", linestyle="none", color=LOST)
        logarithmic(axes, title=title, xlabel="stiffness (N/m)", ylabel=label)
    legend(figure, results, STOPPED)
    return figure


KEPT = 1e-10  # residuals below are round-off


@drawing("Residual of the spherical joint of the fast top: (a) over time, with the exponent of its growth over the last"
         " nine tenths, steps of 1 ms, (b) to (d) its largest value over the step, with the reference point in the"
         " centre of mass and off it, and for a joint between bodies, which no map keeps. {runs}")
def joint_drift(results: Results) -> Figure:
    figure, grid = subplots(DOUBLE, 132.0, 2, 2)
    first, *others = grid.ravel()
    labels = []
    for key, mark in marks(results).items():
        file = results.file("over_time", key, results.study.select("over_time", key)[0].resolution)
        time, residual = file["time"][1:], np.maximum.accumulate(np.abs(file["joint_error"]))[1:]
        first.plot(time, np.maximum(residual, LEAST), linewidth=0.9, **mark.line)
        power = float(results.select("over_time", key)["joint_error_growth"].iloc[0])
        if residual[-1] > KEPT:
            labels.append(EndLabel(time[-1], residual[-1], f"{power:.2f}", (mark,)))
    logarithmic(first, xlabel="time (s)", title="(a) over time")
    for axes, problem, letter in zip(others, ("fast_top", "offset", "double_pendulum"), "bcd", strict=True):
        over_steps(axes, results, problem, "joint_error_max")
        axes.set(title=f"({letter}) {label_of(results, problem)}", ylim=(1e-16, 1e-1))
    first.set_ylim(1e-16, 1e0)
    end_labels(first, labels, 38.0)
    for axes in grid[:, 0]:
        axes.set_ylabel("largest $|g|$ (m)")
    legend(figure, results)
    return figure


@drawing("Largest residual of the joint of one body to the ground over 5 s, as a power of ten: green where it is"
         " round-off. Steps of 5 ms. {runs}", shows=("joint_error",))
def lower_pairs(results: Results) -> Figure:
    problems, shown_as = list(results.config.problems), marks(results)
    coarse = {key: results.study.select(problems[0], key)[0].resolution for key in shown_as}
    table = results.metrics.set_index(["problem", "integrator", "resolution"])["joint_error_max"]
    values = np.array([[np.log10(max(float(table[problem, key, coarse[key]]), LEAST)) for problem in problems]
                       for key in shown_as])
    figure, axes = subplots(DOUBLE, 78.0)
    shown = cells(axes, values, [[f"{value:.1f}" for value in line] for line in values],
                  [mark.label for mark in shown_as.values()], (values < -13.5) | (values > -5.0), 7.0,
                  cmap="RdYlGn_r", vmin=-16.0, vmax=-4.0)
    axes.set_xticks(range(len(problems)), [label_of(results, problem) for problem in problems])
    figure.colorbar(shown, ax=axes, pad=0.01).set_label("log$_{10}$ largest $|g|$ (m or 1)")
    return figure


@drawing("Stabilisation: state error over seconds of a run alone (upper row), and largest residual of the joints over"
         " the state error (lower row): projection and index 3 keep the joints, Baumgarte's method bounds them. {runs}")
def stabilised(results: Results) -> Figure:
    problems = list(results.config.problems)
    figure, rows = subplots(DOUBLE, 126.0, 2, len(problems), sharey="row")
    for k, problem in enumerate(problems):
        for key, mark in marks(results).items():
            _, error = ladder(results, problem, key, "error")
            curve(rows[0, k], ladder(results, problem, key, "seconds")[1], error, mark)
            curve(rows[1, k], error, ladder(results, problem, key, "joint_error_max")[1], mark)
        logarithmic(rows[0, k], title=f"({'abc'[k]}) {label_of(results, problem)}", xlabel="seconds")
        logarithmic(rows[1, k], xlabel="state error")
    rows[0, 0].set_ylabel("state error")
    rows[1, 0].set_ylabel("largest $|g|$ (m or 1)")
    legend(figure, results)
    return figure


PROBLEM, METHOD = "slow_top", "rkmk4_1a"
ABSOLUTE = {"1": "unit quaternion, position", "2": "rotation vector, position"}
LOCAL = {"a": "screw coordinates, SE(3)", "b": "rotation vector and position", "c": "Rodrigues vector and position",
         "d": "Rodrigues vector, SE(3)"}
PLAIN = Functions(np.sqrt, np.sin, np.cos, lambda x, limit: x < limit)
PLACES = (0.43, 1.5, 2.58, 3.57)  # of the columns of boxes
ARROWS = ((0.86, 0.99), (2.0, 2.13), (3.02, 3.14))
HEADS = ("local coordinates $X_i$", "map $q_i = \\tau(q_k, X_i)$", "model: $\\dot V_i$ at $(q_i, V_i)$",
         "$\\dot X_i = d\\psi^{-1}_{-X_i} V_i$")


def stages(problem: Any, start: np.ndarray, h: float) -> tuple[list[tuple[np.ndarray, ...]], np.ndarray]:
    """(X_i, state i, rates in the algebra, dX_i/dt) of one classical Runge-Kutta step, and the state after it."""
    tableau = TABLEAUX["rk4"]
    a, b = np.asarray(tableau.a, dtype=float), np.asarray(tableau.b, dtype=float)
    slopes: list[np.ndarray] = []
    found: list[tuple[np.ndarray, ...]] = []
    for i in range(len(b)):
        x: np.ndarray = np.zeros((problem.algebra_rows(), 3))
        for j in range(i):
            x = x + h*a[i, j]*slopes[j]
        state, rate, slope = start.copy(), np.zeros_like(x), np.zeros_like(x)
        problem.act(x, start, state)
        if not (problem.algebra(0.0, state, rate) and problem.dexpinv(x, rate, slope)):
            raise ValueError("a stage of the step of figure 1 cannot be evaluated")
        slopes.append(slope)
        found.append((x, state, rate, slope))
    end = start.copy()
    problem.act(h*sum(weight*slope for weight, slope in zip(b, slopes, strict=True)), start, end)
    return found, end


def _numbers(name: str, values: np.ndarray) -> str:
    return f"{name} = ({', '.join(f'{value:+.3f}' for value in values)})"


def _box(axes: Axes, x: float, y: float, lines: list[str], colour: str) -> None:
    axes.text(x, y, "\n".join(lines), ha="center", va="center", fontsize=5.2, family="DejaVu Sans Mono",
              bbox={"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "0.4", "linewidth": 0.6})


@drawing("The flow of figure 1 of the paper with the numbers of one classical Runge-Kutta step of the slow top through"
         " the map 1a: the local coordinates of a stage are zero, or the step times a sum of the slopes before it."
         " {runs}")
def figure1(results: Results) -> Figure:
    from liestep.simulation.runs.execution import build

    spec = results.study.select(PROBLEM, METHOD)[0].spec
    formulated, _ = build(spec)
    found, end = stages(plain_component(formulated.problem, PLAIN, np.float64), formulated.start, float(spec.step or 0))
    figure, axes = subplots(DOUBLE, 116.0)
    axes.set_axis_off()
    axes.set(xlim=(0.0, 4.0), ylim=(-0.9, 5.4))
    for place, head in zip(PLACES, HEADS, strict=True):
        axes.text(place, 4.55, head, ha="center", fontsize=7.0)
    _box(axes, 2.0, 5.15, ["start: " + _numbers("Q", formulated.start[0]), _numbers("r", formulated.start[1, :3]) + "  "
                           + _numbers("w", formulated.start[2, :3])], "#DDEAF5")
    for i, (x, state, rate, slope) in enumerate(found):
        y = 3.9 - i
        _box(axes, PLACES[0], y, [_numbers("x", x[0]), _numbers("y", x[1])], "#FCE7D6")
        _box(axes, PLACES[1], y, [_numbers("Q", state[0]), _numbers("r", state[1, :3])], "#DDEAF5")
        _box(axes, PLACES[2], y, [_numbers("w'", rate[2]), _numbers("v'", rate[3])], "#E2F1EA")
        _box(axes, PLACES[3], y, [_numbers("x'", slope[0]), _numbers("y'", slope[1])], "#FCE7D6")
        for begin, tip in ARROWS:
            axes.annotate("", (tip, y), (begin, y), arrowprops={"arrowstyle": "->", "linewidth": 0.7})
        if i < len(found) - 1:
            axes.annotate("", (PLACES[0], y - 0.68), (PLACES[3], y - 0.32), arrowprops={
                "arrowstyle": "->", "linewidth": 0.5, "color": "0.55", "connectionstyle": "arc3,rad=0"})
    _box(axes, 2.0, -0.35, [f"after {spec.step:g} s: " + _numbers("Q", end[0]), _numbers("r", end[1, :3]) + "  "
                            + _numbers("w", end[2, :3])], "#DDEAF5")
    return figure


@drawing("Table 1 of the paper, made from the code: the eight local-global transition maps, how far each is from the"
         " product of its group, its floating-point operations for one body, of the map and of the inverse"
         " differential, and the time of a Runge-Kutta step relative to quaternions as a state vector. {runs}")
def table1(results: Results) -> Figure:
    from .transition_maps import NAMES, row_of

    problems = list(results.config.problems)
    figure, axes = subplots(DOUBLE, 66.0)
    axes.set_axis_off()
    head = ["", "absolute coordinates", "local coordinates", "defect", "map", "rate", *(
        label_of(results, problem) for problem in problems)]
    body = []
    for name in NAMES:
        row = row_of(name)
        times = [float(results.select(problem, f"rkmk4_{name}")["seconds"].iloc[0]
                       /results.select(problem, "quaternion")["seconds"].iloc[0]) for problem in problems]
        body.append([name, ABSOLUTE[name[0]], LOCAL[name[1]], f"{row.defect:.0e}", str(row.act), str(row.rate),
                     *(f"{value:.2f}" for value in times)])
    shown = axes.table(cellText=body, colLabels=head, loc="center", cellLoc="center",
                       colWidths=[0.04, 0.17, 0.19, 0.06, 0.05, 0.05, *([0.44/len(problems)]*len(problems))])
    shown.auto_set_font_size(False)
    shown.set_fontsize(6.0)
    shown.scale(1.0, 1.35)
    for (i, _), cell in shown.get_celld().items():
        cell.set_linewidth(0.4)
        if i == 0:
            cell.set_facecolor("#E8ECF0")
    return figure
