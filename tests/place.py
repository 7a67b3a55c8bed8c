"""A working folder with a tiny study, calls of snakemake there, and whether a process lives."""
import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import ready

from liestep.files.records import FOLDER
from liestep.simulation.runs.store import STORE
from liestep.study.plan.plan import Study

TOP = Path(__file__).parents[1]
PROBLEMS = """
title: Three bodies and a pendulum
problems:
  bodies: {system: sphere_nbody, t_end: 0.5}
  pendulum: {system: spherical_pendulum_chain, preset: paper_scaled, t_end: 0.5}
"""
STUDY = PROBLEMS + """integrators:
  vi_sphere: {steps: [0.1, 0.05]}
  rk4: {steps: [0.1]}
tables: [energy]
"""
LONGER = PROBLEMS + """integrators:
  vi_sphere: {steps: {counts: [10, 40, 80]}}
  rk4: {steps: {counts: [10, 150, 300]}}
tables: [energy]
figures: [energy_error]
"""


def copied_package(folder: Path) -> Path:
    """A copy of the package in a folder, to be edited. It has its bytecode, which holds until a file is edited:
    without it an interpreter compiles all for 2 s. Names of bytecode that is just being written have two dots."""
    package = Path(shutil.copytree(TOP/"src"/"liestep", folder/"liestep", ignore=shutil.ignore_patterns("*.pyc.*")))
    for name in ("liestep_judge.py", "liestep_tables.py"):
        shutil.copy(TOP/"rotation_bench"/name, package/"study"/"tables")
    return package


def paper_code(folder: Path, paper: str) -> Path:
    """A copy of the code of a paper below papers in a working folder, for studies of its own; the paper's folder."""
    return Path(shutil.copytree(TOP/"papers"/paper, folder/"papers"/paper, ignore=shutil.ignore_patterns(
        "*.yaml", "claims", "history.csv", "tests", "__pycache__"), dirs_exist_ok=True))


def study_of_paper(folder: Path, paper: str, text: str) -> Study:
    """The study `study` of a copy of a paper; its results are below the folder."""
    path = paper_code(folder, paper)/"studies"/"study.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return Study(path, f"{paper}/study", folder/"results")


class Place:
    """A working folder with the study `tiny`; jobs run uncompiled unless asked otherwise,
    because they are that short."""

    def __init__(self, folder: Path, compiled: bool = False, source: Path | None = None):
        self.folder, self.study = folder, folder/"config"/"studies"/"tiny.yaml"
        if not self.study.exists():  # else one that is made
            self.study.parent.mkdir(parents=True)
            self.study.write_text(STUDY)
            shutil.copy(TOP/"config"/"config.yaml", folder/"config"/"config.yaml")
        self.environment = {**os.environ, **({} if compiled else {"NUMBA_DISABLE_JIT": "1"}),
                            **({"PYTHONPATH": str(source)} if source else {})}

    def copy(self, folder: Path, source: Path | None = None) -> "Place":
        """What is made here in another folder, to break something in or to go on from; files keep their times."""
        shutil.copytree(self.folder, folder)
        found = copy.copy(self)
        found.folder, found.study = folder, folder/self.study.relative_to(self.folder)
        found.environment = self.environment | ({"PYTHONPATH": str(source)} if source else {})
        return found

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "snakemake", "-s", str(TOP/"Snakefile"), "--directory", str(self.folder)]

    def call(self, *options: str) -> subprocess.CompletedProcess:
        shutil.rmtree(self.folder/"results"/"tiny"/"logs", ignore_errors=True)
        return ready.run("snakemake", *self.command[3:], *options, folder=self.folder, environment=self.environment)

    def make(self, *options: str) -> set[str]:
        """Call snakemake, which must succeed; returns what was made or linked, for example "bodies vi_sphere h0.1"."""
        result = self.call(*options)
        assert result.returncode == 0, result.stderr
        lines = [line for path in (self.folder/"results"/"tiny"/"logs").glob("*.log")
                 for line in path.read_text().splitlines()]
        return {words[2].partition(":")[0] for words in (line.split(" ", 2) for line in lines)
                if words[0] in ("made", "linked") and words[1] == "tiny"}

    def liestep(self, *arguments: str) -> subprocess.CompletedProcess:
        return ready.run("liestep", *arguments, folder=self.folder, environment=self.environment)

    def replace(self, old: str, new: str) -> None:
        text = self.study.read_text()
        assert old in text
        self.study.write_text(text.replace(old, new))

    def contents(self, pattern: str = "*") -> dict[str, bytes]:
        """Products by path; logs are none, nor are the marks of jobs."""
        results = self.folder/"results"
        return {str(path.relative_to(results)): path.read_bytes() for path in sorted(results.rglob(pattern))
                if path.is_file() and not {"logs", FOLDER, STORE}.intersection(path.parts) and path.suffix != ".made"}

    def visible(self) -> dict[str, bytes]:
        """Products without what killed jobs had not finished: it is removed with the manifest."""
        return {name: content for name, content in self.contents().items() if not Path(name).name.startswith(".")}


def undisturbed(folder: Path) -> None:
    """Make a study that takes long enough to be killed, in one call."""
    place = Place(folder)
    place.study.write_text(LONGER)
    result = place.call()
    assert result.returncode == 0, result.stderr


def alive(process: psutil.Process) -> bool:
    """Asked once: between two questions it may go."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
