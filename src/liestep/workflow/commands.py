"""Commands of the workflow: products of a study beside its runs, report, manifest. Light to import."""
import argparse
import sys
from collections.abc import Callable
from pathlib import Path

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
    from liestep.study.plan.new_paper import new_paper
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


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    reference = add("reference", command_reference,
                    "make the reference solution of a problem of a study, unless it is up to date")
    reference.add_argument("study")
    reference.add_argument("problem", help="key of a problem, or several with commas between them")
    add("time", command_time, "time every run of a study alone, without statistics").add_argument("study")
    add("analyse", command_analyse, "make metrics.csv and all tables of a study from its runs").add_argument("study")
    add("products", command_products,
        "make the tables and figures of a study that are missing or out of date").add_argument("study")
    new = add("new-study", command_new_study, "write a commented study file that runs as it is, to edit",
              "new-study mine/pendulum --problem spring_pendulum")
    new.add_argument("name", help="id of the study: config/studies/NAME.yaml is written, folders are separated by /")
    paper = add("new-paper", command_new_paper,
                "write the commented folder of a paper to replicate, which runs as it is", "new-paper mine2026")
    paper.add_argument("id", help="papers/ID is written beside config, its studies are ID/...")
    init = add("init", command_init, "make a folder where `snakemake` works: Snakefile, config, a commented study",
               "init pendulums --problem spring_pendulum")
    init.add_argument("folder", type=Path, help="a folder that does not exist or is empty")
    for command in (new, init):
        command.add_argument("--problem", help="id of a problem, see `liestep list` (default: points on the sphere)")
        command.add_argument("--preset", help="its parameters and start (default: the first)")
    make = add("make", command_make, "make studies, or a figure that a paper prints: says its study, its file and the"
               " call of snakemake, then calls it", "make twospheres2009 figure3")
    make.add_argument("what", nargs="+", help="a paper and the name of a figure; or studies: ids, folders, patterns")
    make.add_argument("-n", "--dry-run", action="store_true", help="only list the jobs")
    spent = add("seconds", command_seconds, "where the processor time of the workflow's jobs went, by kind of job and"
                " by study", "seconds --jobs 20")
    spent.add_argument("--jobs", type=int, default=10, help="so many of the longest jobs (default 10)")
    clean = add("clean", command_clean,
                "list files of earlier studies, problems and runs that no study asks for any more", "clean --yes")
    clean.add_argument("--yes", action="store_true", help="remove them")
    status = add("status", command_status,
                 "what is done, failed, stale, damaged or missing in each study, and why it would be made anew",
                 "status quick/double_pendulum")
    status.add_argument("study", nargs="*", help="ids of studies (default: all)")
    status.add_argument("--all", action="store_true", help="every product that is not done on a line of its own")
    command = add("report", command_report,
                  "collect verdicts, figures, tables, runs and errata in HTML files: report.html, an index, and a page"
                  " for each paper")
    command.add_argument("study", nargs="*", help="studies to show (default: those of config.yaml)")
    command.add_argument("--page", help="only this page, of all results")
    manifest = add("manifest", command_manifest,
                   "write manifest.json, hashes of all products and of what they were made from, and environment.json")
    manifest.add_argument("study", nargs="*", help="studies to list (default: those of config.yaml)")
    check = add("verify", command_verify,
                "compare all products with manifest.json: names what was changed or lost, exit code 1",
                "verify --repair")
    check.add_argument("--repair", action="store_true",
                       help="remove changed products, so that snakemake makes them again")
    check.add_argument("--against", metavar="DIGEST",
                       help="sha256 of manifest.json that a run has printed last: kept elsewhere, it shows forgery")
    check.add_argument("--recompute", metavar="N", type=int,
                       help="make N runs and references of the studies, drawn at random, again, compare them bit by"
                       " bit, and name those that the manifest lacks")
    crate = add("export-crate", command_export_crate,
                "write a ZIP file for archives: the workflow, its inputs and products as a Workflow Run RO-Crate",
                "export-crate results.zip")
    crate.add_argument("file", type=Path, help="name of the ZIP file")
    crate.add_argument("--runs", action="store_true", help="with the files of runs and references")
