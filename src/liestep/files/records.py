"""Which bytes this program itself has put under each name of the results folder, until the manifest says so.

A product that is neither what the manifest says nor what a record says was changed by somebody else. Every process
appends to a file of its own in the folder `.records`, so that jobs on several machines never write to the same file.
"""
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from uuid import uuid4

FOLDER = ".records"  # below the results folder
_results: list[Path] = []  # the results folder of the command that runs, the innermost last
_here: dict[str, tuple[int, int, int, int]] = {}  # absolute path -> notes of the files that this process has finished


@cache
def _own(process: int) -> str:
    """Name of the file of a process; its forks have others."""
    return f"{process}.{uuid4().hex}.txt"


@contextmanager
def recording(results: Path) -> Iterator[None]:
    """Record what `replacing` writes below this folder."""
    _results.append(Path(results))
    try:
        yield
    finally:
        _results.pop()


def record(path: Path, content: Path) -> None:
    """Note that the bytes of the file `content` will stand under the name `path`. It is noted before the file is
    renamed: a process that is killed in between leaves a note without a file, never a file without a note."""
    if not _results:
        return
    root, target = (Path(os.path.abspath(each)) for each in (_results[-1], path))
    folder = root/FOLDER
    if not target.is_relative_to(root) or target.is_relative_to(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder/_own(os.getpid()), "a", encoding="utf-8") as file:
        file.write(f"{file_sha256(content)} {target.relative_to(root).as_posix()}\n")


def remember(path: Path) -> None:
    """Note that this process has finished the file."""
    _here[os.path.abspath(path)] = notes(path)


def is_remembered(path: Path) -> bool:
    """Whether this process has finished the file and the file system has not changed it since. Raises OSError."""
    return _here.get(os.path.abspath(path)) == notes(path)


def notes(path: Path | str) -> tuple[int, int, int, int]:
    """Size, mtime and ctime in ns, and inode. Raises OSError, also for what is no file."""
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} is not a file")
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def recorded(results: Path) -> tuple[dict[str, set[str]], list[Path]]:
    """Name below the results folder -> hashes of what was written there since the records were last cleared; and the
    files that say so. The last line of a killed process may be torn: it counts for nothing."""
    found: dict[str, set[str]] = {}
    files = sorted((Path(results)/FOLDER).glob("*.txt"))
    for path in files:
        try:
            text = path.read_text("utf-8", errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            sha256, _, name = line.partition(" ")
            found.setdefault(name, set()).add(sha256)
    return found, files


def file_sha256(path: Path) -> str:
    """sha256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
