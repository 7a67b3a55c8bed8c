"""Answers of commands that need no numbers: kept as texts, because to load all systems and integrators takes longer
than to read a file.

An answer is known by the arguments and by name, size and times of every file that it depends on: those of the package
and every folder in which packages are installed, for `status` those of `config` and `results` too. After an edit, an
installation or a job it is made anew."""
import hashlib
import os
import sys
from contextlib import suppress

from liestep.files import sealed

COMMANDS = ("list", "describe", "status")
WORKING = ("config", "results")   # folders of the working folder that `status` reads


def place_of(arguments: list[str]) -> str | None:
    """Where the answer to a command is kept; None for a command whose answer depends on more than these files."""
    if not arguments or arguments[0] not in COMMANDS or any(word.startswith("-") for word in arguments):
        return None
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parts = [sys.version, *arguments]
    for folder in sys.path:
        if os.path.isdir(folder):
            parts.append(f"{folder} {os.stat(folder).st_mtime_ns}")
    for folder, folders, files in os.walk(package):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in sorted(files):
            found = os.stat(os.path.join(folder, name))
            parts.append(f"{folder}/{name} {found.st_size} {found.st_mtime_ns}")
    if arguments[0] == "status":
        parts.append(os.getcwd())
        seen: set[tuple[int, int]] = set()
        for name in WORKING:
            _files(name, parts, seen)
    digest = hashlib.sha256("\0".join(sorted(parts[1 + len(arguments):]) + parts[:1 + len(arguments)]).encode())
    return os.path.join(sealed.cache_folder(), f"answer-{digest.hexdigest()[:24]}.txt")


def _files(folder: str, parts: list[str], seen: set[tuple[int, int]]) -> None:
    """Add name, inode, size and times of all files below a folder, those in folders with a dot left out: what has been
    edited in place and given its old time differs in the time of its inode. A folder that links repeat is looked at
    once."""
    with suppress(OSError), os.scandir(folder) as entries:
        here = os.stat(folder)
        if (here.st_dev, here.st_ino) in seen:
            return
        seen.add((here.st_dev, here.st_ino))
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                _files(entry.path, parts, seen)
                continue
            found = entry.stat(follow_symlinks=True)
            parts.append(f"{entry.path} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}")


def known(place: str) -> str | None:
    """The kept answer; None where there is none, or not as it was written."""
    data = sealed.content(place)
    return None if data is None else data.decode()


def keep(place: str, text: str) -> None:
    """Keep an answer; a folder that cannot be written keeps nothing."""
    sealed.keep(place, text.encode())
