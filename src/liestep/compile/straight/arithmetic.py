"""Arithmetic on which recurrences are written, as `compile.straight.writer` is: numbers and packs of numbers
(`compile.straight.packs`). A Python number among the operands is a constant."""
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np


class Numbers:
    """Arithmetic of the numbers themselves, without fused operations; packs are arrays."""

    def __init__(self, functions: dict[str, Callable], one: Any = 1.0):
        """one: the number 1, in which fractions are written."""
        self.functions, self.one = functions, one

    add, sub, mul, div, part = map(staticmethod, (operator.add, operator.sub, operator.mul, operator.truediv,
                                                  operator.truediv))

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return a*b + c

    def call(self, name: str, *args: Any) -> Any:
        return self.functions[name](*args)

    def constant(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return np.array([self.constant(x) for x in value])
        return value.numerator*self.one/value.denominator if isinstance(value, Fraction) else value

    def gather(self, values: Sequence[Any]) -> Any:
        return np.array(values)

    def member(self, pack: Any, i: int) -> Any:
        return pack[i]

    def turn(self, pack: Any, places: Sequence[int]) -> Any:
        return pack[list(places)]

    def whole(self, pack: Any) -> Any:
        return sum(pack[1:], start=pack[0])


PLAIN = Numbers({"sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "atan2": math.atan2, "exp": math.exp,
                 "log": math.log})
