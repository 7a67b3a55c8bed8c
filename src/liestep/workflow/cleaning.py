"""What `liestep clean` removes: files of this program that no study asks for any more, and stored runs that no path and
no study needs. Files that this program has not written are never touched."""
import argparse
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from liestep.files import ledger as ledgers
from liestep.files.records import FOLDER, stays_inside
from liestep.simulation.runs.estimate import count, readable
from liestep.simulation.runs.store import STORE, Store
from liestep.workflow.integrity import own
from liestep.workflow.lock import held
from liestep.workflow.manifest import MANIFEST, drop, last_manifest
from liestep.workflow.workflow import SELECTION, Workflow, require_config

NOT_OF_STUDIES = (f"{STORE}/", f"{FOLDER}/", MANIFEST)  # beginnings of names


def superfluous(config: Path, results: Path) -> list[Path]:
    """Paths that no study owns, then stored runs without one, sorted. Raises InputError for an error in a study."""
    workflow = Workflow({**require_config(config/"config.yaml"), "studies": "all"}, config, results, room=False)
    paths = sorted(path for path in _paths(workflow) if stays_inside(results, path))
    return [*paths, *sorted(path for path in _stored(workflow, paths) if stays_inside(results, path))]


def _paths(workflow: Workflow) -> Iterator[Path]:
    """Files below the results that this program has written and no study asks for, with the logs beside them."""
    results, studies = workflow.results, {products.name for products in workflow.studies}
    known, listed = ledgers.load(results), last_manifest(results)["products"]
    owned = {path.relative_to(results).as_posix() for path in own(workflow)}
    folders = set()
    # products of a selection are made of studies, files that people write, and each other
    owned |= {name for name, entry in listed.items() if name.startswith(f"{SELECTION}/") and all(
        each in studies or Path(each).is_file() or (results/each).is_file() for each in entry.get("from", ()))}
    for name in {*known.known, *known.written, *listed} - owned:
        path = results/name
        # the mark of a job of a study that exists has a name that depends on the granularity
        is_mark = (path.suffix == ".made" and path.parent.name in ("runs", "references")
                   and path.parent.parent.relative_to(results).as_posix() in studies)
        if name.startswith(NOT_OF_STUDIES) or not path.is_file() or is_mark:
            continue
        yield path
        folders |= {parent for parent in path.parents if results in parent.parents}
    for folder in folders:
        if folder.relative_to(results).as_posix() not in studies:
            yield from folder.glob("logs/*.log")


def _stored(workflow: Workflow, removed: list[Path]) -> Iterator[Path]:
    """Stored runs that have no other name when these paths are removed, and that no study asks for."""
    store, gone = Store(workflow.results), Counter(os.stat(path).st_ino for path in removed)
    wanted = {store.place(cell.fingerprint) for cell in workflow.cells.values()}
    for path in store.files():
        notes = os.stat(path)
        if notes.st_nlink - gone[notes.st_ino] <= 1 and path not in wanted:
            yield path


def size(paths: list[Path]) -> int:
    """Bytes that are free when these files are removed: of files all of whose names are among them."""
    notes = [os.stat(path) for path in paths]
    names = Counter(each.st_ino for each in notes)
    return sum(each.st_size for each in {each.st_ino: each for each in notes}.values()
               if each.st_nlink <= names[each.st_ino])


def remove(results: Path, paths: list[Path]) -> None:
    """Remove exactly these files, and folders that are empty then. The manifest forgets them first: a call that is
    killed leaves files for the next one, and nothing that is missed."""
    drop(results, {path.relative_to(results).as_posix() for path in paths})
    for path in paths:
        path.unlink(missing_ok=True)
    for folder in sorted({parent for path in paths for parent in path.parents if results in parent.parents},
                         key=lambda folder: len(folder.parts), reverse=True):
        with suppress(OSError):  # not empty
            folder.rmdir()


def command_clean(arguments: argparse.Namespace) -> None:
    with held(arguments.results.parent):
        paths = superfluous(arguments.config, arguments.results)
        freed = size(paths)
        print(*paths, sep="\n", end="\n" if paths else "")
        if arguments.yes:
            remove(arguments.results, paths)
    said = "removed" if arguments.yes else "that no study needs: `liestep clean --yes` removes them"
    print(f"{count(len(paths), 'file')}, {readable(freed)}, {said}" if paths else "every file belongs to a study")
