"""Members side by side: components, states and records of a block, and what makes runs in blocks."""
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from liestep.compile.cache import class_names, compiles, loop_for
from liestep.compile.counters import NAMES
from liestep.compile.lanes.width import width
from liestep.compile.pieces import LINEAR, Pieces
from liestep.compile.status import Status
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.many.loops import Ends, Held, advance_members
from liestep.simulation.runs.execution import Recorder, for_loop, new_integrals, new_recorder
from liestep.simulation.runs.specified import RunSpecification

ALIGNED = 64  # bytes, of what registers are read from
Pair = tuple[Formulated, Any]  # a problem at a start, and the integrator's component


def arrays_of(item: Any, found: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """The arrays of a tree of components by their identities, in order; those that parts share stand there once."""
    if isinstance(item, np.ndarray):
        found.setdefault(id(item), item)
    elif isinstance(item, tuple):
        for part in item:
            arrays_of(part, found)
    return found


def rebuilt(item: Any, new: dict[int, np.ndarray]) -> Any:
    """The tree with other arrays."""
    if isinstance(item, np.ndarray):
        return new.get(id(item), item)
    if not isinstance(item, tuple):
        return item
    items = [rebuilt(part, new) for part in item]
    return type(item)(*items) if hasattr(item, "_fields") else tuple(items)


def scalars(item: Any) -> tuple[Any, ...]:
    """Numbers and classes of a tree, all that is no array of float64: members of equal ones may share registers."""
    if isinstance(item, np.ndarray):
        return item.shape, item.dtype.str, b"" if item.dtype == np.float64 else item.tobytes()
    return (type(item), *(scalars(part) for part in item)) if isinstance(item, tuple) else (item,)


def aligned(shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """Zeros whose first number stands where a register's memory begins."""
    size = int(np.prod(shape))*8
    raw = np.zeros(size + ALIGNED, dtype=np.uint8)
    begin = -raw.ctypes.data % ALIGNED
    return raw[begin:begin + size].view(dtype).reshape(shape)


class Kind:
    """How blocks of `size` members are laid out in arrays: with a last axis of lanes if they share registers."""

    def __init__(self, size: int):
        self.size = size
        self.held: Any = Held
        if size > 1:
            from liestep.compile.lanes import numbers
            from liestep.simulation.many.steps import LaneHeld

            self.numbers, self.held = numbers, LaneHeld

    def room(self, *shape: int, dtype: Any = np.float64) -> np.ndarray:
        """Zeros of each member."""
        return self.numbers.in_lanes(aligned((*shape, self.size), dtype)) if self.size > 1 else aligned(shape, dtype)

    def blocks(self, values: np.ndarray) -> np.ndarray:
        """(members, ...) as (blocks, ...); the last member fills the last block."""
        if self.size == 1:
            return np.array(values, dtype=np.float64, order="C")
        missing = -len(values) % self.size
        if missing:
            values = np.concatenate([values, np.repeat(values[-1:], missing, axis=0)])
        out = aligned((len(values)//self.size, *values.shape[1:], self.size))
        out[...] = np.moveaxis(values.reshape(-1, self.size, *values.shape[1:]), 1, -1)
        return self.numbers.in_lanes(out)

    def members(self, array: np.ndarray, count: int) -> np.ndarray:
        """The reverse, of arrays with a row for each block."""
        if self.size == 1:
            return array[:count]
        if array.dtype.kind != "V":  # the same for all in a block
            return np.repeat(array, self.size, axis=0)[:count]
        found = np.moveaxis(self.numbers.out_of_lanes(array), -1, 1)
        return found.reshape(-1, *found.shape[2:])[:count]

    def words(self) -> tuple[np.ndarray, int]:
        """The words of this thread, and that of all lanes."""
        return (self.numbers.words(), (1 << self.size) - 1) if self.size > 1 else (np.ones(2, dtype=np.uint64), 1)


class Components:
    """Problem, integrator and workspace of members whose `scalars` are equal: one for all, or one for each."""

    def __init__(self, kind: Kind, spec: RunSpecification, pairs: Sequence[Pair]):
        self.kind, self.single = kind, len(pairs) == 1
        trees = [self._tree(spec, pair) for pair in pairs]
        self.first = first = trees[0]
        self.every = [list(arrays_of(tree, {}).values()) for tree in trees]
        counters = first[0].counters
        own = arrays_of(first[0], {}) | arrays_of(first[2], {})
        shared = kind.size > 1
        self.places = [k for k, array in enumerate(self.every[0]) if array.dtype == np.float64 and (
            not shared or id(array) in own or any((one[k] != array).any() for one in self.every[1:]))]
        self.rest = [k for k, array in enumerate(self.every[0]) if array.dtype != np.float64 and array is not counters]
        self.counters = next(k for k, array in enumerate(self.every[0]) if array is counters)

    def _tree(self, spec: RunSpecification, pair: Pair) -> tuple[Any, Any, Any]:
        formulated, integrator = pair
        problem = formulated.problem
        if self.kind.size == 1 and self.single:
            problem, integrator = for_loop(formulated, integrator, spec.steps or 0)
        return problem, integrator, integrator.workspace(formulated.problem, formulated.start.copy())

    def numbers(self) -> np.ndarray:
        """(blocks, size) or (1, size): at the start."""
        values = np.array([np.concatenate([np.zeros(0), *(one[k].ravel() for k in self.places)]) for one in self.every])
        if len(values) == 1 and self.kind.size > 1:
            values = np.repeat(values, self.kind.size, axis=0)
        return self.kind.blocks(values)

    def make(self) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """Components of a thread, and its numbers, whole numbers, and counters."""
        arrays, new = self.every[0], {}
        numbers = self.kind.room(sum(arrays[k].size for k in self.places))
        rest = aligned((sum(-(-arrays[k].nbytes//8) for k in self.rest),), np.int64)
        counters = self.kind.room(len(NAMES), dtype=np.int64)
        at = 0
        for k in self.places:
            new[id(arrays[k])] = numbers[at:at + arrays[k].size].reshape(arrays[k].shape)
            at += arrays[k].size
        at = 0
        for k in self.rest:
            size = -(-arrays[k].nbytes//8)
            own = rest[at:at + size].view(np.uint8)[:arrays[k].nbytes].view(arrays[k].dtype).reshape(arrays[k].shape)
            own[...] = arrays[k]
            new[id(arrays[k])] = own
            at += size
        new[id(arrays[self.counters])] = counters
        return rebuilt(self.first, new), numbers, rest, counters


@dataclass
class Made:
    """Runs of members: how each ended, and its recorder, arrays with a row for each."""

    outputs: Recorder
    status: np.ndarray
    steps: np.ndarray
    counters: np.ndarray
    ends: np.ndarray  # (members, m, d) where each ended
    blocks: bool      # whether each has blocks of its own
    again: int = 0    # members that were run again alone

    def arrays(self) -> Iterator[np.ndarray]:
        """Those with a row for each member."""
        yield from (self.status, self.steps, self.counters, self.ends)
        yield from (value for name, value in self.outputs._asdict().items() if self.kept(name, value))

    def kept(self, name: str, value: Any) -> bool:
        """Whether a field of the recorders is such an array."""
        return isinstance(value, np.ndarray) and name != "scratch" and (self.blocks or not name.startswith("block"))

    def room(self, n: int) -> "Made":
        """Zeros for n members."""
        def zeros(value: np.ndarray) -> np.ndarray:
            return np.zeros((n, *value.shape[1:]), value.dtype)

        own: dict[str, Any] = {name: zeros(value) for name, value in self.outputs._asdict().items()
                               if self.kept(name, value)}
        return Made(self.outputs._replace(**own), zeros(self.status), zeros(self.steps), zeros(self.counters),
                    zeros(self.ends), self.blocks)

    def put(self, numbers: Sequence[int] | np.ndarray, other: "Made") -> None:
        """Replace members by those of other runs."""
        for own, new in zip(self.arrays(), other.arrays(), strict=True):
            own[numbers] = new


_no_lanes: set[tuple[Any, ...]] = set()  # classes whose code does not compile for lanes
LONG = 50_000  # steps of runs with a component each that gain by code of their own
FEWEST, FEW = 32, 8  # members for whom code of lanes is made where it is asked for, and in long runs
PAYS = 5.0           # s of steps one after the other from which runs of a study gain by it


class NoLanes(Exception):
    """Code cannot be compiled for lanes."""


def worthwhile(spec: RunSpecification, y: np.ndarray) -> int:
    """Members from which runs of a study from rows y take lanes: seconds of compiling must pay."""
    return FEW if LINEAR*y.size*(spec.steps or 0) > PAYS else len(y) + 1


def fixed(spec: RunSpecification, pairs: Sequence[Pair], y: np.ndarray, *, blocks: bool, threads: int = 1,
          fewest: int = FEWEST) -> Made:
    """Runs by fixed steps from rows y (members, m, d), of components for all or for each. blocks: keep the statistics
    of blocks. fewest: members for whom code of lanes is made. Raises PluginError: the code cannot be compiled;
    KeyboardInterrupt."""
    if len(pairs) == 1:
        return _fixed(spec, pairs, y, blocks, threads, fewest)
    groups: dict[Any, list[int]] = {}
    for number, (formulated, integrator) in enumerate(pairs):
        groups.setdefault((scalars(integrator), scalars(formulated.problem)), []).append(number)
    many = width() > 1 and len(y) >= fewest
    parts = [part for group in groups.values() for part in (
        [group] if many or (spec.steps or 0) <= LONG else [[number] for number in group])]  # each has code of its own
    made: Made | None = None
    for part in parts:
        found = _fixed(spec, [pairs[k] for k in part], y[part], blocks, threads, fewest)
        if len(parts) == 1:
            return found
        made = made or found.room(len(y))
        made.put(part, found)
    assert made is not None
    return made


def _fixed(spec: RunSpecification, pairs: Sequence[Pair], y: np.ndarray, blocks: bool, threads: int, fewest: int
           ) -> Made:
    """Runs of components whose `scalars` are equal."""
    size, mark = width(), class_names(pairs[0][0].problem, pairs[0][1])
    if size > 1 and mark not in _no_lanes and compiles() and len(y) >= fewest:
        try:
            return of_kind(spec, pairs, y, Kind(size), blocks, threads)
        except NoLanes:
            _no_lanes.add(mark)
    return of_kind(spec, pairs, y, Kind(1), blocks, threads)


def of_kind(spec: RunSpecification, pairs: Sequence[Pair], y: np.ndarray, kind: Kind, blocks: bool, threads: int
            ) -> Made:
    """The same in blocks of a kind. Raises NoLanes."""
    runs = Runs(spec, pairs, y, kind, blocks)
    runs.all(threads)
    made, lost = runs.made(), np.flatnonzero(runs.lost())
    if lost.size:
        own = pairs if len(pairs) == 1 else [pairs[int(k)] for k in lost]
        made.put(lost, of_kind(spec, own, y[lost], Kind(1), blocks, threads))
        made.again = lost.size
    return made


class Runs:
    """Blocks of runs, their records, and the loop."""

    def __init__(self, spec: RunSpecification, pairs: Sequence[Pair], y: np.ndarray, kind: Kind, blocks: bool):
        assert spec.steps is not None
        self.spec, self.kind, self.count, self.formulated = spec, kind, len(y), pairs[0][0]
        self.components, self.steps = Components(kind, spec, pairs), spec.steps
        self.starts, self.numbers = kind.blocks(y), self.components.numbers()
        number, self.blocks = len(self.starts), blocks
        self.ends = Ends(np.zeros(number, np.int64), np.zeros(number, np.int64), np.zeros(number, np.uint64),
                         kind.room(number, len(NAMES), dtype=np.int64))
        plain = new_recorder(y.shape[1:], np.zeros((0, self.formulated.width)), spec.steps, spec.samples,
                             spec.statistics_every, observables=self.formulated.observables, blocks=blocks)
        self.records, self.lock, self.next, self.stop = self._records(plain, number), threading.Lock(), 0, False
        self.shape = y.shape[1:]

    def _records(self, plain: Recorder, number: int) -> Recorder:
        """Room for those of all blocks; where no blocks of statistics are kept, one is shared."""
        made: dict[str, Any] = plain._asdict()
        for name, array in made.items():
            if not isinstance(array, np.ndarray) or name == "scratch":
                continue
            rows = number if len(array) == 0 else 1
            if array.dtype != np.float64:
                made[name] = np.zeros((rows, *array.shape[1:]), dtype=array.dtype)
                continue
            made[name] = self.kind.room(rows, *array.shape[1:])
            fill = {"states": np.nan, "series": np.nan, "block_low": np.inf, "block_high": -np.inf}.get(name)
            if fill is not None:
                own = made[name] if self.kind.size == 1 else self.kind.numbers.out_of_lanes(made[name])
                own[...] = fill
        return Recorder(**made)

    def lost(self) -> np.ndarray:
        """(members,) which must be run again alone: they were struck, or their block failed."""
        if self.kind.size == 1:
            return np.zeros(self.count, dtype=bool)
        bits = (self.ends.alive[:, None] >> np.arange(self.kind.size, dtype=np.uint64)) & 1
        return ((bits == 0) | (self.ends.status != Status.OK)[:, None]).ravel()[:self.count]

    def made(self) -> Made:
        rows, ends = partial(self.kind.members, count=self.count), self.ends
        own: dict[str, Any] = {
            name: (rows(value) if self.blocks or not name.startswith("block") else
                   self.kind.members(value, 1)) if isinstance(value, np.ndarray) and name != "scratch" else value
            for name, value in self.records._asdict().items()}
        own |= {"scratch": np.zeros(self.formulated.width),
                "integrals": new_integrals(self.formulated.observables)}
        return Made(Recorder(**own), rows(ends.status).copy(), rows(ends.steps).copy(), rows(ends.counters).copy(),
                    rows(self.starts).copy(), self.blocks)

    def place(self) -> "Place":
        """What the thread that asks needs."""
        (problem, integrator, work), numbers, rest, counters = self.components.make()
        words, every = self.kind.words()
        scratch = self.kind.room(self.formulated.width)
        integrals = self.records.integrals._replace(last=self.kind.room(*self.records.integrals.last.shape))
        held = self.kind.held(numbers, rest, counters, words, every, self.kind.room(*self.shape))
        return Place(problem, integrator, work, self.records._replace(scratch=scratch, integrals=integrals), held)

    def taken(self, number: int) -> tuple[int, int]:
        """The next blocks, at most so many."""
        with self.lock:
            begin, self.next = self.next, min(self.next + number, len(self.starts))
            return begin, self.next

    def all(self, threads: int) -> None:
        """Run all blocks. Raises KeyboardInterrupt."""
        first = self.place()
        loop = loop_for(advance_members, first.integrator, first.problem, first.work, first.records, first.held)
        try:
            call = loop.ready(*self.arguments(first, first.held.rest.copy(), 0, 0, 0, 0))
        except Exception as error:  # of Numba, LLVM or a plugin: the same code for single members says what it is
            if self.kind.size > 1:
                raise NoLanes from error
            raise
        failed: list[BaseException] = []

        def work(place: Place | None = None) -> None:
            try:
                self.work(call, place or self.place())
            except BaseException as error:
                self.stop = True
                failed.append(error)

        helpers = [threading.Thread(target=work) for _ in range(min(threads, len(self.starts)) - 1)]
        for helper in helpers:
            helper.start()
        work(first)
        for helper in helpers:
            helper.join()
        if failed:
            raise failed[0]

    def arguments(self, place: "Place", rest: np.ndarray, first: int, last: int, begin: int, end: int
                  ) -> tuple[Any, ...]:
        return (place.integrator, place.problem, place.work, place.records, place.held, self.ends, self.starts,
                self.numbers, rest, self.formulated.invariant_columns, float(self.spec.step or 0.0), first, last, begin,
                end, self.spec.t_start)

    def work(self, call: Callable[..., None], place: "Place") -> None:
        """Blocks until there are none left, in one thread."""
        with Pieces(self.starts[0].size*self.kind.size) as pieces:
            rest = place.held.rest.copy()
            while not self.stop:
                begin, end = self.taken(max(1, pieces.steps//self.steps))
                if begin == end:
                    break
                done = 0
                while not self.stop:
                    last = self.steps if end - begin > 1 else min(done + pieces.steps, self.steps)
                    call(*self.arguments(place, rest, done, last, begin, end))
                    pieces.ended()
                    done = last
                    if done == self.steps or self.ends.status[begin] != Status.OK or not self.ends.alive[begin]:
                        break


@dataclass
class Place:
    """Components and memory of a thread."""

    problem: Any
    integrator: Any
    work: Any
    records: Recorder
    held: Held
