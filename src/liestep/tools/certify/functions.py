"""Functions of numbers of many digits, and the series of rotations summed until a term no longer counts: what stands
for the kernels of `compile.rows` and `geometry.so3` that are complete for float64 only."""
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

from liestep.compile.tracing import Functions
from liestep.geometry import so3
from liestep.geometry.rotation_series import term
from liestep.tools.certify.number import NEAREST, Number, libmp, numbers

MARGIN = 32          # bits of sums of series beyond those of a number
SERIES_BELOW = 1.0   # squared angle: the closed forms lose digits below, the series of dexpinv converge up to 4 pi^2


@cache
def functions_of(digits: int) -> Functions:
    """The table for `compile.tracing.plain_component`."""
    kind = numbers(digits)
    own = [(so3.coefficients, coefficients), (so3.dexpinv_coefficients, dexpinv_coefficients),
           (so3.dexp_coefficients, dexp_coefficients)]
    return Functions(
        sqrt=_unary(kind, libmp.mpf_sqrt, math.sqrt), sin=_unary(kind, libmp.mpf_sin, math.sin),
        cos=_unary(kind, libmp.mpf_cos, math.cos), below=lambda x, limit: x < limit,
        atan2=lambda y, x: kind.raw(libmp.mpf_atan2(kind.of(y).value, kind.of(x).value, kind.BITS, NEAREST)),
        kernels=tuple((kernel, partial(function, kind)) for kernel, function in own), scalar=kind.of)


def _unary(kind: type[Number], function: Callable[..., Any], rough: Callable[[Any], float]) -> Callable[[Any], Any]:
    """NaN where the function does not exist, as its compiled counterpart; float64 stays what it is."""
    def apply(x: Any) -> Any:
        if not isinstance(x, kind):
            return rough(x)
        try:
            return kind.raw(function(x.value, kind.BITS, NEAREST))
        except libmp.ComplexResult:
            return math.nan

    return apply


@cache
def _factors(kind: type[Number], name: str) -> list[int]:
    """Coefficients of a series in the squared angle, at angle 1, as multiples of 2^-(BITS + MARGIN): enough for
    SERIES_BELOW."""
    found: list[Fraction] = []
    least = Fraction(1, 2**kind.BITS)
    while not found or abs(found[-1]) > least*abs(found[0]):
        found.append(term(name, len(found)))
    return [round(x*2**(kind.BITS + MARGIN)) for x in found]


def _sum(kind: type[Number], name: str, z2: Number) -> Number:
    """sum_k factor_k z2^k, from the first term that counts down to the largest: in whole multiples of
    2^-(BITS + MARGIN), because the first factor is of the order of 1 and the sum as well."""
    factors = _factors(kind, name)  # type: ignore[arg-type]  # numbers have no hash, their class has
    places = kind.BITS + MARGIN
    _, mantissa, exponent, bits = z2.value
    size = exponent + bits if mantissa else -10**9  # |z2| < 2^size
    count = len(factors) if size >= 0 else min(len(factors), 2 + kind.BITS//-size)
    squared = libmp.to_fixed(z2.value, places)
    total = factors[count - 1]
    for factor in reversed(factors[:count - 1]):
        total = factor + (squared*total >> places)
    return kind.raw(libmp.from_man_exp(total, -places, kind.BITS, NEAREST))


def coefficients(kind: type[Number], z2: Number) -> tuple[Any, ...]:
    """(s, c, d) of `geometry.so3.coefficients`."""
    if z2 < SERIES_BELOW:
        return _sum(kind, "s", z2), _sum(kind, "c", z2), _sum(kind, "d", z2)
    table = functions_of(kind.DIGITS)
    z = table.sqrt(z2)
    s, half = table.sin(z)/z, table.sin(z/2)
    return s, 2*half*half/z2, (1 - s)/z2


def dexpinv_coefficients(kind: type[Number], z2: Number) -> tuple[Any, ...]:
    """(g, g'(z)/z) of `geometry.so3.dexpinv_coefficients`."""
    if z2 < SERIES_BELOW:
        return _sum(kind, "g", z2), _sum(kind, "g'", z2)
    table = functions_of(kind.DIGITS)
    half = table.sqrt(z2)/2
    sine = table.sin(half)
    cotangent, ratio = half*table.cos(half)/sine, half/sine
    return (1 - cotangent)/z2, (ratio*ratio + cotangent - 2)/(z2*z2)


def dexp_coefficients(kind: type[Number], z2: Number) -> tuple[Any, ...]:
    """(c, d, c'(z)/z, d'(z)/z) of `geometry.so3.dexp_coefficients`."""
    s, c, d = coefficients(kind, z2)
    if z2 < SERIES_BELOW:
        return c, d, _sum(kind, "c'", z2), _sum(kind, "d'", z2)
    return c, d, (s - 2*c)/z2, (c - 3*d)/z2
