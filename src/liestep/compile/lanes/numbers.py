"""A number kind for the compiled core: float64 of several members at once, one in each lane of a register, the member
index innermost. As `simulation.tangents.numbers` does for complex numbers: kernels, steps and systems stay as they are.

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
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, overload, typeof_impl

from liestep.compile import rows
from liestep.compile.inlining import variant
from liestep.compile.lanes.width import width

W = width()
NUMBER, BITS = ir.VectorType(ir.DoubleType(), W), ir.VectorType(ir.IntType(1), W)
WORD, LONG = ir.IntType(W), ir.IntType(64)
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
    found: np.ndarray = _own.words
    return found


class Lanes(types.Type):
    """W numbers, of float64 or, to count, of int64."""

    def __init__(self, name: str):
        super().__init__(f"{name}{W}")

    def can_convert_from(self, context, other):
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None

    def unify(self, context, other):
        return self if isinstance(other, types.Float | types.Integer) else None


class Mask(types.Type):
    """What a comparison gives: a bit of each lane."""

    def __init__(self):
        super().__init__(f"mask{W}")

    def unify(self, context, other):
        return self if isinstance(other, types.Boolean) else None

    def can_convert_from(self, context, other):
        return Conversion.safe if isinstance(other, types.Boolean) else None


class Masked(types.Array):
    """An array of lanes that is written where lanes are active."""

    def __init__(self, dtype, ndim, layout, *args, **named):
        super().__init__(dtype, ndim, layout, *args, name=f"masked({dtype}, {ndim}d, {layout})", **named)

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        return Masked(dtype or self.dtype, self.ndim if ndim is None else ndim, layout or self.layout, aligned=False)


lanes, whole, mask = Lanes("lanes"), Lanes("whole"), Mask()
register_default(Masked)(models.ArrayModel)


class _Model(models.PrimitiveModel):
    def load_from_data_pointer(self, builder, ptr, align=None):
        return builder.load(ptr, align=8)


@register_default(Lanes)
class _LanesModel(_Model):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, NUMBER if kind == lanes else ir.VectorType(LONG, W))


@register_default(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, BITS)


def _splat(builder, x):
    kind = ir.VectorType(x.type, W)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), x, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined),
                                  ir.Constant(ir.VectorType(ir.IntType(32), W), [0]*W))


@lower_cast(types.Float, Lanes)
@lower_cast(types.Integer, Lanes)
def _spread(context, builder, given, wanted, value):
    return _splat(builder, context.cast(builder, value, given, types.float64 if wanted == lanes else types.int64))


@lower_cast(types.Boolean, Mask)
def _to_mask(context, builder, given, wanted, value):
    return _splat(builder, context.cast(builder, value, given, types.boolean))


NUMBERS = types.Float | types.Integer | types.Boolean


def _typed(operation: Any, kind: Any, result: Any, count: int, allowed: Any = NUMBERS) -> None:
    """Type an operation on so many numbers, one of them at least of the kind."""
    class Typed(AbstractTemplate):
        key = operation

        def generic(self, args, kws):
            if len(args) == count and kind in args and all(arg == kind or isinstance(arg, allowed) for arg in args):
                return signature(result, *[kind]*count)
            return None

    infer_global(operation)(Typed)


def _operations(operations: tuple[Any, ...], instruction: str, kind: Any) -> None:
    for operation in operations:
        _typed(operation, kind, kind, 2)

        @lower_builtin(operation, kind, kind)
        def lower(context, builder, sig, args):
            return getattr(builder, instruction)(*args)


_operations((operator.add, operator.iadd), "fadd", lanes)
_operations((operator.sub, operator.isub), "fsub", lanes)
_operations((operator.mul, operator.imul), "fmul", lanes)
_operations((operator.truediv, operator.itruediv), "fdiv", lanes)
_operations((operator.add, operator.iadd), "add", whole)
_operations((operator.and_,), "and_", mask)
_operations((operator.or_,), "or_", mask)


def _comparisons() -> None:
    for operation, sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">="),
                            (operator.eq, "=="), (operator.ne, "!=")):
        _typed(operation, lanes, mask, 2)

        @lower_builtin(operation, lanes, lanes)
        def compare(context, builder, sig, args, sign=sign):
            return (builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered)(sign, *args)


_comparisons()


def _single(operation: Any, name: str) -> None:
    _typed(operation, lanes, lanes, 1)

    @lower_builtin(operation, lanes)
    def lower(context, builder, sig, args):
        if name == "fneg":
            return builder.fneg(args[0])
        found = cgutils.get_or_insert_function(builder.module, ir.FunctionType(NUMBER, [NUMBER]),
                                               f"llvm.{name}.v{W}f64")
        return builder.call(found, args)


_single(operator.neg, "fneg")
_single(abs, "fabs")
_single(math.sqrt, "sqrt")


# votes


def _words(builder: Any) -> Any:
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


def _word(builder: Any, place: Any, number: int) -> Any:
    return builder.load(builder.gep(place, [ir.Constant(LONG, number)]))


def _bits(builder: Any, word: Any) -> Any:
    """The bits of a word as a mask."""
    return builder.bitcast(builder.trunc(word, WORD), BITS)


def _long(builder: Any, bits: Any) -> Any:
    return builder.zext(builder.bitcast(bits, WORD), LONG)


def _vote(builder: Any, bits: Any) -> Any:
    """Of the lanes that are written and not struck; the fewer ones are struck."""
    place = _words(builder)
    alive, word = _word(builder, place, 0), _long(builder, bits)
    voters = builder.and_(alive, _word(builder, place, 1))
    yes, no = builder.and_(word, voters), builder.and_(builder.not_(word), voters)
    more = builder.icmp_unsigned(">=", builder.ctpop(yes), builder.ctpop(no))
    builder.store(builder.and_(alive, builder.not_(builder.select(more, no, yes))), place)
    return more


def _decided(operation: Any, turn: Callable[[Any, Any], Any]) -> None:
    _typed(operation, mask, types.boolean, 1)

    @lower_builtin(operation, mask)
    def lower(context, builder, sig, args):
        return turn(builder, _vote(builder, args[0]))


_decided(bool, lambda builder, more: more)
_decided(operator.not_, lambda builder, more: builder.not_(more))


@lower_cast(Mask, types.Boolean)
def _decide(context, builder, given, wanted, value):
    return _vote(builder, value)


@intrinsic
def written(typing):
    """Mask of the lanes that are written."""
    return mask(), lambda context, builder, sig, args: _bits(builder, _word(builder, _words(builder), 1))


@intrinsic
def write_only(typing, which):
    """Lanes of the mask alone are written from now on."""
    def lower(context, builder, sig, args):
        place = builder.gep(_words(builder), [ir.Constant(LONG, 1)])
        builder.store(_long(builder, args[0]), place)
        return context.get_dummy_value()

    return types.none(mask), lower


@intrinsic
def strike(typing, which):
    """Strike the lanes of a mask."""
    def lower(context, builder, sig, args):
        place = _words(builder)
        builder.store(builder.and_(builder.load(place), builder.not_(_long(builder, args[0]))), place)
        return context.get_dummy_value()

    return types.none(mask), lower


@intrinsic
def not_struck(typing):
    """Mask of the lanes that are not struck."""
    return mask(), lambda context, builder, sig, args: _bits(builder, builder.load(_words(builder)))


@intrinsic
def invert(typing, which):
    """The other lanes."""
    return mask(mask), lambda context, builder, sig, args: builder.not_(args[0])


@intrinsic
def as_masked(typing, item):
    """The same component, or number, whose arrays of lanes are written where lanes are."""
    return masked_type(item)(item), lambda context, builder, sig, args: args[0]


def masked_type(kind: Any) -> Any:
    """The type of `as_masked`."""
    if isinstance(kind, types.Array) and isinstance(kind.dtype, Lanes):
        return Masked(kind.dtype, kind.ndim, kind.layout, aligned=False)
    if isinstance(kind, types.BaseTuple) and kind.types:
        found = [masked_type(one) for one in kind.types]
        return types.BaseTuple.from_types(found, getattr(kind, "instance_class", None))
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
    """a where the mask has a bit, else b."""
    return a(mask, a, a), lambda context, builder, sig, args: builder.select(*args)


@intrinsic
def some(typing, which):
    """Whether the mask has a bit; no vote."""
    return types.boolean(mask), lambda context, builder, sig, args: builder.icmp_unsigned(
        "!=", builder.bitcast(args[0], WORD), ir.Constant(WORD, 0))


@intrinsic
def to_mask(typing, which):
    """A mask, of one truth for all lanes too."""
    return mask(which), lambda context, builder, sig, args: context.cast(builder, args[0], sig.args[0], mask)


@intrinsic
def spread(typing, x):
    """A number in every lane."""
    return lanes(x), lambda context, builder, sig, args: context.cast(builder, args[0], sig.args[0], lanes)


@intrinsic
def lane(typing, x, i):
    """Number i of a register."""
    return types.float64(lanes, types.int64), lambda context, builder, sig, args: builder.extract_element(
        args[0], builder.trunc(args[1], ir.IntType(32)))


@intrinsic
def with_lane(typing, x, i, value):
    """The register with another number i."""
    return lanes(lanes, types.int64, types.float64), lambda context, builder, sig, args: builder.insert_element(
        args[0], args[2], builder.trunc(args[1], ir.IntType(32)))


def _lane_by_lane(function: Any) -> None:
    @overload(function)
    def single(x):
        if x != lanes:
            return None

        def each(x):
            out = x
            for i in range(W):
                out = with_lane(out, i, function(lane(x, i)))
            return out
        return each


def _pairs(function: Any) -> None:
    @overload(function)
    def double(a, b):
        if not (lanes in (a, b) and isinstance(a, NUMBERS | Lanes) and isinstance(b, NUMBERS | Lanes)):
            return None

        def each(a, b):
            first, second = spread(a), spread(b)
            out = first
            for i in range(W):
                out = with_lane(out, i, function(lane(first, i), lane(second, i)))
            return out
        return each


for _function in (math.sin, math.cos, math.tan, math.exp, math.log):
    _lane_by_lane(_function)
for _pair in (math.atan2, math.pow):
    _pairs(_pair)


def _numbers(*kinds: Any) -> bool:
    return lanes in kinds and all(isinstance(kind, NUMBERS | Lanes) for kind in kinds)


@overload(max)
def _max(a, b):
    return (lambda a, b: select(spread(b) > spread(a), spread(b), spread(a))) if _numbers(a, b) else None


@overload(max)
def _max_of_three(a, b, c):
    return (lambda a, b, c: max(max(a, b), c)) if _numbers(a, b, c) else None


@overload(min)
def _min(a, b):
    return (lambda a, b: select(spread(b) < spread(a), spread(b), spread(a))) if _numbers(a, b) else None


@lower_cast(Lanes, Lanes)
@lower_cast(Mask, Mask)
def _same(context, builder, given, wanted, value):
    return value


def _any(kinds: tuple[types.Type, ...]) -> bool:
    return lanes in kinds


# kernels that choose take both values, without a branch
variant(rows.sqrt, _any, lambda x: select(x >= 0.0, math.sqrt(x), spread(np.nan)))
variant(rows.larger, _any, lambda a, b: select(spread(b) > spread(a), spread(b), spread(a)))
variant(rows.if_less, _any, lambda left, right, a, b: select(spread(left) < spread(right), spread(a), spread(b)))
variant(rows.if_at_most, _any, lambda left, right, a, b: select(spread(left) <= spread(right), spread(a), spread(b)))
variant(rows.if_equal, _any, lambda left, right, a, b: select(spread(left) == spread(right), spread(a), spread(b)))
variant(rows.quotient, _any, lambda a, b: select(spread(b) != 0.0, spread(a)/spread(b), spread(a)*np.inf))
variant(rows.sin, _any, lambda x: select(abs(x) < np.inf, math.sin(x), spread(np.nan)))
variant(rows.cos, _any, lambda x: select(abs(x) < np.inf, math.cos(x), spread(np.nan)))
variant(rows.tan, _any, lambda x: select(abs(x) < np.inf, math.tan(x), spread(np.nan)))


variant(rows.any_of, lambda kinds: kinds[0] == mask, lambda which: some(which))


# arrays


class LaneArray(np.ndarray):
    """(...,) of items of 8 W bytes: float64 of each member."""


class CountArray(np.ndarray):
    """(...,) of items of 8 W bytes: int64 of each member."""


@typeof_impl.register(LaneArray)
def _typeof(value, context):
    return types.Array(lanes, value.ndim, "C", aligned=False)


@typeof_impl.register(CountArray)
def _typeof_counts(value, context):
    return types.Array(whole, value.ndim, "C", aligned=False)


def in_lanes(values: np.ndarray) -> np.ndarray:
    """(..., W) contiguous, float64 or int64, as an array of lanes that shares its memory."""
    return values.view(f"V{8*W}")[..., 0].view(LaneArray if values.dtype == np.float64 else CountArray)


def out_of_lanes(array: np.ndarray) -> np.ndarray:
    """(..., W) of an array of lanes, which shares its memory."""
    dtype = np.int64 if isinstance(array, CountArray) else np.float64
    found: np.ndarray = np.asarray(array).view(np.ndarray)[..., None].view(dtype)
    return found
