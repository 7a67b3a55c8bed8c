"""Real numbers of a fixed number of digits: those of mpmath (which uses gmpy2 if it is there) that refuse to be rounded
in silence; and their functions, with those of rotations in closed form: what stands for the kernels of `compile.rows`
and `geometry.so3` that are complete for float64 only.

Whatever meets a float64 that is not a short binary fraction falls back to float64: a literal such as 1/6 that enters a
result is found at the end as a float in the state. Short fractions (0.5, 2.0, 0.0625) are exact and stay exact.
Comparisons take any number."""
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, lru_cache, partial, wraps
from typing import Any

from mpmath import MPContext, libmp

from liestep.compile.tracing import Functions
from liestep.geometry import so3
from liestep.geometry.so3 import term

NEAREST = "n"
SHORT = 1024.0   # short binary fractions are multiples of 1/SHORT
LARGEST_SHORT = 1e6  # largest short binary fraction
GUARD = 20       # bits beyond the digits asked for
ROUGH, LOST = 10, 2.0  # digits, of which there are multiples more; powers of a squared angle that closed forms lose
OPERATIONS = tuple(f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv") for side in ("", "r"))


def short(x: float) -> bool:
    """Whether a float64 is a short binary fraction, which a formula means exactly."""
    return -LARGEST_SHORT < x < LARGEST_SHORT and (x*SHORT).is_integer()


class Number:
    """A number of `DIGITS` digits; made by a subclass of `numbers`."""

    __slots__ = ()
    DIGITS: int
    BITS: int
    context: MPContext  # in which mpmath computes with them
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
    def raw(cls, value: tuple[int, ...]) -> Any:
        """From the value as mpmath keeps it."""
        number: Any = object.__new__(cls)
        number._mpf_ = value
        return number

    def exponent10(self: Any) -> float:
        """Logarithm to the base 10 of the absolute value, also far outside the range of float64; -inf for zero."""
        return float(self.context.log10(abs(self))) if self else -float("inf")


def _strict(cls: type[Number], name: str, known: Callable[[float], Number | None]) -> Callable[[Any, Any], Any]:
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
    own = {"__slots__": (), "__hash__": None, "DIGITS": digits, "BITS": context.prec}
    cls: Any = type(f"Number{digits}", (Number, context.mpf), own)
    context.mpf, cls._ctxdata = cls, [cls, object.__new__, context._prec_rounding]  # results are of this class
    known = lru_cache(1024)(lambda x: cls.of(x) if short(x) else None)
    for name in OPERATIONS:
        setattr(cls, name, _strict(cls, name, known))
    for name in ("sin", "cos", "hypot", "arctan2"):   # of which numpy asks arrays of objects
        function = getattr(context, name.replace("arctan2", "atan2"))
        setattr(cls, name, lambda *given, function=function: function(*given))
    return cls


@cache
def functions_of(digits: int) -> Functions:
    """The table for `compile.tracing.plain_component`."""
    kind = numbers(digits)
    own = [(so3.coefficients, coefficients), (so3.dexpinv_coefficients, dexpinv_coefficients),
           (so3.dexp_coefficients, dexp_coefficients)]
    unary: dict[str, Any] = {name: _unary(kind, getattr(libmp, f"mpf_{name}"), getattr(math, name))
                             for name in ("sqrt", "sin", "cos", "exp", "log")}
    return Functions(**unary, below=lambda x, limit: x < limit,
        atan2=lambda y, x: kind.raw(libmp.mpf_atan2(kind.of(y).value, kind.of(x).value, kind.BITS, NEAREST)),
        kernels=tuple((kernel, partial(function, kind)) for kernel, function in own), scalar=kind.of)


def _unary(kind: type[Number], function: Callable[..., Any], rough: Callable[[float], float]) -> Callable[[Any], Any]:
    """NaN where the function does not exist, as its compiled counterpart; float64 stays what it is."""
    def apply(x: Any) -> Any:
        if not isinstance(x, kind):
            return rough(x)
        try:
            return kind.raw(function(x.value, kind.BITS, NEAREST))
        except libmp.ComplexResult:
            return math.nan

    return apply


def _exact(*names: str) -> Callable[[Any], Any]:
    """Decorator of closed forms of a squared angle, whose differences lose digits for small angles: they are computed
    with so many more. names: of their series, whose first terms are the values at zero."""
    def decorated(closed: Callable[..., tuple[Number, ...]]) -> Callable[..., tuple[Number, ...]]:
        @wraps(closed)
        def found(kind: type[Number], z2: Number) -> tuple[Number, ...]:
            if not z2:
                return tuple(kind.of(term(name, 0)) for name in names)
            lost = math.ceil(max(0.0, -LOST*z2.exponent10())/ROUGH)*ROUGH
            more = numbers(kind.DIGITS + ROUGH + lost)
            return tuple(kind.raw(libmp.mpf_pos(x.value, kind.BITS, NEAREST)) for x in closed(more, more.raw(z2.value)))

        return found

    return decorated


@_exact("s", "c", "d")
def coefficients(kind: type[Number], z2: Number) -> tuple[Number, ...]:
    """(s, c, d) of `geometry.so3.coefficients`."""
    table = functions_of(kind.DIGITS)
    z = table.sqrt(z2)
    s, half = table.sin(z)/z, table.sin(z/2)
    return s, 2*half*half/z2, (1 - s)/z2


@_exact("g", "g'")
def dexpinv_coefficients(kind: type[Number], z2: Any) -> tuple[Number, ...]:
    """(g, g'(z)/z) of `geometry.so3.dexpinv_coefficients`."""
    table = functions_of(kind.DIGITS)
    half = table.sqrt(z2)/2
    sine = table.sin(half)
    cotangent, ratio = half*table.cos(half)/sine, half/sine
    return (1 - cotangent)/z2, (ratio*ratio + cotangent - 2)/(z2*z2)


@_exact("c", "d", "c'", "d'")
def dexp_coefficients(kind: type[Number], z2: Number) -> tuple[Number, ...]:
    """(c, d, c'(z)/z, d'(z)/z) of `geometry.so3.dexp_coefficients`."""
    s, c, d = coefficients(kind, z2)
    return c, d, (s - 2*c)/z2, (c - 3*d)/z2
