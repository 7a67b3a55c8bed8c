"""Commands that must be refused in one sentence, and what a folder holds before and after."""
from collections.abc import Sequence
from pathlib import Path

from liestep.api import command_line
from rotation_bench import __main__ as rotation_bench

STUDY = """
title: "Three bodies"
problems:
  bodies: {system: sphere_nbody, t_end: 1.0}
integrators:
  vi_sphere: {steps: [0.1]}
"""


def main(arguments: Sequence[str]) -> int:
    """`rotation-bench judge`, or a command of liestep."""
    return (rotation_bench if arguments[:1] == ["judge"] else command_line).main(list(arguments))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(arguments, capsys) -> str:
    """The one sentence with which a command is refused."""
    try:
        code = main(arguments)
    except SystemExit as stop:  # argparse
        code = stop.code
    printed = capsys.readouterr()
    assert code == 2
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith(("liestep", "rotation-bench: "))
    return printed.err
