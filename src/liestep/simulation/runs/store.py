"""Runs that several studies ask for are made once: second names of their files, by what determines their bytes.

`<results>/.runs/ab/<run_sha256>.<source_hash>.nc` is a hard link of the file of a run, so that it takes no room. A
sweep that lacks a file looks here before it computes. Nothing else needs this folder: it can be removed at any time.
Where the file system has no links, or the folder lies on another one, its files are copies."""
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from liestep.errors import InputError
from liestep.files.ledger import is_own, require_same
from liestep.files.records import file_sha256, is_remembered, record, remember
from liestep.files.textfiles import replacing
from liestep.simulation.runs.files import require_current
from liestep.simulation.runs.specified import RunSpecification

STORE = ".runs"  # below the results folder


class Store:
    """The stored runs of a results folder."""

    def __init__(self, results: Path):
        self.folder = Path(results)/STORE
        self._said: set[str] = set()

    def place(self, fingerprint: str) -> Path:
        """Where the run of a fingerprint, "specification:sources", is kept."""
        return self.folder/fingerprint[:2]/f"{fingerprint.replace(':', '.')}.nc"

    def files(self) -> Iterator[Path]:
        yield from self.folder.glob("??/*.nc")

    def take(self, spec: RunSpecification, path: Path) -> bool:
        """Give a stored run the name `path` if it is there and is, to the last bit, what was written. A damaged one is
        removed with a sentence. Raises InputError when the folder of `path` cannot be written."""
        stored = self.place(_fingerprint(spec))
        if not stored.is_file():
            return False
        try:
            if not is_own(stored):
                raise InputError(f"{stored} is not recorded as this program has written it")
            sha256 = file_sha256(stored)
            require_current(stored, spec)
        except (InputError, OSError) as error:
            self._say(f"{str(error).partition('; ')[0]}; removed, the run is made again")
            with suppress(OSError):
                stored.unlink()
            return False
        with replacing(path) as temporary:
            if not _link(stored, temporary):
                self._copy(stored, temporary)
                if file_sha256(temporary) != sha256:
                    raise InputError(f"cannot copy {stored}: its copy has other bytes; make the run again")
        return True

    def put(self, spec: RunSpecification, path: Path) -> None:
        """Keep the file of a run under its second name too; the first one that is there stays. A folder that cannot be
        written costs a sentence, no run."""
        stored = self.place(_fingerprint(spec))
        if stored.exists():
            return
        try:
            if not is_remembered(path):
                require_same(path)
            stored.parent.mkdir(parents=True, exist_ok=True)
            record(stored, path)
            with suppress(FileExistsError):
                if not _link(path, stored):
                    with replacing(stored) as temporary:
                        self._copy(path, temporary)
            remember(path)  # a link has changed its ctime
        except (InputError, OSError) as error:
            reason = error if isinstance(error, InputError) else f"{self.folder}: {error.strerror}"
            self._say(f"runs are not kept for other studies: {reason}")

    def forget(self, path: Path) -> None:
        """Remove the second name of a file, whatever it is: a damaged file is damaged under both."""
        with suppress(OSError):
            status = os.stat(path)
            if status.st_nlink > 1:
                for stored in self.files():
                    if os.path.samestat(os.stat(stored), status):
                        stored.unlink()

    def _copy(self, source: Path, target: Path) -> None:
        self._say(f"{self.folder}: its file system or that of the results has no links between them; runs are copied")
        shutil.copyfile(source, target)

    def _say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            print(f"liestep: {sentence}", file=sys.stderr)


def _fingerprint(spec: RunSpecification) -> str:
    return f"{spec.sha256}:{spec.source_hash}"


def _link(source: Path, target: Path) -> bool:
    """Another name for a file; False where there can be none. Raises FileExistsError."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # another file system, one without links, too many links, not ours
        return False
    return True
