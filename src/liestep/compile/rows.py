"""Vectors of R^3 as tuples, read from and written to the rows of an array; sums of stages; scalar functions that never
raise.

Tuples of three scalars live in registers: no memory, no reference counts."""
import math
import sys

import numpy as np

from liestep.compile.dispatch import kernel

Vector = tuple[float, float, float]
_EXP, _LOG, _TAN = math.exp, math.log, math.tan  # not the names of the kernels that call them
LARGEST_EXPONENT = math.log(sys.float_info.max)


@kernel
def row(a: np.ndarray, i: int) -> Vector:
    """The first three numbers of row i of an array (m, d), d >= 3, as a tuple."""
    return a[i, 0], a[i, 1], a[i, 2]


@kernel
def put(a: np.ndarray, i: int, u: Vector) -> None:
    """Write the tuple u into the first three numbers of row i."""
    a[i, 0] = u[0]
    a[i, 1] = u[1]
    a[i, 2] = u[2]


@kernel
def add_to(a: np.ndarray, i: int, u: Vector) -> None:
    """Add the tuple u to row i."""
    a[i, 0] += u[0]
    a[i, 1] += u[1]
    a[i, 2] += u[2]


@kernel
def copy(a: np.ndarray, out: np.ndarray) -> None:
    """Copy the rows of a; a loop, because a whole-array assignment costs seconds of compile time."""
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            out[i, k] = a[i, k]


@kernel
def wipe(a: np.ndarray) -> None:
    """Zeros into (n, m)."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 0.0


@kernel
def cross(u: Vector, v: Vector) -> Vector:
    """u x v"""
    return u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]


@kernel
def unit(k: int) -> Vector:
    """Unit vector of axis k; zero for others than 0, 1, 2."""
    return 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0


@kernel
def dot(u: Vector, v: Vector) -> float:
    """u.v"""
    return u[0]*v[0] + u[1]*v[1] + u[2]*v[2]


@kernel
def add(u: Vector, v: Vector) -> Vector:
    """u + v"""
    return u[0] + v[0], u[1] + v[1], u[2] + v[2]


@kernel
def sub(u: Vector, v: Vector) -> Vector:
    """u - v"""
    return u[0] - v[0], u[1] - v[1], u[2] - v[2]


@kernel
def scale(s: float, u: Vector) -> Vector:
    """s u"""
    return s*u[0], s*u[1], s*u[2]


@kernel
def axpy(s: float, u: Vector, v: Vector) -> Vector:
    """s u + v"""
    return s*u[0] + v[0], s*u[1] + v[1], s*u[2] + v[2]


@kernel
def stage_rows(weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
    """out = y + h (weights_0 k_0 + ...) over the first `count` of k (s, m, 3): `stage` of vector fields on rows of
    three. out may be y."""
    for i in range(y.shape[0]):
        slope = scale(weights[0], row(k[0], i))
        for r in range(1, count):
            if weights[r] != 0.0:
                slope = axpy(weights[r], row(k[r], i), slope)
        put(out, i, axpy(h, slope, row(y, i)))


class FieldOfRows:
    """Methods of vector fields on rows of three that nothing returns to a manifold."""

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        stage_rows(weights, h, k, count, y, out)

    def project(self, y: np.ndarray) -> None:
        pass


@kernel
def stage_columns(weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
    """The same for rows of any length, k (s, m, d)."""
    for i in range(y.shape[0]):
        for c in range(y.shape[1]):
            slope = weights[0]*k[0, i, c]
            for r in range(1, count):
                if weights[r] != 0.0:
                    slope = weights[r]*k[r, i, c] + slope
            out[i, c] = h*slope + y[i, c]


@kernel
def sqrt(x: float) -> float:
    """Square root that is NaN for negative arguments, compiled or not."""
    return math.sqrt(x) if x >= 0.0 else np.nan


@kernel
def below(x: float, limit: float) -> bool:
    """x < limit: a test for a singularity, which a symbolic trace of the code takes as never met
    (`liestep.compile.tracing`)."""
    return x < limit


@kernel
def if_less(left: float, right: float, a: float, b: float) -> float:
    """a where left < right, else b."""
    return a if left < right else b


@kernel
def if_at_most(left: float, right: float, a: float, b: float) -> float:
    """a where left <= right, else b."""
    return a if left <= right else b


@kernel
def if_equal(left: float, right: float, a: float, b: float) -> float:
    """a where left == right, else b."""
    return a if left == right else b


@kernel
def any_of(which: bool) -> bool:
    """Whether a comparison holds; of several members at once, of any of them (`liestep.compile.lanes`)."""
    return which


@kernel
def quotient(a: float, b: float) -> float:
    """a/b, infinite where b is zero, compiled or not."""
    return a/b if b != 0.0 else a*np.inf


@kernel
def larger(a: float, b: float) -> float:
    """b if b > a, else a, also where b is NaN; `max` treats NaN differently in compiled code."""
    return b if b > a else a


@kernel
def sin(x: float) -> float:
    """Sine that is NaN for non-finite arguments, compiled or not."""
    return math.sin(x) if abs(x) < np.inf else np.nan


@kernel
def cos(x: float) -> float:
    """Cosine that is NaN for non-finite arguments, compiled or not."""
    return math.cos(x) if abs(x) < np.inf else np.nan


@kernel
def tan(x: float) -> float:
    """Tangent that is NaN for non-finite arguments, compiled or not."""
    return _TAN(x) if abs(x) < np.inf else np.nan


@kernel
def exp(x: float) -> float:
    """Exponential that is infinite where it overflows, compiled or not."""
    return np.inf if x > LARGEST_EXPONENT else _EXP(x)


@kernel
def log(x: float) -> float:
    """Natural logarithm that is -inf at 0 and NaN below, compiled or not."""
    if x > 0.0:
        return _LOG(x)
    return -np.inf if x == 0.0 else np.nan


@kernel
def atan2(y: float, x: float) -> float:
    """Angle of the point (x, y) in (-pi, pi]; NaN for NaN."""
    return math.atan2(y, x)
