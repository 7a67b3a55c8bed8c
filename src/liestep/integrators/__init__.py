"""Integrators: one file per family; a file's `METHODS` maps public ids to `Method` declarations."""
import importlib
from functools import cache
from pathlib import Path

from liestep.integrators.method import Method
from liestep.systems.sheet import InputError, unknown


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


def integrator_ids() -> tuple[str, ...]:
    """Ids of all integrators, sorted."""
    return tuple(sorted(_catalogue()))


def method(name: str) -> Method:
    """Declaration of an integrator.

    Raises:
        InputError: unknown id; the sentence names the closest one.
    """
    if name not in _catalogue():
        raise InputError(unknown("integrator", name, integrator_ids()))
    return _catalogue()[name][1]


def integrator_module(name: str) -> str:
    """Module that declares an integrator."""
    method(name)
    return _catalogue()[name][0]
