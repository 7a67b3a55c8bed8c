"""Joints under local-global transition maps (drift, lower pairs, stabilisation) and index-3 methods (multipliers, stiff
springs, dissipation): letters B, G, G2 and H of the digest, and own."""
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.marks import DASHED, DOTTED, SOLID, Mark
from liestep.figures.panels import cells, label_of, legend_below, line_handle, logarithmic, slope_triangle
from liestep.figures.style import DOUBLE, Results, drawing, first_run, ladder, new_figure, subplots
from liestep.papers.lgt2022.figures.common import LEAST, LOST, MAPS, curve, legend, looks, over_steps

STARTS = {"corrected": SOLID, "shift": DASHED, "plain": DOTTED}


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
         " second order else. The fast top errs more with SE(3). {runs}")
def generalized_alpha(results: Results) -> Figure:
    return two_rows(results, ("attitude_entry_error", "joint_rate_error_max"),
                    ("attitude error, largest entry", "largest $|A V|$ (m/s)"), (0, "shift_1b", 2.0), sharey="row")


@drawing("Error of the multipliers of generalized-alpha, largest entry over the first 0.1 s from the first step on,"
         " over the step: solid with the corrected start, dashed with shifted accelerations, dotted plain (on the"
         " dashed ones). Order 2 with SE(3) for every start; with SO(3) x R^3 order 1 without the correction. {runs}")
def multipliers(results: Results) -> Figure:
    figure, axes = subplots(DOUBLE, 82.0)
    for key, entry in results.config.integrators.items():
        assert entry is not None
        _, colour, marker = MAPS[entry.options["action"], entry.options["chart"]]
        found = np.array([[float(value) for value in results.select(problem, key)[["step", "multiplier_error"]].iloc[0]]
                          for problem in results.config.problems])
        axes.plot(found[:, 0], found[:, 1], color=colour, marker=marker, linestyle=STARTS[entry.options["start"]],
                  markerfacecolor="white", markersize=3.8, linewidth=0.9)
        if entry.options["start"] == "shift" and colour == MAPS["se3", "cayley"][1]:
            slope_triangle(axes, found[:, 0], found[:, 1], 2.0)
        if entry.options["start"] == "plain" and colour == MAPS["so3_r3", "exp"][1]:
            slope_triangle(axes, found[:, 0], found[:, 1], 1.0)
    logarithmic(axes, xlabel="step (s)", ylabel="error of the multipliers (N)")
    legend_below(figure, [*(line_handle(Mark(colour, marker, SOLID, letter), f"1{letter}", True)
                            for letter, colour, marker in list(MAPS.values())[:4]),
                          *(line_handle(Mark("0.3", "", dash, name), name) for name, dash in STARTS.items())])
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
    for key, mark in looks(results).items():
        file = first_run(results, problem, key)
        change = file["energy"] - file["energy"][0]
        left.plot(file["time"], change, linewidth=0.9, **mark.line)
        right.plot(file["time"][1:], np.maximum(np.maximum.accumulate(np.abs(change))[1:], 1e-12), linewidth=0.9,
                   **mark.line)
    logarithmic(right)
    for axes, title in ((left, "(a) change"), (right, "(b) largest so far")):
        axes.set(title=title, xlabel="time (s)")
    left.set_ylabel("$E - E(0)$ (J)")
    right.set_ylabel("$|E - E(0)|$ (J)")
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
        for key, mark in looks(results).items():
            rows = [results.select(problem, key).iloc[0] for problem in problems]
            done = np.array([row["status"] == "ok" for row in rows])
            curve(axes, stiffness[done], np.array([float(row[column]) for row in rows])[done], mark)
        ceiling = 3.0*max(line.get_ydata().max() for line in axes.lines if len(line.get_ydata()))
        for key in looks(results):
            lost = [results.select(problem, key).iloc[0]["status"] != "ok" for problem in problems]
            axes.plot(stiffness[lost], np.full(sum(lost), ceiling), marker="x", linestyle="none", color=LOST)
        logarithmic(axes, title=title, xlabel="stiffness (N/m)", ylabel=label)
    legend(figure, results)
    return figure


KEPT = 1e-10  # residuals below are round-off


@drawing("Residual of the spherical joint of the fast top: (a) over time, with the exponent of its growth over the last"
         " nine tenths, steps of 1 ms, (b) to (d) its largest value over the step, with the reference point in the"
         " centre of mass and off it, and for a joint between bodies, which no map keeps. {runs}")
def joint_drift(results: Results) -> Figure:
    figure, grid = subplots(DOUBLE, 132.0, 2, 2)
    first, *others = grid.ravel()
    growing = []
    for key, mark in looks(results).items():
        file = results.file("over_time", key, results.study.select("over_time", key)[0].resolution)
        time, residual = file["time"][1:], np.maximum.accumulate(np.abs(file["joint_error"]))[1:]
        first.plot(time, np.maximum(residual, LEAST), linewidth=0.9, **mark.line)
        power = float(results.select("over_time", key)["joint_error_growth"].iloc[0])
        if residual[-1] > KEPT:
            growing.append((residual[-1], f"$t^{{{power:.2f}}}$", mark.colour))
    logarithmic(first)
    low = np.inf
    for value, text, colour in sorted(growing, reverse=True):
        low = min(value, 0.22*low)  # labels of curves that lie on each other stand below each other
        first.annotate(text, (first.get_xlim()[1], low), xytext=(2, 0), textcoords="offset points", va="center",
                       fontsize=6.5, color=colour, annotation_clip=False)
    first.set(xlabel="time (s)", title="(a) over time")
    for axes, problem, letter in zip(others, ("fast_top", "offset", "double_pendulum"), "bcd", strict=True):
        over_steps(axes, results, problem, "joint_error_max")
        axes.set(title=f"({letter}) {label_of(results, problem)}", ylim=(1e-16, 1e-1))
    first.set_ylim(1e-16, 1e0)
    for axes in grid[:, 0]:
        axes.set_ylabel("largest $|g|$ (m)")
    legend(figure, results)
    return figure


@drawing("Largest residual of the joint of one body to the ground over 5 s, as a power of ten: green where it is"
         " round-off. Steps of 5 ms. {runs}")
def lower_pairs(results: Results) -> Figure:
    problems, shown_as = list(results.config.problems), looks(results)
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
        for key, mark in looks(results).items():
            _, error = ladder(results, problem, key, "error")
            for axes, column, above in ((rows[0, k], "seconds", False), (rows[1, k], "joint_error_max", True)):
                _, values = ladder(results, problem, key, column)
                curve(axes, *((error, values) if above else (values, error)), mark)
        for axes in rows[:, k]:
            logarithmic(axes)
        rows[0, k].set(title=f"({'abc'[k]}) {label_of(results, problem)}", xlabel="seconds")
        rows[1, k].set_xlabel("state error")
    rows[0, 0].set_ylabel("state error")
    rows[1, 0].set_ylabel("largest $|g|$ (m or 1)")
    legend(figure, results)
    return figure
