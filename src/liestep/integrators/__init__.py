"""Integrators: one file per family; a file's `METHODS` maps public ids to `Method` declarations. Plugins add theirs."""
import importlib
from functools import cache
from pathlib import Path

from liestep.core import extensions
from liestep.core.callable_package import make_callable
from liestep.integrators.method import Method
from liestep.systems.sheet import InputError, unknown

make_callable(__name__)


@cache
def _catalogue() -> dict[str, tuple[str, Method]]:
    """id -> (module, method) of all families, in the order of the files' names."""
    found: dict[str, tuple[str, Method]] = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem.startswith("_"):
            continue
        name = f"{__name__}.{path.stem}"
        for key, method in getattr(importlib.import_module(name), "METHODS", {}).items():
            if key in found:
                raise RuntimeError(f"integrator {key} is declared in {found[key][0]} and in {name}")
            found[key] = (name, method)
    return found


def own_ids() -> tuple[str, ...]:
    """Ids of the integrators of this package, sorted."""
    return tuple(sorted(_catalogue()))


def integrator_ids() -> tuple[str, ...]:
    """Ids of all integrators, sorted."""
    extensions.find_more()
    return tuple(sorted((*_catalogue(), *extensions.METHODS)))


def _declared(name: str) -> tuple[str, Method]:
    """(module, method) of an id."""
    if name in _catalogue():
        return _catalogue()[name]
    added = extensions.extension(name, extensions.METHODS)
    if added is None:
        raise InputError(unknown("integrator", name, integrator_ids()))
    return added.module, added.item


def method(name: str) -> Method:
    """Declaration of an integrator.

    Raises:
        InputError: unknown id; the sentence names the closest one.
    """
    return _declared(name)[1]


def integrator_module(name: str) -> str:
    """Module that declares an integrator."""
    return _declared(name)[0]
