"""Run a person's function on symbols: arrays of symbols, a copy of the function in which numpy, `math` and functions
of the person's own take them, and one sentence with the person's own line for whatever is wrong."""
import builtins
import ctypes
import inspect
import linecache
import math
import operator
import sys
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial, reduce
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from liestep.compile.straight.symbols import Graph, Untraceable
from liestep.compile.tracing import globals_of
from liestep.errors import InputError, require_plain, unknown
from liestep.files import PACKAGE
from liestep.plain.symbols import INSTEAD, SPECIAL, Arithmetic, Scalar, Symbol, angle, as_number, nearest, odd, select
from liestep.simulation.runs.own_names import SAME


class Symbols(np.ndarray):
    """An array of symbols and numbers."""

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        return _whole(self.copy() if options.get("copy", True) else self, dtype)

    max, min, clip = (lambda self, *args, _name=name, **options: apply_function(_name, (self, *args), options)
                      for name in (np.max, np.min, np.clip))


for _kind in (Symbols, Arithmetic, Symbol):  # what numpy calls in its own place
    setattr(_kind, "__array_ufunc__", lambda self, ufunc, method, *inputs, **options:  # noqa: B010
            apply_ufunc(ufunc, method, inputs, options))
    setattr(_kind, "__array_function__", lambda self, function, types, args, options:  # noqa: B010
            apply_function(function, args, options))


def has_symbols(*values: Any) -> bool:
    """Whether symbols, or arrays of them, are among values or in lists of them."""
    return any(isinstance(x, Symbols | Arithmetic) or (isinstance(x, list | tuple) and has_symbols(*x))
               or (isinstance(x, np.ndarray) and x.dtype == object) for x in values)


def symbols(values: Any) -> Any:
    """An array that can hold symbols."""
    if isinstance(values, Iterable) and not isinstance(values, np.ndarray | list | tuple):
        values = list(values)
    return np.array(values, dtype=object).view(Symbols)


def _whole(values: Any, dtype: DTypeLike) -> Any:
    """Values as they are. Raises Untraceable where they shall become whole numbers and are no truth values."""
    if dtype is not None and np.dtype(dtype).kind in "iub":
        [int(x) for x in np.ravel(values) if isinstance(x, Symbol)]
    return values


def _bare(x: Any, inner: bool = False) -> Any:
    """An argument as numpy's own functions on objects take it; an inner list of numbers is an array."""
    if isinstance(x, Arithmetic):
        box = np.empty((), dtype=object)
        box[()] = x
        return box
    if isinstance(x, np.ndarray):
        return x.view(np.ndarray)
    if type(x) in (list, tuple) and has_symbols(x):
        rows = any(isinstance(item, list | tuple | np.ndarray) for item in x)
        return np.array(x, dtype=object) if inner and not rows else type(x)(_bare(item, inner=True) for item in x)
    return x


def _dressed(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype == object:
        return x.view(Symbols) if x.ndim else x[()]
    return type(x)(map(_dressed, x)) if type(x) in (list, tuple) else x


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: tuple, options: dict) -> Any:
    """A function of numpy on each entry."""
    if method == "at" or (method == "__call__" and ufunc.nin == 2 and ufunc.nout == 2):
        raise Untraceable(f"np.{ufunc.__name__} of values that depend on the state cannot be traced")
    if method == "__call__" and options.get("where", True) is not True:
        raise Untraceable(f"np.{ufunc.__name__} with where= cannot be traced: write np.where(condition, a, b)")
    inputs, out = inputs[:ufunc.nin], options.pop("out", inputs[ufunc.nin:] or None)
    options = {} if method == "__call__" else {key: value for key, value in options.items() if key != "dtype"}
    bare = [*map(_bare, inputs)]
    if method == "__call__" and ufunc in ENTRYWISE:
        found = np.frompyfunc(ENTRYWISE[ufunc], len(bare), 1)(*bare)
    elif ufunc in (np.maximum, np.minimum) and method == "reduce":
        return _extreme(ENTRYWISE[ufunc])(*inputs, **options)
    else:
        found = getattr(ufunc, method)(*(x.astype(object) if isinstance(x, np.ndarray) else x for x in bare), **options)
    if out is None:
        return _dressed(found)
    into = out[0] if isinstance(out, tuple) else out
    into.view(np.ndarray)[...] = found
    return into


def apply_function(function: Callable, args: tuple, options: dict) -> Any:
    """A function of numpy on arrays."""
    if function in FUNCTIONS:
        return _dressed(FUNCTIONS[function](*args, **options))
    if (function.__module__ or "").startswith("numpy.linalg") or function.__name__ in REFUSED:
        raise Untraceable(f"np.{'linalg.' if 'linalg' in function.__module__ else ''}{function.__name__} of values that"
                          " depend on the state cannot be traced; np.linalg.norm, solve, inv and det can, and np.interp"
                          " on a table")
    return _dressed(function(*map(_bare, args), **{key: _bare(x) for key, x in options.items()}))


def _entry(name: str, symbolic: Callable[[Any], Any]) -> Callable[[Scalar], Any]:
    """A function of numpy on a symbol, as it is written for symbols, or on a number."""
    return lambda x: symbolic(as_number(x)) if isinstance(x, Arithmetic) else getattr(np, name)(float(x))


_larger, _smaller = (lambda a, b: select(a < b, b, a)), (lambda a, b: select(b < a, b, a))
SYMBOLIC: dict[str, Callable[[Any], Any]] = {
    "sqrt": lambda x: x.sqrt(), "sin": lambda x: x.sin(), "cos": lambda x: x.cos(), "exp": lambda x: x.exp(),
    "log": lambda x: x.log(), "tan": lambda x: x.sin()/x.cos(), "cosh": lambda x: 0.5*(x.exp() + (-x).exp()),
    "arctan": lambda x: angle(x, 1.0), "arcsin": lambda x: angle(x, ((1.0 - x)*(1.0 + x)).sqrt()),
    "arccos": lambda x: angle(((1.0 - x)*(1.0 + x)).sqrt(), x), "square": lambda x: x*x, "reciprocal": lambda x: 1.0/x,
    "sign": lambda x: select(x < 0.0, -1.0, select(x == 0.0, 0.0, 1.0)), "log2": lambda x: x.log()/math.log(2.0),
    "exp2": lambda x: (x*math.log(2.0)).exp(), "log10": lambda x: x.log()/math.log(10.0), **SPECIAL,
    "logical_not": lambda x: x == 0.0, **dict.fromkeys(("degrees", "rad2deg"), lambda x: x*(180.0/math.pi))}
ENTRYWISE: dict[np.ufunc, Callable] = {np.maximum: _larger, np.fmax: _larger, np.minimum: _smaller, np.fmin: _smaller,
    np.less: operator.lt, np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge,
    np.remainder: operator.mod, np.equal: operator.eq, np.not_equal: operator.ne, np.float_power: operator.pow,
    np.logical_and: lambda a, b: (a != 0) & (b != 0), np.logical_or: lambda a, b: (a != 0) | (b != 0),
    np.logical_xor: lambda a, b: (a != 0) ^ (b != 0), np.copysign: lambda a, b: odd(b, builtins.abs(a)),
    np.fmod: lambda a, b: odd(a, builtins.abs(a) % builtins.abs(b)),
    np.heaviside: lambda x, half: select(x < 0.0, 0.0, select(x == 0.0, half, 1.0)),
    np.hypot: lambda a, b: (a*a + b*b)**0.5, np.fabs: builtins.abs,
    np.arctan2: lambda y, x: angle(as_number(y), as_number(x)) if has_symbols(y, x) else math.atan2(y, x),
    **{getattr(np, name): _entry(name, symbolic) for name, symbolic in SYMBOLIC.items()},
    np.radians: lambda x: x*(math.pi/180.0), np.deg2rad: lambda x: x*(math.pi/180.0)}


def _where(condition: Any, a: Any, b: Any) -> Any:
    return np.frompyfunc(select, 3, 1)(*map(_bare, map(symbols, (condition, a, b))))


def _select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    for condition, choice in reversed([*zip(conditions, choices, strict=True)]):
        default = _where(condition, choice, default)
    return default


def _extreme(better: Callable) -> Callable:
    def over(x: Any, axis: Any = None, out: None = None, **options: Any) -> Any:
        x = np.asarray(x, dtype=object)
        return np.frompyfunc(better, 2, 1).reduce(*((x.ravel(), 0) if axis is None else (x, axis)), **options)

    return over


def solve(a: Any, b: Any) -> Any:
    """The solution of a x = b: by Cramer's rule, with one division, up to three rows; beyond by elimination with
    the rows in an order that has no small pivots at the start."""
    a, b, n = np.array(a, dtype=object), np.array(b, dtype=object), len(a)
    if a.shape != (n, n) or len(b) != n:
        raise TypeError(f"np.linalg.solve of arrays of shapes {a.shape} and {b.shape}")
    if n <= 3:
        shrink = 1.0/_det(a)
        return np.array([sum(_cofactor(a, j, i)*b[j] for j in range(n))*shrink for i in range(n)], dtype=object)
    graph = next((x.graph for x in (*a.flat, *b.flat) if isinstance(x, Symbol)), None)
    if graph is None:
        return np.linalg.solve(a.astype(float), b.astype(float)).astype(object)
    order = graph.ordered(a)
    a, b = a[order], b[order]
    for k in range(n):
        inverse = 1.0/a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k]*inverse
            a[i, k + 1:] = a[i, k + 1:] - factor*a[k, k + 1:]
            b[i] = b[i] - factor*b[k]
    for k in reversed(range(n)):
        b[k] = (b[k] - sum(a[k, j]*b[j] for j in range(k + 1, n)))*(1.0/a[k, k])
    return b


def _cofactor(a: np.ndarray, i: int, j: int) -> Any:
    rest = np.delete(np.delete(a, i, axis=0), j, axis=1)
    return (_det(rest) if len(rest) else 1.0)*(-1.0)**(i + j)


def _det(a: Any) -> Any:
    a = np.array(a, dtype=object)
    return a[0, 0] if len(a) == 1 else sum(a[0, j]*_cofactor(a, 0, j) for j in range(len(a)))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    matrix = (np.ndim(x) if axis is None else np.size(axis)) == 2
    if ord not in (None, "fro" if matrix else 2):
        raise Untraceable(f"np.linalg.norm of order {ord!r}{' of a matrix, its largest singular value,'*(ord == 2)}"
                          " cannot be traced; 2 of vectors can")
    return np.sqrt(symbols(x)**2 @ np.ones(np.shape(x)[-1]) if axis in (-1, np.ndim(x) - 1) and not keepdims
                   else np.sum(symbols(x)**2, axis=axis, keepdims=keepdims))


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    for bound, better in ((a_min, np.maximum), (min, np.maximum), (a_max, np.minimum), (max, np.minimum)):
        x = x if bound is None else better(x, bound)
    return x


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Linear between the points of a table: one choice for each interval."""
    xp, fp = np.asarray(xp, dtype=float), np.asarray(fp, dtype=float)
    if period is not None and xp.shape == fp.shape and xp.ndim == 1:
        if has_symbols(period) or not 0.0 < abs(period) < math.inf:
            raise Untraceable(f"np.interp takes a number other than zero as its period, not {period!r}")
        period, left, right = abs(float(period)), None, None
        x, points = np.remainder(symbols(x), period), np.unique(np.column_stack([xp % period, fp]), axis=0)
        xp, fp = points.T  # the ends of a period are often both in the table
        xp, fp = np.array([xp[-1] - period, *xp, xp[0] + period]), np.array([fp[-1], *fp, fp[0]])
    if xp.shape != fp.shape or xp.ndim != 1 or not np.all(np.diff(xp) > 0.0):
        raise Untraceable("np.interp takes places that increase and as many values; these are of the shapes"
                          f" {xp.shape} and {fp.shape}{', and out of order' if xp.shape == fp.shape else ''}")

    def one(z: Any) -> Any:
        value: Any = fp[-1] if right is None else right
        for k in reversed(range(len(xp) - 1)):
            slope = float((fp[k + 1] - fp[k])/(xp[k + 1] - xp[k]))
            value = select(z <= float(xp[k + 1]), float(fp[k]) + slope*(z - float(xp[k])), value)
        return select(z < float(xp[0]), float(fp[0] if left is None else left), value)

    return np.frompyfunc(one, 1, 1)(_bare(symbols(x)))


def _cross(a: Any, b: Any, **options: Any) -> Any:
    a, b = (np.moveaxis(symbols(x), -1, 0) for x in (a, b))
    if options or len(a) != 3 or len(b) != 3:
        raise Untraceable("np.cross takes vectors of three along the last axis")
    return np.stack([a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]], axis=-1)


FUNCTIONS: dict[Callable, Callable] = {
    np.where: _where, np.select: _select, np.interp: _interp, np.cross: _cross,
    np.max: _extreme(_larger), np.min: _extreme(_smaller), np.clip: _clip,
    np.linalg.norm: _norm, np.linalg.det: _det, np.linalg.solve: solve,
    np.linalg.inv: lambda a: solve(a, np.eye(len(a))),
    np.einsum: lambda pattern, *arrays, **_: np.einsum(pattern, *(np.asarray(x).view(np.ndarray).astype(
        object, copy=False) for x in arrays))}
REFUSED = ("sort", "argsort", "argmax", "argmin", "searchsorted", "unique", "round", "around", "mod", "linspace",
           "piecewise", "nonzero", "histogram", "convolve", "fft")
CREATED = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "eye", "identity",
           "array", "asarray", "asanyarray", "ascontiguousarray", "diag")


class Place:
    """What stands for a module."""

    def __init__(self, module: ModuleType):
        self.__dict__["module"] = module

    def __getattr__(self, name: str) -> Any:
        if self.module is np and name == "vectorize":
            return lambda f, *_, **__: lambda *args: _dressed(np.frompyfunc(f, len(args), 1)(*map(_bare, args)))
        return stand_in(getattr(self.module, name))

    def __setattr__(self, name: str, value: Any) -> None:
        raise Untraceable("it writes into a module")


def _call(function: Callable, *args: Any, **options: Any) -> Any:
    """A function of numpy that takes lists of symbols too."""
    if not has_symbols(args, tuple(options.values())):
        return function(*args, **options)
    args = (*(symbols(x) if isinstance(x, list | tuple) and has_symbols(x) and not _of_arrays(x) else x for x in args),)
    if isinstance(function, np.ufunc):
        return apply_ufunc(function, "__call__", args, options)
    return apply_function(function, args, options)


def _of_arrays(values: Any) -> bool:
    """Whether it is a list of arrays, or of lists and numbers, which functions such as np.concatenate take as it is."""
    return any(_of_arrays(x) if isinstance(x, list | tuple) else isinstance(x, np.ndarray) and x.ndim
               for x in values) or len({isinstance(x, list | tuple) for x in values}) > 1


def _create(function: Callable, *args: Any, **options: Any) -> Any:
    """A new array: of floats it can hold symbols, of whole numbers and truth values it stays as it is."""
    if has_symbols(args):
        dtype, copied = options.pop("dtype", args[1] if len(args) > 1 else None), options.pop("copy", True)
        options.pop("order", None)
        if function.__name__ in ("array", "asarray", "asanyarray", "ascontiguousarray"):
            same = isinstance(args[0], Symbols) and not (function is np.array and copied)
            made = _whole(args[0] if same else symbols(args[0]), dtype)
            return made if made.ndim else made[()]
        args = tuple(_bare(x) for x in args[:2])
    made = function(*args, **options)
    return made.astype(object).view(Symbols) if made.dtype in (float, object) else made


MATHS = {"pow": "float_power", "atan2": "arctan2", "atan": "arctan", "asin": "arcsin", "acos": "arccos",
         "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}


def _mathematical(name: str, plain: Callable, *args: Any) -> Any:
    if not has_symbols(args) or name in ("floor", "ceil", "trunc"):
        return plain(*args)
    if name in ("fsum", "prod"):
        return sum(*args) if name == "fsum" else np.prod(symbols(args[0]))
    if name == "remainder":
        return nearest(*map(as_number, args))
    if name == "hypot" and len(args) != 2:
        return sum(x*x for x in args)**0.5
    if name == "log" and len(args) == 2:
        return np.log(args[0])/np.log(args[1])
    function = getattr(np, MATHS.get(name, name), None)
    if function not in ENTRYWISE:
        raise Untraceable(f"math.{name} of values that depend on the state cannot be traced: {INSTEAD}")
    return ENTRYWISE[function](*args)


def _best(better: Callable, plain: Callable, *args: Any, **options: Any) -> Any:
    values = list(args[0]) if len(args) == 1 else list(args)
    if has_symbols(values) and "key" in options:
        raise Untraceable("max and min with a key cannot be traced: write np.where(condition, a, b)")
    return reduce(better, values) if has_symbols(values) else plain(values, **options)


MODULES = {module: Place(module) for module in (np, np.linalg, math)}
BUILTINS = {**vars(builtins), "max": partial(_best, _larger, builtins.max),
            "min": partial(_best, _smaller, builtins.min),
            "__import__": lambda *names: stand_in(__import__(*names))}  # within a function


def stand_in(value: Any) -> Any:
    """What stands for a module or a function of numpy or `math`; anything else as it is."""
    if isinstance(value, ModuleType) and value in MODULES:
        return MODULES[value]
    name, where = getattr(value, "__name__", ""), getattr(value, "__module__", None) or ""
    if (where == "math" and callable(value)) or isinstance(value, np.ufunc):
        return partial(_call, value) if where != "math" else partial(_mathematical, name, value)
    if where.split(".")[0] == "numpy" and callable(value) and not isinstance(value, type) and "random" not in where:
        return partial(_create if name in CREATED else _call, value)
    return value


Arguments = Mapping[str, Any]  # symbols, arrays of them, and parameters, by their names
MOST_SECONDS = 20.0  # seconds that a call of a function may take
OWN = "__liestep_person__"  # in the globals of copies of a person's functions
FOREIGN = ("does not contain a loop", "not supported for the input types", "of type Symbol", "how to convert",
           "pyobject", "object arrays are not supported", "'Symbol' object has no", "'Truth' object has no")

TOLD = {**dict.fromkeys(("to dtype('int64')", "only integers", "of integer"), "it takes a value of the state or of a"
                        " parameter as an index: write np.where, or np.interp on a table"),
        "RecursionError": "it calls itself without end", "read-only": "it writes into its argument: make a new array",
        "'Values'": "it computes with p as a whole, which holds the parameters (p.g); momenta are called momentum",
        "'complex'": "it computes with complex numbers: write real and imaginary parts",
        "Endless": f"it does not end within {MOST_SECONDS:g} s"}


class Endless(BaseException):
    """A function does not come back; not among the errors that it may catch itself."""


class Values:
    """Parameters while a function runs: p.mass, p["mass"]."""

    def __init__(self, values: Arguments):
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise InputError(unknown("parameter", name, self.__dict__) if self.__dict__ else
                         f"there is no parameter {name!r}: give it in `parameters`")

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise InputError(f"it writes parameter {name}; parameters are only read")


def run(function: Callable, what: str, arguments: Arguments, shape: tuple[int, ...] | None, graph: Graph,
        arranged: Callable[[Any], Any] = lambda found: found) -> Any:
    """What a function gives for symbols of a graph, `arranged`: an array of this shape, or a number for (); None is any
    shape. Raises InputError: an argument that there is not, a wrong result, or code that cannot run on symbols."""
    function = getattr(function, "py_func", function)  # of one that is compiled already
    where = place(function)
    if isinstance(function, type) or not callable(function):
        raise InputError(f"{what} must be a function, not {function!r}")
    if not isinstance(function, FunctionType):
        raise InputError(f"{what} is a method of an object, whose attributes would be no part of the system's identity:"
                         " give a function" if isinstance(function, MethodType) else
                         f"{what} is a {type(function).__name__} without Python code: give a plain function")
    given = named(function, what, arguments, where)
    called = partial(_called, function, {}, what, given, where, shape, arranged)
    known, first, size, again = len(graph.nodes), called(), len(graph.nodes), called()
    if _places(first) != _places(again):
        made = [*graph.table][:size]
        graph.forget(known)  # 1/x is written by the root of x where that is known, as it is since the first call
        again = called()
        if _places(first) != _places(again) or made != [*graph.table]:
            raise InputError(f"{what} gives something else when it is called again: random numbers, clocks and counters"
                             f" are no functions of the state{_changing(function, given) or where}")
    return again


def named(function: Callable, what: str, arguments: Arguments, where: str) -> dict[str, Any]:
    """Those of the arguments that a function takes, by name. Raises InputError: it takes one that there is not."""
    wanted = inspect.signature(function).parameters
    every = {field: arguments[name] for name, field in SAME.items() if name in arguments} | {**arguments}
    for name, parameter in wanted.items():
        if name not in every and parameter.default is parameter.empty:
            raise InputError(f"{what} takes {name!r}, and arguments are known by their names:"
                             f" {', '.join(arguments)}{where}")
    return {name: every[name] for name in wanted if name in every}


def _places(found: Any) -> list[Any]:
    return [("node", x.place) if hasattr(x, "place") else x for x in np.ravel(found)]


def _changing(function: FunctionType, given: Arguments) -> str:
    """The first line of the person's code behind which two calls differ."""
    copy, before, seen = rewritten(function, {}), sys.gettrace(), list[tuple[str, int, str]]()

    def watch(frame: FrameType, event: str, result: Any) -> Any:
        if not frame.f_globals.get(OWN):
            return None
        names = {"": result} if event == "return" else frame.f_locals
        seen.append((frame.f_code.co_filename, frame.f_lineno, repr({
            name: _places(np.asarray(value, dtype=object)) for name, value in names.items()
            if isinstance(value, Symbol | float | int | list | tuple | np.ndarray)})))
        return watch

    calls = []
    for _ in range(2):
        seen.clear()
        sys.settrace(watch)
        with suppress(Exception):
            copy(**given)
        sys.settrace(before)
        calls.append([*seen])
    return next((_at(*calls[0][max(k - 1, 0)][:2])  # the line that has been run
                 for k, (first, second) in enumerate(zip(*calls, strict=False)) if first[2] != second[2]), "")


def _called(function: FunctionType, copies: dict[int, Any], what: str, given: Arguments, where: str,
            shape: tuple[int, ...] | None, arranged: Callable[[Any], Any]) -> Any:
    try:
        with time_limit(MOST_SECONDS), np.errstate(all="ignore"):
            found = rewritten(function, copies)(**given)
    except (Exception, Endless) as error:
        shown = [f"{name} is of shape {x.shape}" for name, x in given.items() if isinstance(x, np.ndarray)]
        told = f"; {', '.join(shown)}, as it was given" if shown and isinstance(error, IndexError | TypeError) else ""
        for frame, number in traceback.walk_tb(error.__traceback__):
            if frame.f_globals.get(OWN):  # the last line of the person's own code that the error passed
                where = _at(frame.f_code.co_filename, number)
        raise InputError(f"{what}: {_in_words(error)}{told}{where}") from None
    return _result(found, what, where, shape, arranged)


def _in_words(error: BaseException) -> str:
    """A reason that names what can be done, for what is common; else Python's own."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, Untraceable | InputError):
        return str(error)
    told = next((told for words, told in TOLD.items() if words in text), "")
    if not told and any(words in text for words in FOREIGN):
        return f"it calls foreign code that takes plain numbers only: {INSTEAD} ({text.splitlines()[0]})"
    return told or text


def _result(found: Any, what: str, where: str, shape: tuple[int, ...] | None, arranged: Callable[[Any], Any]) -> Any:
    require_plain(f"what {what} gives", found)
    wanted = "a number" if shape == () else f"numbers of shape {shape}" if shape else "numbers"
    if found is None or isinstance(found, dict | set | Coroutine):
        raise InputError(f"{what} returns {'nothing' if found is None else f'a {type(found).__name__}'}; it must return"
                         f" {wanted}{where}")
    try:
        array = symbols(_nested(arranged(found)))
    except (ValueError, TypeError, IndexError):
        raise InputError(f"{what} returns lists that do not fit; it must return {wanted}{where}") from None
    shape = array.shape if shape is None else shape
    if array.shape != shape and array.size == int(np.prod(shape)) == 1:
        array = array.reshape(shape)
    if array.shape != shape:
        raise InputError(f"{what} returns {'a number' if array.shape == () else f'shape {array.shape}'}; it must return"
                         f" {wanted}{where}")
    for entry in np.ndindex(*shape):
        value = as_number(array[entry])
        if value is None:
            raise InputError(f"{what} returns {array[entry]!r}, which is no number{where}")
        if isinstance(value, float) and value != value:
            raise InputError(f"{what} returns NaN{where}")
        array[entry] = value
    return array if shape else array[()]


def _nested(x: Any) -> Any:
    return [_nested(y) for y in x] if isinstance(x, list | tuple) or (isinstance(x, np.ndarray) and x.ndim) else x


def frozen(values: Any) -> Any:
    """An array of symbols that a function may only read."""
    array = symbols(values)
    array.flags.writeable = False
    return array


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises Endless in this thread after so many seconds, in an endless loop too."""
    caller, lock, state = threading.get_ident(), threading.Lock(), {"over": False, "sent": False}

    def stop() -> None:
        with lock:
            if not state["over"]:
                state["sent"] = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(caller), ctypes.py_object(Endless))

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            state["over"] = True
        timer.cancel()
        if state["sent"]:
            with suppress(Endless):  # that may still be on its way
                for _ in range(1000):
                    threading.Event().wait(1e-6)


def place(function: Callable) -> str:
    """File and line of a function."""
    code = getattr(function, "__code__", None)
    return _at(code.co_filename, code.co_firstlineno) if code else ""


def _at(file: str, number: int) -> str:
    text = linecache.getline(file, number).strip()
    return f" ({file.rpartition('/')[2]}, line {number}{f': {text}' if text else ''})"


def rewritten(function: FunctionType, known: dict[int, Any]) -> Any:
    """A copy of a person's function in which modules, helpers and captured values take symbols."""
    if id(function) in known:
        return known[id(function)]
    names: dict[str, Any] = {OWN: not _ours(function), "__builtins__": BUILTINS, "__name__": function.__module__}
    cells = function.__closure__
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__,
                        cells and tuple(type(cells[0])() for _ in cells))
    known[id(function)] = copy
    for new, old in zip(copy.__closure__ or (), cells or (), strict=True):
        with suppress(ValueError):  # a name without a value
            new.cell_contents = _taken(old.cell_contents, known)
    copy.__kwdefaults__ = {name: _taken(value, known) for name, value in (function.__kwdefaults__ or {}).items()}
    copy.__defaults__ = function.__defaults__ and tuple(_taken(value, known) for value in function.__defaults__)
    names.update({name: _taken(value, known) for name, value in globals_of(function).items()})
    return copy


def _taken(value: Any, known: dict[int, Any]) -> Any:
    """What a copy of a function sees in place of a value."""
    value = getattr(value, "py_func", value)  # of functions that are compiled already
    instead = stand_in(value)
    if instead is not value or not isinstance(value, FunctionType):
        return instead
    return value if _ours(value) and "<locals>" not in value.__qualname__ else rewritten(value, known)


def _ours(function: FunctionType) -> bool:
    """Whether it is of this package, of scipy or numpy; those that they make on the way may hold a person's own."""
    return (function.__code__.co_filename.startswith(str(PACKAGE))
            or (function.__module__ or "").split(".")[0] in ("scipy", "numpy"))
