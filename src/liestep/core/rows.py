"""Vectors of R^3 as tuples, read from and written to the rows of an array; scalar functions that never raise.

Tuples of three scalars live in registers: no memory, no reference counts.
"""
import math

import numpy as np

from liestep.core.dispatch import kernel

Vector = tuple[float, float, float]


@kernel
def row(a: np.ndarray, i: int) -> Vector:
    """Row i of an array (m, 3) as a tuple."""
    return a[i, 0], a[i, 1], a[i, 2]


@kernel
def put(a: np.ndarray, i: int, u: Vector) -> None:
    """Write the tuple u into row i."""
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
        for k in range(3):
            out[i, k] = a[i, k]


@kernel
def cross(u: Vector, v: Vector) -> Vector:
    """u x v"""
    return u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]


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
def sqrt(x: float) -> float:
    """Square root that is NaN for negative arguments, compiled or not."""
    return math.sqrt(x) if x >= 0.0 else np.nan


@kernel
def below(x: float, limit: float) -> bool:
    """x < limit: a test for a singularity, which a symbolic trace of the code takes as never met
    (`liestep.core.tracing`)."""
    return x < limit


@kernel
def sin(x: float) -> float:
    """Sine that is NaN for non-finite arguments, compiled or not."""
    return math.sin(x) if abs(x) < np.inf else np.nan


@kernel
def cos(x: float) -> float:
    """Cosine that is NaN for non-finite arguments, compiled or not."""
    return math.cos(x) if abs(x) < np.inf else np.nan
