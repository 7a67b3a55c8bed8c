"""Answers of commands that depend on the package alone (`list`, `describe`): kept as texts, because to load all systems
and integrators takes longer than to read a file.

An answer is known by the arguments and by name, size and time of every file of the package and of every folder in which
packages are installed: after an edit or an installation it is made anew.
"""
import hashlib
import os
import sys

COMMANDS = ("list", "describe")


def cache_folder() -> str:
    """$LIESTEP_CACHE, else $XDG_CACHE_HOME/liestep, else ~/.cache/liestep."""
    base = os.environ.get("LIESTEP_CACHE")
    if base:
        return base
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "liestep")


def place_of(arguments: list[str]) -> str | None:
    """Where the answer to a command is kept; None for a command whose answer depends on more than the package."""
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
    digest = hashlib.sha256("\0".join(sorted(parts[1 + len(arguments):]) + parts[:1 + len(arguments)]).encode())
    return os.path.join(cache_folder(), f"answer-{digest.hexdigest()[:24]}.txt")


def known(place: str) -> str | None:
    """The kept answer; None where there is none, or it cannot be read."""
    try:
        with open(place, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def keep(place: str, text: str) -> None:
    """Keep an answer, whole or not at all; a folder that cannot be written keeps nothing."""
    temporary = f"{place}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, place)
    except OSError:
        return
