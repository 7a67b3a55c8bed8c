"""Files that are written whole or not at all, whoever writes them."""
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from liestep.errors import InputError
from liestep.files.records import record, remember

TEMPORARY = ".*.[0-9]*.????????.tmp"  # names of files that were not finished


@contextmanager
def replacing(path: Path, suffix: str = ".tmp") -> Iterator[Path]:
    """A temporary name beside `path`; what the caller has written under it is flushed to disk and renamed at the end.
    Raises InputError: the folder cannot be written."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex[:8]}{suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        _flush(temporary)
        record(path, temporary)
        os.replace(temporary, path)
        remember(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # renamed, or never made
            temporary.unlink()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
