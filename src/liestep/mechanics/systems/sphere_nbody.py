"""Point masses on the unit sphere with the cotangent potential (Kozlov and Harin 1992; twospheres2009, example 2).

T = 1/2 sum m_i |dq_i/dt|^2, V = -gamma sum_{i<j} cot(theta_ij), cos(theta_ij) = q_i.q_j.
Attractive singularity where two bodies meet, repulsive one at antipodes. All components of J = sum
m_i omega_i are conserved.
"""
from itertools import combinations
from typing import NamedTuple

import numpy as np

from liestep.extend import (
    MANIFOLD_TOLERANCE,
    InputError,
    Parameter,
    Parameters,
    State,
    Trial,
    add,
    add_to,
    borrows,
    dot,
    own,
    put,
    row,
    scale,
    spheres,
    sqrt,
    sub,
)


class SphereNBody(NamedTuple):
    """V = -(gamma/2) sum_{i<j} (|p|/|d| - |d|/|p|), d = q_j - q_i, p = q_i + q_j: cot(theta) by the half angle,
    tan(theta/2) = |d|/|p|.

    No digits are lost at any angle: 1 - c^2 with c = q_i.q_j cancels where two bodies meet or are antipodes, and
    |q_i x q_j|^2 loses some there. Off the spheres V is this function of R^3 too; scaling all q changes nothing.
    `PrintedNBody` has the same torques on the spheres and others off them.
    """

    gamma: float

    def potential(self, q: np.ndarray) -> float:
        value = 0.0
        for i in range(q.shape[0]):
            qi = row(q, i)
            for j in range(i + 1, q.shape[0]):
                qj = row(q, j)
                d, p = sub(qj, qi), add(qi, qj)
                u, w = dot(d, d), dot(p, p)
                value -= self.gamma*2.0*dot(qi, qj)/sqrt(u*w)
        return value

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        """G_i = -(gamma/2) sum_j (u + w)/(u w)^(3/2) (w d + u p), u = |d|^2, w = |p|^2; d changes sign for G_j."""
        for i in range(q.shape[0]):
            put(out, i, (0.0, 0.0, 0.0))
        for i in range(q.shape[0]):
            qi = row(q, i)
            total = row(out, i)
            for j in range(i + 1, q.shape[0]):
                qj = row(q, j)
                d, p = sub(qj, qi), add(qi, qj)
                u, w = dot(d, d), dot(p, p)
                s = u*w
                f = -0.5*self.gamma*(u + w)/(s*sqrt(s))
                apart, common = scale(f*w, d), scale(f*u, p)
                total = add(total, add(apart, common))
                add_to(out, j, sub(common, apart))
            put(out, i, total)


@borrows(SphereNBody)  # potential
class PrintedNBody(NamedTuple):
    """The same bodies with the equations as printed, also off the spheres: twospheres2009 eq. (33), whose plain
    derivative is f q_j, f = -gamma (1 - (q_i.q_j)^2)^(-3/2). It is the gradient of no potential there, and loses digits
    where bodies are close."""

    gamma: float

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        for i in range(q.shape[0]):
            qi, total = row(q, i), (0.0, 0.0, 0.0)
            for j in range(q.shape[0]):
                if j != i:
                    qj = row(q, j)
                    c = dot(qi, qj)
                    s = 1.0 - c*c
                    total = add(total, scale(-self.gamma/(s*sqrt(s)), qj))
            put(out, i, total)


def _four_start(parameters: Parameters) -> dict[str, np.ndarray]:
    return {"q": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-0.6, -0.8, 0.0]]),
            "omega": np.array([[0.0, 0.96, -0.52], [0.17, 0.0, 0.7], [0.96, -0.17, 0.0], [-0.04, 0.03, 1.22]])}


def _check_apart(parameters: Parameters, state: State) -> None:
    """Raises InputError for two bodies at one point or at antipodes, where there is no force."""
    q = state["q"]
    for i, j in combinations(range(len(q)), 2) if parameters["gamma"] != 0.0 else ():
        for sign, place in ((1.0, "at one point"), (-1.0, "at antipodes")):
            if np.linalg.norm(q[i] - sign*q[j]) <= MANIFOLD_TOLERANCE:
                raise InputError(f"initial q: bodies {i} and {j} are {place}, where the potential is infinite; allowed"
                                 f" is any other place, more than {MANIFOLD_TOLERANCE:g} away")


SHEET = spheres(
    title="Point masses on the sphere",
    equations="m_i domega_i/dt = gamma q_i x sum_j q_j (1 - (q_i.q_j)^2)^(-3/2); dq_i/dt = omega_i x q_i."
              " Off the spheres, where stages and steps of methods in R^3 lie, these are the equations of option"
              " extension: printed; by default the torque there is -q_i x dV/dq_i of V = -(gamma/2) sum_(i<j) (|p|/|d|"
              " - |d|/|p|), d = q_j - q_i, p = q_i + q_j",
    citation="twospheres2009 eq. (33), example 2",
    parameters={
        "mass": Parameter("kg", "masses of the bodies", ("n",), "positive"),
        "gamma": Parameter("J", "strength of the potential", (), "finite"),
    },
    build=lambda p: SphereNBody(p["gamma"]),
    printed=lambda p: PrintedNBody(p["gamma"]),
    mass=lambda p: p["mass"],
    conserved_momentum=lambda p: (True, True, True),
    start=_check_apart,
    default_preset="paper",
    shown=1,
    trials=(Trial("three bodies on the sphere", "paper", place=2),
            Trial("four bodies on the sphere", "four_bodies", use="further"),
            Trial("three bodies on the sphere, other masses", "paper", {"mass": [0.5, 1.25, 2.0]}, use="further")),
    symmetries=(),
    presets={
        "four_bodies": own(
            "four bodies without close encounter: pairs stay between 17.8 and 163.5 degrees up to t_end",
            {"mass": [1.0, 1.0, 1.0, 1.0], "gamma": 0.2}, _four_start, 10.0),
    },
)
