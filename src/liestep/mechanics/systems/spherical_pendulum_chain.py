"""Chain of spherical pendula: point masses joined by massless rigid links, the first one hung from a fixed pivot
(twospheres2009, example 1, there with two masses; liegroup2021 section 5.3 with gravity along -e3).

q_i is the direction of link i, away from the pivot; mass k sits at sum_{i<=k} l_i q_i. T = 1/2 sum_ij M_ij
dq_i/dt.dq_j/dt, M_ij = l_i l_j sum_{k>=max(i,j)} m_k, V = -sum_i (sum_{k>=i} m_k) l_i gravity.q_i.
J along gravity is conserved, all of J without gravity.
"""
from typing import NamedTuple

import numpy as np

from liestep.extend import (
    FAR,
    ChainMatrix,
    Parameter,
    Parameters,
    Preset,
    Trial,
    copy,
    dot,
    invariant_axes,
    row,
    spheres,
)


class SphericalPendulumChain(NamedTuple):
    """V = sum_i weight_i.q_i: the gradient is constant."""

    weight: np.ndarray  # (n, 3)

    def potential(self, q: np.ndarray) -> float:
        value = 0.0
        for i in range(q.shape[0]):
            value += dot(row(self.weight, i), row(q, i))
        return value

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        copy(self.weight, out)


def _build(parameters: Parameters) -> SphericalPendulumChain:
    weight = -(np.cumsum(parameters["mass"][::-1])[::-1]*parameters["length"])[:, None]*parameters["gravity"]
    return SphericalPendulumChain(weight.copy())


def _mass(parameters: Parameters) -> np.ndarray | ChainMatrix:
    matrix = ChainMatrix(parameters["mass"], parameters["length"])
    if len(matrix) == 1:
        return matrix.mass*matrix.length*matrix.length
    return matrix if len(matrix) > FAR else np.asarray(matrix)


def tilted_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """The first link as printed (0.8660 is sqrt(3)/2, 0.4330 is sqrt(3)/4); the others as the
    second one of the paper."""
    n = len(parameters["mass"])
    root = 3.0**0.5
    q, omega = np.tile([0.0, 0.0, 1.0], (n, 1)), np.tile([0.0, 1.0, 0.0], (n, 1))
    q[0], omega[0] = (root/2.0, 0.0, 0.5), (-root/4.0, 0.0, 0.75)
    return {"q": q, "omega": omega}


def _own(n: int, gravity: float, doc: str) -> Preset:
    parameters = {"mass": [1.0]*n, "length": [1.0]*n, "gravity": [0.0, 0.0, gravity]}
    return Preset(doc, "none; example 1 of twospheres2009 varied", "own", parameters, tilted_start, 100.0)


SHEET = spheres(
    title="Chain of spherical pendula",
    equations="M_ii domega_i/dt - sum_{j!=i} M_ij q_i x (q_j x domega_j/dt) = q_i x (sum_{j!=i} M_ij |omega_j|^2 q_j -"
    " G_i), G_i = -(sum_{k>=i} m_k) l_i gravity; dq_i/dt = omega_i x q_i",
    citation="twospheres2009 eqs. (31)-(32), example 1",
    parameters={
        "mass": Parameter("kg", "point masses at the ends of the links", ("n",), "positive"),
        "length": Parameter("m", "lengths of the massless links", ("n",), "positive"),
        "gravity": Parameter("m s-2", "acceleration vector of gravity", (3,), "finite"),
    },
    build=_build,
    mass=_mass,
    conserved_momentum=lambda p: invariant_axes([p["gravity"]]),
    default_preset="paper",
    motion="chain",
    shown=2,
    trials=(Trial("chain of two pendula", "orders", place=1),),
    symmetries=("gravity",),
    presets={
        "chain3": _own(3, 1.0, "three pendula"),
        "chain5": _own(5, 1.0, "five pendula"),
        "no_gravity": _own(2, 0.0, "double pendulum without gravity: all components of J are conserved"),
    },
)
