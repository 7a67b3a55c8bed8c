"""Before any work: products that are not what this program made are removed, so that they are made again, or named. A
product may be as the manifest lists it, or as a job has written it since (`liestep.files.records`); whatever else
stands under its name was edited, swapped, copied there or damaged. Files that the file system has not changed since
they were looked at last are not read (`liestep.files.ledger`).

`liestep clean` removes files of this program that no study asks for any more, and stored runs that no path and no study
needs. Files that this program has not written are never touched."""
import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from liestep.errors import InputError
from liestep.files import ledger as ledgers
from liestep.files.ledger import Ledger
from liestep.files.records import FOLDER, notes, recording, stays_inside
from liestep.simulation.runs.estimate import count, readable
from liestep.simulation.runs.store import STORE, Store
from liestep.workflow.lock import held
from liestep.workflow.manifest import (
    ENVIRONMENT,
    MANIFEST,
    damage,
    drop,
    last_manifest,
    read_manifest,
    remove_product,
)
from liestep.workflow.workflow import COMMON, SELECTION, Workflow, require_config

SKEW = 60.0  # largest difference in s between the clocks of two machines


def mend(workflow: Workflow, remove: bool = True) -> Iterator[str]:
    """Say which products were changed, lost or damaged; remove those of this workflow if `remove` is True. Products
    of studies that this call does not make are named only."""
    results = workflow.results
    ledger = ledgers.load(results)
    listed, sentence = _listed(ledger, remove)
    if sentence:
        yield sentence
    ours = {path.as_posix().removeprefix(f"{results.as_posix()}/") for path in own(workflow)}
    left = {name for name in {*ledger.known, *ledger.written, *listed} - ours if COMMON.fullmatch(name)
            and name.startswith(f"{SELECTION}/") == workflow.selection and (results/name).is_file()}
    for name in sorted(left):
        yield f"{results/name} is of other studies; {_removed(results/name, remove, results, '')}"
    if left and remove:
        with recording(results):
            drop(results, left)
    others, lost = list[str](), list[str]()
    for name in sorted((ours | set(listed)) - left):
        path, sentence = results/name, _wrong(ledger, name, listed.get(name), remove)
        if sentence is None:
            continue
        if name not in ours:
            others.append(sentence)
        elif path.is_file():
            yield f"{sentence}; {_removed(path, remove, results)}"
        elif path.exists():
            yield f"{sentence}; remove it"
        else:
            lost.append(sentence)
    for found_ones, remedy in ((lost, "to be made again"), (others, "call snakemake for all studies")):
        if found_ones:
            more = f" (and {len(found_ones) - 1} more)" if len(found_ones) > 1 else ""
            yield f"{found_ones[0]}{more}; {remedy}"
    if remove:
        ledger.save()


def _listed(found: Ledger, remove: bool) -> tuple[dict[str, str], str | None]:
    """Hashes of the products in the manifest, and what is wrong with it."""
    path = found.results/MANIFEST
    try:
        return {name: entry["sha256"] for name, entry in read_manifest(found.results, found)["products"].items()}, None
    except InputError as error:
        sentence = str(error).partition("; ")[0]
        if path.is_file():
            return {}, f"{sentence}; {_removed(path, remove, found.results)}"
        return {}, f"{sentence}; remove it" if path.exists() else None


def own(workflow: Workflow) -> Iterator[Path]:
    """Every file that the workflow makes."""
    yield from workflow.cells
    yield from workflow.targets
    yield workflow.results/ENVIRONMENT
    for products in workflow.studies:
        yield from products.timings
        yield from (entry.path for entry in products.references)
    yield from workflow.marks


def _wrong(found: Ledger, name: str, listed: str | None, mend_times: bool) -> str | None:
    """What is wrong with a file; None if nothing is, or it is not there and nobody misses it."""
    path = f"{found.results}/{name}"
    try:
        today = notes(path)
        if mend_times and today[1] > (time.time() + SKEW)*1e9 and stays_inside(found.results, Path(path)):
            os.utime(path)  # with a time in the future, whatever is made from it would always be out of date
        elif found.is_known(name, listed, today):
            return None
        if not found.allowed(name, listed) and (wrong := damage(Path(path))):
            return wrong  # whatever else was written before records existed is accepted
        same = found.sha256(name, listed)
    except FileNotFoundError:
        return f"{path} is lost" if listed else None
    except OSError as error:
        return f"{path} cannot be read: {error.strerror or 'it is not a file'}"
    # not opened: a single flipped bit can keep the NetCDF library busy without end
    return None if same else f"{path} was changed after it was made"


def _removed(path: Path, remove: bool, results: Path, then: str = ", to be made again") -> str:
    if not remove:
        return f"would be removed{then}"
    return f"removed{then}" if remove_product(results, path) else f"a link leads out of {results}: remove it"


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
        source in studies or Path(source).is_file() or (results/source).is_file() for source in entry.get("from", ()))}
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
    names = Counter(note.st_ino for note in notes)
    return sum(note.st_size for note in {note.st_ino: note for note in notes}.values()
               if note.st_nlink <= names[note.st_ino])


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
