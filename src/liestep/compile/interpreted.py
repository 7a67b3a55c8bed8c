"""Time loops in plain Python, for runs that take less time so than compiling their loop. They call the same methods,
and give the same bits: kernels are written so that they do, compiled or not. Code that is called by its address is
machine code here too.

Whether a loop is compiled is decided by what compiling it will take, told from the size of its code, and by what its
runs have taken in plain Python, in this process and in earlier ones, of which a mark in the cache tells: as soon as
runs and the rest of this one would together take as long as compiling, it is compiled. docs/platforms.md says it for
users, who may decide otherwise (`deciding`)."""
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from math import inf
from time import thread_time
from typing import Any

from liestep.compile.cache import _loops, _name, cache_root, class_names, compiles, has_code, loop_for
from liestep.compile.sources import black_box, of_plugins
from liestep.compile.tracing import globals_of, methods_of, plain_loop
from liestep.compile.trees import parts
from liestep.errors import InputError
from liestep.files import sealed

PAYS = 1.0   # so many times as long as compiling its loop may take, all runs of it may take in plain Python
ASIDE = 0.1  # the same of calls beside a run whose loop shall be compiled
EACH, LEAST, MOST = 1.7e-4, 1.0, 30.0  # s of compiling for each byte of Python's code, and of any loop
SEEN = 0.5   # s after which its rate says how long the run will take, if its steps grow by this factor:
GROWTH = 1.5
KEPT = 0.1   # s in plain Python after which the mark in the cache is written anew
_spent: dict[tuple, float] = {}  # s of each loop


class NotWorthIt(Exception):
    """Compiling is faster, or plain Python cannot do it."""


@dataclass
class CodeChoice:
    """What a caller wants, True (compile), False (do not) or "auto"; which code its runs got."""

    wanted: bool | str = "auto"
    plain: float = 0.0  # s in plain Python
    compiling: float = 0.0  # what compiling would take, about
    given_up: bool = False  # plain Python, for machine code

    def __str__(self) -> str:
        if not self.compiling or self.given_up:
            return "compiled" if compiles() else "interpreted: NUMBA_DISABLE_JIT is set"
        rest = "" if self.wanted is False else " and is worth it after as many seconds of such runs"
        return f"interpreted: {self.plain:.2g} s; compiling takes about {self.compiling:.2g} s{rest}"


_code: ContextVar[CodeChoice | None] = ContextVar("code", default=None)


@contextmanager
def deciding(wanted: bool | str) -> Iterator[CodeChoice]:
    """Runs inside are compiled, or not, or "auto"; says which it was. Raises InputError: another value."""
    if not isinstance(wanted, bool) and wanted != "auto":
        raise InputError(f"compile is {wanted!r}; allowed are True, False and \"auto\"")
    token = _code.set(code := CodeChoice(wanted))
    try:
        yield code
    finally:
        _code.reset(token)


def forbidden() -> bool:
    """Whether the caller wants no loop compiled."""
    return (code := _code.get()) is not None and code.wanted is False


def spent(taken: float, function: Callable, *components: Any) -> float:
    """s that runs have taken because a loop has no code, in this process and in earlier ones, with so many more."""
    key, mark = (function, class_names(*components)), lambda: cache_root()/f"mark-{_name(function, *components)}.txt"
    with suppress(InputError, ValueError):
        if key not in _spent:
            _spent[key] = 0.0
            _spent[key] = float(sealed.content(mark()) or 0.0)
        _spent[key] += taken
        if _spent[key]//KEPT > (_spent[key] - taken)//KEPT:
            sealed.keep(mark(), repr(_spent[key]).encode())
    return _spent[key]


def pays(function: Callable, *components: Any) -> bool:
    """Whether the code of a loop is there, or so much has been `spent` that it will be compiled at once."""
    return not forbidden() and (has_code(function, *components) or spent(0.0, function, *components) >= PAYS*seconds(
        function, *components))


def brief_loop(function: Callable, *components: Any, aside: bool = False) -> Callable:
    """As `liestep.compile.cache.loop_for`; where there is no code yet, its calls run in plain Python as long as that
    pays. For loops that can be called again with the same arguments. aside: a few calls beside a run; a caller who
    wants that compiled does not wait for these until they have taken a tenth of it."""
    first = FirstLoop(None)
    if aside and first.code.wanted is True:
        first.code, first.share = CodeChoice(), ASIDE
    chosen = [first.loop_for(function, *components)]

    def call(*args: Any) -> Any:
        with suppress(NotWorthIt):
            if first.interpreted and first.taken > first.rest:
                raise NotWorthIt
            return chosen[0](*args)
        first.give_up()
        chosen[0] = loop_for(function, *components)
        return chosen[0](*args)

    return call


class FirstLoop:
    """Gives the loop of one run: the compiled one where there is code, else the same in plain Python, which ends with
    NotWorthIt when that would take too long."""

    def __init__(self, progress: Callable[[float], None] | None):
        self.shown, self.interpreted, self.taken, self.since, self.rest = progress, False, 0.0, 0.0, 0.0
        self.code, self.share = _code.get() or CodeChoice(), PAYS

    def loop_for(self, function: Callable, *components: Any) -> Callable:
        """As `liestep.compile.cache.loop_for`."""
        key, wanted = (function, class_names(*components)), self.code.wanted
        if wanted is not False:
            if key in _loops:
                return _loops[key]
            # the author of a plugin wants to hear what compiled code does not know
            if wanted is True or of_plugins(*components) or has_code(function, *components):
                return loop_for(function, *components)
        if not compiles() or black_box(*components):
            return loop_for(function, *components)
        expected = seconds(function, *components)
        self.rest = inf if wanted is False else self.share*expected - spent(0.0, function, *components)
        if self.rest <= 0.0:
            return loop_for(function, *components)
        self.interpreted, self.code.compiling = True, expected
        plain = plain_loop(function)
        self.since = thread_time()

        def call(*args: Any) -> Any:
            start = thread_time()
            try:
                return plain(*args)
            except Exception as error:  # compiled code may know better: 1/0 is infinite there
                raise NotWorthIt from error
            finally:
                taken = thread_time() - start
                self.taken += taken
                self.code.plain += taken
                spent(taken, function, *components)

        return call

    def give_up(self) -> None:
        """The run is made anew by machine code."""
        self.interpreted, self.code.given_up = False, True

    def progress(self, fraction: float) -> None:
        """Raises NotWorthIt where the run in plain Python will take too long."""
        taken = thread_time() - self.since
        if self.interpreted and self.rest < inf and taken > min(self.rest, max(SEEN, GROWTH*self.rest*fraction)):
            raise NotWorthIt
        if self.shown:
            self.shown(fraction)


def seconds(function: Callable, *components: Any) -> float:
    """What compiling a loop takes, about: its code and all that it may call is inlined."""
    return min(max(EACH*_size(function, frozenset(map(type, parts(*components)))), LEAST), MOST)


@cache
def _size(function: Callable, classes: frozenset[type]) -> int:
    """Bytes of Python's code of a loop, its kernels, and methods of the components' classes that they name."""
    methods = defaultdict(list)
    for cls in classes:
        for name, method in methods_of(cls).items():
            methods[name].append(method)
    todo, seen = [function], set()
    while todo:
        plain = getattr(found := todo.pop(), "py_func", found)
        if plain not in seen and hasattr(plain, "__code__"):
            seen.add(plain)
            todo += [value for value in globals_of(plain).values() if hasattr(value, "py_func")]
            todo += [method for name in plain.__code__.co_names for method in methods.get(name, ())]
    return sum(len(each.__code__.co_code) for each in seen)
