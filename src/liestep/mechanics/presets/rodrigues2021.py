"""Presets of rodrigues2021: the pendulum of section 3, the ring of section 4, and what is not printed there."""
import numpy as np

from liestep.geometry.attitude import about_axis
from liestep.mechanics.contracts.sheet import Parameters, Preset
from liestep.mechanics.systems.bonded_ring import flying

RATE, TILT = 0.7, np.pi/3.0  # of the precession, our choice


def _printed_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """Eq. (42): turned by 3 pi/4 about e_2; Omega = 0.4 sin^2(pi/4) (1, 0, 1)."""
    return {"attitude": about_axis(0.75*np.pi, 1), "angular_momentum": parameters["inertia"]*np.array([0.2, 0.0, 0.2])}


def steady_precession(parameters: Parameters) -> dict[str, np.ndarray]:
    """Omega = p e_3 + s R rho0 with p s = -m g/J, rho0 = -axis, R a turn by TILT about e_2: steady precession."""
    attitude, pull = about_axis(TILT, 1), -parameters["gravity"][2]*parameters["mass"]*parameters["length"]
    spin = -pull/(RATE*parameters["inertia"][0])
    rate = RATE*np.array([0.0, 0.0, 1.0]) + spin*(attitude @ -parameters["axis"])
    return {"attitude": attitude, "angular_momentum": parameters["inertia"][0]*rate}


UNIT = {"inertia": [1.0, 1.0, 1.0], "mass": 1.0, "length": 1.0, "axis": [0.0, 0.0, -1.0], "gravity": [0.0, 0.0, -1.0]}
SECTION = "rodrigues2021, section 3"
RING = {"particles": 80, "ring_diameter": 3.0, "closure": "ring", "plane": "xy", "mass": 1.0,
        "inertia": [1.0, 1.0, 1.0], "bending_stiffness": 10.0, "axial_stiffness": 200.0, "shear_stiffness": 200.0,
        "contact_stiffness": 2100.0, "wall_stiffness": 2100.0, "shear_law": "printed", "wall_law": "point",
        "contact_pairs": "all", "contact_law": "hertz", "gap": 1.0, "speed": 1.0}

PRESETS = {
    "heavy_top": {
        "rodrigues2021": Preset("three-dimensional pendulum with the printed start; m, g, J and t_end are not printed",
                                f"{SECTION}, eqs. (39) and (42)", "guess", UNIT, _printed_start, 10.0),
        "rodrigues2021_inverted": Preset("the same with the other sign of the potential energy", f"{SECTION}, eq. (39)",
                                         "guess", {**UNIT, "axis": [0.0, 0.0, 1.0]}, _printed_start, 10.0),
        "rodrigues2021_precession": Preset("the same pendulum in steady precession, whose motion is known in closed"
                                           " form", "none", "own", UNIT, steady_precession, 20.0),
    },
    "bonded_ring": {
        "rescaled": Preset("80 particles on a circle of diameter 30: the printed 3 makes figures 5 and 7 impossible;"
                           " gap, wall law, contacts and orientation are not printed",
                           "rodrigues2021, section 4.1", "inferred", {**RING, "ring_diameter": 30.0}, flying, 10.0),
        "as_printed": Preset("80 particles on a circle of diameter 3; gap, wall law, contacts and orientation are not"
                             " printed", "rodrigues2021, section 4.1", "printed", RING, flying, 10.0),
    },
}
