"""One workflow in a folder at a time. The lock is the kernel's: it ends with the process that holds it."""
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from liestep.errors import InputError

LOCK = Path(".snakemake")/"liestep.lock"  # below the working folder; holds the number of the process


def take(folder: Path = Path()) -> int | None:
    """Lock a working folder until the descriptor that is returned is closed, or the process ends; children do not
    inherit it. None on a file system without locks. Raises InputError: another process has it; names that process."""
    path = folder/LOCK
    path.parent.mkdir(exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InputError(f"a workflow is running in {folder.absolute()}{_process(path)}; wait for"
                         " it, or stop it") from None
    except OSError:  # a file system without locks: two workflows would waste work but harm nothing
        os.close(descriptor)
        return None
    with suppress(OSError):  # a full disk: the lock holds without the number
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


@contextmanager
def in_turn(path: Path) -> Iterator[None]:
    """Wait until no other process is inside with this file, where the file system has locks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def held(folder: Path = Path()) -> Iterator[None]:
    """Lock a working folder for a while; raises InputError as `take`."""
    descriptor = take(folder)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def holder(folder: Path = Path()) -> str | None:
    """Sentence about the workflow that runs in a folder; None if there is none."""
    path = folder/LOCK
    with suppress(OSError), open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return f"a workflow is running in this folder{_process(path)}"
    return None


def _process(path: Path) -> str:
    number = path.read_text("utf-8", errors="replace").strip()
    return f" (process {number})" if number else ""
