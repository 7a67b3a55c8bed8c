"""The eight local-global transition maps of table 1 of lgt2022, made from the code that the runs use: how far each is
from the product of the group, and its floating-point operations; and exponential and Cayley maps as functions of
matrices, which they are compared with."""
from dataclasses import dataclass

import numpy as np

from liestep.geometry.charts import CAYLEY, EXPONENTIAL
from liestep.geometry.groups.poses import QUATERNION, ROTATION_VECTOR, Poses
from liestep.mechanics.formulations.multibody.forms import attitude_block, matrices
from liestep.mechanics.formulations.symbolic import operations


def size(vectors: np.ndarray) -> float:
    """Largest norm of a row (..., 3)."""
    return float(np.linalg.norm(vectors, axis=-1).max())


def hat(a: np.ndarray) -> np.ndarray:
    """The matrix with hat(a) b = a x b."""
    return np.cross(np.eye(3), a)


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


LETTERS = {"a": (1, EXPONENTIAL), "b": (0, EXPONENTIAL), "c": (0, CAYLEY), "d": (1, CAYLEY)}
NAMES = tuple(f"{number}{letter}" for number in (1, 2) for letter in LETTERS)
TRANSLATIONS = 6  # additions of the velocities, which every map has


@dataclass(frozen=True)
class Row:
    """defect: largest entry by which the map misses the product of the group; act, rate: operations of the map and of
    the inverse differential for one body."""

    defect: float
    act: int
    rate: int


def poses(name: str) -> Poses:
    """The component of a map."""
    se3, chart = LETTERS[name[1]]
    return Poses(1, QUATERNION if name[0] == "1" else ROTATION_VECTOR, se3, chart)


def row_of(name: str) -> Row:
    """Numbers of one map at random data; turns of about a radian."""
    component = poses(name)
    x, y, w, u, place, turn = vectors(6)
    x = 0.7*x/np.linalg.norm(x)
    attitude = exponential(hat(turn))
    width = 4 if component.attitude == QUATERNION else 3
    state = np.zeros((4, width))
    state[:1] = attitude_block(component.attitude, attitude, width)
    state[1, :3] = place
    xi, v, out = np.array([x, y, w, u]), np.array([w, u, x, y]), np.zeros((4, width))
    component.act(xi, state, out)
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = matrices(component.attitude, out[:1]), out[1, :3]
    start = np.eye(4)
    start[:3, :3], start[:3, 3] = attitude, place
    return Row(size(found - _product(component, start, x, y)),
               operations(component, lambda part, *data: part.act(*data), xi, state) - TRANSLATIONS,
               operations(component, lambda part, *data: part.dexpinv(*data), xi, v))


def _product(component: Poses, start: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """start psi(X) by matrix functions; Cayley charts are scaled by 1/2."""
    step = exponential(motion(x, y)) if component.chart == EXPONENTIAL else cayley(0.5*motion(x, y))
    if component.se3 == 1:
        return start @ step
    found = start.copy()
    found[:3, :3], found[:3, 3] = start[:3, :3] @ step[:3, :3], start[:3, 3] + y
    return found
