"""Command `recommend`."""
import argparse
from collections.abc import Callable

from liestep.study.tables.choice import KEEP
from liestep.tools.recommend import BUDGET


def command_recommend(arguments: argparse.Namespace) -> None:
    from liestep.study.plan.yamlfile import assignments
    from liestep.tools.recommend.tournament import recommend

    print(recommend(arguments.problem, error=arguments.error, preset=arguments.preset, t_end=arguments.t_end,
                    parameters=assignments(arguments.parameters, "parameter"), keep=arguments.keep,
                    budget=arguments.budget))


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    command = add("recommend", command_recommend,
                  "find the integrator and the step that reach an error at the least cost, by a tournament",
                  "recommend heavy_top --error 1e-6")
    command.add_argument("problem")
    command.add_argument("--error", type=float, required=True, help="largest distance from the reference, relative")
    command.add_argument("--t-end", type=float, help="the horizon in s (default: that of the preset)")
    command.add_argument("--preset")
    command.add_argument("--parameters", "--parameter", action="append", default=[], metavar="NAME=VALUE")
    command.add_argument("--keep", help=f"only methods that conserve it: {', '.join(KEEP)}")
    command.add_argument("--budget", type=float, default=BUDGET,
                         help=f"seconds of processor time that runs may take (default: {BUDGET:g})")
