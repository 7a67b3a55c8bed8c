"""The system's own code, run once in plain Python on what is no number of a run: on symbols, which gives the equations
of motion as expressions of heyoka, or on numbers that count operations."""
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.tracing import Functions, plain_component
from liestep.mechanics.contracts.formulated import Formulated


class NotSymbolic(Exception):
    """The equations of this system cannot be written as expressions, or they would be too large."""


class SeriesEquations(NamedTuple):
    """First-order equations for a Taylor series: pairs (variable, derivative), the start in the variables' order, and
    a map from values (time, variables) to rows of the standard form (time, m, d)."""

    equations: list[tuple]
    start: np.ndarray
    to_rows: Callable[[np.ndarray], np.ndarray]


def functions() -> Functions:
    """What stands for the functions of `compile.rows` that look at values, of parameters alone too."""
    import heyoka

    def of(name: str) -> Callable:
        def either(*values: Any) -> Any:
            if not any(isinstance(value, heyoka.expression) for value in values):
                return getattr(math, name)(*values)
            return getattr(heyoka, name)(*expressions(np.array(values, dtype=object)))
        return either

    return Functions(of("sqrt"), of("sin"), of("cos"), atan2=of("atan2"), exp=of("exp"), log=of("log"))


def expressions(values: np.ndarray) -> np.ndarray:
    """Numbers among expressions become expressions."""
    import heyoka

    return np.array([value if isinstance(value, heyoka.expression) else heyoka.expression(float(value))
                     for value in values.flat],
                    dtype=object).reshape(values.shape)


def traced(component: Any, what: str, shape: tuple[int, ...], call: Callable[[Any, np.ndarray], object]) -> np.ndarray:
    """Expressions that `call(component, out)` writes into an array of this shape, the component's code run on symbols.

    Raises:
        NotSymbolic: the code decides on values, or uses a function that expressions do not have."""
    out = np.zeros(shape, dtype=object)
    try:
        call(plain_component(component, functions()), out)
    except (TypeError, ValueError) as error:
        raise NotSymbolic(f"the {what} is not one expression: {error}") from None
    return expressions(out)


def traced_field(formulated: Formulated) -> SeriesEquations:
    """The right-hand side of a vector field on symbols; errors as of `traced`."""
    import heyoka

    m, d = formulated.start.shape
    columns = "xyz" if d == 3 else range(d)
    y = np.array(heyoka.make_vars(*(f"y{i}{k}" for i in range(m) for k in columns)), dtype=object).reshape(m, d)
    rates = traced(formulated.problem, "right-hand side", y.shape,
                   lambda problem, out: problem.rhs(heyoka.time, y, out))
    equations = list(zip(y.flat, rates.flat, strict=True))
    return SeriesEquations(equations, formulated.start.ravel(), lambda values: values.reshape(len(values), m, d))


def _pair(function: Callable[[float, float], float]) -> tuple[Callable[["Counted", "Counted | float"], "Counted"], ...]:
    """Methods of `Counted` for an arithmetic operator, and for that with the counted number on its right."""
    return (lambda self, other: self.apply(lambda x: function(x, float(other))),
            lambda self, other: self.apply(lambda x: function(float(other), x)))


class Counted(float):
    """A number that adds one to a tally for every operation."""

    __array_ufunc__ = None  # numpy's scalars leave arithmetic to these methods
    __slots__ = ("tally",)
    tally: list[int]

    def __new__(cls, value: float, tally: list[int]) -> "Counted":
        made = super().__new__(cls, value)
        made.tally = tally
        return made

    def apply(self, function: Callable[[float], float]) -> "Counted":
        self.tally[0] += 1
        return Counted(function(float(self)), self.tally)

    __add__, __radd__ = _pair(operator.add)
    __sub__, __rsub__ = _pair(operator.sub)
    __mul__, __rmul__ = _pair(operator.mul)
    __truediv__, __rtruediv__ = _pair(operator.truediv)
    __pow__, __rpow__ = _pair(operator.pow)  # type: ignore[assignment]

    def __neg__(self) -> "Counted":
        return Counted(-float(self), self.tally)

    def __abs__(self) -> "Counted":
        return Counted(abs(float(self)), self.tally)


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
