"""Time loops in plain Python, for short runs whose loop is not compiled yet: seconds of compiling for milliseconds of
steps. They call the same methods, and give the same bits: kernels are written so that they do, compiled or not. Code
that is called by its address is machine code here too."""
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from time import thread_time
from typing import Any

from liestep.compile.cache import _loops, class_names, compiles, has_code, loop_for
from liestep.compile.sources import black_box, of_plugins
from liestep.compile.tracing import plain_loop

PAYS = 2.0   # s that a loop may run so in one process, all runs together: compiling takes 3 to 10
SEEN = 0.5   # s after which its rate says how long the run will take, if its steps grow by this factor:
GROWTH = 10.0
_spent: defaultdict[tuple, float] = defaultdict(float)  # s of each loop


class NotWorthIt(Exception):
    """Compiling is faster, or plain Python cannot do it."""


def brief_loop(function: Callable, *components: Any) -> Callable:
    """As `liestep.compile.cache.loop_for`; where there is no code yet, its calls run in plain Python as long as that
    pays. For loops that can be called again with the same arguments."""
    first = FirstLoop(None)
    chosen = [first.loop_for(function, *components)]

    def call(*args: Any) -> Any:
        with suppress(NotWorthIt):
            if first.interpreted and _spent[function, class_names(*components)] > PAYS:
                raise NotWorthIt
            return chosen[0](*args)
        first.interpreted, chosen[0] = False, loop_for(function, *components)
        return chosen[0](*args)

    return call


class FirstLoop:
    """Gives the loop of one run: the compiled one where there is code, else the same in plain Python, which ends with
    NotWorthIt when that would take too long."""

    def __init__(self, progress: Callable[[float], None] | None):
        self.shown, self.interpreted, self.since, self.rest = progress, False, 0.0, 0.0

    def loop_for(self, function: Callable, *components: Any) -> Callable:
        """As `liestep.compile.cache.loop_for`."""
        key = (function, class_names(*components))
        if key in _loops:
            return _loops[key]
        self.rest = PAYS - _spent[key]
        # the author of a plugin wants to hear what compiled code does not know
        self.interpreted = (self.rest > 0.0 and compiles() and not of_plugins(*components)
                            and not has_code(function, *components) and not black_box(*components))
        if not self.interpreted:
            return loop_for(function, *components)
        plain = plain_loop(function)
        self.since = thread_time()

        def call(*args: Any) -> Any:
            start = thread_time()
            try:
                return plain(*args)
            except Exception as error:  # compiled code may know better: 1/0 is infinite there
                raise NotWorthIt from error
            finally:
                _spent[key] += thread_time() - start

        return call

    def progress(self, fraction: float) -> None:
        """Raises NotWorthIt where the run in plain Python will take too long."""
        taken = thread_time() - self.since
        if self.interpreted and taken > min(self.rest, max(SEEN, GROWTH*self.rest*fraction)):
            raise NotWorthIt
        if self.shown:
            self.shown(fraction)
