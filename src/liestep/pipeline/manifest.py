"""results/manifest.json: a hash of every product and of everything it was made from, and the
comparison with today's files.

Products of kind "data" are the same bytes on every machine with the packages of the lock; those of kind "measured" show
times or the machine itself.
"""
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liestep.errors import InputError
from liestep.pipeline.environment import environment
from liestep.pipeline.sources import figure_source, film_source, table_source
from liestep.pipeline.workflow import StudyProducts, Workflow, page_of
from liestep.references.reference import study_reference
from liestep.runs.execution import run_source_hash
from liestep.runs.files import read
from liestep.storage.atomic import TEMPORARY
from liestep.storage.textfiles import write_text_atomically

FORMAT = 1
DATA, MEASURED = "data", "measured"
CLOCK_FIGURES = ("work_precision", "scaling")  # that show seconds where a study has times


def manifest_path(results: Path) -> Path:
    return results/"manifest.json"


def environment_path(results: Path) -> Path:
    return results/"environment.json"


def write_manifest(workflow: Workflow) -> tuple[Path, int]:
    """Write manifest.json and environment.json; returns the path of the first and the number of its products.

    Raises:
        InputError: a product is missing, or the folder cannot be written.
    """
    results = workflow.results
    write_text_atomically(environment_path(results), _text(environment()))
    products = {}
    for path, entry in sorted(_products(workflow).items()):
        if not path.is_file():
            raise InputError(f"{path} does not exist; call snakemake")
        products[path.relative_to(results).as_posix()] = {**entry, "sha256": file_sha256(path)}
    content = {"format": FORMAT, "studies": [products.name for products in workflow.studies],
               "inputs": {path.as_posix(): file_sha256(path) for path in inputs(workflow)}, "products": products}
    write_text_atomically(manifest_path(results), _text({**content, "sha256": _digest(content)}))
    # of killed processes: all products are there, so that nobody needs to write any more
    for leftover in results.rglob(TEMPORARY):
        leftover.unlink(missing_ok=True)
    return manifest_path(results), len(products)


def inputs(workflow: Workflow) -> list[Path]:
    """All files that people write: config.yaml, studies, claims, errata."""
    found = [workflow.folder/"config.yaml", *(products.study.path for products in workflow.studies),
             *_claim_paths(workflow), *workflow.errata]
    return [path for path in found if path.is_file()]


def inputs_hash(workflow: Workflow) -> str:
    """Changes when one of those files does."""
    return _digest({path.as_posix(): file_sha256(path) for path in inputs(workflow)})[:16]


def _products(workflow: Workflow) -> dict[Path, dict[str, Any]]:
    """Kind and origin of every product by path. `from` names files, and folders of products
    where all of them are meant."""
    found: dict[Path, dict[str, Any]] = {environment_path(workflow.results): {"kind": MEASURED, "from": []}}
    for products in workflow.studies:
        found |= _study_products(products)
    if workflow.claims:
        origin = {"kind": DATA,
                  "from": [*_names(_claim_paths(workflow)), *sorted(set().union(*workflow.claims.values()))]}
        found |= {workflow.results/f"claims.{suffix}": origin for suffix in ("csv", "md")}
    if workflow.errata:
        origin = {"kind": DATA, "from": _names(workflow.errata)}
        found |= {workflow.results/f"errata.{suffix}": origin for suffix in ("csv", "md")}
    verdicts = _names(path.name for path in workflow.verdicts)
    index, *pages = workflow.reports
    found[index] = {"kind": DATA, "from": [products.name for products in workflow.studies] + verdicts}
    for path in pages:
        shown = [products for products in workflow.studies if page_of(products.name) == path.stem]
        timed = any(products.timings for products in shown)
        found[path] = {"kind": MEASURED if timed else DATA, "from": [products.name for products in shown] + verdicts}
    return found


def _study_products(products: StudyProducts) -> dict[Path, dict[str, Any]]:
    study, name = products.study, products.name
    own = study.path.as_posix()
    found: dict[Path, dict[str, Any]] = {}
    for cell in study.cells:
        found[cell.path] = {"kind": DATA, "from": [own], "specification": cell.spec.sha256,
                            "sources": run_source_hash(cell.spec)}
    for reference in products.references:
        _, spec = study_reference(study, reference.problem)
        found[reference.path] = {"kind": DATA, "from": [own], "specification": spec.sha256, "sources": spec.source_hash}
    data = [own, f"{name}/runs"] + [f"{name}/references"]*bool(products.references)
    tables = table_source(name)
    for path in (*products.timings, *products.tables, products.page):
        clock = path.name in ("timings.csv", "seconds.csv")
        found[path] = {"kind": MEASURED if clock else DATA, "from": data, "sources": tables}
    for figure in products.figures:
        drawn = MEASURED if products.timings and figure in CLOCK_FIGURES else DATA
        origin = {"from": [*data, f"{name}/metrics.csv"],
                  "sources": figure_source(figure)}
        kinds = {"pdf": drawn, "png": drawn, "caption.txt": DATA}
        found |= {products.figure(figure, suffix): {"kind": kind, **origin} for suffix, kind in kinds.items()}
    for film in products.animations:
        origin = f"{name}/{film.cell.path.relative_to(study.folder).as_posix()}"
        found[film.path] = {"kind": DATA, "from": [origin],
                            "sources": film_source()}
    return found


@dataclass(frozen=True)
class Complaint:
    """A file that is not what the manifest says, and what is wrong with it. `product`: it can be made again."""

    path: Path
    sentence: str
    product: bool = True


def read_manifest(results: Path) -> dict[str, Any]:
    """Content of manifest.json.

    Raises:
        InputError: missing, or not what was written.
    """
    path = manifest_path(results)
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; snakemake writes it when everything else is made") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path} is not a readable manifest; remove it and call snakemake") from None
    if not isinstance(content, dict) or content.pop("sha256", None) != _digest(content):
        raise InputError(f"{path} was changed after it was written; remove it and call snakemake")
    return content


def verify(results: Path) -> Iterator[Complaint]:
    """Every file that was changed or lost since the manifest was written.

    Raises:
        InputError: see `read_manifest`.
    """
    content = read_manifest(results)
    for name, sha256 in content["inputs"].items():
        path = Path(name)
        if not path.is_file():
            yield Complaint(path, f"{path} is lost: products were made from it", product=False)
        elif file_sha256(path) != sha256:
            yield Complaint(path, f"{path} was changed after products were made from it", product=False)
    for name, entry in content["products"].items():
        path = results/name
        if not path.is_file():
            yield Complaint(path, f"{path} is lost")
        elif file_sha256(path) != entry["sha256"]:
            yield Complaint(path, damage(path) or f"{path} was changed after the manifest was written")


def damage(path: Path) -> str | None:
    """What is wrong with a NetCDF file of this program in itself; None if nothing is, or for other files."""
    if path.suffix != ".nc":
        return None
    try:
        read(path)
    except InputError as error:
        return str(error).partition("; remove it")[0]
    return None


def remove_damaged(workflow: Workflow) -> Iterator[str]:
    """Remove runs and references that were damaged since the manifest was written, so that they are made
    again; says which and why.

    Only files that are newer than the manifest are looked at: their time of change (ctime), which nobody sets back.
    Those that are what it says, as in a copied folder, are not read further.
    """
    path = manifest_path(workflow.results)
    since, known = 0, {}
    with suppress(InputError):
        known, since = read_manifest(workflow.results)["products"], path.stat().st_mtime_ns
    references = [entry.path for products in workflow.studies for entry in products.references]
    for product in (*workflow.cells, *references):
        try:
            changed = os.stat(product).st_ctime_ns
        except OSError:
            continue
        recorded = known.get(product.relative_to(workflow.results).as_posix(), {}).get("sha256")
        if changed <= since or file_sha256(product) == recorded:
            continue
        sentence = damage(product)
        if sentence:
            product.unlink(missing_ok=True)
            yield f"{sentence}; removed, to be made again"


def file_sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _claim_paths(workflow: Workflow) -> list[Path]:
    return [path for paths in workflow.claim_files.values() for path in paths]


def _names(paths) -> list[str]:
    return [Path(path).as_posix() for path in paths]


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(_text(content).encode()).hexdigest()


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1) + "\n"
