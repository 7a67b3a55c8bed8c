"""Commands of liestep that must be refused in one sentence, and what a folder holds before and after."""
from pathlib import Path

from liestep.api.command_line import main

STUDY = """
title: "Three bodies"
problems:
  bodies: {system: sphere_nbody, t_end: 1.0}
integrators:
  vi_sphere: {steps: [0.1]}
"""


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
    assert printed.err.startswith("liestep")
    return printed.err
