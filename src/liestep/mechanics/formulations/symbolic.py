"""Equations of motion as expressions of heyoka: the system's own code, run once on symbols."""
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.roles import System
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
        NotSymbolic: the code decides on values, or uses a function that expressions do not have.
    """
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


def symbolic_gradient(system: System, q: np.ndarray) -> np.ndarray:
    """The system's `gradient` at symbols q (n, 3), as expressions; errors as of `traced`."""
    return traced(system, "gradient", q.shape, lambda plain, out: plain.gradient(q, out))
