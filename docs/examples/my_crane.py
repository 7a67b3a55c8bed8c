"""A trolley that slides on a level rail, and a load on a universal joint below it: a crane.

Three axes of the trolley stay along those of space. Conserved: the energy; there is no axis about which all turns are
free.
"""
import numpy as np

from liestep.extend import (
    GROUND,
    Assembly,
    Parameter,
    Preset,
    body_state,
    multibody,
    prismatic,
    stacked,
    universal,
)

FIRST, SECOND, THIRD = np.eye(3)


def build(p):
    """Joints: points are given from the centres of mass in body axes, of the ground in space."""
    hook = 0.5*p["height"]*THIRD
    return Assembly(
        mass=p["mass"], inertia=p["inertia"], center_of_mass=np.zeros((2, 3)), gravity=np.array([0.0, 0.0, -9.81]),
        joints=[prismatic(GROUND, np.zeros(3), FIRST, 0, np.zeros(3), FIRST, SECOND, THIRD),
                universal(1, p["rope"]*THIRD, FIRST, 0, -hook, SECOND)])


def start(p):
    """The trolley rolls at 1 m/s, the load hangs below it and swings in the plane across the rail."""
    trolley = body_state(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), FIRST)
    swing = np.array([1.5, 0.0, 0.0])
    load = body_state(np.eye(3), swing, p["rope"]*THIRD, -0.5*p["height"]*THIRD, FIRST)
    return stacked([trolley, load])


SHEET = multibody(
    title="Crane",
    equations="M dV/dt + A^T lambda = f, A V = 0, dC/dt = C hat V",
    citation="own example",
    parameters={
        "mass": Parameter("kg", "of trolley and load", (2,), "positive"),
        "inertia": Parameter("kg m2", "inertia matrices about the centres of mass", (2, 3, 3), "inertia"),
        "rope": Parameter("m", "from the universal joint to the load's centre of mass", (), "positive"),
        "height": Parameter("m", "of the trolley", (), "positive"),
    },
    build=build, bodies=lambda p: 2,
    conserved_momentum=lambda p: (False, False, False),
    presets={"default": Preset("rolls and swings", "none", "own", {
        "mass": [2.0, 5.0], "inertia": [np.diag([0.05, 0.08, 0.1]).tolist(), np.diag([0.4, 0.5, 0.3]).tolist()],
        "rope": 1.2, "height": 0.2}, start, 2.0)},
    default_preset="default")
