"""Figures 2 and 3 of rodrigues2021: a bond, and the ring in the course of its impact."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from liestep.figures.scenes.motion import parameters
from liestep.figures.selection import first_run
from liestep.figures.style import DOUBLE, SINGLE, Results, drawing, subplots
from liestep.mechanics.systems.bonded_ring import circle, particle_diameter
from liestep.simulation.runs.files import RunFile

TIMES = (0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0)
AXES = ("#CC3311", "#009988")
TURN = 180.0  # degrees at the ends of the colours


def turns(attitude: np.ndarray) -> np.ndarray:
    """Angle of the turns about z in degrees (n,), of attitudes (n, 3, 3) in the plane."""
    found: np.ndarray = np.degrees(np.arctan2(attitude[:, 1, 0], attitude[:, 0, 0]))
    return found


def _snapshot(axes: Axes, file: RunFile, diameter: float, time: float) -> EllipseCollection:
    """Particles as circles of their diameter, coloured by their turn, and the wall."""
    k = int(np.argmin(np.abs(file["time"] - time)))
    places = file["position"][k]
    spheres = EllipseCollection(np.full(len(places), diameter), np.full(len(places), diameter), np.zeros(len(places)),
                                units="xy", offsets=places[:, :2], offset_transform=axes.transData,
                                cmap="twilight_shifted", norm=Normalize(-TURN, TURN), edgecolor="0.2", linewidth=0.2)
    spheres.set_array(turns(file["attitude"][k]))
    axes.add_collection(spheres)
    axes.axvline(0.0, color="0.2", linewidth=1.5)
    axes.set_aspect("equal")
    axes.set_title(f"t = {file['time'][k]:g} s", fontsize=7.0)
    return spheres


@drawing("Impact of the ring, figure 3 of the paper: particles as circles of their diameter, coloured by their turn, at"
         " eight times; the line is the wall. Top two rows: the printed shear law, bottom two: the frame-indifferent"
         " one. By map (25) with h = 0.001. Times beyond 17 s, or 26 s, are samples of a chaotic motion. {runs}")
def figure3(results: Results) -> Figure:
    figure, panels = subplots(DOUBLE, 186.0, 4, 4, sharex=True, sharey=True)
    for law, problem in enumerate(("ring", "objective")):
        file = first_run(results, problem, "newmark")
        diameter = particle_diameter(parameters(file))
        for axes, time in zip(panels[2*law:2*law + 2].ravel(), TIMES, strict=True):
            shown = _snapshot(axes, file, diameter, time)
        panels[2*law, 0].set_ylabel("printed shear" if law == 0 else "frame-indifferent", fontsize=7.5)
    files = [first_run(results, problem, "newmark") for problem in ("ring", "objective")]
    near = [np.argmin(np.abs(files[0]["time"] - time)) for time in TIMES]
    reach = np.concatenate([file["position"][near].reshape(-1, 3) for file in files])
    panels[0, 0].set(xlim=(-2.0, reach[:, 0].max() + 2.0), ylim=(reach[:, 1].min() - 2.0, reach[:, 1].max() + 2.0))
    for axes in panels[-1]:
        axes.set_xlabel("x (m)")
    bar = figure.colorbar(shown, ax=panels, location="bottom", shrink=0.5, aspect=40)
    bar.set_label("turn of a particle (degrees)")
    return figure


def _name(axes: Axes, at: np.ndarray, text: str, colour: str = "black") -> None:
    axes.text(float(at[0]), float(at[1]), text, color=colour, ha="center", va="center")


@drawing("Two bonded particles of the ring, figure 2 of the paper, in a state of the impact: the bond that is sheared"
         " most. d0: direction of the bond at rest, carried by each particle's turn; d: its direction now; red and"
         " green: the first two body axes. {runs}")
def figure2(results: Results) -> Figure:
    file = first_run(results, "ring", "newmark")
    values = parameters(file)
    k = int(np.argmax(file["shear_energy"]))
    places, attitude, rest = file["position"][k], file["attitude"][k], circle(values)
    following = np.roll(np.arange(len(places)), -1)
    now, before = places - places[following], rest - rest[following]
    now, before = (part/np.linalg.norm(part, axis=1)[:, None] for part in (now, before))
    sheared = np.einsum("nij,nj->ni", attitude, before)
    i = int(np.argmin(np.sum(sheared*np.einsum("nij,nj->ni", attitude[following], now), axis=1)))
    j, radius = int(following[i]), 0.5*particle_diameter(values)
    figure, axes = subplots(SINGLE, 84.0)
    middle, across = 0.5*(places[i] + places[j])[:2], np.array([-now[i, 1], now[i, 0]])
    for body, name in ((i, "i"), (j, "j")):
        at = places[body, :2] - middle
        axes.add_patch(Circle(tuple(at), radius, facecolor="0.93", edgecolor="0.3"))
        for axis, colour in enumerate(AXES):
            tip = attitude[body, :2, axis]*0.8*radius
            axes.annotate("", at + tip, at, arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.0})
        carried = (attitude[body] @ before[i])[:2]*1.5*radius
        axes.annotate("", at + carried, at, arrowprops={"arrowstyle": "->", "color": "#0077BB", "linewidth": 1.4})
        _name(axes, at + 1.12*carried, f"$R_{name} d_0$", "#0077BB")
        _name(axes, at + 0.6*radius*across, f"${name}$")
    start, end = places[j, :2] - middle, places[i, :2] - middle
    axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": "black", "linewidth": 1.2})
    _name(axes, 0.35*(start + end) - 0.3*radius*across, "$d$")
    reach = 1.9*radius + 0.5*np.abs(end - start).max()
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(f"bond of particles {i} and {j}, t = {file['time'][k]:g} s")
    return figure
