"""Commands of the workflow: products of a study beside its runs, report, manifest. Light to import."""
import argparse
import sys

from liestep.errors import InputError


def command_reference(arguments: argparse.Namespace) -> None:
    from liestep.simulation.references.reference import compute_reference, disagreement, study_reference
    from liestep.simulation.runs.files import is_current, write
    from liestep.study.plan.plan import Study

    study = Study.find(arguments.study, arguments.config, arguments.results)
    wanted = {problem: study_reference(study, problem) for problem in arguments.problem.split(",")}
    for problem, (path, spec) in wanted.items():
        if is_current(path, spec):
            print(f"{study.name} {problem}: reference kept", file=sys.stderr)
            continue
        content = compute_reference(spec)
        write(content, path)
        print(f"{study.name} {problem}: reference made, engines differ by {disagreement(content.attributes)}",
              file=sys.stderr)


def command_time(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.plan import Study
    from liestep.study.tables.timing import time_study
    from liestep.workflow.lock import in_turn

    study = Study.find(arguments.study, arguments.config, arguments.results)
    with in_turn(arguments.results/"logs"/"times.lock"):
        path, count = time_study(study)
    print(f"{path}: {count} rows", file=sys.stderr)


def command_analyse(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.plan import Study
    from liestep.study.tables.tables import analyse

    for path in analyse(Study.find(arguments.study, arguments.config, arguments.results)):
        print(path, file=sys.stderr)


def command_products(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.plan import Study
    from liestep.workflow.products import make_products
    from liestep.workflow.workflow import StudyProducts

    products = StudyProducts(Study.find(arguments.study, arguments.config, arguments.results))
    for name, made in make_products(products, sorted((arguments.config/"claims").rglob("*.yaml"))):
        print(f"{products.name} {name}: {'made' if made else 'kept'}", file=sys.stderr)


def command_new_study(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.new_study import new_study
    from liestep.workflow.starting import equip

    path = new_study(arguments.name, arguments.config, arguments.problem, arguments.preset)
    if arguments.config.name == "config":  # where snakemake looks for it
        equip(arguments.config.parent)
    print(f"{path}: edit it, then `liestep check {arguments.name}` and `snakemake --config studies={arguments.name}`")


def command_new_paper(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.new_study import new_paper
    from liestep.workflow.starting import equip

    folder = new_paper(arguments.id, arguments.config)
    if arguments.config.name == "config":
        equip(arguments.config.parent)
    print(f"{folder}: edit it, then `snakemake --config studies={arguments.id}`")


def command_init(arguments: argparse.Namespace) -> None:
    from liestep.workflow.starting import start

    path = start(arguments.folder, "first", arguments.problem, arguments.preset)
    print(f"{path}: edit it, then `snakemake` in the folder {arguments.folder} makes it")


def command_seconds(arguments: argparse.Namespace) -> None:
    from liestep.workflow.seconds import table

    print(*table(arguments.results, arguments.jobs), sep="\n")


def command_make(arguments: argparse.Namespace) -> None:
    from liestep.workflow.making import make

    if code := make(arguments.what, arguments.config, arguments.results, ["-n"]*arguments.dry_run):
        raise SystemExit(code)


def command_status(arguments: argparse.Namespace) -> None:
    from liestep.files.terminal import fitted
    from liestep.study.plan.plan import Study, study_names
    from liestep.workflow.lock import holder
    from liestep.workflow.status import items, lines
    from liestep.workflow.workflow import StudyProducts

    names = arguments.study or study_names(arguments.config)
    if not names:
        raise InputError(f"there is no study in {arguments.config/'studies'}")
    for name in names:
        products = StudyProducts(Study.find(name, arguments.config, arguments.results))
        print(fitted("\n".join(lines(products.name, items(products), arguments.all))), flush=True)
    running = holder()
    if running:
        print(running)


def command_clean(arguments: argparse.Namespace) -> None:
    from liestep.simulation.runs.estimate import count, readable
    from liestep.workflow.cleaning import remove, size, superfluous
    from liestep.workflow.lock import held

    with held(arguments.results.parent):
        paths = superfluous(arguments.config, arguments.results)
        freed = size(paths)
        print(*paths, sep="\n", end="\n" if paths else "")
        if arguments.yes:
            remove(arguments.results, paths)
    said = "removed" if arguments.yes else "that no study needs: `liestep clean --yes` removes them"
    print(f"{count(len(paths), 'file')}, {readable(freed)}, {said}" if paths else "every file belongs to a study")


def command_report(arguments: argparse.Namespace) -> None:
    from liestep.files.textfiles import write_text_atomically
    from liestep.workflow.report.page import make_report
    from liestep.workflow.workflow import configured

    workflow = configured(arguments.config, arguments.results, arguments.study)
    # all pages are made before the first is written: what is stale leaves the report as it was
    for path, text, summary in list(make_report(workflow, arguments.page)):
        write_text_atomically(path, text)
        print(f"{path}: {summary}", file=sys.stderr)


def command_manifest(arguments: argparse.Namespace) -> None:
    from liestep.files.records import file_sha256
    from liestep.workflow.manifest import write_manifest
    from liestep.workflow.workflow import configured

    path, count = write_manifest(configured(arguments.config, arguments.results, arguments.study))
    print(f"{path}: {count} products, sha256 {file_sha256(path)}", file=sys.stderr)


def command_verify(arguments: argparse.Namespace) -> None:
    from liestep.workflow import manifest

    path = manifest.manifest_path(arguments.results)
    if arguments.against is not None and (sentence := manifest.differs(arguments.results, arguments.against)):
        print(sentence)
        raise SystemExit(1)
    try:
        found = list(manifest.verify(arguments.results))
        if arguments.recompute is not None:
            found += manifest.recompute(arguments.results, arguments.config, arguments.recompute)
    except InputError:
        if not (arguments.repair and path.is_file()):
            raise
        path.unlink()
        print(f"{path}: damaged, removed; call snakemake")
        raise SystemExit(1) from None
    for complaint in found:
        print(complaint.sentence)
    if not found:
        content = manifest.read_manifest(arguments.results)
        print(f"{len(content['products'])} products and {len(content['inputs'])} inputs are what {path} says")
        return
    if arguments.repair:
        removed = [manifest.remove_product(arguments.results, complaint.path) for complaint in found
                   if complaint.product and complaint.path.is_file()]
        print(f"{sum(removed)} files removed; call snakemake to make what is missing")
    raise SystemExit(1)


def command_export_crate(arguments: argparse.Namespace) -> None:
    from liestep.workflow.crate import export_crate

    count = export_crate(arguments.file, arguments.results, arguments.runs)
    print(f"{arguments.file}: {count} files")
