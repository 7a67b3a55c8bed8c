"""Point masses on the unit sphere with the cotangent potential (Kozlov and Harin 1992; twospheres2009, example 2).

T = 1/2 sum m_i |dq_i/dt|^2, V = -gamma sum_{i<j} cot(theta_ij), cos(theta_ij) = q_i.q_j.
Attractive singularity where two bodies meet, repulsive one at antipodes. All components of J = sum
m_i omega_i are conserved.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.contracts.parameters import Parameter, Preset
from liestep.core.rows import add_to, axpy, dot, put, row, scale, sqrt
from liestep.formulations.spheres.family import spheres


class SphereNBody(NamedTuple):
    """V = -gamma sum_{i<j} c/sqrt(1 - c^2), c = q_i.q_j; G_i = -gamma sum_j q_j (1 - c^2)^(-3/2)."""

    gamma: Any

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
            qi = row(q, i)
            total = row(out, i)
            for j in range(i + 1, q.shape[0]):
                qj = row(q, j)
                c = dot(qi, qj)
                s = 1.0 - c*c
                f = -self.gamma/(s*sqrt(s))
                total = axpy(f, qj, total)
                add_to(out, j, scale(f, qi))
            put(out, i, total)


def _start(parameters: dict) -> dict[str, np.ndarray]:
    return {"q": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]),
            "omega": np.array([[0.0, 0.0, -1.1], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])}


def _four_start(parameters: dict) -> dict[str, np.ndarray]:
    return {"q": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-0.6, -0.8, 0.0]]),
            "omega": np.array([[0.0, 0.96, -0.52], [0.17, 0.0, 0.7], [0.96, -0.17, 0.0], [-0.04, 0.03, 1.22]])}


SHEET = spheres(
    title="Point masses on the sphere",
    equations="m_i domega_i/dt = gamma q_i x sum_j q_j (1 - (q_i.q_j)^2)^(-3/2); dq_i/dt = omega_i x q_i",
    citation="twospheres2009 eq. (33), example 2",
    parameters={
        "mass": Parameter("kg", "masses of the bodies", ("n",), "positive"),
        "gamma": Parameter("J", "strength of the potential", (), "finite"),
    },
    build=lambda p: SphereNBody(p["gamma"]),
    mass=lambda p: p["mass"],
    conserved_momentum=lambda p: (True, True, True),
    symmetries=(),
    presets={
        "paper": Preset("three bodies; closest pair 11.689 degrees at t = 3.576", "twospheres2009, example 2",
                        "printed", {"mass": [1.0, 1.0, 1.0], "gamma": 1.0}, _start, 10.0),
        "four_bodies": Preset("four bodies without close encounter: pairs stay between 17.8 and 163.5 degrees up to"
                              " t_end", "none", "own", {"mass": [1.0, 1.0, 1.0, 1.0], "gamma": 0.2}, _four_start, 10.0),
    },
)
