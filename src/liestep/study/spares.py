"""Second names of finished files, while the job that makes them goes on.

Snakemake removes all outputs of a job that fails, also the finished ones: of ten hours on a node that dies in the last minute nothing
would be left. Until all files of a job are made, each has a second name, a hard link, from which the next job takes it.
"""
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from liestep.study.atomic import SPARE
from liestep.study.files import require_current
from liestep.systems.sheet import InputError

if TYPE_CHECKING:
    from liestep.study.reference import ReferenceSpecification
    from liestep.study.specification import RunSpecification


def spare(path: Path) -> Path:
    """Second name of a file."""
    return path.with_name(SPARE.replace("*", path.name))


def keep(path: Path) -> None:
    """Give a finished file its second name."""
    with suppress(OSError):  # a file system without hard links: a job that fails loses its files
        spare(path).unlink(missing_ok=True)
        os.link(path, spare(path))


def restored(path: Path, spec: "RunSpecification | ReferenceSpecification", source: str | None = None) -> bool:
    """Whether a file of today's specification and sources (arguments as `require_current`) is there again, from its second name."""
    if not spare(path).is_file():
        return False
    try:
        require_current(spare(path), spec, source)
        path.unlink(missing_ok=True)
        os.link(spare(path), path)
    except (InputError, OSError):
        return False
    return True


def forget(paths: Iterable[Path]) -> None:
    """Remove the second names: the job is done."""
    for path in paths:
        with suppress(OSError):
            spare(path).unlink(missing_ok=True)
