"""Cholesky and LU with partial pivoting, in place on the leading n x n block of row-major float64 arrays.

BLAS would change bits between machines; here the order of operations is fixed. Elimination runs from the last row
and column to the first: the inner loops then start at column 0 of contiguous rows, which spares Numba's check for
negative indices and lets LLVM vectorise without reordering (the usual direction took 2.5 times as long at n =
300). No loop is a reduction.

Right-hand sides are contiguous arrays of any shape with n entries, (n,) or rows (n/3, 3), and are
overwritten by the solution."""
import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import any_of, if_equal, if_less, sqrt


@kernel
def cholesky(a: np.ndarray, n: int) -> bool:
    """Factor a symmetric matrix, of which only the lower triangle is read, as L^T L with L lower triangular. Writes L
    into the lower and L^T into the upper triangle, so that both substitutions run along rows. Returns False, with a
    half overwritten, when the matrix is not positive definite in floating point or not finite."""
    for k in range(n - 1, -1, -1):
        if not 0.0 < a[k, k] < np.inf:
            return False
        pivot = sqrt(a[k, k])
        a[k, k] = pivot
        inverse = 1.0/pivot
        for i in range(k):
            factor = a[k, i]*inverse
            a[k, i] = factor
            a[i, k] = factor
            for j in range(i + 1):
                a[i, j] -= factor*a[k, j]
    return True


@kernel
def cholesky_solve(a: np.ndarray, b: np.ndarray, n: int) -> None:
    """Overwrite b, (n,) or (n/3, 3), by the solution of L^T L x = b, a from `cholesky`."""
    x = b.flat
    for k in range(n - 1, -1, -1):
        x[k] /= a[k, k]
        value = x[k]
        for i in range(k):
            x[i] -= value*a[k, i]
    for k in range(n):
        x[k] /= a[k, k]
        value = x[k]
        for i in range(np.uint64(k + 1), np.uint64(n)):  # unsigned: no check for negative indices, vectorises
            x[i] -= value*a[k, i]


@kernel
def larger(size: float, best: float, i: float, p: float) -> tuple[float, float]:
    """The size of row i if it is larger than the best so far, that of row p; and which row has it."""
    return if_less(best, size, size, best), if_less(best, size, i, p)


@kernel
def lu(a: np.ndarray, pivots: np.ndarray, n: int) -> bool:
    """Factor a matrix with exchanged rows as U L, U unit upper and L lower triangular; partial pivoting by rows. Row k
    was exchanged with row pivots[k] <= k, (n,), whole numbers, for k = n - 1 ... 0. Returns False, with a half
    overwritten, when a pivot is zero or an entry not finite; a matrix that is singular only up to round-off passes."""
    for k in range(n - 1, -1, -1):
        best, p = abs(a[k, k]), float(k)
        for i in range(k):
            best, p = larger(abs(a[i, k]), best, i, p)
        if not 0.0 < best < np.inf:
            return False
        pivots[k] = p
        for i in range(k):  # of several members at once each exchanges its own rows
            if any_of(p == i):
                for j in range(n):
                    a[k, j], a[i, j] = if_equal(p, i, a[i, j], a[k, j]), if_equal(p, i, a[k, j], a[i, j])
        inverse = 1.0/a[k, k]
        for i in range(k):
            factor = a[i, k]*inverse
            a[i, k] = factor
            for j in range(k):
                a[i, j] -= factor*a[k, j]
    return True


@kernel
def lu_solve(a: np.ndarray, pivots: np.ndarray, b: np.ndarray, n: int) -> None:
    """Overwrite b, (n,) or (n/3, 3), by the solution of the system whose matrix `lu` factored into a and pivots."""
    x = b.flat
    for k in range(n - 1, -1, -1):
        p = pivots[k]
        for i in range(k):
            if any_of(p == i):
                x[k], x[i] = if_equal(p, i, x[i], x[k]), if_equal(p, i, x[k], x[i])
    for k in range(n - 1, -1, -1):
        value = x[k]
        for i in range(k):
            x[i] -= value*a[i, k]
    for k in range(n):
        x[k] /= a[k, k]
        value = x[k]
        for i in range(k + 1, n):
            x[i] -= value*a[i, k]
