"""Visible features of a run that claims name: where a variable is extreme, and where a run ends."""
import numpy as np

from liestep.claims.claimfile import Extremum, State
from liestep.errors import InputError


def extrema(time: np.ndarray, variable: np.ndarray, rule: Extremum) -> tuple[np.ndarray, bool, str]:
    """Times (one for each of the rule's indices), whether all extrema are prominent, and the numbers in one line.

    Args:
        time: (time,) s.
        variable: (time, ...) samples.

    Raises:
        InputError: an index does not fit the variable's shape.
    """
    times, prominent, parts = [], True, []
    for index in rule.indices:
        if (len(index) != variable.ndim - 1
                or any(not 0 <= k < size for k, size in zip(index, variable.shape[1:], strict=True))):
            raise InputError(f"the index {index} does not fit the shape {variable.shape[1:]} that the variable has"
                             " after the time")
        series = variable[(slice(None), *index)]
        size = np.abs(np.gradient(series, time) if rule.rate else series)
        k, median = int(size.argmax() if rule.of == "largest" else size.argmin()), float(np.median(size))
        factor = size[k]/median if rule.of == "largest" else median/size[k]
        prominent = prominent and bool(factor >= rule.prominence)
        times.append(float(time[k]))
        parts.append(f"{size[k]:.4g} at t = {time[k]:.4g}, median {median:.4g}")
    return np.array(times), prominent, "; ".join(parts)


def last_difference(variable: np.ndarray, rule: State) -> float:
    """Largest difference between the components of the last sample and the expected ones.

    Raises:
        InputError: the expected components do not fit the variable's shape.
    """
    try:
        expected = np.array(rule.expected, dtype=float)
    except ValueError:
        expected = np.empty(0)
    if expected.shape != variable.shape[1:]:
        raise InputError(f"the expected components {rule.expected} do not fit the shape {variable.shape[1:]} that the"
                         " variable has after the time")
    return float(np.abs(variable[-1] - expected).max())
