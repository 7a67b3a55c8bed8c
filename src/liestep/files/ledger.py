"""Hashes of the files that this program has made, with the notes of the file system: size, mtime, ctime and inode.

A file with the same notes need not be hashed again: editing, swapping or copying a file changes its ctime, which no
program can set back. The ledger lies in the results folder and holds also what the manifest does not list: the manifest
itself, and the lists of what jobs made. Without it everything is hashed once more.
"""
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from liestep.errors import InputError
from liestep.files.records import FOLDER, file_sha256, is_remembered, notes, recorded
from liestep.files.textfiles import write_text_atomically

Notes = tuple[str, int, int, int, int]  # sha256, size, mtime and ctime in ns, inode


_loaded: dict[Path, "Ledger"] = {}  # of the results folders that this process reads


@dataclass
class Ledger:
    """Notes by name below the results folder; `written`: hashes of what was written since the last manifest."""

    results: Path
    known: dict[str, Notes] = field(default_factory=dict)
    written: dict[str, set[str]] = field(default_factory=dict)
    changed: bool = False

    def allowed(self, name: str, listed: str | None) -> set[str]:
        """Hashes that a file may have: as the manifest lists it (without one: as it was known), or written since."""
        before = listed or (self.known[name][0] if name in self.known else None)
        return self.written.get(name, set()) | ({before} if before else set())

    def is_known(self, name: str, listed: str | None, today: tuple[int, int, int, int]) -> bool:
        """Whether a file with these notes has an allowed hash that need not be computed again."""
        known = self.known.get(name)
        return known is not None and known[1:] == today and known[0] in self.allowed(name, listed)

    def sha256(self, name: str, listed: str | None = None) -> str | None:
        """Hash of a file if it is one of the allowed ones, or nothing is known of the file; None if it is another.
        Raises OSError, also for what is no file."""
        path, allowed = self.results/name, self.allowed(name, listed)
        today = notes(path)
        if self.is_known(name, listed, today):
            return self.known[name][0]
        sha256 = file_sha256(path)
        if allowed and sha256 not in allowed:
            return None
        self.known[name], self.changed = (sha256, *today), True
        return sha256


def load(results: Path) -> Ledger:
    """The ledger of a results folder; an unreadable one is empty."""
    known: dict[str, Notes] = {}
    with suppress(OSError, ValueError, TypeError, RecursionError):
        content = json.loads(_place(results).read_text("utf-8"))
        known = {str(name): (str(notes[0]), int(notes[1]), int(notes[2]), int(notes[3]), int(notes[4]))
                 for name, notes in content.items() if len(notes) == 5}
    return Ledger(Path(results), known, recorded(results)[0])


def save(ledger: Ledger) -> None:
    """Write it. A folder that cannot be written costs time at the next start, nothing else."""
    with suppress(InputError):
        write_text_atomically(_place(ledger.results), json.dumps(ledger.known, separators=(",", ":")) + "\n")


def close(results: Path, hashes: Mapping[str, str]) -> None:
    """After a manifest: note all products, given by name and hash, and all else that was written and is still there,
    and clear the records, which are older than that."""
    records = {path: path.stat().st_size for path in recorded(results)[1]}
    ledger = load(results)
    for name in dict.fromkeys((*hashes, *ledger.known, *ledger.written)):
        try:
            found = ledger.sha256(name, hashes.get(name))
        except OSError:
            found = None
        if found is None and name in hashes:
            # matches no file, so that the next start compares it with its hash
            ledger.known[name] = (hashes[name], 0, 0, 0, 0)
        elif found is None and not (results/name).is_file():
            ledger.known.pop(name, None)
    save(ledger)
    for path, size in records.items():
        with suppress(OSError):
            if path.stat().st_size == size:  # nobody has written to it since
                path.unlink()


def require_same(path: Path) -> None:
    """Raises InputError for a file of a results folder that somebody else has changed since it was made; files
    that are not in the ledger are accepted."""
    with suppress(OSError):  # whoever reads the file says what is wrong with it
        if _is_as_written(path) is False:
            raise InputError(f"{path} was changed after it was made; remove it and make it again")


def is_own(path: Path) -> bool:
    """Whether a file has the bytes that this program has written: this process, or as the ledger or the records of its
    results folder say. Raises OSError for what is no file."""
    return is_remembered(path) or _is_as_written(path) is True


def _is_as_written(path: Path) -> bool | None:
    """Whether a file of a results folder is as the ledger or the records say; None if they do not know it. Raises
    OSError. They are read again only for a file that those in memory do not know, because other jobs write them."""
    place = Path(os.path.abspath(path))
    results = next((folder for folder in place.parents if (folder/FOLDER).is_dir()), None)
    if results is None:
        return None
    name = place.relative_to(results).as_posix()
    if results in _loaded and _compare(_loaded[results], name):
        return True
    _loaded[results] = load(results)
    return _compare(_loaded[results], name)


def _compare(found: Ledger, name: str) -> bool | None:
    return found.sha256(name) is not None if found.allowed(name, None) else None


def _place(results: Path) -> Path:
    return Path(results)/FOLDER/"known.json"

