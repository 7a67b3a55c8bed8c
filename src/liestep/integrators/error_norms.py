"""Size of the difference between the two methods of a Lie group pair, as components of the pair."""
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.contracts.option import Option
from liestep.core.dispatch import kernel
from liestep.core.rows import dot, row, sqrt

NORM = {
    "norm": Option("state", "of the error. state: of rows of the state, each divided by its length, so that radians,"
                   " metres and rates count alike; algebra: Euclidean, of all numbers of the algebra",
                   ("state", "algebra")),
    "least_size": Option(1.0, "with the norm of the state: rows shorter than this, in their own unit, count as this"
                         " long"),
}


@kernel
def length(sigma: np.ndarray) -> float:
    """Euclidean norm of all numbers of an element of the algebra."""
    total = 0.0
    for i in range(sigma.shape[0]):
        total += dot(row(sigma, i), row(sigma, i))
    return sqrt(total)


class AlgebraNorm(NamedTuple):
    """|sigma|, Euclidean norm of all numbers of the algebra, whatever their units: liegroup2021 section 4."""

    least: float  # not used; a component has at least one field

    def size(self, problem: Any, sigma: np.ndarray, y: np.ndarray, new: np.ndarray, moved: np.ndarray) -> float:
        return length(sigma)


class StateNorm(NamedTuple):
    """Root mean square over rows of |exp(sigma).y+ - y+|/max(|y|, |y+|, least), for a small sigma, y the start and y+
    the end of the step. The same in all frames, and for all units of length, mass and time when `least` is."""

    least: float

    def size(self, problem: Any, sigma: np.ndarray, y: np.ndarray, new: np.ndarray, moved: np.ndarray) -> float:
        """moved (m, d) is overwritten."""
        problem.act(sigma, new, moved)
        total = 0.0
        for i in range(y.shape[0]):
            gap, before, after = 0.0, 0.0, 0.0
            for k in range(y.shape[1]):
                gap += (moved[i, k] - new[i, k])*(moved[i, k] - new[i, k])
                before += y[i, k]*y[i, k]
                after += new[i, k]*new[i, k]
            total += gap/max(before, after, self.least*self.least)
        return sqrt(total/y.shape[0])


def error_norm(options: Mapping[str, Any]) -> AlgebraNorm | StateNorm:
    """Component of checked options NORM."""
    return StateNorm(options["least_size"]) if options["norm"] == "state" else AlgebraNorm(0.0)
