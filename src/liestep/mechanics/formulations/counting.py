"""Operations of a computation: it runs in plain Python on numbers that count."""
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from liestep.compile.tracing import Functions, plain_component


def _pair(function: Callable[[float, float], float]) -> tuple[Callable[["Counted", "Counted | float"], "Counted"], ...]:
    """Methods of `Counted` for an arithmetic operator, and for that with the counted number on its right."""
    return (lambda self, other: self.apply(lambda x: function(x, float(other))),
            lambda self, other: self.apply(lambda x: function(float(other), x)))


class Counted:
    """A number that adds one to a tally for every operation."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: list[int]):
        self.value, self.tally = value, tally

    def apply(self, function: Callable[[float], float]) -> "Counted":
        self.tally[0] += 1
        return Counted(function(self.value), self.tally)

    __add__, __radd__ = _pair(operator.add)
    __sub__, __rsub__ = _pair(operator.sub)
    __mul__, __rmul__ = _pair(operator.mul)
    __truediv__, __rtruediv__ = _pair(operator.truediv)

    def __neg__(self) -> "Counted":
        return Counted(-self.value, self.tally)

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        return int(self.value)  # number of a cell

    def __lt__(self, other: "Counted | float") -> bool:
        return self.value < float(other)

    def __gt__(self, other: "Counted | float") -> bool:
        return self.value > float(other)

    def __le__(self, other: "Counted | float") -> bool:
        return self.value <= float(other)

    def __ge__(self, other: "Counted | float") -> bool:
        return self.value >= float(other)

    def __abs__(self) -> "Counted":
        return Counted(abs(self.value), self.tally)


def _atan2(y: Any, x: Any) -> Any:
    counted = next((value for value in (y, x) if isinstance(value, Counted)), None)
    return math.atan2(y, x) if counted is None else counted.apply(lambda _: math.atan2(float(y), float(x)))


def _counting(function: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda x: x.apply(function) if isinstance(x, Counted) else function(x)


COUNTING = Functions(_counting(math.sqrt), _counting(math.sin), _counting(math.cos), atan2=_atan2,
                     exp=_counting(math.exp), log=_counting(math.log))


def operations(component: Any, call: Callable[..., object], *arrays: np.ndarray) -> int:
    """Operations of `call(component, *arrays, out)`, out of the shape of the last array: additions, multiplications,
    divisions and roots, each one; sines and other functions too."""
    tally = [0]
    counted = (np.array([Counted(value, tally) for value in array.ravel().tolist()], dtype=object).reshape(array.shape)
               for array in arrays)
    call(plain_component(component, COUNTING), *counted, np.zeros(arrays[-1].shape, dtype=object))
    return tally[0]
