"""How a state of each system looks, at any time of a run: where its parts are, and how they are put into a scene, or
into several side by side. Figures and films use it. Arrays of directions q have any leading shape where the docstring
says (..., n, 3)."""
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline

from liestep.figures.scenes.space import Colour, Scene, mix
from liestep.mechanics.contracts.sheet import Parameters
from liestep.mechanics.formulations.multibody.assembly import Assembly, Shape
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.files import RunFile

COLOURS = ("#0077BB", "#EE7733", "#009988", "#AA4499", "#CC3311", "#33BBEE")  # colours of bodies
METAL, PIVOT, NORTH, SOUTH, PLATE = "#5A6472", "#222222", "#D62728", "#8C99A8", "#D9DEE4"
SPRING, CLAMP, EDGE = "#414B57", "#333333", "#9AA4AF"
FEW_LINKS = 30  # longer chains have no balls on their joints
TURNS = 7       # turns of a coil spring
ROUND, THIN = 16, 0.02  # sides of what is round, and the least side of a box, of its largest
LIGHT = np.array([0.35, -0.5, 0.79])  # from where solids are lit, in space


def trail(scene: Scene, path: np.ndarray, colour: Colour, width: float, fade: float | None = None) -> None:
    """Path (k, 3), paler where earlier."""
    if len(path) > 1:
        scene.line(path, [mix(colour, "white", share) for share in np.linspace(0.8, 0.0, len(path) - 1)], width,
                   fade=fade)


def body_colours(count: int) -> list[Colour]:
    """Colours of bodies by their numbers."""
    return [COLOURS[i % len(COLOURS)] for i in range(count)]


def _from_origin(steps: np.ndarray) -> np.ndarray:
    """Joints (..., n + 1, 3) of links (..., n, 3) that start at the origin."""
    return np.concatenate([np.zeros((*steps.shape[:-2], 1, 3)), np.cumsum(steps, axis=-2)], axis=-2)


def chain_joints(parameters: Parameters, q: np.ndarray) -> np.ndarray:
    """Pivot and masses (..., n + 1, 3) of a chain of pendula (m) with directions (..., n, 3)."""
    return _from_origin(np.asarray(parameters["length"])[:, None]*q)


def rod_joints(parameters: Parameters, q: np.ndarray) -> np.ndarray:
    """Joints (..., n + 2, 3) of a rod (m), its clamped element first, with directions (..., n, 3)."""
    clamp = np.broadcast_to(parameters["clamp"], (*q.shape[:-2], 1, 3))
    return _from_origin(np.concatenate([clamp, q], axis=-2)*(parameters["length"]/(parameters["elements"] + 1)))


def chain(scene: Scene, joints: np.ndarray, colours: Sequence[Colour], pale: float = 0.0, fade: float = 0.3) -> None:
    """Links between joints (n + 1, 3), of which the first is the pivot; `pale` is a share of white."""
    few = len(joints) - 1 <= FEW_LINKS
    scene.line(joints, mix(METAL, "white", pale), 1.9 if few else 1.2, lift=0.01, outline=0.6, fade=fade)
    if few:
        scene.balls(joints[1:], [mix(colour, "white", pale) for colour in colours], 7.5, lift=0.05, fade=fade)
    scene.balls(joints[:1], PIVOT, 4.5, lift=0.06, fade=0.0)


def coil(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Points of a helical spring from a to b with straight ends."""
    length = np.linalg.norm(b - a)
    along = (b - a)/length
    side = np.cross(along, np.eye(3)[2] if abs(along[2]) < 0.9 else np.eye(3)[0])
    side /= np.linalg.norm(side)
    other = np.cross(along, side)
    s = np.linspace(0.0, 1.0, 16*TURNS)
    angle = 2.0*np.pi*TURNS*s
    helix = (a + (0.15 + 0.7*s)[:, None]*(b - a)
             + 0.06*length*(np.cos(angle)[:, None]*side + np.sin(angle)[:, None]*other))
    return np.concatenate([[a], helix, [b]])


def spring_masses(parameters: Parameters, q: np.ndarray) -> np.ndarray:
    """Masses (..., n, 3) of pendula (m) on their pivots, with directions (..., n, 3)."""
    return np.asarray(parameters["pivots"]) + np.asarray(parameters["length"])[:, None]*q


def springs(scene: Scene, parameters: Parameters, q: np.ndarray) -> None:
    """Pendula with directions (n, 3), and coil springs between the centres of their links, wider for stiffer ones."""
    pivots, masses = np.asarray(parameters["pivots"]), spring_masses(parameters, q)
    centres, stiffness = 0.5*(pivots + masses), np.asarray(parameters["stiffness"])
    widths = 0.4 + 0.5*stiffness/max(stiffness.max(), 1e-300)
    for (i, j), width in zip(parameters["pairs"], widths, strict=True):
        scene.line(coil(centres[int(i)], centres[int(j)]), SPRING, float(width), fade=0.3)
    for pivot, mass, colour in zip(pivots, masses, body_colours(len(pivots)), strict=True):
        scene.line(np.stack([pivot, mass]), METAL, 1.6, outline=0.6, fade=0.3)
        scene.balls([mass], colour, 8.0, lift=0.02, fade=0.3)
    scene.balls(pivots, PIVOT, 3.5, lift=0.01)


def rod(scene: Scene, joints: np.ndarray, colour: Colour) -> None:
    """Elements between joints (n + 2, 3), the clamped one thick."""
    scene.line(joints, colour, 2.4, outline=0.7, fade=0.3)
    scene.balls(joints[1:], colour, 3.2, lift=1e-3, fade=0.3)
    scene.line(joints[:2], CLAMP, 4.0, lift=1.0, fade=0.0)


def dipole_tips(parameters: Parameters, q: np.ndarray) -> np.ndarray:
    """North poles (..., n, 3) seen from the pivots (m), with directions (..., n, 3)."""
    return 0.5*parameters["length"]*q


def dipoles(scene: Scene, parameters: Parameters, q: np.ndarray) -> None:
    """Needles with directions (n, 3) on their pivots, the north half red."""
    for place, tip in zip(np.asarray(parameters["positions"]), 0.9*dipole_tips(parameters, q), strict=True):
        scene.line(np.stack([place, place + tip]), NORTH, 2.6, lift=1e-3, outline=0.6)
        scene.line(np.stack([place, place - tip]), SOUTH, 2.6, lift=1e-3, outline=0.6)
        scene.balls([place], "#FFFFFF", 2.2, lift=5e-3)


def faces(shape: Any) -> list[np.ndarray]:
    """Faces (m, k, 3) of a `Shape` in body axes, from the centre of mass, to the left as seen from outside."""
    size = np.asarray(shape.size)
    if shape.kind == "mesh":
        flat = [size]
    elif shape.kind == "box":
        square = np.array([[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]])
        flat = [0.5*size*np.concatenate([side*np.roll(square, k, axis=1)[::side] for k in range(3) for side in (1, -1)])
                 .reshape(6, 4, 3)]
    else:  # a surface of revolution of unit radius
        down = np.linspace(0.0, np.pi, ROUND//2 + 1)
        radius, height = ((np.sin(down), np.cos(down)) if shape.kind == "ball" else
                          (np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.5, 0.5, -0.5, -0.5])))
        turn = np.linspace(0.0, 2.0*np.pi, ROUND + 1)
        rings = np.stack(np.broadcast_arrays(radius[:, None]*np.cos(turn), radius[:, None]*np.sin(turn),
                                             height[:, None]), axis=-1)
        quads = np.stack([rings[:-1, :-1], rings[1:, :-1], rings[1:, 1:], rings[:-1, 1:]], axis=2).reshape(-1, 4, 3)
        flat = [quads*(size if shape.kind == "ball" else size[[0, 0, 1]])]
    return [np.asarray(shape.at) + surface @ np.asarray(shape.R).T for surface in flat]


def body_faces(assembly: Assembly, body: int) -> list[np.ndarray]:
    """Faces (m, k, 3) of the shapes of a body, as `faces`; of one without, those of the box of its mass and inertia, at
    most a metre long, but none if the moments are equal, which is what planar mechanisms are given."""
    own = [shape for shape in assembly.shapes if shape.body == body]
    if not own:
        moments, axes = np.linalg.eigh(assembly.inertia[body])
        if np.ptp(moments) < 1e-9*moments[2]:
            return []
        sides = np.sqrt(np.maximum(6.0*(moments.sum() - 2.0*moments)/assembly.mass[body], 0.0))
        turn = axes*np.sign(np.linalg.det(axes))
        own = [Shape("box", np.clip(sides, THIN*max(sides.max(), 1e-300), np.inf), R=turn)]
    return [surface for shape in own for surface in faces(shape)]


def body_points(assembly: Assembly, body: int) -> np.ndarray:
    """Points (k, 3) of a body of a mechanism, from its centre of mass in body axes, at its joints and springs."""
    from liestep.mechanics.formulations.multibody.mechanism import Kind

    points = [vectors for joint in assembly.joints for rows in joint.rows if Kind.DRIVE != rows.kind < Kind.SLIDER
             for side, vectors in zip((joint.a, joint.b), rows.vectors[:2], strict=False) if side == body]
    points += [element.vectors[1] for element in assembly.elements if element.name == "spring_damper" and element.a < 0
              and element.b == body]
    return np.reshape(points, (-1, 3))


def solid(scene: Scene, corners: np.ndarray, colour: Colour) -> None:
    """Faces (m, k, 3) of one body in the light."""
    normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, -1] - corners[:, 1])
    lit = normals @ LIGHT/np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
    scene.polygons(corners, [mix(mix(colour, "white", 0.25), "black", 0.25*(1.0 - float(share))) for share in lit],
                   edge=0.3, solid=True)


def mechanism(scene: Scene, assembly: Assembly, centres: np.ndarray, attitudes: np.ndarray, scale: float) -> None:
    """Bodies (n) by their centres of mass (n, 3) and attitudes (n, 3, 3): their shapes, lines from each centre to its
    joints, joints as small balls; a line of `scale` in m stands for a spring to its anchor."""
    few = len(centres) <= FEW_LINKS
    for i, (centre, attitude, colour) in enumerate(zip(centres, attitudes, body_colours(len(centres)), strict=True)):
        surfaces = body_faces(assembly, i) if few else []
        for surface in surfaces:
            solid(scene, centre + surface @ attitude.T, colour)
        for point in centre + body_points(assembly, i) @ attitude.T:
            scene.line(np.stack([centre, point]), METAL, 1.6 if few else 1.0, lift=0.01, outline=0.5, fade=0.3)
            if few:
                scene.balls([point], PIVOT, 3.5, lift=0.06, fade=0.0)
        if not surfaces:
            scene.balls([centre], colour, 5.0 if few else 2.5, lift=0.05, fade=0.2)
    for element in assembly.elements:
        if element.name == "spring_damper":
            ends = [point if body < 0 else centres[body] + attitudes[body] @ point
                    for body, point in zip((element.a, element.b), element.vectors, strict=False)]
            if np.linalg.norm(ends[1] - ends[0]) > 1e-3*scale:
                scene.line(coil(*ends), SPRING, 0.9, fade=0.3)
            if element.a < 0:
                scene.balls([ends[0]], PIVOT, 3.5, lift=0.06, fade=0.0)


Place = tuple[float, float, float, float]  # left, bottom, width, height in figure fractions


def parameters(file: RunFile) -> Parameters:
    """Checked parameters of a run's system."""
    specification = json.loads(file.attributes["specification"])
    return sheet(specification["problem"]).check(specification["parameters"])


def directions(file: RunFile, times: ArrayLike) -> np.ndarray:
    """q at any times (k, n, 3): cubic Hermite interpolation of the samples with dq/dt = omega x q, normalised."""
    value = CubicHermiteSpline(file["time"], file["q"], np.cross(file["omega"], file["q"]))(np.atleast_1d(times))
    return value/np.linalg.norm(value, axis=-1, keepdims=True)


def snapshots(figure: Figure, place: Place, times: Sequence[float], columns: int = 2) -> list[Axes]:
    """Axes for a grid of small pictures, each with its time above it."""
    left, bottom, width, height = place
    wide, high = width/columns, height/-(-len(times)//columns)
    panels = [figure.add_axes((left + k % columns*wide, bottom + height - (k//columns + 1)*high, wide, 0.93*high))
              for k in range(len(times))]
    for axes, time in zip(panels, times, strict=True):
        axes.text(0.03, 1.0, f"t = {time:g} s", transform=axes.transAxes, va="top", fontsize=7.0)
    return panels
