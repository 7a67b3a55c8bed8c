"""What a number or a mapping in a request of a run must be; whatever is wrong is refused in one sentence."""
from collections.abc import Mapping
from math import isfinite
from typing import Any

from liestep.errors import InputError, number_or_nan

MOST = 2**53  # whole numbers above it are not exact as float64


def mapping(name: str, value: Any) -> Mapping:
    """A mapping, also of a Series of pandas; empty for None. Raises InputError, for values with other labels too."""
    if value is None:
        return {}
    if hasattr(value, "to_dict") and getattr(value, "ndim", 0) == 1:  # a Series of pandas
        value = value.to_dict()
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a mapping of names to values, not of type {type(value).__name__}")
    for key, one in value.items():
        axes = [one.index, *([one.columns] if one.ndim > 1 else ())] if hasattr(one, "iloc") else ()  # of pandas
        if any([*axis] != [*range(len(axis))] for axis in axes) or "member" in getattr(one, "dims", ())[1:]:
            raise InputError(f"{name} {key} has labels, and numbers are taken by their places, members first: give"
                             " them in that order, `.to_numpy()`")
    return value


def finite(name: str, value: Any, kind: str = "finite") -> float:
    """A finite number that is no text; `kind` may be positive. Raises InputError."""
    number = float("nan") if isinstance(value, str | bytes) else number_or_nan(value)
    if not isfinite(number) or (kind == "positive" and number <= 0.0):
        many = isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0
        raise InputError(f"{name} must be a {kind} number, not {f'{len(value)} of them' if many else repr(value)}")
    return number


def positive(name: str, value: float | str | None) -> float:
    """A positive finite number. Raises InputError."""
    return finite(name, value, "positive")


def whole(name: str, value: float | str | None) -> int:
    """A positive whole number that float64 holds exactly. Raises InputError."""
    number = positive(name, value)
    if number != int(number) or number > MOST:
        raise InputError(f"{name} must be a whole number up to 2^53, not {value!r}")
    return int(number)


def at_least_two(name: str, value: float | str | None) -> int:
    """A whole number from 2. Raises InputError."""
    number = whole(name, value)
    if number < 2:
        raise InputError(f"{name} must be at least 2 (both ends), not {number}")
    return number
