"""What kinds of numbers other than float64 have in common in compiled code: those of several members, and those with
derivatives. Kernels, steps and systems stay as they are."""
import operator
from collections.abc import Callable
from itertools import product

from llvmlite import ir
from numba import types
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import overload

from liestep.compile.rows import if_less

NUMBERS = types.Float | types.Integer | types.Boolean
COMPARISONS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==",
               operator.ne: "!="}


class _Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.register)

    def load_from_data_pointer(self, builder, ptr, align=None):
        return builder.load(ptr, align=8)


class Kind(types.Type):
    """A kind of numbers that stand in a register, to which plain ones of some types are converted."""

    def __init__(self, name: str, register: ir.Type, others: type | tuple[type, ...], plain: types.Type):
        super().__init__(name)
        self.register, self.others, self.plain = register, others, plain

    def __init_subclass__(cls):
        register_default(cls)(_Model)

    def can_convert_from(self, context, other):
        return Conversion.safe if isinstance(other, self.others) else None

    def unify(self, context, other):
        return self if isinstance(other, self.others) else None

    def of_plain(self, builder: ir.IRBuilder, x: ir.Value) -> ir.Value:
        return splat(builder, x, self.register.count)


def splat(builder: ir.IRBuilder, x: ir.Value, count: int) -> ir.Value:
    """A register of equal numbers."""
    none, place = ir.Constant(ir.VectorType(x.type, count), ir.Undefined), ir.IntType(32)
    first = builder.insert_element(none, x, ir.Constant(place, 0))
    return builder.shuffle_vector(first, none, ir.Constant(ir.VectorType(place, count), [0]*count))


@lower_cast(types.Float, Kind)
@lower_cast(types.Integer, Kind)
@lower_cast(types.Boolean, Kind)
def _converted(context, builder, given, wanted, value):
    return wanted.of_plain(builder, context.cast(builder, value, given, wanted.plain))


def one_of(kind: types.Type | type, given: tuple[types.Type, ...]) -> types.Type | None:
    """The type of the kind, which is one or a class of them, among those of numbers; None without it, or where others
    are not of plain numbers."""
    own = next((one for one in given if one == kind or (isinstance(kind, type) and isinstance(one, kind))), None)
    return own if all(one == own or isinstance(one, NUMBERS) for one in given) else None


def teach(operation: Callable, kind: types.Type | type, count: int, lower: Callable, result: types.Type | None = None,
          plain: types.Type | None = None) -> None:
    """Teach Numba an operation on so many numbers, one of them at least of the kind. Others become `plain`, and the
    result is a `result`; by default both are of the kind."""
    class Typed(AbstractTemplate):
        key = operation

        def generic(self, args, kws):
            own = one_of(kind, args) if len(args) == count else None
            return own and signature(result or own, *(one if one == own else plain or own for one in args))

    infer_global(operation)(Typed)
    for kinds in product((kind, plain) if plain else (kind,), repeat=count):
        if kind in kinds:
            lower_builtin(operation, *kinds)(lower)


def teach_extremes(kind: types.Type | type) -> None:
    """Teach Numba max and min of two or three numbers."""
    for function, two in ((max, lambda a, b: if_less(a, b, b, a)), (min, lambda a, b: if_less(b, a, b, a))):
        _teach_extreme(kind, function, two)


def _teach_extreme(kind: types.Type | type, function: Callable, two: Callable) -> None:
    def three(a, b, c):
        return function(function(a, b), c)

    overload(function)(lambda a, b: two if one_of(kind, (a, b)) else None)
    overload(function)(lambda a, b, c: three if one_of(kind, (a, b, c)) else None)
