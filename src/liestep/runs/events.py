"""Events: the time at which a function of the state becomes zero, located by partial steps of the method."""
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from liestep.errors import InputError, unknown

State = Mapping[str, np.ndarray]
Until = Callable[[State], float] | tuple[str, Any, float]


def event_function(until: Any, names: Mapping[str, tuple[int, ...]]) -> Callable[[State], float]:
    """What becomes zero at the event.

    Args:
        until: a function of the state, a mapping of fields and observables by their names, to a number; or (name,
            index, value): that component reaches the value.
        names: shape of each field and observable at one time.

    Raises:
        InputError: anything else, a name that the run does not have, or an index that does not fit.
    """
    if isinstance(until, str):
        raise InputError(f"until is the text {until[:40]!r}, and no text is evaluated; allowed are a function of the"
                         " state and (field or observable, index, value)")
    if callable(until):
        return lambda state: _number(until(state))
    if not isinstance(until, tuple | list) or len(until) != 3:
        raise InputError("until must be a function of the state or (field or observable, index, value), not"
                         f" {until!r}")
    name, index, value = until
    if name not in names:
        raise InputError(f"until: {unknown('field or observable', name, names)}")
    place = () if index is None else tuple(index) if isinstance(index, tuple | list) else (index,)
    shape, level = names[name], _number(value)
    if len(place) != len(shape) or any(isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k < size
                                       for k, size in zip(place, shape, strict=False)):
        raise InputError(f"until: the index {index!r} does not fit {name}, whose shape is {shape}; one number for each"
                         " dimension, from 0")
    return lambda state: float(state[name][place]) - level


def _number(value: Any) -> float:
    """A finite number; raises InputError."""
    if isinstance(value, bool | np.bool_) or np.ndim(value) != 0:
        raise InputError(f"until must give a number that becomes zero at the event, not {value!r}")
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not np.isfinite(found):
        raise InputError(f"until must give a finite number, not {value!r}")
    return found


def first_crossing(function: Callable[[State], float], fields: State, count: int) -> int | None:
    """Number of the point before the first change of sign; None where there is none.

    Raises:
        InputError: the event holds at the start.
    """
    before = 0.0
    for k in range(count):
        value = function({name: values[k] for name, values in fields.items()})
        if k == 0 and value == 0.0:
            raise InputError("until: the event holds at the start; start elsewhere, or move its value")
        if k > 0 and (value == 0.0 or (value > 0.0) != (before > 0.0)):
            return k - 1
        before = value
    return None


def locate(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a function that changes its sign between two times, by Brent's method to round-off."""
    from scipy.optimize import brentq

    found = brentq(function, low, high, xtol=1e-15*max(1.0, high), rtol=4.0*np.finfo(np.float64).eps)
    return float(found)
