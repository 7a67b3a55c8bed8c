"""Runs that end at an event, runs at times of one's own, and runs that keep their nodes."""
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from liestep.compile.status import Status
from liestep.errors import InputError, number_or_nan
from liestep.simulation.runs.content import Content, collected, origin
from liestep.simulation.runs.dense import ROWS, Between, require_nodes, require_partial_steps
from liestep.simulation.runs.estimate import memory, readable, require_memory
from liestep.simulation.runs.events import Event, event_function
from liestep.simulation.runs.execution import Progress, build, run_once
from liestep.simulation.runs.specification import RunSpecification
from liestep.simulation.runs.zeros import Occurrence, Search

NEVER, REACHED = "none", "reached"  # attribute `event` of a run


def with_nodes(spec: RunSpecification) -> Content:
    """The content of a run with all its nodes: the rows of the state at every step.

    Raises:
        InputError: an adaptive method, one that needs earlier steps, or more nodes than fit the memory.
    """
    require_nodes(spec)
    _require_single(spec, "dense output is")
    content = _carry_out(spec)
    content.add(ROWS, ("node", "row", "column"), nodes_of(spec).nodes, "1", "rows of the state at every step")
    return content


def observed(spec: RunSpecification, progress: Progress | None = None) -> Content:
    """The content of the file of a run with times of its own or an event: its samples there, and up to the event.

    Attributes of a run with an event: `event`, "reached" or "none"; `event_time` in s, NaN where there is none;
    `event_resolution` in s, the longest time between two points where it was looked for. Variables: `event_times` and
    `event_directions` of all that were found.

    Raises:
        InputError: no event, see `event_function`; a method without partial steps; more nodes than fit the memory.
    """
    _require_single(spec, "until and times are")
    search = None if spec.until is None else _searched(spec)
    between = search.between if search else nodes_of(spec)
    plain = replace(spec, until=None, times=None, samples=2 if spec.times is not None else spec.samples)
    if search is None or not search.complete:
        content = _carry_out(plain, progress)
        if spec.times is not None:
            reached = content.attributes["time_reached"]
            kept = spec.times[spec.direction*spec.times <= spec.direction*reached]
            _replace_samples(content, kept, between.fields(*between.at(kept)))
    else:
        content = _ended(spec, plain, between, search.found[-1], progress)
    content.attributes |= {name: value for name, value in origin(spec).items() if name not in ("t_end", "source_hash")}
    if search is not None:
        _add_events(content, search)
    return content


def times_from(text: str | None) -> list[float] | None:
    """Output times from a command line. Raises InputError."""
    if text is None:
        return None
    found = [number_or_nan(part) for part in text.split(",")]
    if not np.isfinite(found).all():
        raise InputError(f"--times {text[:40]!r} must be numbers with commas between them, for example 0,0.1,1")
    return found


def event_from(text: str | None, direction: int, count: int) -> Event | None:
    """An event from a command line. Raises InputError."""
    if text is None:
        return None
    found = re.fullmatch(r"(\w+)(?::(\d+(?:,\d+)*))?=(.+)", text)
    if found is None:
        raise InputError(f"--until {text[:40]!r} must be NAME:INDEX=VALUE, for example q:0,2=-0.5 or energy=1")
    name, index, value = found.groups()
    return Event((name, tuple(map(int, index.split(","))) if index else None, number_or_nan(value)), direction, count)


def _carry_out(spec: RunSpecification, progress: Progress | None = None) -> Content:
    return collected(spec, [run_once(spec, progress=progress)])


def _require_single(spec: RunSpecification, what: str) -> None:
    if spec.ensemble is not None or spec.replicas > 1 or spec.exponents:
        raise InputError(f"{what} for single runs; leave out ensemble, replicas and exponents")


def nodes_of(spec: RunSpecification, watch: Callable[[Between], bool] | None = None) -> Between:
    """The run with all its nodes, or those up to the step after which `watch` has seen enough."""
    if spec.steps is not None:
        spec = replace(spec, samples=spec.steps + 1)
        require_memory(spec, "dense output, times and events keep every step")
    kept: list[Between] = []

    def keep(nodes: np.ndarray, times: np.ndarray | None) -> bool:
        if nodes.nbytes > memory():
            raise InputError(f"every step is kept, and {len(nodes)} of them need {readable(nodes.nbytes)} of memory:"
                             " take a shorter run or a larger tolerance")
        if not kept:
            kept.append(Between(spec, nodes, times))
        kept[0].extend(nodes, times)
        return watch is not None and watch(kept[0])

    outcome = run_once(replace(spec, times=None, until=None), watch=keep, interpreted=watch is None)
    kept[0].outcome = outcome
    return kept[0]


def _searched(spec: RunSpecification) -> Search:
    """The run up to where its events are found."""
    require_partial_steps(spec)
    assert spec.until is not None
    formulated, _ = build(spec)
    shapes = {name: values.shape[1:] for name, values in formulated.to_fields(formulated.start[None]).items()}
    shapes |= {part.name: () if part.width == 1 else (part.width,) for part in formulated.observables}
    search = Search(event_function(spec.until, shapes), spec.until)
    nodes_of(spec, search.watch)
    search.finish()
    return search


def _ended(spec: RunSpecification, plain: RunSpecification, between: Between, last: Occurrence,
           progress: Progress | None) -> Content:
    """The content of a run that ends at an event. Its last sample is the state there; statistics are over the steps
    before it, or over the first step of a run that ends within it."""
    if spec.steps is not None:
        assert spec.step is not None
        steps = max(last.step, 1)
        content = _carry_out(replace(plain, steps=steps, t_end=spec.t_start + steps*spec.step, samples=2), progress)
        times = between.times[:last.step + 1:spec.steps//(spec.samples - 1)]
    else:
        content = _carry_out(replace(plain, t_end=last.time, samples=2), progress)
        times = spec.t_start + np.arange(spec.samples)*((last.time - spec.t_start)/(spec.samples - 1))
    times = times if spec.times is None else spec.times
    times = times[spec.direction*times < spec.direction*last.time]
    rows, values = between.inside(slice(last.step, last.step + 1), np.array([last.share]), last.whole)
    if len(times):
        before = between.at(times)
        rows, values = np.concatenate([before[0], rows[0]]), np.concatenate([before[1], values[0]])
    else:
        rows, values = rows[0], values[0]
    _replace_samples(content, np.append(times, last.time), between.fields(rows, values))
    content.attributes |= {"steps": last.step + 1, "t_end": last.time, "time_reached": last.time,
                           "status": Status.OK.name.lower(), "message": f"ended at the event, t = {last.time!r}"}
    return content


def _add_events(content: Content, search: Search) -> None:
    """What was found, as attributes and variables."""
    found = search.found
    reached = search.complete or (search.event.count is None and bool(found))
    told = found[-1 if search.event.count else 0].time if reached else np.nan
    content.attributes |= {"event": REACHED if reached else NEVER, "event_time": told, "events": len(found),
                           "event_resolution": search.resolution}
    if found:
        content.add("event_times", ("event",), np.array([one.time for one in found]), "s", "times of the events")
        content.add("event_directions", ("event",), np.array([one.direction for one in found], dtype=np.int32), "1",
                    "1 where the function of the event grows, -1 where it falls, 0 where it does neither")


def _replace_samples(content: Content, times: np.ndarray, seen: Mapping[str, np.ndarray]) -> None:
    """Put other samples into a run's content."""
    for name, (dims, _, attributes) in list(content.variables.items()):
        if dims and dims[0] == "time":
            content.variables[name] = (dims, times if name == "time" else seen[name], attributes)
