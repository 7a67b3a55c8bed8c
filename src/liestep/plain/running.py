"""Run a person's function on symbols: its arguments by their names, a copy of it in which numpy, `math` and functions
of the person's own take symbols, and one sentence with the person's own line for whatever is wrong."""
import ctypes
import inspect
import linecache
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FunctionType, MethodType
from typing import Any, cast

import numpy as np

from liestep.compile.straight.symbols import Untraceable
from liestep.compile.tracing import globals_of
from liestep.errors import InputError, unknown
from liestep.files import PACKAGE
from liestep.plain.arrays import BUILTINS, stand_in, symbols
from liestep.plain.symbols import as_number

LONGEST = 20.0  # seconds that one call of a function may take
OWN = "__liestep_person__"  # in the globals of copies of a person's functions


class TooLong(BaseException):
    """A function does not come back; not among the errors that it may catch itself."""


class Values:
    """Parameters while a function runs: p.mass, p["mass"]."""

    def __init__(self, values: Mapping[str, Any]):
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise InputError(unknown("parameter", name, self.__dict__) if self.__dict__ else
                         f"there is no parameter {name!r}: give it in `parameters`")

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise InputError(f"it writes parameter {name}; parameters are only read")


def run(function: Callable, what: str, arguments: Mapping[str, Any], shape: tuple[int, ...] | None,
        arranged: Callable[[Any], Any] = lambda found: found) -> Any:
    """What a function gives for symbols, `arranged`: an array of this shape, or a number for (); None is any shape.
    Raises InputError: an argument that there is not, a wrong result, or code that cannot run on symbols."""
    where = place(function)
    if isinstance(function, type) or not callable(function):
        raise InputError(f"{what} must be a function, not {function!r}")
    if isinstance(function, MethodType):
        raise InputError(f"{what} is a method of an object, whose attributes would be no part of the system's identity:"
                         " give a function")
    if not isinstance(function, FunctionType):
        raise InputError(f"{what} is a {type(function).__name__} without Python code: give a plain function")
    wanted = inspect.signature(function).parameters
    for name, one in wanted.items():
        if name not in arguments and one.default is one.empty:
            raise InputError(f"{what} takes {name!r}, and arguments are known by their names:"
                             f" {', '.join(arguments)}{where}")
    given = {name: arguments[name] for name in wanted if name in arguments}
    first, again = (_result(_called(function, what, given, where), what, where, shape, arranged) for _ in range(2))
    if [*map(_same, np.ravel(first))] != [*map(_same, np.ravel(again))]:
        raise InputError(f"{what} gives something else when it is called again: random numbers, clocks and counters are"
                         f" no functions of the state{where}")
    return first


def _same(x: Any) -> Any:
    return ("node", x.place) if hasattr(x, "place") else x


def _called(function: Callable, what: str, given: Mapping[str, Any], where: str) -> Any:
    try:
        with time_limit(LONGEST), np.errstate(all="ignore"):
            return rewritten(cast(FunctionType, function), {})(**given)
    except (Exception, TooLong) as error:
        raise InputError(f"{what}: {_in_words(error)}{_line(error) or where}") from None


def _in_words(error: BaseException) -> str:
    """A reason that names what can be done, for what is common; else Python's own."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, Untraceable | InputError):
        return str(error)
    if isinstance(error, TooLong):
        return f"it does not end within {LONGEST:g} s"
    if isinstance(error, RecursionError):
        return "it calls itself without end"
    if isinstance(error, IndexError) and "integers" in text:
        return "it takes a value of the state or of a parameter as an index: write np.where, or np.interp on a table"
    if "read-only" in text:
        return "it writes into its argument: make a new array"
    if "does not contain a loop" in text or "not supported for the input types" in text or "has no callable" in text:
        return ("it calls foreign code that takes plain numbers only: write it with numpy and math, or as a table for"
                f" np.interp ({text})")
    return text


def _result(found: Any, what: str, where: str, shape: tuple[int, ...] | None, arranged: Callable[[Any], Any]) -> Any:
    """The result with the shape that it must have."""
    wanted = "a number" if shape == () else f"numbers of shape {shape}" if shape else "numbers"
    if found is None:
        raise InputError(f"{what} returns nothing; it must return {wanted}{where}")
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
        if isinstance(array[entry], list | np.ndarray):
            raise InputError(f"{what} returns lists that do not fit; it must return {wanted}{where}")
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
    """Raises TooLong in this thread after so many seconds, in an endless loop too."""
    caller, lock, state = threading.get_ident(), threading.Lock(), {"over": False, "sent": False}

    def stop() -> None:
        with lock:
            if not state["over"]:
                state["sent"] = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(caller), ctypes.py_object(TooLong))

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
            with suppress(TooLong):  # that may still be on its way
                for _ in range(1000):
                    threading.Event().wait(1e-6)


def place(function: Any) -> str:
    """File and line of a function."""
    code = getattr(function, "__code__", None)
    return _at(code.co_filename, code.co_firstlineno) if code else ""


def _at(file: str, number: int) -> str:
    text = linecache.getline(file, number).strip()
    return f" ({file.rpartition('/')[2]}, line {number}{f': {text}' if text else ''})"


def _line(error: BaseException) -> str:
    """The last line of the person's own code that an error passed."""
    lines = [(frame.f_code.co_filename, number) for frame, number in traceback.walk_tb(error.__traceback__)
             if frame.f_globals.get(OWN)]
    return _at(*lines[-1]) if lines else ""


def rewritten(function: FunctionType, known: dict[int, Any]) -> Any:
    """A copy of a person's function in which modules, helpers and captured values take symbols."""
    if id(function) in known:
        return known[id(function)]
    names: dict[str, Any] = {OWN: True, "__builtins__": BUILTINS, "__name__": function.__module__}
    cells = function.__closure__
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__,
                        cells and tuple(type(cells[0])() for _ in cells))
    known[id(function)] = copy
    for new, old in zip(copy.__closure__ or (), cells or (), strict=True):
        with suppress(ValueError):  # a name without a value
            new.cell_contents = _taken(old.cell_contents, known)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__defaults__ = function.__defaults__ and tuple(_taken(value, known) for value in function.__defaults__)
    names.update({name: _taken(value, known) for name, value in globals_of(function).items()})
    return copy


def _taken(value: Any, known: dict[int, Any]) -> Any:
    """What a copy of a function sees in place of a value."""
    value = getattr(value, "py_func", value)  # of functions that are compiled already
    found = stand_in(value)
    if found is not value or not isinstance(value, FunctionType):
        return found
    file = value.__code__.co_filename
    if file.startswith(str(PACKAGE)) or (value.__module__ or "").split(".")[0] in ("scipy", "numpy"):
        return value
    return rewritten(value, known)
