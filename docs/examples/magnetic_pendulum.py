"""A charged spherical pendulum in a vertical magnetic field: the force b v x e3 does no work.

T = 1/2 m l^2 |dq/dt|^2, V = m g l q_z, F = b l^2 dq/dt x e3. The momentum m l^2 q x dq/dt + b l^2 q (q.e3) about e3 is
conserved, not the one without the field.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Parameter, Preset, cross, put, row, scale, spheres


class MagneticPendulum(NamedTuple):
    """A weight and a field."""

    weight: Any   # m g l
    field: Any    # b l^2

    def potential(self, q):
        return self.weight*q[0, 2]

    def gradient(self, q, out):
        put(out, 0, (0.0, 0.0, self.weight))

    def force(self, t, q, omega, out):
        """F (1, 3) in J, at right angles to dq/dt = omega x q."""
        velocity = cross(row(omega, 0), row(q, 0))
        put(out, 0, scale(self.field, cross(velocity, (0.0, 0.0, 1.0))))


def start(p):
    return {"q": np.array([[0.6, 0.0, -0.8]]), "omega": np.array([[0.8, 1.5, 0.6]])}


SHEET = spheres(
    title="Charged spherical pendulum in a magnetic field",
    equations="m l^2 d^2q/dt^2 = -m g l e3 + b l^2 dq/dt x e3 + lambda q",
    citation="own example",
    parameters={
        "mass": Parameter("kg", "mass of the bob", (), "positive"),
        "length": Parameter("m", "length of the rod", (), "positive"),
        "g": Parameter("m s-2", "acceleration of gravity, along -e3"),
        "field": Parameter("kg s-1", "charge times magnetic field b"),
    },
    build=lambda p: MagneticPendulum(p["mass"]*p["g"]*p["length"], p["field"]*p["length"]**2),
    mass=lambda p: np.array([p["mass"]*p["length"]**2]),
    conserved_momentum=lambda p: (False, False, p["field"] == 0.0),
    presets={"default": Preset("field of 2 kg/s", "none", "own", {"mass": 1.0, "length": 1.0, "g": 9.81, "field": 2.0},
                               start, 4.0),
             "free": Preset("no field", "none", "own", {"mass": 1.0, "length": 1.0, "g": 9.81, "field": 0.0},
                            start, 4.0)},
)
