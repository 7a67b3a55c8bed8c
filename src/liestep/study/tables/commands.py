"""Commands that make tables."""
import argparse
import sys
from collections.abc import Callable


def command_analyse(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.plan import Study
    from liestep.study.tables.tables import analyse

    for path in analyse(Study.find(arguments.study, arguments.config, arguments.results)):
        print(path, file=sys.stderr)


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    add("analyse", command_analyse, "make metrics.csv and all tables of a study from its runs").add_argument("study")
