"""Rotations as matrices, for starts."""
import numpy as np


def about_axis(angle: float, axis: int) -> np.ndarray:
    """Rotation by an angle about a coordinate axis (3, 3), for starts."""
    matrix = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[i, i] = matrix[j, j] = np.cos(angle)
    matrix[j, i] = np.sin(angle)
    matrix[i, j] = -matrix[j, i]
    return matrix
