"""Presets of livens2025: the data of sections 5.3 and 5.4, and two classical motions of the same top."""
import numpy as np

from liestep.geometry.attitude import about_axis
from liestep.mechanics.contracts.sheet import Parameters, Preset
from liestep.mechanics.presets._cone import ABOUT_TIP, AXIAL, DISTANCE, GRAVITY, MASS, PRECESSION, TILT, steady_spin

# the conical top of section 5.4
BODY = "livens2025 section 5.3"
TOP = ("livens2025 section 5.4, eqs. (113), (114) with the moments of erratum 6, (117)-(119); numbers of table 4 from"
       " the authors' public code")


def _top_start(tilt: float, precession: float, spin: float):
    """Tilted about e1, turning about e3 and about its own axis."""
    def start(parameters: Parameters) -> dict[str, np.ndarray]:
        attitude = about_axis(tilt, 0)
        rate = attitude.T @ np.array([0.0, 0.0, precession]) + np.array([0.0, 0.0, spin])
        return {"attitude": attitude, "angular_momentum": attitude @ (parameters["inertia"]*rate)}

    return start


_TOP = {"inertia": [ABOUT_TIP, ABOUT_TIP, AXIAL], "mass": MASS, "length": DISTANCE, "axis": [0.0, 0.0, 1.0],
        "gravity": [0.0, 0.0, -GRAVITY]}


PRESETS = {
    "free_rigid_body": {
        "livens2025": Preset("three different moments, body rates 10, 20, 20 rad/s: energy 2500 J", BODY, "printed",
                             {"inertia": [6.0, 8.0, 3.0]}, lambda parameters: {
                                 "attitude": np.eye(3),
                                 "angular_momentum": parameters["inertia"]*np.array([10.0, 20.0, 20.0])},
                             2.0, resolutions=(0.05,)),
    },
    "heavy_top": {
        "livens2025": Preset("a cone of aluminium on its tip in steady precession at 10 rad/s, tilted by 60 degrees",
                             TOP, "inferred", _TOP, _top_start(TILT, PRECESSION, steady_spin(TILT, PRECESSION)), 2.0),
        "cuspidal": Preset("the cone released from rest at 60 degrees with a spin of 135.6 rad/s: its axis draws cusps",
                           "none; the cone of livens2025 section 5.4", "own", _TOP, _top_start(TILT, 0.0, 135.6), 2.0),
        "sleeping": Preset("the cone upright with a spin of 180 rad/s, disturbed by 1e-3 rad: it sleeps",
                           "none; the cone of livens2025 section 5.4", "own", _TOP, _top_start(1e-3, 0.0, 180.0), 2.0),
    },
}
