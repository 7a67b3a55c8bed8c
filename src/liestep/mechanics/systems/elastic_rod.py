"""Elastic rod of rigid elements joined by rotational springs, element 0 clamped along q_0 (twospheres2009, example 4).

q_i is the direction of element i = 1..n; every element, the clamped one included, has mass m/(n+1) and length l/(n+1).
T = 1/2 sum_ij M_ij dq_i/dt.dq_j/dt,
V = sum_i [-m_i gravity.(sum_{j<i} l_j q_j + l_i q_i/2) + k/2 (1 - q_{i-1}.q_i)^2] (erratum 8: both terms under the
sum). The bending energy is quartic in the angle: a straight rod has no linear bending stiffness.
J along the clamp is conserved if gravity is zero or along it, nothing else.

Inertia (erratum 7), with m_i, l_i of one element: M_ii = m_i l_i^2 (n - i + 1/3) and, for i != j, k = max(i, j),
"consistent" M_ij = m_i l_i^2 (n - k + 1/2): the kinetic energy of uniform rods;
"printed" M_ij = m_i l_i^2 (n - k + 1)/2: eq. (36), most likely what the paper's runs used; positive definite too.
"""
import math
from typing import NamedTuple

import numpy as np

from liestep.extend import (
    MANIFOLD_TOLERANCE,
    InputError,
    Parameter,
    Parameters,
    Trial,
    Vector,
    add_to,
    axpy,
    dot,
    invariant_axes,
    own,
    put,
    row,
    scale,
    spheres,
)


class ElasticRod(NamedTuple):
    """G_i = weight_i - k (1 - q_{i-1}.q_i) q_{i-1} - [i < n] k (1 - q_i.q_{i+1}) q_{i+1}."""

    weight: np.ndarray  # (n, 3) -m_i l_i (n - i + 1/2) gravity
    stiffness: float
    clamp: Vector       # q_0, tuple of three

    def potential(self, q: np.ndarray) -> float:
        value = 0.0
        previous = self.clamp
        for i in range(q.shape[0]):
            this = row(q, i)
            bend = 1.0 - dot(previous, this)
            value += dot(row(self.weight, i), this) + 0.5*self.stiffness*bend*bend
            previous = this
        return value

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        previous = self.clamp
        for i in range(q.shape[0]):
            this = row(q, i)
            f = -self.stiffness*(1.0 - dot(previous, this))
            put(out, i, axpy(f, previous, row(self.weight, i)))
            if i > 0:
                add_to(out, i - 1, scale(f, this))
            previous = this


def _check(parameters: Parameters) -> None:
    if parameters["elements"] < 1:
        raise InputError("parameter elements must be at least 1")
    clamp = parameters["clamp"]
    error = abs(1.0 - float(_dot(clamp, clamp)))
    if error > MANIFOLD_TOLERANCE:
        raise InputError(f"parameter clamp is not a unit vector: |1 - clamp.clamp| = {error:.3g}, allowed"
                         f" {MANIFOLD_TOLERANCE:g}")


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return a[0]*b[0] + a[1]*b[1] + a[2]*b[2]


def _element(parameters: Parameters) -> tuple[float, float]:
    """Mass and length of one element."""
    return parameters["mass"]/(parameters["elements"] + 1), parameters["length"]/(parameters["elements"] + 1)


def _build(parameters: Parameters) -> ElasticRod:
    mass, length = _element(parameters)
    outer = parameters["elements"] - np.arange(1, parameters["elements"] + 1) + 0.5
    weight = -(mass*length*outer)[:, None]*parameters["gravity"]
    x, y, z = (float(c) for c in parameters["clamp"])
    return ElasticRod(weight, parameters["stiffness"], (x, y, z))


def _mass(parameters: Parameters) -> np.ndarray:
    n = parameters["elements"]
    mass, length = _element(parameters)
    i = np.arange(1, n + 1)
    k = np.maximum(i[:, None], i)
    coupling = (n - k + 1.0)/2.0 if parameters["inertia"] == "printed" else n - k + 0.5
    matrix = mass*length*length*np.where(i[:, None] == i, n - i + 1.0/3.0, coupling)
    return matrix[0] if n == 1 else matrix


def frame(clamp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors that make a right-handed frame with the clamp; e2 and e3 for a clamp along e1."""
    e2, e3 = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    third = np.cross(clamp, e2 if abs(clamp[1]) < 0.9 else e3)
    for _ in range(2):  # the second pass removes the rounding of the first
        third = third - clamp*_dot(clamp, third)/_dot(clamp, clamp)
        third = third/_dot(third, third)**0.5
    return np.cross(third, clamp), third


def _turning(parameters: Parameters) -> dict[str, np.ndarray]:
    """A rod bent evenly by 0.5 rad from clamp to tip that turns about the clamp at 10 rad/s, hence has J along it."""
    n, clamp = parameters["elements"], parameters["clamp"]
    side = frame(clamp)[0]
    q, omega = np.zeros((n, 3)), np.zeros((n, 3))
    for i in range(n):
        c, s = math.cos(0.5*(i + 1)/n), math.sin(0.5*(i + 1)/n)
        q[i] = c*clamp + s*side
        omega[i] = 10.0*s*(s*clamp - c*side)  # 10 clamp without its part along q
    return {"q": q, "omega": omega}


OWN = {"elements": 10, "mass": 0.055, "length": 1.1, "stiffness": 1000.0, "gravity": [0.0, 0.0, 9.81],
       "clamp": [1.0, 0.0, 0.0], "inertia": "consistent"}

SHEET = spheres(
    title="Elastic rod",
    equations="M_ii domega_i/dt - sum_{j!=i} M_ij q_i x (q_j x domega_j/dt) = q_i x (sum_{j!=i} M_ij |omega_j|^2 q_j -"
    " G_i), V = sum_i [-m_i gravity.(sum_{j<i} l_j q_j + l_i q_i/2) + k/2 (1 - q_{i-1}.q_i)^2]; dq_i/dt"
    " = omega_i x q_i",
    citation="twospheres2009 eq. (36), example 4",
    parameters={
        "elements": Parameter("1", "number n of moving elements", (), "index"),
        "mass": Parameter("kg", "mass of the whole rod, the clamped element included", (), "positive"),
        "length": Parameter("m", "length of the whole rod, the clamped element included", (), "positive"),
        "stiffness": Parameter("J", "constant k of the rotational springs", (), "non-negative"),
        "gravity": Parameter("m s-2", "acceleration vector of gravity", (3,), "finite"),
        "clamp": Parameter("1", "unit vector along the clamped element", (3,), "finite"),
        "inertia": Parameter("1", "coupling of the kinetic energy, see erratum 7", (), "choice",
                             ("printed", "consistent")),
    },
    combination=_check,
    build=_build,
    mass=_mass,
    conserved_momentum=lambda p: invariant_axes([p["gravity"], p["clamp"] if p["stiffness"] > 0.0 else np.zeros(3)]),
    default_preset="paper",
    motion="rod",
    trials=(Trial("rod of three elements", "no_gravity", {"elements": 3, "stiffness": 1.0}, place=3),),
    symmetries=("gravity", "clamp"),
    presets={
        "no_gravity": own("consistent inertia, no gravity, turning about the clamp: J.e1 is conserved", OWN, _turning,
                          3.0, gravity=[0.0, 0.0, 0.0]),
        "clamp_vertical": own("consistent inertia, hanging from a vertical clamp, turning about it: J.e3 is conserved",
                              OWN, _turning, 3.0, clamp=[0.0, 0.0, 1.0]),
    },
)
