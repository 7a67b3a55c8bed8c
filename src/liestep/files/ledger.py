"""Hashes of the files that this program has made, with the notes of the file system: size, mtime, ctime and inode.

A file with the same notes need not be hashed again: editing, swapping or copying a file changes its ctime, which no
program can set back. The ledger is a view of the records, and holds also what the manifest does not list: the manifest
itself, and the marks of jobs."""
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from liestep.errors import InputError
from liestep.files import records
from liestep.files.records import FOLDER, file_sha256, is_remembered, notes
from liestep.files.textfiles import write_text_atomically

Notes = tuple[str, int, int, int, int]  # sha256, size, mtime and ctime in ns, inode

_loaded: dict[Path, "Ledger"] = {}  # of the results folders that this process reads


@dataclass
class Ledger:
    """Notes by name below the results folder; `written`: hashes of what was written since the last manifest; `news`:
    what is not recorded yet, None for what is no longer known."""

    results: Path
    known: dict[str, Notes] = field(default_factory=dict)
    written: dict[str, set[str]] = field(default_factory=dict)
    news: dict[str, Notes | None] = field(default_factory=dict)

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
        self.note(name, (sha256, *today))
        return sha256

    def note(self, name: str, entry: Notes) -> None:
        self.known[name] = self.news[name] = entry

    def forget(self, name: str) -> None:
        if self.known.pop(name, None):
            self.news[name] = None

    def save(self) -> None:
        """Record what is new. A folder that cannot be written costs time at the next start, nothing else."""
        with suppress(OSError):
            records.append(self.results, "known", self.news)
            self.news = {}


def load(results: Path) -> Ledger:
    """The ledger of a results folder."""
    written: dict[str, set[str]] = {}
    for _, name, sha256 in records.entries(results, "wrote"):
        written.setdefault(name, set()).add(str(sha256))
    known = {name: tuple(entry) for name, entry in records.last(results, "known").items()
             if isinstance(entry, list) and len(entry) == 5}
    return Ledger(Path(results), known, written)


def close(results: Path, hashes: Mapping[str, str]) -> None:
    """After a manifest: note all products, given by name and hash, and all else that was written and is still there;
    then what was written is known, and the last entry of each name is enough."""
    sizes = {path: path.stat().st_size for path in records.files(results)}
    ledger = load(results)
    for name in dict.fromkeys((*hashes, *ledger.known, *ledger.written)):
        try:
            sha256 = ledger.sha256(name, hashes.get(name))
        except OSError:
            sha256 = None
        if sha256 is None and name in hashes:
            # matches no file, so that the next start compares it with its hash
            ledger.note(name, (hashes[name], 0, 0, 0, 0))
        elif sha256 is None and not (results/name).is_file():
            ledger.forget(name)
    ledger.save()
    own, place = records.own_file(results), Path(results)/FOLDER/records.ALL
    kept = {(kind, name): (kind, when, name, value) for kind in ("known", "made", "plan")
            for when, name, value in records.entries(results, kind)}
    with suppress(InputError, OSError):
        write_text_atomically(place, "".join(records.line(*entry) for entry in kept.values() if entry[3] is not None))
        for path, size in sizes.items():
            if path != place and (path == own or path.stat().st_size == size):  # nobody has written to it since
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
    found = _loaded.get(results)
    if not (found and found.allowed(name, None) and found.sha256(name)):
        found = _loaded[results] = load(results)
    return bool(found.sha256(name)) if found.allowed(name, None) else None

