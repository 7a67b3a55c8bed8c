"""Is a start on the manifold? Each check refuses one that is off it by more than MANIFOLD_TOLERANCE; behind a run of a
method that drifts, by more than the block `drifting` allows."""
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from liestep.errors import InputError

MANIFOLD_TOLERANCE = 1e-12
DRIFTED = 1e-4  # of a start that is given with its time, as the end of a run
DIGITS = 10     # of numbers that a person has typed, at most
_drift = ContextVar("drift", default=MANIFOLD_TOLERANCE)


@contextmanager
def drifting(allowed: float = 1e300) -> Iterator[None]:
    """Starts in this block may be off the manifold by so much: they are states of a run."""
    token = _drift.set(max(allowed, _drift.get()))
    try:
        yield
    finally:
        _drift.reset(token)


def _typed(values: np.ndarray) -> bool:
    return bool(np.all(np.round(values, DIGITS) == values))


def most_off(values: np.ndarray | None = None) -> float:
    """How far a start may be off; one that was typed with a few digits is no end of a run."""
    drift = _drift.get()
    return MANIFOLD_TOLERANCE if drift < 1.0 and values is not None and _typed(values) else drift


def _remedy(values: np.ndarray) -> str:
    return ("give full precision, for example sqrt(3)/2 instead of 0.8660" if _typed(values) else
            "from the end of a run go on with data.liestep.go_on(t_end=...)")


def check_directions(name: str, q: np.ndarray) -> None:
    """Raises InputError when a row of q (..., n, 3) is not a unit vector."""
    length = np.abs(1.0 - np.sum(q*q, axis=-1)).ravel()
    worst, most = int(np.argmax(length)), most_off(q)
    if length[worst] > most:
        raise InputError(f"initial {name}[{worst}] is not a unit vector: |1 - {name}.{name}| = {length[worst]:.3g},"
                         f" allowed {most:g}; {_remedy(q)}")


def check_tangent(name: str, omega: np.ndarray, base: str, q: np.ndarray) -> None:
    """Raises InputError when a row of omega (..., n, 3) is not orthogonal to that of q, beside the largest of its n."""
    slip, most = np.abs(np.sum(q*omega, axis=-1)), most_off(omega)
    over = (slip - most*np.abs(omega).max(axis=(-2, -1), keepdims=True)[..., 0]).ravel()
    slip, worst = slip.ravel(), int(np.argmax(over))
    if over[worst] > 0.0:
        raise InputError(f"initial {name}[{worst}] is not orthogonal to {base}[{worst}]: |{base}.{name}| ="
                         f" {slip[worst]:.3g}, allowed {most:g} of the largest {name}; {_remedy(omega)}")


def check_attitude(name: str, attitude: np.ndarray) -> None:
    """Raises InputError when a matrix (3, 3) or one of several (n, 3, 3) is not a rotation."""
    matrices, most = attitude.reshape(-1, 3, 3), most_off(attitude)
    defects = np.abs(matrices.transpose(0, 2, 1) @ matrices - np.eye(3)).max(axis=(1, 2))
    for k in np.flatnonzero((defects > most) | (np.linalg.det(matrices) < 0.0)):
        which = f"{name}[{k}]" if attitude.ndim == 3 else name
        if defects[k] <= most:
            raise InputError(f"initial {which} is not a rotation but a reflection: its determinant is -1 and must be 1;"
                             " change the sign of one column")
        raise InputError(f"initial {which} is not a rotation: the largest entry of |Q^T Q - 1| is {defects[k]:.3g},"
                         f" allowed {most:g}; {_remedy(attitude)}")
