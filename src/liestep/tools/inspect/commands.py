"""Commands that check a system or an integrator, and that say how chaotic a motion is."""
import argparse
from collections.abc import Callable
from pathlib import Path


def command_check_system(arguments: argparse.Namespace) -> None:
    from liestep.simulation.catalogue import integrator_ids
    from liestep.simulation.plugins.loading import find_plugin, load_plugin
    from liestep.tools.inspect.check_system import check_integrator, check_system, table

    names = (load_plugin(find_plugin(arguments.target, Path()))
             if arguments.target.endswith(".py") else (arguments.target,))
    right = True
    for name in names:
        rows = check_integrator(name) if name in integrator_ids() else check_system(name, arguments.preset)
        right = right and all(row.ok is not False for row in rows)
        print(table(name, rows), flush=True)
    if not right:
        raise SystemExit(1)


def command_lyapunov(arguments: argparse.Namespace) -> None:
    from liestep.tools.inspect.exponents import report

    for line in report(arguments.problem, arguments.integrator, step=arguments.step, t_end=arguments.t_end,
                       preset=arguments.preset, count=arguments.exponents):
        print(line)


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    check = add("check-system", command_check_system,
                "check gradient, invariants, formulations and orders of a system (orders of an integrator)",
                "check-system my_pendulum.py")
    check.add_argument("target", help="a plugin's file, or the id of a system")
    check.add_argument("--preset", help="of the system (default: the first)")
    lyapunov = add("lyapunov", command_lyapunov,
                   "largest Lyapunov exponents of a motion with their standard errors, by complex steps",
                   "lyapunov spring_pendulum rk4 --step 0.01 --t-end 1000")
    lyapunov.add_argument("problem")
    lyapunov.add_argument("integrator", help="with fixed steps")
    lyapunov.add_argument("--step", type=float, help="default: t_end of the preset divided by 10,000")
    lyapunov.add_argument("--t-end", type=float, help="default: that of the preset; exponents want long runs")
    lyapunov.add_argument("--preset")
    lyapunov.add_argument("--exponents", type=int, default=1, help="how many (default: 1)")
