"""dexpinv_sigma(v) as a component of Munthe-Kaas methods: exact, or its series cut after some commutators."""
from collections.abc import Mapping
from fractions import Fraction
from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.precision import coefficients
from liestep.compile.rows import axpy, copy, put, row
from liestep.mechanics.contracts.formulations import LieAction
from liestep.mechanics.contracts.option import Option

DEXPINV = {"dexpinv": Option("exact", "exact, or its series cut after so many nested commutators", ("exact",), "whole")}


class Exact(NamedTuple):
    """The closed form of the action; False where it ends, at a rotation by 2 pi."""

    commutators: int  # not used; a component has at least one field

    def apply(self, problem: LieAction, sigma: np.ndarray, v: np.ndarray, scratch: np.ndarray) -> bool:
        """v = dexpinv_sigma(v) in place."""
        return problem.dexpinv(sigma, v, v)

    def in_chart(self, problem: LieAction, sigma: np.ndarray) -> bool:
        """Whether exp is invertible from sigma back to 0 without a singularity of dexpinv."""
        return problem.in_chart(sigma)


class Truncated(NamedTuple):
    """v - 1/2 [sigma, v] + 1/12 [sigma, [sigma, v]] - 1/720 ad^4 v + ...: coefficients B_j/j!
    with the Bernoulli numbers."""

    coefficients: np.ndarray  # (K + 1,)

    def apply(self, problem: LieAction, sigma: np.ndarray, v: np.ndarray, scratch: np.ndarray) -> bool:
        """v = cut series in place; it exists for every sigma."""
        copy(v, scratch)
        for j in range(1, self.coefficients.shape[0]):
            problem.bracket(sigma, scratch, scratch)
            if self.coefficients[j] != 0.0:
                for i in range(v.shape[0]):
                    put(v, i, axpy(self.coefficients[j], row(scratch, i), row(v, i)))
        return True

    def in_chart(self, problem: LieAction, sigma: np.ndarray) -> bool:
        """The series has no limit."""
        return True


def series(commutators: int) -> list[Fraction]:
    """B_j/j! for j = 0..K without zeros at the end (B_1 = -1/2), from sum_{i<=j} binomial(j + 1, i) B_i = 0."""
    numbers = [Fraction(1)]
    for j in range(1, commutators + 1):
        numbers.append(-sum((comb(j + 1, i)*numbers[i] for i in range(j)), Fraction(0))/(j + 1))
    terms = [number/factorial(j) for j, number in enumerate(numbers)]
    while not terms[-1]:
        terms.pop()
    return terms


def dexpinv_component(options: Mapping[str, Any]) -> Exact | Truncated:
    """Component of a checked option `dexpinv`."""
    if options["dexpinv"] == "exact":
        return Exact(0)
    return Truncated(coefficients(series(options["dexpinv"])))


def chart_order(order: int, options: Mapping[str, Any]) -> int:
    """Order of a method that takes the option `chart` for the exponential: Cayley maps agree with it to h^2, a chart of
    the second kind to h."""
    return min(order, {"exp": order, "second_kind": 1}.get(options.get("chart", "exp"), 2))


def truncated_order(order: int, options: Mapping[str, Any]) -> int:
    """Order of a Munthe-Kaas method whose tableau has order `order`.

    ad_sigma sigma' = O(h^2), hence ad_sigma^j f = O(h^(j+1)); the first term left out that is not zero has j = K + 1,
    or K + 2 for even K >= 2 (odd Bernoulli numbers vanish), and its integral over a step is O(h^(j+2)): order j + 1."""
    if options["dexpinv"] == "exact":
        return order
    if options.get("chart", "exp") != "exp":  # the series is that of the exponential
        return chart_order(order, options)
    first = len(series(options["dexpinv"]))
    return min(order, first + 1 if first <= 2 else first + 2)
