"""A magnetic dipole in a uniform field: T = 1/2 inertia |dq/dt|^2, V = -moment field.q."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Parameter, Preset, dot, put, row, scale, spheres


class DipoleInField(NamedTuple):
    """V = -strength.q, G = -strength."""

    strength: Any  # (1, 3) moment times field

    def potential(self, q):
        return -dot(row(self.strength, 0), row(q, 0))

    def gradient(self, q, out):
        put(out, 0, scale(-1.0, row(self.strength, 0)))


def start(parameters):
    return {"q": np.array([[1.0, 0.0, 0.0]]), "omega": np.array([[0.0, 0.0, 0.5]])}


SHEET = spheres(
    title="Dipole in a uniform field",
    equations="inertia domega/dt = moment q x field; dq/dt = omega x q",
    citation="none",
    parameters={
        "inertia": Parameter("kg m2", "moment of inertia", (), "positive"),
        "moment": Parameter("A m2", "magnetic moment", (), "positive"),
        "field": Parameter("T", "magnetic field", (3,)),
    },
    build=lambda p: DipoleInField((p["moment"]*p["field"])[None, :]),
    mass=lambda p: np.array([p["inertia"]]),
    conserved_momentum=lambda p: tuple(bool(np.all(np.delete(p["field"], axis) == 0.0)) for axis in range(3)),
    presets={"unit": Preset("unit inertia and moment, field along e3", "none", "own",
                            {"inertia": 1.0, "moment": 1.0, "field": [0.0, 0.0, 1.0]}, start, 10.0)})
