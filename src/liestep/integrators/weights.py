"""Weights c_1 ... c_s of symmetric compositions Phi_(c_s h) o ... o Phi_(c_1 h) of a symmetric
one-step method of order 2, and drifts and kicks of symmetric splittings of T + V.

They are algebraic numbers, which stand in weights.toml with all digits that a certificate asks for: those before the
middle ones, from which the others follow. `tests/order_conditions.py` says what they solve."""
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from liestep.compile.precision import coefficients


def palindrome(half: Sequence[Any], count: int) -> list[Any]:
    """The numbers of a palindrome of length `count` that add up to 1, from those before the middle one, or before the
    two equal ones in the middle."""
    total = sum(half)
    if count % 2:
        return [*half, 1 - 2*total, *reversed(half)]
    last = (1 - 2*total)/2
    return [*half, last, last, *reversed(half)]


@dataclass(frozen=True)
class Scheme:
    """Palindromic weights that raise a symmetric method of order 2 to `order`. Raises ValueError: not a palindrome, or
    the substeps do not add up to one step within 1 ulp."""

    name: str
    order: int
    source: str
    weights: tuple[float, ...]
    half: tuple[Fraction, ...] = ()  # the weights before the middle one

    def __post_init__(self) -> None:
        if self.weights != self.weights[::-1]:
            raise ValueError(f"composition {self.name}: the weights are not a palindrome")
        if abs(sum(map(Fraction, self.weights), Fraction(0)) - 1) > Fraction(2)**-52:
            raise ValueError(f"composition {self.name}: the weights do not add up to 1")


def _scheme(name: str, order: int, source: str, half: Sequence[Fraction]) -> Scheme:
    """Scheme from the weights before the middle one, which makes the rounded weights add up to 1 as closely as
    possible."""
    left = tuple(map(float, half))
    middle = float(1 - 2*sum(map(Fraction, left)))
    return Scheme(name, order, source, (*left, middle, *left[::-1]), tuple(half))


@dataclass(frozen=True)
class Nystroem:
    """A symmetric splitting into `order` for kinetic energies that are quadratic in the momenta: exact flows of V
    (kicks, one more than drifts) and T (drifts) in turns, a kick first."""

    name: str
    order: int
    source: str
    count: int                     # of drifts
    drifts: tuple[Fraction, ...]   # before the middle
    kicks: tuple[Fraction, ...]    # before the middle, without the outer ones of `outer_kick` False
    outer_kick: bool = True        # False: the first and the last kick are 0, a step begins and ends with a drift

    def spread(self) -> tuple[list[Fraction], list[Fraction]]:
        """All drifts (s,) and kicks (s + 1,)."""
        drifts = palindrome(self.drifts, self.count)
        if self.outer_kick:
            return drifts, palindrome(self.kicks, self.count + 1)
        return drifts, [Fraction(0), *palindrome(self.kicks, self.count - 1), Fraction(0)]


def _given(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of the file; numbers are separated by commas, and may go on in the next line."""
    return {**entry, **{part: tuple(map(Fraction, "".join(entry[part].split()).split(",")))
                        for part in ("half", "drifts", "kicks") if part in entry}}


GIVEN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SCHEMES: dict[str, Scheme] = {"one": Scheme("one", 2, "the method itself", (1.0,)), **{
    name: _scheme(name, **_given(entry)) for name, entry in GIVEN["composition"].items()}}
NYSTROEM_SCHEMES: dict[str, Nystroem] = {
    name: Nystroem(name, **_given(entry)) for name, entry in GIVEN["nystroem"].items()}


def composition_weights(name: str) -> np.ndarray:
    """Weights of a scheme (s,) in the number type of the run."""
    scheme = SCHEMES[name]
    exact = coefficients(palindrome(scheme.half, 2*len(scheme.half) + 1))
    return exact if exact.dtype == object else np.array(scheme.weights)


# compositions as splittings: kick, drift, kick is the symmetric step of order 2
COMPOSED_SPLITTINGS = {"strang": "one", "y4": "y4", "s4": "s4", "kl6": "kl6", "kl8": "kl8"}
SPLITTING_ORDERS = ({name: SCHEMES[scheme].order for name, scheme in COMPOSED_SPLITTINGS.items()}
                    | {name: scheme.order for name, scheme in NYSTROEM_SCHEMES.items()})


def drifts_and_kicks(name: str) -> tuple[np.ndarray, ...]:
    """Drifts (s,) and kicks (s + 1,) of a splitting in the number type of the run."""
    if name in NYSTROEM_SCHEMES:
        return tuple(map(coefficients, NYSTROEM_SCHEMES[name].spread()))
    weights = composition_weights(COMPOSED_SPLITTINGS[name])
    kicks = [weights[0], *(a + b for a, b in pairwise(weights)), weights[-1]]
    return weights, 0.5*np.array(kicks, weights.dtype)
