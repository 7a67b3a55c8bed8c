"""results/manifest.json: a hash of every product and of everything it was made from, and the comparison with today's
files. Products of kind "data" are the same bytes on every machine with the packages of the lock; those of kind
"measured" show times or the machine itself."""
import argparse
import hashlib
import json
import os
import platform
import random
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypedDict

from liestep.errors import InputError
from liestep.files import ledger as ledgers
from liestep.files.ledger import Ledger
from liestep.files.records import file_sha256, is_inside, recording, stays_inside
from liestep.files.textfiles import TEMPORARY, write_text_atomically
from liestep.simulation.references.reference import compute_reference, study_reference
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.store import Store
from liestep.study.plan.names import REPORT_FOLDER, page_of, study_files
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import computed
from liestep.workflow.sources import figure_source, film_source, table_source
from liestep.workflow.workflow import COMMON, SELECTION, StudyProducts, Workflow, configured

FORMAT = 1
MANIFEST, ENVIRONMENT = "manifest.json", "environment.json"  # below the results
DATA, MEASURED = "data", "measured"
CLOCK_TABLES = ("timings.csv", "seconds.csv", "which_seconds.csv")
# figures that show seconds where a study has times
CLOCK_FIGURES = ("work_precision", "scaling", "leaders_seconds", "price_of_manifold")


# where a product comes from; `from` names files, and folders where all products are meant
Product = TypedDict("Product", {"kind": str, "from": list[str], "specification": str, "sources": str, "sha256": str},
                    total=False)


def write_manifest(workflow: Workflow) -> tuple[Path, int]:
    """Write manifest.json and environment.json; returns the path of the first and the number of its products. Products
    of studies that this workflow does not make stay listed as they were, as long as there is a file of the study.
    Raises InputError: a product is missing, or was changed by somebody else since it was made; or the folder cannot be
    written."""
    results = workflow.results
    with recording(results):
        write_text_atomically(results/ENVIRONMENT, _text(environment()))
        before = last_manifest(results)
        written, products = ledgers.load(results), dict[str, Product]()
        for path, entry in sorted(_products(workflow).items()):
            name = path.relative_to(results).as_posix()
            products[name] = {**entry, "sha256": _sha256(written, name, before["products"].get(name, {}).get("sha256"))}
        others = _others(workflow, before["products"], products)
        given = {path.as_posix(): file_sha256(path) for path in inputs(workflow)}
        kept = {name: sha256 for name, sha256 in before["inputs"].items()
                if name not in given and others and Path(name).is_file()}
        names = [products.name for products in workflow.studies]
        studies = names + [name for name in workflow.unselected if any(file.startswith(f"{name}/") for file in others)]
        content: dict[str, Any] = {"format": FORMAT, "studies": studies, "inputs": given | kept,
                   "products": dict(sorted((products | others).items()))}
        text = _text({**content, "sha256": _digest(content)})
        write_text_atomically(results/MANIFEST, text)
    listed = {name: entry["sha256"] for name, entry in content["products"].items()}
    ledgers.close(results, {**listed, MANIFEST: hashlib.sha256(text.encode()).hexdigest()})
    # temporary files of killed processes: all products are there, so that no process writes any more
    for leftover in results.rglob(TEMPORARY):
        leftover.unlink(missing_ok=True)
    return results/MANIFEST, len(listed)


def last_manifest(results: Path) -> dict[str, Any]:
    """The last manifest; empty if there is none that can be read."""
    with suppress(InputError):
        return read_manifest(results)
    return {"products": {}, "inputs": {}}


def remove_product(results: Path, path: Path) -> bool:
    """Remove a product and its stored second name; False where a link leads out of the results, whose files stay."""
    if not stays_inside(results, path):
        return False
    Store(results).forget(path)
    path.unlink(missing_ok=True)
    return True


def drop(results: Path, names: set[str]) -> None:
    """Take products out of the manifest and the ledger, before they are removed."""
    content = last_manifest(results)
    if names & content["products"].keys():
        content["products"] = {name: entry for name, entry in content["products"].items() if name not in names}
        write_text_atomically(results/MANIFEST, _text({**content, "sha256": _digest(content)}))
    ledger = ledgers.load(results)
    for name in names:
        ledger.forget(name)
    ledger.save()


def _sha256(written: Ledger, name: str, listed: str | None) -> str:
    path = written.results/name
    try:
        sha256 = written.sha256(name, listed)
    except OSError:
        raise InputError(f"{path} does not exist; call snakemake") from None
    if sha256 is None:
        raise InputError(f"{path} was changed after it was made; call snakemake, which makes it again")
    return sha256


def _others(workflow: Workflow, before: dict[str, Product], products: dict[str, Product]) -> dict[str, Product]:
    """Entries of the last manifest that this workflow does not make but that still count: of studies that are not
    selected; and the pages of all studies in a selection, those of the last selection otherwise."""
    def counts(name: str) -> bool:
        if any(name.startswith(f"{study}/") for study in workflow.unselected):
            return True
        if name.startswith(f"{SELECTION}/"):
            return not workflow.selection and (workflow.results/name).is_file()
        return workflow.selection and ("/" not in name or name.startswith(f"{REPORT_FOLDER}/"))

    return {name: entry for name, entry in before.items() if name not in products and counts(name)}


def inputs(workflow: Workflow) -> list[Path]:
    """All files that people write: config.yaml, studies, claims, errata."""
    paths = [workflow.folder/"config.yaml", *(products.study.path for products in workflow.studies),
             *workflow.claim_inputs, *workflow.errata.values()]
    return [path for path in paths if path.is_file()]


def inputs_hash(workflow: Workflow) -> str:
    """Changes when one of those files does."""
    return _digest({path.as_posix(): file_sha256(path) for path in inputs(workflow)})[:16]


def _products(workflow: Workflow) -> dict[Path, Product]:
    """Kind and origin of every product by path."""
    origins: dict[Path, Product] = {workflow.results/ENVIRONMENT: {"kind": MEASURED, "from": []}}
    for products in workflow.studies:
        origins |= _study_products(products)
    if workflow.claims:
        origin: Product = {"kind": DATA, "from": [*_names(workflow.claim_inputs),
                                                  *sorted(set().union(*workflow.claims.values()))]}
        origins |= {workflow.common/f"claims.{suffix}": origin for suffix in ("csv", "md")}
    if workflow.errata:
        origin = {"kind": DATA, "from": _names(workflow.errata.values())}
        origins |= {workflow.common/f"errata.{suffix}": origin for suffix in ("csv", "md")}
    verdicts = _names(path.relative_to(workflow.results) for path in workflow.verdicts)
    index, *pages = workflow.reports
    origins[index] = {"kind": DATA, "from": [products.name for products in workflow.studies] + verdicts}
    for path in pages:
        shown = [products for products in workflow.studies if page_of(products.name) == path.stem]
        timed = any(products.timings for products in shown)
        origins[path] = {"kind": MEASURED if timed else DATA, "from": [products.name for products in shown] + verdicts}
    return origins


def _study_products(products: StudyProducts) -> dict[Path, Product]:
    study, name = products.study, products.name
    own = study.path.as_posix()
    found: dict[Path, Product] = {}
    for cell in study.cells:
        found[cell.path] = {"kind": DATA, "from": [own], "specification": cell.spec.sha256,
                            "sources": cell.spec.source_hash}
    for reference in products.references:
        _, spec = study_reference(study, reference.problem)
        found[reference.path] = {"kind": DATA, "from": [own], "specification": spec.sha256, "sources": spec.source_hash}
    data = [own, f"{name}/runs"] + [f"{name}/references"]*bool(products.references)
    tables = table_source(name)
    for path in (*products.timings, *products.tables, products.page):
        clock = path.name in CLOCK_TABLES or (path.name == "which.md" and bool(products.timings))
        found[path] = {"kind": MEASURED if clock else DATA, "from": data, "sources": tables}
    for figure in products.figures:
        drawn = MEASURED if products.timings and figure in CLOCK_FIGURES else DATA
        origin: Product = {"from": [*data, f"{name}/metrics.csv"], "sources": figure_source(figure)}
        kinds = {"pdf": drawn, "png": drawn, "caption.txt": DATA, "caption.rst": DATA}
        for suffix, kind in kinds.items():
            found[products.figure(figure, suffix)] = {"kind": kind, **origin}
    for film in products.animations:
        run = f"{name}/{film.cell.path.relative_to(study.folder).as_posix()}"
        found[film.path] = {"kind": DATA, "from": [run], "sources": film_source()}
    return found


@dataclass(frozen=True)
class Complaint:
    """A file that is not what the manifest says, and what is wrong with it. `product`: it can be made again."""

    path: Path
    sentence: str
    product: bool = True


def read_manifest(results: Path, known: Ledger | None = None) -> dict[str, Any]:
    """Content of manifest.json, compared with the ledger (read if not given). Raises InputError: missing or changed."""
    path = results/MANIFEST
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; snakemake writes it when everything else is made") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path} is not a readable manifest; remove it and call snakemake") from None
    same = (known or ledgers.load(results)).sha256(MANIFEST)
    if not same or not isinstance(content, dict) or content.pop("sha256", None) != _digest(content):
        raise InputError(f"{path} was changed after it was written; remove it and call snakemake")
    try:
        outside = [name for name, entry in content["products"].items() if not is_inside(name) or not entry["sha256"]]
        outside += [name for name, sha256 in content["inputs"].items() if "\0" in name or not sha256]
    except (AttributeError, KeyError, TypeError):
        raise InputError(f"{path} is no manifest of this program; remove it and call snakemake") from None
    if outside:
        raise InputError(f"{path} lists {outside[0]!r}, no file below {results}; remove it and call snakemake")
    return content


def differs(results: Path, digest: str) -> str:
    """A sentence unless the manifest has this sha256, which somebody has kept elsewhere. Raises InputError for what is
    no sha256."""
    path = results/MANIFEST
    if not re.fullmatch("[0-9a-fA-F]{64}", digest):
        raise InputError(f"--against {digest[:70]!r} must be a sha256, 64 digits from 0 to f")
    if path.is_file() and file_sha256(path) == digest.lower():
        return ""
    return (f"{path} is not the file with the sha256 {digest}: these are not the results of which it was kept, or"
            " somebody has changed them")


def verify(results: Path) -> Iterator[Complaint]:
    """Every file that was changed or lost since the manifest was written, and what other calls have left of reports and
    verdicts. Raises InputError: see `read_manifest`."""
    content = read_manifest(results)
    listed = [(Path(name), sha256, False) for name, sha256 in content["inputs"].items()]
    listed += [(results/name, entry["sha256"], True) for name, entry in content["products"].items()]
    for path, sha256, product in listed:
        if not path.is_file():
            yield Complaint(path, f"{path} is lost{'' if product else ': products were made from it'}", product)
        elif file_sha256(path) != sha256:
            yield Complaint(path, (damage(path) or f"{path} was changed after the manifest was written") if product else
                            f"{path} was changed after products were made from it", product)
    names = {path.relative_to(results).as_posix() for folder in (results, results/SELECTION) for path in (
        *folder.glob("*.*"), *folder.glob(f"{REPORT_FOLDER}/*"))}
    for name in sorted(filter(COMMON.fullmatch, names - content["products"].keys())):
        yield Complaint(results/name, f"{results/name} is no product of the last complete call")


def damage(path: Path) -> str | None:
    """What is wrong with a NetCDF file of this program in itself; None if nothing is, or for other files."""
    if path.suffix != ".nc":
        return None
    try:
        read(path)
    except InputError as error:
        return str(error).partition("; remove it")[0]
    return None


def _names(paths: Iterable[Path | str]) -> list[str]:
    return [Path(path).as_posix() for path in paths]


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(content).encode()).hexdigest()


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1) + "\n"


PACKAGES = ("liestep", "numpy", "scipy", "numba", "llvmlite", "netCDF4", "pandas", "matplotlib", "pillow", "heyoka",
            "mpmath", "sympy", "pydantic", "snakemake")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def environment() -> dict[str, Any]:
    """Versions of Python, packages, libraries; system; processor; limits of BLAS threads, None without one."""
    import netCDF4
    import numpy as np

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {"python": platform.python_version(), "packages": {name: _version(name) for name in PACKAGES},
        "libraries": {"netcdf": netCDF4.__netcdf4libversion__, "hdf5": netCDF4.__hdf5libversion__,
                      "blas": f"{blas['name']} {blas['version']}"}, "system": platform.platform(),
        "machine": platform.machine(), "processor": _processor(), "processors": os.cpu_count(),
        "threads": {name: int(os.environ[name]) if os.environ.get(name, "").isdecimal() else None for name in THREADS}}


def _version(name: str) -> str | None:
    with suppress(PackageNotFoundError):
        return version(name)
    return None


def _processor() -> str:
    """Name of the processor as Linux gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
                platform.processor())


def recompute(results: Path, config: Path, count: int) -> Iterator[Complaint]:
    """Runs and references of the studies that the manifest lacks, and those of some, drawn at random, that differ from
    what their studies make. Raises InputError where there is none, or none is asked for."""
    content, there = read_manifest(results), {}
    for name in study_files(config):
        if name not in content["studies"] and not (results/name).is_dir():
            continue
        study = Study.find(name, config, results)
        made: dict[Path, Any] = {cell.path: partial(computed, cell) for cell in study.cells}
        references = [study_reference(study, problem) for problem in study.config.problems if study.config.reference]
        made |= {path: partial(compute_reference, spec) for path, spec in references}
        there.update({path: (study.path, make) for path, make in made.items() if path.is_file()})
        for path in made:
            listed = path.relative_to(results).as_posix() in content["products"]
            if not listed and (path in there or name in content["studies"]):
                yield Complaint(path, f"{path}, a run of {study.path}, is not in {results/MANIFEST}", False)
    if count < 1 or not there:
        raise InputError(f"--recompute {count}: {results} has {len(there)} runs; ask for one or more of them")
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder, "again.nc")
        for path in random.SystemRandom().sample(sorted(there), min(count, len(there))):
            study_path, make = there[path]
            write(make(), again)
            if file_sha256(again) != file_sha256(path):
                yield Complaint(path, f"{path} is not what {study_path} makes on this machine")
            again.unlink()


def command_manifest(arguments: argparse.Namespace) -> None:
    path, count = write_manifest(configured(arguments.config, arguments.results, arguments.study))
    print(f"{path}: {count} products, sha256 {file_sha256(path)}", file=sys.stderr)


def command_verify(arguments: argparse.Namespace) -> None:
    path = arguments.results/MANIFEST
    if arguments.against is not None and (sentence := differs(arguments.results, arguments.against)):
        print(sentence)
        raise SystemExit(1)
    try:
        problems = list(verify(arguments.results))
        if arguments.recompute is not None:
            problems += recompute(arguments.results, arguments.config, arguments.recompute)
    except InputError:
        if not (arguments.repair and path.is_file()):
            raise
        path.unlink()
        print(f"{path}: damaged, removed; call snakemake")
        raise SystemExit(1) from None
    for complaint in problems:
        print(complaint.sentence)
    if not problems:
        content = read_manifest(arguments.results)
        print(f"{len(content['products'])} products and {len(content['inputs'])} inputs are what {path} says")
        return
    if arguments.repair:
        removed = [remove_product(arguments.results, complaint.path) for complaint in problems
                   if complaint.product and complaint.path.is_file()]
        print(f"{sum(removed)} files removed; call snakemake to make what is missing")
    raise SystemExit(1)
