"""A double pendulum with drag on both bobs and a pivot that shakes, as forces beside the potential.

Masses m_k at x_k = sum_{i<=k} l_i q_i. A force f_k on mass k is F_i = l_i sum_{k>=i} f_k, conjugate to dq_i/dt. Drag:
f_k = -c dx_k/dt. In the frame of a pivot at a sin(w t) e_1: f_k = m_k a w^2 sin(w t) e_1.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Parameter, Preset, add, copy, cross, dot, put, row, scale, sin, spheres


class DampedPendulum(NamedTuple):
    """V = sum_i weight_i.q_i with forces of time and velocity."""

    weight: Any   # (2, 3) -l_i sum_{k>=i} m_k gravity
    length: Any   # (2,)
    mass: Any     # (2,)
    drag: Any     # c
    shake: Any    # a
    rate: Any     # w

    def potential(self, q):
        return dot(row(self.weight, 0), row(q, 0)) + dot(row(self.weight, 1), row(q, 1))

    def gradient(self, q, out):
        copy(self.weight, out)

    def force(self, t, q, omega, out):
        """F_i in J, rows (2, 3); omega (2, 3) in rad/s. All rows are written, q and omega are left alone."""
        one = scale(self.length[0], cross(row(omega, 0), row(q, 0)))
        two = add(one, scale(self.length[1], cross(row(omega, 1), row(q, 1))))
        push = self.shake*self.rate*self.rate*sin(self.rate*t)
        first = add(scale(-self.drag, one), (self.mass[0]*push, 0.0, 0.0))
        second = add(scale(-self.drag, two), (self.mass[1]*push, 0.0, 0.0))
        put(out, 0, scale(self.length[0], add(first, second)))
        put(out, 1, scale(self.length[1], second))


def mass_matrix(p):
    m, length = p["mass"], p["length"]
    return np.array([[m.sum()*length[0]**2, m[1]*length[0]*length[1]], [m[1]*length[0]*length[1], m[1]*length[1]**2]])


def build(p):
    carried = np.array([p["mass"].sum(), p["mass"][1]])
    weight = (carried*p["length"])[:, None]*np.array([0.0, 0.0, p["g"]])
    return DampedPendulum(weight, p["length"], p["mass"], p["drag"], p["shake"], p["rate"])


def start(p):
    return {"q": np.array([[0.6, 0.0, -0.8], [0.0, 0.8, -0.6]]), "omega": np.array([[0.8, 1.0, 0.6], [1.0, 0.6, 0.8]])}


VALUES = {"mass": [1.0, 0.5], "length": [1.0, 0.8], "g": 9.81, "drag": 0.3, "shake": 0.05, "rate": 4.0}

SHEET = spheres(
    title="Double pendulum with drag on a shaking pivot",
    equations="M dv/dt = -G + F + lambda q, F_i = l_i sum_{k>=i} (m_k a w^2 sin(w t) e1 - c dx_k/dt); dq/dt = v",
    citation="own example",
    parameters={
        "mass": Parameter("kg", "masses of the bobs", (2,), "positive"),
        "length": Parameter("m", "lengths of the links", (2,), "positive"),
        "g": Parameter("m s-2", "acceleration of gravity, along -e3"),
        "drag": Parameter("kg s-1", "drag coefficient c of each bob", (), "non-negative"),
        "shake": Parameter("m", "amplitude a of the pivot"),
        "rate": Parameter("rad s-1", "angular frequency w of the pivot", (), "non-negative"),
    },
    build=build,
    mass=mass_matrix,
    conserved_momentum=lambda p: (False, False, p["drag"] == 0.0 and p["shake"]*p["rate"] == 0.0),
    presets={"default": Preset("both", "none", "own", VALUES, start, 4.0),
             "free": Preset("no drag, pivot at rest", "none", "own", VALUES | {"drag": 0.0, "shake": 0.0}, start, 4.0)},
)
