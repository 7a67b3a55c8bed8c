"""What this program knows of a results folder, as lines that are only appended: one format for everything.

Kinds of entries, each of a name with a value, of which the last one counts, by a number that grows with the clock and
never falls:

    wrote  bytes that a process has put under a name since the last manifest: their sha256 (all of them count)
    known  sha256, size, mtime, ctime and inode of a file: one that still has these need not be hashed again
    made   what tables or figures of a study were made from, and the hashes of their files
    plan   what a start planned, and the hash of what it planned from

Every process appends to a file of its own in the folder `.records`, so that jobs on several machines never write to the
same file. A line that is torn or damaged, or names a file elsewhere, counts for nothing; without the folder everything
is looked at once more."""
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

FOLDER = ".records"  # below the results folder
ALL = "all.txt"      # in it: what was there at the last manifest
WHEN = re.compile(rb" \[(\d{1,30}),")  # in lines
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
    if target.is_relative_to(root) and not target.is_relative_to(root/FOLDER):
        append(root, "wrote", {target.relative_to(root).as_posix(): file_sha256(content)})


def append(results: Path, kind: str, values: Mapping[str, Any]) -> None:
    """Add entries by name; the value None ends what was said of a name. Raises OSError."""
    if values:
        place, latest = own_file(results), _latest(Path(os.path.abspath(results)), os.getpid())
        latest[0] = now = max(time.time_ns(), latest[0] + 1)
        if not stays_inside(results, place):
            raise OSError(f"the link {place.parent} leads out of {results}; remove it")
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(place, "a", encoding="utf-8") as file:
            file.write("".join(line(kind, now, name, value) for name, value in values.items()))


@cache
def _latest(results: Path, _process: int) -> list[int]:
    """When the last entry was written that a process has written itself, or could read when it first wrote: a clock
    that was once ahead must not put what was said then behind what is said today."""
    texts = [path.read_bytes() for path in files(results) if path.is_file()]
    return [max((int(when) for text in texts for when in WHEN.findall(text)), default=0)]


def own_file(results: Path) -> Path:
    """The file to which this process appends."""
    return Path(results)/FOLDER/_own(os.getpid())


def line(kind: str, when: int, name: str, value: Any) -> str:
    """One entry, with the digest of the rest."""
    text = json.dumps([when, name, value], separators=(",", ":"))
    return f"{kind} {short_hash(text)} {text}\n"


def entries(results: Path, kind: str) -> list[tuple[int, str, Any]]:
    """All entries of a kind, (time in ns, name, value), in the order in which they were written."""
    known: list[tuple[int, str, Any]] = []
    for path in files(results):
        with suppress(OSError):
            known += _entries(path, kind, *notes(path))
    return sorted(known, key=lambda entry: entry[0])


@lru_cache(maxsize=1000)
def _entries(path: Path, kind: str, *_notes: int) -> list[tuple[int, str, Any]]:
    """Entries of a file with these notes."""
    known = []
    for each in path.read_text("utf-8", errors="replace").split("\n"):
        if each.startswith(f"{kind} "):
            digest, _, text = each.removeprefix(f"{kind} ").partition(" ")
            with suppress(ValueError, TypeError, RecursionError):  # another program's line
                if digest == short_hash(text):
                    when, name, value = json.loads(text)
                    known += [(int(when), name, value)]*is_inside(name)
    return known


def last(results: Path, kind: str) -> dict[str, Any]:
    """Name -> what was said last of it."""
    return {name: value for name, value in {name: value for _, name, value in entries(results, kind)}.items()
            if value is not None}


def files(results: Path) -> list[Path]:
    """Files with entries; none where links lead out of the results, whose files are not ours to remove."""
    return [path for path in sorted((Path(results)/FOLDER).glob("*.txt")) if stays_inside(results, path)]


def is_inside(name: Any) -> bool:
    """Whether what a file says is the name of a file below its folder."""
    return isinstance(name, str) and not name.startswith("/") and "\0" not in name and ".." not in name.split("/")


def stays_inside(folder: Path, path: Path) -> bool:
    """Whether no link on the way to a file leads out of a folder."""
    return Path(path).parent.resolve().is_relative_to(Path(folder).resolve())


def remember(path: Path) -> None:
    """Note that this process has finished the file."""
    _here[os.path.abspath(path)] = notes(path)


def is_remembered(path: Path) -> bool:
    """Whether this process has finished the file and the file system has not changed it since. Raises OSError."""
    return _here.get(os.path.abspath(path)) == notes(path)


def notes(path: Path | str) -> tuple[int, int, int, int]:
    """Size, mtime and ctime in ns, and inode. Raises OSError, also for what is no file."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{path} is not a file")
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def file_sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def short_hash(content: str | bytes) -> str:
    """16 hex digits of the sha256."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:16]
