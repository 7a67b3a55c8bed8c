"""The size of each field of a state, against which pairs on vector fields measure errors unless an absolute tolerance
is given: the largest of its numbers since the start."""
from typing import Any

import numpy as np

from liestep.contracts.formulated import Formulated
from liestep.contracts.option import Option
from liestep.core.dispatch import kernel
from liestep.errors import InputError, number_or_nan


def _check(value: Any) -> Any:
    """`scale`, or a positive number."""
    if value == "scale":
        return value
    number = number_or_nan(value)
    if not 0.0 < number < np.inf:
        raise InputError(f"option atol must be scale or a positive number, not {value!r}")
    return number


ATOL = Option("scale", "absolute tolerance: scale, the run's tolerance times the size of each field, so that units do"
              " not matter, or one number for all fields in their own units", normalise=_check,
              values="any positive number")


def absolute(value: Any) -> float:
    """The absolute tolerance of a checked option; 0 where it follows from the sizes."""
    return 0.0 if value == "scale" else float(value)


def sizes_of(formulated: Formulated) -> tuple[np.ndarray, np.ndarray]:
    """Groups (m,) of the rows and room for their sizes (2, groups): up to the state, and with the step that is
    tried."""
    groups = formulated.groups
    return groups, np.zeros((2, int(groups.max(initial=0)) + 1))


@kernel
def try_sizes(groups: np.ndarray, sizes: np.ndarray, y: np.ndarray, new: np.ndarray) -> None:
    """Sizes with a step from y to `new`."""
    for g in range(sizes.shape[1]):
        sizes[1, g] = sizes[0, g]
    for i in range(y.shape[0]):
        for k in range(y.shape[1]):
            sizes[1, groups[i]] = max(sizes[1, groups[i]], abs(y[i, k]), abs(new[i, k]))


@kernel
def keep_sizes(sizes: np.ndarray) -> None:
    """The step is accepted."""
    for g in range(sizes.shape[1]):
        sizes[0, g] = sizes[1, g]
