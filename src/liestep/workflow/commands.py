"""Jobs of the workflow whose work is done in other rooms."""
import argparse
import sys


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
