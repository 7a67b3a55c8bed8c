"""Squared Riemannian distances between states that are near each other; radians beside the numbers of the state."""
import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, atan2, cross, dot, row, sqrt, sub
from liestep.geometry.so3 import quadratic


@kernel
def angle(s: float) -> float:
    """2 asin s, to all digits for small s; NaN beyond 1."""
    return 2.0*atan2(s, sqrt(1.0 - s*s))


@kernel
def directions(q: Vector, p: Vector) -> float:
    """Of unit vectors: the angle between them."""
    gap = sub(q, p)
    turn = angle(0.5*sqrt(dot(gap, gap)))
    return turn*turn


@kernel
def tangent_vectors(q: Vector, w: Vector, p: Vector, u: Vector) -> float:
    """Of (q, w) and (p, u) on the tangent bundle of the sphere: angle between q and p, and what w and u differ by after
    u has been carried along the great circle from p to q (an approximation of Sasaki's metric to third order)."""
    gap, axis = sub(q, p), cross(p, q)
    turned = quadratic(1.0, 1.0/(1.0 + dot(p, q)), axis, u)
    z, rest = angle(0.5*sqrt(dot(gap, gap))), sub(w, turned)
    return z*z + dot(rest, rest)


@kernel
def attitudes(y: np.ndarray, z: np.ndarray, first: int) -> float:
    """Of attitudes in rows first to first + 2 of y and z: the angle of the turn between them."""
    chord = 0.0
    for k in range(first, first + 3):
        gap = sub(row(y, k), row(z, k))
        chord += dot(gap, gap)
    turn = angle(sqrt(0.125*chord))
    return turn*turn


@kernel
def vectors(y: np.ndarray, z: np.ndarray, first: int, end: int) -> float:
    """Of vectors in rows first to end - 1."""
    total = 0.0
    for k in range(first, end):
        gap = sub(row(y, k), row(z, k))
        total += dot(gap, gap)
    return total
