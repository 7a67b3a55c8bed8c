"""Figures 2 and 3 of liegroup2021, the heavy top by symplectic Lie group integrators, and 13 to 18, two quadrotors with
a load (14: the flight; e3 points down)."""
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.figures.scenes import looks
from liestep.paper import (
    COLOURS,
    DOUBLE,
    SINGLE,
    Mark,
    Parameters,
    Results,
    RunFile,
    Scene,
    View,
    drawing,
    first_run,
    graticule,
    hollow,
    ladder,
    legend_below,
    line_handle,
    logarithmic,
    marks,
    mix,
    new_figure,
    parameters,
    slope_triangle,
    snapshots,
    sphere_body,
    subplots,
    trail,
    triad,
)

from ..studies.quadrotor_payload import DESIRED, desired_directions, desired_path, draw, places

METHODS = ("slgi_0", "slgi_half", "slgi_1", "slgi_kk")  # keys of the study; SLGIKK is the same map as theta = 1/2
SLOPES = {"slgi_0": 1, "slgi_half": 2}
PROBLEM = "heavy_top"
VIEW = View(-60.0, 22.0)
CLOSE = 0.2  # s, shown large in figure 3
SWINGS = 0.1  # s of the third component in figure 2
FLOOR_COLOUR, FLOORS, NEAR = "0.87", 30.0, 0.1


def _data(file: RunFile) -> tuple[np.ndarray, np.ndarray]:
    """(m l Q^T Gamma0, Q chi), (time, 3) each; the paper's Gamma0 is minus the acceleration of gravity."""
    p = parameters(file)
    gamma = -p["mass"]*p["length"]*np.einsum("tji,j->ti", file["attitude"], p["gravity"])
    return gamma, file["attitude"] @ p["axis"]


def _sphere(axes: Axes, gamma: np.ndarray, colour: str, line: bool) -> float:
    """The curve of m l Q^T Gamma0 on its sphere, of which the radius is returned; without `line` as dots."""
    radius = float(np.linalg.norm(gamma[0]))
    sphere_body(axes)
    scene = Scene(axes, VIEW, fade=0.8)
    graticule(scene)
    points = 1.002*gamma/radius
    shades = [mix(colour, "white", share) for share in np.linspace(0.45, 0.0, len(points))]
    if line:
        scene.line(points, shades[1:], 0.7)
    else:
        scene.balls(points, shades, 0.9, edge=None)
    scene.balls(points[:1], "white", 4.0, lift=0.05, edge="0.2")
    scene.draw(limits=(-1.04, 1.04, -1.04, 1.04))
    triad(axes, VIEW, (-0.06, -0.08, 0.26, 0.26))
    return radius


def _order_panel(axes: Axes, results: Results, problem: str, column: str, floor: bool) -> None:
    """Errors against the step, solid above 30 floors; triangles where the last two errors have their slope."""
    level, least = results.metrics.loc[results.metrics["problem"] == problem, "floor"].max(), np.inf
    for key, mark in _styles(results).items():
        steps, errors = ladder(results, problem, key, column)
        least = min(least, errors.min())
        hollow(axes, steps, errors, mark, errors >= FLOORS*level)
        if (order := SLOPES.get(key)) and abs(np.log(errors[1]/errors[0])/np.log(steps[1]/steps[0]) - order) < NEAR:
            slope_triangle(axes, steps, errors, order, below=0.5 if order > 1 else 3.0)
    logarithmic(axes)
    if floor and level > 0.3*least:
        axes.axhspan(0.3*level, level, color=FLOOR_COLOUR, linewidth=0.0, zorder=0.5)
        axes.set_ylim(bottom=0.3*level)
    axes.set_xlabel("step $h$ (s)")


def _styles(results: Results) -> dict[str, Mark]:
    return {key: marks(results)[key] for key in METHODS}


@drawing("Heavy top with the printed data: motion and order. (a) curve of m l Q^T Gamma0 on its sphere by theta = 1/2,"
         " paler where earlier, ring: start; (b) components of Q chi, the third one over the first 0.1 s; both at the"
         " largest step. (c) state error against the step: the larger of the error of the attitude and that of the"
         " angular momentum divided by its largest length. SLGIKK lies on theta = 1/2: it is the same map. {runs}")
def figure2(results: Results) -> Figure:
    figure = new_figure(DOUBLE, 78.0, layout=None)
    files = {key: first_run(results, PROBLEM, key) for key in METHODS}
    gamma, _ = _data(files["slgi_half"])
    ball = figure.add_axes((0.01, 0.17, 0.3, 0.7))
    styles = _styles(results)
    radius = _sphere(ball, gamma, styles["slgi_half"].colour, line=True)
    figure.text(0.012, 0.945, f"(a) $M\\ell\\,Q^{{T}}\\Gamma_0$, radius {radius:.4g} N m", fontsize=8.0)
    figure.text(0.385, 0.945, f"(b) $Q\\chi$, h = {results.study.select(PROBLEM, 'slgi_half')[0].spec.step:g} s",
                fontsize=8.0)
    for k in range(3):
        axes = figure.add_axes((0.385, (0.725, 0.505, 0.2)[k], 0.24, 0.195))
        factor = (1.0, 1.0, 1e3)[k]  # the third one is small: the axis turns almost in a horizontal plane
        for key, mark in styles.items():
            axes.plot(files[key]["time"], factor*_data(files[key])[1][:, k], linewidth=0.7, **mark.line)
        axes.set_ylabel(f"$10^3 (Q\\chi)_{k + 1}$" if factor > 1.0 else f"$(Q\\chi)_{k + 1}$")
        axes.set_xlim(0.0, files["slgi_half"]["time"][-1] if k < 2 else SWINGS)
        axes.tick_params(labelbottom=k > 0)
    axes.set_xlabel("time (s)")
    errors = figure.add_axes((0.725, 0.19, 0.265, 0.73))
    _order_panel(errors, results, PROBLEM, "error", floor=False)
    errors.set_ylabel("state error")
    figure.text(0.725, 0.945, "(c) order", fontsize=8.0)
    figure.legend(handles=[line_handle(mark, mark.label, marker=True) for mark in styles.values()], loc="lower center",
                  ncols=4, bbox_to_anchor=(0.5, 0.0))
    return figure


@drawing("Heavy top: errors of attitude and angular momentum against the step. Top: printed data, bottom: inertia"
         " about the fixed point. Hollow points lie within 30 times the error of the reference (grey). {runs}")
def figure2_parts(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 118.0, 2, 2)
    for row, (problem, name) in enumerate(((PROBLEM, "printed data"),
                                           ("bruels_cardona", "inertia about the fixed point"))):
        for column, (part, title, label) in enumerate((("error_attitude", "attitude", "error of $Q$"),
                                                       ("error_angular_momentum", "angular momentum",
                                                        "relative error of $\\pi$"))):
            _order_panel(panels[row, column], results, problem, part, floor=True)
            panels[row, column].set(ylabel=label, title=f"({'abcd'[2*row + column]}) {name}: {title}")
    legend_below(figure, [*_styles(results).values()])
    return figure


@drawing("Heavy top over 6000 steps: energy and motion. Top: energy error at every step by theta = 1/2 (a) and theta ="
         " 0 (b); inset: the first 0.2 s. Bottom: m l Q^T Gamma0 after every step, paler where earlier;"
         " ring: start. {runs}")
def figure3(results: Results) -> Figure:
    figure, styles = new_figure(DOUBLE, 122.0, layout=None), marks(results)
    for column, (key, theta, power) in enumerate((("slgi_half", "1/2", -3), ("slgi_0", "0", 0))):
        file = first_run(results, PROBLEM, key)
        deviation = (file["energy"] - file["energy"][0])/10.0**power
        energy = figure.add_axes((0.075 + 0.51*column, 0.62, 0.4, 0.32))
        close = energy.inset_axes((0.42, 0.28, 0.5, 0.44))
        energy.plot(file["time"], deviation, color=mix(styles[key].colour, "white", 0.5), linewidth=0.3)
        close.plot(file["time"], deviation, color=styles[key].colour, linewidth=0.7, marker=".", markersize=3.0)
        energy.set_xlim(0.0, file["time"][-1])
        close.set_xlim(0.0, CLOSE)
        energy.set(xlabel="time (s)", ylabel=f"$H - H_0$ ($10^{{{power}}}$ J)" if power else "$H - H_0$ (J)",
                   title=f"({'ab'[column]}) energy error, $\\theta = {theta}$")
        ball = figure.add_axes((0.13 + 0.51*column, 0.0, 0.3, 0.45))
        radius = _sphere(ball, _data(file)[0], styles[key].colour, line=False)
        figure.text(0.03 + 0.51*column, 0.47, f"({'cd'[column]}) $M\\ell\\,Q^{{T}}\\Gamma_0$, radius {radius:.4g} N m",
                    fontsize=8.0)
    return figure


INTEGRATORS = ("lie_euler", "lie_heun", "rkmk3", "rkmk4")
PAPER = "ode45_paper"
PAYLOAD = "payload"
LOAD = "#1F4FBF"
LINKS = ("#0077BB", "#EE7733")


@drawing("Two quadrotors with a load: order. Euclidean error of load and links at the end against the step, with the"
         " constant moment of the public code (a) and without moment (b). Dotted line: error of the paper's reference,"
         " ode45 at 1e-10 and 1e-14; hollow points lie within 30 times the error of the reference. {runs}")
def figure13(results: Results) -> Figure:
    styles = marks(results)
    figure = new_figure(DOUBLE, 78.0)
    for number, (axes, problem) in enumerate(zip(figure.subplots(1, 2, sharey=True), results.config.problems,
                                                 strict=True)):
        rows = results.metrics[results.metrics["problem"] == problem]
        for order, key in enumerate(INTEGRATORS, start=1):
            steps, errors = ladder(results, problem, key, "error_final")
            state = ladder(results, problem, key, "error")[1]
            hollow(axes, steps, errors, styles[key], state >= 30.0*rows["floor"].max())
            slope_triangle(axes, steps, errors, order, below=0.5)
        axes.axhline(rows.loc[rows["integrator"] == PAPER, "error_final"].iloc[0], linewidth=1.0, **styles[PAPER].line)
        logarithmic(axes, xlabel="step $h$ (s)", title=f"({'ab'[number]}) {results.config.problems[problem].label}")
    figure.axes[0].set_ylabel("error of load and links at the end")
    legend_below(figure, [styles[key] for key in INTEGRATORS] + [replace(styles[PAPER], marker="")], 5)
    return figure


@drawing("Two quadrotors with a load: load position and desired path against time. By RKMK4; e3 points down, so that"
         " the third axis is reversed. {runs}", shows=("load_position",))
def figure15(results: Results) -> Figure:
    file = first_run(results, PAYLOAD, "rkmk4")
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
    file = first_run(results, PAYLOAD, "rkmk4")
    distance = np.linalg.norm(file["load_position"] - desired_path(parameters(file), file["time"]), axis=1)
    return _twice(file, distance[:, None], ("$|y - y_d|$",), (LOAD,), "$|y - y_d|$ (m)")


@drawing("Two quadrotors with a load: direction errors |q_id x q_i| of the links. By RKMK4, linear as in the paper (a)"
         " and logarithmic (b); their desired directions depend on position and velocity of the load. {runs}")
def figure17(results: Results) -> Figure:
    file = first_run(results, PAYLOAD, "rkmk4")
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
        file = first_run(results, PAYLOAD, key)
        for link, colour in enumerate(LINKS):
            axes.plot(file["time"], 1.0 - np.sum(file["q"][:, link]**2, axis=1), color=colour, linewidth=0.6,
                      label=f"link {link + 1}")
        axes.set(xlim=(0.0, file["time"][-1]), ylabel="$1 - q_i\\cdot q_i$",
                 title=f"({'abc'[number]}) {styles[key].label}")
    panels[1].legend()
    panels[2].set_xlabel("time (s)")
    return figure


TIMES = (0.01, 1.25, 3.0, 5.0)
FLIGHT_VIEW = View(65.0, 14.0, (0.0, 0.0, -1.0))
PARTS = ("load", "first quadrotor", "second quadrotor")
ARM = 0.34  # m, drawn; the model has points with inertia


@drawing("Two quadrotors with a load at four times. By RKMK4: desired path (dashed red), path of the load so far (blue)"
         " and of the quadrotors over the last 0.5 s; the quadrotors, points with inertia, are drawn with arms and"
         " rotors. Gravity, along e3, points down. {runs}")
def figure14(results: Results) -> Figure:
    file = first_run(results, PAYLOAD, "rkmk4")
    figure = new_figure(DOUBLE, 78.0, layout=None)
    data = parameters(file)
    panels = snapshots(figure, (0.0, 0.08, 1.0, 0.91), TIMES, columns=4)
    for letter, axes in zip("abcd", panels, strict=True):
        axes.texts[0].set_text(f"({letter}) {axes.texts[0].get_text()}")
    scenes = [_scene(axes, file, data, int(np.argmin(np.abs(file["time"] - time))))
              for axes, time in zip(panels, TIMES, strict=True)]
    points = FLIGHT_VIEW(np.concatenate([desired_path(data, file["time"]), file["load_position"],
                                  places(data, file["load_position"], file["q"]).reshape(-1, 3)]))
    low, high = points[:, :2].min(axis=0) - 0.55, points[:, :2].max(axis=0) + 0.55
    for scene in scenes:
        scene.draw(limits=(low[0], high[0], low[1], high[1]))
    triad(panels[0], FLIGHT_VIEW, (0.62, 0.02, 0.36, 0.2))
    left, below = low + 0.2
    panels[0].plot([left, left + 1.0], [below, below], color="0.2", linewidth=1.4, solid_capstyle="butt")
    panels[0].text(left + 0.5, below + 0.06, "1 m", ha="center", va="bottom", fontsize=7.0)
    figure.legend(handles=[Line2D([], [], color=DESIRED, linestyle="--", linewidth=0.8,
                                  label="desired path of the load"),
                           *(Line2D([], [], color=COLOURS[k], label=text) for k, text in enumerate(PARTS))],
                  loc="lower center", ncols=4)
    return figure


def _scene(axes: Axes, file: RunFile, data: Parameters, k: int) -> Scene:
    scene = Scene(axes, FLIGHT_VIEW, fade=0.15)
    path = desired_path(data, file["time"])[::20]
    for start in range(0, len(path) - 1, 4):
        scene.line(path[start:start + 3], DESIRED, 0.8, lift=-1.0, fade=0.0)
    load = file["load_position"]
    at = places(data, load, file["q"])
    if k > 10:
        scene.line(load[:k + 1:5], COLOURS[0], 0.8, fade=0.0)
        first = int(np.searchsorted(file["time"], file["time"][k] - 0.5))
        for body in range(2):
            trail(scene, at[first:k + 1:5, body], COLOURS[body + 1], 0.7)
    draw(looks, scene, load[k], at[k], file["attitude"][k], ARM)
    return scene
