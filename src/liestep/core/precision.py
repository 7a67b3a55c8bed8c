"""Coefficients of methods in the number type of the run: float64, or numbers of many digits while a component is built
under `number_type`."""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np

Convert = Callable[[Fraction], Any]
_chosen: ContextVar[Convert | None] = ContextVar("number type of coefficients", default=None)


@contextmanager
def number_type(convert: Convert) -> Iterator[None]:
    """Components built inside have coefficients made by `convert` from exact fractions, in arrays of objects."""
    token = _chosen.set(convert)
    try:
        yield
    finally:
        _chosen.reset(token)


def chosen_type() -> Convert | None:
    """What makes a number of a fraction; None for float64."""
    return _chosen.get()


def coefficients(exact: Any) -> np.ndarray:
    """Contiguous array of exact fractions (a number, or sequences of them, of any depth), each rounded once."""
    values = np.array(exact, dtype=object)
    convert = _chosen.get()
    if convert is None:
        return np.array([float(x) for x in values.flat], dtype=np.float64).reshape(values.shape)
    out: Any = np.empty(values.shape, dtype=object)  # numpy's types know no assignment to `flat`
    out.flat = [convert(Fraction(x)) for x in values.flat]
    return out
