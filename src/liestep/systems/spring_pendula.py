"""Spherical pendula on fixed pivots, pairs of them joined by linear springs at the centres of their links
(twospheres2009, example 3).

q_i is the direction from pivot i to mass i. T = 1/2 sum m_i l_i^2 |dq_i/dt|^2,
V = -sum m_i l_i gravity.q_i + sum_springs k/2 (|x| - |r|)^2, x = r + (l_j q_j - l_i q_i)/2, r from pivot i to pivot j.
A component of J = sum m_i l_i^2 omega_i is conserved only if gravity and all pivot differences point along its axis.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.geometry.rows import add, add_to, axpy, dot, put, row, scale, sqrt, sub
from liestep.systems._symmetry import invariant_axes
from liestep.systems.sheet import InputError, Parameter, Preset, SphereSheet


class SpringPendula(NamedTuple):
    """G_i = -m_i l_i gravity -+ (l_i/2) F with the spring force F = k (|x| - |r|) x/|x|.

    Where a stretched spring shrinks to a point (x = 0, r != 0) the gradient does not exist: NaN.
    """

    weight: Any     # (n, 3) -m_i l_i gravity
    half: Any       # (n,) distance from pivot to spring
    stiffness: Any  # (m,)
    first: Any      # (m,) pendulum i
    second: Any     # (m,) pendulum j
    offset: Any     # (m, 3) r, from pivot i to pivot j
    rest: Any       # (m,) |r|

    def spring(self, q, k):
        """Vector x between the ends of spring k."""
        i, j = self.first[k], self.second[k]
        return add(row(self.offset, k), sub(scale(self.half[j], row(q, j)), scale(self.half[i], row(q, i))))

    def potential(self, q):
        value = 0.0
        for i in range(q.shape[0]):
            value += dot(row(self.weight, i), row(q, i))
        for k in range(self.rest.shape[0]):
            x = self.spring(q, k)
            stretch = sqrt(dot(x, x)) - self.rest[k]
            value += 0.5*self.stiffness[k]*stretch*stretch
        return value

    def gradient(self, q, out):
        for i in range(q.shape[0]):
            put(out, i, row(self.weight, i))
        for k in range(self.rest.shape[0]):
            i, j = self.first[k], self.second[k]
            x = self.spring(q, k)
            f = self.stiffness[k]
            if self.rest[k] > 0.0:
                f *= 1.0 - self.rest[k]/sqrt(dot(x, x))
            add_to(out, i, scale(-f*self.half[i], x))
            put(out, j, axpy(f*self.half[j], x, row(out, j)))


def _check(parameters: dict) -> None:
    n = len(parameters["mass"])
    for i, j in parameters["pairs"]:
        if i >= n or j >= n or i == j:
            raise InputError(f"parameter pairs contains ({i}, {j}); a spring joins two different pendula with numbers from 0 to {n - 1}")


def _offsets(parameters: dict) -> np.ndarray:
    pairs, pivots = parameters["pairs"], parameters["pivots"]
    return pivots[pairs[:, 1]] - pivots[pairs[:, 0]]


def _build(parameters: dict) -> SpringPendula:
    mass, length, pairs = parameters["mass"], parameters["length"], parameters["pairs"]
    offset = np.ascontiguousarray(_offsets(parameters))
    rest = np.sqrt(offset[:, 0]*offset[:, 0] + offset[:, 1]*offset[:, 1] + offset[:, 2]*offset[:, 2])
    return SpringPendula(-(mass*length)[:, None]*parameters["gravity"], 0.5*length, parameters["stiffness"],
                         np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]), offset, rest)


def _conserved(parameters: dict) -> tuple[bool, bool, bool]:
    active = _offsets(parameters)[parameters["stiffness"] > 0.0]
    return invariant_axes([parameters["gravity"], *active])


def _start(parameters: dict) -> dict[str, np.ndarray]:
    """All links along e3 and at rest, except the printed ones: the third is tilted by 30 degrees in the direction
    (cos 20, sin 20, 0) degrees (printed as 0.4698, 0.1710, 0.8660), the first turns with (-10, 4, 0) rad/s."""
    n = len(parameters["mass"])
    angle = np.radians(20.0)
    q, omega = np.tile([0.0, 0.0, 1.0], (n, 1)), np.zeros((n, 3))
    q[2 % n] = (np.cos(angle)/2.0, np.sin(angle)/2.0, 3.0**0.5/2.0)
    omega[0] = (-10.0, 4.0, 0.0)
    return {"q": q, "omega": omega}
