"""Real numbers of a fixed number of digits, on the arithmetic of mpmath (which uses gmpy2 if it is there).

Whatever meets a float64 that is not a short binary fraction falls back to float64: a literal such as 1/6 that enters a
result is found at the end as a float in the state. Short fractions (0.5, 2.0, 0.0625) are exact and stay exact.
Comparisons take any number.
"""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from liestep.errors import InputError

try:
    from mpmath import libmp
except ImportError:
    raise InputError("certificates need the package mpmath: pip install mpmath") from None

NEAREST = "n"
SHORT = 1024.0   # short binary fractions are multiples of 1/SHORT
LARGEST = 1e6    # largest short binary fraction
GUARD = 20       # bits beyond the digits asked for
OPERATIONS = {"add": libmp.mpf_add, "sub": libmp.mpf_sub, "mul": libmp.mpf_mul, "truediv": libmp.mpf_div}


def short(x: float) -> bool:
    """Whether a float64 is a short binary fraction, which a formula means exactly."""
    return -LARGEST < x < LARGEST and (x*SHORT).is_integer()


class Number:
    """A number of `DIGITS` digits; made by a subclass of `numbers`."""

    __slots__ = ("value",)
    value: tuple[Any, ...]  # as mpmath keeps it
    DIGITS: int
    BITS: int
    data = False  # whether floats are data, exact as they are: see `floats_are_data`

    @classmethod
    def of(cls, x: Any) -> "Number":
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
    def raw(cls, value: tuple[Any, ...]) -> "Number":
        """From the value as mpmath keeps it."""
        number = object.__new__(cls)
        number.value = value
        return number

    def __float__(self) -> float:
        return libmp.to_float(self.value, rnd=NEAREST)

    def __repr__(self) -> str:
        return libmp.to_str(self.value, 20)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self.value != libmp.fzero

    def __neg__(self) -> "Number":
        return self.raw(libmp.mpf_neg(self.value))

    def __abs__(self) -> "Number":
        return self.raw(libmp.mpf_abs(self.value))

    def conjugate(self) -> "Number":
        """Itself; with `sqrt`, what norms of numpy ask objects for."""
        return self

    def sqrt(self) -> "Number":
        return self.raw(libmp.mpf_sqrt(self.value, self.BITS, NEAREST))

    def __pow__(self, power: Any) -> "Number | float":
        if isinstance(power, int):
            return self.raw(libmp.mpf_pow_int(self.value, power, self.BITS, NEAREST))
        return float(self)**float(power)

    if TYPE_CHECKING:  # `numbers` gives them to each class; a float64 that is no short fraction makes a float
        def __add__(self, other: Any) -> Any: ...
        def __radd__(self, other: Any) -> Any: ...
        def __sub__(self, other: Any) -> Any: ...
        def __rsub__(self, other: Any) -> Any: ...
        def __mul__(self, other: Any) -> Any: ...
        def __rmul__(self, other: Any) -> Any: ...
        def __truediv__(self, other: Any) -> Any: ...
        def __rtruediv__(self, other: Any) -> Any: ...
        def __lt__(self, other: Any) -> bool: ...
        def __le__(self, other: Any) -> bool: ...
        def __gt__(self, other: Any) -> bool: ...
        def __ge__(self, other: Any) -> bool: ...

    def exponent2(self) -> int:
        """The smallest n with |x| < 2^n; very negative for zero."""
        _, mantissa, exponent, size = self.value
        return exponent + size if mantissa else -10**9

    def exponent10(self) -> float:
        """Logarithm to the base 10 of the absolute value, also far outside the range of float64; -inf for zero."""
        if self.value == libmp.fzero:
            return -float("inf")
        return libmp.to_float(libmp.mpf_div(libmp.mpf_log(libmp.mpf_abs(self.value), 80, NEAREST),
                                            libmp.mpf_log(libmp.from_int(10), 80, NEAREST), 80, NEAREST))


def _exact(cls: type[Number], x: int | float) -> tuple[Any, ...] | None:
    """Value of an operand that is exact: whole, or a short fraction; None for any other float."""
    if not (isinstance(x, int) or short(x) or cls.data):
        return None
    return _value(x)


@lru_cache(1024)
def _value(x: int | float) -> tuple[Any, ...]:
    return libmp.from_int(x) if isinstance(x, int) else libmp.from_float(float(x))


def _arithmetic(cls: type[Number], name: str, inner: Callable[..., Any], flip: bool) -> Callable[[Any, Any], Any]:
    """One binary operation; `flip` for the reflected one."""
    new, rough, bits = object.__new__, getattr(float, name), cls.BITS

    def operation(self: Any, other: Any) -> Any:
        if type(other) is cls:
            t = other.value
        elif not isinstance(other, int | float):
            return NotImplemented
        else:
            exact = _exact(cls, other)
            if exact is None:
                return rough(float(self), float(other))
            t = exact
        number: Any = new(cls)
        number.value = inner(t, self.value, bits, NEAREST) if flip else inner(self.value, t, bits, NEAREST)
        return number

    return operation


def _comparison(cls: type[Number], function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: Any) -> Any:
        if type(other) is cls:
            return function(self.value, other.value)
        if isinstance(other, int):
            return function(self.value, libmp.from_int(other))
        return function(self.value, libmp.from_float(float(other))) if isinstance(other, float) else NotImplemented

    return compare


@cache
def numbers(digits: int) -> type[Number]:
    """The class of numbers of so many digits."""
    bits = int(digits*3.3219281) + GUARD
    cls = type(f"Number{digits}", (Number,), {"__slots__": (), "DIGITS": digits, "BITS": bits})
    for name, function in OPERATIONS.items():
        setattr(cls, f"__{name}__", _arithmetic(cls, f"__{name}__", function, False))
        setattr(cls, f"__r{name}__", _arithmetic(cls, f"__r{name}__", function, True))
    for name in ("lt", "le", "gt", "ge", "eq"):
        setattr(cls, f"__{name}__", _comparison(cls, getattr(libmp, f"mpf_{name}")))
    return cls
