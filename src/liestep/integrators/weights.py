"""Weights c_1 ... c_s of symmetric compositions Phi_(c_s h) o ... o Phi_(c_1 h) of a symmetric
one-step method of order 2.

They are algebraic numbers, known to 20 digits or more; with numbers of many digits they are refined on their order
conditions (`order_conditions`).
"""
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from liestep.core.precision import Convert, chosen_type
from liestep.integrators.order_conditions import refined


@dataclass(frozen=True)
class Scheme:
    """Palindromic weights that raise a symmetric method of order 2 to `order`.

    Raises:
        ValueError: not a palindrome, or the substeps do not add up to one step within 1 ulp.
    """

    name: str
    order: int
    source: str
    weights: tuple[float, ...]
    decimals: tuple[Fraction, ...] = ()  # the weights before the middle one, in all digits that are known

    def __post_init__(self) -> None:
        if self.weights != self.weights[::-1]:
            raise ValueError(f"composition {self.name}: the weights are not a palindrome")
        if abs(sum(map(Fraction, self.weights), Fraction(0)) - 1) > Fraction(2)**-52:
            raise ValueError(f"composition {self.name}: the weights do not add up to 1")


def _scheme(name: str, order: int, source: str, half: list[Decimal]) -> Scheme:
    """Scheme from the weights before the middle one, which makes the rounded weights add up to
    1 as closely as possible."""
    left = tuple(float(x) for x in half)
    middle = float(1 - 2*sum(map(Fraction, left)))
    return Scheme(name, order, source, (*left, middle, *left[::-1]), tuple(map(Fraction, half)))


def _decimals(text: str) -> list[Decimal]:
    return [Decimal(item) for item in text.split()]


def _jump(root: int, count: int = 2) -> Decimal:
    """1/(count - count^(1/root)), to 40 digits: the outer weight of Yoshida's (count 2) and Suzuki's
    (count 4) constructions."""
    with localcontext(prec=40):
        return 1/(count - Decimal(count)**(Decimal(1)/root))


def _triple_jump_of_y4() -> list[Decimal]:
    with localcontext(prec=40):
        inner, outer = _jump(3), _jump(5)
        y4 = [inner, 1 - 2*inner, inner]
        return [outer*x for x in y4] + [(1 - 2*outer)*inner]


_YOSHIDA = "Yoshida 1990, Phys. Lett. A 150, 262"
_KAHAN_LI = "Kahan and Li 1997, Math. Comp. 66, 1089"

SCHEMES: dict[str, Scheme] = {scheme.name: scheme for scheme in (
    Scheme("one", 2, "the method itself", (1.0,)),
    _scheme("y4", 4, f"{_YOSHIDA}, triple jump", [_jump(3)]),
    _scheme("s4", 4, "Suzuki 1990, Phys. Lett. A 146, 319", [_jump(3, 4)]*2),
    _scheme("y6", 6, f"{_YOSHIDA}, solution A of order 6", _decimals(
        "0.78451361047755726382 0.23557321335935813368 -1.17767998417887100695")),
    _scheme("y6j", 6, f"{_YOSHIDA}, triple jump of y4", _triple_jump_of_y4()),
    _scheme("kl6", 6, f"{_KAHAN_LI}, 9 stages", _decimals(
        "0.39216144400731413927925056 0.33259913678935943859974864 -0.70624617255763935980996482"
        " 0.08221359629355080023149045")),
    _scheme("kl8", 8, f"{_KAHAN_LI}, 17 stages", _decimals(
        "0.13020248308889008087881763 0.56116298177510838456196441 -0.38947496264484728640807860"
        " 0.15884190655515560089621075 -0.39590389413323757733623154 0.18453964097831570709183254"
        " 0.25837438768632204729397911 0.29501172360931029887096624")),
)}

WEIGHTS: dict[str, tuple[float, ...]] = {name: scheme.weights for name, scheme in SCHEMES.items()}


def composition_weights(name: str) -> np.ndarray:
    """Weights of a scheme (s,) in the number type of the run."""
    convert = chosen_type()
    return np.array(WEIGHTS[name] if convert is None else _refined(name, convert))


@cache
def _refined(name: str, convert: Convert) -> list[Any]:
    return refined(SCHEMES[name].decimals, SCHEMES[name].order, convert)
