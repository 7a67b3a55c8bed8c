"""Let compiled code call any plain method of any NamedTuple, and small functions marked `@kernel`.

Systems, formulations and integrators ("components") are NamedTuples: their fields are data, their methods plain Python
on arrays and scalars. `liestep.compile.inlining` teaches Numba to resolve `component.method(...)`: the method is
compiled as a kernel, inlined into its caller, and specialised for the types at hand. Nothing has to be registered.
Declaring kernels and components does not load Numba: the first compilation does.

Rules for the author of a method (a violation is a compile error, or slow):
- arguments are arrays, scalars, tuples or components, defaults are numbers or tuples of them; arrays are written in
  place, loops copy (no whole-array assignment); errors may be raised, but not caught;
- a method may return scalars or tuples of scalars, never an array or a view;
- numbers that a method needs are fields (class constants are invisible to compiled code)."""
import os
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from inspect import isfunction
from types import ModuleType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def outlined(function: Function) -> Function:
    """Decorator: calls of this function or method are compiled as calls, not inlined. It saves compile time where a
    large one is called at several places; a call costs 0.1-0.2 us, because components are passed field by field."""
    function.outlined = True  # type: ignore[attr-defined]
    return function


def separate(*kinds: type | int) -> Callable[[Function], Function]:
    """Decorator of a method of a component with a field `addresses`, an array of addresses (int64), one for each such
    method of the class in the order in which they stand there. The method is compiled once for the component's
    classes and called by its address, so that it is not compiled again with each loop that calls it
    (`liestep.compile.separate`). It says what it returns: bool, float or None. Only loops that
    `liestep.compile.cache.loop_for` gives know the addresses: no other compiled code may call it.

    kinds: of the arguments behind `self`: int, float, or the number of axes of an array of float64. Calls with other
    types are inlined."""
    def mark(function: Function) -> Function:
        function.separate = kinds  # type: ignore[attr-defined]
        return function
    return mark


def hands_on(field: str, protocol: type, *names: str) -> Callable[[type], type]:
    """Decorator of a component: methods of a protocol that its class does not have itself, of the names if there are
    any, are those of its field."""
    def complete(cls: type) -> type:
        for base in protocol.__mro__:
            for name, method in vars(base).items():
                code = getattr(method, "__code__", None)
                if code is None or name.startswith("_") or name in vars(cls) or (names and name not in names):
                    continue
                arguments = ", ".join(code.co_varnames[1:code.co_argcount])
                function = eval(f"lambda self, {arguments}: self.{field}.{name}({arguments})")
                function.__name__, function.__qualname__ = name, f"{cls.__name__}.{name}"
                function.__module__, function.__doc__ = cls.__module__, method.__doc__
                setattr(cls, name, function)
        return cls
    return complete


def borrows(*others: type, **methods: Callable[..., Any]) -> Callable[[type], type]:
    """Decorator of a component: it has methods that stand elsewhere, which ask for fields and methods that its class
    has, and all of other classes that it does not have itself. (A NamedTuple cannot inherit.)"""
    def complete(cls: type) -> type:
        borrowed = {name: getattr(other, name) for other in others for name in dir(other)
                 if name not in vars(cls) and not name.startswith("_") and isfunction(getattr(other, name))}
        for name, method in (borrowed | methods).items():
            setattr(cls, name, method)
        return cls
    return complete


class Kernel:
    """A function for compiled code, inlined there; called from Python it is an ordinary compiled function."""

    def __init__(self, function):
        update_wrapper(self, function)
        self.py_func = function
        _kernels.append(self)
        for register in _registers:
            register(self)

    @cached_property
    def _callable(self):
        return compiler().plain_call(self.py_func)

    def __call__(self, *args, **named):
        return self._callable(*args, **named)


_kernels: list[Kernel] = []
_registers: list[Callable[[Kernel], None]] = []  # the compiler's function that registers a kernel, once loaded


@cache
def compiler() -> ModuleType:
    """The module `liestep.compile.inlining`, which now knows all kernels, and each new one."""
    import liestep.compile.processor  # noqa: F401  the first to load Numba
    from liestep.compile import inlining

    for item in _kernels:
        inlining.register(item)
    _registers.append(inlining.register)
    return inlining


def kernel(function: Function) -> Function:
    """Decorator; without effect when NUMBA_DISABLE_JIT is set."""
    return function if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") else cast(Function, Kernel(function))
