"""What the code of a plugin reads beside its own text: values of globals, closures, defaults and class attributes, at
any depth, and functions of other packages. Compiled code holds them as constants, so that their digest is part of the
plugin's identity; what has no digest is refused."""
import builtins
import dis
import hashlib
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from liestep.compile.sources import MARK, NAME
from liestep.compile.translation import at_line
from liestep.errors import InputError

# What functions may call by name: the same arguments give the same values. Not what asks files, clocks or the system.
KNOWN = {NAME, "numpy", "numba", "scipy", "sympy", "mpmath", "math", "cmath", "builtins", "abc", "bisect",
         "collections", "copy", "dataclasses", "decimal", "enum", "fractions", "functools", "heapq", "itertools",
         "numbers", "operator", "re", "statistics", "string", "textwrap", "types", "typing", "warnings"}
OF_FILES = {"open", "input", "eval", "exec", "__import__", "globals", "id", "hash", "load", "loadtxt", "genfromtxt",
            "fromfile", "memmap", "numpy.random"}
PLAIN = (int, float, complex, str, bytes, Fraction, Decimal, PurePath, range, slice, np.dtype, type(None), type(...),
         type(NotImplemented))
NUMBERS, HOLDERS = (np.ndarray, np.generic), (list, tuple, set, frozenset, np.ndarray, Mapping)
BUILTINS = ("builtin_function_or_method", "ufunc", "method_descriptor", "wrapper_descriptor", "method-wrapper",
            "_ArrayFunctionDispatcher", "cython_function_or_method")
FIELDS = ("_tuplegetter", "member_descriptor", "getset_descriptor")
SKIPPED = ("EXTENDED_ARG", "PUSH_NULL", "CACHE", "NOP", "PRECALL")


class Read(NamedTuple):
    """A global name in a function with the attributes behind it, or a module that it imports."""

    name: str
    attributes: tuple[str, ...]
    line: int
    imported: bool


def digest_of_reads(item: Any) -> str:
    """Digest of all values that the functions in an item read, their own text left out where it is a plugin's. Raises
    InputError: a value has no digest; with the line that reads it."""
    walk = _Walk()
    walk.value(item, "it")
    return hashlib.sha256("".join(walk.said).encode()).hexdigest()


class _Walk:
    def __init__(self):
        self.said: list[str] = []
        self.seen: dict[int, tuple[int, Any]] = {}   # with the item: its id must not be that of another one
        self.at: list[tuple[str, int]] = []          # file and line of what is read

    def put(self, *parts: object) -> None:
        self.said += " ".join(map(str, parts)), "\n"

    def refuse(self, what: str) -> NoReturn:
        said = (f"{what}, which the identity of a run cannot hold: read it at the top of the file, into a number, a"
                " text or an array of them")
        raise InputError(at_line(*self.at[-1], said) if self.at else said)

    def value(self, item: Any, name: str) -> None:
        item = getattr(item, "py_func", item)  # of a kernel, which is a function where nothing is compiled
        kind = type(item)
        if isinstance(item, NUMBERS) and item.dtype != object:
            self.put(item.dtype.str, item.shape, hashlib.sha256(item.tobytes()).hexdigest())
        elif kind in PLAIN or (kind not in HOLDERS and isinstance(item, PLAIN) and not isinstance(item, Enum)):
            self.put(kind.__name__, struct.pack("d", item).hex() if kind is float else ascii(item))
        elif id(item) in self.seen:
            self.put("again", self.seen[id(item)][0])
        else:
            self.seen[id(item)] = len(self.seen), item
            self.put(kind.__module__, kind.__qualname__)
            self.content(item, name)

    def content(self, item: Any, name: str) -> None:
        inner = getattr(item, "__wrapped__", None) or getattr(item, "__func__", None)
        if isinstance(item, ModuleType):
            if not _known(item.__name__):
                self.refuse(f"{name} is the module {item.__name__} as a whole")
            self.put(item.__name__)
        elif isinstance(item, type):
            self.of_class(item)
        elif isinstance(item, FunctionType):
            self.function(item)
        elif type(item).__name__ in BUILTINS:
            self.builtin(item, name)
        elif isinstance(item, HOLDERS):
            self.members(item, name)
        elif inner is not None:
            self.value(inner, name)
            self.value(getattr(item, "__self__", None) if isinstance(item, MethodType) else None, name)
        elif isinstance(item, partial | property | cached_property):
            self.members([getattr(item, key, None) for key in ("func", "args", "keywords", "fget", "fset")], name)
        else:
            self.instance(item, name)

    def members(self, item: Any, name: str) -> None:
        if type(item).__module__ == "os":
            self.refuse(f"{name} is the environment")
        if isinstance(item, set | frozenset):
            item = sorted(item, key=ascii)
        self.put(len(item))
        for key, member in item.items() if isinstance(item, Mapping) else enumerate(item):
            self.value(key, name)
            self.value(member, f"{name}[{key!r}]" if isinstance(key, int | str) else name)
        if isinstance(item, tuple) and hasattr(item, "_fields"):
            self.of_class(type(item))

    def instance(self, item: Any, name: str) -> None:
        kind = type(item)
        slots = [name for cls in kind.__mro__ for name, member in vars(cls).items()
                 if type(member).__name__ == "member_descriptor" and hasattr(item, name)]
        held = {**getattr(item, "__dict__", {}), **{slot: getattr(item, slot) for slot in slots}}
        if isinstance(item, Enum):
            held = {"name": item.name}
        elif not (hasattr(item, "__dict__") or held) or not (_is_own(kind) or _known(kind.__module__)):
            self.refuse(f"{name} is a {kind.__qualname__}")
        self.value(kind, name)
        for key, member in held.items():
            if not isinstance(getattr(kind, key, None), cached_property):  # follows from the rest once it is asked for
                self.put(key)
                self.value(member, f"{name}.{key}")

    def builtin(self, item: Any, name: str) -> None:
        """Add a function that is not written in Python by its name."""
        where = getattr(item, "__module__", None) or _of(getattr(item, "__objclass__", None))
        if not _known(where):
            self.refuse(f"{name} is a function of {where}")
        self.put(where, item.__name__)

    def of_class(self, cls: type) -> None:
        self.put(cls.__module__, cls.__qualname__)
        if not _is_own(cls):
            if not _known(cls.__module__):
                self.refuse(f"{cls.__qualname__} is a class of {cls.__module__}")
            return
        for base in cls.__mro__[1:]:
            self.value(base, base.__qualname__)
        for key, member in vars(cls).items():
            method = isinstance(getattr(member, "__func__", member), FunctionType)
            if not _generated(member) if method else not (key.startswith("__") or type(member).__name__ in FIELDS):
                self.put(key)
                self.value(member, f"{cls.__qualname__}.{key}")

    def function(self, function: FunctionType) -> None:
        """Add what a function reads; of functions of the package only what was given to them."""
        own = _is_own(function)
        self.put(function.__module__, function.__qualname__)
        if not own and not _known(function.__module__):
            self.refuse(f"{function.__qualname__} is a function of {function.__module__}")
        if own and not getattr(sys.modules.get(function.__module__), MARK, ""):
            self.put(*_text(function.__code__))  # of another installed package
        self.at.append((function.__code__.co_filename, function.__code__.co_firstlineno))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.put(name)
            with_value = cell != type(cell)()
            self.value(cell.cell_contents if with_value else None, name)
        self.value((function.__defaults__, function.__kwdefaults__), "a default")
        for read in _all_reads(function.__code__) if own else ():
            self.at[-1] = function.__code__.co_filename, read.line
            self.read(read, function.__globals__)
        self.at.pop()

    def read(self, read: Read, names: Mapping[str, Any]) -> None:
        if read.imported:
            __import__(read.name)
            value, label = sys.modules[read.name], read.name
        elif read.name in names or hasattr(builtins, read.name):
            value, label = names.get(read.name, getattr(builtins, read.name, None)), read.name
        else:
            return  # Python or the compiler will say so
        for name in read.attributes:
            if not isinstance(value, ModuleType) or not hasattr(value, name):
                break
            if not _known(value.__name__) and value.__name__.split(".")[0] in sys.stdlib_module_names:
                self.refuse(f"{label}.{name} is read")
            value, label = getattr(value, name), f"{label}.{name}"
        if label.rpartition(".")[2] in OF_FILES and callable(value) and not _is_own(value):
            self.refuse(f"{label} is called")
        self.put(label)
        self.value(value, label)


def _known(module: str | None) -> bool:
    """Whether the functions of a module are known by their names."""
    return (module or "builtins").split(".")[0].lstrip("_") in KNOWN and not (module or "").startswith("numpy.random")


def _of(item: Callable | type | None) -> str:
    return (getattr(item, "__module__", None) or "builtins").split(".")[0]


def _is_own(item: Callable | type) -> bool:
    """Whether a class or function is of a plugin, or of another package than those that are known and Python's own."""
    return not _known(_of(item)) and _of(item).lstrip("_") not in sys.stdlib_module_names


def _generated(function: Callable) -> bool:
    """Whether Python itself has written a method: of named tuples and data classes."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code is None or code.co_filename.startswith("<") or _known(function.__module__)


def _text(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _text(value)
        else:
            yield ascii(sorted(value, key=ascii) if isinstance(value, frozenset) else value)
    yield from (*code.co_names, *code.co_varnames)


@lru_cache(maxsize=1000)
def _all_reads(code: CodeType) -> tuple[Read, ...]:
    return tuple(_reads(code))


def _reads(code: CodeType) -> Iterator[Read]:
    """The names that a function, and functions inside it, read."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in SKIPPED]
    line = code.co_firstlineno
    for place, step in enumerate(steps):
        line = (step.positions.lineno if step.positions else None) or line
        if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            raise InputError(at_line(code.co_filename, line, f"the global {step.argval} is written while runs are made:"
                                     " they could not be told by what it holds"))
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_NAME"):
            imported, behind = step.opname == "IMPORT_NAME", []
            for later in steps[place + 1:]:
                if later.opname in (("IMPORT_FROM",) if imported else ("LOAD_ATTR", "LOAD_METHOD")):
                    behind.append(later.argval)
                elif not (imported and behind and later.opname.startswith("STORE_")):
                    break
            for name in behind if imported else ():
                yield Read(step.argval, (name,), line, imported)
            if not (imported and behind):
                yield Read(step.argval, tuple(behind), line, imported)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _reads(value)
