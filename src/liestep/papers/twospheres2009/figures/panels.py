"""Figures 1 and 3 to 5 of twospheres2009: motion (a), total energy (b) and unit length error (c) as in the paper. The
paper's colours and dashes: variational integrator red and solid, Runge-Kutta blue and dotted, with reprojection black
and dashed. The other figures are in the module sphere (2, 6, 7). In the motions (a) gravity points down on paper."""
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from liestep.errors import InputError
from liestep.figures.marks import DASHDOT, DASHED, DOTTED, SOLID
from liestep.figures.scenes import looks
from liestep.figures.scenes.motion import Place, directions, parameters, snapshots
from liestep.figures.scenes.space import Scene, View, mix, triad
from liestep.figures.style import DOUBLE, Results, drawing, new_figure, problems_of, run_with
from liestep.simulation.runs.files import RunFile

RED, BLUE, BLACK = "#D62728", "#1F4FBF", "#111111"
VI: dict[str, Any] = {"color": RED, "linestyle": SOLID, "linewidth": 0.9}
RK = {"color": BLUE, "linestyle": DOTTED, "linewidth": 1.3}
PROJECTED = {"color": BLACK, "linestyle": DASHED, "linewidth": 0.9}
PRINTED = {"color": "#F0A3A0", "linestyle": DASHDOT, "linewidth": 0.9}
Curve = tuple[str, dict[str, Any], RunFile]


def energy_panel(axes: Axes, curves: list[Curve]) -> None:
    """Computed total energy against time, linear axes."""
    largest = max(float(np.abs(file["energy"]).max()) for *_, file in curves)
    power = int(np.floor(np.log10(largest))) if 0.0 < largest < 0.01 else 0
    for label, style, file in reversed(curves):
        axes.plot(file["time"], file["energy"]/10.0**power, label=label, **style)
    axes.set(xlabel="time (s)", ylabel=f"total energy ($10^{{{power}}}$ J)" if power else "total energy (J)",
             title="(b) computed total energy", xlim=(0.0, max(float(file["time"][-1]) for *_, file in curves)))


def length_panel(axes: Axes, curves: list[Curve]) -> None:
    """Mean of |1 - q.q| against time, logarithmic: samples pale, means over a hundredth of the run on top."""
    for label, style, file in reversed(curves):
        sampled = file["unit_length_error"]
        axes.plot(file["time"], np.where(sampled > 0.0, sampled, np.nan), color=mix(style["color"], "white", 0.65),
                  linewidth=0.4)
        means = file.blocks("unit_length_error", "mean")
        centres = (np.arange(means.size) + 0.5)/means.size*file.attributes["t_end"]
        axes.plot(centres, means, label=label, **style)
    axes.set(yscale="log", xlabel="time (s)", ylabel="mean $|1 - q_i\\cdot q_i|$", title="(c) unit length error",
             xlim=(0.0, max(float(file["time"][-1]) for *_, file in curves)))


def three_panels(curves: list[Curve], draw_motion: Callable[[Figure, Place], None], title: str) -> Figure:
    """Motion on the left, energy above length error on the right, one legend below them."""
    figure = new_figure(DOUBLE, 90.0, layout=None)
    draw_motion(figure, (0.01, 0.02, 0.5, 0.91))
    figure.text(0.015, 0.955, f"(a) {title}", fontsize=8.0)
    upper, lower = figure.add_axes((0.61, 0.64, 0.375, 0.3)), figure.add_axes((0.61, 0.205, 0.375, 0.28))
    energy_panel(upper, curves)
    length_panel(lower, curves)
    figure.align_ylabels([upper, lower])
    handles, labels = upper.get_legend_handles_labels()
    figure.legend(handles[::-1], labels[::-1], loc="lower center", bbox_to_anchor=(0.78, 0.0),
                  ncols=3 if len(curves) < 4 else 2)
    return figure


def _compared(results: Results, problem: str, others: list[Curve]) -> tuple[RunFile, list[Curve]]:
    """The variational run and all curves: it, the one by the printed formulas if there is one, the others."""
    vi = run_with(results, problem, "vi_sphere", form="increment")
    try:
        printed = [("VI, printed formulas", PRINTED, run_with(results, problem, "vi_sphere", form="paper"))]
    except InputError:
        printed = []
    return vi, [("VI", VI, vi), *printed, *others]


@drawing("Double spherical pendulum. (a) paths of both masses over the first 12 s, paler where earlier, the"
         " variational integrator as lines and ode45 as dots; the pendulum at the start (pale) and at the end of the"
         " paths, gravity points down. (b) total energy, (c) unit length error: means over hundredths of the run,"
         " samples pale. {runs}")
def figure1(results: Results) -> Figure:
    problem = problems_of(results, "spherical_pendulum_chain")[0]
    rk = run_with(results, problem, "ode45")
    vi, curves = _compared(results, problem, [("RK45", RK, rk)])
    return three_panels(curves, lambda figure, place: pendulum(figure, place, vi, rk, RED, BLUE),
                        f"trajectory of the pendulum, 0 to {SHOWN:g} s")


@drawing("Four spherical pendula connected by springs. (a) the variational solution at four times, with the paths of"
         " the masses over the last 0.1 s; gravity points down. (b) total energy, (c) unit length error; the fixed-step"
         " methods at the first step of the study. {runs}")
def figure3(results: Results) -> Figure:
    problem = problems_of(results, "spring_pendula")[0]
    rk, projected = (run_with(results, problem, "rk2_midpoint", projection=name) for name in ("none", "position"))
    vi, curves = _compared(results, problem, [("RK2 with projection", PROJECTED, projected), ("RK2", RK, rk)])
    return three_panels(curves, lambda figure, place: springs(figure, place, vi), "motion of the pendula")


@drawing("Elastic rod after an impact. (a) the variational solution at several times, with its shadow on a horizontal"
         " plane; the first element is clamped, gravity points down. (b) total energy, which grows"
         " with RK45 here and falls in the paper; (c) unit length error. {runs}")
def figure4(results: Results) -> Figure:
    problem = problems_of(results, "elastic_rod")[0]
    rk = run_with(results, problem, "ode45", form="omega")
    vi, curves = _compared(results, problem, [("RK45", RK, rk)])
    figure = three_panels(curves, lambda figure, place: rod(figure, place, vi), "deformation of the rod")
    change = rk["energy"][-1]/rk["energy"][0] - 1.0
    energy = figure.axes[-2]
    energy.text(0.03, 0.93, f"RK45 {'gains' if change > 0.0 else 'loses'} {abs(change):.1%} of the energy",
                transform=energy.transAxes, va="top", color=BLUE, fontsize=7.0)
    return figure


@drawing("Array of magnetic dipoles. (a) the variational solution at four times, with the paths of the north poles over"
         " the last 0.1 s; north red, south grey. (b) total energy, (c) unit length error. {runs}")
def figure5(results: Results) -> Figure:
    problem = problems_of(results, "dipole_array")[0]
    vi, curves = _compared(results, problem, [("RK45", RK, run_with(results, problem, "ode45"))])
    return three_panels(curves, lambda figure, place: dipoles(figure, place, vi), "motion of the dipoles")


DOWN = (0.0, 0.0, -1.0)  # gravity is along +e3
SHOWN = 12.0  # s of the paths in figure 1


def pendulum(figure: Figure, place: Place, vi: RunFile, rk: RunFile, red: str, blue: str) -> None:
    """Paths of the masses until SHOWN, and the links at t = 0 (pale) and at SHOWN."""
    axes = figure.add_axes(place)
    view = View(35.0, 16.0, DOWN)
    scene = Scene(axes, view, fade=0.5)
    data, times = parameters(vi), np.arange(0.0, SHOWN + 1e-9, 0.04)
    lines, points = (looks.chain_joints(data, directions(file, at)) for file, at in ((vi, times), (rk, times[::3])))
    for body in range(1, lines.shape[1]):
        looks.trail(scene, lines[:, body], red, 0.9)
        colours = [mix(blue, "white", share) for share in np.linspace(0.75, 0.0, len(points))]
        scene.balls(points[:, body], colours, 1.7, lift=0.02, edge=None)
    for q, share in ((vi["q"][0], 0.55), (directions(vi, SHOWN)[0], 0.0)):
        joints = looks.chain_joints(data, q)
        looks.chain(scene, joints, [red]*(len(joints) - 1), pale=share, fade=0.0)
    scene.draw()
    triad(axes, view)


def springs(figure: Figure, place: Place, vi: RunFile) -> None:
    """Pendula below a plate, springs between the centres of their links, paths of the masses over the last 0.1 s."""
    data = parameters(vi)
    pivots = np.array(data["pivots"])
    pivots = pivots - pivots.mean(axis=0)
    data = {**data, "pivots": pivots}
    view, times = View(62.0, 24.0, DOWN), (0.0, 0.1, 0.2, 0.3)
    for k, (axes, time) in enumerate(zip(snapshots(figure, place, times), times, strict=True)):
        scene = Scene(axes, view, fade=0.45, near=0.14, far=-0.14)
        low, high = pivots.min(axis=0) - 0.03, pivots.max(axis=0) + 0.03
        plate = np.array([[low[0], low[1], 0.0], [high[0], low[1], 0.0], [high[0], high[1], 0.0],
                          [low[0], high[1], 0.0]])
        scene.polygons([plate], [looks.PLATE], lift=-1.0)
        scene.line(plate[[0, 1, 2, 3, 0]], looks.EDGE, 0.5, lift=-0.9, fade=0.0)
        if time > 0.0:
            paths = looks.spring_masses(data, directions(vi, np.linspace(max(time - 0.1, 0.0), time, 30)))
            for body, colour in enumerate(looks.body_colours(len(pivots))):
                looks.trail(scene, paths[:, body], colour, 1.0)
        looks.springs(scene, data, directions(vi, time)[0])
        scene.draw(limits=(-0.125, 0.125, -0.15, 0.07))
        if k == 0:
            triad(axes, view, (-0.02, 0.0, 0.26, 0.26))


def rod(figure: Figure, place: Place, vi: RunFile) -> None:
    """The rod at several times in colour, its shadow on a plane below, the clamp as a block."""
    data = parameters(vi)
    axes = figure.add_axes(place)
    view, times = View(115.0, 22.0, DOWN), (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
    scene = Scene(axes, view, fade=0.25)
    floor = 0.55
    for x in np.linspace(0.0, 1.2, 7):
        scene.line(np.array([[x, -0.3, floor], [x, 0.3, floor]]), "#C4CBD3", 0.4, lift=-10.0, fade=0.0)
    for y in np.linspace(-0.3, 0.3, 4):
        scene.line(np.array([[0.0, y, floor], [1.2, y, floor]]), "#C4CBD3", 0.4, lift=-10.0, fade=0.0)
    colours = colormaps["viridis"](np.linspace(0.0, 0.92, len(times)))[:, :3]
    for q, colour in zip(directions(vi, times), colours, strict=True):
        joints = looks.rod_joints(data, q)
        shadow = joints.copy()
        shadow[:, 2] = floor
        scene.line(shadow, mix(tuple(colour), "white", 0.6), 1.4, lift=-9.0, fade=0.0)
        looks.rod(scene, joints, tuple(colour))
    wall = 0.07*np.array([[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]])
    scene.polygons([wall], [looks.PLATE], lift=-5.0)
    scene.line(wall[[0, 1, 2, 3, 0]], looks.EDGE, 0.5, lift=-4.9, fade=0.0)
    scene.draw()
    triad(axes, view)
    left, bottom, width, _ = place  # legend of the times: one coloured dash each, below the scene
    bar = figure.add_axes((left + 0.32*width, bottom, 0.66*width, 0.07))
    bar.set_axis_off()
    bar.set(xlim=(-0.7, len(times) - 0.3), ylim=(0.0, 1.0))
    for k, (time, colour) in enumerate(zip(times, colours, strict=True)):
        bar.plot([k - 0.3, k + 0.3], [0.8, 0.8], color=colour, linewidth=2.4, solid_capstyle="round")
        bar.text(k, 0.55, f"{time:g} s" if k == len(times) - 1 else f"{time:g}", ha="center", va="top", fontsize=7.0)


def dipoles(figure: Figure, place: Place, vi: RunFile) -> None:
    """Needles on their pivots with the paths of the north poles over the last 0.1 s."""
    data, times = parameters(vi), (0.0, 0.2, 0.4, 10.0)
    positions = np.array(data["positions"])
    normal = np.linalg.svd(positions - positions.mean(axis=0))[2][-1]
    up = normal if abs(normal[2]) > 0.5 else np.array([0.0, 0.0, 1.0])
    up = up*np.sign(up[2])
    view = View(-40.0, 42.0 if abs(normal[2]) > 0.5 else 15.0, up)
    for k, (axes, time) in enumerate(zip(snapshots(figure, place, times), times, strict=True)):
        scene = Scene(axes, view, fade=0.35)
        reach = positions.max() + 0.016
        corners = np.array([[-0.016, -0.016], [reach, -0.016], [reach, reach], [-0.016, reach]])
        plane = np.zeros((4, 3))
        plane[:, [i for i in range(3) if abs(normal[i]) < 0.5]] = corners
        scene.polygons([plane], ["#EEF1F4"], lift=-1.0)
        if time > 0.0:
            paths = positions + looks.dipole_tips(data, directions(vi, np.linspace(max(time - 0.1, 0.0), time, 25)))
            for body in range(len(positions)):
                looks.trail(scene, paths[:, body], looks.NORTH, 0.7)
        looks.dipoles(scene, data, directions(vi, time)[0])
        scene.draw()
        if k == 0:
            triad(axes, view, (-0.04, -0.08, 0.34, 0.34))
