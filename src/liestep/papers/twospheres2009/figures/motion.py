"""Panels (a) of figures 1 and 3 to 5 of twospheres2009: motions of its systems. Gravity points down on paper."""
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from liestep.figures.scenes import looks
from liestep.figures.scenes.colour import mix
from liestep.figures.scenes.motion import Place, directions, parameters, snapshots
from liestep.figures.scenes.space import Scene, View, triad
from liestep.simulation.runs.files import RunFile

DOWN = (0.0, 0.0, -1.0)  # gravity is along +e3
SHOWN = 12.0  # s of the paths in figure 1


def pendulum(figure: Figure, place: Place, vi: RunFile, rk: RunFile, red: str, blue: str, shown: float = SHOWN) -> None:
    """Paths of the masses until `shown`, and the links at t = 0 (pale) and at `shown`."""
    axes = figure.add_axes(place)
    view = View(35.0, 16.0, DOWN)
    scene = Scene(axes, view, fade=0.5)
    data, times = parameters(vi), np.arange(0.0, shown + 1e-9, 0.04)
    lines, points = (looks.chain_joints(data, directions(file, at)) for file, at in ((vi, times), (rk, times[::3])))
    for body in range(1, lines.shape[1]):
        looks.trail(scene, lines[:, body], red, 0.9)
        colours = [mix(blue, "white", share) for share in np.linspace(0.75, 0.0, len(points))]
        scene.balls(points[:, body], colours, 1.7, lift=0.02, edge=None)
    for q, share in ((vi["q"][0], 0.55), (directions(vi, shown)[0], 0.0)):
        joints = looks.chain_joints(data, q)
        looks.chain(scene, joints, [red]*(len(joints) - 1), pale=share, fade=0.0)
    scene.draw()
    triad(axes, view)


def springs(figure: Figure, place: Place, vi: RunFile, times: Sequence[float] = (0.0, 0.1, 0.2, 0.3)) -> None:
    """Pendula below a plate, springs between the centres of their links, paths of the masses over the last 0.1 s."""
    data = parameters(vi)
    pivots = np.array(data["pivots"])
    pivots = pivots - pivots.mean(axis=0)
    data = {**data, "pivots": pivots}
    view = View(62.0, 24.0, DOWN)
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


def rod(figure: Figure, place: Place, vi: RunFile,
        times: Sequence[float] = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)) -> None:
    """The rod at several times in colour, its shadow on a plane below, the clamp as a block."""
    data = parameters(vi)
    axes = figure.add_axes(place)
    view = View(115.0, 22.0, DOWN)
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
    _times_bar(figure, place, times, colours)


def _times_bar(figure: Figure, place: Place, times: Sequence[float], colours: Any) -> None:
    """Legend of the times: one coloured dash each, below the scene."""
    left, bottom, width, _ = place
    bar = figure.add_axes((left + 0.32*width, bottom, 0.66*width, 0.07))
    bar.set_axis_off()
    bar.set(xlim=(-0.7, len(times) - 0.3), ylim=(0.0, 1.0))
    for k, (time, colour) in enumerate(zip(times, colours, strict=True)):
        bar.plot([k - 0.3, k + 0.3], [0.8, 0.8], color=colour, linewidth=2.4, solid_capstyle="round")
        bar.text(k, 0.55, f"{time:g} s" if k == len(times) - 1 else f"{time:g}", ha="center", va="top", fontsize=7.0)


def dipoles(figure: Figure, place: Place, vi: RunFile, times: Sequence[float] = (0.0, 0.2, 0.4, 10.0)) -> None:
    """Needles on their pivots with the paths of the north poles over the last 0.1 s."""
    data = parameters(vi)
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
