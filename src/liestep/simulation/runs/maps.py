"""Runs of a problem over values of its parameters: a map, kept in shards of at most MOST cells, one file each.

A shard is a run with its own specification: the lists or ranges of the map, the number of its first cell and how many
there are. Each cell is the run that a problem with these parameters would be, with the same bits; a cell that cannot
be made, or stops early, says so, and the others are whole."""
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.method import Entry
from liestep.mechanics.contracts.sheet import Fields, Options, Parameter, Parameters, Sheet
from liestep.mechanics.contracts.varied import Varied, of_member
from liestep.simulation.catalogue import system_entry
from liestep.simulation.runs.specification import CheckedStart, specify, start_in
from liestep.simulation.runs.specified import RunSpecification
from liestep.simulation.runs.starts import MOST

TOGETHER = ("moments", "inertia", "index", "integer")  # rules of numbers that others, or shapes, depend on
MOST_CELLS = 1_000_000   # of a map, or members of an ensemble


@dataclass(frozen=True)
class ParameterMap:
    """Values of parameters. Names are those of scalar parameters, or of a number of an array: "gravity.2". A grid has
    all combinations of `values`, the last parameter fastest. A sample (`count` > 0) has so many points of a Latin
    hypercube, `values` are the ends of the ranges: each of `count` equal parts of each range holds one point."""

    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    count: int = 0
    seed: int = 0
    spans: tuple[tuple[float, float, int] | None, ...] = ()  # of a grid: first, last, number of equally spaced values

    @property
    def is_grid(self) -> bool:
        return self.count == 0

    @property
    def cells(self) -> int:
        """Number of all cells."""
        return self.count or prod(map(len, self.values))

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of values of a grid."""
        return tuple(map(len, self.values))

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the coordinates in files and of the columns in tables."""
        return tuple(f"parameter_{name.replace('.', '_')}" for name in self.names)

    def points(self, first: int, count: int) -> np.ndarray:
        """Values (count, parameters) of the cells from number `first` on."""
        if self.is_grid:
            places = np.unravel_index(np.arange(first, first + count), self.shape)
            return np.stack([np.array(values)[place] for values, place in zip(self.values, places, strict=True)], -1)
        from scipy.stats import qmc  # half a second to import

        drawn = qmc.LatinHypercube(len(self.names), seed=np.random.Generator(np.random.PCG64(self.seed)))
        low, high = np.array(self.values).T
        return (low + (high - low)*drawn.random(self.count))[first:first + count]

    def canonical(self) -> dict[str, Any]:
        values: dict[str, Any] = {name: list(entry) for name, entry in zip(self.names, self.values, strict=True)}
        for name, span in zip(self.names, self.spans, strict=False):
            if span is not None and span[2] > MOST:  # each shard says it
                values[name] = dict(zip(("from", "to", "count"), span, strict=True))
        return {"grid": values} if self.is_grid else {"sample": {"ranges": values, "count": self.count,
                                                                 "seed": self.seed}}

    def __str__(self) -> str:
        sizes = [f"{name} ({len(entry)} values)" if self.is_grid else f"{name} ({entry[0]:g} to {entry[1]:g})"
                 for name, entry in zip(self.names, self.values, strict=True)]
        return f"{self.cells} cells over {', '.join(sizes)}"


@dataclass(frozen=True)
class Request:
    """What a problem of a study says, before parameters of a map are put in."""

    preset: str | None
    parameters: Parameters
    initial: Fields
    options: Options  # of the integrator

    def start(self, system: Entry[Sheet], names: tuple[str, ...], point: np.ndarray) -> CheckedStart:
        """The start at a point of the map, or at points (parameters, n). Raises InputError: parameters that make no
        system."""
        facts, own = system.item, dict[str, np.ndarray]()
        given = {**facts.presets[self.preset or facts.default].parameters, **self.parameters}
        for name, value in zip(names, point, strict=True):
            key, _, number = name.partition(".")
            if key not in own:
                own[key] = np.array([given[key] if number else 0.0]*value.size, dtype=np.float64)
            own[key].reshape(value.size, -1)[:, int(number or 0)] = value
        varied = {key: Varied(values) for key, values in own.items()}
        given |= varied if point.ndim > 1 else of_member(varied, 0)
        return start_in(system, self.preset, given, self.initial)


@dataclass(frozen=True, kw_only=True)
class ShardSpecification(RunSpecification):
    """Cells `first` to `first + count - 1` of a map. Parameters and start are those of the first values,
    which the estimate of sizes needs."""

    map: ParameterMap = field(default_factory=lambda: ParameterMap((), ()))
    request: Request = field(default_factory=lambda: Request(None, {}, {}, {}))
    first: int = 0
    count: int = 1

    @property
    def trajectories(self) -> int:
        return self.count

    @property
    def modules(self) -> tuple[str, ...]:
        """Starts of cells are made by the preset, which may be one of a paper."""
        return (*super().modules, "liestep.simulation.runs.shards",
                self.sheet.presets[self.request.preset or self.sheet.default].initial.__module__)

    def _values(self) -> list[tuple[str, ArrayLike]]:
        own = {entry.name for entry in fields(self)} - {entry.name for entry in fields(RunSpecification)}
        values = {name: value for name, value in super()._values() if name not in own | {"points"}}
        return sorted({**values, "map": {**self.map.canonical(), "first": self.first, "count": self.count,
                                        "preset": self.request.preset, "initial": {
            name: np.asarray(value).tolist() for name, value in sorted(self.request.initial.items())}}}.items())

    @cached_property
    def points(self) -> np.ndarray:
        """Values (count, parameters) of the map's parameters."""
        return self.map.points(self.first, self.count)

    def cell(self, number: int | slice) -> RunSpecification:
        """The run of cell `number` of the shard, or those of a slice. Raises InputError where there is none."""
        start = self.request.start(self.system, self.map.names, self.points[number].T)
        shapes = {name: values.shape for name, values in start.initial.items()}
        if shapes != {name: values.shape for name, values in self.initial.items()}:
            raise InputError("the state has another shape than that of the map's first cell")
        return specify(self.problem, self.integrator, steps=self.steps, tolerance=self.tolerance, t_end=self.t_end,
                       options=self.request.options, samples=self.samples,
                       outputs=self.outputs if self.steps is None else None, statistics_every=self.statistics_every,
                       max_step=self.max_step, stops=self.stops or None, start=start)


def shards(spec: RunSpecification, given: ParameterMap, request: Request) -> Iterator[ShardSpecification]:
    """The specifications of a map, from that of its first cell."""
    common = {entry.name: getattr(spec, entry.name) for entry in fields(RunSpecification)}
    for first in range(0, given.cells, MOST):
        yield ShardSpecification(**common, map=given, request=request, first=first,
                                 count=min(MOST, given.cells - first))


def ensemble_shards(spec: RunSpecification) -> Iterator[RunSpecification]:
    """The specifications of a run: several of an ensemble of more members than share a file, else itself. Raises
    InputError: too many members, said before they take memory."""
    if spec.ensemble and spec.ensemble.members > MOST_CELLS:
        raise InputError(f"the ensemble has {spec.ensemble.members} members; at most {MOST_CELLS} are allowed")
    for part in spec.ensemble.shards(spec.reduced) if spec.ensemble else [None]:
        yield spec if part is spec.ensemble else replace(spec, ensemble=part)


def first_of(spec: RunSpecification) -> int:
    """Number of the first cell or member of a shard; 0 of anything else."""
    if isinstance(spec, ShardSpecification):
        return spec.first
    return spec.ensemble.first if spec.ensemble else 0


def rows_of(spec: RunSpecification) -> int:
    """Number of rows of the file's trajectories in tables: one for each cell of a map, one for all of an ensemble, and
    one for all of what is reduced, in the place of the first shard."""
    if isinstance(spec, ShardSpecification) and not spec.reduced:
        return spec.count
    return int(first_of(spec) == 0)


def require_map(given: ParameterMap, problem: str, request: Request) -> CheckedStart:
    """Check a map and return the start of its first values. Each value is checked alone, and with the first values of
    the others at the ends of lists of TOGETHER: what cannot be made beyond that is said by its cell. Raises InputError:
    one sentence: what is wrong, and what is allowed."""
    if not given.names:
        raise InputError("there is no parameter: give at least one name with a list of values")
    for name, values in zip(given.names, given.values, strict=True):
        if not values:
            raise InputError(f"{name} must not be empty")
        if twice := [value for value, times in Counter(values).items() if times > 1]:
            raise InputError(f"{name}: {twice[0]:g} appears twice")
    if given.cells > MOST_CELLS:
        raise InputError(f"there are {given.cells} cells; at most {MOST_CELLS} are allowed")
    system = system_entry(problem)
    facts = system.item
    for name, values in zip(given.names, given.values, strict=True):
        _require_values(name, values, facts, request)
    middle = [values[0] for values in given.values]
    start = request.start(system, given.names, np.array(middle))
    for axis, values in enumerate(given.values):
        if facts.parameters[given.names[axis].partition(".")[0]].rule not in TOGETHER:
            continue
        for value in {min(values), max(values)} - {middle[axis]}:
            other = request.start(system, given.names, np.array([*middle[:axis], value, *middle[axis + 1:]]))
            if any(entry.shape != start.initial[key].shape for key, entry in other.initial.items()):
                raise InputError(f"{given.names[axis]} changes the shape of the state; make problems of their own")
    return start


def _require_values(name: str, values: tuple[float, ...], facts: Sheet, request: Request) -> None:
    """Raises InputError for a name that is no number of the parameters, or a value that its rule forbids."""
    key, _, number = name.partition(".")
    if key not in facts.parameters:
        raise InputError(unknown("parameter", key, facts.parameters))
    rule = facts.parameters[key]
    if rule.rule == "choice":
        raise InputError(f"{key} is a choice of {', '.join(rule.choices)}; allowed are parameters that are numbers")
    given = {**facts.presets[request.preset or facts.default].parameters, **request.parameters}
    shape = np.shape(given.get(key, 0.0))
    if not number and key in request.parameters:
        raise InputError(f"{key} stands under parameters too; give it once")
    if not shape and number:
        raise InputError(f"{key} is one number; leave out .{number}")
    if shape and not (number.isdigit() and int(number) < prod(shape)):
        raise InputError(f"{key} has {prod(shape)} numbers; choose one of them, {key}.0 to {key}.{prod(shape) - 1}")
    if rule.rule not in ("moments", "inertia"):
        Parameter("1", "", ("k",), rule.rule).check(name, np.array(values), {})
