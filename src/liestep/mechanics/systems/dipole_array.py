"""Magnetic dipoles on frictionless pivots at fixed places (twospheres2009, example 5).

T = 1/2 sum (m l^2/12) |dq_i/dt|^2, V = sum_{i<j} C/r^3 (q_i.q_j - 3 (q_i.r)(q_j.r)/r^2), r from pivot i to pivot j, C =
permeability moment^2/(4 pi). The pivots are fixed: a component of J = sum (m l^2/12) omega_i is conserved only if all
of them lie on one line along its axis.
"""
from typing import NamedTuple

import numpy as np

from liestep.extend import InputError, Parameter, Parameters, Preset, invariant_axes, spheres


class DipoleArray(NamedTuple):
    """G_i = sum_j C/r^3 (q_j - 3 r (q_j.r)/r^2), linear in q: G = A q with a constant symmetric matrix, V = q.G/2."""

    coupling: np.ndarray  # (3n, 3n), symmetric
    field: np.ndarray     # (3n,) scratch

    def apply(self, q: np.ndarray) -> None:
        """field = coupling q, column by column: no sum across lanes, so the compiler vectorises without reordering."""
        size = self.field.shape[0]
        for k in range(size):
            self.field[k] = 0.0
        for i in range(q.shape[0]):
            for c in range(3):
                s = q[i, c]
                for k in range(size):
                    self.field[k] += s*self.coupling[3*i + c, k]

    def potential(self, q: np.ndarray) -> float:
        self.apply(q)
        value = 0.0
        for i in range(q.shape[0]):
            for c in range(3):
                value += q[i, c]*self.field[3*i + c]
        return 0.5*value

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        self.apply(q)
        for i in range(q.shape[0]):
            for c in range(3):
                out[i, c] = self.field[3*i + c]


def _check(parameters: Parameters) -> None:
    positions = parameters["positions"]
    for i in range(len(positions)):
        for j in range(i):
            if np.array_equal(positions[i], positions[j]):
                raise InputError(f"parameter positions puts dipoles {j} and {i} at the same place")


def _build(parameters: Parameters) -> DipoleArray:
    positions = parameters["positions"]
    n = len(positions)
    strength = parameters["permeability"]/(4.0*np.pi)*parameters["moment"]*parameters["moment"]
    r = positions - positions[:, None, :]
    # + 1 only spares the division by zero
    square = r[..., 0]*r[..., 0] + r[..., 1]*r[..., 1] + r[..., 2]*r[..., 2] + np.eye(n)
    scale = strength*(1.0 - np.eye(n))/(square*np.sqrt(square))
    blocks = scale[..., None, None]*(np.eye(3) - 3.0*r[..., :, None]*r[..., None, :]/square[..., None, None])
    coupling = np.ascontiguousarray(blocks.transpose(0, 2, 1, 3))
    return DipoleArray(coupling.reshape(3*n, 3*n), np.zeros(3*n))


def _mass(parameters: Parameters) -> np.ndarray:
    return np.full(len(parameters["positions"]), parameters["mass"]*parameters["length"]*parameters["length"]/12.0)


def printed_start(parameters: Parameters) -> dict[str, np.ndarray]:
    """All dipoles along e1 and at rest, except the printed ones: the last direction (0.3536 is sqrt(2)/4, 0.8660 is
    sqrt(3)/2) and the first angular velocity."""
    n = len(parameters["positions"])
    q, omega = np.tile([1.0, 0.0, 0.0], (n, 1)), np.zeros((n, 3))
    q[n - 1] = (2.0**0.5/4.0, 2.0**0.5/4.0, -(3.0**0.5)/2.0)
    omega[0] = (0.0, 0.5, 0.0)
    return {"q": q, "omega": omega}


SHEET = spheres(
    title="Array of magnetic dipoles",
    equations="(m l^2/12) domega_i/dt = -q_i x sum_j C/r^3 (q_j - 3 r (q_j.r)/r^2), C = permeability moment^2/(4 pi);"
    " dq_i/dt = omega_i x q_i",
    citation="twospheres2009 eqs. (37)-(38), example 5",
    parameters={
        "mass": Parameter("kg", "mass of each magnet", (), "positive"),
        "length": Parameter("m", "length of each magnet", (), "positive"),
        "moment": Parameter("A m2", "magnetic moment of each magnet", (), "positive"),
        "positions": Parameter("m", "places of the pivots", ("n", 3), "finite"),
        "permeability": Parameter("N A-2", "permeability constant", (), "positive"),
    },
    combination=_check,
    build=_build,
    mass=_mass,
    conserved_momentum=lambda p: invariant_axes(p["positions"] - p["positions"][0]),
    default_preset="paper",
    motion="dipoles",
    symmetries=("positions",),
    presets={
        "line": Preset("eight dipoles on a line along e1: J.e1 is conserved", "none", "own",
                       {"mass": 0.05, "length": 0.02, "moment": 0.1, "permeability": 4e-7*np.pi,
                        "positions": [[0.024*k, 0.0, 0.0] for k in range(8)]}, printed_start, 10.0),
    },
)
