"""Real numbers of a fixed number of digits: those of mpmath (which uses gmpy2 if it is there) that refuse to be rounded
in silence.

Whatever meets a float64 that is not a short binary fraction falls back to float64: a literal such as 1/6 that enters a
result is found at the end as a float in the state. Short fractions (0.5, 2.0, 0.0625) are exact and stay exact.
Comparisons take any number.
"""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from liestep.errors import InputError

try:
    from mpmath import MPContext, libmp
except ImportError:
    raise InputError("certificates need the package mpmath: pip install mpmath") from None

NEAREST = "n"
SHORT = 1024.0   # short binary fractions are multiples of 1/SHORT
LARGEST = 1e6    # largest short binary fraction
GUARD = 20       # bits beyond the digits asked for
OPERATIONS = tuple(f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv") for side in ("", "r"))


def short(x: float) -> bool:
    """Whether a float64 is a short binary fraction, which a formula means exactly."""
    return -LARGEST < x < LARGEST and (x*SHORT).is_integer()


class Number:
    """A number of `DIGITS` digits; made by a subclass of `numbers`."""

    __slots__ = ()
    DIGITS: int
    BITS: int
    data = False  # whether floats are data, exact as they are: see `floats_are_data`
    value = property(lambda self: self._mpf_)  # as mpmath keeps it

    @classmethod
    def of(cls, x: Any) -> Any:
        """From a whole number, a fraction, or a float64 as it is."""
        if isinstance(x, cls):
            return x
        if isinstance(x, Fraction):
            return cls.raw(libmp.from_rational(x.numerator, x.denominator, cls.BITS, NEAREST))
        return cls.raw(libmp.from_int(x) if isinstance(x, int) else libmp.from_float(float(x)))

    @classmethod
    @contextmanager
    def floats_are_data(cls) -> Iterator[None]:
        """Inside, every float64 is a datum of a problem and exact as it is: for making problems and starts."""
        cls.data = True
        try:
            yield
        finally:
            cls.data = False

    @classmethod
    def raw(cls, value: tuple[Any, ...]) -> Any:
        """From the value as mpmath keeps it."""
        number: Any = object.__new__(cls)
        number._mpf_ = value
        return number

    def exponent10(self: Any) -> float:
        """Logarithm to the base 10 of the absolute value, also far outside the range of float64; -inf for zero."""
        return float(self.context.log10(abs(self))) if self else -float("inf")


def _strict(cls: type[Number], name: str, known: Callable[[float], Any]) -> Callable[[Any, Any], Any]:
    """A binary operation of mpmath that leaves floats to float64 unless they are exact."""
    exact, rough = getattr(cls, name), getattr(float, name)

    def operation(self: Any, other: Any) -> Any:
        if isinstance(other, float):
            number = cls.of(other) if cls.data else known(other)
            return rough(float(self), float(other)) if number is None else exact(self, number)
        return exact(self, other)

    return operation


@cache
def numbers(digits: int) -> type[Number]:
    """The class of numbers of so many digits."""
    context = MPContext()
    context.prec = int(digits*3.3219281) + GUARD
    cls = type(f"Number{digits}", (Number, context.mpf), {"__slots__": (), "__hash__": None, "DIGITS": digits,
                                                          "BITS": context.prec})
    context.mpf, cls._ctxdata = cls, [cls, object.__new__, context._prec_rounding]  # results are of this class
    known = lru_cache(1024)(lambda x: cls.of(x) if short(x) else None)
    for name in OPERATIONS:
        setattr(cls, name, _strict(cls, name, known))
    return cls
