"""Power series in the squared angle z^2 of the functions of `geometry.so3` and `geometry.charts`, as fractions: what
stands for the closed forms where these cannot be evaluated (symbols at the angle zero) or do not have enough digits."""
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import comb, factorial


@cache
def _bernoulli(j: int) -> Fraction:
    return Fraction(1) if j == 0 else -sum((comb(j + 1, i)*_bernoulli(i) for i in range(j)), Fraction(0))/(j + 1)


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
    "g": lambda k: abs(_bernoulli(2*k + 2))/factorial(2*k + 2),
    "g'": lambda k: 2*(k + 1)*abs(_bernoulli(2*k + 4))/factorial(2*k + 4)}


@cache
def term(name: str, k: int) -> Fraction:
    """Coefficient of z^(2k)."""
    return TERMS[name](k)
