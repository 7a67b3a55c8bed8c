"""One file for each table that a study may ask for, named after it, declares `TABLE`. Nothing lists them."""
import importlib
from pkgutil import iter_modules
from typing import cast

from liestep.study.tables.table import Table

NAMES = tuple(sorted(found.name for found in iter_modules(__path__)))


def table_of(name: str) -> Table | None:
    """What a table is, or its other one by seconds; None for a file of a study that is none of them."""
    name = name.removesuffix("_seconds")
    return cast(Table, importlib.import_module(f"{__name__}.{name}").TABLE) if name in NAMES else None
