"""Kinetic energy of a system on (S^2)^n as a component: diagonal or dense constant mass matrix,
a tridiagonal inverse, or multipliers.

T = 1/2 sum_ij M_ij v_i . v_j with v_i = dq_i/dt = omega_i x q_i (twospheres2009 eq. (2)). All classes offer the same
methods. Velocities are rows (n, 3)."""
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, add, add_to, axpy, copy, cross, dot, put, row, scale
from liestep.errors import InputError
from liestep.geometry.linalg import cholesky, cholesky_solve, lu, lu_solve
from liestep.mechanics.contracts.sheet import SYMMETRY_TOLERANCE

FAR = 64  # links above which the mass matrix of a chain is not written out
NEGLIGIBLE = 1e-13  # M_ik - M_ij M_jk/M_jj, j = k - 1, beside (M_ii M_kk)^(1/2), of an inverse that is tridiagonal


@dataclass(frozen=True, eq=False)
class ChainMatrix:
    """B^T diag(m) B with (B v)_k = sum_{i<=k} l_i v_i, point masses m_k on massless links l_i, in O(n): M_ij = l_i l_j
    sum_{k>=max(i,j)} m_k; for numpy an array (n, n)."""

    mass: np.ndarray    # (n,)
    length: np.ndarray  # (n,)
    ndim: ClassVar[int] = 2

    def __len__(self) -> int:
        return len(self.mass)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        at = np.arange(len(self))
        return self.length[:, None]*self.length*np.cumsum(self.mass[::-1])[::-1][np.maximum(at[:, None], at)]

    def momenta(self, velocity: np.ndarray) -> np.ndarray:
        pushes = self.mass[:, None]*np.cumsum(self.length[:, None]*velocity, axis=-2)
        return self.length[:, None]*np.cumsum(pushes[..., ::-1, :], axis=-2)[..., ::-1, :]

    def inverse(self) -> tuple[np.ndarray, np.ndarray]:
        """Diagonal (n,) of the inverse, and entries before it (n,), the first one zero; no others."""
        before = np.append(0.0, 1.0/self.mass[:-1])
        return (1.0/self.mass + before)/self.length**2, -before/(self.length*np.append(1.0, self.length[:-1]))


class DiagonalMass(NamedTuple):
    """M = diag(m): the bodies are coupled by the potential only."""

    m: np.ndarray  # (n,)

    def kinetic_energy(self, v: np.ndarray) -> float:
        total = 0.0
        for i in range(v.shape[0]):
            u = row(v, i)
            total += self.m[i]*dot(u, u)
        return 0.5*total

    def momentum(self, q: np.ndarray, v: np.ndarray) -> Vector:
        """Momentum map J = sum_i m_i q_i x v_i of the simultaneous rotation of all bodies, spatial."""
        total = (0.0, 0.0, 0.0)
        for i in range(v.shape[0]):
            total = axpy(self.m[i], cross(row(q, i), row(v, i)), total)
        return total

    def angular_acceleration(self, q: np.ndarray, w: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """d omega_i/dt = -q_i x G_i/m_i, twospheres2009 eqs. (9)-(11); False when it does not exist."""
        for i in range(q.shape[0]):
            put(out, i, scale(-1.0/self.m[i], cross(row(q, i), row(g, i))))
        return True

    def acceleration(self, q: np.ndarray, v: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """d^2 q_i/dt^2 = -|v_i|^2 q_i + q_i x (q_i x G_i)/m_i, twospheres2009 eqs. (7)-(8), q_i not normalised."""
        for i in range(q.shape[0]):
            a, u = row(q, i), row(v, i)
            normal = scale(-dot(u, u), a)
            put(out, i, axpy(1.0/self.m[i], cross(a, cross(a, row(g, i))), normal))
        return True


class MassMatrix:
    """Methods of components with the mass matrix (n, n)."""

    matrix: np.ndarray

    def conjugate(self, v: np.ndarray, i: int) -> Vector:
        """sum_j M_ij v_j."""
        total = (0.0, 0.0, 0.0)
        for j in range(v.shape[0]):
            total = axpy(self.matrix[i, j], row(v, j), total)
        return total

    def kinetic_energy(self, v: np.ndarray) -> float:
        """1/2 sum_ij M_ij v_i.v_j."""
        total = 0.0
        for i in range(v.shape[0]):
            total += dot(row(v, i), self.conjugate(v, i))
        return 0.5*total

    def momentum(self, q: np.ndarray, v: np.ndarray) -> Vector:
        """Momentum map J = sum_ij M_ij q_i x v_j of the simultaneous rotation of all bodies, spatial."""
        total = (0.0, 0.0, 0.0)
        for i in range(v.shape[0]):
            total = add(total, cross(row(q, i), self.conjugate(v, i)))
        return total


@borrows(MassMatrix)
class DenseMass(NamedTuple):
    """Coupled kinetic energy: M symmetric positive definite, with scratch for the 3n x 3n systems."""

    matrix: np.ndarray   # (n, n)
    inverse: np.ndarray  # (n, n)
    a: np.ndarray        # (3n, 3n) scratch
    pivots: np.ndarray   # (3n,) scratch

    def inverse_entry(self, i: int, j: int) -> float:
        return self.inverse[i, j]

    def inverse_band(self) -> int:
        return 0

    def angular_acceleration(self, q: np.ndarray, w: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """Solve A(q) d omega/dt = b, A_ij = -M_ij hat(q_i) hat(q_j), b_i = q_i x (sum_{j!=i} M_ij |omega_j|^2 q_j -
        G_i): twospheres2009 eqs. (9)-(11). False when A is not positive definite."""
        n = q.shape[0]
        for i in range(n):
            qi = row(q, i)
            b = scale(-1.0, row(g, i))
            for j in range(n):
                if j != i:
                    wj = row(w, j)
                    b = axpy(self.matrix[i, j]*dot(wj, wj), row(q, j), b)
            put(out, i, cross(qi, b))
        return self.solve(q, out)

    def solve(self, q: np.ndarray, out: np.ndarray) -> bool:
        """Solve A(q) x = out in place, rows (n, 3), A_ii = M_ii I, A_ij = -M_ij hat(q_i) hat(q_j) = M_ij ((q_i.q_j) I
        - q_j q_i^T); False when A is not positive definite."""
        n = q.shape[0]
        for i in range(n):  # the lower triangle
            for j in range(i):
                qi, qj, m = row(q, i), row(q, j), self.matrix[i, j]
                c = dot(qi, qj)
                for k in range(3):
                    for r in range(3):
                        self.a[3*i + k, 3*j + r] = m*((c if k == r else 0.0) - qj[k]*qi[r])
            for k in range(3):
                for r in range(k + 1):
                    self.a[3*i + k, 3*i + r] = self.matrix[i, i] if k == r else 0.0
        if not cholesky(self.a, 3*n):
            return False
        cholesky_solve(self.a, out, 3*n)
        return True

    def acceleration(self, q: np.ndarray, v: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """Solve A dv/dt = b, A_ii = M_ii I, A_ij = -M_ij hat(q_i)^2, b_i = -|v_i|^2 M_ii q_i + hat(q_i)^2 G_i:
        twospheres2009 eqs. (7)-(8), with the actual, possibly non-unit q. The matrix is not symmetric."""
        n = q.shape[0]
        for i in range(n):
            qi, vi = row(q, i), row(v, i)
            put(out, i, axpy(-dot(vi, vi)*self.matrix[i, i], qi, cross(qi, cross(qi, row(g, i)))))
            for j in range(n):
                c = dot(qi, qi)
                m = self.matrix[i, j]
                for k in range(3):
                    for r in range(3):
                        unit = 1.0 if k == r else 0.0
                        self.a[3*i + k, 3*j + r] = m*unit if i == j else m*(c*unit - qi[k]*qi[r])
        if not lu(self.a, self.pivots, 3*n):
            return False
        lu_solve(self.a, self.pivots, out, 3*n)
        return True


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

    def inverse_entry(self, i: int, j: int) -> float:
        if i == j:
            return self.diagonal[i]
        return self.beside[max(i, j)] if abs(i - j) == 1 else 0.0

    def inverse_band(self) -> int:
        return 1

    def accelerate(self, q: np.ndarray, w: np.ndarray, g: np.ndarray, out: np.ndarray) -> bool:
        """d^2q_i/dt^2 into `free`, of angular velocities or velocities w, which have the same lengths; out is
        overwritten."""
        n = q.shape[0]
        for i in range(n):
            put(self.free, i, self.applied(g, i))
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


@borrows(BandedMass)
class ChainMass(NamedTuple):
    """That of a `ChainMatrix`: point masses at x_k = sum_{i<=k} l_i q_i."""

    mass: np.ndarray    # (n,)
    length: np.ndarray  # (n,)
    diagonal: np.ndarray
    beside: np.ndarray
    free: np.ndarray
    pivot: np.ndarray
    factor: np.ndarray
    tension: np.ndarray

    def kinetic_energy(self, v: np.ndarray) -> float:
        total, speed = 0.0, (0.0, 0.0, 0.0)
        for k in range(v.shape[0]):
            speed = axpy(self.length[k], row(v, k), speed)
            total += self.mass[k]*dot(speed, speed)
        return 0.5*total

    def momentum(self, q: np.ndarray, v: np.ndarray) -> Vector:
        total = place = speed = (0.0, 0.0, 0.0)
        for k in range(v.shape[0]):
            place, speed = axpy(self.length[k], row(q, k), place), axpy(self.length[k], row(v, k), speed)
            total = axpy(self.mass[k], cross(place, speed), total)
        return total


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


def as_mass(found: Any) -> Any:
    """A mass that a system gives, (n,) or (n, n) in kg m2: the matrix of a long chain as it is, others as arrays that
    are symmetric where only round-off, as of (m l) k and (m k) l, is not."""
    if isinstance(found, ChainMatrix):
        return found
    mass = np.asarray(found, dtype=np.float64)
    skew, largest = (np.abs(part).max(initial=0.0) for part in (mass - mass.T, mass))
    return 0.5*(mass + mass.T) if skew <= SYMMETRY_TOLERANCE*largest else mass


def mass_component(matrix: np.ndarray | ChainMatrix, solve: str = "dense"
                   ) -> DiagonalMass | DenseMass | BandedMass | ChainMass | MultiplierMass:
    """Component for a mass; `solve` is "dense", "multipliers", or "banded" for a tridiagonal inverse.

    Raises:
        InputError: see `check_mass`, or the inverse is not tridiagonal."""
    check_mass(matrix)
    n = len(matrix)
    if isinstance(matrix, ChainMatrix) and solve == "banded":
        return ChainMass(matrix.mass, matrix.length, *matrix.inverse(), np.zeros((n, 3)), *np.zeros((3, n)))
    matrix = np.ascontiguousarray(matrix, dtype=np.float64)
    if matrix.ndim == 1:
        return DiagonalMass(matrix)
    inverse = exact_inverse(matrix)
    if solve == "banded":
        check_banded(matrix)
        beside = np.concatenate([[0.0], np.diag(inverse, -1)])
        return BandedMass(matrix, np.diag(inverse).copy(), beside, np.zeros((n, 3)), *(np.zeros(n) for _ in range(3)))
    if solve == "multipliers":
        return MultiplierMass(matrix, inverse, np.zeros((n, 3)), np.zeros((n, n)), np.zeros(n))
    return DenseMass(matrix, inverse, np.zeros((3*n, 3*n)), np.zeros(3*n))


def has_tridiagonal_inverse(matrix: np.ndarray | ChainMatrix) -> bool:
    """Whether a mass matrix (n, n) that passes `check_mass` has a tridiagonal inverse to working precision: M_ik M_jj =
    M_ij M_jk for i < j < k (Barrett 1979, Linear Algebra Appl. 27, 211), here with j = k - 1, from which the others
    follow. No inverse is taken, whose errors would grow with the condition number."""
    if isinstance(matrix, ChainMatrix):
        return True
    size = np.sqrt(np.diag(matrix))
    scaled = matrix/size/size[:, None]
    gap = np.triu(scaled[:, 1:] - scaled[:, :-1]*np.diag(scaled, 1))
    return bool(np.abs(gap).max(initial=0.0) <= NEGLIGIBLE)


def check_banded(matrix: np.ndarray | ChainMatrix) -> None:
    """Raises InputError for a mass matrix (n, n) without a tridiagonal inverse."""
    if not has_tridiagonal_inverse(matrix):
        raise InputError("option mass is banded, but the inverse of this mass matrix is not tridiagonal; allowed are"
                         " dense, multipliers")


def check_mass(matrix: np.ndarray | ChainMatrix) -> None:
    """Raises InputError when a mass (n,) or (n, n) is not symmetric and positive definite to working precision."""
    if isinstance(matrix, ChainMatrix):  # the diagonals of matrix and inverse are no larger than the eigenvalues
        largest = np.max(np.cumsum(matrix.mass[::-1])*matrix.length[::-1]**2)
        definite = bool(np.max(matrix.inverse()[0])*largest*len(matrix)*np.finfo(np.float64).eps < 1.0)
    elif matrix.ndim == 1:
        definite = bool(np.all(matrix > 0.0) and np.all(np.isfinite(matrix)))
    else:
        definite = _definite(matrix.tobytes(), matrix.shape[0])
    if not definite:
        raise InputError("these parameters give a mass matrix that is not symmetric and positive definite to working"
                         " precision")


@lru_cache
def _definite(content: bytes, n: int) -> bool:
    """`check_mass` of a matrix (n, n): the problems of a study often share theirs."""
    matrix = np.frombuffer(content).reshape(n, n)
    values = np.linalg.eigvalsh(matrix) if np.all(np.isfinite(matrix)) else np.array([-1.0])
    return bool(np.array_equal(matrix, matrix.T) and values[0] > n*np.finfo(np.float64).eps*values[-1])


def exact_inverse(matrix: np.ndarray) -> np.ndarray:
    """Symmetric inverse (n, n) of a matrix that passes `check_mass`, by own elimination: LAPACK's would make
    trajectories depend on the machine."""
    return _inverse(matrix.tobytes(), matrix.shape[0]).copy()


@lru_cache
def _inverse(content: bytes, n: int) -> np.ndarray:
    """`exact_inverse` in the order and bits of `linalg.cholesky` and `cholesky_solve`, but nothing is compiled."""
    factor, inverse = np.frombuffer(content).reshape(n, n).copy(), np.eye(n)
    for k in range(n - 1, -1, -1):
        pivot = np.sqrt(factor[k, k])
        row = factor[k, :k]*(1.0/pivot)
        factor[k, k], factor[k, :k], factor[:k, k] = pivot, row, row
        factor[:k, :k] -= row[:, None]*row
    for k in range(n - 1, -1, -1):
        inverse[:, k] /= factor[k, k]
        inverse[:, :k] -= inverse[:, k, None]*factor[k, :k]
    for k in range(n):
        inverse[:, k] /= factor[k, k]
        inverse[:, k + 1:] -= inverse[:, k, None]*factor[k, k + 1:]
    return np.ascontiguousarray(0.5*(inverse + inverse.T))
