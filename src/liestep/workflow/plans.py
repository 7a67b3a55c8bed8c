"""What the last start planned: fingerprints of all runs and references, and claims whose runs were found.

A start that finds the study file and all sources of the package as they were does not specify thousands of runs again.
The file is no product: without it, or when a bit of it has changed, everything is planned anew.
"""
import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from liestep.errors import InputError
from liestep.files import PACKAGE
from liestep.files.records import FOLDER
from liestep.files.textfiles import write_text_atomically
from liestep.study.plan.yamlfile import LARGEST


@cache
def sources() -> str:
    """Hash of every file of the package."""
    return content_hash(PACKAGE.rglob("*.py"), PACKAGE)


def content_hash(paths: Iterable[Path], root: Path) -> str:
    """Hash of names below a folder and contents; of what is no file, or too large to be read here, of the name only."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes() if path.is_file() and path.stat().st_size <= LARGEST else b""
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


class Plans:
    """Plans by key, each with the hash of what it was made from."""

    def __init__(self, results: Path):
        self.path = Path(results)/FOLDER/"plans.json"
        self._entries: dict[str, list[Any]] = {}
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            content = json.loads(self.path.read_text("utf-8"))
            if content["sha256"] == _digest(content["plans"]):
                self._entries = content["plans"]
        self._read = dict(self._entries)

    def find(self, key: str, made_from: str) -> Any:
        """The plan, None if there is none that was made from this."""
        entry = self._entries.get(key)
        return entry[1] if entry is not None and entry[0] == made_from else None

    def keep(self, key: str, made_from: str, plan: Any) -> None:
        self._entries[key] = [made_from, plan]

    def save(self) -> None:
        """Write them if they have changed. A folder that cannot be written costs time at the next start."""
        if self._entries != self._read:
            with suppress(InputError):
                write_text_atomically(self.path, json.dumps({"sha256": _digest(self._entries), "plans": self._entries},
                                                            separators=(",", ":")) + "\n")


def _digest(entries: Any) -> str:
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
