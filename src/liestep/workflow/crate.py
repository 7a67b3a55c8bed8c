"""A run of the workflow as a Workflow Run RO-Crate: one ZIP file with what went in, what came out, and the workflow.
RO-Crate 1.1 (https://w3id.org/ro/crate/1.1) with the profile Workflow Run Crate 0.5
(https://w3id.org/ro/wfrun/workflow/0.5). Inputs and products are those of the manifest, with its hashes; where a file
differs from it, nothing is written."""
import argparse
import json
import mimetypes
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import metadata, version
from pathlib import Path
from string import Template
from typing import Any

from liestep.errors import InputError
from liestep.files.records import file_sha256
from liestep.files.textfiles import replacing
from liestep.workflow.manifest import manifest_path, read_manifest, verify

METADATA, MAIN = "ro-crate-metadata.json", "Snakefile"
TEMPLATE = Path(__file__).with_suffix(".json")  # the description, but for files and what string.Template puts in
# what the workflow is made of, beside its inputs; folders with all that they hold
TREE = ("Snakefile", "workflow", "profiles", "src/liestep", "pyproject.toml", "requirements.lock", "environment.yml",
        ".ci/Containerfile", "LICENSE", "README.md", "CITATION.cff")
SKIPPED = ("__pycache__", ".snakemake")
LARGE = ".nc"  # runs and references, which are left out unless somebody asks for them
TYPES = {".nc": "application/netcdf", ".gz": "application/gzip", ".yaml": "application/yaml",
         ".md": "text/markdown", ".rst": "text/x-rst", ".smk": "text/x-snakemake", ".lock": "text/plain"}
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the time of all files in the archive

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
    left_out = len(products) - len(shown)
    text = described({
        "finished": finished.isoformat(), "digest": hashes[own],  # that of the manifest is the run's
        "more": f" {left_out} files of runs and references are in the manifest only."*(left_out > 0)},
        hashes, sorted(content["inputs"]), sorted([*shown, own]))
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


def described(facts: Mapping[str, str], hashes: Mapping[str, str], inputs: Sequence[str],
              outputs: Sequence[str]) -> str:
    """The description of a crate: files of the tree are its parts, inputs and outputs those of the run."""
    own = metadata("liestep")
    facts = {**facts, "name": own["Name"], "version": own["Version"], "summary": own["Summary"],
             "spdx": own["License-Expression"], "license": f"https://spdx.org/licenses/{own['License-Expression']}",
             "authors": (own["Author"] or own["Author-email"].partition(" <")[0]).strip('"'),
             "snakemake": version("snakemake")}
    escaped = {key: json.dumps(text, ensure_ascii=False)[1:-1] for key, text in facts.items()}
    crate = json.loads(Template(TEMPLATE.read_text("utf-8")).substitute(escaped))
    *entities, main = crate["@graph"]
    root, run = (next(entity for entity in entities if entity["@id"] == name) for name in ("./", "#run"))
    root["hasPart"], run["object"], run["result"] = ([{"@id": name} for name in names]
                                                     for names in (sorted(hashes), inputs, outputs))
    examples = dict.fromkeys(inputs, "#studies") | dict.fromkeys(outputs, "#products")
    files = [_file(name, hashes[name]) | ({"exampleOfWork": {"@id": examples[name]}} if name in examples else {})
             for name in sorted(hashes)]
    crate["@graph"] = entities + [entity | main if entity["@id"] == MAIN else entity for entity in files]
    return json.dumps(crate, indent=1, ensure_ascii=False) + "\n"


def _file(name: str, sha256: str) -> dict[str, Any]:
    path = Path(name)
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    return {"@id": name, "@type": "File", "name": path.name, "encodingFormat": kind,
            "contentSize": str(path.stat().st_size), "sha256": sha256}


def command_export_crate(arguments: argparse.Namespace) -> None:
    count = export_crate(arguments.file, arguments.results, arguments.runs)
    print(f"{arguments.file}: {count} files")
