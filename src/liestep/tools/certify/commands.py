"""The command that certifies integrators. Light to import: the rest is loaded when it is called."""
import argparse
from collections.abc import Callable


def command_certify(arguments: argparse.Namespace) -> None:
    from liestep.tools.certify.tables import report

    failed = 0
    for line, passed in report(arguments.integrator):
        print(line, flush=True)
        failed += not passed
    print(f"{failed} not certified" if failed else "all certified")
    if failed:
        raise SystemExit(1)


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    certify = add("certify", command_certify,
                  "certify integrators on numbers of many digits: orders, identities and symplecticity",
                  "certify cf4 rkmk")
    certify.add_argument("integrator", nargs="*",
                         help="only the orders of these (default: all of the catalogue, identities and symplecticity)")
