"""A number kind for the compiled core: float64 of several members at once, one in each lane of a register, the member
index innermost. As `simulation.tangents.numbers` does for derivatives: kernels, steps and systems stay as they are.

Every lane has the bits of a run of its own: + - * / and square roots are rounded once for each lane, functions of libm
are called lane by lane, and nothing is fused or reordered. A comparison gives a mask. Where code branches, the lanes
vote: the greater part goes on, the others are struck from a word of the thread, and whoever called the loop runs them
again alone. While an implicit step iterates, lanes that have converged keep what they have: arrays of a masked type are
written where a second word of the thread has a bit."""
import ctypes
import math
import operator
import threading
from collections.abc import Callable
from functools import partial

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typing.templates import signature
from numba.extending import intrinsic, overload, typeof_impl

from liestep.compile import rows
from liestep.compile.inlining import variant
from liestep.compile.kinds import COMPARISONS, Kind, one_of, teach, teach_extremes
from liestep.compile.lanes import width

W = width()
NUMBER, BITS = ir.VectorType(ir.DoubleType(), W), ir.VectorType(ir.IntType(1), W)
WORD, LONG, COUNTS = ir.IntType(W), ir.IntType(64), ir.VectorType(ir.IntType(64), W)
ALL = (1 << W) - 1
KEY = "liestep_lanes_key"  # symbol of the number under which a thread finds its words

_pthread = ctypes.CDLL(None)
_key = ctypes.c_ulong(0)
_pthread.pthread_key_create(ctypes.byref(_key), None)
binding.add_symbol(KEY, ctypes.addressof(_key))
_own = threading.local()


def words() -> np.ndarray:
    """(2,) of this thread: lanes whose votes were with the greater part so far, and lanes that are written."""
    if not hasattr(_own, "words"):
        _own.words = np.full(2, ALL, dtype=np.uint64)
        _pthread.pthread_setspecific(_key, ctypes.c_void_p(_own.words.ctypes.data))
    return _own.words


class Lanes(Kind):
    """W numbers, of float64 or, to count, of int64."""

    machine = True  # arrays of them are arguments of machine code


class Mask(Kind):
    """What a comparison gives: a bit of each lane."""


class Masked(types.Array):
    """An array of lanes that is written where lanes are active."""

    def __init__(self, dtype, ndim, layout, *args, **named):
        super().__init__(dtype, ndim, layout, *args, name=f"masked({dtype}, {ndim}d, {layout})", **named)

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        return Masked(dtype or self.dtype, self.ndim if ndim is None else ndim, layout or self.layout, aligned=False)


REAL = types.Float | types.Integer
lanes, whole = Lanes(f"lanes{W}", NUMBER, REAL, types.float64), Lanes(f"whole{W}", COUNTS, REAL, types.int64)
mask = Mask(f"mask{W}", BITS, types.Boolean, types.boolean)
register_default(Masked)(models.ArrayModel)


def _teach(code: Callable, kind: types.Type, *operations: Callable, count: int = 2, result: types.Type | None = None
           ) -> None:
    for operation in operations:
        teach(operation, kind, count, lambda context, builder, sig, args: code(builder, *args), result)


def _compared(sign: str, builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    return (builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered)(sign, x, y)


def _called(name: str, builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
    kind = ir.FunctionType(NUMBER, [NUMBER])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{W}f64"), [x])


_teach(ir.IRBuilder.fadd, lanes, operator.add, operator.iadd)
_teach(ir.IRBuilder.fsub, lanes, operator.sub, operator.isub)
_teach(ir.IRBuilder.fmul, lanes, operator.mul, operator.imul)
_teach(ir.IRBuilder.fdiv, lanes, operator.truediv, operator.itruediv)
_teach(ir.IRBuilder.add, whole, operator.add, operator.iadd)
_teach(ir.IRBuilder.and_, mask, operator.and_)
_teach(ir.IRBuilder.or_, mask, operator.or_)
_teach(ir.IRBuilder.fneg, lanes, operator.neg, count=1)
_teach(partial(_called, "fabs"), lanes, abs, count=1)
_teach(partial(_called, "sqrt"), lanes, math.sqrt, count=1)
for _operation, _sign in COMPARISONS.items():
    _teach(partial(_compared, _sign), lanes, _operation, result=mask)


# votes


def _words(builder: ir.IRBuilder) -> ir.Value:
    """Place of the thread's words; the call is made once in a loop, because it reads nothing that changes."""
    module = builder.module
    try:
        key = module.get_global(KEY)
    except KeyError:
        key = ir.GlobalVariable(module, LONG, KEY)
        key.global_constant, key.linkage = True, "external"
    find = cgutils.get_or_insert_function(module, ir.FunctionType(LONG.as_pointer(), [LONG]), "pthread_getspecific")
    find.attributes.add("readnone")
    find.attributes.add("nounwind")
    return builder.call(find, [builder.load(key)])


def _word(builder: ir.IRBuilder, place: ir.Value, number: int) -> ir.Value:
    return builder.load(builder.gep(place, [ir.Constant(LONG, number)]))


def _bits(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    """The bits of a word as a mask."""
    return builder.bitcast(builder.trunc(word, WORD), BITS)


def _long(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    return builder.zext(builder.bitcast(bits, WORD), LONG)


def _vote(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """Of the lanes that are written and not struck; the fewer ones are struck."""
    place = _words(builder)
    alive, word = _word(builder, place, 0), _long(builder, bits)
    voters = builder.and_(alive, _word(builder, place, 1))
    yes, no = builder.and_(word, voters), builder.and_(builder.not_(word), voters)
    more = builder.icmp_unsigned(">=", builder.ctpop(yes), builder.ctpop(no))
    builder.store(builder.and_(alive, builder.not_(builder.select(more, no, yes))), place)
    return more


_teach(_vote, mask, bool, count=1, result=types.boolean)
_teach(lambda builder, bits: builder.not_(_vote(builder, bits)), mask, operator.not_, count=1, result=types.boolean)


@lower_cast(Mask, types.Boolean)
def _decide(context, builder, given, wanted, value):
    return _vote(builder, value)


def _instruction(result: types.Type, kinds: tuple[types.Type, ...], code: Callable) -> Callable:
    """A function of compiled code: the values of its arguments, of these kinds, go to `code` behind the builder."""
    names = ", ".join(f"a{k}" for k in range(len(kinds)))
    found = {"lower": lambda context, builder, sig, args: code(builder, *args) or context.get_dummy_value(),
             "sig": signature(result, *kinds)}
    return intrinsic(eval(f"lambda typing, {names}: (sig, lower)", found))


def _keep(builder: ir.IRBuilder, number: int, bits: ir.Value) -> None:
    builder.store(_long(builder, bits), builder.gep(_words(builder), [ir.Constant(LONG, number)]))


# the lanes that are written, and those that are not struck
written = _instruction(mask, (), lambda builder: _bits(builder, _word(builder, _words(builder), 1)))
not_struck = _instruction(mask, (), lambda builder: _bits(builder, _word(builder, _words(builder), 0)))
# lanes of the mask alone are written from now on; those of the mask are struck
write_only = _instruction(types.none, (mask,), lambda builder, bits: _keep(builder, 1, bits))
strike = _instruction(types.none, (mask,), lambda builder, bits: _keep(builder, 0, builder.and_(
    _bits(builder, _word(builder, _words(builder), 0)), builder.not_(bits))))
invert = _instruction(mask, (mask,), ir.IRBuilder.not_)
bits_of = _instruction(mask, (types.int64,), _bits)  # the lowest bits of a whole number
# whether the mask has a bit; no vote
some = _instruction(types.boolean, (mask,), lambda builder, bits: builder.icmp_unsigned(
    "!=", builder.bitcast(bits, WORD), ir.Constant(WORD, 0)))
# number i of a register, and the register with another one
lane = _instruction(types.float64, (lanes, types.int64), ir.IRBuilder.extract_element)
with_lane = _instruction(lanes, (lanes, types.int64, types.float64), lambda builder, x, i, value:
                         builder.insert_element(x, value, i))


HALF = 0x3FE6A09E667F3BCD  # bits of the square root of 1/2


def _parts(builder: ir.IRBuilder, x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """e and m of x = 2^e m, m between the square roots of 1/2 and 2."""
    half, shift = (ir.Constant(COUNTS, [number]*W) for number in (HALF, 52))
    bits = builder.bitcast(x, COUNTS)
    e = builder.ashr(builder.sub(bits, half), shift)
    return builder.sitofp(e, NUMBER), builder.bitcast(builder.sub(bits, builder.shl(e, shift)), NUMBER)


exponent = _instruction(lanes, (lanes,), lambda builder, x: _parts(builder, x)[0])
mantissa = _instruction(lanes, (lanes,), lambda builder, x: _parts(builder, x)[1])


@intrinsic
def as_masked(typing, item):
    """The same component, or number, whose arrays of lanes are written where lanes are."""
    return masked_type(item)(item), lambda context, builder, sig, args: args[0]


def masked_type(kind: types.Type) -> types.Type:
    """The type of `as_masked`."""
    if isinstance(kind, types.Array) and isinstance(kind.dtype, Lanes):
        return Masked(kind.dtype, kind.ndim, kind.layout, aligned=False)
    if isinstance(kind, types.BaseTuple) and kind.types:
        masked = [masked_type(one) for one in kind.types]
        return types.BaseTuple.from_types(masked, getattr(kind, "instance_class", None))
    return kind


@lower_builtin(operator.setitem, Masked, types.Any, types.Any)
def _masked_store(context, builder, sig, args):
    array, index, value = sig.args
    plain = types.Array(array.dtype, array.ndim, array.layout, aligned=False)
    old = context.get_function(operator.getitem, signature(array.dtype, plain, index))(builder, args[:2])
    new = context.cast(builder, args[2], value, array.dtype)
    which = _bits(builder, _word(builder, _words(builder), 1))
    store = context.get_function(operator.setitem, signature(types.none, plain, index, array.dtype))
    return store(builder, (*args[:2], builder.select(which, new, old)))


# functions


@intrinsic
def select(typing, which, a, b):
    """a where the mask has a bit, else b; lanes, or tuples of them."""
    def lower(context, builder, sig, args):
        if not isinstance(a, types.BaseTuple):
            return builder.select(*args)
        pairs = zip(*(cgutils.unpack_tuple(builder, x) for x in args[1:]), strict=True)
        return context.make_tuple(builder, a, [builder.select(args[0], x, y) for x, y in pairs])

    return a(mask, a, a), lower


def _converted(kind: types.Type) -> Callable:
    return intrinsic(lambda typing, x: (kind(x), lambda context, builder, sig, args: context.cast(
        builder, args[0], sig.args[0], kind)))


to_mask, spread = _converted(mask), _converted(lanes)  # of one truth or number for all lanes too


def _lane_by_lane(function: Callable) -> None:
    def single(x):
        out = x
        for i in range(W):
            out = with_lane(out, i, function(lane(x, i)))
        return out

    overload(function)(lambda x: single if x == lanes else None)


def _pairs(function: Callable) -> None:
    def double(a, b):
        first, second = spread(a), spread(b)
        out = first
        for i in range(W):
            out = with_lane(out, i, function(lane(first, i), lane(second, i)))
        return out

    overload(function)(lambda a, b: double if one_of(lanes, (a, b)) else None)


for _function in (math.sin, math.cos, math.tan, math.exp, math.log):
    _lane_by_lane(_function)
for _pair in (math.atan2, math.pow):
    _pairs(_pair)
teach_extremes(lanes)


def _any(kinds: tuple[types.Type, ...]) -> bool:
    return lanes in kinds


def _either(order: Callable) -> Callable:
    return lambda left, right, a, b: select(order(spread(left), spread(right)), spread(a), spread(b))


def _of_finite(function: Callable) -> Callable:
    return lambda x: select(abs(x) < np.inf, function(x), spread(np.nan))


# kernels that choose take both values, without a branch
variant(rows.sqrt, _any, lambda x: select(x >= 0.0, math.sqrt(x), spread(np.nan)))
variant(rows.larger, _any, lambda a, b: select(spread(b) > spread(a), spread(b), spread(a)))
variant(rows.quotient, _any, lambda a, b: select(spread(b) != 0.0, spread(a)/spread(b), spread(a)*np.inf))
for _kernel, _order in ((rows.if_less, operator.lt), (rows.if_at_most, operator.le), (rows.if_equal, operator.eq)):
    variant(_kernel, _any, _either(_order))
for _wave, _function in ((rows.sin, math.sin), (rows.cos, math.cos), (rows.tan, math.tan)):
    variant(_wave, _any, _of_finite(_function))
variant(rows.any_of, lambda kinds: kinds[0] == mask, lambda which: some(which & written()))


# arrays


class LaneArray(np.ndarray):
    """(...,) of items of 8 W bytes: float64 of each member."""


class CountArray(np.ndarray):
    """(...,) of items of 8 W bytes: int64 of each member."""


@typeof_impl.register(LaneArray)
@typeof_impl.register(CountArray)
def _typeof(value, context):
    return types.Array(lanes if isinstance(value, LaneArray) else whole, value.ndim, "C", aligned=False)


def in_lanes(values: np.ndarray) -> np.ndarray:
    """(..., W) contiguous, float64 or int64, as an array of lanes that shares its memory."""
    return values.view(f"V{8*W}")[..., 0].view(LaneArray if values.dtype == np.float64 else CountArray)


def out_of_lanes(array: np.ndarray) -> np.ndarray:
    """(..., W) of an array of lanes, which shares its memory."""
    dtype = np.int64 if isinstance(array, CountArray) else np.float64
    return np.asarray(array).view(np.ndarray)[..., None].view(dtype)
