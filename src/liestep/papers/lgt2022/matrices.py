"""Exponential and Cayley maps of lgt2022 as functions of matrices, and random vectors with a fixed seed."""
import numpy as np

from liestep.study.tables.vectors import hat, size

RANDOM = 20220101


def exponential(matrix: np.ndarray) -> np.ndarray:
    """Matrix exponential by its series after halvings."""
    halvings = max(0, int(np.ceil(np.log2(max(size(matrix), 1e-300)))) + 3)
    part, term, total = matrix/2.0**halvings, np.eye(len(matrix)), np.eye(len(matrix))
    for k in range(1, 20):
        term = term @ part/k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


def motion(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(x, y) of se(3) as a matrix (4, 4)."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = hat(x), y
    return matrix


def cayley(matrix: np.ndarray) -> np.ndarray:
    """(I - A)^-1 (I + A): the Cayley map of the paper, without a factor 1/2."""
    return np.linalg.solve(np.eye(len(matrix)) - matrix, np.eye(len(matrix)) + matrix)


def vectors(count: int) -> np.ndarray:
    """Random vectors (count, 3)."""
    return np.random.default_rng(RANDOM).normal(size=(count, 3))
