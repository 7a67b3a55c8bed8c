"""Kinetic energy whose inverse mass matrix is tridiagonal, as for a chain of pendula: accelerations
in O(n) instead of O(n^3)."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, add_to, axpy, dot, put, row, scale
from liestep.mechanics.formulations.spheres.mass_matrix import MultiplierForm


@borrows(MultiplierForm)
class BandedMass(NamedTuple):
    """Multiplier form: d^2q_i/dt^2 = sum_j Minv_ij (lambda_j q_j - G_j) with |q_i| = 1, that is the tridiagonal
    system sum_j Minv_ij (q_i.q_j) lambda_j = -|omega_i|^2 + q_i.(Minv G)_i, solved by L D L^T. For a chain, lambda_i
    is the tension of link i."""

    matrix: np.ndarray    # (n, n), for energy and momentum
    diagonal: np.ndarray  # (n,) of Minv
    beside: np.ndarray    # (n,) Minv_{i,i-1}; the first entry is zero
    free: np.ndarray      # (n, 3) scratch: Minv G
    pivot: np.ndarray     # (n,) scratch: D
    factor: np.ndarray    # (n,) scratch: L_{i,i-1}
    tension: np.ndarray   # (n,) scratch: lambda

    def accelerate(self, q: np.ndarray, w: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """d^2q_i/dt^2 into `free`, of angular velocities or velocities w, which have the same lengths; out is
        overwritten."""
        n = q.shape[0]
        self.apply(g, self.free)
        for i in range(n):
            a, u = row(q, i), row(w, i)
            self.tension[i] = dot(a, row(self.free, i)) - dot(u, u)
            self.pivot[i] = self.diagonal[i]*dot(a, a)
            self.factor[i] = 0.0
            if i > 0:
                coupling = self.beside[i]*dot(a, row(q, i - 1))
                self.factor[i] = coupling/self.pivot[i - 1]
                self.pivot[i] -= self.factor[i]*coupling
                self.tension[i] -= self.factor[i]*self.tension[i - 1]
            if not self.pivot[i] > 0.0:
                return False
        for k in range(n):
            i = n - 1 - k
            self.tension[i] /= self.pivot[i]
            if k > 0:
                self.tension[i] -= self.factor[i + 1]*self.tension[i + 1]
        for i in range(n):
            put(out, i, scale(self.tension[i], row(q, i)))
        for i in range(n):
            put(self.free, i, scale(-1.0, row(self.free, i)))
            add_to(self.free, i, self.applied(out, i))
        return True

    def applied(self, x: np.ndarray, i: int) -> Vector:
        """(Minv x)_i"""
        total = scale(self.diagonal[i], row(x, i))
        if i > 0:
            total = axpy(self.beside[i], row(x, i - 1), total)
        if i < x.shape[0] - 1:
            total = axpy(self.beside[i + 1], row(x, i + 1), total)
        return total

    def apply(self, x: np.ndarray, out: np.ndarray) -> None:
        for i in range(x.shape[0]):
            put(out, i, self.applied(x, i))


def banded_mass(matrix: np.ndarray, inverse: np.ndarray) -> BandedMass:
    """Component of a mass matrix with its tridiagonal inverse."""
    n = len(matrix)
    beside = np.concatenate([[0.0], np.diag(inverse, -1)])
    return BandedMass(matrix, np.diag(inverse).copy(), beside, np.zeros((n, 3)), np.zeros(n), np.zeros(n), np.zeros(n))
