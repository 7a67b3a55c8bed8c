"""The command `rotation-bench judge`: states of any code, on a case of the bench or a problem of an installed
package."""
import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rotation_bench import liestep_judge
from rotation_bench.judgement import COLUMNS, Request, columns, judge, page
from rotation_bench.liestep_judge import DATA, BadStates
from rotation_bench.liestep_tables import csv_text
from rotation_bench.tables import write_text


def parser() -> argparse.ArgumentParser:
    """Of the command and its options."""
    whole = argparse.ArgumentParser(prog="rotation-bench", description="Is my code's rotation right?")
    commands = whole.add_subparsers(dest="command", required=True)
    found = commands.add_parser(
        "judge", help="mistakes, errors, orders, drift and work of states that any code has written",
        description="Files of one run each. --case: CSV, mistakes get their names. --problem: CSV or NetCDF.")
    found.add_argument("file", nargs="+", type=Path,
                       help="states of one run each; files of one label with different steps give an order")
    which = found.add_mutually_exclusive_group(required=True)
    which.add_argument("--case", help=f"one of the bench: {', '.join(DATA['cases'])}")
    which.add_argument("--problem", help="id of a problem of an installed package, such as liestep")
    found.add_argument("--order", type=float, help="order of the method, to be judged by")
    found.add_argument("--symmetric", action="store_true",
                       help="the method equals its adjoint: its error has even powers of the step only")
    case = found.add_argument_group("with --case")
    case.add_argument("--implicit", action="store_true", help="claim an implicit method")
    case.add_argument("--units", choices=DATA["units"], default="SI")
    case.add_argument("--json", type=Path, metavar="FILE", help="keep all that was found")
    problem = found.add_argument_group("with --problem")
    problem.add_argument("--preset", help="its parameters and start (default: the first)")
    problem.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE",
                         help="parameter that replaces one of the preset; a value is a number, a list or a word")
    problem.add_argument("--own-start", action="store_true", help="start the reference from the files' first state")
    problem.add_argument("--label", help="name of the method, for files that do not give it")
    problem.add_argument("--step", action="append", default=[], type=float,
                         help="step size, once for each file, for files that do not give it")
    problem.add_argument("--reference", type=Path, metavar="FILE",
                         help="keep the reference in this NetCDF file, and use it again if it fits")
    problem.add_argument("--no-reference", action="store_true", help="invariants only")
    problem.add_argument("-o", "--output", type=Path, metavar="FOLDER",
                         help="write errors.csv, orders.csv, drift.csv, work.csv and judgement.md")
    return whole


CASE, PROBLEM = ("implicit", "json"), ("preset", "parameter", "own_start", "label", "step", "reference", "no_reference",
                                       "output")  # options of one kind only


def assignment(text: str) -> tuple[str, Any]:
    """NAME=VALUE; what is no JSON is a word."""
    name, sign, value = text.partition("=")
    if not sign:
        raise BadStates(f"parameter {text!r} must be written NAME=VALUE")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def on_problem(given: argparse.Namespace) -> int:
    """Prints tables, and writes them where asked; 0."""
    if given.no_reference and given.reference:
        raise BadStates("give --reference or --no-reference, not both")
    facts = {"label": given.label, "order": given.order, "symmetric": given.symmetric or None}
    request = Request(given.problem, given.preset, dict(map(assignment, given.parameter)), given.own_start,
                      given.reference, given.no_reference,
                      {name: value for name, value in facts.items() if value is not None}, given.step)
    found = judge(given.file, request)
    print(page(found), end="")
    if given.output:
        for name in COLUMNS:
            write_text(given.output/f"{name}.csv", csv_text(columns(name, found), found[name]))
        write_text(given.output/"judgement.md", page(found))
    return 0


def on_case(given: argparse.Namespace) -> int:
    """Prints what is found; 0 if the states are right."""
    return int(liestep_judge.beside("liestep_files").report(
        given.case, given.file, given.json, order=given.order, implicit=given.implicit, symmetric=given.symmetric,
        units=given.units))


def main(arguments: list[str] | None = None) -> int:
    """0: judged, and right if it is a case; 1: wrong or undecided; 2: refused in one sentence."""
    given = parser().parse_args(arguments)
    try:
        other = PROBLEM if given.case else CASE
        if foreign := [name for name in other if getattr(given, name)]:
            raise BadStates(f"--{foreign[0].replace('_', '-')} is not for {'a case' if given.case else 'a problem'}")
        return on_case(given) if given.case else on_problem(given)
    except (BadStates, OSError) as error:
        print(f"rotation-bench: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
