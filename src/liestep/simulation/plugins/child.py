"""A plugin is loaded and tried in a child process first: its import or its equations may not end, take all memory, or
end the process."""
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from liestep.errors import InputError

SECONDS = "LIESTEP_TRIAL_SECONDS"  # environment: of processor time that a plugin may take to be loaded and tried
USUAL, WAITING = "20", 3  # without it; times as long in all, for a machine that is busy
MEMORY = 4 << 30  # bytes that it may take beside what the process has


def require_tried(load: Callable[[], object], path: Path) -> None:
    """Call `load` in a fork. Raises InputError with what it raises there, or when it does not end, or ends the
    process."""
    try:
        seconds = max(1, int(os.environ.get(SECONDS, USUAL)))
    except ValueError:
        raise InputError(f"{SECONDS} must be a number of seconds, not {os.environ[SECONDS]!r}") from None
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(load, seconds, writer)
    os.close(writer)
    said, until = b"", time.monotonic() + WAITING*seconds
    try:
        while select.select([reader], [], [], max(0.0, until - time.monotonic()))[0]:
            part = os.read(reader, 1 << 16)
            said += part
            if not part:
                break
    finally:
        os.close(reader)
        late = time.monotonic() >= until
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if said[:1] == b"-":
        raise InputError(said[1:].decode())
    if not said:
        wrong = (f"does not end within {seconds} s ({SECONDS} allows more)" if late or -status == signal.SIGXCPU else
                 f"ends the process ({signal.strsignal(-status) if status < 0 else f'exit code {status}'})")
        raise InputError(f"{path}: to load the plugin, or the first trial of what it declares, {wrong}")


def _answer(load: Callable[[], object], seconds: int, writer: int) -> None:
    """Call it within limits, and write + or - with the sentence; ends this process."""
    try:
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        taken = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) if sys.platform == "linux" else 0
        for what, most in ((resource.RLIMIT_CPU, int(time.process_time()) + seconds + 1), (resource.RLIMIT_CORE, 0),
                           (resource.RLIMIT_AS, taken*resource.getpagesize() + MEMORY)):
            soft, hard = resource.getrlimit(what)
            if soft == resource.RLIM_INFINITY or most < soft:
                resource.setrlimit(what, (most, hard))
        try:
            load()
            os.write(writer, b"+")
        except InputError as error:
            os.write(writer, f"-{error}".encode("utf-8", "replace")[:60_000])
    finally:
        os._exit(1)
