"""Methods of components run on symbols (`compile.straight.exact`), as routines of machine code."""
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.roles import Problem
from liestep.compile.straight.exact import MOST_NODES, RESULT, STALE, decision_tree, exact
from liestep.compile.straight.routines import Call, Routine, Weights, attempt, routine
from liestep.compile.straight.symbols import Untraceable
from liestep.compile.tracing import rebuilt

Shape = tuple[int, ...]


class Traced(NamedTuple):
    """A method and the shapes of its arguments, each read from an array of the routine, or ("t", ()) for the time.
    Without `out` it writes to its last argument."""

    name: str
    arguments: tuple[tuple[str, Shape], ...]
    out: Shape | None

    @property
    def places(self) -> list[tuple[str, int]]:
        """Array and place of each number."""
        return [(array, i) for array, shape in self.arguments for i in range(int(np.prod(shape)))]

    def numbers(self, y: np.ndarray) -> list[float]:
        """Arguments of a first call, at time 0 and a state."""
        return [0.0 if array == "t" else float(y.flat[i]) for array, i in self.places]


class Trace:
    """The methods of one component as routines."""

    def __init__(self, problem: Problem, most: int = MOST_NODES):
        """most: operations on one way through a method."""
        self.problem, self.most = problem, most
        self.stale: dict[int, set[int]] = {}    # array -> entries that methods write: scratch
        self.written: dict[int, set[int]] = {}

    def routines(self, methods: Iterable[Traced], y: np.ndarray) -> dict[str, Routine]:
        """Each method. Scratch must not carry numbers from one call to another: what the methods write is no number
        before they do. y: a state at which they can be called."""
        for method in methods:
            with suppress(Exception), np.errstate(all="ignore"):  # with numbers, to see what it writes on one way
                self.run(method, method.numbers(y))
        for _ in range(3):
            self.stale, self.written = {**self.stale, **self.written}, {}
            codes = {method.name: self.code(method) for method in methods}
            if all(entries <= self.stale.get(key, set()) for key, entries in self.written.items()):
                return codes
        raise Untraceable("it writes other scratch each time")

    def code(self, method: Traced) -> Routine:
        return routine(lambda symbols: self.run(method, symbols), method.places, self.most)

    def stages(self, rhs: Traced, n: int, tableau: Weights) -> Routine:
        """All stages of an explicit method, after `routines` has found the scratch."""
        return attempt(lambda symbols: self.run(rhs, symbols), n, tableau)

    def run(self, method: Traced, symbols: list[Any]) -> tuple[Call, list[Any]]:
        """What the method returns and adds to the counters, and what it writes: RESULT for what it does not."""
        copy = _Copy(self.problem, self.stale)
        given, at = [], 0
        for array, shape in method.arguments:
            size = int(np.prod(shape))
            given.append(symbols[at] if array == "t" else _objects(symbols[at:at + size], shape))
            at += size
        if method.out is not None:
            given.append(_objects([RESULT]*int(np.prod(method.out)), method.out))
        target = given[-1]
        before, counters = list(target.flat), self.problem.counters
        counted = counters.copy()
        try:
            value = getattr(copy.component, method.name)(*given)
            value = True if value is None else bool(value)
            added = tuple(int(x) for x in counters - counted)
        finally:
            counters[:] = counted  # the trace is no evaluation
            for key, entries in copy.written():
                self.written.setdefault(key, set()).update(entries)
        return Call(value, added), [RESULT if new is old else new for new, old in zip(target.flat, before, strict=True)]


class _Copy:
    """A component whose methods run on symbols; arrays that two components share are shared."""

    def __init__(self, problem: Problem, stale: dict[int, set[int]]):
        self.counters, self.stale = problem.counters, stale
        self.arrays: dict[int, tuple[np.ndarray, list[Any]]] = {}
        self.component = rebuilt(problem, self.array, float, exact)

    def array(self, item: np.ndarray) -> np.ndarray:
        if item is self.counters:
            return item
        if id(item) not in self.arrays:
            if item.dtype == np.float64:
                values: list[Any] = [float(x) for x in item.flat]
                for place in self.stale.get(id(item), ()):
                    values[place] = STALE
                self.arrays[id(item)] = _objects(values, item.shape), values
            else:
                fixed = item.copy()
                fixed.flags.writeable = False
                self.arrays[id(item)] = fixed, list(fixed.flat)
        return self.arrays[id(item)][0]

    def written(self) -> Iterator[tuple[int, set[int]]]:
        """Entries of arrays that are no longer what they were."""
        for key, (array, before) in self.arrays.items():
            if array.dtype == object:
                entries = {i for i, (new, old) in enumerate(zip(array.flat, before, strict=True)) if new is not old}
                if entries:
                    yield key, entries


def _objects(values: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    out = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        out[i] = value
    return out.reshape(shape)


def field_methods(y: Shape, width: int) -> tuple[Traced, ...]:
    """The methods of a vector field with states of a shape and so many observables."""
    return (Traced("rhs", (("t", ()), ("a", y)), y), Traced("project", (("a", y),), None),
            Traced("observe", (("a", y),), (width,)))


def generator_methods(y: Shape, rows: Shape, width: int) -> tuple[Traced, ...]:
    """The map from states to an algebra with elements of a shape, and the observables."""
    return Traced("algebra", (("t", ()), ("a", y)), rows), field_methods(y, width)[-1]


def check_stage(problem: Problem, y: np.ndarray) -> None:
    """Raises Untraceable for a form whose sums of stages are not the sum of each number."""
    def method(symbols: list[Any]) -> tuple[bool, list[Any]]:
        h, *numbers = symbols
        rows = [_objects(numbers[i*y.size:(i + 1)*y.size], y.shape) for i in range(4)]
        out, graph = _objects([RESULT]*y.size, y.shape), h.graph
        k = np.array(rows[:3], dtype=object)
        _Copy(problem, {}).component.stage(np.array([0.5, 0.0, 0.25], dtype=object), h, k, 3, rows[3], out)
        same = all(value is h*(0.25*k[2].flat[i] + 0.5*k[0].flat[i]) + rows[3].flat[i]
                   for i, value in enumerate(out.flat))
        return same and graph is not None, []

    if decision_tree(method, 1 + 4*y.size)[1] != {True}:
        raise Untraceable("its sums of stages are not those of each number by itself")
