"""A spherical pendulum in gusts of wind: air pulls with c |u| u, u = wind(t) - velocity of the bob."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Parameter, Preset, cos, cross, dot, put, row, scale, spheres, sqrt, sub


class Gusty(NamedTuple):
    weight: Any   # m g l
    length: Any
    drag: Any
    wind: Any
    rate: Any

    def potential(self, q):
        return self.weight*q[0, 2]

    def gradient(self, q, out):
        put(out, 0, (0.0, 0.0, self.weight))

    def force(self, t, q, omega, out):
        velocity = scale(self.length, cross(row(omega, 0), row(q, 0)))             # of the bob: l dq/dt
        air = sub((self.wind*cos(self.rate*t), 0.0, 0.0), velocity)                # its velocity past the bob
        put(out, 0, scale(self.length*self.drag*sqrt(dot(air, air)), air))         # F = l f, f = c |u| u


def build(p):
    return Gusty(p["mass"]*p["g"]*p["length"], p["length"], p["drag"], p["wind"], p["rate"])


def start(p):
    return {"q": np.array([[0.6, 0.0, -0.8]]), "omega": np.array([[0.0, 2.0, 0.0]])}


SHEET = spheres(
    title="Pendulum in gusts of wind", equations="m l^2 domega/dt = q x (F - G), G = m g l e3, F = l c |u| u",
    citation="own example",
    parameters={
        "mass": Parameter("kg", "mass of the bob", (), "positive"),
        "length": Parameter("m", "length of the rod", (), "positive"),
        "g": Parameter("m s-2", "acceleration of gravity"),
        "drag": Parameter("kg m-1", "c of the air", (), "non-negative"),
        "wind": Parameter("m s-1", "largest speed of the wind"),
        "rate": Parameter("rad s-1", "angular frequency of the gusts"),
    },
    build=build, mass=lambda p: np.array([p["mass"]*p["length"]**2]),
    conserved_momentum=lambda p: (False, False, False),
    presets={"default": Preset("swings", "none", "own", {"mass": 1.0, "length": 1.0, "g": 9.81, "drag": 0.2, "wind": 3.0,
                                                         "rate": 1.5}, start, 4.0)})
