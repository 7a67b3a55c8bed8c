"""Figure 14 of liegroup2021: two quadrotors that carry a load along a path, at four times. e3 points down on paper."""
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from liestep.figures.scenes.looks import COLOURS, quadrotor_places, quadrotors, trail
from liestep.figures.scenes.motion import parameters, snapshots
from liestep.figures.scenes.space import Scene, View, triad
from liestep.figures.selection import first_run
from liestep.figures.style import DOUBLE, Results, drawing, new_figure
from liestep.mechanics.systems.quadrotor_payload import desired_path
from liestep.simulation.runs.files import RunFile

if TYPE_CHECKING:
    from liestep.mechanics.contracts.sheet import Parameters

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


def _scene(axes: Axes, file: RunFile, data: "Parameters", k: int) -> Scene:
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
