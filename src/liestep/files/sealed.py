"""Files of the cache, which are used only as they were written: each ends with the digest of its name and content. A
file that is torn or damaged, or has the content of another one, is none: whoever wants it makes it again.

Machine code is executed: folder and files must be of this user, of root or of one whom LIESTEP_CACHE_OWNERS names (user
names or numbers with commas between them), and nobody else may write them. A new folder is open to its owner only."""
import hashlib
import os
import stat
import time
from contextlib import suppress

OTHERS = 0o022  # the bits with which group and others may write
LEFT_OVER = 3600.0  # seconds after which a file that was to be renamed belongs to a process that has ended


def content(path: str | os.PathLike) -> bytes | None:
    """What was written under this name; None where there is no such file, or another content. A pipe, whose opening
    would wait for ever, is none. Raises InputError where somebody else may have written it."""
    folder = os.path.dirname(path)
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            _require_trusted(folder, os.stat(folder))
            _require_trusted(folder, os.fstat(file.fileno()))
            data = file.read()
    except OSError:
        return None
    return unsealed(path, data)


def unsealed(path: str | os.PathLike, data: bytes) -> bytes | None:
    """What bytes of a file of this name hold; None where they are not as they were written."""
    content = data[:-32]
    return content if data[-32:] == _digest(path, content) else None


def keep(path: str | os.PathLike, data: bytes) -> bool:
    """Write whole or not at all, and remove what processes that were killed have left beside it; False for a folder
    that cannot be written, which only costs time. Raises InputError for a folder that others may write."""
    from pathlib import Path

    from liestep.errors import InputError
    from liestep.files.textfiles import replacing

    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        notes = os.stat(folder)
    except OSError:
        return False
    _require_trusted(folder, notes)
    try:
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(data + _digest(path, data))
            temporary.chmod(temporary.stat().st_mode & ~OTHERS)
    except InputError:
        return False
    _sweep(folder)
    return True


def _require_trusted(folder: str, notes: os.stat_result) -> None:
    """Raises InputError for the notes of a folder of the cache, or of a file in it, that somebody else may write."""
    from liestep.errors import InputError

    if notes.st_uid in (os.geteuid(), 0) and not notes.st_mode & OTHERS:
        return
    import pwd
    from shlex import quote

    owner, named = str(notes.st_uid), os.environ.get("LIESTEP_CACHE_OWNERS", "").split(",")
    with suppress(KeyError):
        owner = pwd.getpwuid(notes.st_uid).pw_name
    wrong, mending = "may be written by others", f"what is there call `chmod -R go-w {quote(folder)}`"
    if notes.st_uid not in (os.geteuid(), 0) and not {owner, str(notes.st_uid)} & set(named):
        wrong, mending = f"is of the user {owner}", f"that user call `export LIESTEP_CACHE_OWNERS={owner}`"
    elif not notes.st_mode & OTHERS:
        return
    raise InputError(f"machine code in {folder} {wrong} and is not executed: name another folder in LIESTEP_CACHE, or"
                     f" if you trust {mending}")


def _digest(path: str | os.PathLike, data: bytes) -> bytes:
    digest = hashlib.sha256(f"{len(data)} {os.path.basename(path)}\n".encode())
    digest.update(data)
    return digest.digest()


def _sweep(folder: str) -> None:
    from fnmatch import fnmatch

    from liestep.files.textfiles import TEMPORARY

    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if fnmatch(entry.name, TEMPORARY) and entry.stat(follow_symlinks=False).st_mtime < time.time() - LEFT_OVER:
                with suppress(OSError):
                    os.unlink(entry.path)


def cache_folder() -> str:
    """$LIESTEP_CACHE, else $XDG_CACHE_HOME/liestep, else ~/.cache/liestep."""
    return os.environ.get("LIESTEP_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache")), "liestep")
