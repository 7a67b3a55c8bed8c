"""Directions q on the unit sphere and their tangents, rows of an array."""
import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import axpy, dot, put, row, scale, sqrt


@kernel
def normalise(y: np.ndarray, i: int) -> None:
    """Give row i the length 1."""
    q = row(y, i)
    put(y, i, scale(1.0/sqrt(dot(q, q)), q))


@kernel
def make_tangent(y: np.ndarray, i: int, k: int) -> None:
    """Take from row k its part along the unit vector in row i."""
    q, u = row(y, i), row(y, k)
    put(y, k, axpy(-dot(q, u), q, u))
