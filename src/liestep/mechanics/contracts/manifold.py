"""Is a start on the manifold? Each check refuses one that is off it by more than MANIFOLD_TOLERANCE."""
import numpy as np

from liestep.errors import InputError

MANIFOLD_TOLERANCE = 1e-12


def check_directions(name: str, q: np.ndarray) -> None:
    """Raises InputError when a row of q (n, 3) is not a unit vector."""
    length = np.abs(1.0 - np.sum(q*q, axis=1))
    worst = int(np.argmax(length))
    if length[worst] > MANIFOLD_TOLERANCE:
        raise InputError(f"initial {name}[{worst}] is not a unit vector: |1 - {name}.{name}| = {length[worst]:.3g},"
                         f" allowed {MANIFOLD_TOLERANCE:g}; give full precision, for example sqrt(3)/2"
                         " instead of 0.8660")


def check_tangent(name: str, omega: np.ndarray, base: str, q: np.ndarray) -> None:
    """Raises InputError when a row of omega (n, 3) is not orthogonal to that of q, beside the largest number of all."""
    slip = np.abs(np.sum(q*omega, axis=1))
    worst = int(np.argmax(slip))
    if slip[worst] > MANIFOLD_TOLERANCE*np.abs(omega).max():
        raise InputError(f"initial {name}[{worst}] is not orthogonal to {base}[{worst}]: |{base}.{name}| ="
                         f" {slip[worst]:.3g}, allowed {MANIFOLD_TOLERANCE:g} of the largest {name}")


def check_attitude(name: str, attitude: np.ndarray) -> None:
    """Raises InputError when a matrix (3, 3) or one of several (n, 3, 3) is not a rotation."""
    matrices = attitude.reshape(-1, 3, 3)
    defects = np.abs(matrices.transpose(0, 2, 1) @ matrices - np.eye(3)).max(axis=(1, 2))
    for k in np.flatnonzero((defects > MANIFOLD_TOLERANCE) | (np.linalg.det(matrices) < 0.0)):
        which = f"{name}[{k}]" if attitude.ndim == 3 else name
        if defects[k] <= MANIFOLD_TOLERANCE:
            raise InputError(f"initial {which} is not a rotation but a reflection: its determinant is -1 and must be 1;"
                             " change the sign of one column")
        raise InputError(f"initial {which} is not a rotation: the largest entry of |Q^T Q - 1| is {defects[k]:.3g},"
                         f" allowed {MANIFOLD_TOLERANCE:g}")
