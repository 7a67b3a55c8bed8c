"""Members side by side: components, states and records of a block, and what makes runs in blocks."""
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from liestep.compile.cache import class_names, compiles, has_code, loop_for
from liestep.compile.counters import NAMES, Counter
from liestep.compile.driver import NEARLY
from liestep.compile.lanes import width
from liestep.compile.pieces import LINEAR, Pieces
from liestep.compile.roles import Adaptive, Integrator, Problem, Work
from liestep.compile.status import Status
from liestep.compile.translation import plugin_errors
from liestep.compile.trees import arrays, with_arrays, with_numbers
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.many.loops import Ends, Held, advance_members
from liestep.simulation.runs.batch import Batch
from liestep.simulation.runs.execution import Recorder, for_loop, new_integrals, recorders, slope_weights
from liestep.simulation.runs.specified import RunSpecification

ALIGNED = 64  # bytes, of what registers are read from
Pair = tuple[Formulated, Integrator]  # a problem at a start, and the integrator's component
Varying = Mapping[int, np.ndarray]


def _by_id(*items: Any) -> dict[int, np.ndarray]:
    """The arrays of trees in order; those that parts share stand there once."""
    return {id(array): array for array in arrays(*items)}


WRITTEN = ("next_step", "last", "sizes", "moves")  # fields of adaptive integrators: their other arrays stay as they are


def written_in(item: Any) -> dict[int, np.ndarray]:
    """The arrays of an integrator that its steps write."""
    found: dict[int, np.ndarray] = {}
    for name, part in zip(getattr(item, "_fields", ()), item, strict=True) if isinstance(item, tuple) else ():
        found |= {id(part): part} if name in WRITTEN else written_in(part)
    return found


def scalars(item: Any) -> tuple[Hashable, ...]:
    """Numbers and classes of a tree, all that is no array of float64: members of equal ones may share registers."""
    if isinstance(item, np.ndarray):
        return item.shape, item.dtype.str, b"" if item.dtype == np.float64 else item.tobytes()
    return (type(item), *(scalars(part) for part in item)) if isinstance(item, tuple) else (item,)


def aligned(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> np.ndarray:
    """Zeros whose first number stands where a register's memory begins."""
    size = prod(shape)*8
    raw = np.zeros(size + ALIGNED, dtype=np.uint8)
    begin = -raw.__array_interface__["data"][0] % ALIGNED
    return raw[begin:begin + size].view(dtype).reshape(shape)


class Width:
    """How blocks of `size` members are laid out in arrays: with a last axis of lanes if they share registers."""

    def __init__(self, size: int):
        self.size = size
        self.held: type[Held] = Held
        self.start: type = np.ndarray
        if size > 1:
            from liestep.compile.lanes import jets, numbers
            from liestep.simulation.many.steps import LaneHeld

            self.numbers, self.held, self.start = numbers, LaneHeld, jets.LaneStart

    def room(self, *shape: int, dtype: DTypeLike = np.float64) -> np.ndarray:
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
        if array.dtype.kind != "V" and self.size > 1:  # the same for all in a block
            return np.repeat(array, self.size, axis=0)[:count]
        values = array if self.size == 1 else self.numbers.out_of_lanes(array)
        if self.size > 1:
            values = np.array(np.moveaxis(values, -1, 1), order="C").reshape(len(values)*self.size, *values.shape[1:-1])
        return values[:count]

    def words(self) -> tuple[np.ndarray, int]:
        """The words of this thread, and that of all lanes."""
        return (self.numbers.words(), (1 << self.size) - 1) if self.size > 1 else (np.ones(2, dtype=np.uint64), 1)


class Components:
    """Problem, integrator and workspace of members whose `scalars` are equal: one for all, or one for each. varied: by
    ids of arrays of a single problem, the numbers (members, ...) that members have there."""

    def __init__(self, kind: Width, spec: RunSpecification, pairs: Sequence[Pair], varied: Varying):
        self.kind, self.single = kind, len(pairs) == 1 and not varied
        trees = [self._tree(spec, pair) for pair in pairs]
        self.first = first = trees[0]
        self.every = [[*_by_id(*tree).values()] for tree in trees]
        counters = first[0].counters
        own = _by_id(first[0], first[2]) | written_in(first[1])
        shared = kind.size > 1
        self.varied = {k: varied[id(array)] for k, array in enumerate(self.every[0]) if id(array) in varied}
        self.places = [k for k, array in enumerate(self.every[0]) if array.dtype == np.float64 and (
            not shared or id(array) in own or any((one[k] != array).any() for one in self.every[1:]))]
        self.rest = [k for k, array in enumerate(self.every[0]) if array.dtype != np.float64 and array is not counters]
        self.counters = next(k for k, array in enumerate(self.every[0]) if array is counters)

    def _tree(self, spec: RunSpecification, pair: Pair) -> tuple[Any, Any, Any]:
        formulated, integrator = pair
        problem = formulated.problem
        if self.kind.size == 1 and self.single:
            problem, integrator = for_loop(formulated, integrator, spec.steps or 0)
        start: np.ndarray = formulated.start.copy().view(self.kind.start)
        return problem, integrator, integrator.workspace(with_numbers(formulated.problem), start)

    def numbers(self) -> np.ndarray:
        """(blocks, size) or (1, size): at the start."""
        columns = [self.varied.get(k, np.array([one[k] for one in self.every])) for k in self.places]
        count = self.kind.size if self.single else max(len(self.every), *map(len, self.varied.values()), 0)
        return self.kind.blocks(np.concatenate([np.zeros((count, 0)), *(np.broadcast_to(
            own.reshape(len(own), -1), (count, own[0].size)) for own in columns)], axis=1))

    def make(self) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """Components of a thread, and its numbers, whole numbers, and counters."""
        first, new = self.every[0], {}
        numbers = self.kind.room(sum(first[k].size for k in self.places))
        rest = aligned((sum(-(-first[k].nbytes//8) for k in self.rest),), np.int64)
        counters = self.kind.room(len(NAMES), dtype=np.int64)
        at = 0
        for k in self.places:
            new[id(first[k])] = numbers[at:at + first[k].size].reshape(first[k].shape)
            at += first[k].size
        at = 0
        for k in self.rest:
            size = -(-first[k].nbytes//8)
            own = rest[at:at + size].view(np.uint8)[:first[k].nbytes].view(first[k].dtype).reshape(first[k].shape)
            own[...] = first[k]
            new[id(first[k])] = own
            at += size
        new[id(first[self.counters])] = counters
        return with_arrays(self.first, lambda array: new.get(id(array), array)), numbers, rest, counters


_no_lanes: set[tuple[Hashable, ...]] = set()  # classes whose code does not compile for lanes
LONG = 50_000  # steps of runs with a component each that gain by code of their own
FEWEST, FEW = 32, 8  # members for whom code of lanes is made where it is asked for, and in long runs
MANY = 1000          # for whom that of an adaptive method is, which takes as long as so many of its runs
PAYS = 5.0           # s of steps one after the other, of all shards, from which runs of a study gain by it
SHARES = 16          # of all blocks, one of which each of several threads takes at a time


class NoLanes(Exception):
    """Code cannot be compiled for lanes."""


@plugin_errors()
def fixed(spec: RunSpecification, pairs: Sequence[Pair], y: np.ndarray, *, fewest: int | None = None, **kept: Any
          ) -> Batch:
    """Runs by fixed steps from rows y (members, m, d), of components for all or for each. fewest: members for whom code
    of lanes is made (default: as seconds of compiling pay for runs of a study). kept: of `of_kind`. Raises PluginError:
    the code cannot be compiled; KeyboardInterrupt."""
    if fewest is None:
        count = max(len(y), spec.ensemble.members if spec.ensemble else 0)  # y may be of a shard
        fewest = FEW if LINEAR*y[0].size*count*(spec.steps or 0) > PAYS else len(y) + 1
    groups: dict[Hashable, list[int]] = {}
    for number, (formulated, integrator) in enumerate(pairs if len(pairs) > 1 else ()):
        groups.setdefault((scalars(integrator), scalars(formulated.problem)), []).append(number)
    many = width() > 1 and len(y) >= fewest
    parts = [part for group in groups.values() for part in (
        [group] if many or (spec.steps or 0) <= LONG else [[number] for number in group])]  # each has code of its own
    made: Batch | None = None
    for part in parts if len(parts) > 1 else [range(len(y))]:
        batch = _fixed(spec, pairs if len(pairs) == 1 else [pairs[k] for k in part], y[part], fewest, kept)
        if len(parts) <= 1:
            return batch
        made = made or batch.room(len(y))
        made.put(part, batch)
    assert made is not None
    return made


def _fixed(spec: RunSpecification, pairs: Sequence[Pair], y: np.ndarray, fewest: int, kept: dict[str, Any]) -> Batch:
    """Runs of components whose `scalars` are equal."""
    size, mark = width(), class_names(pairs[0][0].problem, pairs[0][1])
    if size > 1 and mark not in _no_lanes and compiles() and len(y) >= fewest:
        try:
            return of_kind(spec, pairs, y, Width(size), **kept)
        except NoLanes:
            _no_lanes.add(mark)
    return of_kind(spec, pairs, y, Width(1), **kept)


def of_kind(spec: RunSpecification, pairs: Sequence[Pair], y: np.ndarray, kind: Width, threads: int = 1,
            varied: Varying | None = None, **kept: Any) -> Batch:
    """The same in blocks of a kind; varied: of `Components`; kept: of `Runs`. Raises NoLanes."""
    runs = Runs(spec, pairs, y, kind, varied or {}, **kept)
    runs.all(threads)
    made, lost = runs.made(), np.flatnonzero(runs.lost())
    if kind.size == 1:
        for k in np.flatnonzero(made.status != Status.OK).tolist():
            made.status[k] = pairs[k if len(pairs) > 1 else 0][0].ending(Status(made.status[k]), runs.starts[k])
        if spec.statistics_every > 1 and kept.get("ends"):  # only the last state was looked at
            spec, lost = replace(spec, statistics_every=1), np.flatnonzero(made.status == Status.NOT_FINITE)
    if lost.size:
        own = pairs if len(pairs) == 1 else [pairs[int(k)] for k in lost]
        rest = {key: values[lost] for key, values in (varied or {}).items()}
        made.put(lost, of_kind(spec, own, y[lost], Width(1), threads, rest, **kept))
        made.again = lost.size
    return made


@plugin_errors()
def adaptive(spec: RunSpecification, pairs: Sequence[Pair], y: np.ndarray, alone: Callable[..., Batch], *,
             threads: int = 1, fewest: int | None = None, **kept: Any) -> Batch:
    """Runs by steps of an adaptive method, as `fixed`; alone: makes them one after the other from rows, as those whose
    lanes could not go on, and all where nobody asks for lanes or few would wait for their code."""
    mark = class_names(pairs[0][0].problem, pairs[0][1])
    if width() == 1 or fewest is None or spec.stops or mark in _no_lanes or not compiles():
        return alone(y, **kept)
    runs = AdaptiveRuns(spec, pairs, y, Width(width()), {}, **kept)
    try:
        if not runs.all(threads, len(y) >= MANY):
            return alone(y, **kept)
    except NoLanes:
        _no_lanes.add(mark)
        return alone(y, **kept)
    made, lost = runs.made(), np.flatnonzero(runs.lost())
    if lost.size:
        made.put(lost, alone(y[lost], **kept))
        made.again = lost.size
    return made


class Runs:
    """Blocks of runs, their records, and the loop. blocks: keep the statistics of blocks, if reduced what
    `loops.reduce_blocks` says of them; ends: nothing but how each ended, and its last state as the last sample."""

    loop: Any = staticmethod(advance_members)

    def __init__(self, spec: RunSpecification, pairs: Sequence[Pair], y: np.ndarray, kind: Width,
                 varied: Varying, blocks: bool = False, ends: bool = False):
        self.only_ends, self.spec, self.kind, self.count, self.formulated = ends, spec, kind, len(y), pairs[0][0]
        self.components, self.steps = Components(kind, spec, pairs, varied), spec.steps or 0
        self.starts, self.numbers = kind.blocks(y), self.components.numbers()
        number, width, reduced = len(self.starts), self.formulated.width, blocks and spec.reduced and self.steps > 0
        self.blocks = blocks and not reduced
        weights, self.size = slope_weights(max(self.steps, 1), spec.statistics_every, spec.t_end)
        self.ends = Ends(np.zeros(number, np.int64), np.zeros(number, np.int64), np.zeros(number, np.uint64),
                         kind.room(number, len(NAMES), dtype=np.int64), kind.room(number*reduced, 3, width), weights)
        self.plain = recorders(spec, self.formulated, np.zeros((0, width)), blocks=self.blocks)
        self.records = self.room()
        self.lock, self.next, self.stop, self.shape = threading.Lock(), 0, False, y.shape[1:]

    def room(self) -> list[Recorder]:
        """For records of all blocks, or of one where only ends are kept."""
        return [self._records(one, 1 if self.only_ends else len(self.starts)) for one in self.plain if one]

    def _records(self, plain: Recorder, number: int) -> Recorder:
        """Room for those of so many blocks; where no blocks of statistics are kept, one is shared."""
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

    def made(self) -> Batch:
        rows, ends, spec = partial(self.kind.members, count=self.count), self.ends, self.spec
        steps, (outputs, *accepted) = rows(ends.steps), map(self._of_members, self.records)
        return Batch(self.formulated, outputs, accepted[0] if accepted else None, rows(ends.status),
                     spec.t_start + steps*(spec.step or 0.0), steps, rows(ends.counters), np.full(self.count, np.nan),
                     rows(ends.reduced)/np.array([[1.0], [1.0], [self.size]]))

    def _of_members(self, recorder: Recorder) -> Recorder:
        """Arrays with a row for each of them."""
        own: dict[str, Any] = {
            name: self.kind.members(value, self.count if self.blocks or not name.startswith("block") else 1)
            for name, value in recorder._asdict().items()
            if isinstance(value, np.ndarray) and name != "scratch" and not self.only_ends}
        if self.only_ends and recorder.states.shape[1]:
            own["states"] = self.kind.members(self.starts, self.count)[:, None]
        return recorder._replace(**own, scratch=np.zeros(self.formulated.width),
                                 integrals=new_integrals(self.formulated.observables))

    def place(self, first: bool = False) -> "Memory":
        """What the thread that asks needs."""
        (problem, integrator, work), numbers, rest, counters = self.components.make()
        scratch = self.kind.room(self.formulated.width)
        integrals = self.records[0].integrals
        integrals = integrals._replace(last=self.kind.room(*integrals.last.shape))
        records = self.room() if self.only_ends and not first else self.records
        records = [one._replace(scratch=scratch, integrals=integrals) for one in records]
        return Memory(problem, integrator, work, records, self.held(
            numbers, rest, counters, *self.kind.words(), self.kind.room(*self.shape)))

    def held(self, *own: Any) -> Any:
        return self.kind.held(*own)

    def taken(self, number: int) -> tuple[int, int]:
        """The next blocks, at most so many."""
        with self.lock:
            begin, self.next = self.next, min(self.next + number, len(self.starts))
            return begin, self.next

    def all(self, threads: int, make: bool = True) -> bool:
        """Run all blocks, unless there is no code yet and it shall not be made. Raises NoLanes, KeyboardInterrupt."""
        first, self.shares = self.place(first=True), 1 if threads == 1 else SHARES
        components = first.integrator, first.problem, first.work, *first.records, first.held
        if not make and not has_code(self.loop, *components):
            return False
        loop = loop_for(self.loop, *components)
        try:
            call = loop.ready(*self.arguments(first, first.held.rest.copy(), 0, 0, 0, 0))
        except Exception as error:  # of Numba, LLVM or a plugin: the same code for single members says what it is
            if self.kind.size > 1:
                raise NoLanes from error
            raise
        failed: list[BaseException] = []

        def work(place: Memory | None = None) -> None:
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
        return True

    def arguments(self, place: "Memory", rest: np.ndarray, first: int, last: int, begin: int, end: int
                  ) -> tuple[Any, ...]:
        return (place.integrator, place.problem, place.work, *place.records, place.held, self.ends, self.starts,
                self.numbers, rest, self.formulated.invariant_columns, *self.steps_of(first, last, begin, end))

    def steps_of(self, first: int, last: int, begin: int, end: int) -> tuple[Any, ...]:
        """The last arguments of the loop."""
        return float(self.spec.step or 0.0), first, last, begin, end, self.spec.t_start

    def work(self, call: Callable[..., Status], place: "Memory") -> None:
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
class Memory:
    """Components and memory of a thread."""

    problem: Problem
    integrator: Adaptive
    work: Work
    records: list[Recorder]
    held: Any


class AdaptiveRuns(Runs):
    """Blocks of lanes each of which has steps of its own."""

    def __init__(self, *args: Any, **kept: Any):
        from liestep.simulation.many import adaptive as lanes

        super().__init__(*args, **kept)
        self.lanes, self.loop = lanes, lanes.advance_adaptive_members

    def room(self) -> list[Recorder]:
        outputs, *accepted = super().room()
        return [outputs._replace(points=-1) if self.only_ends else outputs, *accepted]

    def held(self, *own: Any) -> Any:
        room = self.kind.room
        return self.lanes.AdaptiveHeld._make((*own, room(*self.shape), room(self.lanes.MEMORY), np.zeros(1, np.int64)))

    def steps_of(self, first: int, last: int, begin: int, end: int) -> tuple[Any, ...]:
        spec = self.spec
        return (spec.duration/(spec.outputs - 1), first > 0, begin, end, spec.t_start, spec.duration, spec.direction,
                spec.longest*NEARLY)

    def work(self, call: Callable[..., Status], place: "Memory") -> None:
        with Pieces(self.starts[0].size*self.kind.size) as pieces:
            rest, begin, end, on = place.held.rest.copy(), 0, 0, False
            while not self.stop:
                if begin == end:
                    begin, end = self.taken(max(1, len(self.starts)//self.shares))
                    if begin == end:
                        break
                place.held.left[0] = pieces.steps
                begin = call(*self.arguments(place, rest, int(on), 0, begin, end))
                on = begin < end
                pieces.ended()

    def made(self) -> Batch:
        batch, points = super().made(), self.spec.outputs - 1
        assert batch.accepted is not None
        batch.steps[:] = batch.counters[:, Counter.STEPS_ACCEPTED]
        batch.time_reached[:] = self.spec.t_start + self.spec.direction*self.spec.duration
        if not self.only_ends:
            batch.outputs.filled[:] = self.spec.samples, points + 1
            batch.accepted.filled[:, 1] = batch.steps + 1
        if self.blocks:  # the first step of a run whose steps are not known beforehand has a block of its own
            count = batch.accepted.block_count.shape[1]
            batch.outputs.block_count[:] = np.bincount(np.arange(points)*count//points, minlength=count)
            batch.accepted.block_count[:] = 0
            batch.accepted.block_count[:, 0] = np.minimum(batch.steps, 1)
            batch.accepted.block_count[:, -1] = np.maximum(batch.steps - 1, 0)
        return batch
