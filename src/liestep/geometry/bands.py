"""Banded matrices in place, O(size width^2): symmetric ones by L D L^T without pivoting, others by elimination."""
import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import any_of, below, if_equal
from liestep.geometry.linalg import larger

SMALLEST = 1e-7  # pivot relative to the diagonal below which a matrix counts as singular


@kernel
def factor_band(s: np.ndarray, column: np.ndarray, size: int, width: int) -> bool:
    """L D L^T in place of a symmetric matrix whose entry (i, j), i - width <= j <= i, is s[i, j - i + width]. False if
    a pivot is below SMALLEST of the diagonal entry that it came from; pivots and these limits, in `column` from `size`
    on, are then as they were found."""
    for i in range(size):
        column[size + i] = SMALLEST*s[i, width]
    for k in range(size):
        if below(s[k, width], column[size + k]) or below(s[k, width], 0.0):
            return False
        inverse = 1.0/s[k, width]
        last = min(size, k + width + 1)
        for i in range(k + 1, last):
            column[i] = s[i, k - i + width]
        for i in range(k + 1, last):
            ratio = column[i]*inverse
            offset = width - i
            for j in range(k + 1, i + 1):
                s[i, j + offset] -= ratio*column[j]
            s[i, k + offset] = ratio
    return True


@kernel
def solve_band(s: np.ndarray, b: np.ndarray, size: int, width: int) -> None:
    """Overwrite b by the solution with the factors of `factor_band`."""
    for i in range(size):
        value = b[i]
        for j in range(max(0, i - width), i):
            value -= s[i, j - i + width]*b[j]
        b[i] = value
    for i in range(size):
        b[i] /= s[i, width]
    for r in range(size):
        i = size - 1 - r
        value = b[i]
        for j in range(max(0, i - width), i):
            b[j] -= s[i, j - i + width]*value


@kernel
@outlined
def solve_banded(a: np.ndarray, b: np.ndarray, size: int, width: int) -> bool:
    """Overwrite b by the solution of a system with entry (i, j), |i - j| <= width, in a[i, j - i + width]; a has 3
    width + 1 columns and is overwritten. Partial pivoting by rows. False when a pivot is zero or not finite."""
    for k in range(size):
        best, p = abs(a[k, width]), float(k)
        for i in range(k + 1, min(size, k + width + 1)):
            best, p = larger(abs(a[i, k - i + width]), best, i, p)
        if not 0.0 < best < np.inf:
            return False
        last = min(size, k + 2*width + 1)
        for i in range(k + 1, min(size, k + width + 1)):  # of several members each exchanges its own rows
            if any_of(p == i):
                for j in range(k, last):
                    one, other = a[k, j - k + width], a[i, j - i + width]
                    a[k, j - k + width], a[i, j - i + width] = if_equal(p, i, other, one), if_equal(p, i, one, other)
                b[k], b[i] = if_equal(p, i, b[i], b[k]), if_equal(p, i, b[k], b[i])
        inverse, own = 1.0/a[k, width], a[k, width + 1:]
        for i in range(k + 1, min(size, k + width + 1)):
            factor, line = a[i, k - i + width]*inverse, a[i, k + 1 - i + width:]
            if any_of(factor != 0.0):
                for j in range(last - k - 1):  # from zero: an index that may be negative keeps it out of vectors
                    line[j] = if_equal(factor, 0.0, line[j], line[j] - factor*own[j])
                b[i] = if_equal(factor, 0.0, b[i], b[i] - factor*b[k])
    for r in range(size):
        k = size - 1 - r
        value = b[k]
        for j in range(k + 1, min(size, k + 2*width + 1)):
            value -= a[k, j - k + width]*b[j]
        b[k] = value/a[k, width]
    return True
