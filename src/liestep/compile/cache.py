"""Machine code on disk that can be neither stale nor torn nor damaged.

Numba's own cache notices changes of the file that holds the loop only, two processes that write at once can mix their
entries, and a bit that has flipped in a file is called. Here every (loop, component classes, types of arguments) has a
file of its own, named by the hash of all sources that the classes import, of the versions and of the processor's level,
and its digest is compared before it is loaded (`liestep.files.sealed`). No path and no time is in it: clones of equal
sources share it, wherever they lie, and it can be sent to another machine (`liestep.compile.shipping`)."""
import gc
import hashlib
import os
import pickle
import platform
import sys
import warnings
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from liestep.compile.dispatch import compiler
from liestep.compile.separate import separate_methods
from liestep.compile.sources import black_box, component_modules, module_file, source_hash
from liestep.compile.tracing import class_name, plain_loop
from liestep.compile.trees import parts, with_numbers
from liestep.errors import InputError
from liestep.files import sealed
from liestep.files.sealed import cache_folder

holds_addresses = attrgetter("library.has_dynamic_globals")  # of what Numba has compiled


@cache
def compiling() -> tuple[ModuleType, dict[str, Any]]:
    """Numba, ready to compile components, and the options of a loop; whoever only plans or reads runs does not load
    it."""
    options = {**compiler().PLAIN_OPTIONS, "no_cfunc_wrapper": True, "nogil": True,
               "pipeline_class": compiler().LoopCompiler}
    import numba

    return numba, options


def compiles() -> bool:
    """Whether loops are compiled: not with NUMBA_DISABLE_JIT. Whoever only asks does not load Numba. Raises InputError
    where that is no number, or NUMBA_NUM_THREADS none of threads."""
    config, said = getattr(sys.modules.get("numba"), "config", None), os.environ.get("NUMBA_DISABLE_JIT") or "0"
    threads = os.environ.get("NUMBA_NUM_THREADS") or "1"
    if not (threads.isdecimal() and int(threads)):
        raise InputError(f"NUMBA_NUM_THREADS must be 1 or more, not {threads!r}")
    if not said.isdecimal():
        raise InputError(f"NUMBA_DISABLE_JIT must be 0 or 1, not {said!r}")
    return not (config.DISABLE_JIT if config else int(said))


def cache_root() -> Path:
    """Folder of the machine code."""
    return Path(cache_folder())


# of the package `liestep-machine-code`, where it is installed beside this one, and trusted as this one is
SHIPPED = Path(__file__).parents[2]/"liestep_machine_code"


def known(path: Path) -> bytes | None:
    """What the cache holds in a file, or that package under the same name; None where there is nothing whole."""
    data = sealed.content(path)
    if data is None:
        with suppress(OSError):
            data = sealed.unsealed(path, (SHIPPED/path.name).read_bytes())
    return data


@cache
def machine() -> str:
    """Versions and processor: homes are shared between machines, and code for one may not run on another."""
    numba, _ = compiling()
    import llvmlite

    from liestep.compile import processor

    return (f"Python {platform.python_version()}, Numba {numba.__version__}, llvmlite {llvmlite.__version__},"
            f" numpy {np.__version__}, {' '.join(processor.target())}")


@cache
def machine_mark() -> str:
    """Its digest in names of files."""
    return hashlib.sha256(machine().encode()).hexdigest()[:8]


LOST = "no compiled object yet"  # says Numba


class _Kept:
    def __init__(self, name: str):
        self.path = cache_root()/name

    def _file(self, signature: Any) -> Path:
        return self.path.with_name(f"{self.path.name}.{hashlib.sha256(str(signature).encode()).hexdigest()[:8]}.nbc")

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Code for types of arguments, None where none is kept."""
        caching, numba = compiling()[0].core.caching, compiling()[0]
        target.refresh()
        path = self._file(signature)
        data = known(path)
        overload, parts = (None, ()) if data is None else pickle.loads(data)
        if overload != signature:
            return None
        caching._cache_log("[cache] data loaded from %r", str(path))
        return numba.core.compiler.CompileResult._rebuild(target, *parts)

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep code, unless it holds addresses of this process."""
        if holds_addresses(result):
            return
        caching, path = compiling()[0].core.caching, self._file(signature)
        if not sealed.keep(path, caching.dumps((signature, result._reduce()))):
            warnings.warn(f"machine code is not kept: {path} cannot be written", stacklevel=3)
        caching._cache_log("[cache] data saved to %r", str(path))


@contextmanager
def _complaints() -> Iterator[None]:
    """Raise PluginError for what compiling complains of in a plugin, in one sentence, and KeyboardInterrupt that was
    lost; any other error as it is. Nothing is garbage meanwhile: to look for some takes a tenth of compiling."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    except (compiling()[0].core.errors.NumbaError, ImportError) as error:
        from liestep.compile.translation import compile_error
        from liestep.errors import PluginError

        sentence = compile_error(error)
        if sentence is None:
            raise
        raise PluginError(sentence) from None
    except RuntimeError as error:  # LLVM's callback, which hands the code over, swallowed what Ctrl-C raised in it
        if LOST not in str(error):
            raise
        raise KeyboardInterrupt from None
    finally:
        if collects:
            gc.freeze()  # and unfreeze: what was made is old now, and is not looked through at once
            gc.unfreeze()
            gc.enable()


class CompiledLoop:
    """A loop of `liestep.compile.driver`, compiled for the components of its first call, or a method compiled
    separately, with its files on disk."""

    def __init__(self, function: Callable, name: str, wrapped: bool = True):
        """wrapped: Python calls it."""
        self.function = function
        self.connects = True  # until a call has shown that no component has methods compiled separately
        self.call: Any = function
        self.entries: dict[bytes, Callable] = {}  # by the marks of arguments
        numba, options = compiling()
        if not numba.config.DISABLE_JIT:
            self.call = numba.njit(**options, no_cpython_wrapper=not wrapped)(function)
            self.call._cache = _Kept(name)

    def __call__(self, *args):
        return self.ready(*args)(*args)

    def ready(self, *args: Any) -> Callable:
        """The machine code for arguments like these, which does not look at their types at each call: 3 us, not 13."""
        if self.call is self.function:
            return self.function
        self.connects = self.connects and prepare(*args)
        mark = code_mark(args)
        if mark not in self.entries:
            with _complaints():
                self.call.compile(kinds := tuple(map(compiling()[0].typeof, args)))
            self.entries[mark] = self.call.overloads[kinds].entry_point
        return self.entries[mark]

    def compile_separately(self, kinds: tuple[Hashable, ...]) -> int:
        """Compile a method that is called by its address, for types of arguments; the address."""
        with _complaints():
            self.call.compile(kinds)
        parts = self.call.overloads[kinds]._asdict()
        return int(parts["library"].get_pointer_to_function(parts["fndesc"].llvm_func_name))


_loops: dict[tuple, CompiledLoop] = {}
_separate: dict[tuple, tuple[CompiledLoop, int] | None] = {}  # code and its address: who drops one drops the other


def _address_of(method: Callable, component: Any) -> int | None:
    """Address of a method that is compiled separately, for the classes of a component; None where it is inlined."""
    key = (method, class_names(component))
    if key not in _separate:
        kinds = compiler().separate_signature(method, compiling()[0].typeof(component))
        code = None if kinds is None else CompiledLoop(method, _name(method, component), wrapped=False)
        _separate.setdefault(key, None if code is None else (code, code.compile_separately(kinds.args)))  # of threads
    address = _separate[key]
    return None if address is None else address[1]


def prepare(*components: Any) -> bool:
    """Compile or load the methods of components that are called by their addresses, and tell the components these;
    whether there are any."""
    separated = [part for part in parts(*components) if separate_methods(type(part))]
    for part in map(with_numbers, separated):
        for number, method in enumerate(separate_methods(type(part))):
            address = _address_of(method, part)
            if address is not None:
                part.addresses[number] = address
    return bool(separated)


def loop_for(function: Callable, *components: Any) -> Any:
    """The loop specialised for the classes of `components` (their nested components included); in plain Python where
    one of them is a black box."""
    if black_box(*components):
        return plain_loop(function)
    key = (function, class_names(*components))
    if key not in _loops:
        _loops.setdefault(key, CompiledLoop(function, _name(function, *components)))
    return _loops[key]


def class_names(*components: Any) -> tuple[str, ...]:
    """The classes of components, nested ones included: components that have the same share machine code."""
    return tuple(map(_class_tree, components))


def code_mark(arguments: tuple) -> bytes:
    """Machine code that was compiled for some arguments takes others of the same mark: of the same classes, all arrays
    inside of the same types and layouts."""
    return bytes(compiling()[0].core.dispatcher._dispatcher.compute_fingerprint(arguments))


def has_code(function: Callable, *components: Any) -> bool:
    """Whether a loop for these classes is compiled, in this process or on disk."""
    return ((function, class_names(*components)) in _loops
            or any(root.is_dir() and _name(function, *components) in _stored(root, root.stat().st_mtime_ns)
                   for root in (cache_root(), SHIPPED)))


@lru_cache(maxsize=2)
def _stored(folder: Path, changed: int) -> frozenset[str]:
    """Names of the loops and methods that have files in the cache, as it is since it changed."""
    return frozenset(name.partition(".")[0] for name in os.listdir(folder))


def _name(function: Callable, *components: Any) -> str:
    """Name of the files of a loop or method for components."""
    modules = (function.__module__, *component_modules(*components))
    parts = (function.__qualname__, source_hash(*modules), *map(_outside, modules), *class_names(*components))
    return f"{function.__name__}-{machine_mark()}-{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:20]}"


@cache
def _outside(module: str) -> str:
    """Hash of the file of a module that `source_hash` does not know: of a script, for example."""
    file = None if module_file(module) else getattr(sys.modules.get(module), "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""


def _class_tree(item: Any) -> str:
    """Names of the classes of a component tree; leaves by their type and number of dimensions."""
    if isinstance(item, np.ndarray):
        return _array_name(item.dtype, item.ndim)
    if isinstance(item, tuple):
        return f"{class_name(type(item))}({','.join(map(_class_tree, item))})"
    return type(item).__name__


_array_name = cache(lambda dtype, axes: f"{dtype.str}[{axes}]")
