"""Hash of exactly the source files that a computation uses: the import closure of its modules, found
by reading, not running."""
import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from liestep.compile.trees import parts
from liestep.files import PACKAGE

NAME = "liestep"
PAPERS = "liestep_papers"  # begins the module names of papers' code, which lies outside of the package
DOORS = (f"{NAME}.paper", f"{NAME}.extend")  # modules of public names, each loaded where it is used
MARK = "LIESTEP_PLUGIN"  # attribute of a plugin's modules: hash of all its source, see `simulation.plugins`
DERIVED = "LIESTEP_DERIVED"  # of those that `liestep.plain` has just written: the text
# Statements `from MODULE import NAMES` and `import NAMES`. A comment or a text that looks like one adds a file to the
# hash, which does no harm; a parser would take a second for all files.
IMPORT = re.compile(r"""(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]*\)|(?:[^\n\\;]|\\\n)*)""",
                    re.MULTILINE)
WORD = re.compile(r"[\w.]+")
# `with some_runs:` holds imports that only some runs need: no sources of the others. `RunSpecification.modules` names
# them, and tests/workflow/test_run_sources.py holds that no run executes what is not among its sources.
some_runs = nullcontext()
OF_SOME_RUNS = re.compile(r"^([ \t]*)with some_runs:.*\n(?:\1[ \t]+.*\n)+", re.MULTILINE)


_folders: dict[str, Path] = {}  # of papers whose code is known, by their ids


def add_paper_sources(name: str, folder: Path) -> None:
    """Where the code of a paper lies; in the place of another folder of this id."""
    for cached in CACHES if name in _folders else (_own_file,):  # no other code names that of a paper
        cached.cache_clear()
    _folders[name] = folder


def module_file(module: str) -> Path | None:
    """File of a module of this package, of a paper that is read, or of a loaded plugin; None for anything else."""
    if module.split(".")[0] in (NAME, PAPERS):
        return _own_file(module)
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    return Path(file) if file and getattr(loaded, MARK, None) else None


@cache
def _own_file(module: str) -> Path | None:
    first, *parts = module.split(".")
    if first == NAME:
        beside = getattr(sys.modules.get(module.rpartition(".")[0]), "__path__", ())  # of the package that it is in
        tops = [PACKAGE.joinpath(*parts[:-1]), *map(Path, beside)]
    else:
        top = _folders.get(parts.pop(0)) if first == PAPERS and parts else None
        tops = [top.joinpath(*parts[:-1])] if top else []
    places = (place for folder in tops for place in (
        folder/f"{(parts or ['__init__'])[-1]}.py", folder.joinpath(*parts[-1:], "__init__.py")))
    return next((place for place in places if place.is_file()), None)


@cache
def places(module: str) -> dict[str, str]:
    """Name -> module of what a module of public names loads when used: the stub says so, to type checkers too."""
    path = module_file(module)
    assert path is not None
    shown = IMPORT.findall(path.with_suffix(".pyi").read_text("utf-8"))
    return {word: place for place, names in shown for word in WORD.findall(names) if word != "as"}


def public_name(module: str, name: str) -> Any:
    """A name of a module of public names, loaded where it is used: its `__getattr__`. Raises AttributeError."""
    known = sys.modules[module].__all__
    if name not in known:
        raise AttributeError(f"module {module!r} has no attribute {name!r}; it has {', '.join(known)}", name=name,
                             obj=sys.modules[module])
    return getattr(importlib.import_module(places(module)[name]), name)


@cache
def _imports(name: str, path: Path, left_out: re.Pattern | None) -> frozenset[str]:
    """Modules of this package and of papers that the file of a module imports anywhere, by absolute name."""
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    found: set[str] = set()
    text = path.read_text("utf-8")
    for module, names in IMPORT.findall(left_out.sub("", text) if left_out else text):
        if module in DOORS and WORD.search(names):
            found.update(place for word in WORD.findall(names) if (place := places(module).get(word)))
            continue
        if module.startswith("."):  # as papers import what lies beside
            module = importlib.util.resolve_name(module, package).rstrip(".")
        words = WORD.findall(names)
        found.update((module, *(f"{module}.{word}" for word in words)) if module else words)
    return frozenset(name for name in found if name.split(".")[0] in (NAME, PAPERS) and _own_file(name))


def closure(*modules: str, left_out: re.Pattern | None = OF_SOME_RUNS) -> dict[str, Path]:
    """All files that the modules import, directly or not, but in statements that are left out: module name -> file."""
    files: dict[str, Path] = {}
    todo = list(modules)
    while todo:
        name = todo.pop()
        path = module_file(name)
        if path is None or name in files:
            continue
        files[name] = path
        todo.extend(_imports(name, path, left_out))
    return files


def package_modules(*packages: str) -> tuple[str, ...]:
    """All modules inside packages of this package, by name, sorted."""
    found = set()
    for package in packages:
        file = module_file(package)
        assert file is not None
        folder = file.parent
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found.add(".".join((package, *(part for part in parts if part != "__init__"))))
    return tuple(sorted(found))


@cache
def source_hash(*modules: str, left_out: re.Pattern | None = None) -> str:
    """sha256 (16 hex digits) of the names and contents of the closure of `modules`, with the numbers in files .toml
    beside them; independent of the checkout's place. left_out: OF_SOME_RUNS, of a run whose modules are named."""
    files = sorted(closure(*modules, left_out=left_out).items())
    own = [name.split(".")[0] == NAME for name, _ in files]
    first = own.index(False) if False in own else len(files)  # those of the package stand before plugins
    return _hashed(_digest(tuple(files[:first])).copy(), files[first:]).hexdigest()[:16]


@cache
def _digest(files: tuple[tuple[str, Path], ...]) -> "hashlib._Hash":
    """Of files that many runs of one process have in common; whoever goes on takes a copy."""
    return _hashed(hashlib.sha256(), files)


def _hashed(digest: "hashlib._Hash", files: Iterable[tuple[str, Path]]) -> "hashlib._Hash":
    for name, path in files:
        digest.update(f"{name} {content_hash(path)}\n".encode())
        digest.update(getattr(sys.modules.get(name), MARK, "").encode())
    return digest


@cache
def content_hash(path: Path) -> str:
    """Of a file and of its numbers, read once for all hashes that it is part of."""
    content = (part.read_bytes() for part in (path, path.with_suffix(".toml")) if part.is_file())
    return hashlib.sha256(b"".join(content)).hexdigest()


@cache
def package_hash() -> str:
    """Of every file of the package that makes runs."""
    files = sorted(path for end in ("py", "pyi", "toml") for path in PACKAGE.rglob(f"*.{end}"))
    return _hashed(hashlib.sha256(), [(path.relative_to(PACKAGE).as_posix(), path) for path in files]).hexdigest()


# of files: whoever changes one clears them
CACHES = (_own_file, places, _imports, source_hash, _digest, content_hash, package_hash)


def derived_text(module: str) -> str:
    """The text of a plugin that `liestep.plain` has written; empty for other modules."""
    return str(getattr(sys.modules.get(module), DERIVED, ""))


def black_box(*components: Any) -> bool:
    """Whether there is among components one that calls code that cannot be compiled (`liestep.plain.blackbox`)."""
    return any(hasattr(part, "black_box") for part in parts(*components))


def of_plugins(*components: Any) -> bool:
    """Whether plugins are among the modules of components; not those that `liestep.plain` has written."""
    return any(hasattr(module, MARK) and not hasattr(module, DERIVED)
               for module in map(sys.modules.get, component_modules(*components)))


def component_modules(*components: Any) -> tuple[str, ...]:
    """Modules of the classes of all NamedTuples in a tree of components, sorted."""
    return tuple(sorted({type(part).__module__ for part in parts(*components)}))
