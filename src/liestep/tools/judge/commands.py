"""Commands that exchange numbers with other codes. Light to import: the rest is loaded when one of them is called."""
import argparse
from collections.abc import Callable
from pathlib import Path

from liestep.errors import InputError


def command_judge(arguments: argparse.Namespace) -> None:
    from liestep.files.textfiles import csv_text, write_text_atomically
    from liestep.study.plan.assignments import assignments
    from liestep.tools.judge.judgement import COLUMNS, Request, columns, judge, page

    if arguments.no_reference and arguments.reference:
        raise InputError("give --reference or --no-reference, not both")
    given = {"label": arguments.label, "order": arguments.order, "symmetric": arguments.symmetric or None}
    request = Request(
        arguments.problem, arguments.preset, assignments(arguments.parameter, "parameter"), arguments.own_start,
        arguments.reference, arguments.no_reference,
        {name: value for name, value in given.items() if value is not None}, arguments.step)
    found = judge(arguments.file, request)
    print(page(found), end="")
    if arguments.output:
        for name in COLUMNS:
            write_text_atomically(arguments.output/f"{name}.csv", csv_text(columns(name, found), getattr(found, name)))
        write_text_atomically(arguments.output/"judgement.md", page(found))


def command_export(arguments: argparse.Namespace) -> None:
    from liestep.tools.judge.export import export

    for line in export(arguments.output, arguments.problem, arguments.preset):
        print(line)


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the commands; `add(name, function, help, example)`: an argparse parser; of jobs without an example."""
    judge = add("judge", command_judge,
                "errors, orders, drift and work of states that any code has written as CSV or NetCDF",
                "judge mine_*.csv --problem heavy_top")
    judge.add_argument("file", nargs="+", type=Path,
                       help="states of one run each; files of one label with different steps give an order")
    judge.add_argument("--problem", required=True, help="id of a problem, see `liestep list`")
    judge.add_argument("--preset", help="its parameters and start (default: the first)")
    judge.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE",
                       help="parameter that replaces one of the preset")
    judge.add_argument("--own-start", action="store_true", help="start the reference from the first state of the files")
    judge.add_argument("--label", help="name of the method, for files that do not give it")
    judge.add_argument("--step", action="append", default=[], type=float,
                       help="step size, once for each file, for files that do not give it")
    judge.add_argument("--order", type=float, help="order of the method, to be judged by")
    judge.add_argument("--symmetric", action="store_true",
                       help="the method equals its adjoint: its error has even powers of the step only")
    judge.add_argument("--reference", type=Path, metavar="FILE",
                       help="keep the reference in this NetCDF file, and use it again if it fits")
    judge.add_argument("--no-reference", action="store_true", help="invariants only")
    judge.add_argument("-o", "--output", type=Path, metavar="FOLDER",
                       help="write errors.csv, orders.csv, drift.csv, work.csv and judgement.md")
    export = add("export-reference", command_export,
                 "starts and end states of all presets with error bounds, as references.csv and .json",
                 "export-reference --problem heavy_top -o references")
    export.add_argument("--problem", help="only presets of this problem")
    export.add_argument("--preset", help="only this preset of the problem")
    export.add_argument("-o", "--output", type=Path, metavar="FOLDER", required=True,
                        help="folder of the tables and of the references, which are kept and used again")
