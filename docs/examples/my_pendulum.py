"""A spherical pendulum whose bob hangs on a spring: the spring pulls the bob towards a fixed point.

T = 1/2 m l^2 |dq/dt|^2, V = m g l q_z + 1/2 k |l q - anchor|^2. With the anchor on the vertical, J.e3 is conserved.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Parameter, Preset, axpy, dot, put, row, scale, spheres, sub


class SpringPendulum(NamedTuple):
    """Fields are the numbers that the methods need; the methods are plain Python on rows of arrays (n, 3)."""

    weight: Any     # m g l
    length: Any
    stiffness: Any
    anchor: Any     # (1, 3)

    def potential(self, q):
        spring = sub(scale(self.length, row(q, 0)), row(self.anchor, 0))
        return self.weight*q[0, 2] + 0.5*self.stiffness*dot(spring, spring)

    def gradient(self, q, out):
        spring = sub(scale(self.length, row(q, 0)), row(self.anchor, 0))
        put(out, 0, axpy(self.stiffness*self.length, spring, (0.0, 0.0, self.weight)))


def build(p):
    return SpringPendulum(p["mass"]*p["g"]*p["length"], p["length"], p["stiffness"], p["anchor"].reshape(1, 3))


def start(p):
    return {"q": np.array([[0.6, 0.0, -0.8]]), "omega": np.array([[0.0, 2.0, 0.0]])}


SHEET = spheres(
    title="Spherical pendulum on a spring",
    equations="m l^2 domega/dt = -q x G, G = m g l e3 + k l (l q - anchor); dq/dt = omega x q",
    citation="own example",
    parameters={
        "mass": Parameter("kg", "mass of the bob", (), "positive"),
        "length": Parameter("m", "length of the rod", (), "positive"),
        "g": Parameter("m s-2", "acceleration of gravity"),
        "stiffness": Parameter("N m-1", "spring constant", (), "non-negative"),
        "anchor": Parameter("m", "where the spring is fixed", (3,)),
    },
    build=build,
    mass=lambda p: np.array([p["mass"]*p["length"]**2]),   # (n,), or (n, n) for coupled bodies
    conserved_momentum=lambda p: (False, False, bool(np.all(p["anchor"][:2] == 0.0))),
    presets={"default": Preset("swings", "none", "own", {"mass": 1.0, "length": 1.0, "g": 9.81, "stiffness": 5.0,
                                                          "anchor": [0.0, 0.5, 0.0]}, start, 4.0)},
)
