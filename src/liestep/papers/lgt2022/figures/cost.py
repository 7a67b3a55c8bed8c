"""Time of the maps, the design table, long chains and adaptive steps: letters I and J of the digest, and own."""

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.labels import EndLabel, end_labels
from liestep.figures.panels import label_of, logarithmic
from liestep.figures.style import DOUBLE, Results, drawing, new_figure, subplots
from liestep.papers.lgt2022.figures.common import curve, legend, looks

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
    base = next(key for key, options in entries.items() if all(options[name] == BASE[name] for name in BASE))
    table = results.metrics.set_index(["problem", "integrator"])
    figure = new_figure(DOUBLE, 190.0)
    for axes, (column, title) in zip(figure.subplots(1, len(COLUMNS), sharey=True), COLUMNS, strict=True):
        values = np.array([[float(table.loc[(problem, key), column]) for problem in problems] for key in entries])
        least = 1e-13 if column != "seconds" else 0.0
        ratio = np.maximum(values, least)/np.maximum(values[list(entries).index(base)], least)
        wide = WIDEST if column != "seconds" else 0.5
        axes.imshow(np.log10(ratio), aspect="auto", cmap="PiYG_r", vmin=-wide, vmax=wide)
        for i, line in enumerate(ratio):
            for k, value in enumerate(line):
                power = round(float(np.log10(value)), 1)
                text = f"{value:.2f}" if column == "seconds" else f"{power:+.1f}" if power else "0"
                axes.text(k, i, text, ha="center", va="center", fontsize=4.6,
                          color="white" if abs(np.log10(value)) > 0.75*wide else "black")
        axes.grid(False)
        axes.set_title(title)
        axes.set_xticks(range(len(problems)), [label_of(results, problem) for problem in problems], rotation=60,
                        ha="right", rotation_mode="anchor")
        axes.tick_params(length=0.0)
    names = [f"{GROUPS[options['action']]}, {options['chart']}, {options['twist']}, {SHORT[options['attitude']]}"
             for options in entries.values()]
    figure.axes[0].set_yticks(range(len(names)), names, fontsize=5.6)
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
