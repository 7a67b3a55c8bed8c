"""What the code of a plugin must not do to the process in which it runs: change what holds for all of it, or go on
beside it."""
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from liestep.errors import InputError

PATIENCE = 1.0  # s for a thread that is about to end
# besides this package: modules whose functions stay what they are
KNOWN = ("builtins", "math", "cmath", "os", "numpy", "numpy.linalg")


def _held() -> dict[str, Any]:
    """By what they are called in a sentence, things that hold for the whole process; rounding is seen by its results,
    of numbers that no compiler knows."""
    unit, tiny = float("1"), float("2.3e-308")
    held = {"the working folder": os.stat(".")[1:3], "the recursion limit": sys.getrecursionlimit(),
             "the rounding of numbers": (unit + 2.0**-53, -unit - 2.0**-53, unit + 0.75*2.0**-52, unit/3.0, tiny/2.0),
             "an alarm": [signal.getitimer(which)[0] > 0.0 for which in range(3)],
             **{f"what {number.name} does": signal.getsignal(number) for number in signal.Signals}}
    return held | {f"{place}.{name}": value for place, module in list(sys.modules.items())
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
