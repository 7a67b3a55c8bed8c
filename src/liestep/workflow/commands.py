"""Commands that make the products of a study beside its runs."""
import argparse
import sys
from collections.abc import Callable

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

    study = Study.find(arguments.study, arguments.config, arguments.results)
    path, count = time_study(study)
    print(f"{path}: {count} rows", file=sys.stderr)


def command_products(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.plan import Study
    from liestep.workflow.products import make_products
    from liestep.workflow.workflow import StudyProducts

    products = StudyProducts(Study.find(arguments.study, arguments.config, arguments.results))
    for name, made in make_products(products, sorted((arguments.config/"claims").rglob("*.yaml"))):
        print(f"{products.name} {name}: {'made' if made else 'kept'}", file=sys.stderr)


def command_new_study(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.new_study import new_study

    path = new_study(arguments.name, arguments.config, arguments.problem, arguments.preset)
    print(f"{path}: edit it, then `liestep check {arguments.name}` and `snakemake --config studies={arguments.name}`")


def command_status(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.plan import Study, study_names
    from liestep.workflow.lock import holder
    from liestep.workflow.status import items, lines
    from liestep.workflow.workflow import StudyProducts

    names = arguments.study or study_names(arguments.config)
    if not names:
        raise InputError(f"there is no study in {arguments.config/'studies'}")
    for name in names:
        products = StudyProducts(Study.find(name, arguments.config, arguments.results))
        print(*lines(products.name, items(products), arguments.all), sep="\n", flush=True)
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


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    reference = add("reference", command_reference,
                    "make the reference solution of a problem of a study, unless it is up to date")
    reference.add_argument("study")
    reference.add_argument("problem", help="key of a problem, or several with commas between them")
    add("time", command_time, "time every run of a study alone, without statistics").add_argument("study")
    add("products", command_products,
        "make the tables and figures of a study that are missing or out of date").add_argument("study")
    new = add("new-study", command_new_study, "write a commented study file that runs as it is, to edit",
              "new-study mine/pendulum --problem spring_pendulum")
    new.add_argument("name", help="id of the study: config/studies/NAME.yaml is written, folders are separated by /")
    new.add_argument("--problem", default="sphere_nbody",
                     help="id of a problem, see `liestep list` (default sphere_nbody)")
    new.add_argument("--preset", help="its parameters and start (default: the first)")
    clean = add("clean", command_clean,
                "list files of earlier studies, problems and runs that no study asks for any more", "clean --yes")
    clean.add_argument("--yes", action="store_true", help="remove them")
    status = add("status", command_status,
                 "what is done, failed, stale, damaged or missing in each study, and why it would be made anew",
                 "status quick/double_pendulum")
    status.add_argument("study", nargs="*", help="ids of studies (default: all)")
    status.add_argument("--all", action="store_true", help="every product that is not done on a line of its own")
