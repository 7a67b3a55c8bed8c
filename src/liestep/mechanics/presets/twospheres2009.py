"""Presets of twospheres2009: the data of its examples, printed or guessed."""
import math
from dataclasses import replace

import numpy as np

from liestep.mechanics.contracts.sheet import Parameters, Preset
from liestep.mechanics.systems.dipole_array import printed_start
from liestep.mechanics.systems.elastic_rod import frame
from liestep.mechanics.systems.lennard_jones_sphere import VORTEX_STRENGTH, equilibrium_sigma, vortices
from liestep.mechanics.systems.spherical_pendulum_chain import tilted_start


def _three_bodies(parameters: Parameters) -> dict[str, np.ndarray]:
    return {"q": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]),
            "omega": np.array([[0.0, 0.0, -1.1], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])}


def _four_pendula(parameters: Parameters) -> dict[str, np.ndarray]:
    """All links along e3 and at rest, except the printed ones: the third is tilted by 30 degrees in the direction
    (cos 20, sin 20, 0) degrees (printed as 0.4698, 0.1710, 0.8660), the first turns with (-10, 4, 0) rad/s."""
    n = len(parameters["mass"])
    angle = math.radians(20.0)
    q, omega = np.tile([0.0, 0.0, 1.0], (n, 1)), np.zeros((n, 3))
    q[min(2, n - 1)] = (math.cos(angle)/2.0, math.sin(angle)/2.0, 3.0**0.5/2.0)
    omega[0] = (-10.0, 4.0, 0.0)
    return {"q": q, "omega": omega}


def _square(e1: list[float]) -> dict:
    """Printed parameters: r12 = l e1, r23 = -l e2, r34 = -l e1, r41 = l e2 close a square of pivots."""
    first, second = np.zeros(3), 0.1*np.array(e1)
    down = np.array([0.0, -0.1, 0.0])
    return {"mass": [0.1]*4, "length": [0.1]*4, "gravity": [0.0, 0.0, 9.81], "stiffness": [10.0, 20.0, 30.0, 40.0],
            "pairs": [[0, 1], [1, 2], [2, 3], [3, 0]],
            "pivots": [list(map(float, p)) for p in (first, second, second + down, down)]}


def _impact(parameters: Parameters) -> dict[str, np.ndarray]:
    """A straight rod along the clamp, the middle element turning at 10 rad/s: element 5 of 10 about e3 in the paper."""
    n, clamp = parameters["elements"], parameters["clamp"]
    omega = np.zeros((n, 3))
    omega[(n - 1)//2] = 10.0*frame(clamp)[1]
    return {"q": np.tile(clamp, (n, 1)), "omega": omega}


def _rod(inertia: str, doc: str, citation: str) -> Preset:
    parameters = {"elements": 10, "mass": 0.055, "length": 1.1, "stiffness": 1000.0, "gravity": [0.0, 0.0, 9.81],
                  "clamp": [1.0, 0.0, 0.0], "inertia": inertia}
    return Preset(doc, citation, "inferred", parameters, _impact, 3.0, resolutions=(1e-4,))


def _magnets(along: int, across: int, plane: str) -> Preset:
    """4 x 4 grid of spacing 1.2 l, row by row: coordinate number `along` fastest, the other one number `across`."""
    places, spacing = np.zeros((16, 3)), 1.2*0.02
    places[:, along], places[:, across] = spacing*(np.arange(16) % 4), spacing*(np.arange(16)//4)
    return Preset(f"4 x 4 grid in the {plane} plane, row by row; plane, numbering and t_end are not printed",
                  "twospheres2009, example 5; layout guessed", "guess",
                  {"mass": 0.05, "length": 0.02, "moment": 0.1, "positions": places.tolist(),
                   "permeability": 4e-7*np.pi}, printed_start, 10.0)


def _strength(strength: float) -> Preset:
    """The molecules with another strength of the vortices (rad/s), to which omega is proportional."""
    def start(parameters: Parameters) -> dict[str, np.ndarray]:
        state = vortices(parameters)
        return {**state, "omega": strength/VORTEX_STRENGTH*state["omega"]}

    return replace(_molecules("mean"), doc=f"642 molecules, vortices of strength {strength:g} rad/s instead of 3.3",
                   initial=start)


def _molecules(reading: str) -> Preset:
    return Preset(f"642 molecules; neighbours at the {reading} edge length exert no force; vortex shape, width and"
                  " strength are guesses, the strength calibrated to the printed mean energy deviation",
                  "twospheres2009, example 6: n, masses, epsilon and t_end printed; sigma and velocities guessed",
                  "guess", {"mass": np.ones(642), "epsilon": 0.01, "sigma": equilibrium_sigma(3, reading)}, vortices,
                  5.0, resolutions=(5e-3,))


PRESETS = {
    "spherical_pendulum_chain": {
        "paper": Preset("double pendulum with the printed data; energies are 9.81^2 times those of paper_scaled",
                        "twospheres2009, example 1", "printed",
                        {"mass": [1.0, 1.0], "length": [9.81, 9.81], "gravity": [0.0, 0.0, 9.81]}, tilted_start, 100.0,
                        resolutions=(0.01,)),
        "paper_scaled": Preset("the same motion with l = 1 m, g = 1 m/s2: the units of the printed energies",
                               "twospheres2009, example 1; erratum 10", "scaled",
                               {"mass": [1.0, 1.0], "length": [1.0, 1.0], "gravity": [0.0, 0.0, 1.0]}, tilted_start,
                               100.0, resolutions=(0.01,)),
    },
    "sphere_nbody": {
        "paper": Preset("three bodies; closest pair 11.689 degrees at t = 3.576", "twospheres2009, example 2",
                        "printed", {"mass": [1.0, 1.0, 1.0], "gamma": 1.0}, _three_bodies, 10.0,
                        resolutions=(1e-3, 1e-4)),
    },
    "spring_pendula": {
        "paper": Preset("four pendula on a square, e1 = [1, 0, 0]; t_end is inferred from the printed mean energy"
                        " variation, g = 9.81 m/s2 is not printed", "twospheres2009, example 3; errata 5 and 6",
                        "inferred", _square([1.0, 0.0, 0.0]), _four_pendula, 30.0),
        "paper_e1_vertical": Preset("the misprint e1 = [0, 0, 1] taken literally: a vertical square", "twospheres2009,"
                                    " example 3; erratum 5", "inferred", _square([0.0, 0.0, 1.0]), _four_pendula, 30.0),
    },
    "elastic_rod": {
        "paper": _rod("printed", "ten elements with the inertia as printed, e1 = [1, 0, 0]; g = 9.81 m/s2"
                      " is not printed", "twospheres2009, example 4; errata 5, 7 and 8"),
        "paper_consistent": _rod("consistent", "the same with the inertia of uniform rods",
                                 "twospheres2009, example 4; erratum 7"),
    },
    "dipole_array": {"paper": _magnets(0, 1, "x-y"), "paper_xz": _magnets(0, 2, "x-z"),
                     "paper_yz": _magnets(1, 2, "y-z")},
    "lennard_jones_sphere": {"paper": _molecules("mean"), "paper_sigma_min": _molecules("min"),
                             "paper_sigma_max": _molecules("max"),
                             # two vortices that do not merge; together as fast as those of the paper: 7.52 J at first
                             "paper_narrow": replace(
                                 _molecules("mean"), doc="642 molecules, vortices 10 degrees wide instead of 15, of"
                                 " 7.94 rad/s, with the kinetic energy of the wider ones",
                                 initial=lambda parameters: vortices(parameters, 7.94, math.radians(10.0))),
                             **{f"paper_strength_{tenths}": _strength(tenths/10.0)
                                for tenths in (30, 31, 32, 34, 35, 36)}},
}
