"""Coefficients of methods in the number type of the run: float64, or numbers of many digits while a component is built
under `number_type`."""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np

from liestep.compile.trees import made_once

Convert = Callable[[Fraction], Any]
FLOAT_DIGITS = 16  # of float64: eps is 2.2e-16
_chosen: ContextVar[Convert | None] = ContextVar("number type of coefficients", default=None)
_digits: ContextVar[int] = ContextVar("digits of the number type", default=FLOAT_DIGITS)


@contextmanager
def number_type(convert: Convert, digits: int) -> Iterator[None]:
    """Components built inside have coefficients made by `convert` from exact fractions, in arrays of objects, and are
    as accurate as numbers of so many decimal digits."""
    tokens = _chosen.set(convert), _digits.set(digits)
    try:
        yield
    finally:
        _chosen.reset(tokens[0])
        _digits.reset(tokens[1])


def above_round_off(digits: int) -> float:
    """Relative size that lies so many decimal digits above the round-off of the chosen number type: an iteration with
    updates below it that no longer shrink has ended."""
    return float(f"1e-{_digits.get() - digits}")


def chosen_digits() -> int:
    """Decimal digits of the number type of the run."""
    return _digits.get()


def coefficients(exact: Any) -> np.ndarray:
    """Contiguous array of exact fractions (a number, or sequences of them, of any depth), each rounded once."""
    convert = _chosen.get()
    if convert is None:
        return _rounded(exact).copy() if isinstance(exact, tuple) else np.array(exact, dtype=np.float64, order="C")
    values = np.array(exact, dtype=object)
    out: Any = np.empty(values.shape, dtype=object)  # numpy's types know no assignment to `flat`
    out.flat = [convert(Fraction(x)) for x in values.flat]
    return out


@made_once
def _rounded(exact: tuple) -> np.ndarray:
    return np.array(exact, dtype=np.float64, order="C")
