"""Ring or open chain of bonded spherical particles that meets a wall: rodrigues2021, section 4.1.

The particles stand on a circle in point contact, D = D_t sin(pi/n), and fly towards the wall x = 0 without turning.
Rest lengths and directions are those of the circle, whatever the start.
"""
import numpy as np

from liestep.extend import InputError, Parameter, Parameters
from liestep.mechanics.systems._bonded import EQUAL, Arrangement, bonded_particles, equal_particles, thrown


def particle_diameter(parameters: Parameters) -> float:
    """D: neighbours are in point contact."""
    return float(parameters["ring_diameter"]*np.sin(np.pi/parameters["particles"]))


def circle(parameters: Parameters) -> np.ndarray:
    """Places (n, 3) about the origin, the first at angle 0."""
    n = parameters["particles"]
    angle, places = 2.0*np.pi*np.arange(n)/n, np.zeros((n, 3))
    first = 0 if parameters["plane"] == "xy" else 1
    places[:, first] = 0.5*parameters["ring_diameter"]*np.cos(angle)
    places[:, first + 1] = 0.5*parameters["ring_diameter"]*np.sin(angle)
    return places


def _assembly(parameters: Parameters) -> Arrangement:
    n = parameters["particles"]
    first = np.arange(n if parameters["closure"] == "ring" else n - 1, dtype=np.int64)
    return equal_particles(parameters, circle(parameters), particle_diameter(parameters),
                           np.stack([first, (first + 1) % n], axis=1))


def _combination(parameters: Parameters) -> None:
    if parameters["particles"] < 2:
        raise InputError(f"parameter particles is {parameters['particles']}; a ring has at least 2")


def flying(parameters: Parameters) -> dict[str, np.ndarray]:
    """The undeformed ring at a distance `gap` from the wall, with `speed` towards it."""
    extent = 0.5*parameters["ring_diameter"] if parameters["plane"] == "xy" else 0.0
    centre = np.array([parameters["gap"] + extent + 0.5*particle_diameter(parameters), 0.0, 0.0])
    return thrown(circle(parameters) + centre, parameters["speed"])


SHEET = bonded_particles(
    title="Ring of bonded particles and a wall",
    citation="rodrigues2021, section 4",
    parameters={
        "particles": Parameter("1", "number of particles, at least 2", (), "index"),
        "ring_diameter": Parameter("m", "diameter D_t of the circle of the centres", (), "positive"),
        "closure": Parameter("1", "ring, or chain without the bond from the last to the first", (), "choice",
                             ("ring", "chain")),
        "plane": Parameter("1", "plane of the circle: xy is edge-on to the wall, yz face-on", (), "choice",
                           ("xy", "yz")),
        **EQUAL,
        "gap": Parameter("m", "distance between the ring and the wall at the start", ()),
        "speed": Parameter("m s-1", "speed towards the wall at the start", ()),
    },
    assembly=_assembly,
    combination=_combination,
    default_preset="rescaled",
    presets={},
)
