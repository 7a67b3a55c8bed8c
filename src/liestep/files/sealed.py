"""Files of the cache, which are used only as they were written: each ends with the digest of its name and content. A
file that is torn or damaged, or has the content of another one, is none: whoever wants it makes it again."""
import hashlib
import os
import time
from contextlib import suppress

LEFT_OVER = 3600.0  # seconds after which a file that was to be renamed belongs to a process that has ended


def content(path: str | os.PathLike) -> bytes | None:
    """What was written under this name; None where there is no such file, or another content."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    found = data[:-32]
    return found if data[-32:] == _digest(path, found) else None


def keep(path: str | os.PathLike, data: bytes) -> bool:
    """Write whole or not at all, and remove what processes that were killed have left beside it; False for a folder
    that cannot be written, which only costs time."""
    from pathlib import Path

    from liestep.errors import InputError
    from liestep.files.atomic import replacing  # not where answers are only read

    try:
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(data + _digest(path, data))
    except InputError:
        return False
    _sweep(os.path.dirname(path))
    return True


def _digest(path: str | os.PathLike, data: bytes) -> bytes:
    digest = hashlib.sha256(f"{len(data)} {os.path.basename(path)}\n".encode())
    digest.update(data)
    return digest.digest()


def _sweep(folder: str) -> None:
    from fnmatch import fnmatch

    from liestep.files.atomic import TEMPORARY

    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if fnmatch(entry.name, TEMPORARY) and entry.stat(follow_symlinks=False).st_mtime < time.time() - LEFT_OVER:
                with suppress(OSError):
                    os.unlink(entry.path)
