"""Kinetic energy of coupled bodies with one multiplier for each, the force along its direction: accelerations by a
factorisation of size n instead of 3n."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, axpy, dot, put, row, scale
from liestep.geometry.linalg import cholesky, cholesky_solve
from liestep.mechanics.formulations.spheres.mass_matrix import MultiplierForm


@borrows(MultiplierForm)
class MultiplierMass(NamedTuple):
    """d^2q_i/dt^2 = sum_j Minv_ij (lambda_j q_j - G_j) with |q_i| = 1, that is sum_j Minv_ij (q_i.q_j) lambda_j =
    -|omega_i|^2 + q_i.(Minv G)_i: the equations of `BandedMass` for any mass matrix. The matrix of the multipliers is
    positive definite where M is, as the entrywise product of two that are (Schur)."""

    matrix: np.ndarray   # (n, n), for energy and momentum
    inverse: np.ndarray  # (n, n)
    free: np.ndarray     # (n, 3) scratch: Minv G, then the accelerations
    a: np.ndarray        # (n, n) scratch
    tension: np.ndarray  # (n,) scratch: lambda

    def accelerate(self, q: np.ndarray, w: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """d^2q_i/dt^2 into `free`, of angular velocities or velocities w, which have the same lengths; out is
        overwritten."""
        n = q.shape[0]
        for i in range(n):
            a, u = row(q, i), row(w, i)
            put(self.free, i, self.applied(g, i))
            self.tension[i] = dot(a, row(self.free, i)) - dot(u, u)
            for j in range(i + 1):
                self.a[i, j] = self.inverse[i, j]*dot(a, row(q, j))
        if not cholesky(self.a, n):
            return False
        cholesky_solve(self.a, self.tension, n)
        for i in range(n):
            put(out, i, axpy(self.tension[i], row(q, i), scale(-1.0, row(g, i))))
        for i in range(n):
            put(self.free, i, self.applied(out, i))
        return True

    def applied(self, x: np.ndarray, i: int) -> Vector:
        """(Minv x)_i"""
        total = scale(self.inverse[i, 0], row(x, 0))
        for j in range(1, x.shape[0]):
            total = axpy(self.inverse[i, j], row(x, j), total)
        return total


def multiplier_mass(matrix: np.ndarray, inverse: np.ndarray) -> MultiplierMass:
    """Component of a mass matrix (n, n) with its inverse."""
    n = len(matrix)
    return MultiplierMass(matrix, inverse, np.zeros((n, 3)), np.zeros((n, n)), np.zeros(n))
