"""NetCDF files that nobody vouches for are opened in a child process first.

One flipped bit can keep the HDF5 library in an endless loop, which Python cannot interrupt, or end the process: about 1
of 1,000 flips in small files. A file with the bytes that this program has written is opened at once. For any other, a
child process (0.3 s to start, once) reads all of it, and is stopped when that takes too much processor time."""
import atexit
import os
import signal
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from liestep.errors import InputError
from liestep.files import own_process
from liestep.files.ledger import is_own

LIMIT = 1.0  # s of processor time for any file; a run of two bodies takes 3 ms
SPEED = 20e6  # bytes per s: what a slow machine reads
_lock = threading.Lock()
_children: dict[int, subprocess.Popen] = {}  # by process, so that a fork starts its own


def require_openable(path: Path) -> None:
    """Raises InputError for a file with which the NetCDF library does not finish, and OSError for what is no file."""
    if is_own(path):
        return
    with _lock:
        child = _children.get(os.getpid())
        if child is None:
            child = _children[os.getpid()] = subprocess.Popen(
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **own_process(__name__))
        assert child.stdin is not None
        assert child.stdout is not None
        with suppress(BrokenPipeError):
            child.stdin.write(os.fsencode(os.path.abspath(path)) + b"\0")
            child.stdin.flush()
        if child.stdout.read(1):
            return
        _stop()
    raise InputError(f"{path} is damaged: the NetCDF library does not finish reading it; remove it and make it again")


def _stop() -> None:
    """End the child process of this process, if there is one."""
    child = _children.pop(os.getpid(), None)
    if child is not None:
        child.kill()
        child.communicate()


atexit.register(_stop)


def _read_all(path: str) -> None:
    import netCDF4

    with netCDF4.Dataset(path) as data:
        for name in data.ncattrs():
            data.getncattr(name)
        for variable in data.variables.values():
            for name in variable.ncattrs():
                variable.getncattr(name)
            variable[...]


def _serve() -> None:
    """Answer each path from standard input, ended by a zero byte, with one byte when it has been read, or reading it
    has raised an exception."""
    rest = b""
    while part := os.read(0, 1 << 16):
        *whole, rest = (rest + part).split(b"\0")
        for name in map(os.fsdecode, whole):
            signal.setitimer(signal.ITIMER_PROF, LIMIT + os.path.getsize(name)/SPEED)  # ends this process
            with suppress(Exception):  # the caller will meet and name it
                _read_all(name)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            os.write(1, b".")


if __name__ == "__main__":
    _serve()
