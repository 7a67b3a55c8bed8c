"""How Numba compiles components: calls of their methods and of kernels are inlined, see `liestep.compile.dispatch`.

Loading this module loads Numba, a quarter of a second: `liestep.compile.dispatch.compiler` does when asked for."""
import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.analysis import must_use_alloca
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags, compile_extra
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel import default_manager
from numba.core.datamodel.models import DataModel
from numba.core.errors import TypingError
from numba.core.ir import Assign
from numba.core.lowering import Lower
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import lower_builtin, type_callable
from numba.np import linalg

import liestep.compile.processor  # noqa: F401  before Numba makes its code generator
from liestep.compile.separate import call_address, separate_methods
from liestep.compile.trees import with_numbers


def _no_blas() -> None:
    raise ImportError("no BLAS in compiled code: its results differ between machines")


# Numba would import scipy for it in every process, a third of the time of a warm first run
linalg.ensure_blas = _no_blas

# error_model="numpy": 1/0 is inf, not an exception. _nrt=False: no reference counting, so that an allocation or a
# returned view is an error of compilation; with reference counts the same loops run 3-8 times slower.
PLAIN_OPTIONS = {"error_model": "numpy", "_nrt": False}
KERNEL_OPTIONS = {**PLAIN_OPTIONS, "nopython": True, "forceinline": True, "no_cpython_wrapper": True,
                  "no_cfunc_wrapper": True}


class InlineLibrary(JITCodeLibrary):
    """Code that only exists to be inlined into a loop: neither optimised nor made into machine code nor linked on its
    own. Numba does that for every function, with all that is inlined in it: two thirds of a loop's compilation."""

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()  # Numba makes them for each declaration, too
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def finalize(self):
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"  # of which a loop takes what it calls
        self._shared_module, self._finalized = self._final_module, True


class KernelFlags(Flags):
    """Numba compares all options, set or not, at each look-up of one of its own functions."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and self._values == other._values

    def __hash__(self) -> int:
        return len(self._values)


class WholeArgument(DataModel):
    """Of the data model of a component: it is an argument as it is. Numba takes it apart, number by number, and puts
    it together again in each function: half of the code to generate."""

    def get_argument_type(self):
        return self.get_value_type()

    def as_argument(self, builder, value):
        return value

    from_argument = as_argument


def _kept_hash(this: types.BaseNamedTuple) -> int:
    """Of the types of all that a component holds, asked for a thousand times; another process has another one."""
    return vars(this).get("hashed") or this.__dict__.setdefault("hashed", hash(this.key))


for kind in types.NamedTuple, types.NamedUniTuple:
    default_manager.register(kind, type("Component", (WholeArgument, default_manager._handlers[kind]), {}))
    kind.__hash__ = _kept_hash
    kind.__getstate__ = lambda this: {name: value for name, value in vars(this).items() if name != "hashed"}


class RegisterLower(Lower):
    """Without reference counts a variable that is set once is its value. Numba keeps it in memory where other blocks
    use it, and a component of hundreds of numbers is copied there and back at each use: a third of LLVM's time."""

    def _find_singly_assigned_variable(self):
        super()._find_singly_assigned_variable()
        sets: Counter[str] = Counter()
        first: dict[str, str] = {}  # what the first statement with a variable sets
        for _, block in sorted(self.func_ir.blocks.items()):
            for item in block.body:
                if isinstance(item, Assign):
                    sets[item.target.name] += 1
                for one in item.list_vars():
                    first.setdefault(one.name, item.target.name if isinstance(item, Assign) else "")
        kept = sets if self.func_ir.func_id.is_generator else must_use_alloca(self.func_ir.blocks)  # yield stores them
        self._singly_assigned_vars = {name for name, times in sets.items() if times == 1 and name not in kept
                                      and first[name] == name}


@register_pass(mutates_CFG=True, analysis_only=False)
class RegisterLowering(NativeLowering):
    _name = "register_lowering"
    lowering_class = property(lambda self: RegisterLower)


UNUSED = ["InlineClosureLikes", "InlineInlinables", "InlineOverloads", "MakeFunctionToJitFunction", "NopythonRewrites"]


class LoopCompiler(Compiler):
    """Numba's own, for functions without reference counts; what others compile beside them is none of its business.
    Where one has no functions inside and does not yield, passes for these and for whole arrays are left out, and an
    analysis after each pass, for which none of the rest asks."""

    def define_pipelines(self):
        (manager,) = super().define_pipelines()
        function = self.state.func_id
        manager._ENFORCING = function.is_generator or any(isinstance(one, CodeType) for one in function.code.co_consts)
        left_out = ["AnnotateTypes", "IRLegalization", *(() if manager._ENFORCING else UNUSED)]  # paths; ends of names
        manager.passes = [(RegisterLowering, *one[1:]) if one[0] is NativeLowering else one for one in manager.passes
                          if one[0].__name__ not in left_out]
        return [manager]


_post_process = PostProcessor.run


def _blocks_only(this: PostProcessor, *args: bool, **named: bool) -> None:
    """After each of four passes Numba asks which variables live where; of kernels only those that yield need it."""
    if this.func_ir.is_generator or not isinstance(ConfigStack.top_or_none(), KernelFlags):
        return _post_process(this, *args, **named)
    this.func_ir.blocks = canonicalize_cfg(this.func_ir.blocks)
    this.func_ir.variable_lifetime, this.func_ir.generator_info = VariableLifetime(this.func_ir.blocks), None


PostProcessor.run = _blocks_only
_call_type = types.Function.get_call_type


def _known_call_type(this: types.Function, context: object, args: tuple, kws: dict) -> object:
    """What Numba finds anew for each a + b or a[i] among forty candidates; in kernels it is always the same."""
    if kws or not (isinstance(ConfigStack.top_or_none(), KernelFlags)
                   and all(isinstance(one, types.Number | types.Array | types.UniTuple) for one in args)):
        return _call_type(this, context, args, kws)
    known = vars(this).setdefault("known", {})
    if args not in known:
        known[args] = (found := _call_type(this, context, args, kws)), this._impl_keys[found.args]
    found, this._impl_keys[found.args] = known[args]  # others may have brought code with their own options since
    return found


types.Function.get_call_type = _known_call_type


class Specialised(NamedTuple):
    """A function compiled for some argument types: how it is called, the code to link, and whether it raises errors."""

    signature: Any
    descriptor: Any
    code: InlineLibrary
    raises: bool


_variants: dict[Callable, list[tuple[Callable[[tuple[types.Type, ...]], bool], Callable]]] = {}


def variant(kernel: Any, applies: Callable[[tuple[types.Type, ...]], bool], function: Callable) -> None:
    """Compile `function` in place of a kernel or method where the types of its arguments are such that `applies` is
    true. For kinds of numbers of which Numba's own arithmetic is slow; the values must be the same."""
    _variants.setdefault(getattr(kernel, "py_func", kernel), []).append((applies, function))


@cache
def _specialise(function: Callable, arguments: tuple[types.Type, ...]) -> Specialised:
    """`function`, or its variant for such arguments, compiled for a tuple of argument types."""
    function = next((other for applies, other in _variants.get(function, ()) if applies(arguments)), function)
    if function.__code__.co_exceptiontable and not inspect.isgeneratorfunction(function):  # Numba's code may crash
        raise TypingError(f"compiled code knows no try or with, as {function.__qualname__} has")
    flags = KernelFlags()
    cpu_target.options.parse_as_flags(flags, KERNEL_OPTIONS | {"forceinline": not getattr(function, "outlined", False)})
    flags.no_compile = True
    context = cpu_target.target_context
    code = InlineLibrary(context.codegen(), function.__qualname__)
    made = compile_extra(cpu_target.typing_context, context, function, arguments, None, flags, {}, code, LoopCompiler)
    text = str(code.get_function(made.fndesc.llvm_func_name))
    return Specialised(made.signature, made.fndesc, code, set(re.findall(r"ret i32 (\S+)", text)) != {"0"})


def separate_signature(function: Callable, this: types.Type) -> Any:
    """How a method of a component is called that is compiled separately (`liestep.compile.dispatch.separate`); None
    where it is inlined: it is not marked, or the component has numbers of another kind."""
    numbers = types.float64, types.int64, types.uint32
    if not hasattr(function, "separate") or any(item.dtype not in numbers for item in _arrays(this)):
        return None
    declared = ({int: types.int64, float: types.float64}.get(kind) or types.Array(types.float64, kind, "C")
                for kind in function.separate)
    results = {bool: types.boolean, float: types.float64, None: types.none}
    return signature(results[function.__annotations__["return"]], this, *declared)


def _arrays(this: types.Type) -> Iterator[types.Array]:
    """The types of all arrays of a component and of its parts."""
    if isinstance(this, types.Array):
        yield this
    elif isinstance(this, types.BaseTuple):
        for part in this.types:
            yield from _arrays(part)


def _separate(function: Callable, this: types.Type, arguments: tuple[types.Type, ...]) -> Any:
    """The same, None where a call with such arguments is inlined."""
    signature = separate_signature(function, this)
    if signature is None or any(isinstance(kind, types.Array) and kind != item
                            for item, kind in zip(arguments, signature.args[1:], strict=True)):
        return None
    return signature


def _call_address(context, builder, found, arguments, function):
    """Generate a call of the address in the component's `addresses`."""
    kind = found.args[0]
    place = kind.fields.index("addresses")
    data = context.make_array(kind.types[place])(context, builder, builder.extract_value(arguments[0], place)).data
    number = ir.Constant(ir.IntType(64), separate_methods(kind.instance_class).index(function))
    address = builder.load(builder.gep(data, [number]))
    convention = context.call_conv
    code = builder.inttoptr(address, convention.get_function_type(found.return_type, found.args).as_pointer())
    _, result = convention.call_function(builder, code, found.return_type, found.args, arguments)
    return result


def _completed(function: Callable, arguments: tuple, named: dict) -> tuple[types.Type, ...]:
    """Types of all arguments of a call in the function's order, those of defaults included."""
    if not named and len(arguments) == function.__code__.co_argcount + function.__code__.co_kwonlyargcount:
        return arguments
    known = inspect.signature(function)
    try:
        if any(one.kind > one.POSITIONAL_OR_KEYWORD for one in known.parameters.values()):
            raise TypeError("compiled code knows no * and ** among them")
        given = known.bind(*arguments, **named).arguments
    except TypeError as error:
        raise TypingError(f"{function.__qualname__} is called with other arguments than it has: {error}") from None
    return tuple(given[name] if name in given else numba.typeof(one.default) for name, one in known.parameters.items())


def _lower_calls(key: Any, function: Callable, *declared: Any) -> None:
    """Teach Numba to generate calls of `function`, known to the typing under `key`."""
    @lower_builtin(key, *declared)
    def lower(context, builder, signature, arguments):
        if signature.args and _separate(function, signature.args[0], signature.args[1:]) is not None:
            return _call_address(context, builder, signature, arguments, function)
        compiled = _specialise(function, signature.args)
        code = context.active_code_library
        needed = [*code._linking_libraries, compiled.code, *compiled.code._linking_libraries]
        code._linking_libraries = [*dict.fromkeys(reversed(needed))][::-1]  # each behind all that may call it
        if compiled.raises:
            return context.call_internal(builder, compiled.descriptor, compiled.signature, arguments)
        called = context.declare_function(builder.module, compiled.descriptor)
        place = cgutils.alloca_once(builder, called.args[0].type.pointee)
        given = context.call_conv._get_arg_packer(signature.args).as_arguments(builder, arguments)
        builder.call(called, [place, ir.Constant(called.args[1].type, None), *given])
        return context.get_returned_value(builder, compiled.signature.return_type, builder.load(place))


def plain_call(function: Callable) -> Callable:
    """An ordinary compiled function, for calls from Python; the function itself when compiling is switched off."""
    return numba.njit(**PLAIN_OPTIONS)(function)


def load_types() -> None:
    """Load what Numba knows of types and functions, which it would do at the first compilation or load."""
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def register(kernel) -> None:
    """Teach Numba to type and to generate calls of a `Kernel`."""
    class KernelTemplate(AbstractTemplate):
        key = kernel

        def generic(self, args, kws):
            found = _specialise(kernel.py_func, _completed(kernel.py_func, args, kws)).signature
            return found if len(found.args) == len(args) else found.replace(pysig=inspect.signature(kernel.py_func))

    infer_global(kernel, types.Function(KernelTemplate))
    _lower_calls(kernel, kernel.py_func, types.VarArg(types.Any))


class AddressCall(AbstractTemplate):
    """Typing of `address.call_address`."""

    key = call_address

    def generic(self, args, kws):
        if not args or not all(_machine_type(item) for item in args[1:]):
            return None
        return signature(types.int64, types.int64, *(item if isinstance(item, types.Array) else
                                                     types.float64 if isinstance(item, types.Float) else types.int64
                                                     for item in args[1:]))


def _machine_type(item: types.Type) -> bool:
    """Whether machine code takes an argument of this type."""
    if isinstance(item, types.Array):
        return item.layout == "C" and (item.dtype in (types.float64, types.int64) or hasattr(item.dtype, "machine"))
    return isinstance(item, types.Float | types.Integer)


infer_global(call_address, types.Function(AddressCall))


@lower_builtin(call_address, types.int64, types.VarArg(types.Any))
def _lower_address_call(context, builder, found, arguments):
    values = [context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
              for kind, value in zip(found.args[1:], arguments[1:], strict=True)]
    kind = ir.FunctionType(ir.IntType(64), [value.type for value in values])
    return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), values)


def _numbers(kind: types.Type, context: Any = None, builder: Any = None, value: Any = None) -> tuple[types.Type, Any]:
    """The type of `trees.with_numbers`, and where there is a builder its value."""
    if isinstance(kind, types.Array) and not kind.ndim:
        return kind.dtype, builder and context.unpack_value(
            builder, kind.dtype, context.make_array(kind)(context, builder, value).data)
    if not isinstance(kind, types.BaseTuple) or not kind.types:
        return kind, value
    values = cgutils.unpack_tuple(builder, value) if builder else kind.types
    own = [_numbers(one, context, builder, item) for one, item in zip(kind.types, values, strict=True)]
    made = types.BaseTuple.from_types([one for one, _ in own], getattr(kind, "instance_class", None))
    return made, builder and context.make_tuple(builder, made, [item for _, item in own])


type_callable(with_numbers)(lambda context: lambda item: _numbers(item)[0])
lower_builtin(with_numbers, types.Any)(lambda context, builder, found, given: _numbers(
    found.args[0], context, builder, given[0])[1])


@cache
def _method_template(function: Callable) -> type[AbstractTemplate]:
    class MethodTemplate(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            every = _completed(function, (self.this, *args), kws)
            found = _separate(function, self.this, every[1:]) or _specialise(function, every).signature
            return found.replace(pysig=inspect.signature(function)).as_method()

    _lower_calls(function, function, types.BaseNamedTuple, types.VarArg(types.Any))
    return MethodTemplate


@infer_getattr
class ComponentAttribute(AttributeTemplate):
    """Resolves `component.name` to a bound kernel when `name` is a plain method of the component's class."""

    key = types.BaseNamedTuple

    def generic_resolve(self, component, name):
        value = inspect.getattr_static(component.instance_class, name, None)
        if inspect.isfunction(value):
            return types.BoundFunction(_method_template(value), component)
        return None


def _skip_blas() -> None:
    """Load a module of Numba that imports half of scipy (0.2 s) to see whether there is a BLAS, without that:
    nothing here asks for it."""
    wanted = "scipy.linalg.cython_blas"
    if wanted not in sys.modules:
        sys.modules[wanted] = None  # type: ignore[assignment]
        import numba.np.arraymath  # noqa: F401

        del sys.modules[wanted]


_skip_blas()
