"""Simple cubic block of bonded spherical particles that meets a wall, with the bonds of rodrigues2021, section 4.

Particles stand on a grid of spacing `diameter`, in point contact with up to six neighbours, to each of which there is a
bond. Rest lengths and directions are those of the grid, whatever the start.
"""
import numpy as np

from liestep.extend import InputError, Parameter, Parameters, Preset
from liestep.mechanics.systems._bonded import EQUAL, Arrangement, bonded_particles, equal_particles, thrown


def grid(parameters: Parameters) -> np.ndarray:
    """Places (n, 3), the last axis fastest; the first layer is at half a diameter from x = 0."""
    cells = parameters["cells"]
    places = np.stack(np.meshgrid(*(np.arange(size) for size in cells), indexing="ij"), axis=-1).reshape(-1, 3)
    centred: np.ndarray = places - 0.5*(cells - 1)*np.array([0.0, 1.0, 1.0]) + np.array([0.5, 0.0, 0.0])
    return parameters["diameter"]*centred


def neighbours(cells: np.ndarray) -> np.ndarray:
    """Pairs (b, 2) of particles that are next to each other, along x, then y, then z."""
    number = np.arange(int(np.prod(cells)), dtype=np.int64).reshape(cells)
    pairs = []
    for axis in range(3):
        low, high = np.moveaxis(number, axis, 0)[:-1], np.moveaxis(number, axis, 0)[1:]
        pairs.append(np.stack([low.ravel(), high.ravel()], axis=1))
    return np.concatenate(pairs)


def _assembly(parameters: Parameters) -> Arrangement:
    return equal_particles(parameters, grid(parameters), parameters["diameter"], neighbours(parameters["cells"]))


def _combination(parameters: Parameters) -> None:
    cells = parameters["cells"]
    if np.any(cells < 1) or int(np.prod(cells)) < 2:
        raise InputError(f"parameter cells is {', '.join(map(str, cells))}; a block has at least one particle along"
                         " each axis and two in all")


def _flying(parameters: Parameters) -> dict[str, np.ndarray]:
    """The undeformed block at a distance `gap` from the wall, with `speed` towards it."""
    return thrown(grid(parameters) + np.array([parameters["gap"], 0.0, 0.0]), parameters["speed"])


def _block(cells: list[int], doc: str, t_end: float) -> Preset:
    """Material of the rescaled ring, frame-indifferent shear."""
    return Preset(doc, "none", "own", {
        "cells": cells, "diameter": 1.178, "mass": 1.0, "inertia": [1.0, 1.0, 1.0], "bending_stiffness": 10.0,
        "axial_stiffness": 200.0, "shear_stiffness": 200.0, "contact_stiffness": 2100.0, "wall_stiffness": 2100.0,
        "shear_law": "mean", "wall_law": "point", "contact_pairs": "all", "contact_law": "hertz", "gap": 0.2,
        "speed": 1.0}, _flying, t_end)


SHEET = bonded_particles(
    title="Block of bonded particles and a wall",
    citation="rodrigues2021, section 4, for the bonds",
    parameters={
        "cells": Parameter("1", "number of particles along x, y, z", (3,), "index"),
        "diameter": Parameter("m", "diameter of a particle, spacing of the grid", (), "positive"),
        **EQUAL,
        "gap": Parameter("m", "distance between the block and the wall at the start", ()),
        "speed": Parameter("m s-1", "speed towards the wall at the start", ()),
    },
    assembly=_assembly,
    combination=_combination,
    presets={"small": _block([2, 2, 2], "eight particles", 4.0),
             "medium": _block([6, 6, 6], "216 particles", 10.0),
             "large": _block([25, 20, 20], "10,000 particles", 10.0)},
    default_preset="small",
)
