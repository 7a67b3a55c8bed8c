"""Presets of liegroup2021: the data of its examples, printed or of its authors' public code, and longer chains."""
import numpy as np

from liestep.mechanics.contracts.sheet import Parameters, Preset
from liestep.mechanics.systems.heavy_top import CLASSICAL, CLASSICAL_RATE, upright

COUNTS = tuple(range(2, 21, 2))  # numbers of pendula in the paper
GRAVITY = 9.81                   # m s-2, of its public code
ROOT_HALF = 0.5**0.5


def _equal_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """All links alike, 45 degrees above the horizontal plane, turning about e2 (liegroup2021 section 5.3)."""
    n = len(parameters["mass"])
    return {"q": np.tile([ROOT_HALF, 0.0, ROOT_HALF], (n, 1)), "omega": np.tile([0.0, 1.0, 0.0], (n, 1))}


def _generic_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """Two links in the positive octant that move in all directions."""
    q = np.array([[0.36, 0.48, 0.8], [0.6, 0.64, 0.48]])
    return {"q": q, "omega": np.cross(q, [[0.2, 0.9, 0.5], [0.7, 0.1, 0.6]])}


def _equal(n: int, length: float, doc: str, kind: str = "printed") -> Preset:
    parameters = {"mass": [1.0]*n, "length": [length]*n, "gravity": [0.0, 0.0, -GRAVITY]}
    return Preset(doc, "liegroup2021 section 5.3; gravity from its public code", kind, parameters, _equal_start, 3.0,
                  resolutions=(1e-6,))


PRESETS = {
    "spherical_pendulum_chain": {
        "orders": Preset("double pendulum from a generic start (the paper draws one at random)",
                         "liegroup2021 section 5.3, figure 5", "own",
                         {"mass": [1.0, 1.0], "length": [1.0, 1.0], "gravity": [0.0, 0.0, -GRAVITY]}, _generic_start,
                         0.1),
        **{f"unit_{n}": _equal(n, 1.0, f"{n} pendula of 1 m") for n in COUNTS},
        **{f"total5_{n}": _equal(n, 5.0/n, f"{n} pendula, 5 m together", "printed" if n in COUNTS else "own")
           for n in (*COUNTS, 50, 100, 200)},  # also longer chains than in the paper
    },
    "heavy_top": {
        "printed": Preset("the numbers as printed: gravity = -Gamma0 points along +e_3, and the inertia is the one"
                          " about the centre of mass", "liegroup2021, section 3.4.1; errata 2 and 3", "printed",
                          {"inertia": [0.234375, 0.46875, 0.234375], "mass": 15.0, "length": 2.0,
                           "axis": [0.0, 1.0, 0.0], "gravity": [0.0, 0.0, 9.81]}, upright((0.0, 150.0, -4.61538)), 1.0,
                          resolutions=(0.01,)),
        "bruels_cardona": Preset("the top that the paper refers to: inertia about the fixed point, l = 1 m,"
                                 " gravity along -e_3", "Bruels and Cardona 2010; liegroup2021, erratum 3", "inferred",
                                 CLASSICAL, upright(CLASSICAL_RATE), 1.0),
    },
}
