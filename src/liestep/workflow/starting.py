"""Studies, papers and folders to start from, commented, which run as they are; what `snakemake` needs beside them."""
import argparse
import shutil
from pathlib import Path

from liestep.errors import InputError
from liestep.files import PACKAGE
from liestep.files.textfiles import read_text, write_text_atomically
from liestep.simulation.catalogue import method, ranked, sheet, systems_to_try
from liestep.simulation.runs.specification import applicable, start_of
from liestep.study.plan.names import PAPERS, STUDIES, require_name, require_paper_id, study_files

FIRST_T_END = 2.0  # s, of the starting file
TEMPLATES = Path(__file__).parent/"templates"
STUDY = TEMPLATES/"study.yaml.in"  # with the fields of `str.format`
PAPER = TEMPLATES/"paper"          # its files end with .in; @ID@ stands for the id


def new_study(name: str, config: Path, problem: str | None = None, preset: str | None = None) -> Path:
    """Write <config>/studies/<name>.yaml for a problem, by default that which is shown first; returns its path. Raises
    InputError: a name that cannot be one, an unknown problem or preset, or the file exists or cannot be written."""
    import pydantic  # noqa: F401  (where no study can be read, none is written)

    require_name("the name of a study", name)
    for other in study_files(config):
        if name.startswith(f"{other}/") or other.startswith(f"{name}/"):
            raise InputError(f"the results of study {name} and of study {other} would lie in each other's folders;"
                             " choose another name")
    path = Path(config)/STUDIES/f"{name}.yaml"
    text = study_text(name, problem or systems_to_try()[0], preset)
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} exists; choose another name or remove it")
    write_text_atomically(path, text)
    return path


def study_text(name: str, problem: str, preset: str | None = None) -> str:
    """Content of the file. Raises InputError for an unknown problem or preset."""
    facts = sheet(problem)
    start = start_of(problem, preset=preset)
    able = [key for key in ranked("shown") if applicable(problem, key)][:3]
    lines = [f"  {key + ':':<35}# {method(key).summary}" for key in able]
    t_end, form = min(start.t_end, FIRST_T_END), STUDY.read_text("utf-8")
    return form.format(name=name, title=facts.title, problem=problem, preset=preset or facts.default, first=able[0],
                       t_end=t_end, parameter=next(iter(facts.parameters)), field=next(iter(start.initial)),
                       step=t_end/500, integrators="\n".join(lines))


def new_paper(name: str, config: Path) -> Path:
    """Write the commented folder of a paper beside the folder `config`; returns it. Raises InputError: a name that can
    be no id, the paper or studies with this id exist, or it cannot be written."""
    folder = Path(config).parent/PAPERS/name
    require_paper_id(name, Path(config).parent/PAPERS)
    for taken in (folder, Path(config)/STUDIES/name):
        if taken.exists() or taken.is_symlink():
            raise InputError(f"{taken} exists; choose another id or remove it")
    unfinished = folder.with_name(f".{name}.part")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        for path in PAPER.rglob("*.in"):
            target = unfinished/path.relative_to(PAPER).with_suffix("")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(path.read_text("utf-8").replace("@ID@", name), "utf-8")
        unfinished.rename(folder)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from None
    return folder


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
    folder = arguments.folder
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not an empty folder: choose a new name, or call `liestep new-study` in it")
    path = new_study("first", folder/"config", arguments.problem, arguments.preset)
    equip(folder)
    print(f"{path}: edit it, then `snakemake` in the folder {folder} makes it")
