"""Kinetic energy and momentum map of a constant mass matrix (n, n), whatever solves for the accelerations.
Velocities are rows (n, 3)."""
from typing import Any

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, axpy, copy, cross, dot, put, row


@kernel
def conjugate(matrix: np.ndarray, v: np.ndarray, i: int) -> Vector:
    """sum_j M_ij v_j."""
    total = (0.0, 0.0, 0.0)
    for j in range(v.shape[0]):
        total = axpy(matrix[i, j], row(v, j), total)
    return total


class MassMatrix:
    """Methods of components with the mass matrix (n, n)."""

    matrix: np.ndarray

    def kinetic_energy(self, v: np.ndarray) -> float:
        """1/2 sum_ij M_ij v_i.v_j."""
        total = 0.0
        for i in range(v.shape[0]):
            total += dot(row(v, i), conjugate(self.matrix, v, i))
        return 0.5*total

    def momentum(self, q: np.ndarray, v: np.ndarray) -> Vector:
        """Momentum map J = sum_ij M_ij q_i x v_j of the simultaneous rotation of all bodies, spatial."""
        total = (0.0, 0.0, 0.0)
        for i in range(v.shape[0]):
            c = cross(row(q, i), conjugate(self.matrix, v, i))
            total = (total[0] + c[0], total[1] + c[1], total[2] + c[2])
        return total


class MultiplierForm(MassMatrix):
    """Those with `accelerate`, which leaves d^2q_i/dt^2 in `free`, and is False where the system for the multipliers is
    not positive definite."""

    free: np.ndarray
    accelerate: Any

    def angular_acceleration(self, q: np.ndarray, w: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """d omega_i/dt = q_i x d^2q_i/dt^2."""
        if not self.accelerate(q, w, g, out):
            return False
        for i in range(q.shape[0]):
            put(out, i, cross(row(q, i), row(self.free, i)))
        return True

    def acceleration(self, q: np.ndarray, v: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """d^2q_i/dt^2 with the velocities v."""
        if not self.accelerate(q, v, g, out):
            return False
        copy(self.free, out)
        return True
