"""Attitudes Q (body to space), kept as rows: row j of an array is the body axis Q e_j in space."""
import numpy as np

from liestep.core.dispatch import kernel
from liestep.core.rows import Vector, axpy, dot, put, row, scale
from liestep.geometry.so3 import coefficients, quadratic


@kernel
def to_body(q: np.ndarray, u: Vector) -> Vector:
    """Q^T u: body components of a spatial vector."""
    return dot(row(q, 0), u), dot(row(q, 1), u), dot(row(q, 2), u)


@kernel
def to_space(q: np.ndarray, v: Vector) -> Vector:
    """Q v: spatial vector of body components."""
    return axpy(v[0], row(q, 0), axpy(v[1], row(q, 1), scale(v[2], row(q, 2))))


@kernel
def turn(u: Vector, q: np.ndarray, out: np.ndarray) -> None:
    """out = exp(hat u) Q, three rows; out may be q."""
    s, c, _ = coefficients(dot(u, u))
    for i in range(3):
        put(out, i, quadratic(s, c, u, row(q, i)))


@kernel
def orthogonality_error(q: np.ndarray) -> float:
    """Largest entry of |Q^T Q - 1|."""
    worst = 0.0
    for i in range(3):
        for j in range(i + 1):
            gap = abs(dot(row(q, i), row(q, j)) - (1.0 if i == j else 0.0))
            if gap > worst:
                worst = gap
    return worst
