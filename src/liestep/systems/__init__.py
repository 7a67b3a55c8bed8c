"""Mechanical systems, one file each; the file name is the public id. Plugins add theirs, see `liestep.plugins`."""
import importlib
from functools import cache
from pathlib import Path

from liestep.core import extensions
from liestep.core.callable_package import make_callable
from liestep.systems.sheet import InputError, Sheet, unknown

make_callable(__name__)

_NOT_SYSTEMS = {"__init__", "sheet"}


@cache
def own_ids() -> tuple[str, ...]:
    """Ids of the systems of this package, sorted."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py")
                        if path.stem not in _NOT_SYSTEMS and not path.stem.startswith("_")))


def system_ids() -> tuple[str, ...]:
    """Ids of all systems, sorted."""
    extensions.find_more()
    return tuple(sorted((*own_ids(), *extensions.SYSTEMS)))


def system_module(name: str) -> str:
    """Module of a system.

    Raises:
        InputError: unknown id; the sentence names the closest one.
    """
    if name in own_ids():
        return f"liestep.systems.{name}"
    added = extensions.extension(name, extensions.SYSTEMS)
    if added is None:
        raise InputError(unknown("problem", name, system_ids()))
    return added.module


def sheet(name: str) -> Sheet:
    """Fact sheet of a system by id."""
    module = system_module(name)
    return extensions.SYSTEMS[name].item if name in extensions.SYSTEMS else importlib.import_module(module).SHEET
