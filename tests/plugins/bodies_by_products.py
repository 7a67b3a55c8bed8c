"""Three bodies on the sphere with V = -gamma c/sqrt(1 - c^2), c = q_i.q_j: the cotangent potential of `sphere_nbody`,
continued in another way to points off the spheres."""
from typing import NamedTuple

import numpy as np

from liestep.extend import Parameter, Preset, add_to, axpy, dot, put, row, scale, spheres, sqrt


class ByProducts(NamedTuple):
    """V = -gamma sum_{i<j} c/sqrt(1 - c^2), G_i = -gamma sum_j q_j (1 - c^2)^(-3/2)."""

    gamma: float

    def potential(self, q):
        value = 0.0
        for i in range(q.shape[0]):
            for j in range(i + 1, q.shape[0]):
                c = dot(row(q, i), row(q, j))
                value -= self.gamma*c/sqrt(1.0 - c*c)
        return value

    def gradient(self, q, out):
        for i in range(q.shape[0]):
            put(out, i, (0.0, 0.0, 0.0))
        for i in range(q.shape[0]):
            total = row(out, i)
            for j in range(i + 1, q.shape[0]):
                c = dot(row(q, i), row(q, j))
                s = 1.0 - c*c
                f = -self.gamma/(s*sqrt(s))
                total = axpy(f, row(q, j), total)
                add_to(out, j, scale(f, row(q, i)))
            put(out, i, total)


def start(parameters):
    return {"q": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]),
            "omega": np.array([[0.0, 0.0, -1.1], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])}


SHEET = spheres(
    title="Point masses on the sphere, potential of the products",
    equations="m_i domega_i/dt = gamma q_i x sum_j q_j (1 - (q_i.q_j)^2)^(-3/2); dq_i/dt = omega_i x q_i",
    citation="twospheres2009 eq. (33), example 2",
    parameters={"mass": Parameter("kg", "masses of the bodies", ("n",), "positive"),
                "gamma": Parameter("J", "strength of the potential", (), "finite")},
    build=lambda p: ByProducts(p["gamma"]),
    mass=lambda p: p["mass"],
    conserved_momentum=lambda p: (True, True, True),
    symmetries=(),
    presets={"paper": Preset("as sphere_nbody", "twospheres2009 example 2", "own",
                             {"mass": [1.0, 1.0, 1.0], "gamma": 1.0}, start, 10.0)})
