"""Tables and figures of a study in one process, only those that are out of date. The records say of every product what
it was made from and which bytes it had. A product is kept when both are still true; whatever is missing, changed, or
not recorded, is made."""
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from liestep.errors import InputError
from liestep.files import records
from liestep.files.records import file_sha256, short_hash
from liestep.workflow.sources import figure_source, table_source
from liestep.workflow.workflow import FIGURE_FILES, StudyProducts


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
    of change, because what it is made of is newer. `claims` are files whose printed numbers figures show. Raises
    InputError: a run is missing or stale, a figure lacks data, or the folder cannot be written."""
    from liestep.figures.commands import make_figure
    from liestep.study.tables.results import StudyResults
    from liestep.study.tables.tables import analyse

    known = records.last(products.study.results, "made")
    tables = Group("tables", short_hash(" ".join((products.fingerprint, table_source(products.name),
                                                  *_hashes(products.timings)))), (*products.tables, products.page))
    if not (kept := _keep(products, known, tables)):
        analyse(products.study)
        _note(products, tables)
    yield tables.name, not kept
    results = StudyResults(products.study)
    for figure in _figures(products, claims):
        if not (kept := _keep(products, known, figure)):
            make_figure(results, figure.name)
            _note(products, figure)
        yield figure.name, not kept


def _figures(products: StudyProducts, claims: Iterable[Path]) -> Iterator[Group]:
    """All figures of a study; the tables must have been made."""
    tables = _hashes((*products.tables, *products.timings))
    printed = _hashes(claims)
    for name in products.figures:
        parts = (products.fingerprint, figure_source(name), *tables, *(printed if name == "ensemble" else ()))
        yield Group(name, short_hash(" ".join(parts)), tuple(products.figure(name, kind) for kind in FIGURE_FILES))


def _keep(products: StudyProducts, known: Mapping[str, list], group: Group) -> bool:
    """Whether all files are those that would be made; then they count as new."""
    try:
        if known.get(f"{products.name} {group.name}") != [group.origin, _hashes(group.files)]:
            return False
        for path in group.files:
            os.utime(path)
    except (InputError, OSError):
        return False
    return True


def _note(products: StudyProducts, group: Group) -> None:
    """Record what a group is made of, at once: a killed job keeps what it has made."""
    try:
        records.append(products.study.results, "made",
                       {f"{products.name} {group.name}": [group.origin, _hashes(group.files)]})
    except OSError as error:
        raise InputError(f"cannot write {products.study.results}: {error.strerror}") from None


def _hashes(paths: Iterable[Path]) -> list[str]:
    """sha256 of files. Raises InputError: one of them is missing."""
    try:
        return [file_sha256(path) for path in paths]
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}") from None
