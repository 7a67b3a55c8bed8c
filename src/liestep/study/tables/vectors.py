"""Vectors in plain numpy, for evidence that must not use the kernels it judges."""
import numpy as np


def size(vectors: np.ndarray) -> float:
    """Largest norm of a row (..., 3)."""
    return float(np.linalg.norm(vectors, axis=-1).max())


def hat(a: np.ndarray) -> np.ndarray:
    """The matrix with hat(a) b = a x b."""
    return np.cross(np.eye(3), a)
