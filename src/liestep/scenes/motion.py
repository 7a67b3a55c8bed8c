"""Motions of the paper's systems as scenes: panels (a) of figures 1 and 3 to 5 of twospheres2009.
Gravity points down on paper."""
import json

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from liestep.runs.files import RunFile
from liestep.scenes.colour import mix
from liestep.scenes.space import Scene, View, triad

DOWN = (0.0, 0.0, -1.0)  # gravity is along +e3
METAL, PIVOT, NORTH, SOUTH, PLATE = "#5A6472", "#222222", "#D62728", "#8C99A8", "#D9DEE4"
BODIES = ("#0077BB", "#EE7733", "#009988", "#AA4499")
Place = list[float]  # left, bottom, width, height in figure fractions


def parameters(file: RunFile) -> dict:
    """Parameters of a run's system, as in its specification."""
    return json.loads(file.attributes["specification"])["parameters"]


def directions(file: RunFile, times) -> np.ndarray:
    """q at any times (k, n, 3): cubic Hermite interpolation of the samples with dq/dt = omega x q, normalised."""
    t, q, rate = file["time"], file["q"], np.cross(file["omega"], file["q"])
    times = np.atleast_1d(times)
    left = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    h = t[left + 1] - t[left]
    s = ((times - t[left])/h)[:, None, None]
    h = h[:, None, None]
    value = ((1.0 + 2.0*s)*(1.0 - s)**2*q[left] + s*(1.0 - s)**2*h*rate[left]
             + s*s*(3.0 - 2.0*s)*q[left + 1] + s*s*(s - 1.0)*h*rate[left + 1])
    return value/np.linalg.norm(value, axis=-1, keepdims=True)


def trail(scene: Scene, path: np.ndarray, colour, width: float) -> None:
    """Path (k, 3), paler where earlier."""
    scene.line(path, [mix(colour, "white", share) for share in np.linspace(0.75, 0.0, len(path) - 1)], width)


def pendulum(figure: Figure, place: Place, vi: RunFile, rk: RunFile, red: str, blue: str, shown: float = 12.0) -> None:
    """Paths of the masses until `shown`, and the links at t = 0 (pale) and at `shown`."""
    axes = figure.add_axes(place)
    view = View(35.0, 16.0, DOWN)
    scene = Scene(axes, view, fade=0.5)
    lengths = np.array(parameters(vi)["length"])[:, None]
    times = np.arange(0.0, shown + 1e-9, 0.04)
    for body in range(len(lengths)):
        trail(scene, np.cumsum(lengths*directions(vi, times), axis=1)[:, body], red, 0.9)
        dots = np.cumsum(lengths*directions(rk, times[::3]), axis=1)[:, body]
        colours = [mix(blue, "white", share) for share in np.linspace(0.75, 0.0, len(dots))]
        scene.balls(dots, colours, 1.7, lift=0.02, edge=None)
    for q, share in ((vi["q"][0], 0.55), (directions(vi, shown)[0], 0.0)):
        masses = np.cumsum(lengths*q, axis=0)
        scene.line(np.concatenate([[np.zeros(3)], masses]), mix(METAL, "white", share), 2.0, lift=0.01,
                   outline=0.7, fade=0.0)
        scene.balls(masses, mix(red, "white", share), 8.0, lift=0.05, fade=0.0)
    scene.balls([np.zeros(3)], PIVOT, 5.0, lift=0.02, fade=0.0)
    scene.draw()
    triad(axes, view)


def snapshots(figure: Figure, place: Place, times, columns: int = 2) -> list:
    """Axes for a grid of small pictures, each with its time above it."""
    left, bottom, width, height = place
    rows = -(-len(times)//columns)
    found = []
    for k, time in enumerate(times):
        row, column = divmod(k, columns)
        axes = figure.add_axes([left + column*width/columns, bottom + (rows - 1 - row)*height/rows, width/columns,
                                0.93*height/rows])
        axes.text(0.03, 1.0, f"t = {time:g} s", transform=axes.transAxes, va="top", fontsize=7.0)
        found.append(axes)
    return found


def coil(a: np.ndarray, b: np.ndarray, turns: int = 7, radius: float = 0.006) -> np.ndarray:
    """Points of a helical spring from a to b with straight ends."""
    along = (b - a)/np.linalg.norm(b - a)
    side = np.cross(along, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    other = np.cross(along, side)
    s = np.linspace(0.0, 1.0, 16*turns)
    angle = 2.0*np.pi*turns*s
    helix = a + (0.15 + 0.7*s)[:, None]*(b - a) + radius*(np.cos(angle)[:, None]*side + np.sin(angle)[:, None]*other)
    return np.concatenate([[a], helix, [b]])


def springs(figure: Figure, place: Place, vi: RunFile, times=(0.0, 0.1, 0.2, 0.3)) -> None:
    """Pendula below a plate, springs between the centres of their links, paths of the masses over the last 0.1 s."""
    data = parameters(vi)
    pivots, lengths, stiffness = (np.array(data["pivots"]), np.array(data["length"])[:, None],
                                  np.array(data["stiffness"]))
    pivots = pivots - pivots.mean(axis=0)
    view = View(62.0, 24.0, DOWN)
    for k, (axes, time) in enumerate(zip(snapshots(figure, place, times), times, strict=True)):
        scene = Scene(axes, view, fade=0.45, near=0.14, far=-0.14)
        low, high = pivots.min(axis=0) - 0.03, pivots.max(axis=0) + 0.03
        plate = np.array([[low[0], low[1], 0.0], [high[0], low[1], 0.0], [high[0], high[1], 0.0],
                          [low[0], high[1], 0.0]])
        scene.polygons([plate], [PLATE], lift=-1.0)
        scene.line(plate[[0, 1, 2, 3, 0]], "#9AA4AF", 0.5, lift=-0.9, fade=0.0)
        q = directions(vi, time)[0]
        masses, centres = pivots + lengths*q, pivots + 0.5*lengths*q
        for (i, j), k_spring in zip(data["pairs"], stiffness, strict=True):
            scene.line(coil(centres[int(i)], centres[int(j)]), "#414B57", 0.4 + 0.5*k_spring/stiffness.max(), fade=0.3)
        for i, colour in enumerate(BODIES[:len(pivots)]):
            if time > 0.0:
                trail(scene, pivots[i] + lengths[i]*directions(vi, np.linspace(max(time - 0.1, 0.0), time, 30))[:, i],
                      colour, 1.0)
            scene.line(np.stack([pivots[i], masses[i]]), METAL, 1.6, outline=0.6)
            scene.balls([masses[i]], colour, 8.0, lift=0.02)
        scene.balls(pivots, PIVOT, 3.5, lift=0.01)
        scene.draw(limits=(-0.125, 0.125, -0.15, 0.07))
        if k == 0:
            triad(axes, view, (-0.02, 0.0, 0.26, 0.26))


def rod(figure: Figure, place: Place, vi: RunFile, times=(0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)) -> None:
    """The rod at several times in colour, its shadow on a plane below, the clamp as a block."""
    data = parameters(vi)
    axes = figure.add_axes(place)
    view = View(115.0, 22.0, DOWN)
    scene = Scene(axes, view, fade=0.25)
    length = data["length"]/(data["elements"] + 1)
    floor = 0.55
    for x in np.linspace(0.0, 1.2, 7):
        scene.line(np.array([[x, -0.3, floor], [x, 0.3, floor]]), "#C4CBD3", 0.4, lift=-10.0, fade=0.0)
    for y in np.linspace(-0.3, 0.3, 4):
        scene.line(np.array([[0.0, y, floor], [1.2, y, floor]]), "#C4CBD3", 0.4, lift=-10.0, fade=0.0)
    colours = colormaps["viridis"](np.linspace(0.0, 0.92, len(times)))[:, :3]
    for q, colour in zip(directions(vi, times), colours, strict=True):
        joints = length*np.concatenate([np.zeros((1, 3)), np.cumsum(np.concatenate([[data["clamp"]], q]), axis=0)])
        shadow = joints.copy()
        shadow[:, 2] = floor
        scene.line(shadow, mix(tuple(colour), "white", 0.6), 1.4, lift=-9.0, fade=0.0)
        scene.line(joints, tuple(colour), 2.4, outline=0.7)
        scene.balls(joints[1:], tuple(colour), 3.2, lift=1e-3)
    wall = 0.07*np.array([[0.0, -1.0, -1.0], [0.0, 1.0, -1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]])
    scene.polygons([wall], [PLATE], lift=-5.0)
    scene.line(wall[[0, 1, 2, 3, 0]], "#9AA4AF", 0.5, lift=-4.9, fade=0.0)
    scene.line(length*np.outer([0.0, 1.0], data["clamp"]), "#333333", 4.0, lift=1.0, fade=0.0)
    scene.draw()
    triad(axes, view)
    _times_bar(figure, place, times, colours)


def _times_bar(figure: Figure, place: Place, times, colours) -> None:
    """Legend of the times: one coloured dash each, below the scene."""
    left, bottom, width, _ = place
    bar = figure.add_axes([left + 0.32*width, bottom, 0.66*width, 0.07])
    bar.set_axis_off()
    bar.set_xlim(-0.7, len(times) - 0.3)
    bar.set_ylim(0.0, 1.0)
    for k, (time, colour) in enumerate(zip(times, colours, strict=True)):
        bar.plot([k - 0.3, k + 0.3], [0.8, 0.8], color=colour, linewidth=2.4, solid_capstyle="round")
        bar.text(k, 0.55, f"{time:g} s" if k == len(times) - 1 else f"{time:g}", ha="center", va="top", fontsize=7.0)


def dipoles(figure: Figure, place: Place, vi: RunFile, times=(0.0, 0.2, 0.4, 10.0)) -> None:
    """Needles on their pivots with the paths of the north poles over the last 0.1 s."""
    data = parameters(vi)
    positions, half = np.array(data["positions"]), 0.5*data["length"]
    normal = np.linalg.svd(positions - positions.mean(axis=0))[2][-1]
    up = normal if abs(normal[2]) > 0.5 else np.array([0.0, 0.0, 1.0])
    up = up*np.sign(up[2])
    view = View(-40.0, 42.0 if abs(normal[2]) > 0.5 else 15.0, up)
    for k, (axes, time) in enumerate(zip(snapshots(figure, place, times), times, strict=True)):
        scene = Scene(axes, view, fade=0.35)
        q = directions(vi, time)[0]
        reach = positions.max() + 0.016
        corners = np.array([[-0.016, -0.016], [reach, -0.016], [reach, reach], [-0.016, reach]])
        plane = np.zeros((4, 3))
        plane[:, [i for i in range(3) if abs(normal[i]) < 0.5]] = corners
        scene.polygons([plane], ["#EEF1F4"], lift=-1.0)
        for i, place_of in enumerate(positions):
            if time > 0.0:
                trail(scene, place_of + half*directions(vi, np.linspace(max(time - 0.1, 0.0), time, 25))[:, i], NORTH,
                      0.7)
            tip = half*q[i]
            scene.line(np.stack([place_of, place_of + 0.9*tip]), NORTH, 2.6, lift=1e-3, outline=0.6)
            scene.line(np.stack([place_of, place_of - 0.9*tip]), SOUTH, 2.6, lift=1e-3, outline=0.6)
            scene.balls([place_of], "#FFFFFF", 2.2, lift=5e-3)
        scene.draw()
        if k == 0:
            triad(axes, view, (-0.04, -0.08, 0.34, 0.34))
