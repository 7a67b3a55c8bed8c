"""Correctly rounded sine and cosine for the module of `docs.site.live`, so that every browser has the same bits.

Sums of two doubles, a + b with |b| <= ulp(a)/2, carry more than 95 bits; no fused operation is needed. Written for
liestep, under its licence (MIT). The C library of Linux gives other bits for one argument in 850, by 0.516 ulp."""
from fractions import Fraction
from math import factorial

import numpy as np

from liestep.compile.dispatch import kernel

Pair = tuple[float, float]
TURNS = 2.0**19     # quarter turns from which on the argument is given up (NaN): no step turns a body that far
SPLIT = 2.0**27 + 1
PARTS = np.array(list(map(float.fromhex, (  # pi/2 in numbers of 32 bits
    "0x1.921fb544p+0", "0x1.0b4611a8p-34", "-0x1.d9cceba4p-66", "0x1.b839a2p-104", "0x1.48127044p-130",
    "0x1.4cf98e8p-164"))))
# (15, 2, 2): coefficients (-1)^n/k! for k = 2n + 1 and 2n, the last first, as sums of two doubles
SERIES = np.array([[float(value), float(value - Fraction(float(value)))] for value in (
    Fraction((-1)**(k//2), factorial(k)) for k in range(29, -1, -1))]).reshape(15, 2, 2)


@kernel
def add(a: Pair, b: Pair) -> Pair:
    """a + b."""
    s = a[0] + b[0]
    v = s - a[0]
    low = (a[0] - (s - v)) + (b[0] - v) + (a[1] + b[1])
    high = s + low
    return high, low - (high - s)


@kernel
def multiply(a: Pair, b: Pair) -> Pair:
    """a b."""
    p, c, d = a[0]*b[0], SPLIT*a[0], SPLIT*b[0]
    a1, b1 = c - (c - a[0]), d - (d - b[0])
    a2, b2 = a[0] - a1, b[0] - b1
    low = ((a1*b1 - p) + a1*b2 + a2*b1) + a2*b2 + (a[0]*b[1] + a[1]*b[0])
    high = p + low
    return high, low - (high - p)


def sine(x: float, quarters: int) -> float:
    """sin(x + quarters pi/2), correctly rounded."""
    turns = np.floor(x/1.5707963267948966 + 0.5)
    if not abs(turns) < TURNS:
        return np.nan
    r = (x, 0.0)
    for k in range(PARTS.shape[0]):
        r = add(r, (-turns*PARTS[k], 0.0))  # an exact product
    place = (int(turns) + quarters) & 3
    square = multiply(r, r)
    value = (0.0, 0.0)
    for k in range(SERIES.shape[0]):
        c = SERIES[k, place & 1]
        value = add(multiply(value, square), (c[0], c[1]))
    if not place & 1:
        value = multiply(value, r)
    return -value[0] if place & 2 else value[0]
