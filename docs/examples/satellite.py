"""A satellite under the gradient of gravity, with a drag against its rotation; the turning of the orbit is left out.

T = 1/2 Pi.J^-1 Pi, V = 3/2 k e.J e with e = Q^T e3 the direction of the Earth in the body; the torque of V is Q (3 k e x
J e). Applied torque: -c omega.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    Parameter,
    Preset,
    add,
    cross,
    dot,
    fixed_body,
    orthogonality_error,
    row,
    scale,
    to_body,
    to_space,
)


class Satellite(NamedTuple):
    """Rows of q: the axes of the body in space; of y: those, then the spatial angular momentum."""

    inertia: Any  # (3,)
    rate: Any     # k
    drag: Any     # c

    def down(self, q):
        return to_body(q, (0.0, 0.0, 1.0))

    def times_inertia(self, u):
        return self.inertia[0]*u[0], self.inertia[1]*u[1], self.inertia[2]*u[2]

    def body_torque(self, q):
        """Optional, for the form `quaternion`: the torque in the body's axes."""
        e = self.down(q)
        return scale(3.0*self.rate, cross(e, self.times_inertia(e)))

    def torque(self, q):
        return to_space(q, self.body_torque(q))

    def torque_slope(self, q, u):
        """Derivative of the torque when the body turns by u: e turns by -Q^T u in the body."""
        e, turn = self.down(q), to_body(q, u)
        change = cross(e, turn)
        bent = add(cross(change, self.times_inertia(e)), cross(e, self.times_inertia(change)))
        carried = cross(turn, cross(e, self.times_inertia(e)))
        return to_space(q, scale(3.0*self.rate, add(bent, carried)))

    def applied(self, t, q, omega):
        """Spatial torque of time, attitude and spatial angular velocity."""
        return scale(-self.drag, omega)

    def body_applied(self, t, q, rate):
        """Optional, as `body_torque`: the same in the body's axes, from the angular velocity there."""
        return scale(-self.drag, rate)

    def observe(self, y, out):
        p, e = to_body(y, row(y, 3)), self.down(y)
        kinetic = 0.5*(p[0]*p[0]/self.inertia[0] + p[1]*p[1]/self.inertia[1] + p[2]*p[2]/self.inertia[2])
        out[0] = kinetic + 1.5*self.rate*dot(e, self.times_inertia(e))
        out[1], out[2], out[3] = row(y, 3)
        out[4] = orthogonality_error(y)


def start(p):
    return {"attitude": np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]) @ TILT,
            "angular_momentum": np.array([0.5, -0.4, 0.9])}


TILT = np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8]])
VALUES = {"inertia": [1.5, 1.0, 0.7], "rate": 1.0, "drag": 0.2}

SHEET = fixed_body(
    title="Satellite with gravity gradient and drag",
    equations="dQ/dt = hat(w) Q, dpi/dt = Q (3 k e x J e) - c w, e = Q^T e3, w = Q J^-1 Q^T pi",
    citation="own example",
    parameters={
        "inertia": Parameter("kg m2", "principal moments of inertia J, along the body's axes", (3,), "moments"),
        "rate": Parameter("s-2", "k, the square of the orbit's angular velocity", (), "non-negative"),
        "drag": Parameter("N m s", "c of the torque against the rotation", (), "non-negative"),
    },
    build=lambda p: Satellite(p["inertia"], p["rate"], p["drag"]),
    conserved_momentum=lambda p: (False, False, p["drag"] == 0.0),
    invariants=lambda p, first: (),
    presets={"default": Preset("turns and slows down", "none", "own", VALUES, start, 4.0),
             "free": Preset("no drag", "none", "own", VALUES | {"drag": 0.0}, start, 4.0)},
)
