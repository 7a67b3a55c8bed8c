"""Runs that share a file: the members of an ensemble, made together where they are alike, and what their file contains.
"""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from liestep.compile.sources import black_box
from liestep.compile.translation import plugin_errors
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.many.blocks import FEWEST, LONG
from liestep.simulation.runs.batch import Batch
from liestep.simulation.runs.batches import Part, Repeated, Traced, together
from liestep.simulation.runs.content import (
    BLOCKS_SUFFIX,
    DENSE,
    Content,
    attributes_of,
    block_variables,
    series,
    statistics,
    suspects,
    times,
    warning_of_run,
)
from liestep.simulation.runs.execution import BLOCKS, build, starts_of, trajectory
from liestep.simulation.runs.specified import RunSpecification
from liestep.simulation.runs.starts import each
from liestep.simulation.tangents.rates import exponents

MOST_NUMBERS = 300  # of a state of runs that are made together, each with a component of its own
AT_ONCE = 128          # runs whose rows are held at a time: more are not faster
NUMBERS = 1_000_000    # of samples of runs by one component that are held at a time

Runs = tuple[Sequence[int], Callable[[], Batch]]  # their numbers, and what makes them


def gathered(spec: RunSpecification, batches: Iterable[tuple[Sequence[int], Batch]]) -> Content:
    """The content of the file of an ensemble from its members with their numbers: samples that all have, of each the
    statistics, and the attributes of the first one that failed, else of member 0."""
    assert spec.ensemble is not None
    content, worst, samples = Content(), None, spec.samples
    at = (True, spec.ensemble.size)  # whether the worst one has finished, and its number
    growths: list[np.ndarray] = []
    told: dict[int, str] = {}
    content.add("time", ("time",), np.zeros(0), "s", "time")
    for numbers, batch in batches:
        place, finished = np.array(numbers), batch.finished
        samples = min(samples, int(batch.samples.min()))
        for name, dims, *about in (*series(spec, batch, samples),
                                   *(block_variables(batch) if spec.samples > DENSE else ())):
            content.put(("member", spec.ensemble.size), place, (name, dims, *about), spec.samples)
        summary = statistics(batch)
        told |= {numbers[row]: text for row, text in warnings_of(batch, summary, lambda row: spec)}
        for name, values in summary.items():
            content.put(("member", spec.ensemble.size), place, (
                name, (), np.where(finished, values, np.nan), "1", f"{name} of each member"), finished=finished)
        growths.extend(batch.growth)
        row = int(np.argmin(finished))
        if (bool(finished[row]), numbers[row]) < at:
            worst, at = batch.member(row), (bool(finished[row]), numbers[row])
    assert worst is not None
    for name, (dims, values, about) in list(content.variables.items()):
        if name.endswith(BLOCKS_SUFFIX) and samples <= DENSE:
            del content.variables[name]
        elif "time" in dims[1:]:
            content.variables[name] = dims, np.ascontiguousarray(values[:, :samples]), about
    content.variables["time"] = ("time",), times(spec, worst, samples), content.variables["time"][2]
    if spec.exponents:
        rates = [max(one.rate for one in exponents(growth, spec.t_end)) for growth in growths]
        content.add("lyapunov", ("member",), np.array(rates), "1/s", "largest Lyapunov exponent of each member")
        for name, angles, units, long_name in spec.ensemble.coordinates():
            content.add(name, ("member",), angles, units, long_name)
    content.attributes |= attributes_of(spec, worst) | told_of(told, "member", spec.ensemble.size)
    return content


def warnings_of(batch: Batch, numbers: Mapping[str, Any], spec_of: Callable[[int], RunSpecification]
                ) -> Iterator[tuple[int, str]]:
    """Those rows of a batch that have a warning, and which."""
    for row in suspects(batch.formulated, numbers, batch.outputs.series[:, :, 0]):
        member = batch.member(row)
        for told in warning_of_run(spec_of(row), member, statistics(member)).values():
            yield int(row), told


def told_of(found: Mapping[int, str], lead: str, number: int) -> dict[str, str]:
    """The attribute of a file of several runs: how many have a warning, and the first one."""
    return {"warning": f"{len(found)} of {number} {lead}s have a warning; {lead} {min(found)}: {found[min(found)]}"
            } if found else {}


def members(spec: RunSpecification) -> Iterator[Runs]:
    """What gives the outcomes of the members of an ensemble, or of its shard (see `run_once`)."""
    repeated, first, blocks = Repeated(spec), 0, spec.reduced or spec.samples > DENSE
    room = max(AT_ONCE, NUMBERS//(spec.samples*repeated.formulated.start.size))
    for states in starts_of(spec, room if repeated.possible else 1):
        count = len(next(iter(states.values())))
        for k in range(0, count if repeated.possible else 0, room):
            yield range(first + k, first + min(k + room, count)), partial(
                repeated.run, {name: values[k:k + room] for name, values in states.items()}, blocks=blocks)
        starts = () if repeated.possible else [(spec, state) for state in each(states)]
        for numbers, run in in_groups(spec, repeated.formulated, len(starts), starts.__getitem__, blocks):
            yield [first + number for number in numbers], run
        first += count


def in_groups(spec: RunSpecification, like: Formulated, count: int, start: Callable[[Any], tuple[Any, ...]],
              blocks: bool, fewest: int | None = None, threads: int = 1) -> Iterator[Runs]:
    """What gives the outcomes of `count` runs with components of their own, those that are alike together. start: gives
    the arguments of `build` for each, or for a slice, or raises InputError. like: one of the components. fewest,
    threads: see `many.blocks.fixed`."""
    if (like.start.size > MOST_NUMBERS or like.shown or spec.exponents
            or black_box(like.problem)):  # what it raises is said of one run
        for number in range(count):
            yield (number,), lambda number=number: Batch.of(trajectory(*start(number)))  # type: ignore[misc]
        return
    room = max(AT_ONCE, NUMBERS//((spec.samples + BLOCKS*blocks)*like.start.size))
    kept: dict[str, Any] = {"blocks": blocks, "fewest": fewest, "threads": threads}
    ahead = [range(count)]
    while ahead:
        part, traced = ahead.pop(), None
        try:
            traced = Traced(start, part) if len(part) > FEWEST and 0 < (spec.steps or 0) <= LONG else None
        except InputError:  # one of the runs is refused: those far from it are still made at once
            ahead += part[len(part)//2:], part[:len(part)//2]
            continue
        except Exception:  # of code that takes plain numbers only
            pass
        for first in range(0, len(part), room if traced else AT_ONCE):
            some = part[first:first + (room if traced else AT_ONCE)]
            if traced:
                yield some, partial(traced.run, some, **kept)
                continue
            groups: list[tuple[tuple[Any, ...], dict[int, Part]]] = []
            for number in some:
                try:
                    with plugin_errors():
                        own = Part.of(*build(*start(number)))
                except InputError as error:
                    yield (number,), partial(_raised, error)
                    continue
                kind = own.kind
                if not any(kind == known for known, *_ in groups):
                    groups.append((kind, {}))
                next(parts for known, parts in groups if known == kind)[number] = own
            for _, parts in groups:
                yield [*parts], partial(together, spec, [*parts.values()], **kept)


def _raised(error: Exception) -> Batch:
    raise error
