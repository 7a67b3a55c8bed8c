"""Own systems and integrators from files outside the package: docs/own_system.md.

A plugin is one Python file that is named in a study (`plugins: [path]`) or on the command line (`liestep --plugin
FILE`), or a module of an installed package with an entry point in the group `liestep.plugins`. It declares `SHEET` (its
id is the file's name), `SHEETS` (id -> sheet), `METHODS` (id -> method), or several of them. Runs know a plugin by the
hash of its content and of the values that its code reads (`liestep.simulation.plugins.reads`), never by its path: after
an edit they are made anew.

Their code must not change what holds for the whole process, or go on beside it."""
import ast
import atexit
import importlib
import importlib.util
import os
import re
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from liestep.compile.cache import cache_root
from liestep.compile.sources import DERIVED, MARK, content_hash, package_hash, source_hash
from liestep.compile.translation import plugin_errors
from liestep.errors import InputError, unknown
from liestep.files import sealed
from liestep.files.records import short_hash
from liestep.files.textfiles import read_text
from liestep.mechanics.contracts.method import Item, Method
from liestep.mechanics.contracts.sheet import Sheet
from liestep.simulation.catalogue import add_plugin, own_integrators, own_systems, plugin_entries
from liestep.simulation.plugins.reads import digest_of_reads

PATIENCE = 1.0  # s for a thread that is about to end
# besides this package: modules whose functions stay what they are
KNOWN = ("builtins", "math", "cmath", "os", "numpy", "numpy.linalg")


def _held() -> dict[str, Any]:
    """By what they are called in a sentence, things that hold for the whole process; rounding is seen by its results,
    of numbers that no compiler knows."""
    unit, tiny = float("1"), float("2.3e-308")
    held = {"the working folder": os.stat(".")[1:3], "the recursion limit": sys.getrecursionlimit(),
             "the rounding of numbers": (unit + 2.0**-53, -unit - 2.0**-53, unit + 0.75*2.0**-52, unit/3.0, tiny/2.0),
             "an alarm": [signal.getitimer(which)[0] > 0.0 for which in range(3)],
             **{f"what {number.name} does": signal.getsignal(number) for number in signal.Signals}}
    return held | {f"{place}.{name}": value for place, module in list(sys.modules.items())
                    if place in KNOWN or place.startswith("liestep.")
                    for name, value in vars(module).items() if callable(value) and not isinstance(value, ModuleType)}


@contextmanager
def untouched(what: str) -> Iterator[None]:
    """Raises InputError where the code inside has changed the process, or has begun a thread that goes on."""
    threads, before = threading.enumerate(), _held()
    yield
    now = _held()
    for name, value in before.items():
        if now.get(name) is not value and now.get(name) != value:
            raise InputError(f"{what} changes {name}, which holds for the whole process: leave it as it is")
    for thread in set(threading.enumerate()).difference(threads):
        thread.join(PATIENCE)
        if thread.is_alive():
            raise InputError(f"{what} begins the thread {thread.name}, which goes on beside the runs: end it")


SECONDS = "LIESTEP_TRIAL_SECONDS"  # environment: of processor time that a plugin may take to be loaded and tried
USUAL, WAITING = "20", 3  # without it; times as long in all, for a machine that is busy
IDLE = 0.05  # of a processor: who has less waits for something, and is not waited for
MEMORY = 4 << 30  # bytes that it may take beside what the process has


def require_tried(load: Callable[[], object], path: Path) -> None:
    """Call `load` in a fork. Raises InputError with what it raises there, or when it does not end, or ends the
    process."""
    try:
        seconds = max(1, int(os.environ.get(SECONDS, USUAL)))
    except ValueError:
        raise InputError(f"{SECONDS} must be a number of seconds, not {os.environ[SECONDS]!r}") from None
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(load, seconds, writer)
    os.close(writer)
    said, began, spans, part = b"", time.monotonic(), 0, b"-"
    try:
        while part and spans < WAITING and (not spans or _processor_seconds(child) > IDLE*spans*seconds):
            spans += 1
            while part and select.select([reader], [], [], max(0.0, began + spans*seconds - time.monotonic()))[0]:
                part = os.read(reader, 1 << 16)
                said += part
    finally:
        os.close(reader)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if said[:1] == b"-":
        raise InputError(said[1:].decode())
    if not said:
        wrong = (f"does not end within {(spans if part and spans < WAITING else 1)*seconds} s ({SECONDS} allows more)"
                 if part or -status == signal.SIGXCPU else
                 f"ends the process ({signal.strsignal(-status) if status < 0 else f'exit code {status}'})")
        raise InputError(f"{path}: to load the plugin, the first trial of what it declares, or what it does at the end,"
                         f" {wrong}")


def _processor_seconds(process: int) -> float:
    """That a process has had; where only Linux would say it, as if it had always worked."""
    try:
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return time.monotonic()


def _answer(load: Callable[[], object], seconds: int, writer: int) -> None:
    """Call it within limits, and write + or - with the sentence; ends this process."""
    try:
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        taken = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) if sys.platform == "linux" else 0
        for what, most in ((resource.RLIMIT_CPU, int(time.process_time()) + seconds + 1), (resource.RLIMIT_CORE, 0),
                           (resource.RLIMIT_AS, taken*resource.getpagesize() + MEMORY)):
            soft, hard = resource.getrlimit(what)
            if soft == resource.RLIM_INFINITY or most < soft:
                resource.setrlimit(what, (most, hard))
        try:
            atexit._clear()  # of this process's parent
            load()
            atexit._run_exitfuncs()
            os.write(writer, b"+")
        except InputError as error:
            os.write(writer, f"-{error}".encode("utf-8", "replace")[:60_000])
    finally:
        os._exit(1)


GROUP = "liestep.plugins"
SOURCE = "LIESTEP_PLUGIN_SOURCE"  # attribute of a plugin's module: hash of its file alone
PREFIX = "liestep_plugin_"  # begins the module name of a plugin, which is part of the key of its machine code
MOST_BYTES = 1 << 20  # bytes of a plugin
ID = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def find_plugin(text: str, *folders: Path) -> Path:
    """The file that a study names, relative to one of the folders. Raises InputError: there is none."""
    if "\0" in text:
        raise InputError(f"the name of a plugin file {text!r} has a zero character")
    places = [Path(folder, text).resolve() for folder in folders]
    for path in places:
        if path.is_file():
            return path
    raise InputError(f"there is no plugin file {text}; looked for {' and '.join(dict.fromkeys(map(str, places)))}")


def load_plugin(path: Path | str, *, derived: str | None = None) -> tuple[str, ...]:
    """Load a plugin's file and make its systems and integrators known; returns their ids. A file that is loaded stays
    as it is.

    Args:
        path: of the file, whose name is letters, digits and underscores and ends with .py.
        derived: its text by `liestep.plain`, which has tried its equations; the file need not be there (default: none).

    Raises:
        InputError: it cannot be loaded, declares nothing, or declares what is no system or integrator, or an id that
            exists; one sentence with the line of the file.
    """
    path = Path(path).resolve()
    if path.suffix != ".py" or not ID.fullmatch(path.stem):
        raise InputError(f"{path}: a plugin is a Python file whose name is letters, digits and underscores, for example"
                         " my_pendulum.py")
    if derived is None:
        read_text(path, MOST_BYTES)  # in UTF-8: an encoding that the file names would be read by Python alone
    source = path.read_bytes() if derived is None else derived.encode()
    name, content = PREFIX + path.stem, short_hash(source)
    loaded = sys.modules.get(name)
    if loaded is not None:
        if getattr(loaded, SOURCE) != content:
            raise InputError(f"{path}: another plugin named {path.stem} is loaded, or this one as it was before an"
                             " edit; rename it or start anew")
        return tuple(key for key, entry in plugin_entries().items() if entry.module == name)
    _require_alone(source, path)
    if derived is not None:
        return _execute(source, path, derived=True)
    # with which values it has passed its trial, by its text and by what runs it
    key = short_hash(f"{name} {content} {package_hash()} {sys.version} {np.__version__}")
    mark, passed = cache_root()/f"trial-{key}.txt", b""
    with suppress(InputError):
        passed = sealed.content(mark) or b""
    if not passed:
        require_tried(lambda: _execute(source, path, try_all=True), path)
    ids = _execute(source, path, passed=passed.decode())
    with suppress(InputError):
        if passed != (now := getattr(sys.modules[name], MARK).encode()):
            sealed.keep(mark, now)
    return ids


def _execute(source: bytes, path: Path, try_all: bool = False, derived: bool = False, passed: str = ""
             ) -> tuple[str, ...]:
    """Execute the bytes of a plugin and make its ids known; `try_all`: try what it declares before; `passed`: in a fork
    where it reads other values than those with which it has passed."""
    name, content = PREFIX + path.stem, short_hash(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    setattr(module, MARK, content)
    setattr(module, SOURCE, content)
    if derived:
        setattr(module, DERIVED, source.decode())
    sys.modules[name] = module
    try:
        with untouched(f"{path}: to load the plugin") if not derived else nullcontext():
            with plugin_errors(path):
                exec(compile(source, str(path), "exec"), module.__dict__)  # these bytes, not a .pyc of others
            return _register(module, path, content, try_all, passed)
    except InputError:
        del sys.modules[name]
        raise


def _require_alone(source: bytes, path: Path) -> None:
    """Raises InputError for a plugin that imports a file beside it: runs would not notice an edit of that file."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return  # said with its line when the file is executed
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            near = [item.name for item in node.names if _beside(item.name, path.parent)]
        elif isinstance(node, ast.ImportFrom):
            near = [node.module or node.names[0].name] if node.level or _beside(node.module or "", path.parent) else []
        else:
            continue
        if near:
            raise InputError(f"{path}, line {node.lineno}: a plugin cannot import {near[0]}, a file beside it: runs"
                             " know a plugin by the content of its one file; put that code into it, or make an"
                             " installed package with an entry point")


def _beside(name: str, folder: Path) -> bool:
    """Whether `import name` means, or would mean if it were found, a file of this folder."""
    name = name.partition(".")[0]
    if not any(place.is_file() for place in (folder/f"{name}.py", folder/name/"__init__.py")):
        return False
    module = sys.modules.get(name) or importlib.util.find_spec(name)
    origin = getattr(module, "origin", None) or getattr(module, "__file__", None)
    return origin is None or Path(origin).resolve().is_relative_to(folder)


def load_installed() -> None:
    """Load the plugins of installed packages."""
    from importlib.metadata import entry_points

    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        what = f"installed plugin {entry.name} ({entry.value})"
        with untouched(f"{what}: to load it"):
            try:
                module = importlib.import_module(entry.module)
            except Exception as error:
                raise InputError(f"{what} cannot be loaded: {type(error).__name__}: {error}") from None
        package = module.__name__.split(".")[0]
        marked = getattr(sys.modules[package], MARK, None) or _content_of(package)  # by another entry point
        _register(module, Path(str(module.__file__)), marked)


def _content_of(package: str) -> str:
    """Hash of all files of a package: one may use another. Its modules are marked with it."""
    top = Path(str(sys.modules[package].__file__))
    files = sorted(top.parent.rglob("*.py")) if top.name == "__init__.py" else [top]
    content = short_hash(b"".join(f"{file.relative_to(top.parent)}"
                                   f" {file.stat().st_size}\n".encode() + file.read_bytes() for file in files))
    _mark(package, content)
    return content


def _mark(package: str, content: str) -> None:
    """Mark all loaded modules of a package with the hash by which runs know it."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == package:
            setattr(module, MARK, content)
    for cached in (source_hash, content_hash):
        cached.cache_clear()


def _register(module: ModuleType, path: Path, content: str, try_all: bool = True, passed: str = "") -> tuple[str, ...]:
    """Check what a module declares, try it in plain Python, and add it; nothing is added when anything is wrong."""
    from liestep.simulation.plugins.trial import first_start, try_declared

    sheets, methods = _declared(module, path, "SHEETS", Sheet), _declared(module, path, "METHODS", Method)
    if hasattr(module, "SHEET"):
        sheets[module.__name__.split(".")[-1].removeprefix(PREFIX)] = _of_kind(module.SHEET, Sheet, f"{path}: SHEET")
    if not sheets and not methods:
        close = [name for name in vars(module) if name.upper() in ("SHEET", "SHEETS", "METHODS")]
        hint = f"; {close[0]} must be written in capitals" if close else ""
        raise InputError(f"{path}: declares neither SHEET nor SHEETS (systems) nor METHODS (integrators){hint}")
    # not what `liestep.system` has made in this file: `SHEET = liestep.system("pair", ...).sheet` in pair.py
    taken = {*own_systems(), *own_integrators(), *(
        name for name, entry in plugin_entries().items() if entry.item is not sheets.get(name))}
    for name in (*sheets, *methods):
        if not isinstance(name, str) or not ID.fullmatch(name):
            raise InputError(f"{path}: id {name!r} must be letters, digits and underscores")
        if name in taken or (name in sheets and name in methods):
            raise InputError(f"{path}: id {name} exists already; choose another one")
    for sheet in sheets.values() if hasattr(module, DERIVED) else ():
        first_start(sheet)
    if try_all:
        try_declared(sheets, methods, path)
    try:
        content = short_hash(f"{content} {digest_of_reads((sheets, methods))}")
    except InputError as error:
        raise InputError(f"{error}" if str(error).startswith(str(path)) else f"{path}: {error}") from None
    if passed not in ("", content):
        require_tried(lambda: try_declared(sheets, methods, path), path)
    _mark(module.__name__.split(".")[0], content)
    add_plugin(module.__name__, content, sheets, methods)
    return (*sheets, *methods)


def _declared(module: ModuleType, path: Path, name: str, kind: type[Item]) -> dict[str, Item]:
    declared = getattr(module, name, {})
    if not isinstance(declared, Mapping):
        raise InputError(f"{path}: {name} must be a mapping of ids to {kind.__name__}, not a {type(declared).__name__}")
    return {key: _of_kind(item, kind, f"{path}: {name}[{key!r}]") for key, item in declared.items()}


def _of_kind(item: Item, kind: type[Item], what: str) -> Item:
    if not isinstance(item, kind):
        raise InputError(f"{what} must be a {kind.__name__}, not a {type(item).__name__}")
    return item


def require_named(name: str, known: tuple[str, ...]) -> None:
    """Raises InputError when an id comes from the plugin of another study: a process that reads only this
    study would not know it."""
    entry = plugin_entries().get(name)
    if entry and entry.module.startswith(PREFIX) and name not in known:
        file = entry.module.removeprefix(PREFIX) + ".py"
        raise InputError(f"{unknown('id', name, known)}: it is declared in {file}, which `plugins` of this"
                         " study does not name")
