"""Figures 13 to 18 of liegroup2021: two quadrotors with a load, order, tracking, the flight (14; e3 points down)."""
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.figures.marks import marks
from liestep.figures.panels import hollow, legend_below, logarithmic, slope_triangle
from liestep.figures.scenes.looks import COLOURS, quadrotor_places, quadrotors, trail
from liestep.figures.scenes.motion import parameters, snapshots
from liestep.figures.scenes.space import Scene, View, triad
from liestep.figures.style import DOUBLE, SINGLE, Results, drawing, first_run, ladder, new_figure, subplots
from liestep.mechanics.contracts.sheet import Parameters
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
        logarithmic(axes, xlabel="step $h$ (s)", title=f"({'ab'[number]}) {results.config.problems[problem].label}")
    figure.axes[0].set_ylabel("error of load and links at the end")
    legend_below(figure, [styles[key] for key in METHODS] + [replace(styles[PAPER], marker="")], 5)
    return figure


@drawing("Two quadrotors with a load: load position and desired path against time. By RKMK4; e3 points down, so that"
         " the third axis is reversed. {runs}")
def figure15(results: Results) -> Figure:
    file = first_run(results, PROBLEM, "rkmk4")
    desired = desired_path(parameters(file), file["time"])
    figure, panels = subplots(SINGLE, 110.0, 3, 1, sharex=True)
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
    figure, panels = subplots(DOUBLE, 58.0, 1, 2)
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
    figure, panels = subplots(SINGLE, 110.0, 3, 1, sharex=True)
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


TIMES = (0.01, 1.25, 3.0, 5.0)
VIEW = View(65.0, 14.0, (0.0, 0.0, -1.0))
PATH = "#D62728"
PARTS = ("load", "first quadrotor", "second quadrotor")
ARM = 0.34  # m, drawn; the model has points with inertia


@drawing("Two quadrotors with a load at four times. By RKMK4: desired path (dashed red), path of the load so far (blue)"
         " and of the quadrotors over the last 0.5 s; the quadrotors, points with inertia, are drawn with arms and"
         " rotors. Gravity, along e3, points down. {runs}")
def figure14(results: Results) -> Figure:
    file = first_run(results, "payload", "rkmk4")
    figure = new_figure(DOUBLE, 78.0, layout=None)
    data = parameters(file)
    panels = snapshots(figure, (0.0, 0.08, 1.0, 0.91), TIMES, columns=4)
    for letter, axes in zip("abcd", panels, strict=True):
        axes.texts[0].set_text(f"({letter}) {axes.texts[0].get_text()}")
    scenes = [_scene(axes, file, data, int(np.argmin(np.abs(file["time"] - time))))
              for axes, time in zip(panels, TIMES, strict=True)]
    points = VIEW(np.concatenate([desired_path(data, file["time"]), file["load_position"],
                                  quadrotor_places(data, file["load_position"], file["q"]).reshape(-1, 3)]))
    low, high = points[:, :2].min(axis=0) - 0.55, points[:, :2].max(axis=0) + 0.55
    for scene in scenes:
        scene.draw(limits=(low[0], high[0], low[1], high[1]))
    triad(panels[0], VIEW, (0.62, 0.02, 0.36, 0.2))
    left, below = low + 0.2
    panels[0].plot([left, left + 1.0], [below, below], color="0.2", linewidth=1.4, solid_capstyle="butt")
    panels[0].text(left + 0.5, below + 0.06, "1 m", ha="center", va="bottom", fontsize=7.0)
    figure.legend(handles=[Line2D([], [], color=PATH, linestyle="--", linewidth=0.8, label="desired path of the load"),
                           *(Line2D([], [], color=COLOURS[k], label=text) for k, text in enumerate(PARTS))],
                  loc="lower center", ncols=4)
    return figure


def _scene(axes: Axes, file: RunFile, data: Parameters, k: int) -> Scene:
    scene = Scene(axes, VIEW, fade=0.15)
    path = desired_path(data, file["time"])[::20]
    for start in range(0, len(path) - 1, 4):
        scene.line(path[start:start + 3], PATH, 0.8, lift=-1.0, fade=0.0)
    load = file["load_position"]
    places = quadrotor_places(data, load, file["q"])
    if k > 10:
        scene.line(load[:k + 1:5], COLOURS[0], 0.8, fade=0.0)
    first = int(np.searchsorted(file["time"], file["time"][k] - 0.5))
    if k > 10:
        for body in range(2):
            trail(scene, places[first:k + 1:5, body], COLOURS[body + 1], 0.7)
    quadrotors(scene, load[k], places[k], file["attitude"][k], ARM)
    return scene
