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


def _product(s: tuple[Any, ...], t: tuple[Any, ...], bits: int, rounding: str) -> tuple[Any, ...]:
    """`mpf_mul` for rounding to nearest, in a third of its time without gmpy2: the sizes of integers are asked for
    rather than computed."""
    mantissa = s[1]*t[1]
    if not mantissa:
        return libmp.mpf_mul(s, t, bits, rounding)  # zero, infinite or no number
    return _rounded(s[0] ^ t[0], mantissa, s[2] + t[2], bits)


def _rounded(sign: int, mantissa: Any, exponent: int, bits: int) -> tuple[Any, ...]:
    """A positive mantissa to the nearest of so many bits, halves to even, without trailing zeros."""
    extra = mantissa.bit_length() - bits
    if extra > 0:
        twice = mantissa >> (extra - 1)
        up = twice & 1 and (twice & 2 or mantissa & ((1 << (extra - 1)) - 1))
        mantissa = (twice >> 1) + 1 if up else twice >> 1
        exponent += extra
    if not mantissa & 1:
        zeros = (mantissa & -mantissa).bit_length() - 1
        mantissa >>= zeros
        exponent += zeros
    return sign, mantissa, exponent, mantissa.bit_length()


def _added(s: tuple[Any, ...], t: tuple[Any, ...], bits: int, rounding: str) -> tuple[Any, ...]:
    """`mpf_add` for rounding to nearest; left to it where one number is zero or far smaller."""
    offset = s[2] - t[2]
    if not s[1] or not t[1] or abs(offset) > 2*bits:
        return libmp.mpf_add(s, t, bits, rounding)
    a, b = (-s[1] if s[0] else s[1]), (-t[1] if t[0] else t[1])
    if offset > 0:
        total, exponent = (a << offset) + b, t[2]
    else:
        total, exponent = a + (b << -offset), s[2]
    if not total:
        return libmp.fzero
    return _rounded(1, -total, exponent, bits) if total < 0 else _rounded(0, total, exponent, bits)


def _difference(s: tuple[Any, ...], t: tuple[Any, ...], bits: int, rounding: str) -> tuple[Any, ...]:
    return _added(s, (1 - t[0], *t[1:]) if t[1] else libmp.mpf_neg(t), bits, rounding)


def _arithmetic(cls: type[Number], name: str, function: Callable[..., Any],
                flip: bool) -> Callable[[Any, Any], Any]:
    """One binary operation; `flip` for the reflected one."""
    bits, new, rough = cls.BITS, object.__new__, getattr(float, name)

    def operation(self: Any, other: Any) -> Any:
        if type(other) is cls:
            b = other.value
        elif not isinstance(other, int | float):
            return NotImplemented
        else:
            exact = _exact(cls, other)
            if exact is None:
                return rough(float(self), float(other))
            b = exact
        number: Any = new(cls)
        number.value = function(b, self.value, bits, NEAREST) if flip else function(self.value, b, bits, NEAREST)
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
    for name, function in (("add", _added), ("sub", _difference), ("mul", _product), ("truediv", libmp.mpf_div)):
        setattr(cls, f"__{name}__", _arithmetic(cls, f"__{name}__", function, False))
        setattr(cls, f"__r{name}__", _arithmetic(cls, f"__r{name}__", function, True))
    for name in ("lt", "le", "gt", "ge", "eq"):
        setattr(cls, f"__{name}__", _comparison(cls, getattr(libmp, f"mpf_{name}")))
    return cls
