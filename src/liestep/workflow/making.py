"""What `liestep make` makes: studies, or the figure of a paper that is printed under a number, with all that leads to
it: its study, its file, and the call of snakemake."""
import argparse
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from liestep.errors import InputError, unknown
from liestep.study.plan.names import selected, study_files
from liestep.study.plan.yamlfile import read_yaml

PRINTED = re.compile(r"(figure|table)(\d+)")


class Printed(NamedTuple):
    """A figure or table that a paper prints: its name such as figure3, the study that draws it, its file there."""

    paper: str
    name: str
    study: str
    source: Path  # file of the study

    @property
    def file(self) -> Path:
        """Below the folder of the results."""
        return Path(self.study, "figures", f"{self.paper}.{self.name}.pdf")


def printed(config: Path) -> list[Printed]:
    """What the studies of all papers draw under a printed number, in its order; errors as `study_files`."""
    made_anew = []
    for study, path in study_files(config).items():
        paper = study.partition("/")[0]
        keys = read_yaml(path)[0]
        for figure in (keys.get("figures") if isinstance(keys, dict) else None) or ():
            owner, _, name = str(figure).rpartition(".")
            if owner == paper and PRINTED.fullmatch(name):
                made_anew.append(Printed(paper, name, study, path))
    return sorted(made_anew, key=lambda item: (item.paper, *((kind, int(number)) for kind, number in PRINTED.findall(
        item.name))))


def leading_to(paper: str, name: str, config: Path) -> Printed:
    """The figure of a paper by its number, `figure3` or `3`. Raises InputError: no such paper or figure."""
    known = printed(config)
    if paper not in (papers := {item.paper: None for item in known}):
        raise InputError(unknown("paper with printed figures", paper, papers))
    of_paper = {item.name: item for item in known if item.paper == paper}
    name = f"figure{name}" if name.isdecimal() else name
    if name not in of_paper:
        raise InputError(unknown(f"printed figure of {paper}", name, of_paper))
    return of_paper[name]


def call_for(what: list[str], config: Path, results: Path) -> tuple[list[str], str]:
    """Words of the call of snakemake for a paper and the name of a figure, or for studies; and what is said before.
    Raises InputError: no such study, paper or figure."""
    if len(what) == 2 and (PRINTED.fullmatch(what[1]) or what[1].isdecimal()):
        item = leading_to(what[0], what[1], config)
        words = ["snakemake", (results/item.file).as_posix()]
        return words, (f"{item.name} of {item.paper} is drawn by {item.source}\nfile: {words[1]}\n"
                       f"command: {' '.join(words)}")
    selected(what, study_files(config))
    words = ["snakemake", "--config", f"studies={','.join(what)}"]
    return words, f"command: {' '.join(words)}"


def make(what: list[str], config: Path, results: Path, options: list[str]) -> int:
    """Say which call makes it, and call; returns the exit code of snakemake. Raises InputError as `call_for`, and where
    snakemake is missing."""
    words, said = call_for(what, config, results)
    print(said, flush=True)
    if find_spec("snakemake") is None:
        raise InputError('snakemake is not installed: pip install "liestep[study]"')
    return subprocess.call([sys.executable, "-m", *words, *options])


def command_make(arguments: argparse.Namespace) -> None:
    if code := make(arguments.what, arguments.config, arguments.results, ["-n"]*arguments.dry_run):
        raise SystemExit(code)
