"""A closed loop of four bars with spherical joints, pushed for one second (livens2025 section 5.5).

Bars of square section 1 m x 1 m and length l, in a square about the origin; bars 0 and 2 along e2, bars 1 and 3 along
e1. The load acts on bar 0 (`mechanics.formulations.constrained.bodies`): afterwards the linear momentum is 4 load s
along e1, the angular momentum about the origin 3 load s, both exactly.
"""
import numpy as np

from liestep.extend import Bodies, Jointed, Parameter, Parameters

RING = np.arange(4)


def _bodies(parameters: Parameters) -> Bodies:
    """m = density l, J = m (l^2 + 1)/12 across and m/6 along each bar."""
    length = parameters["length"]
    mass = parameters["density"]*length
    across, along = mass*(length*length + 1.0)/12.0, mass*2.0/12.0
    up, right = np.array([0.0, 0.5*length, 0.0]), np.array([0.5*length, 0.0, 0.0])
    upright, lying = [across, along, across], [along, across, across]
    return Bodies(np.full(4, mass), np.array([upright, lying]*2), RING, (RING + 1) % 4,
                  np.array([up, -right, -up, right]), np.array([right, up, -right, -up]), np.zeros(3),
                  parameters["load"])


def _free(parameters: Parameters) -> tuple[bool, bool, bool]:
    return (parameters["load"] == 0.0,)*3


JOINTED = Jointed(_bodies, _free, _free)


SHEET = JOINTED.sheet(
    title="Closed loop of four bars",
    equations="M_i d2x_i/dt2 = sum of joint forces and load; dL_i/dt = sum of moments of joint forces and load",
    citation="livens2025 section 5.5, eqs. (122)-(128)",
    parameters={
        "length": Parameter("m", "length of the bars", (), "positive"),
        "density": Parameter("kg m-1", "mass of a bar for each metre", (), "positive"),
        "load": Parameter("N", "largest value of f(t)", (), "non-negative"),
    },
    default_preset="livens2025",
    motion="bars",
)
