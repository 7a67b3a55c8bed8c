"""Run the methods of a component as plain Python on other kinds of numbers: symbols, numbers of many digits, numbers
that count operations, or numbers with an infinitesimal part, x + e d with e^2 = 0, which give derivatives; their x and
d are numbers or nodes of expressions."""
import hashlib
from collections.abc import Callable, Iterator
from dis import get_instructions
from functools import cache, lru_cache
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from liestep.compile import rows


class Functions(NamedTuple):
    """Replacements for the functions of `liestep.compile.rows` that compare numbers or leave arithmetic."""

    sqrt: Callable
    sin: Callable
    cos: Callable
    below: Callable = lambda x, limit: False
    atan2: Callable = np.arctan2
    exp: Callable = np.exp
    log: Callable = np.log
    # (kernel, what stands for it): kernels that are right for float64 only, such as cut series
    kernels: tuple[tuple[Callable, Callable], ...] = ()
    # scalars of a component; arrays of objects take it for each entry
    scalar: Callable = float

    def table(self) -> dict[Callable, Callable]:
        """What stands for each function."""
        named = {getattr(rows, name): value for name, value in self._asdict().items() if hasattr(rows, name)}
        return {**named, **dict(self.kernels)}

def plain_component(component: Any, functions: Functions, numbers: type = object) -> Any:
    """The component with plain methods; float64 arrays become arrays of `numbers`, by default of
    objects that can hold anything. An array that two components share is shared by their copies."""
    arrays: dict[int, np.ndarray] = {}

    def array(values: np.ndarray) -> np.ndarray:
        if values.dtype != np.float64:
            return values
        if id(values) not in arrays:
            out: Any = values.astype(numbers if functions.scalar is float else object)  # numpy's `flat` is read only
            arrays[id(values)] = out
            if functions.scalar is not float:
                out.flat = [functions.scalar(x) for x in values.flat]
        return arrays[id(values)]

    return rebuilt(component, array, functions.scalar, _plain_by(functions))


PLAIN = Functions(**{name: getattr(getattr(rows, name), "py_func", getattr(rows, name))
                     for name in Functions._fields if hasattr(rows, name)})  # float64


def on_own_arrays(item: Any) -> Any:
    """A component, or another argument of a loop, with methods in plain Python that read and write its own arrays."""
    return rebuilt(item, lambda array: array, float, _plain_by(PLAIN)) if isinstance(item, tuple) else item


def plain_loop(function: Callable) -> Callable:
    """A loop in plain Python, on the arrays of its arguments."""
    plain = _plain(function, PLAIN)

    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return plain(*map(on_own_arrays, args))

    return call


def rebuilt(item: Any, array: Callable, scalar: Callable, method: Callable) -> Any:
    """A component with other arrays, scalars and methods, each made from its own by one of the functions."""
    if isinstance(item, np.ndarray):
        return array(item)
    if isinstance(item, float | np.floating):
        return scalar(item)
    if not isinstance(item, tuple):
        return item
    fields = [rebuilt(value, array, scalar, method) for value in item]
    cls = getattr(type(item), "traced_from", type(item))  # that of a plain component is that of its methods
    return _class_with(cls, method)(*fields) if hasattr(item, "_fields") else tuple(fields)


@cache
def _class_with(cls: type, method: Callable) -> type:
    methods = {name: method(value) for name, value in methods_of(cls).items()}
    return type(cls.__name__, (cls,), {**methods, "traced_from": cls})


def methods_of(cls: type) -> dict[str, Callable]:
    """The methods of a component's class, borrowed ones included, without those that every NamedTuple has."""
    return {name: value for name, value in vars(cls).items()
            if isinstance(value, FunctionType) and name[:2] != "__" and value.__module__ != "collections"}


@cache
def _plain_by(functions: Functions) -> Callable[[Callable], Callable]:
    return lambda function: _plain(function, functions)


@cache
def _plain(function: Callable, functions: Functions) -> Callable:
    """A copy of the function in which all kernels that it names, at any depth, are plain Python."""
    replaced = functions.table()
    if function in replaced:
        return replaced[function]
    source = getattr(function, "py_func", function)
    names = {name: _plain(value, functions) if hasattr(value, "py_func") else value
             for name, value in globals_of(source).items()}
    return copied(source, {**names, "__builtins__": __builtins__})


def globals_of(source: Any) -> dict[str, Any]:
    """The globals that a plain function, or one inside it, names; not attributes of the same name, as co_names has."""
    names, given = _global_names(source.__code__), source.__globals__
    return {name: given[name] for name in names if name in given}


@lru_cache(maxsize=1000)
def _global_names(code: CodeType) -> tuple[str, ...]:
    loaded = {item.argval for item in get_instructions(code) if item.opname == "LOAD_GLOBAL"}
    return tuple(sorted(loaded.union(*(_global_names(item) for item in code.co_consts if isinstance(item, CodeType)))))


def copied(source: Any, names: dict[str, Any]) -> Callable:
    made = FunctionType(source.__code__, names, source.__name__, source.__defaults__, source.__closure__)
    made.__kwdefaults__ = source.__kwdefaults__
    return made


def digest_of(problem: Any) -> str:
    """What tells components apart whose traces differ: their classes and all that they hold but for the counters."""
    return hashlib.sha256(b"".join(_content(problem, problem.counters))).hexdigest()


@lru_cache(maxsize=1000)
def class_name(cls: type) -> str:
    """With that of its module."""
    return f"{cls.__module__}.{cls.__qualname__}"


def _content(item: Any, counters: np.ndarray) -> Iterator[bytes]:
    """All that a trace of a component depends on: not the counters, nor the addresses of other machine code."""
    if isinstance(item, tuple):
        yield f"{class_name(type(item))}{len(item)}(".encode()
        addresses = getattr(item, "addresses", None)
        for value in item:
            yield from _content(counters if value is addresses else value, counters)
    elif isinstance(item, np.ndarray):
        yield f"{item.dtype.str}{item.shape}".encode()
        yield b"" if item is counters else item.tobytes()
    else:
        yield f"{type(item).__name__} {item!r}".encode()


class Dual:
    """x + e d"""

    __array_ufunc__ = None  # numpy's scalars leave arithmetic to these methods
    __slots__ = ("d", "x")

    def __init__(self, x: Any, d: Any):
        self.x, self.d = x, d

    def __add__(self, other: Any) -> "Dual":
        x, d = parts(other)
        return Dual(self.x + x, self.d + d)

    __radd__ = __add__

    def __neg__(self) -> "Dual":
        return Dual(-1.0*self.x, -1.0*self.d)

    def __sub__(self, other: Any) -> "Dual":
        x, d = parts(other)
        return Dual(self.x - x, self.d - d)

    def __rsub__(self, other: Any) -> "Dual":
        return -self + other

    def __mul__(self, other: Any) -> "Dual":
        x, d = parts(other)
        return Dual(self.x*x, self.x*d + self.d*x)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Dual":
        x, d = parts(other)
        ratio = self.x/x
        return Dual(ratio, (self.d - ratio*d)/x)

    def __rtruediv__(self, other: Any) -> "Dual":
        return Dual(other, 0.0)/self

    def __lt__(self, other: Any) -> Any:
        return self.x < parts(other)[0]

    def __gt__(self, other: Any) -> Any:
        return self.x > parts(other)[0]

    def __abs__(self) -> "Dual":
        return self if self.x > 0.0 else -self


def with_slopes(functions: Functions) -> Functions:
    """Functions of numbers or nodes, of slopes as well."""
    def of(function: Callable, slope: Callable) -> Callable:
        def apply(x: Any) -> Any:
            value = function(parts(x)[0])
            return Dual(value, slope(x, value)) if isinstance(x, Dual) else value

        return apply

    return functions._replace(sqrt=of(functions.sqrt, lambda x, root: x.d*(0.5/root)),
                              sin=of(functions.sin, lambda x, _: functions.cos(x.x)*x.d),
                              cos=of(functions.cos, lambda x, _: -1.0*functions.sin(x.x)*x.d),
                              exp=of(functions.exp, lambda x, value: value*x.d),
                              log=of(functions.log, lambda x, _: x.d/x.x))


def parts(value: Any) -> tuple[Any, Any]:
    """x and d of any number."""
    return (value.x, value.d) if isinstance(value, Dual) else (value, 0.0)
