"""A run of the workflow as a Workflow Run RO-Crate: one ZIP file with what went in, what came out, and the workflow.
RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) with the profile Workflow Run Crate 0.5
(https://w3id.org/ro/wfrun/workflow/0.5). Inputs and products are those of the manifest, with its hashes; where a file
differs from it, nothing is written."""
import json
import mimetypes
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import metadata, version
from pathlib import Path
from typing import Any

from liestep.errors import InputError
from liestep.files.records import file_sha256
from liestep.files.textfiles import replacing
from liestep.workflow.manifest import MANIFEST, manifest_path, read_manifest, verify

METADATA = "ro-crate-metadata.json"
CRATE, RUN = "https://w3id.org/ro/crate/1.1", "https://w3id.org/ro/wfrun"
WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
PROFILES = {f"{RUN}/process/0.5": "Process Run Crate", f"{RUN}/workflow/0.5": "Workflow Run Crate",
            WORKFLOW_CRATE: "Workflow RO-Crate"}
CONTEXT = [f"{CRATE}/context", {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}]
MAIN = "Snakefile"
# what the workflow is made of, beside its inputs; folders with all that they hold
TREE = ("Snakefile", "workflow", "profiles", "src/liestep", "pyproject.toml", "requirements.lock", "environment.yml",
        ".ci/Containerfile", "LICENSE", "README.md", "CITATION.cff")
SKIPPED = ("__pycache__", ".snakemake")
LARGE = ".nc"  # runs and references, which are left out unless somebody asks for them
TYPES = {".nc": "application/netcdf", ".gz": "application/gzip", ".yaml": "application/yaml",
         ".md": "text/markdown", ".rst": "text/x-rst", ".smk": "text/x-snakemake", ".lock": "text/plain"}
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the time of all files in the archive

Entity = dict[str, Any]


def export_crate(target: Path, results: Path, runs: bool = False) -> int:
    """Write the crate of the tree in the working folder and of the results that its manifest lists; the number of
    files. `runs`: with the files of runs and references. Raises InputError: no manifest, a product or an input that
    differs from it, no workflow here, or a target that is no ZIP file or cannot be written."""
    if target.suffix != ".zip":
        raise InputError(f"{target} must end with .zip: a crate is one ZIP file")
    if not Path(MAIN).is_file():
        raise InputError(f"there is no {MAIN} in {Path().absolute()}: call it in the folder of the workflow")
    content = read_manifest(results)
    for complaint in verify(results):
        raise InputError(f"{complaint.sentence}; call snakemake before you export")
    products = {(results/name).as_posix(): entry["sha256"] for name, entry in content["products"].items()}
    for name in (*products, *content["inputs"]):
        if not any(Path(name).resolve().is_relative_to(folder.resolve()) for folder in (Path(), results)):
            raise InputError(f"{name} lies outside {Path().absolute()}: a crate holds only what is below it")
    shown = {name: sha256 for name, sha256 in products.items() if runs or not name.endswith(LARGE)}
    found = [path for name in TREE for path in (sorted(Path(name).rglob("*")) if Path(name).is_dir() else [Path(name)])]
    tree = [path.as_posix() for path in found if path.is_file() and not set(path.parts) & set(SKIPPED)]
    own = manifest_path(results).as_posix()
    hashes = {name: file_sha256(Path(name)) for name in (*tree, own)} | content["inputs"] | shown
    finished = datetime.fromtimestamp(manifest_path(results).stat().st_mtime, UTC).replace(microsecond=0)
    graph = _graph(hashes, content["inputs"], [*shown, own], finished, len(products) - len(shown), hashes[own])
    text = json.dumps({"@context": CONTEXT, "@graph": graph}, indent=1, ensure_ascii=False) + "\n"
    with replacing(target) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(METADATA), text)
        for name in sorted(hashes):
            archive.writestr(_entry(name), Path(name).read_bytes())
    return len(hashes)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, EARLIEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _graph(hashes: Mapping[str, str], inputs: Iterable[str], outputs: Iterable[str], finished: datetime,
           left_out: int, digest: str) -> list[Entity]:
    """All entities; files of the tree are parts of the crate, inputs and outputs those of the run."""
    inputs, outputs = sorted(inputs), sorted(outputs)
    own = metadata("liestep")
    facts = {"name": own["Name"], "version": own["Version"], "description": own["Summary"],
             "license": f"https://spdx.org/licenses/{own['License-Expression']}",
             "author": (own["Author"] or own["Author-email"].partition(" <")[0]).strip('"')}
    more = f" {left_out} files of runs and references are in the manifest only." if left_out else ""
    root = {
        "@id": "./", "@type": "Dataset", "name": f"{facts['name']}: a run of all studies",
        "description": f"{facts['description']}. Tables, figures, verdicts and report of a run of the workflow, with"
        f" what they were made from; {MANIFEST} has the sha256 of every file.{more}",
        "datePublished": finished.isoformat(), "license": _to(facts["license"]),
        "conformsTo": [_to(profile) for profile in PROFILES], "mainEntity": _to(MAIN), "mentions": _to("#run"),
        "hasPart": [_to(name) for name in sorted(hashes)]}
    action = {
        "@id": "#run", "@type": "CreateAction", "name": "run of the workflow", "instrument": _to(MAIN),
        "object": [_to(name) for name in inputs], "result": [_to(name) for name in outputs],
        "endTime": finished.isoformat(), "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        "agent": _to("#authors"), "identifier": f"sha256:{digest}"}  # that of the manifest is the run's
    described: list[Entity] = [{"@id": METADATA, "@type": "CreativeWork", "about": _to("./"),
                  "conformsTo": [_to(CRATE), _to(WORKFLOW_CRATE)]}, root,
                 *({"@id": profile, "@type": "CreativeWork", "name": name, "version": profile.rpartition("/")[2]}
                   for profile, name in PROFILES.items()),
                 {"@id": facts["license"], "@type": "CreativeWork", "name": facts["license"].rpartition("/")[2]},
                 {"@id": "#snakemake", "@type": "ComputerLanguage", "name": "Snakemake",
                  "identifier": _to("https://doi.org/10.1093/bioinformatics/bts480"),
                  "url": _to("https://snakemake.github.io"), "version": version("snakemake")},
                 {"@id": "#authors", "@type": "Organization", "name": facts["author"]},
                 {"@id": "#studies", "@type": "FormalParameter", "name": "studies", "additionalType": "File",
                  "valueRequired": True, "description": "study files, claims, errata"},
                 {"@id": "#products", "@type": "FormalParameter", "name": "products", "additionalType": "File",
                  "description": "runs, tables, figures, verdicts, report"},
                 action]
    examples = dict.fromkeys(inputs, "#studies") | dict.fromkeys(outputs, "#products")
    return described + [_file(name, hashes[name], examples.get(name), facts) for name in sorted(hashes)]


def _to(name: str) -> dict[str, str]:
    return {"@id": name}


def _file(name: str, sha256: str, example: str | None, facts: Mapping[str, Any]) -> Entity:
    path = Path(name)
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    entity: Entity = {"@id": name, "@type": "File", "name": path.name, "encodingFormat": kind,
                     "contentSize": str(path.stat().st_size), "sha256": sha256}
    if example:
        entity["exampleOfWork"] = _to(example)
    if name == MAIN:
        entity |= {"@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"], "name": facts["name"],
                  "version": facts["version"], "programmingLanguage": _to("#snakemake"),
                  "license": _to(facts["license"]), "input": [_to("#studies")], "output": [_to("#products")]}
    return entity
