"""A number kind for the compiled core: a float64 with its derivatives in some directions, which stand in a register. As
`liestep.compile.lanes.numbers` does for members: kernels, steps and systems stay as they are.

The value of every operation is that of plain float64 numbers, to the last bit, and is found once for all directions;
the derivatives follow the rules of differentiation, each on its own. < and > look at the value; numbers are equal if
their derivatives are too: what a method does at one value alone says nothing of the values nearby."""
import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload, register_jitable, typeof_impl

from liestep.compile import rows
from liestep.compile.inlining import variant
from liestep.compile.kinds import COMPARISONS, NUMBERS, Kind, one_of, splat, teach, teach_extremes
from liestep.compile.roles import Problem
from liestep.compile.status import Status


class Dual(Kind):
    """A number with so many derivatives, a power of two: a register of others is longer in memory."""

    def __init__(self, count: int):
        parts = [ir.DoubleType(), ir.VectorType(ir.DoubleType(), count)]
        super().__init__(f"dual{count}", ir.LiteralStructType(parts, packed=True), NUMBERS, types.float64)

    def of_plain(self, builder, x):
        return _joined(builder, x, ir.Constant(self.register.elements[1], None))


class DualArray(np.ndarray):
    """(...,) of items of float64: a value, and its derivatives."""


@typeof_impl.register(DualArray)
def _typeof(value, context):
    return types.Array(Dual(value.dtype.itemsize//8 - 1), value.ndim, "C", aligned=False)


def in_duals(values: np.ndarray) -> np.ndarray:
    """(..., 1 + count) contiguous as an array of numbers with derivatives that shares its memory."""
    return values.view(f"V{8*values.shape[-1]}")[..., 0].view(DualArray)


# operations: on values x, y and derivatives dx, dy, which are None of plain numbers


def _joined(builder: ir.IRBuilder, value: ir.Value, slopes: ir.Value) -> ir.Value:
    kind = ir.LiteralStructType([value.type, slopes.type], packed=True)
    return builder.insert_value(builder.insert_value(ir.Constant(kind, ir.Undefined), value, 0), slopes, 1)


def _scaled(builder: ir.IRBuilder, factor: ir.Value, slopes: ir.Value) -> ir.Value:
    return builder.fmul(splat(builder, factor, slopes.type.count), slopes)


def _sum(builder, x, y, dx, dy):
    return builder.fadd(x, y), builder.fadd(dx, dy) if dx and dy else dx or dy


def _difference(builder, x, y, dx, dy):
    return builder.fsub(x, y), builder.fsub(dx, dy) if dx and dy else dx or builder.fneg(dy)


def _product(builder, x, y, dx, dy):
    parts = [_scaled(builder, factor, slopes) for factor, slopes in ((y, dx), (x, dy)) if slopes]
    return builder.fmul(x, y), builder.fadd(*parts) if len(parts) == 2 else parts[0]


def _quotient(builder, x, y, dx, dy):
    ratio, inverse = builder.fdiv(x, y), builder.fdiv(ir.Constant(x.type, 1.0), y)
    less = dy and _scaled(builder, ratio, dy)
    return ratio, _scaled(builder, inverse, builder.fsub(dx, less) if dx and dy else dx or builder.fneg(less))


def _compared(sign, builder, x, y, dx, dy):
    holds = builder.fcmp_ordered("==" if sign == "!=" else sign, x, y)
    if sign in ("==", "!="):
        zero = ir.Constant((dx or dy).type, None)
        same = builder.bitcast(builder.fcmp_ordered("==", dx or zero, dy or zero), ir.IntType(zero.type.count))
        holds = builder.and_(holds, builder.icmp_unsigned("==", same, ir.Constant(same.type, -1)))
    return builder.not_(holds) if sign == "!=" else holds


def _parted(builder: ir.IRBuilder, sig: Any, args: tuple) -> list[tuple[ir.Value, ir.Value | None]]:
    return [(builder.extract_value(x, 0), builder.extract_value(x, 1)) if isinstance(kind, Dual) else (x, None)
            for kind, x in zip(sig.args, args, strict=True)]


def _teach(rule: Callable, *operations: Callable, result: types.Type | None = None) -> None:
    def lower(context, builder, sig, args):
        (x, dx), (y, dy) = _parted(builder, sig, args)
        found = rule(builder, x, y, dx, dy)
        return found if result else _joined(builder, *found)

    for operation in operations:
        teach(operation, Dual, 2, lower, result, types.float64)


_teach(_sum, operator.add, operator.iadd)
_teach(_difference, operator.sub, operator.isub)
_teach(_product, operator.mul, operator.imul)
_teach(_quotient, operator.truediv, operator.itruediv)
for _operation, _sign in COMPARISONS.items():
    _teach(partial(_compared, _sign), _operation, result=types.boolean)
teach(operator.neg, Dual, 1, lambda context, builder, sig, args: _joined(builder, *map(
    builder.fneg, _parted(builder, sig, args)[0])))


# functions


@intrinsic
def value_of(typing, x):
    return types.float64(x if isinstance(x, Dual) else types.float64), lambda context, builder, sig, args: (
        _parted(builder, sig, args)[0][0])


@intrinsic
def with_value(typing, value, x):
    """x with another value."""
    return x(types.float64, x), lambda context, builder, sig, args: builder.insert_value(args[1], args[0], 0)


def _dual(kinds: tuple[types.Type, ...]) -> bool:
    return one_of(Dual, kinds) is not None


def _continued(function: Callable[[float], float], slope: Callable) -> None:
    """A function f of real numbers by its slope(x, f(x))."""
    rate = register_jitable(slope)

    def continued(x):
        value = function(value_of(x))
        return with_value(value, rate(value_of(x), value)*x)

    overload(function)(lambda x: continued if isinstance(x, Dual) else None)


for _module in math, np:
    _continued(_module.sin, lambda x, f: math.cos(x))
    _continued(_module.cos, lambda x, f: -math.sin(x))
    _continued(_module.tan, lambda x, f: 1.0 + f*f)
    _continued(_module.exp, lambda x, f: f)
    _continued(_module.log, lambda x, f: 1.0/x)
    _continued(_module.sqrt, lambda x, f: 0.5/f)
_continued(abs, lambda x, f: math.copysign(1.0, x))


@overload(int)
def _int(x):
    return (lambda x: int(value_of(x))) if isinstance(x, Dual) else None


def _atan2(y, x):
    a, b = value_of(y), value_of(x)
    return with_value(math.atan2(a, b), (b*y - a*x)/(b*b + a*a))


overload(math.atan2)(lambda y, x: _atan2 if _dual((y, x)) else None)


def _power(x, n):
    if not _dual((x, n)):
        return None
    if isinstance(n, Dual):
        def power(x, n):
            a, b = value_of(x), value_of(n)
            value = a**b
            return with_value(value, b*a**(b - 1.0)*x + (value*math.log(a) if value != 0.0 else 0.0)*n)

        return power
    constant = getattr(n, "literal_value", None)
    if constant is None:
        return lambda x, n: with_value(value_of(x)**n, (n*value_of(x)**(n - 1) if n != 0 else 0.0)*x)
    if constant == 0:
        return lambda x, n: with_value(1.0, 0.0*x)
    return lambda x, n: with_value(value_of(x)**constant, constant*value_of(x)**(constant - 1)*x)


for _raise in operator.pow, operator.ipow:
    overload(_raise, prefer_literal=True)(_power)


teach_extremes(Dual)
variant(rows.if_equal, _dual, lambda left, right, a, b: a if value_of(left) == value_of(right) else b)
variant(rows.quotient, _dual, lambda a, b: a/b if value_of(b) != 0.0 else value_of(a)*np.inf)


class Silent(NamedTuple):
    """A recorder that records nothing: of states with derivatives nobody asks for observables."""

    nothing: int = 0

    def record(self, problem: Problem, y: np.ndarray, k: int, t: float) -> Status:
        return Status.OK
