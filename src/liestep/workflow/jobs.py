"""Jobs of the workflow: which runs, references and films one process makes, and a text that changes
when they are out of date."""
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liestep.study.plan.plan import Cell, Sweep

# most problems that share a process; runs share one only with problems of the same system, whose code they share
TOGETHER = 6


@dataclass(frozen=True)
class Batch:
    """Runs that one job makes, all of one problem of a study or of problems with the same system. `place` are the
    arguments of `liestep sweep` after the study."""

    study: str
    place: tuple[str, ...]
    sweeps: tuple[Sweep, ...]

    @property
    def label(self) -> str:
        """Name of its log."""
        return ".".join((brief(self.place[0]), *self.place[1:]))

    @property
    def rule(self) -> str:
        return rule_name("sweep", self.study, self.label)

    @property
    def listing(self) -> Path:
        """File that the job writes when all its runs are made."""
        return self.sweeps[0].cells[0].path.parents[2]/f"{self.label}.csv"

    @property
    def paths(self) -> list[Path]:
        return [cell.path for sweep in self.sweeps for cell in sweep.cells]

    @property
    def fingerprint(self) -> str:
        return short_hash(" ".join(sweep.fingerprint for sweep in self.sweeps))


@dataclass(frozen=True)
class Reference:
    """Reference of one problem of a study: its file, and a text that changes when it is out of date."""

    study: str
    problem: str
    path: Path
    fingerprint: str


@dataclass(frozen=True)
class ReferenceBatch:
    """References that one job makes."""

    references: tuple[Reference, ...]

    @property
    def study(self) -> str:
        return self.references[0].study

    @property
    def problems(self) -> str:
        """Argument of `liestep reference`."""
        return ",".join(reference.problem for reference in self.references)

    @property
    def label(self) -> str:
        return brief(self.problems)

    @property
    def listing(self) -> Path:
        """File that the job writes when all its references are made."""
        return self.paths[0].with_name(f"{self.label}.csv")

    @property
    def paths(self) -> list[Path]:
        return [reference.path for reference in self.references]

    @property
    def fingerprint(self) -> str:
        return short_hash(" ".join(reference.fingerprint for reference in self.references))


@dataclass(frozen=True)
class Animation:
    """Film of one run of a study."""

    cell: Cell
    path: Path

    @property
    def rule(self) -> str:
        return rule_name("animate", self.cell.study, self.cell.problem, self.cell.integrator, self.cell.resolution)

    @property
    def label(self) -> str:
        return f"{self.cell.problem}.{self.cell.integrator}.{self.cell.resolution}"


def together(problems: Iterable[tuple[str, Any]]) -> list[tuple[str, ...]]:
    """Groups of problem keys, of (key, system) pairs: at most TOGETHER problems of one system in each group.

    Neighbours in the file go to different groups: problems usually grow along the file, and groups should take equal
    times."""
    by_system: dict[Any, list[str]] = {}
    for problem, system in problems:
        by_system.setdefault(system, []).append(problem)
    return [group for keys in by_system.values() for group in equal_groups(keys)]


def equal_groups(keys: list[str]) -> list[tuple[str, ...]]:
    """The keys in as few groups of at most TOGETHER as possible, neighbours in different groups."""
    count = -(-len(keys)//TOGETHER)
    return [tuple(keys[i::count]) for i in range(count)]


def brief(problems: str) -> str:
    """Short name of a list of problems."""
    first, *others = problems.split(",")
    return f"{first}_and_{len(others)}_more" if others else first


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def rule_name(*parts: str) -> str:
    """Name of a rule from ids and keys."""
    return re.sub(r"\W", "_", "_".join(parts))
