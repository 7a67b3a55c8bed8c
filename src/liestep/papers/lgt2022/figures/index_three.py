"""Index-3 methods: letters G, G2 and H of the digest, stiff springs, dissipation."""
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.marks import DASHED, DOTTED, SOLID, Mark
from liestep.figures.panels import label_of, legend_below, line_handle, logarithmic, slope_triangle
from liestep.figures.selection import first_run, ladder
from liestep.figures.style import DOUBLE, Results, drawing, new_figure, subplots
from liestep.papers.lgt2022.figures.common import LOST, MAPS, curve, legend, looks, over_steps

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
