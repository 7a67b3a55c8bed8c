"""Mechanical systems, one file each; the file name is the public id."""
import importlib
from functools import cache
from pathlib import Path

from liestep.systems.sheet import InputError, Sheet, unknown

_NOT_SYSTEMS = {"__init__", "sheet"}


@cache
def system_ids() -> tuple[str, ...]:
    """Ids of all systems, sorted."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py")
                        if path.stem not in _NOT_SYSTEMS and not path.stem.startswith("_")))


def system_module(name: str) -> str:
    """Module of a system.

    Raises:
        InputError: unknown id; the sentence names the closest one.
    """
    if name not in system_ids():
        raise InputError(unknown("problem", name, system_ids()))
    return f"liestep.systems.{name}"


def sheet(name: str) -> Sheet:
    """Fact sheet of a system by id."""
    return importlib.import_module(system_module(name)).SHEET
