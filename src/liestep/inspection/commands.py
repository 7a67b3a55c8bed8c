"""Command that checks an own system or integrator, or a built-in one."""
import argparse
from collections.abc import Callable
from pathlib import Path


def command_check_system(arguments: argparse.Namespace) -> None:
    from liestep.catalogue import integrator_ids
    from liestep.inspection.check_system import check_integrator, check_system, table
    from liestep.plugins.loading import find_plugin, load_plugin

    names = (load_plugin(find_plugin(arguments.target, Path()))
             if arguments.target.endswith(".py") else (arguments.target,))
    right = True
    for name in names:
        rows = check_integrator(name) if name in integrator_ids() else check_system(name, arguments.preset)
        right = right and all(row.ok is not False for row in rows)
        print(table(name, rows), flush=True)
    if not right:
        raise SystemExit(1)


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; `add(name, function, help)` returns an argparse parser."""
    check = add("check-system", command_check_system,
                "check gradient, invariants, formulations and orders of a system (orders of an integrator)")
    check.add_argument("target", help="a plugin's file, or the id of a system")
    check.add_argument("--preset", help="of the system (default: the first)")
