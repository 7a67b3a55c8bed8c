"""What the iterations of implicit steps share: cleared equations, the largest residual, corrections, when to
stop, and the loop.

Callers pass the number n of entries: where a formulation returns it as a constant, the loops become straight code."""
from typing import Any

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, cross, dot
from liestep.compile.status import Status

STAGNATION = 1e-12  # changes below it, relative to the unknowns or to what they are added to, that no longer shrink


@kernel
def worse(a: float, b: float) -> float:
    """The larger of two sizes; NaN if one is, so that an iteration that is not finite never looks converged."""
    return b if b > a or b != b else a


@kernel
def largest(r: np.ndarray, n: int) -> float:
    """Largest absolute value of the first n; NaN if there is one."""
    size = 0.0
    for i in range(n):
        size = worse(size, abs(r[i]))
    return size


@kernel
def extent(u: Vector) -> float:
    """Largest absolute value of three."""
    return max(abs(u[0]), max(abs(u[1]), abs(u[2])))


@kernel
def clear(r: np.ndarray, a: np.ndarray, n: int) -> None:
    """Zeros into the residual (n,) and the matrix (n, n)."""
    for i in range(n):
        r[i] = 0.0
        for j in range(n):
            a[i, j] = 0.0


@kernel
def correct(x: np.ndarray, update: np.ndarray, n: int) -> tuple[float, float]:
    """Take the update off the unknowns x (n,); its largest absolute value and theirs."""
    change, size = 0.0, 0.0
    for i in range(n):
        x[i] -= update[i]
        change, size = worse(change, abs(update[i])), worse(size, abs(x[i]))
    return change, size


@kernel
def settled(left: float, bound: float, change: float, previous: float, small: float) -> bool:
    """Whether an iteration has converged: what is left is within its bound, or the last change is small, of round-off,
    and no longer half of the one before it."""
    return (left <= bound) | ((change <= small) & (change > 0.5*previous))


@kernel
def converged(change: float, previous: float, size: float, reach: float, tolerance: float) -> bool:
    """The same where the error left is the last change times the rate of convergence, change/previous, zero or less for
    Newton's method; round-off is that of coordinates of the size `reach` in their constraints."""
    return settled(change*change, tolerance*size*previous, change, previous, STAGNATION*max(size, reach))


@kernel
def iterate(part: Any, given: Any, x: Any, previous: float, iterations: int) -> tuple[Status, Any]:
    """(status, x): the driver of all implicit steps. `part.improve(given, x, previous)` corrects the unknowns, which
    are x or stand in the workspace that is among what is given; it returns a status, x, the size of the last change,
    which it gets back as `previous`, and whether the iteration has converged."""
    for _ in range(iterations):
        status, x, change, done = part.improve(given, x, previous)
        if status != Status.OK:
            return status, x
        if not change < np.inf:
            break
        if done:
            return Status.OK, x
        previous = change
    return Status.NOT_CONVERGED, x


@kernel
def solve_columns(one: Vector, two: Vector, three: Vector, right: Vector) -> tuple[float, Vector]:
    """Determinant of the matrix with these columns, and the solution where it is positive: elsewhere an iteration is
    beyond a fold of its equation, which is no continuation of small steps."""
    volume = dot(one, cross(two, three))
    if not volume > 0.0:
        return volume, right
    return volume, (dot(right, cross(two, three))/volume, dot(one, cross(right, three))/volume,
                    dot(one, cross(two, right))/volume)
