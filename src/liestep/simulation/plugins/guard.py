"""What the code of a plugin must not do to the process in which it runs: change what holds for all of it, go on beside
it, or end it."""
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from liestep.errors import InputError

PATIENCE = 1.0  # s for a thread that is about to end
# besides this package: modules whose functions stay what they are
KNOWN = ("builtins", "math", "cmath", "os", "numpy", "numpy.linalg")
SENT = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}  # to the process that was called, and meant for the command
PDEATHSIG = 1  # of prctl
DONE = 99  # exit code of a fork that has carried out its command: code of a plugin that ends it says another one
process: list[str] = []  # what this one is: that of a "command", a fork that is "watched"


def _held() -> dict[str, Any]:
    """By what they are called in a sentence, things that hold for the whole process; rounding is seen by its results,
    of numbers that no compiler knows."""
    one, tiny = float("1"), float("2.3e-308")
    found = {"the working folder": os.stat(".")[1:3], "the recursion limit": sys.getrecursionlimit(),
             "the rounding of numbers": (one + 2.0**-53, -one - 2.0**-53, one + 0.75*2.0**-52, one/3.0, tiny/2.0),
             "an alarm": [signal.getitimer(which)[0] > 0.0 for which in range(3)],
             **{f"what {number.name} does": signal.getsignal(number) for number in signal.Signals}}
    return found | {f"{place}.{name}": value for place, module in list(sys.modules.items())
                    if place in KNOWN or place.startswith("liestep.")
                    for name, value in vars(module).items() if callable(value) and not isinstance(value, ModuleType)}


@contextmanager
def untouched(what: str) -> Iterator[None]:
    """Raises InputError where the code inside has changed the process, or has begun a thread that goes on."""
    threads, before = threading.enumerate(), _held()
    yield
    now = _held()
    for name, value in before.items():
        if now.get(name) is not value and now.get(name) != value:
            raise InputError(f"{what} changes {name}, which holds for the whole process: leave it as it is")
    for thread in set(threading.enumerate()).difference(threads):
        thread.join(PATIENCE)
        if thread.is_alive():
            raise InputError(f"{what} begins the thread {thread.name}, which goes on beside the runs: end it")


def watch(what: str) -> None:
    """Go on in a fork, where this process carries out a command: it waits, for code of a plugin can end a process as if
    all were done. Signals for the command are handed on, and it dies with this process. On Linux only."""
    if process != ["command"] or sys.platform != "linux":
        return
    _flush()
    before, here = signal.pthread_sigmask(signal.SIG_BLOCK, {*SENT, signal.SIGCHLD}), os.getpid()
    child = os.fork()
    if child == 0:
        import ctypes

        ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
        if os.getppid() != here:
            os._exit(1)
        process.append("watched")
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        told = signal.sigwaitinfo({*SENT, signal.SIGCHLD})
        if told.si_signo in SENT and told.si_code <= 0:  # of a process; a terminal has told the fork too
            os.kill(child, told.si_signo)
    code = os.waitstatus_to_exitcode(ended[1])
    if code == 0:
        with suppress(OSError):
            print(f"liestep: {what} ends the process before the command is done", file=sys.stderr, flush=True)
    os._exit({DONE: 0, 0: 1}.get(code, code if code > 0 else 128 - code))


def leave(code: int) -> None:
    """End a command's process; threads of plugins, and what they do at its end, are not waited for."""
    _flush()
    os._exit(code or (DONE if "watched" in process else 0))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
