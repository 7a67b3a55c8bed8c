"""What the last start planned: fingerprints of all runs and references, and claims whose runs were found. A start that
finds the study file and all sources of the package as they were does not specify thousands of runs again."""
import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from liestep.files import records
from liestep.study.plan.yamlfile import YAML_BYTES


def content_hash(paths: Iterable[Path], root: Path) -> str:
    """Hash of names below a folder and contents; of what is no file, or too large to be read here, of the name only."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes() if path.is_file() and path.stat().st_size <= YAML_BYTES else b""
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


class Plans:
    """Plans by key, each with the hash of what it was made from."""

    def __init__(self, results: Path):
        self.results = Path(results)
        self._known = records.last(results, "plan")
        self._news: dict[str, Any] = {}

    def find(self, key: str, made_from: str) -> Any:
        """The plan, None if there is none that was made from this."""
        kept = self._known.get(key)
        return kept[1] if isinstance(kept, list | tuple) and len(kept) == 2 and kept[0] == made_from else None

    def keep(self, key: str, made_from: str, plan: Any) -> None:
        self._known[key] = self._news[key] = (made_from, plan)

    def save(self) -> None:
        """Record those that are new. A folder that cannot be written costs time at the next start."""
        with suppress(OSError):
            records.append(self.results, "plan", self._news)
            self._news = {}
