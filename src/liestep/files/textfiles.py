"""Files that are written whole or not at all, and text products (tables), whose numbers read back as the same
floats."""
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from liestep.errors import InputError
from liestep.files.records import record, remember

TableRow = dict[str, Any]  # columns and what is in them
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
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        record(path, temporary)
        os.replace(temporary, path)
        remember(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # renamed, or never made
            temporary.unlink()


TEXT_BYTES = 1 << 30  # most bytes of a text file that is read


def write_text_atomically(path: Path, text: str) -> None:
    """Write under a temporary name, flush to disk, rename. Raises InputError: the folder cannot be written."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def without_markup(text: str) -> str:
    """Text for Markdown: what would be a tag of HTML is shown as it is written."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def require_file(path: Path, largest: int = TEXT_BYTES) -> None:
    """Raises InputError for what is no ordinary file (to open a pipe would wait for ever), or larger than `largest`
    bytes; a missing file and a folder are left to whoever opens them."""
    try:
        about = os.stat(path)
    except OSError:
        return
    if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
        raise InputError(f"cannot read {path}: it is a pipe or a device, not a file")
    if stat.S_ISREG(about.st_mode) and about.st_size > largest:
        raise InputError(f"cannot read {path}: it has {about.st_size} bytes, at most {largest} are allowed")


def read_text(path: Path, largest: int = TEXT_BYTES) -> str:
    """Content of a text file. Raises InputError: missing, not readable, not an ordinary file, larger than `largest`
    bytes, or not UTF-8."""
    path = Path(path)
    require_file(path, largest)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file in UTF-8 (byte {error.start + 1})") from None
