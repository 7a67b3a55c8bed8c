"""Commutator-free methods as data: every state is an exponential of a sum of stages times an earlier state.

Exact rationals, validated when they are made; which method is which, and its integrator, is in
`commutator_free` and `crouch_grossman`.
"""
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from liestep.compile.precision import coefficients

Weights = tuple[Fraction, ...]
START = -1  # as a base: the state at the beginning of the step


@dataclass(frozen=True)
class Exponential:
    """exp(h sum_r weights_r k_r).Y, Y the state `base` (number of an earlier exponential, or START).

    With `stage`, f of the result is the next stage k.
    """

    base: int
    weights: Weights
    stage: bool = False


def exponential(base: int, weights: str, stage: bool = False) -> Exponential:
    return Exponential(base, tuple(map(Fraction, weights.split())), stage)


@dataclass(frozen=True)
class ExponentialScheme:
    """Explicit method k_0 = f(y), then the exponentials in their order; exponential number `result` is the new state.

    `lower` is the number of the state of the embedded method, of order `lower_order`. Raises ValueError when an
    exponential uses a state or a stage that is not there yet, or when the weights of a new state do not add up to 1.
    """

    name: str
    order: int
    source: str
    exponentials: tuple[Exponential, ...]
    result: int
    lower: int = START
    lower_order: int = 0

    def __post_init__(self) -> None:
        stages = 1
        for number, entry in enumerate(self.exponentials):
            if not START <= entry.base < number or len(entry.weights) > stages:
                raise ValueError(f"{self.name}: exponential {number} uses what comes later")
            stages += entry.stage
        for number in (self.result, self.lower):
            if number != START and sum(self.total(number)) != 1:
                raise ValueError(f"{self.name}: weights of state {number} do not add up to 1")

    @property
    def stages(self) -> int:
        return 1 + sum(entry.stage for entry in self.exponentials)

    def total(self, number: int) -> Weights:
        """(stages,) weights of all exponentials that lead to a state: its Runge-Kutta method
        where everything commutes."""
        found = [Fraction(0)]*self.stages
        while number != START:
            for r, weight in enumerate(self.exponentials[number].weights):
                found[r] += weight
            number = self.exponentials[number].base
        return tuple(found)

    def tableau(self) -> tuple[Weights, ...]:
        """(stages, stages) Runge-Kutta matrix where everything commutes."""
        zero = (Fraction(0),)*self.stages
        return (zero, *(self.total(number) for number, entry in enumerate(self.exponentials) if entry.stage))

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """weights (e, stages), times (e,), bases (e,), stages that the results give (e,), 0 for none."""
        zeros = (Fraction(0),)*self.stages
        weights = coefficients([(entry.weights + zeros)[:self.stages] for entry in self.exponentials])
        times = coefficients([sum(self.total(number)) for number in range(len(self.exponentials))])
        gives = np.array([entry.stage for entry in self.exponentials])
        return weights, times, np.array([entry.base for entry in self.exponentials]), np.cumsum(gives)*gives

    def extended(self, name: str, source: str, more: tuple[Exponential, ...], lower_order: int) -> "ExponentialScheme":
        """The same method with exponentials for an embedded one; the last is its state."""
        entries = self.exponentials + more
        return replace(self, name=name, source=source, exponentials=entries, lower=len(entries) - 1,
                       lower_order=lower_order)
