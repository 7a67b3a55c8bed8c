"""Machine code on disk that can be neither stale nor torn.

Numba's own cache notices changes of the file that holds the loop only, and two processes that write at once can mix
their entries. Here every (loop, component classes) has a folder of its own, named by the hash of all sources that the
classes import, of the versions and of the processor; code is compiled into a private folder and published by one
rename. A cached folder is never written again.
"""
import hashlib
import os
import platform
import shutil
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn
from uuid import uuid4

import numpy as np

from liestep.core.dispatch import compiler
from liestep.core.sources import component_modules, source_hash
from liestep.core.units import connect
from liestep.storage.answers import cache_folder


@cache
def compiling() -> tuple[ModuleType, dict[str, Any]]:
    """Numba, ready to compile components, and the options of a loop; whoever only plans or reads runs does not load
    it."""
    import numba

    return numba, {**compiler().PLAIN_OPTIONS, "no_cfunc_wrapper": True, "nogil": True}


def _errors() -> tuple[type[Exception], ...]:
    """What compiling raises for wrong components."""
    return compiling()[0].core.errors.NumbaError, ImportError


def compiles() -> bool:
    """Whether loops are compiled: not with NUMBA_DISABLE_JIT. Whoever only asks does not load Numba."""
    loaded = sys.modules.get("numba")
    return not (loaded.config.DISABLE_JIT if loaded else int(os.environ.get("NUMBA_DISABLE_JIT") or 0))


def cache_root() -> Path:
    """Folder of the machine code."""
    return Path(cache_folder())


@cache
def _machine() -> str:
    """Versions and processor: homes are shared between machines, and code for one may not run on another."""
    import llvmlite

    from liestep.core import processor

    numba, _ = compiling()
    return (f"{platform.python_version()} {numba.__version__} {llvmlite.__version__} {np.__version__}"
            f" {processor.describe()}")


def _folder_name(function: Callable, classes: tuple[str, ...], modules: tuple[str, ...]) -> str:
    stat = Path(function.__code__.co_filename).stat()
    # Numba compares the loop's file by path and time: two checkouts, or a touched file, get folders of their own.
    parts = (function.__qualname__, function.__code__.co_filename, str(stat.st_mtime_ns), str(stat.st_size), _machine(),
             source_hash(*modules), *classes)
    return f"{function.__name__}-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:20]}"


class CompiledLoop:
    """A loop of `liestep.core.driver`, compiled for the components of its first call, or a method compiled apart, with
    its folder on disk."""

    def __init__(self, function: Callable, folder: str):
        self.function, self.final = function, cache_root()/folder
        self.private: Path | None = None
        self.connects = True  # until a call has shown that no component has methods compiled apart
        self.call: Any = function
        numba, options = compiling()
        if numba.config.DISABLE_JIT:
            return
        target = self.final
        if not self.final.is_dir():
            target = self.private = self.final.with_name(f".{folder}.{os.getpid()}.{uuid4().hex[:8]}")
        try:
            target.mkdir(parents=True, exist_ok=True)
            numba.config.CACHE_DIR = str(target)
            self.call = numba.njit(cache=True, **options)(function)
        except OSError as error:
            warnings.warn(f"machine code is not kept: {error}", stacklevel=3)
            self.private = None
            self.call = numba.njit(**options)(function)

    def __call__(self, *args):
        if self.connects and self.call is not self.function:
            self.connects = prepare(*args)
        try:
            result = self.call(*args)
        except _errors() as error:
            self._complain(error)
        self.publish()
        return result

    def compile_apart(self, kinds: tuple[Any, ...]) -> int:
        """Compile a method that is called by its address, for types of arguments; the address."""
        try:
            self.call.compile(kinds)
        except _errors() as error:
            self._complain(error)
        self.publish()
        parts = self.call.overloads[kinds]._asdict()
        return int(parts["library"].get_pointer_to_function(parts["fndesc"].llvm_func_name))

    def _complain(self, error: Exception) -> NoReturn:
        """Raise PluginError for an error in a plugin, in one sentence; any other error as it is."""
        from liestep.core.translation import compile_error
        from liestep.errors import PluginError

        if self.private is not None:
            shutil.rmtree(self.private, ignore_errors=True)
        sentence = compile_error(error)
        if sentence is None:
            raise error
        raise PluginError(sentence) from None

    def publish(self) -> None:
        """Make the private folder the common one, or drop it when another process was first."""
        private, self.private = self.private, None
        if private is None:
            return
        try:
            os.rename(private, self.final)
        except OSError:
            shutil.rmtree(private, ignore_errors=True)


_loops: dict[tuple, CompiledLoop] = {}
_apart: dict[tuple, tuple[CompiledLoop, int] | None] = {}  # code and its address: who drops one drops the other


def _unit_address(method: Callable, component: Any) -> int | None:
    """Address of a method that is compiled apart, for the classes of a component; None where it is inlined."""
    key = (method, class_names(component))
    if key not in _apart:
        kinds = compiler().unit_signature(method, compiling()[0].typeof(component))
        code = None if kinds is None else CompiledLoop(method, _folder(method, component))
        _apart[key] = None if code is None else (code, code.compile_apart(kinds.args))
    found = _apart[key]
    return None if found is None else found[1]


def prepare(*components: Any) -> bool:
    """Compile or load the methods of components that are called by their addresses, and tell the components these;
    whether there are any."""
    return sum(connect(component, _unit_address) for component in components) > 0


def loop_for(function: Callable, *components: Any) -> CompiledLoop:
    """The loop specialised for the classes of `components` (their nested components included)."""
    key = (function, class_names(*components))
    if key not in _loops:
        _loops[key] = CompiledLoop(function, _folder(function, *components))
    return _loops[key]


def class_names(*components: Any) -> tuple[str, ...]:
    """The classes of components, nested ones included: components that have the same share machine code."""
    return tuple(_class_tree(component) for component in components)


def has_code(function: Callable, *components: Any) -> bool:
    """Whether a loop for these classes is compiled, in this process or on disk."""
    return (function, class_names(*components)) in _loops or (cache_root()/_folder(function, *components)).is_dir()


def _folder(function: Callable, *components: Any) -> str:
    modules = (function.__module__, *component_modules(*components))
    return _folder_name(function, class_names(*components), modules)


def specialisations() -> int:
    """Number of loops compiled or loaded by this process."""
    return len(_loops)


def _class_tree(item: Any) -> str:
    """Names of the classes of a component tree; leaves by their type and number of dimensions."""
    if isinstance(item, tuple):
        name = f"{type(item).__module__}.{type(item).__qualname__}"
        return f"{name}({','.join(map(_class_tree, item))})"
    if isinstance(item, np.ndarray):
        return f"{item.dtype.str}[{item.ndim}]"
    return type(item).__name__
