"""What the iterations of implicit steps share: cleared equations, the largest residual, corrections, when to stop.

Callers pass the number n of entries: where a formulation returns it as a constant, the loops become straight code.
"""
import numpy as np

from liestep.compile.dispatch import kernel

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
def wipe(a: np.ndarray) -> None:
    """Zeros into (n, m)."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 0.0


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
def settled(change: float, previous: float, size: float, reach: float, tolerance: float) -> bool:
    """Whether an iteration with these last two changes has converged: a change is the last one times the rate of
    convergence, which is zero or less for Newton's method, so that change^2/previous bounds the error left; or the
    changes no longer shrink at round-off, that of coordinates of the size `reach` in their constraints."""
    return change*change <= tolerance*size*previous or (change <= STAGNATION*max(size, reach)
                                                        and change > 0.5*previous)
