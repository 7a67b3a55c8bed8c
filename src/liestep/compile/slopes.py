"""Numbers with an infinitesimal part, x + e d with e^2 = 0: methods of components that run on them give derivatives.
x and d are numbers or nodes of expressions."""
from collections.abc import Callable
from typing import Any

from liestep.compile.tracing import Functions


class Slope:
    """x + e d"""

    __array_ufunc__ = None  # numpy's scalars leave arithmetic to these methods
    __slots__ = ("d", "x")

    def __init__(self, x: Any, d: Any):
        self.x, self.d = x, d

    def __add__(self, other: Any) -> "Slope":
        x, d = parts(other)
        return Slope(self.x + x, self.d + d)

    __radd__ = __add__

    def __neg__(self) -> "Slope":
        return Slope(-1.0*self.x, -1.0*self.d)

    def __sub__(self, other: Any) -> "Slope":
        x, d = parts(other)
        return Slope(self.x - x, self.d - d)

    def __rsub__(self, other: Any) -> "Slope":
        return -self + other

    def __mul__(self, other: Any) -> "Slope":
        x, d = parts(other)
        return Slope(self.x*x, self.x*d + self.d*x)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Slope":
        x, d = parts(other)
        ratio = self.x/x
        return Slope(ratio, (self.d - ratio*d)/x)

    def __rtruediv__(self, other: Any) -> "Slope":
        return Slope(other, 0.0)/self

    def __lt__(self, other: Any) -> Any:
        return self.x < parts(other)[0]

    def __gt__(self, other: Any) -> Any:
        return self.x > parts(other)[0]

    def __abs__(self) -> "Slope":
        return self if self.x > 0.0 else -self


def with_slopes(functions: Functions) -> Functions:
    """Functions of numbers or nodes, of slopes as well."""
    def of(function: Callable, slope: Callable) -> Callable:
        def apply(x: Any) -> Any:
            value = function(parts(x)[0])
            return Slope(value, slope(x, value)) if isinstance(x, Slope) else value

        return apply

    return functions._replace(sqrt=of(functions.sqrt, lambda x, root: x.d*(0.5/root)),
                              sin=of(functions.sin, lambda x, _: functions.cos(x.x)*x.d),
                              cos=of(functions.cos, lambda x, _: -1.0*functions.sin(x.x)*x.d),
                              exp=of(functions.exp, lambda x, value: value*x.d),
                              log=of(functions.log, lambda x, _: x.d/x.x))


def parts(value: Any) -> tuple[Any, Any]:
    """x and d of any number."""
    return (value.x, value.d) if isinstance(value, Slope) else (value, 0.0)
