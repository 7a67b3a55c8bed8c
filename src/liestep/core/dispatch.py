"""Let compiled code call any plain method of any NamedTuple, and small functions marked `@kernel`.

Systems, formulations and integrators ("components") are NamedTuples: their fields are data, their methods plain Python
on arrays and scalars. Importing this module teaches Numba to resolve `component.method(...)`: the method is compiled as
a kernel, inlined into its caller, and specialised for the types at hand. Nothing has to be registered.

Rules for the author of a method (a violation is a compile error, or slow):
- arguments are arrays, scalars, tuples or components, positional and without defaults; arrays are written in place,
  loops copy (no whole-array assignment);
- a method may return scalars or tuples of scalars, never an array or a view;
- numbers that a method needs are fields (class constants are invisible to compiled code).
"""
import inspect
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from typing import Any, NamedTuple, TypeVar, cast

from numba import config, njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Flags, compile_extra
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import lower_builtin
from numba.np import linalg

Function = TypeVar("Function", bound=Callable[..., Any])


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
    """Code that only exists to be inlined into a loop: neither optimised nor made into machine code on its own.

    Numba does both for every function, with all that is inlined in it: two thirds of the time to compile a loop.
    """

    def finalize(self):
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class Specialised(NamedTuple):
    """A function compiled for some argument types: how it is called, and the code to link."""

    signature: Any
    descriptor: Any
    code: InlineLibrary


@cache
def _specialise(function, arguments) -> Specialised:
    """`function` compiled for a tuple of argument types."""
    flags = Flags()
    cpu_target.options.parse_as_flags(flags, KERNEL_OPTIONS | {"forceinline": not getattr(function, "outlined", False)})
    flags.no_compile = True
    context = cpu_target.target_context
    code = InlineLibrary(context.codegen(), function.__qualname__)
    result = compile_extra(cpu_target.typing_context, context, function, arguments, None, flags, {}, code)
    return Specialised(result.signature, result.fndesc, code)


def _lower_calls(key, function, *declared):
    """Teach Numba to generate calls of `function`, known to the typing under `key`."""
    @lower_builtin(key, *declared)
    def lower(context, builder, signature, arguments):
        compiled = _specialise(function, signature.args)
        context.add_linking_libs([compiled.code])
        return context.call_internal(builder, compiled.descriptor, compiled.signature, arguments)


def outlined(function: Function) -> Function:
    """Decorator: calls of this function or method are compiled as calls, not inlined. It saves compile time where a
    large one is called at several places; a call costs 0.1-0.2 us, because components are passed field by field."""
    function.outlined = True  # type: ignore[attr-defined]
    return function


class Kernel:
    """A function for compiled code, inlined there; called from Python it is an ordinary compiled function."""

    def __init__(self, function):
        update_wrapper(self, function)
        self.py_func = function

        class Call(AbstractTemplate):
            key = self

            def generic(self, args, kws):
                return _specialise(function, args).signature

        infer_global(self, types.Function(Call))
        _lower_calls(self, function, types.VarArg(types.Any))

    @cached_property
    def _callable(self):
        return njit(**PLAIN_OPTIONS)(self.py_func)

    def __call__(self, *args):
        return self._callable(*args)


def kernel(function: Function) -> Function:
    """Decorator; without effect when NUMBA_DISABLE_JIT is set."""
    return function if config.DISABLE_JIT else cast(Function, Kernel(function))


@cache
def _method_template(function):
    """Typing of one plain function used as a method."""
    class Method(AbstractTemplate):
        key = function

        def generic(self, args, kws):
            compiled = _specialise(function, (self.this, *args))
            return compiled.signature.replace(pysig=inspect.signature(function)).as_method()

    _lower_calls(function, function, types.BaseNamedTuple, types.VarArg(types.Any))
    return Method


@infer_getattr
class ComponentAttribute(AttributeTemplate):
    """Resolves `component.name` to a bound kernel when `name` is a plain method of the component's class."""

    key = types.BaseNamedTuple

    def generic_resolve(self, component, name):
        value = inspect.getattr_static(component.instance_class, name, None)
        if inspect.isfunction(value):
            return types.BoundFunction(_method_template(value), component)
        return None
