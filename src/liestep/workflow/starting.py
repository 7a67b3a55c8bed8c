"""A folder to work in: the workflow of the installed package, its configuration, and a study to start from."""
import argparse
import shutil
from pathlib import Path

from liestep.errors import InputError
from liestep.files import PACKAGE
from liestep.files.textfiles import read_text, write_text_atomically
from liestep.study.plan.new_study import new_paper, new_study

PACKED = Path(__file__).parent/"packed"  # in a wheel; .ci/packing.py puts it there
COPIED = ("config/config.yaml", "config/README.md", "profiles")
INCLUDED = 'include: "workflow/Snakefile"'  # in the top-level Snakefile


def workflow_folder() -> Path:
    """Where Snakefile, workflow and config of this installation are: packed into it, or in the folder of its source."""
    return PACKED if PACKED.is_dir() else PACKAGE.parents[1]


def equip(folder: Path) -> None:
    """Write what `snakemake` needs beside studies, where it is missing: a Snakefile that includes the workflow of the
    liestep which is installed, config/config.yaml with the page of its keys, and the profiles of plain calls and of
    clusters."""
    source = workflow_folder()
    if not any((folder/name).exists() for name in ("Snakefile", "workflow/Snakefile")):
        own = ("# `snakemake` in this folder. The workflow itself is that of the liestep which is installed.\n"
               "from liestep.workflow.starting import workflow_folder\n\n\n"
               'include: str(workflow_folder() / "workflow" / "Snakefile")')
        write_text_atomically(folder/"Snakefile", own + read_text(source/"Snakefile").partition(INCLUDED)[2])
    for name in COPIED:
        if not (folder/name).exists():
            (folder/name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (source/name).is_dir() else shutil.copyfile)(source/name, folder/name)


def start(folder: Path, name: str, problem: str | None, preset: str | None) -> Path:
    """Make a folder with a workflow and one commented study; returns the study's path. Raises InputError: the folder is
    not empty or no folder, it cannot be written, or an unknown problem or preset."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not an empty folder: choose a new name, or call `liestep new-study` in it")
    path = new_study(name, folder/"config", problem, preset)
    equip(folder)
    return path


def command_new_study(arguments: argparse.Namespace) -> None:
    path = new_study(arguments.name, arguments.config, arguments.problem, arguments.preset)
    if arguments.config.name == "config":  # where snakemake looks for it
        equip(arguments.config.parent)
    name = arguments.name
    print(f"{path}: edit it, then call\n  liestep check {name}\n  snakemake --config studies={name}")


def command_new_paper(arguments: argparse.Namespace) -> None:
    folder = new_paper(arguments.id, arguments.config)
    if arguments.config.name == "config":
        equip(arguments.config.parent)
    print(f"{folder}: edit it, then call\n  snakemake --config studies={arguments.id}")


def command_init(arguments: argparse.Namespace) -> None:
    path = start(arguments.folder, "first", arguments.problem, arguments.preset)
    print(f"{path}: edit it, then `snakemake` in the folder {arguments.folder} makes it")
