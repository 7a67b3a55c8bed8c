"""Complex numbers as real numbers with a derivative in the compiled core: x + i e d with e = SIZE.

Products of two imaginary parts underflow to zero, so that the real part of every sum, product and quotient is that of
plain float64 numbers, to the last bit, and the imaginary part follows the rules of differentiation. Comparisons look at
the real part; functions of `math` are continued by their derivatives. Numba itself refuses all of these for
complex numbers, so that nothing which compiles without this module means anything else with it.

A product of two imaginary parts that underflows costs a processor some hundred cycles, so the kernels for vectors of
three leave it out; it would add zero."""
import math
import operator
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from liestep.compile import rows
from liestep.compile.inlining import variant
from liestep.compile.roles import Problem
from liestep.compile.status import Status

SIZE = 1e-200  # of a unit derivative; nothing is subtracted, so that the unit of a number does not matter


def _complex(kind: types.Type) -> bool:
    return isinstance(kind, types.Complex)


def _compared(a: types.Type, b: types.Type) -> bool:
    """Whether two types are numbers, at least one of them complex."""
    numbers = types.Complex | types.Float | types.Integer
    return isinstance(a, numbers) and isinstance(b, numbers) and (_complex(a) or _complex(b))


def _order(relation: Callable[[float, float], bool]) -> None:
    @overload(relation)
    def compare(a, b):
        if _compared(a, b):
            return lambda a, b: relation(a.real, b.real)
        return None


for _relation in (operator.lt, operator.le, operator.gt, operator.ge):
    _order(_relation)


@overload(int)
def _int(x):
    return (lambda x: int(x.real)) if _complex(x) else None


def _continued(function: Callable[[float], float], slope: Callable[[float, float], float]) -> None:
    """A function f of real numbers x by its slope(x, f(x))."""
    value, rate = register_jitable(lambda x: function(x)), register_jitable(slope)

    @overload(function)
    def continued(x):
        return (lambda x: complex(value(x.real), x.imag*rate(x.real, value(x.real)))) if _complex(x) else None


_continued(math.sin, lambda x, f: math.cos(x))
_continued(math.cos, lambda x, f: -math.sin(x))
_continued(math.tan, lambda x, f: 1.0 + f*f)
_continued(math.exp, lambda x, f: f)
_continued(math.log, lambda x, f: 1.0/x)


@overload(math.sqrt)
def _sqrt(x):
    if not _complex(x):
        return None

    def sqrt(x):
        root = math.sqrt(x.real)
        return complex(root, 0.5*x.imag/root)

    return sqrt


@overload(math.atan2)
def _atan2(y, x):
    if not _compared(y, x):
        return None

    def atan2(y, x):
        square = x.real*x.real + y.real*y.real
        return complex(math.atan2(y.real, x.real), (x.real*y.imag - y.real*x.imag)/square)

    return atan2


VECTOR = types.UniTuple(types.complex128, 3)


def _scaled(kinds: tuple[types.Type, ...]) -> bool:
    return isinstance(kinds[0], types.Float | types.Integer) and all(kind == VECTOR for kind in kinds[1:])


def _vectors(kinds: tuple[types.Type, ...]) -> bool:
    return all(kind == VECTOR for kind in kinds)


def _numbers(kinds: tuple[types.Type, ...]) -> bool:
    return any(map(_complex, kinds))


def _scale(s, u):
    return (complex(s*u[0].real, s*u[0].imag), complex(s*u[1].real, s*u[1].imag), complex(s*u[2].real, s*u[2].imag))


def _axpy(s, u, v):
    return (complex(s*u[0].real + v[0].real, s*u[0].imag + v[0].imag),
            complex(s*u[1].real + v[1].real, s*u[1].imag + v[1].imag),
            complex(s*u[2].real + v[2].real, s*u[2].imag + v[2].imag))


def _dot(u, v):
    return complex(u[0].real*v[0].real + u[1].real*v[1].real + u[2].real*v[2].real,
                   (u[0].real*v[0].imag + u[0].imag*v[0].real) + (u[1].real*v[1].imag + u[1].imag*v[1].real)
                   + (u[2].real*v[2].imag + u[2].imag*v[2].real))


def _cross(u, v):
    return (complex(u[1].real*v[2].real - u[2].real*v[1].real, (u[1].real*v[2].imag + u[1].imag*v[2].real)
                    - (u[2].real*v[1].imag + u[2].imag*v[1].real)),
            complex(u[2].real*v[0].real - u[0].real*v[2].real, (u[2].real*v[0].imag + u[2].imag*v[0].real)
                    - (u[0].real*v[2].imag + u[0].imag*v[2].real)),
            complex(u[0].real*v[1].real - u[1].real*v[0].real, (u[0].real*v[1].imag + u[0].imag*v[1].real)
                    - (u[1].real*v[0].imag + u[1].imag*v[0].real)))


variant(rows.scale, _scaled, _scale)
variant(rows.axpy, _scaled, _axpy)
variant(rows.dot, _vectors, _dot)
variant(rows.cross, _vectors, _cross)
variant(rows.if_equal, _numbers, lambda left, right, a, b: a if left.real == right.real else b)
variant(rows.quotient, _numbers, lambda a, b: a/b if b.real != 0.0 else complex(a.real*np.inf, 0.0))


class Silent(NamedTuple):
    """A recorder that records nothing: of complex states nobody asks for observables."""

    nothing: int = 0

    def record(self, problem: Problem, y: np.ndarray, k: int, t: float) -> Status:
        return Status.OK
