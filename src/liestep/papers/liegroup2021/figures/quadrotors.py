"""Figures 13 and 15 to 18 of liegroup2021: two quadrotors with a suspended load, order and tracking. Figure 14
is in liegroup2021_flight."""

import numpy as np
from matplotlib.figure import Figure

from liestep.figures.marks import marks
from liestep.figures.panels import hollow, legend_below, line_handle, logarithmic, slope_triangle
from liestep.figures.scenes.motion import parameters
from liestep.figures.selection import first_run, ladder
from liestep.figures.style import DOUBLE, SINGLE, Results, drawing, new_figure
from liestep.mechanics.systems.quadrotor_payload import desired_directions, desired_path
from liestep.simulation.runs.files import RunFile

METHODS = ("lie_euler", "lie_heun", "rkmk3", "rkmk4")
PAPER = "ode45_paper"
PROBLEM = "payload"
LOAD, DESIRED = "#1F4FBF", "#D62728"
LINKS = ("#0077BB", "#EE7733")


@drawing("Two quadrotors with a load: order. Euclidean error of load and links at the end against the step, with the"
         " constant moment of the public code (a) and without moment (b). Dotted line: error of the paper's reference,"
         " ode45 at 1e-10 and 1e-14; hollow points lie within 30 floors of the reference. {runs}")
def figure13(results: Results) -> Figure:
    styles = marks(results)
    figure = new_figure(DOUBLE, 78.0)
    for number, (axes, problem) in enumerate(zip(figure.subplots(1, 2, sharey=True), results.config.problems,
                                                 strict=True)):
        rows = results.metrics[results.metrics["problem"] == problem]
        for order, key in enumerate(METHODS, start=1):
            steps, errors = ladder(results, problem, key, "error_final")
            state = ladder(results, problem, key, "error")[1]
            hollow(axes, steps, errors, styles[key], state >= 30.0*rows["floor"].max())
            slope_triangle(axes, steps, errors, order, below=0.5)
        axes.axhline(rows.loc[rows["integrator"] == PAPER, "error_final"].iloc[0], linewidth=1.0, **styles[PAPER].line)
        logarithmic(axes)
        axes.set(xlabel="step $h$ (s)", title=f"({'ab'[number]}) {results.config.problems[problem].label}")
    figure.axes[0].set_ylabel("error of load and links at the end")
    legend_below(figure, [line_handle(styles[key], styles[key].label, marker=True) for key in METHODS]
                 + [line_handle(styles[PAPER], styles[PAPER].label)], 5)
    return figure


@drawing("Two quadrotors with a load: load position and desired path against time. By RKMK4; e3 points down, so that"
         " the third axis is reversed. {runs}")
def figure15(results: Results) -> Figure:
    file = first_run(results, PROBLEM, "rkmk4")
    desired = desired_path(parameters(file), file["time"])
    figure = new_figure(SINGLE, 110.0)
    panels = figure.subplots(3, 1, sharex=True)
    for k, axes in enumerate(panels):
        axes.plot(file["time"], file["load_position"][:, k], color=LOAD, label="$y$")
        axes.plot(file["time"], desired[:, k], color=DESIRED, linestyle="--", linewidth=0.9, label="$y_d$")
        axes.set(ylabel=f"$y^{{({k + 1})}}$ (m)", xlim=(0.0, file["time"][-1]))
    panels[2].invert_yaxis()
    panels[2].set_xlabel("time (s)")
    panels[0].legend(loc="lower right", ncols=2)
    return figure


@drawing("Two quadrotors with a load: distance of the load from its desired path. By RKMK4, linear as in the paper (a)"
         " and logarithmic (b). {runs}")
def figure16(results: Results) -> Figure:
    file = first_run(results, PROBLEM, "rkmk4")
    distance = np.linalg.norm(file["load_position"] - desired_path(parameters(file), file["time"]), axis=1)
    return _twice(file, distance[:, None], ("$|y - y_d|$",), (LOAD,), "$|y - y_d|$ (m)")


@drawing("Two quadrotors with a load: direction errors |q_id x q_i| of the links. By RKMK4, linear as in the paper (a)"
         " and logarithmic (b); their desired directions depend on position and velocity of the load. {runs}")
def figure17(results: Results) -> Figure:
    file = first_run(results, PROBLEM, "rkmk4")
    desired = desired_directions(parameters(file), file["time"], file.variables)
    errors = np.linalg.norm(np.cross(desired, file["q"]), axis=2)
    return _twice(file, errors, ("link 1", "link 2"), LINKS, "$|q_{i,d} \\times q_i|$")


def _twice(file: RunFile, values: np.ndarray, names: tuple[str, ...], colours: tuple[str, ...], label: str) -> Figure:
    """Columns of values against time, linear and logarithmic."""
    figure = new_figure(DOUBLE, 58.0)
    panels = figure.subplots(1, 2)
    for number, axes in enumerate(panels):
        for value, name, colour in zip(values.T, names, colours, strict=True):
            axes.plot(file["time"], value, color=colour, label=name)
        axes.set(xlim=(0.0, file["time"][-1]), xlabel="time (s)",
                 title=f"({'ab'[number]}) {('linear', 'logarithmic')[number]}")
    panels[0].set_ylim(bottom=0.0)
    panels[1].set_yscale("log")
    panels[0].set_ylabel(label)
    if len(names) > 1:
        panels[0].legend()
    return figure


@drawing("Two quadrotors with a load: 1 - q_i.q_i against time. By ode45 at 1e-10 and 1e-14 (a), ode45 at MATLAB's"
         " default tolerances (b) and RKMK4 (c). The paper shows (a) or (b), which of them it does not say,"
         " and (c). {runs}")
def figure18(results: Results) -> Figure:
    styles = marks(results)
    figure = new_figure(SINGLE, 110.0)
    panels = figure.subplots(3, 1, sharex=True)
    for number, (axes, key) in enumerate(zip(panels, ("ode45", "ode45_default", "rkmk4"), strict=True)):
        file = first_run(results, PROBLEM, key)
        for link, colour in enumerate(LINKS):
            axes.plot(file["time"], 1.0 - np.sum(file["q"][:, link]**2, axis=1), color=colour, linewidth=0.6,
                      label=f"link {link + 1}")
        axes.set(xlim=(0.0, file["time"][-1]), ylabel="$1 - q_i\\cdot q_i$",
                 title=f"({'abc'[number]}) {styles[key].label}")
    panels[1].legend()
    panels[2].set_xlabel("time (s)")
    return figure
