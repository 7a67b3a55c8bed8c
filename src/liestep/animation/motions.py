"""What moves in a run's file, as something that can be drawn at any stored sample: one function
for each kind of system."""
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from liestep.catalogue import sheet
from liestep.errors import InputError
from liestep.runs.files import RunFile
from liestep.scenes.colour import mix
from liestep.scenes.space import Scene, View, graticule

COLOURS = ("#0077BB", "#EE7733", "#009988", "#AA4499", "#CC3311", "#33BBEE")
AXES = ("#CC3311", "#009988", "#0077BB")  # of a body
METAL, PIVOT, NORTH, SOUTH, DESIRED, MOMENTUM = "#5A6472", "#222222", "#D62728", "#8C99A8", "#D62728", "#AA4499"
PATH = "0.8"
CROWD = 12      # more bodies than this have no trails
TRAIL = 60      # samples of a trail
FEW_LINKS = 30  # longer chains have no balls on their joints


@dataclass(frozen=True)
class Motion:
    """view: of the whole film; draw(scene, k): puts sample k into a scene; reach: (points, 3), all that must fit into
    the picture; sphere: whether a ball of radius 1 is behind it."""

    view: View
    draw: Callable[[Scene, int], None]
    reach: np.ndarray
    sphere: bool = False


def motion_of(file: RunFile) -> Motion:
    """How the run in a file is drawn: by its system, else by what its state holds.

    Raises:
        InputError: an ensemble or a run without a sample; or a state with neither directions nor attitudes.
    """
    if file["time"].size == 0:
        raise InputError(f"{file.path} has no sample: {file.attributes['message']}")
    specification = json.loads(file.attributes["specification"])
    if specification.get("ensemble"):
        raise InputError(f"{file.path} holds an ensemble; animations are of single runs")
    name = file.attributes["problem"]
    if name in SYSTEMS:
        return SYSTEMS[name](file, sheet(name).check(specification["parameters"]))
    if "attitude" in file.variables and file["attitude"].ndim == 3:
        return body(file, specification["parameters"])
    for field in ("q", "body_momentum"):
        if field in file.variables:
            return on_sphere(file, field)
    raise InputError(f"{file.path}: its state has neither directions q nor one attitude, so that there is"
                     " nothing to draw")


def against(gravity: Any, azimuth: float = 35.0, elevation: float = 16.0) -> View:
    """A view in which gravity points down on paper; for gravity that is not along e3, e3 points up."""
    first, second, third = (float(value) for value in gravity)
    return View(azimuth, elevation, (0.0, 0.0, -1.0 if third > max(abs(first), abs(second)) else 1.0))


def trail(scene: Scene, path: np.ndarray, colour: str, k: int, width: float = 0.9) -> None:
    """The last samples of a path (time, 3) up to sample k, paler where earlier."""
    part = path[max(k - TRAIL, 0):k + 1]
    if len(part) > 1:
        scene.line(part, [mix(colour, "white", share) for share in np.linspace(0.85, 0.0, len(part) - 1)],
                   width, fade=0.0)


def hanging(view: View, joints: np.ndarray, pivot: str = PIVOT) -> Motion:
    """Links between joints (time, n + 1, 3), of which the first is the pivot."""
    few = joints.shape[1] - 1 <= FEW_LINKS

    def draw(scene: Scene, k: int) -> None:
        trail(scene, joints[:, -1], COLOURS[0], k)
        scene.line(joints[k], METAL, 1.8 if few else 1.2, outline=0.6, fade=0.3)
        if few:
            colours = [COLOURS[i % len(COLOURS)] for i in range(joints.shape[1] - 1)]
            scene.balls(joints[k, 1:], colours, 7.0, lift=0.02)
        scene.balls([joints[k, 0]], pivot, 4.5, lift=0.03, fade=0.0)

    return Motion(view, draw, joints.reshape(-1, 3))


def _from_pivot(steps: np.ndarray) -> np.ndarray:
    """Joints (time, n + 1, 3) of links (time, n, 3) that start at the origin."""
    return np.concatenate([np.zeros((len(steps), 1, 3)), np.cumsum(steps, axis=1)], axis=1)


def chain(file: RunFile, parameters: dict) -> Motion:
    return hanging(against(parameters["gravity"]), _from_pivot(parameters["length"][:, None]*file["q"]))


def rod(file: RunFile, parameters: dict) -> Motion:
    clamp = np.broadcast_to(parameters["clamp"], (len(file["q"]), 1, 3))
    elements = np.concatenate([clamp, file["q"]], axis=1)*(parameters["length"]/(parameters["elements"] + 1))
    return hanging(against(parameters["gravity"], 115.0, 22.0), _from_pivot(elements))


def springs(file: RunFile, parameters: dict) -> Motion:
    """Pendula on their pivots, lines for the springs between the centres of links, wider for stiffer ones."""
    pivots, reach = parameters["pivots"], parameters["length"][:, None]*file["q"]
    ends, centres = pivots + reach, pivots + 0.5*reach
    widths = 0.5 + parameters["stiffness"]/max(parameters["stiffness"].max(), 1e-300)

    def draw(scene: Scene, k: int) -> None:
        for (i, j), width in zip(parameters["pairs"], widths, strict=True):
            scene.line(centres[k][[i, j]], "#414B57", float(width), fade=0.3)
        for i, pivot in enumerate(pivots):
            colour = COLOURS[i % len(COLOURS)]
            trail(scene, ends[:, i], colour, k)
            scene.line(np.stack([pivot, ends[k, i]]), METAL, 1.8, outline=0.6, fade=0.3)
            scene.balls([ends[k, i]], colour, 7.0, lift=0.02)
        scene.balls(pivots, PIVOT, 4.0, lift=0.01)

    return Motion(against(parameters["gravity"], 62.0, 24.0), draw, np.concatenate([pivots, ends.reshape(-1, 3)]))


def dipoles(file: RunFile, parameters: dict) -> Motion:
    """Needles on their pivots, the north half red."""
    positions, tips = parameters["positions"], 0.5*parameters["length"]*file["q"]

    def draw(scene: Scene, k: int) -> None:
        for place, tip in zip(positions, tips[k], strict=True):
            scene.line(np.stack([place, place + tip]), NORTH, 2.6, lift=1e-3, outline=0.6)
            scene.line(np.stack([place, place - tip]), SOUTH, 2.6, lift=1e-3, outline=0.6)
        scene.balls(positions, "#FFFFFF", 2.2, lift=5e-3)

    return Motion(View(-40.0, 35.0), draw,
                  np.concatenate([(positions + tips).reshape(-1, 3), (positions - tips).reshape(-1, 3)]))


def on_sphere(file: RunFile, field: str = "q") -> Motion:
    """Points on the unit sphere: directions of bodies, or the direction of one vector."""
    directions = file[field] if file[field].ndim == 3 else file[field][:, None]
    directions = directions/np.linalg.norm(directions, axis=-1, keepdims=True)
    count = directions.shape[1]
    colours = [COLOURS[i % len(COLOURS)] for i in range(count)]

    def draw(scene: Scene, k: int) -> None:
        graticule(scene)
        for i in range(count if count <= CROWD else 0):
            trail(scene, 1.002*directions[:, i], colours[i], k)
        if count <= CROWD:
            scene.balls(directions[k], colours, 8.0, lift=0.05)
        else:
            front = directions[k][scene.view(directions[k])[:, 2] > 0.0]  # a crowd behind the ball would only blur it
            scene.balls(front, COLOURS[0], 2.6, lift=0.05, edge=None)

    return Motion(View(-125.0, 22.0), draw, np.vstack([np.eye(3), -np.eye(3)]), sphere=True)


def body(file: RunFile, parameters: dict) -> Motion:
    """Axes of a rigid body from its fixed point, its angular momentum and, for a top, the line
    to its centre of mass."""
    attitude, momentum = file["attitude"], file["angular_momentum"]
    arrows = momentum*(1.25/(np.linalg.norm(momentum, axis=1).max() or 1.0))
    centre = attitude @ np.asarray(parameters["axis"]) if "axis" in parameters else None

    def draw(scene: Scene, k: int) -> None:
        for j, colour in enumerate(AXES):
            trail(scene, attitude[:, :, j], colour, k, 0.7)
            scene.line(np.stack([np.zeros(3), attitude[k, :, j]]), colour, 2.2, outline=0.6, fade=0.35)
            scene.balls([attitude[k, :, j]], colour, 4.0, lift=0.01)
        trail(scene, arrows, MOMENTUM, k, 0.7)
        scene.line(np.stack([np.zeros(3), arrows[k]]), MOMENTUM, 1.4, fade=0.0)
        scene.balls([arrows[k]], MOMENTUM, 6.0, lift=0.02, fade=0.0)
        if centre is not None:
            scene.balls([0.6*centre[k]], METAL, 10.0, lift=0.03, fade=0.2)
        scene.balls([np.zeros(3)], PIVOT, 4.0, lift=0.04, fade=0.0)

    view = against(parameters.get("gravity", (0.0, 0.0, -1.0)), 35.0, 20.0)
    return Motion(view, draw, 1.3*np.vstack([np.eye(3), -np.eye(3)]))


def top(file: RunFile, parameters: dict) -> Motion:
    """A run in body coordinates alone shows the direction of the momentum in the body."""
    return body(file, parameters) if "attitude" in file.variables else on_sphere(file, "body_momentum")


def quadrotors(file: RunFile, parameters: dict) -> Motion:
    """Load, links and the two arms of each quadrotor; the path that the load is asked to follow is dashed red."""
    from liestep.systems.quadrotor_payload import desired_path

    load = file["load_position"]
    places = load[:, None] - parameters["length"][:, None]*file["q"]
    arm = 0.3*float(parameters["length"].min())
    wanted = desired_path(parameters, file["time"]) if parameters["control"] == "tracking" else load[:0]

    def draw(scene: Scene, k: int) -> None:
        for start in range(0, len(wanted) - 1, 2*max(len(wanted)//60, 1)):
            scene.line(wanted[start:start + max(len(wanted)//60, 1) + 1], DESIRED, 0.8, lift=-1.0, fade=0.0)
        trail(scene, load, COLOURS[0], k)
        for i in range(2):
            scene.line(np.stack([load[k], places[k, i]]), METAL, 1.0, fade=0.2)
            for j in range(2):
                across = arm*file["attitude"][k, i, :, j]
                scene.line(np.stack([places[k, i] - across, places[k, i] + across]), COLOURS[i + 1], 2.4,
                           outline=0.6, fade=0.2)
                scene.balls([places[k, i] + across, places[k, i] - across], mix(COLOURS[i + 1], "white", 0.5),
                            4.0, lift=0.01)
        scene.balls([load[k]], COLOURS[0], 8.0, lift=0.02, fade=0.0)

    reach = np.concatenate(
        [load, wanted, *(places[:, i] + offset for i in range(2) for offset in arm*np.vstack([np.eye(3), -np.eye(3)]))])
    return Motion(View(-60.0, 20.0, (0.0, 0.0, -1.0)), draw, reach)


SYSTEMS: dict[str, Callable[[RunFile, dict], Motion]] = {
    "spherical_pendulum_chain": chain, "elastic_rod": rod, "spring_pendula": springs, "dipole_array": dipoles,
    "quadrotor_payload": quadrotors, "heavy_top": top, "free_rigid_body": top,
}
