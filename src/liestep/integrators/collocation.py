"""Collocation on the unit interval: nodes as roots of polynomials in all digits of the run, and the weights that follow
(Hairer, Lubich and Wanner 2006, II.1.2)."""
from collections.abc import Sequence
from fractions import Fraction
from math import comb, perm

import numpy as np

from liestep.compile.precision import chosen_digits, coefficients

MOST_CORRECTIONS = 60


def _value(p: Sequence[Fraction | int], x: Fraction) -> Fraction:
    total = Fraction(0)
    for c in reversed(p):
        total = total*x + c
    return total


def _roots(p: Sequence[int]) -> list[Fraction]:
    """Roots of a polynomial that are all simple and real, from 0 to 1, ten digits beyond the number type of the run;
    those of a symmetric one are symmetric."""
    scale, slope = 10**(chosen_digits() + 10), [k*c for k, c in enumerate(p)][1:]
    found = []
    for start in sorted(np.roots([float(c) for c in reversed(p)]).real):
        x = Fraction(round(start*scale), scale)
        for _ in range(MOST_CORRECTIONS):
            change = Fraction(round(_value(p, x)/_value(slope, x)*scale), scale)
            x -= change
            if abs(change)*scale <= 1:
                break
        found.append(x)
    return [(x + 1 - y)/2 for x, y in zip(found, reversed(found), strict=True)]


def _derivative(power: int, order: int) -> list[int]:
    """Coefficients of the derivative of this order of x^power (x - 1)^power, lowest first."""
    full = [0]*power + [comb(power, k)*(-1)**(power - k) for k in range(power + 1)]
    return [c*perm(k, order) for k, c in enumerate(full)][order:]


def gauss_nodes(stages: int) -> list[Fraction]:
    """Nodes of order 2s: roots of the shifted Legendre polynomial."""
    return _roots(_derivative(stages, stages))


def lobatto_nodes(stages: int) -> list[Fraction]:
    """Nodes of order 2s - 2, 0 and 1 among them."""
    return _roots(_derivative(stages - 1, stages - 2))


def fractions(nodes: Sequence[Fraction]) -> tuple[list[list[Fraction]], list[Fraction]]:
    """a_ij, the integral of the Lagrange polynomial l_j from 0 to c_i, and b_j, that to 1."""
    a: list[list[Fraction]] = [[] for _ in nodes]
    b = []
    for j, node in enumerate(nodes):
        p, size = [Fraction(1)], Fraction(1)
        for k, other in enumerate(nodes):
            if k != j:
                p = [low - other*high for low, high in zip([Fraction(0), *p], [*p, Fraction(0)], strict=True)]
                size *= node - other
        integral = [Fraction(0), *(c/(k + 1)/size for k, c in enumerate(p))]
        b.append(_value(integral, Fraction(1)))
        for row, end in zip(a, nodes, strict=True):
            row.append(_value(integral, end))
    return a, b


def tableau(nodes: Sequence[Fraction]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(a, b, c) in the number type of the run."""
    a, b = fractions(nodes)
    return coefficients(a), coefficients(b), coefficients(nodes)


def partner(nodes: Sequence[Fraction]) -> np.ndarray:
    """The matrix that makes collocation and itself a symplectic pair, b_j (1 - a_ji/b_i): IIIB beside IIIA of Lobatto.
    """
    a, b = fractions(nodes)
    every = range(len(b))
    return coefficients([[b[j]*(1 - a[j][i]/b[i]) for j in every] for i in every])
