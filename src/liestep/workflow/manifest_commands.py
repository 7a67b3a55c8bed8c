"""Commands that record and compare hashes of all products. Light to import."""
import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def command_manifest(arguments: argparse.Namespace) -> None:
    from liestep.workflow.manifest import write_manifest
    from liestep.workflow.workflow import configured

    path, count = write_manifest(configured(arguments.config, arguments.results, arguments.study))
    print(f"{path}: {count} products", file=sys.stderr)


def command_verify(arguments: argparse.Namespace) -> None:
    from liestep.errors import InputError
    from liestep.workflow.manifest import manifest_path, read_manifest, verify

    path = manifest_path(arguments.results)
    try:
        found = list(verify(arguments.results))
    except InputError:
        if not (arguments.repair and path.is_file()):
            raise
        path.unlink()
        print(f"{path}: damaged, removed; call snakemake")
        raise SystemExit(1) from None
    for complaint in found:
        print(complaint.sentence)
    if not found:
        content = read_manifest(arguments.results)
        print(f"{len(content['products'])} products and {len(content['inputs'])} inputs are what {path} says")
        return
    if arguments.repair:
        _remove([complaint.path for complaint in found if complaint.product and complaint.path.is_file()],
                arguments.results)
    raise SystemExit(1)


def _remove(paths: list[Path], results: Path) -> None:
    from liestep.simulation.runs.store import Store

    store = Store(results)
    for path in paths:
        store.forget(path)
        path.unlink()
    print(f"{len(paths)} files removed; call snakemake to make what is missing")


def command_export_crate(arguments: argparse.Namespace) -> None:
    from liestep.workflow.crate import export_crate

    count = export_crate(arguments.file, arguments.results, arguments.runs)
    print(f"{arguments.file}: {count} files")


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    manifest = add("manifest", command_manifest,
                   "write manifest.json, hashes of all products and of what they were made from, and environment.json")
    manifest.add_argument("study", nargs="*", help="studies to list (default: those of config.yaml)")
    check = add("verify", command_verify,
                "compare all products with manifest.json: names what was changed or lost, exit code 1",
                "verify --repair")
    check.add_argument("--repair", action="store_true",
                       help="remove changed products, so that snakemake makes them again")
    crate = add("export-crate", command_export_crate,
                "write a ZIP file for archives: the workflow, its inputs and products as a Workflow Run RO-Crate",
                "export-crate results.zip")
    crate.add_argument("file", type=Path, help="name of the ZIP file")
    crate.add_argument("--runs", action="store_true", help="with the files of runs and references")
