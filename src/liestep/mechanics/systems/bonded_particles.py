"""Any graph of bonded spherical particles of any size: rodrigues2021, section 4, eqs. (43) to (57).

Every particle has its mass, moments and diameter, every bond its stiffness; two particles touch at the distance
(D_i + D_j)/2. At `rest_position` and `rest_attitude` no bond stores energy. `bonded_ring` is a ring of equal ones.
"""
from collections.abc import Callable

import numpy as np

from liestep.errors import InputError
from liestep.geometry.attitude import about_axis
from liestep.mechanics.contracts.manifold import check_attitude
from liestep.mechanics.contracts.sheet import Parameter, Parameters, Preset
from liestep.mechanics.systems._bonded import STIFFNESS, Arrangement, thrown
from liestep.mechanics.systems._bonded import bonded_particles as sheet_of


def _assembly(parameters: Parameters) -> Arrangement:
    return Arrangement(parameters["rest_position"], parameters["rest_attitude"], parameters["mass"],
                       parameters["inertia"], parameters["diameter"], parameters["bonds"],
                       np.stack([parameters[name] for name in STIFFNESS], axis=1))


def _combination(parameters: Parameters) -> None:
    n = len(parameters["mass"])
    try:
        check_attitude("rest_attitude", parameters["rest_attitude"])
    except InputError as error:
        raise InputError(str(error).replace("initial rest_attitude", "parameter rest_attitude")) from None
    for number, (i, j) in enumerate(parameters["bonds"]):
        if i == j or i >= n or j >= n:
            raise InputError(f"bond {number} is between {i} and {j}; a bond is between two different particles of 0 to"
                             f" {n - 1}")
        if np.array_equal(parameters["rest_position"][i], parameters["rest_position"][j]):
            raise InputError(f"bond {number} has no length: particles {i} and {j} rest in one place")


def _moving(speed: float, gap: float) -> Callable[[Parameters], dict[str, np.ndarray]]:
    """At rest in itself at a distance from the wall, flying towards it."""
    def initial(parameters: Parameters) -> dict[str, np.ndarray]:
        places = parameters["rest_position"]
        shift = gap - float((places[:, 0] - 0.5*parameters["diameter"]).min())
        return thrown(places + np.array([shift, 0.0, 0.0]), speed) | {"attitude": parameters["rest_attitude"].copy()}

    return initial


def _material(places: np.ndarray, diameters: np.ndarray, attitudes: np.ndarray) -> dict:
    """Bonds between all particles closer than 1.15 of their contact length; masses as those of balls of one density,
    moments as of homogeneous ones."""
    gap = np.linalg.norm(places[:, None] - places[None], axis=2)
    touching = np.argwhere(np.triu(gap < 0.575*(diameters[:, None] + diameters[None]), 1))
    mass, count = diameters**3, len(touching)
    return {"rest_position": places, "rest_attitude": attitudes, "mass": mass,
            "inertia": np.repeat(0.1*mass*diameters**2, 3).reshape(-1, 3), "diameter": diameters, "bonds": touching,
            "bending_stiffness": [10.0]*count, "axial_stiffness": [200.0]*count, "shear_stiffness": [200.0]*count,
            "contact_stiffness": 2100.0, "wall_stiffness": 2100.0, "shear_law": "mean", "wall_law": "point",
            "contact_pairs": "all", "contact_law": "hertz"}


def _cluster() -> dict:
    """Four particles of two sizes, none at rest in the attitude 1."""
    places = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.8, 0.0], [0.5, 0.3, 0.8]])
    attitudes = np.stack([about_axis(0.4*(k + 1), k % 3) @ about_axis(0.3, (k + 1) % 3) for k in range(4)])
    return _material(places, np.array([1.0, 1.0, 0.9, 0.9]), attitudes)


def _packing(side: int, seed: int) -> dict:
    """A grid of particles of two sizes, moved at random."""
    random = np.random.Generator(np.random.PCG64(seed))
    n = side**3
    places = np.argwhere(np.ones((side, side, side))).astype(np.float64) + random.uniform(-0.04, 0.04, (n, 3))
    return _material(places, random.choice([0.9, 1.0], n), np.tile(np.eye(3), (n, 1, 1)))


SHEET = sheet_of(
    title="Bonded particles and a wall",
    citation="rodrigues2021, section 4",
    parameters={
        "mass": Parameter("kg", "masses", ("n",), "positive"),
        "inertia": Parameter("kg m2", "principal moments of inertia", ("n", 3), "moments"),
        "diameter": Parameter("m", "diameters", ("n",), "positive"),
        "rest_position": Parameter("m", "positions at which no bond stores energy", ("n", 3)),
        "rest_attitude": Parameter("1", "attitudes at which no bond stores energy", ("n", 3, 3)),
        "bonds": Parameter("1", "pairs of particles with a bond", ("b", 2), "index", empty=True),
        **{name: Parameter("J", f"stiffness of {text} of each bond", ("b",), "non-negative", empty=True)
           for name, text in STIFFNESS.items()},
    },
    assembly=_assembly,
    combination=_combination,
    presets={
        "cluster": Preset("four particles of two sizes against the wall, resting in attitudes of their own", "none",
                          "own", _cluster(), _moving(0.5, 0.1), 2.0),
        "packing": Preset("random packing of 64 particles of two sizes against the wall", "none", "own",
                          _packing(4, 2021), _moving(0.5, 0.1), 5.0),
    },
    default_preset="cluster",
)
