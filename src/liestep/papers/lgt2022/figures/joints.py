"""Joints under local-global transition maps: drift, lower pairs, stabilisation (letter B of the digest, and own)."""

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.panels import label_of, logarithmic
from liestep.figures.selection import ladder
from liestep.figures.style import DOUBLE, Results, drawing, subplots
from liestep.papers.lgt2022.figures.common import LEAST, curve, legend, looks, over_steps

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
    axes.grid(False)
    shown = axes.imshow(values, aspect="auto", cmap="RdYlGn_r", vmin=-16.0, vmax=-4.0)
    for i, line in enumerate(values):
        for k, value in enumerate(line):
            axes.text(k, i, f"{value:.1f}", ha="center", va="center", fontsize=7.0,
                      color="white" if value < -13.5 or value > -5.0 else "black")
    axes.set_xticks(range(len(problems)), [label_of(results, problem) for problem in problems])
    axes.set_yticks(range(len(shown_as)), [mark.label for mark in shown_as.values()])
    axes.tick_params(length=0.0, top=False, right=False)
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
