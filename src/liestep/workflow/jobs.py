"""Jobs of the workflow: which runs, references and films one process makes, and a text that changes when they are out
of date."""
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liestep.study.plan.plan import Cell

# most problems that share a process; runs share one only with problems of the same system, whose code they share
TOGETHER = 6


@dataclass(frozen=True)
class Reference:
    """Reference of one problem of a study: its file, and a text that changes when it is out of date."""

    study: str
    problem: str
    path: Path
    fingerprint: str


@dataclass(frozen=True)
class Batch:
    """Runs or references that one job makes. `arguments` of the command are a study, problems with commas between them
    and, for some of their runs, an integrator; `mark` is an empty file that Snakemake puts there when all files are
    made, and looks at instead of the files: it would need seconds for thousands, and it removes the outputs of a job
    that fails, so that of ten hours on a node that dies in the last minute nothing would be left."""

    arguments: tuple[str, ...]
    paths: tuple[Path, ...]
    mark: Path
    fingerprint: str

    @classmethod
    def of(cls, folder: Path, arguments: tuple[str, ...], paths: Iterable[Path],
           fingerprints: Iterable[str]) -> "Batch":
        """Batch of files with these fingerprints, whose mark is in a folder."""
        _, problems, *integrator = arguments
        label = ".".join((brief(problems), *integrator))
        return cls(arguments, tuple(paths), folder/f"{label}.made", short_hash(" ".join(fingerprints)))

    @property
    def study(self) -> str:
        return self.arguments[0]

    @property
    def size(self) -> int:
        """Number of files."""
        return len(self.paths)


@dataclass(frozen=True)
class Animation:
    """Film of one run of a study."""

    cell: Cell
    path: Path

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
