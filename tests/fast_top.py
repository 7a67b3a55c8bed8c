"""Runs of the fast top on a spherical joint (lgt2022), and its end from another derivation."""
import numpy as np

from liestep import simulate
from liestep.mechanics.contracts.formulated import quaternion_matrix

# end of the fast top at T = 1 from an 80-bit Taylor series of the fixed-point equations (another derivation)
TOP_END = quaternion_matrix(np.array([0.7329439806796637, -0.2782857193376127, 0.5318246113341626,
                                      -0.3201761427362493]))
TOP_RATE = np.array([-0.8220781016827047, 150.0, -5.9232913481173363])
NAMED = {"1a": {"action": "se3"}, "1b": {"action": "so3_r3"}, "1c": {"action": "so3_r3", "chart": "cayley"},
         "1d": {"action": "se3", "chart": "cayley"}}


def top(steps, name="1a", integrator="rkmk", preset="bruels_cardona", **options):
    return simulate("jointed_body", integrator, preset=preset, steps=steps, samples=2, options=NAMED[name] | options)


def error(data, end=TOP_END):
    return float(np.abs(data["attitude"].values[-1, 0] - end).max())
