"""Before any work: products that are not what this program made are removed, so that they are made again, or named. A
product may be as the manifest lists it, or as a job has written it since (`liestep.files.records`); whatever else
stands under its name was edited, swapped, copied there or damaged. Files that the file system has not changed since
they were looked at last are not read (`liestep.files.ledger`)."""
import os
import time
from collections.abc import Iterator
from pathlib import Path

from liestep.errors import InputError
from liestep.files import ledger as ledgers
from liestep.files.ledger import Ledger
from liestep.files.records import notes, recording, stays_inside
from liestep.workflow.manifest import damage, drop, environment_path, manifest_path, read_manifest, remove_product
from liestep.workflow.workflow import COMMON, SELECTION, Workflow

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
    others: list[str] = []
    lost: list[str] = []
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
            more = f" (and {len(found_ones) - 1} more files)" if len(found_ones) > 1 else ""
            yield f"{found_ones[0]}{more}; {remedy}"
    if remove:
        ledger.save()


def _listed(found: Ledger, remove: bool) -> tuple[dict[str, str], str | None]:
    """Hashes of the products in the manifest, and what is wrong with it."""
    path = manifest_path(found.results)
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
    yield environment_path(workflow.results)
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
        if not found.allowed(name, listed):  # written before records existed: accepted
            wrong = damage(Path(path))
            if wrong:
                return wrong
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
