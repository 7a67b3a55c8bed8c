"""What moves in a run's file, to be drawn at any stored sample: one function for each kind of system."""
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from liestep.errors import InputError, unknown
from liestep.figures.scenes import looks
from liestep.figures.scenes.space import Scene, View, graticule, mix
from liestep.mechanics.contracts.sheet import Parameters
from liestep.mechanics.formulations.multibody.assembly import Assembly
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.files import RunFile

AXES = ("#CC3311", "#009988", "#0077BB")  # of a body
MOMENTUM = "#AA4499"
CROWD = 12      # more bodies than this have no trails
TRAIL = 60      # samples of a trail
PICTURE = 215.0  # points on paper that the largest extent of a motion has in a film


@dataclass(frozen=True)
class FilmScene:
    """view: of the whole film; draw(scene, k): puts sample k into a scene; reach: (points, 3), all that must fit into
    the picture; sphere: whether a ball of radius 1 is behind it; note(k): a line below the time."""

    view: View
    draw: Callable[[Scene, int], None]
    reach: np.ndarray
    sphere: bool = False
    note: Callable[[int], str] | None = None


def motion_of(file: RunFile) -> FilmScene:
    """How the run in a file is drawn: by its system, else by what its state holds. Raises InputError: an ensemble or a
    run without a sample; or a state with neither directions nor attitudes."""
    if file["time"].size == 0:
        raise InputError(f"{file.path} has no sample: {file.attributes['message']}")
    specification = json.loads(file.attributes["specification"])
    if specification.get("ensemble"):
        raise InputError(f"{file.path} holds an ensemble; animations are of single runs")
    facts = sheet(file.attributes["problem"])
    parameters = facts.check(specification["parameters"])
    if motion := facts.motion:
        if callable(motion):
            return motion(file, parameters, sys.modules[__name__])
        if motion not in MOTIONS:
            raise InputError(f"{file.attributes['problem']}: {unknown('motion', motion, MOTIONS)}")
        return MOTIONS[motion](file, parameters)
    if "body_rate" in file.variables and "position" in file.variables:
        assembly = facts.build(parameters)
        if isinstance(assembly, Assembly):
            return mechanism(file, assembly)
    if "attitude" in file.variables and file["attitude"].ndim == 3:
        return body(file, parameters)
    if "attitude" in file.variables and "position" in file.variables:
        return particles(file, parameters)
    for field in ("q", "body_momentum"):
        if field in file.variables and file[field].shape[-1] == 3:
            return on_sphere(file, field)
    if "y" in file.variables and file["y"].shape[1:] == (3,):
        return MOTIONS["particle"](file, parameters)
    raise InputError(f"{file.path}: its state has neither directions q nor one attitude, so that there is"
                     " nothing to draw")


def against(gravity: np.ndarray | tuple[float, ...], azimuth: float = 35.0, elevation: float = 16.0) -> View:
    """A view in which gravity points down on paper; for gravity that is not along e3, e3 points up."""
    first, second, third = (float(value) for value in gravity)
    return View(azimuth, elevation, (0.0, 0.0, -1.0 if third > max(abs(first), abs(second)) else 1.0))


def trail(scene: Scene, path: np.ndarray, colour: looks.Colour, k: int, width: float = 0.9) -> None:
    """The last samples of a path (time, 3) up to sample k."""
    looks.trail(scene, path[max(k - TRAIL, 0):k + 1], colour, width, fade=0.0)


def chain(file: RunFile, parameters: Parameters) -> FilmScene:
    joints = looks.chain_joints(parameters, file["q"])
    colours = looks.body_colours(joints.shape[1] - 1)
    radius = float(parameters["length"][0]) if len(colours) == 1 else 0.0  # the sphere of one pendulum

    def draw(scene: Scene, k: int) -> None:
        if radius:
            graticule(scene, radius, 15.0, "0.7")
        trail(scene, joints[:, -1], colours[-1], k)
        looks.chain(scene, joints[k], colours)

    reach = joints.reshape(-1, 3)
    if radius:
        reach = np.concatenate([reach, radius*np.vstack([np.eye(3), -np.eye(3)])])
    return FilmScene(against(parameters["gravity"]), draw, reach, note=(
        lambda k: f"{np.linalg.norm(joints[k, -1]):.3f} m from the pivot") if radius else None)


def rod(file: RunFile, parameters: Parameters) -> FilmScene:
    joints = looks.rod_joints(parameters, file["q"])

    def draw(scene: Scene, k: int) -> None:
        trail(scene, joints[:, -1], looks.COLOURS[0], k)
        looks.rod(scene, joints[k], looks.METAL)

    return FilmScene(against(parameters["gravity"], 115.0, 22.0), draw, joints.reshape(-1, 3))


def springs(file: RunFile, parameters: Parameters) -> FilmScene:
    masses = looks.spring_masses(parameters, file["q"])

    def draw(scene: Scene, k: int) -> None:
        for body, colour in enumerate(looks.body_colours(masses.shape[1])):
            trail(scene, masses[:, body], colour, k)
        looks.springs(scene, parameters, file["q"][k])

    reach = np.concatenate([parameters["pivots"], masses.reshape(-1, 3)])
    return FilmScene(against(parameters["gravity"], 62.0, 24.0), draw, reach)


def dipoles(file: RunFile, parameters: Parameters) -> FilmScene:
    positions, tips = parameters["positions"], looks.dipole_tips(parameters, file["q"])
    reach = np.concatenate([(positions + tips).reshape(-1, 3), (positions - tips).reshape(-1, 3)])
    return FilmScene(View(-40.0, 35.0), lambda scene, k: looks.dipoles(scene, parameters, file["q"][k]), reach)


def on_sphere(file: RunFile, field: str = "q") -> FilmScene:
    """Points on the unit sphere: directions of bodies, or the direction of one vector."""
    directions = file[field] if file[field].ndim == 3 else file[field][:, None]
    directions = directions/np.linalg.norm(directions, axis=-1, keepdims=True)
    count = directions.shape[1]
    colours = looks.body_colours(count)

    def draw(scene: Scene, k: int) -> None:
        graticule(scene)
        for i in range(count if count <= CROWD else 0):
            trail(scene, 1.002*directions[:, i], colours[i], k)
        if count <= CROWD:
            scene.balls(directions[k], colours, 8.0, lift=0.05)
        else:
            front = directions[k][scene.view(directions[k])[:, 2] > 0.0]  # a crowd behind the ball would only blur it
            scene.balls(front, looks.COLOURS[0], 2.6, lift=0.05, edge=None)

    return FilmScene(View(-125.0, 22.0), draw, np.vstack([np.eye(3), -np.eye(3)]), sphere=True)


def body(file: RunFile, parameters: Parameters) -> FilmScene:
    """Axes of a body from its fixed point, and what the run has of its momentum and the line to its centre of mass."""
    attitude, momentum = file["attitude"], file.variables.get("angular_momentum", np.zeros((0, 3)))
    arrows = momentum*(1.25/(np.linalg.norm(momentum, axis=1).max(initial=0.0) or 1.0))
    axis, gravity = (value if np.shape(value) == (3,) else None for value in (
        parameters.get(name, ()) for name in ("axis", "gravity")))
    centre = None if axis is None else attitude @ np.asarray(axis)

    def draw(scene: Scene, k: int) -> None:
        for j, colour in enumerate(AXES):
            trail(scene, attitude[:, :, j], colour, k, 0.7)
            scene.line(np.stack([np.zeros(3), attitude[k, :, j]]), colour, 2.2, outline=0.6, fade=0.35)
            scene.balls([attitude[k, :, j]], colour, 4.0, lift=0.01)
        if len(arrows):
            trail(scene, arrows, MOMENTUM, k, 0.7)
            scene.line(np.stack([np.zeros(3), arrows[k]]), MOMENTUM, 1.4, fade=0.0)
            scene.balls([arrows[k]], MOMENTUM, 6.0, lift=0.02, fade=0.0)
        if centre is not None:
            scene.balls([0.6*centre[k]], looks.METAL, 10.0, lift=0.03, fade=0.2)
        scene.balls([np.zeros(3)], looks.PIVOT, 4.0, lift=0.04, fade=0.0)

    view = against((0.0, 0.0, -1.0) if gravity is None else gravity, 35.0, 20.0)
    return FilmScene(view, draw, 1.3*np.vstack([np.eye(3), -np.eye(3)]))


def mechanism(file: RunFile, assembly: Assembly) -> FilmScene:
    """Bodies with their joints; the last body has a trail. The residual of the joints is counted in the picture."""
    attitudes = file["attitude"]
    centres = file["position"] + np.einsum("tbij,bj->tbi", attitudes, assembly.center_of_mass)
    corners = [np.concatenate([looks.body_points(assembly, i),
                               *(faces.reshape(-1, 3) for faces in looks.body_faces(assembly, i))])
               for i in range(len(assembly.mass))]
    points = [centres[:, i, None] + np.einsum("pj,tij->tpi", own, attitudes[:, i]) for i, own in enumerate(corners)]
    anchors = [item.vectors[0][None] for item in assembly.elements if item.name == "spring_damper" and item.a < 0]
    reach = np.concatenate([*(moved.reshape(-1, 3) for moved in points), *anchors])
    scale = float(np.abs(reach).max())

    def draw(scene: Scene, k: int) -> None:
        trail(scene, centres[:, -1], looks.body_colours(centres.shape[1])[-1], k)
        looks.mechanism(scene, assembly, centres[k], attitudes[k], scale)

    margin = 0.12*scale*np.vstack([np.eye(3), -np.eye(3)])  # coils are wider than their springs
    around = np.concatenate([reach, *(reach[::7] + side for side in margin)])
    return FilmScene(against(assembly.gravity), draw, around, note=(
        lambda k: f"joint error {file['joint_error'][k]:.1e}") if "joint_error" in file.variables and assembly.row_count
        else None)


def single(file: RunFile, look: Callable[[Scene, np.ndarray], None]) -> FilmScene:
    """One mass or particle about the origin with its trail, seen from above in a plane; look(scene, place)."""
    place = next(file[name] for name in ("position", "y", "q") if name in file.variables)
    flat = place.shape[1] == 2
    place = np.pad(place, ((0, 0), (0, int(flat))))

    def draw(scene: Scene, k: int) -> None:
        trail(scene, place, looks.COLOURS[0], k)
        look(scene, place[k])

    view = View(-90.0, 89.9) if flat else View(35.0, 25.0)
    return FilmScene(view, draw, np.concatenate([place, np.eye(3), -np.eye(3)]))


def particles(file: RunFile, parameters: Parameters) -> FilmScene:
    """Bodies that move: a ball at each centre, from blue to orange with the angle of its turn, of the body's size where
    its system has a diameter; a flat motion is seen from above."""
    places, attitude = file["position"], file["attitude"]
    angle = np.arccos(np.clip(0.5*(np.trace(attitude, axis1=2, axis2=3) - 1.0), -1.0, 1.0))/np.pi
    view = View(-90.0, 89.9) if float(np.ptp(places[..., 2])) == 0.0 else View(-60.0, 22.0)
    reach, system = places.reshape(-1, 3), sheet(file.attributes["problem"]).build(parameters)
    diameters = getattr(getattr(system, "plain", system), "diameter", None)
    if diameters is None:
        sizes = np.full(places.shape[1], np.clip(220.0/np.sqrt(places.shape[1]*20.0), 2.0, 12.0))
    else:
        extent = float(np.ptp(view(reach)[:, :2], axis=0).max())
        sizes = np.maximum(diameters*PICTURE/max(extent, float(diameters.max())), 1.0)

    def draw(scene: Scene, k: int) -> None:
        for size in np.unique(sizes):
            own = sizes == size
            shades = [mix(looks.COLOURS[0], looks.COLOURS[1], float(share)) for share in angle[k][own]]
            scene.balls(places[k][own], shades, float(size), lift=0.01)

    return FilmScene(view, draw, reach)


# `Sheet.motion` -> how it is drawn
MOTIONS: dict[str, Callable[[RunFile, Parameters], FilmScene]] = {
    "chain": chain, "rod": rod, "springs": springs, "dipoles": dipoles,
    # a run in body coordinates alone shows the direction of the momentum in the body
    "top": lambda file, parameters: (body(file, parameters) if "attitude" in file.variables else
                                     on_sphere(file, "body_momentum")),
    "particle": lambda file, _: single(file, lambda scene, place: scene.balls(place, [looks.COLOURS[0]], 6.0,
                                                                              lift=0.01)),
}
