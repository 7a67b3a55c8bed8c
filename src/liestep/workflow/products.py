"""Tables and figures of a study in one process, only those that are out of date.

A file beside them, PRODUCTS, says of every product what it was made from and which bytes it had. A product is kept
when both are still true; whatever is missing, changed, or not in that file, is made. Without the file, or with a
damaged one, everything is.
"""
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from liestep.errors import InputError
from liestep.files.records import file_sha256
from liestep.files.textfiles import write_text_atomically
from liestep.workflow.jobs import short_hash
from liestep.workflow.sources import figure_source, table_source
from liestep.workflow.workflow import FIGURE_FILES, StudyProducts

PRODUCTS = ".products.json"  # in the folder of a study


@dataclass(frozen=True)
class Group:
    """Files that are made together, by a name, and a text that changes when they are out of date."""

    name: str
    origin: str
    files: tuple[Path, ...]


def products_source(products: StudyProducts) -> str:
    """Hash of what makes the tables and figures of a study."""
    return short_hash(" ".join((table_source(products.name), figure_source(*products.figures))))


def make_products(products: StudyProducts, claims: Iterable[Path] = ()) -> Iterator[tuple[str, bool]]:
    """Make the tables, then the figures; yields each name and whether it was made or kept. What is kept gets a new time
    of change, because what it is made of is newer. `claims` are files whose printed numbers figures show.

    Raises:
        InputError: a run is missing or stale, a figure lacks data, or the folder cannot be written.
    """
    from liestep.figures.commands import make_figure
    from liestep.study.tables.results import StudyResults
    from liestep.study.tables.tables import analyse

    known, tables = _known(products), _tables(products)
    if not (kept := _keep(tables, known)):
        analyse(products.study)
    _note(products, known, tables)
    yield tables.name, not kept
    results = StudyResults(products.study)
    for figure in _figures(products, claims):
        if not (kept := _keep(figure, known)):
            make_figure(results, figure.name)
        _note(products, known, figure)
        yield figure.name, not kept


def _tables(products: StudyProducts) -> Group:
    return Group("tables", short_hash(" ".join((products.fingerprint, table_source(products.name),
                                               *_hashes(products.timings)))),
                 (*products.tables, products.page))


def _figures(products: StudyProducts, claims: Iterable[Path]) -> Iterator[Group]:
    """All figures of a study; the tables must have been made."""
    tables = _hashes((*products.tables, *products.timings))
    printed = _hashes(claims)
    for name in products.figures:
        parts = (products.fingerprint, figure_source(name), *tables,
                 *(printed if name == "ensemble" else ()))
        yield Group(name, short_hash(" ".join(parts)),
                    tuple(products.figure(name, kind) for kind in FIGURE_FILES))


def _known(products: StudyProducts) -> dict[str, list]:
    """Name -> [origin, hashes of the files], as they were made; empty when that is not known."""
    with suppress(OSError, ValueError, RecursionError):
        content = json.loads((products.folder/PRODUCTS).read_text("utf-8"))
        if isinstance(content, dict):
            return content
    return {}


def _keep(group: Group, known: Mapping[str, list]) -> bool:
    """Whether all files are those that would be made; then they count as new."""
    try:
        if known.get(group.name) != [group.origin, _hashes(group.files)]:
            return False
        for path in group.files:
            os.utime(path)
    except (InputError, OSError):
        return False
    return True


def _note(products: StudyProducts, known: dict[str, list], group: Group) -> None:
    """Remember what a group is made of, at once: a killed job keeps what it has made."""
    known[group.name] = [group.origin, _hashes(group.files)]
    write_text_atomically(products.folder/PRODUCTS, json.dumps(known, indent=1) + "\n")


def _hashes(paths: Iterable[Path]) -> list[str]:
    """sha256 of files.

    Raises:
        InputError: one of them is missing.
    """
    found = []
    for path in paths:
        try:
            found.append(file_sha256(path))
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from None
    return found
