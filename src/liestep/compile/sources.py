"""Hash of exactly the source files that a computation uses: the import closure of its modules, found
by reading, not running."""
import hashlib
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from liestep.files import PACKAGE

NAME = "liestep"
MARK = "LIESTEP_PLUGIN"  # attribute of a plugin's modules: hash of all its source, see `simulation.plugins`
DERIVED = "LIESTEP_DERIVED"  # of those that `liestep.plain` has just written: the text
# Statements `from MODULE import NAMES` and `import NAMES`. A comment or a text that looks like one adds a file to the
# hash, which does no harm; a parser would take a second for all files.
IMPORT = re.compile(r"""(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]*\)|(?:[^\n\\;]|\\\n)*)""",
                    re.MULTILINE)
WORD = re.compile(r"[\w.]+")


@cache
def module_file(module: str) -> Path | None:
    """File of a module of this package or of a loaded plugin; None for anything else."""
    if module.split(".")[0] == NAME:
        parts = module.split(".")[1:]
        for folder in (PACKAGE, *(Path(each) for each in sys.modules[NAME].__path__)):
            for candidate in (folder.joinpath(*parts).with_suffix(".py") if parts else folder/"__init__.py",
                              folder.joinpath(*parts, "__init__.py")):
                if candidate.is_file():
                    return candidate
        return None
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    return Path(file) if file and getattr(loaded, MARK, None) else None


@cache
def _imports(path: Path) -> frozenset[str]:
    """Modules of this package that a file imports anywhere, by absolute name."""
    found: set[str] = set()
    for module, names in IMPORT.findall(path.read_text("utf-8")):
        words = WORD.findall(names)
        found.update((module, *(f"{module}.{word}" for word in words)) if module else words)
    return frozenset(name for name in found if name.split(".")[0] == NAME)


def closure(*modules: str) -> dict[str, Path]:
    """All files that the modules import, directly or not: module name -> file."""
    files: dict[str, Path] = {}
    todo = list(modules)
    while todo:
        name = todo.pop()
        path = module_file(name)
        if path is None or name in files:
            continue
        files[name] = path
        todo.extend(_imports(path))
    return files


def package_modules(*packages: str) -> tuple[str, ...]:
    """All modules inside packages of this package, by name, sorted."""
    found = set()
    for package in packages:
        file = module_file(package)
        if file is None:
            raise ModuleNotFoundError(f"there is no package {package}")
        folder = file.parent
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found.add(".".join((package, *(part for part in parts if part != "__init__"))))
    return tuple(sorted(found))


@cache
def source_hash(*modules: str) -> str:
    """sha256 (16 hex digits) of the names and contents of the closure of `modules`; independent
    of the checkout's place."""
    digest = hashlib.sha256()
    for name, path in sorted(closure(*modules).items()):
        content = path.read_bytes()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
        digest.update(getattr(sys.modules.get(name), MARK, "").encode())
    return digest.hexdigest()[:16]


def derived_text(module: str) -> str:
    """The text of a plugin that `liestep.plain` has written; empty for other modules."""
    return str(getattr(sys.modules.get(module), DERIVED, ""))


def black_box(*components: Any) -> bool:
    """Whether there is among components one that calls code that cannot be compiled (`liestep.plain.blackbox`)."""
    return any(isinstance(item, tuple) and (hasattr(item, "black_box") or black_box(*item)) for item in components)


def of_plugins(*components: Any) -> bool:
    """Whether plugins are among the modules of components; not those that `liestep.plain` has written."""
    return any(hasattr(module, MARK) and not hasattr(module, DERIVED)
               for module in map(sys.modules.get, component_modules(*components)))


def component_modules(*components: Any) -> tuple[str, ...]:
    """Modules of the classes of all NamedTuples in a tree of components, sorted."""
    found = set()
    todo = list(components)
    while todo:
        item = todo.pop()
        if isinstance(item, tuple):
            if hasattr(item, "_fields"):
                found.add(type(item).__module__)
            todo.extend(item)
    return tuple(sorted(found))
