"""Spherical pendula on fixed pivots, pairs of them joined by linear springs at the centres of their links
(twospheres2009, example 3).

q_i is the direction from pivot i to mass i. T = 1/2 sum m_i l_i^2 |dq_i/dt|^2,
V = -sum m_i l_i gravity.q_i + sum_springs k/2 (|x| - |r|)^2, x = r + (l_j q_j - l_i q_i)/2, r from pivot i to pivot j.
A component of J = sum m_i l_i^2 omega_i is conserved only if gravity and all pivot differences point along its axis.
"""
import math
from typing import NamedTuple

import numpy as np

from liestep.extend import (
    InputError,
    Parameter,
    Parameters,
    Preset,
    Vector,
    add,
    add_to,
    dot,
    invariant_axes,
    put,
    row,
    scale,
    spheres,
    sqrt,
    sub,
)


class SpringPendula(NamedTuple):
    """G_i = -m_i l_i gravity -+ (l_i/2) F with the spring force F = k (|x| - |r|) x/|x|.

    Where a stretched spring shrinks to a point (x = 0, r != 0) the gradient does not exist: NaN.
    """

    weight: np.ndarray     # (n, 3) -m_i l_i gravity
    half: np.ndarray       # (n,) distance from pivot to spring
    stiffness: np.ndarray  # (m,)
    first: np.ndarray      # (m,) pendulum i
    second: np.ndarray     # (m,) pendulum j
    offset: np.ndarray     # (m, 3) r, from pivot i to pivot j
    rest: np.ndarray       # (m,) |r|

    def spring(self, q: np.ndarray, k: int) -> Vector:
        """Vector x between the ends of spring k."""
        i, j = self.first[k], self.second[k]
        return add(row(self.offset, k), sub(scale(self.half[j], row(q, j)), scale(self.half[i], row(q, i))))

    def potential(self, q: np.ndarray) -> float:
        value = 0.0
        for i in range(q.shape[0]):
            value += dot(row(self.weight, i), row(q, i))
        for k in range(self.rest.shape[0]):
            x = self.spring(q, k)
            stretch = sqrt(dot(x, x)) - self.rest[k]
            value += 0.5*self.stiffness[k]*stretch*stretch
        return value

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        for i in range(q.shape[0]):
            put(out, i, row(self.weight, i))
        for k in range(self.rest.shape[0]):
            i, j = self.first[k], self.second[k]
            x = self.spring(q, k)
            f = self.stiffness[k]
            if self.rest[k] > 0.0:
                f *= 1.0 - self.rest[k]/sqrt(dot(x, x))
            add_to(out, i, scale(-f*self.half[i], x))
            add_to(out, j, scale(f*self.half[j], x))


def _check(parameters: Parameters) -> None:
    n = len(parameters["mass"])
    for i, j in parameters["pairs"]:
        if i >= n or j >= n or i == j:
            raise InputError(f"parameter pairs contains ({i}, {j}); a spring joins two different pendula with numbers"
                             f" from 0 to {n - 1}")


def _offsets(parameters: Parameters) -> np.ndarray:
    pairs, pivots = parameters["pairs"], parameters["pivots"]
    return pivots[pairs[:, 1]] - pivots[pairs[:, 0]]


def _build(parameters: Parameters) -> SpringPendula:
    mass, length, pairs = parameters["mass"], parameters["length"], parameters["pairs"]
    offset = np.ascontiguousarray(_offsets(parameters))
    rest = np.sqrt(offset[:, 0]*offset[:, 0] + offset[:, 1]*offset[:, 1] + offset[:, 2]*offset[:, 2])
    return SpringPendula(-(mass*length)[:, None]*parameters["gravity"], 0.5*length, parameters["stiffness"],
                         np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]), offset, rest)


def _conserved(parameters: Parameters) -> tuple[bool, bool, bool]:
    return invariant_axes([parameters["gravity"], *_offsets(parameters)[parameters["stiffness"] > 0.0]])


def _column_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """Links tilted by 30 degrees, evenly around the vertical; every second one turns about it with 8 rad/s."""
    n = len(parameters["mass"])
    q, omega = np.zeros((n, 3)), np.zeros((n, 3))
    c, s = 3.0**0.5/2.0, 0.5
    for i in range(n):
        x, y = math.cos(2.0*math.pi*i/n), math.sin(2.0*math.pi*i/n)
        q[i] = (s*x, s*y, c)
        if i % 2 == 0:
            omega[i] = (-8.0*c*s*x, -8.0*c*s*y, 8.0*s*s)  # 8 e3 without its part along q
    return {"q": q, "omega": omega}


SHEET = spheres(
    title="Spherical pendula connected by springs",
    equations="m_i l_i^2 domega_i/dt = -q_i x G_i, G_i = -m_i l_i gravity -+ (l_i/2) k (1 - |r|/|x|) x; dq_i/dt"
    " = omega_i x q_i",
    citation="twospheres2009 eqs. (34)-(35), example 3",
    parameters={
        "mass": Parameter("kg", "masses of the pendula", ("n",), "positive"),
        "length": Parameter("m", "lengths of the massless links", ("n",), "positive"),
        "gravity": Parameter("m s-2", "acceleration vector of gravity", (3,), "finite"),
        "stiffness": Parameter("N m-1", "spring constants", ("m",), "non-negative"),
        "pairs": Parameter("1", "numbers of the two pendula that each spring joins, from zero", ("m", 2), "index"),
        "pivots": Parameter("m", "positions of the pivots", ("n", 3), "finite"),
    },
    combination=_check,
    build=_build,
    mass=lambda p: p["mass"]*p["length"]*p["length"],
    conserved_momentum=_conserved,
    default_preset="paper",
    motion="springs",
    symmetries=("gravity", "pivots"),
    presets={
        "column": Preset("three pendula on one vertical line, turning about it: J.e3 is conserved", "none", "own",
                         {"mass": [0.1]*3, "length": [0.1]*3, "gravity": [0.0, 0.0, 9.81], "stiffness": [10.0, 20.0],
                          "pairs": [[0, 1], [1, 2]], "pivots": [[0.0, 0.0, 0.2*i] for i in range(3)]}, _column_start,
                         30.0),
    },
)
