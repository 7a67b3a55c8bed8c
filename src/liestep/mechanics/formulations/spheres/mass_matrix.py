"""Kinetic energy and momentum map of a constant mass matrix (n, n), whatever solves for the accelerations.
Velocities are rows (n, 3)."""
import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, axpy, cross, dot, row


@kernel
def conjugate(matrix: np.ndarray, v: np.ndarray, i: int) -> Vector:
    """sum_j M_ij v_j."""
    total = (0.0, 0.0, 0.0)
    for j in range(v.shape[0]):
        total = axpy(matrix[i, j], row(v, j), total)
    return total


@kernel
def kinetic_energy(matrix: np.ndarray, v: np.ndarray) -> float:
    """1/2 sum_ij M_ij v_i.v_j."""
    total = 0.0
    for i in range(v.shape[0]):
        total += dot(row(v, i), conjugate(matrix, v, i))
    return 0.5*total


@kernel
def momentum(matrix: np.ndarray, q: np.ndarray, v: np.ndarray) -> Vector:
    """Momentum map J = sum_ij M_ij q_i x v_j of the simultaneous rotation of all bodies, spatial."""
    total = (0.0, 0.0, 0.0)
    for i in range(v.shape[0]):
        c = cross(row(q, i), conjugate(matrix, v, i))
        total = (total[0] + c[0], total[1] + c[1], total[2] + c[2])
    return total
