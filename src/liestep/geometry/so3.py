"""Rotations: exponential, its tangent map and the inverse of that map, on rotation vectors (tuples of three, radians).

A rotation vector a has the angle z = |a|; hat(a) b = a x b. The formulas are those of liegroup2021, section 2:

    exp(hat a)     = I + s hat a + c hat a hat a        s = sin z/z, c = (1 - cos z)/z^2
    dexp_a v       = v + c a x v + d a x (a x v)        d = (z - sin z)/z^3
    dexpinv_a v    = v - 1/2 a x v + g a x (a x v)      g = (1 - (z/2) cot(z/2))/z^2

dexp_a = (e^ad - 1)/ad belongs to left actions: d/dt exp(hat a) = hat(dexp_a a') exp(hat a). All functions are accurate
to round-off for every angle; dexpinv exists for z < 2 pi only (`in_chart`). Nothing raises: non-finite input gives NaN.
"""
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import comb, factorial

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, cos, cross, dot, sin, sqrt

FOUR_PI_SQUARED = 4.0*math.pi*math.pi


@kernel
def coefficients(z2: float) -> tuple[float, float, float]:
    """(s, c, d) of exp and dexp from the squared angle."""
    if z2 < 0.25:  # below, 1 - cos z and z - sin z cancel; the series are complete to 1e-17
        s = 1.0 + z2*(-1.0/6.0 + z2*(1.0/120.0 + z2*(-1.0/5040.0 + z2*(1.0/362880.0 + z2*(
            -1.0/39916800.0 + z2*(1.0/6227020800.0 - z2/1307674368000.0))))))
        c = 0.5 + z2*(-1.0/24.0 + z2*(1.0/720.0 + z2*(-1.0/40320.0 + z2*(1.0/3628800.0 + z2*(
            -1.0/479001600.0 + z2/87178291200.0)))))
        d = 1.0/6.0 + z2*(-1.0/120.0 + z2*(1.0/5040.0 + z2*(-1.0/362880.0 + z2*(1.0/39916800.0 + z2*(
            -1.0/6227020800.0 + z2/1307674368000.0)))))
    else:
        z = sqrt(z2)
        s = sin(z)/z
        half = sin(0.5*z)
        c = 2.0*half*half/z2
        d = (1.0 - s)/z2
    return s, c, d


@kernel
def dexpinv_coefficients(z2: float) -> tuple[float, float]:
    """(g, g'(z)/z) with g = (1 - (z/2) cot(z/2))/z^2 from the squared angle; poles at z = 2 pi k, k >= 1. Series: sum_k
    |B_2k|/(2k)! z^(2k-2), and (2k - 2) |B_2k|/(2k)! z^(2k-4), with the Bernoulli numbers B_2k."""
    if z2 < 0.5:
        g = 1.0/12.0 + z2*(1.0/720.0 + z2*(1.0/30240.0 + z2*(1.0/1209600.0 + z2*(1.0/47900160.0 + z2*(
            691.0/1307674368000.0 + z2*(1.0/74724249600.0 + z2*(3617.0/10670622842880000.0
            + z2*43867.0/5109094217170944000.0)))))))
        slope = 1.0/360.0 + z2*(1.0/7560.0 + z2*(1.0/201600.0 + z2*(1.0/5987520.0 + z2*(691.0/130767436800.0 + z2*(
            1.0/6227020800.0 + z2*(3617.0/762187345920000.0 + z2*(43867.0/319318388573184000.0
            + z2*(174611.0/44603203483238400000.0 + z2*77683.0/705055001969590272000.0))))))))
    else:
        half = 0.5*sqrt(z2)
        sine = sin(half)
        cotangent = half*cos(half)/sine
        ratio = half/sine
        g = (1.0 - cotangent)/z2
        slope = (ratio*ratio + cotangent - 2.0)/(z2*z2)
    return g, slope


@kernel
def in_chart(a: Vector) -> bool:
    """True where dexpinv_a exists: |a| < 2 pi. False for NaN."""
    return dot(a, a) < FOUR_PI_SQUARED


@kernel
def quadratic(x: float, y: float, a: Vector, v: Vector) -> Vector:
    """v + x a x v + y a x (a x v), the form of every function of hat a applied to v."""
    first = cross(a, v)
    second = cross(a, first)
    return v[0] + x*first[0] + y*second[0], v[1] + x*first[1] + y*second[1], v[2] + x*first[2] + y*second[2]


@kernel
def exp_apply(a: Vector, v: Vector) -> Vector:
    """exp(hat a) v: the vector v rotated by the angle |a| about a."""
    s, c, _ = coefficients(dot(a, a))
    return quadratic(s, c, a, v)


@kernel
def dexpinv(a: Vector, v: Vector) -> Vector:
    """dexpinv_a v, exact (no truncated series of brackets). Meaningful where `in_chart(a)`."""
    g, _ = dexpinv_coefficients(dot(a, a))
    return quadratic(-0.5, g, a, v)


@kernel
def dexp_coefficients(z2: float) -> tuple[float, float, float, float]:
    """(c, d, c'(z)/z, d'(z)/z) of dexp and its derivative from the squared angle. The slopes cancel for small angles,
    an error of about 1e-16/z^2; `dexp_slope` multiplies them by z^2."""
    s, c, d = coefficients(z2)
    if z2 < 1e-4:
        return c, d, -1.0/12.0 + z2/180.0, -1.0/60.0 + z2/1260.0
    return c, d, (s - 2.0*c)/z2, (c - 3.0*d)/z2


@kernel
def dexp_slope(k: tuple[float, float, float, float], a: Vector, v: Vector, u: Vector) -> Vector:
    """d/de dexp_(a + e u) v at e = 0; k = dexp_coefficients(|a|^2)."""
    first, turned = cross(a, v), cross(u, v)
    second = cross(a, first)
    mixed, other = cross(u, first), cross(a, turned)
    along = dot(a, u)
    x, y = along*k[2], along*k[3]
    return (k[0]*turned[0] + k[1]*(mixed[0] + other[0]) + x*first[0] + y*second[0],
            k[0]*turned[1] + k[1]*(mixed[1] + other[1]) + x*first[1] + y*second[1],
            k[0]*turned[2] + k[1]*(mixed[2] + other[2]) + x*first[2] + y*second[2])


@cache
def bernoulli(j: int) -> Fraction:
    """B_j, with B_1 = -1/2, from sum_{i<=j} binomial(j + 1, i) B_i = 0."""
    return Fraction(1) if j == 0 else -sum((comb(j + 1, i)*bernoulli(i) for i in range(j)), Fraction(0))/(j + 1)


TERMS: dict[str, Callable[[int], Fraction]] = {
    "s": lambda k: Fraction((-1)**k, factorial(2*k + 1)),
    "c": lambda k: Fraction((-1)**k, factorial(2*k + 2)),
    "d": lambda k: Fraction((-1)**k, factorial(2*k + 3)),
    # cos(z/2) and sin(z/2)/z
    "C": lambda k: Fraction((-1)**k, 4**k*factorial(2*k)),
    "S": lambda k: Fraction((-1)**k, 2*4**k*factorial(2*k + 1)),
    # derivatives with respect to z, divided by z
    "c'": lambda k: Fraction((-1)**(k + 1)*2*(k + 1), factorial(2*k + 4)),
    "d'": lambda k: Fraction((-1)**(k + 1)*2*(k + 1), factorial(2*k + 5)),
    "g": lambda k: abs(bernoulli(2*k + 2))/factorial(2*k + 2),
    "g'": lambda k: 2*(k + 1)*abs(bernoulli(2*k + 4))/factorial(2*k + 4)}


@cache
def term(name: str, k: int) -> Fraction:
    """Coefficient of z^(2k)."""
    return TERMS[name](k)
