"""Tables and figures of a study in one process, only those that are out of date. The records say of every product what
it was made from and which bytes it had. A product is kept when both are still true; whatever is missing, changed, or
not recorded, is made."""
import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from liestep.errors import InputError
from liestep.files import records
from liestep.files.records import file_sha256, short_hash
from liestep.study.plan.plan import Study
from liestep.workflow.sources import figure_source, table_source
from liestep.workflow.workflow import FIGURE_FILES, StudyProducts


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

    study = products.study
    known = records.last(study.results, "made")

    def made(name: str, origin: Iterable[str], files: Sequence[Path],
             make: Callable[[], list[Path]]) -> tuple[str, bool]:
        """The files of one name, made together where the texts `origin` or their bytes are not those recorded."""
        key, digest = f"{study.name} {name}", short_hash(" ".join((products.fingerprint, *origin)))
        if _is_same(files, known.get(key), digest):
            return name, False
        make()
        try:  # at once: a killed job keeps what it has made
            records.append(study.results, "made", {key: [digest, _hashes(files)]})
        except OSError as error:
            raise InputError(f"cannot write {study.results}: {error.strerror}") from None
        return name, True

    yield made("tables", (table_source(study.name), *_hashes(products.timings)), (*products.tables, products.page),
               lambda: analyse(study))
    results, tables, printed = StudyResults(study), _hashes((*products.tables, *products.timings)), _hashes(claims)
    for name in products.figures:
        yield made(name, (figure_source(name), *tables, *(printed if name == "ensemble" else ())),
                   [products.figure(name, kind) for kind in FIGURE_FILES], partial(make_figure, results, name))


def _is_same(files: Iterable[Path], known: object, digest: str) -> bool:
    """Whether all files are those that would be made; then they count as new."""
    with suppress(InputError, OSError):
        if known == [digest, _hashes(files)]:
            for path in files:
                os.utime(path)
            return True
    return False


def _hashes(paths: Iterable[Path]) -> list[str]:
    """sha256 of files. Raises InputError: one of them is missing."""
    try:
        return [file_sha256(path) for path in paths]
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}") from None


def command_products(arguments: argparse.Namespace) -> None:
    products = StudyProducts(Study.find(arguments.study, arguments.config, arguments.results))
    for name, made in make_products(products, sorted((arguments.config/"claims").rglob("*.yaml"))):
        print(f"{products.name} {name}: {'made' if made else 'kept'}", file=sys.stderr)
