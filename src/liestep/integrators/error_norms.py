"""Size of the difference between the two methods of a Lie group pair, as components of the pair."""
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows, kernel, outlined
from liestep.compile.rows import copy, dot, put, row, scale, sqrt, sub
from liestep.integrators.sizes import NUDGE, any_at_zero, keep_sizes, note_rates, nudge, sizes_for_errors, try_sizes
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import LieAction
from liestep.mechanics.contracts.sheet import Option

NORM = {
    "norm": Option("state", "of the error. state: of rows of the state, each relative to the size of its field, so that"
                   " units do not matter; algebra: Euclidean, of all numbers of the algebra, as in liegroup2021",
                   ("state", "algebra")),
}


@kernel
def length(sigma: np.ndarray) -> float:
    """Euclidean norm of all numbers of an element of the algebra."""
    total = 0.0
    for i in range(sigma.shape[0]):
        total += dot(row(sigma, i), row(sigma, i))
    return sqrt(total)


@kernel
@outlined
def generator(problem: LieAction, t: float, y: np.ndarray, out: np.ndarray) -> bool:
    """f at a state, where it need not be inlined: at the start of a run and for dense output."""
    return problem.algebra(t, y, out)


@kernel
@outlined
def moved(problem: LieAction, sigma: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """exp(sigma).y where it need not be inlined."""
    problem.act(sigma, y, out)


class WithoutSizes:
    """Methods of norms that ask for no sizes of fields."""

    def start(self, problem: LieAction, t: float, y: np.ndarray, h: float, k: np.ndarray, sigma: np.ndarray,
              new: np.ndarray) -> None:
        """A run begins."""

    def keep(self) -> None:
        """The step is accepted."""


@borrows(WithoutSizes)
class AlgebraNorm(NamedTuple):
    """|sigma|, Euclidean norm of all numbers of the algebra, whatever their units: liegroup2021 section 4."""

    unused: float  # a component has at least one field

    def size(self, problem: LieAction, sigma: np.ndarray, y: np.ndarray, new: np.ndarray, end: np.ndarray,
             h: float) -> float:
        return length(sigma)


class StateNorm(NamedTuple):
    """Root mean square over rows of |z - y+|/s, with y+ the end of the step, z that of the other method (exp(sigma).y+
    for a small sigma) and s the size of the row's field so far and at y+ (`integrators.sizes`): the same in all frames
    and units."""

    groups: np.ndarray = np.zeros(0, dtype=np.int64)
    sizes: np.ndarray = np.zeros((3, 0))

    def start(self, problem: LieAction, t: float, y: np.ndarray, h: float, k: np.ndarray, sigma: np.ndarray,
              new: np.ndarray) -> None:
        """Rates of what starts at zero (`sizes.rates_from_zero`), over a step h; k (2 or more, d, 3), sigma (d, 3) and
        new (m, d) are overwritten."""
        if not any_at_zero(self.groups, self.sizes, y):
            return
        copy(y, new)
        for r in range(3):
            if not generator(problem, t, new, k[min(r, 1)]):
                return
            for i in range(sigma.shape[0]):
                put(sigma, i, scale(h, row(k[0], i)) if r == 0 else scale(h/NUDGE, sub(row(k[1], i), row(k[0], i))))
            moved(problem, sigma, y, new)
            note_rates(self.groups, self.sizes, new, 1.0/h)
            nudge(self.groups, self.sizes, y, h, new)

    def size(self, problem: LieAction, sigma: np.ndarray, y: np.ndarray, new: np.ndarray, end: np.ndarray,
             h: float) -> float:
        """end (m, d) is overwritten."""
        problem.act(sigma, new, end)
        return self.between(problem, y, new, end, h)

    def between(self, problem: LieAction, y: np.ndarray, new: np.ndarray, other: np.ndarray, h: float) -> float:
        """y is the start of the step."""
        try_sizes(self.groups, self.sizes, y, new, h)
        total = 0.0
        for i in range(y.shape[0]):
            own = self.sizes[1, self.groups[i]]
            for k in range(y.shape[1]):
                gap = other[i, k] - new[i, k]
                if gap != 0.0:
                    total += (gap/own)*(gap/own) if own > 0.0 else np.inf
        return sqrt(total/y.shape[0])

    def keep(self) -> None:
        keep_sizes(self.sizes)


def error_norm(options: Mapping[str, Any]) -> AlgebraNorm | StateNorm:
    return StateNorm() if options["norm"] == "state" else AlgebraNorm(0.0)


def for_system(norm: Any, formulated: Formulated) -> Any:
    """The norm with the fields of a system's rows, where it asks for them."""
    return StateNorm(*sizes_for_errors(formulated)) if isinstance(norm, StateNorm) else norm
