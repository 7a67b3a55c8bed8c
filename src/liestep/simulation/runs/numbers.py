"""What a number or a mapping in a request of a run must be; whatever is wrong is refused in one sentence."""
from collections.abc import Mapping
from math import isfinite
from typing import Any

from liestep.errors import InputError, number_or_nan

MOST = 2**53  # whole numbers above it are not exact as float64


def mapping(name: str, value: Any) -> Mapping:
    """A mapping, also of a Series of pandas; empty for None. Raises InputError."""
    if value is None:
        return {}
    if hasattr(value, "to_dict") and getattr(value, "ndim", 0) == 1:  # a Series of pandas
        value = value.to_dict()
    if isinstance(value, Mapping):
        return value
    raise InputError(f"{name} must be a mapping of names to values, not {value!r}")


def finite(name: str, value: Any, kind: str = "finite") -> float:
    """A finite number that is no text; `kind` may be positive. Raises InputError."""
    number = float("nan") if isinstance(value, str | bytes) else number_or_nan(value)
    if not isfinite(number) or (kind == "positive" and number <= 0.0):
        raise InputError(f"{name} must be a {kind} number, not {value!r}")
    return number


def positive(name: str, value: Any) -> float:
    """A positive finite number. Raises InputError."""
    return finite(name, value, "positive")


def whole(name: str, value: Any) -> int:
    """A positive whole number that float64 holds exactly. Raises InputError."""
    number = positive(name, value)
    if number != int(number) or number > MOST:
        raise InputError(f"{name} must be a whole number up to 2^53, not {value!r}")
    return int(number)


def at_least_two(name: str, value: Any) -> int:
    """A whole number from 2. Raises InputError."""
    number = whole(name, value)
    if number < 2:
        raise InputError(f"{name} must be at least 2 (both ends), not {number}")
    return number
