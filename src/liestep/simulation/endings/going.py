"""Runs that go on where another has ended, `data.liestep.go_on`: from its last sample, on its grid of steps, with what
it counted. Its functions are known as long as its data set is not read from a file."""
import json
from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.manifold import drifting
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.endings.between import ROWS
from liestep.simulation.endings.events import Event, event_of, events_of
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.numbers import finite
from liestep.simulation.runs.specification import STEP_TOLERANCE, specify
from liestep.simulation.runs.specified import Before, RunSpecification

if TYPE_CHECKING:
    import xarray

MAY_CHANGE = ("samples", "times", "until", "events", "control", "sample", "stops")
BOOKS = ("work", "impact_work")  # where rows do not hold them: of files and of runs with events
CALLED = "called"  # key of what a data set in memory holds beside its variables and attributes
AS_MADE = "as_made"  # likewise of its `contents` as a run or a file gave them


class Called:
    """A specification, whose functions no file holds, and time and rows of the last sample; in one process."""

    def __init__(self, spec: RunSpecification | None = None, end: tuple[float, np.ndarray] | None = None):
        self.spec = replace(spec, control=spec.control.kept()) if spec and spec.control else spec
        self.end = end

    def __reduce__(self) -> tuple[type["Called"], tuple[()]]:
        return Called, ()

    def __deepcopy__(self, memo: Mapping) -> "Called":
        return self


def contents(data: "xarray.Dataset") -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    """Attributes but for the title, and checksums of values, by which a change is seen."""
    return {**data.attrs, "title": ""}, [(name, one.dims, crc32(np.ascontiguousarray(one.values).data))
                                             for name, one in data.variables.items()]


def further(data: "xarray.Dataset", t_end: float, given: Mapping[str, Any]) -> RunSpecification:
    """The specification of the run that goes on to t_end; `given` are arguments of `simulate` that replace those of the
    run. Raises InputError, see `RunAccessor.go_on`."""
    told = json.loads(data.attrs["specification"])
    if data.attrs["status"] != "ok":
        raise InputError(f"the run failed, and nothing goes on from there: {data.attrs['message']}")
    if told["replicas"] > 1 or told["exponents"]:
        raise InputError("only single runs go on: this one was made with replicas or exponents")
    reached, end = float(data["time"][-1]), finite("t_end", t_end)
    if not (end - reached)*(told["t_end"] - told["t_start"]) > 0.0:
        raise InputError(f"t_end = {end!r} is not behind the end of the run, t = {reached!r}")
    if missing := [name for name in told["initial"] if name not in data]:
        raise InputError(f"{told['integrator']} does not show {missing[0]} of {told['problem']}, from which the run"
                         " would have to go on: take another integrator")
    called = _called(data, told, {name: value for name, value in given.items() if value is not None})
    steps, before = (None, Before(reached, 0, {})) if told["steps"] is None else _on_grid(told, reached, end)
    start = before.t_start + before.steps*((end - before.t_start)/(before.steps + (steps or 1)))
    ratio = abs(end - start)/called.get("sample", np.inf)
    if abs(ratio - round(ratio)) > STEP_TOLERANCE*ratio and not before.steps and called.get("times") is None:
        # instants of a control do not divide the run
        called["times"] = np.linspace(start, end, called.pop("samples", None) or told["samples"])
    spec = specification_of(data.attrs, steps=steps, t_start=start, t_end=end, before=before,
                            initial={name: data[name].values[-1] for name in told["initial"]}, **called)
    at, rows = getattr(data.encoding.get(CALLED), "end", None) or (np.nan, None)
    if ROWS in data and reached == data.attrs["time_reached"]:
        at, rows = reached, data[ROWS].values[-1]
    known = rows if at == reached and not spec.events else None
    shown = [part.name for part in build(spec)[0].shown] + [*BOOKS]*(known is None)
    before = replace(before, rows=known, shown={name: data[name].values[-1] for name in shown if name in data})
    return replace(spec, before=before if before.steps or before.shown or before.rows is not None else None)


def specification_of(attributes: Mapping[str, Any], **changed: Any) -> RunSpecification:
    """The specification that a data set says it was made from, some arguments changed, but for the functions of events
    and control; its start may be the drifted end of another run."""
    told = json.loads(attributes["specification"])
    facts, declared = sheet(told["problem"]), method(told["integrator"])
    span = {"t_start": 0.0, **told, **changed}
    begin, end = span["t_start"], span["t_end"]
    known = {*facts.forms[declared.on(facts).formulation].options, *declared.options}
    with drifting():
        return specify(told["problem"], told["integrator"], **{
            **{name: told.get(name) for name in ("steps", "tolerance", "t_end", "t_start", "parameters", "initial",
                                                  "max_step", "statistics_every", "log_steps")},
            "stops": sorted([stop for stop in told.get("stops", ()) if min(begin, end) < stop < max(begin, end)],
                            reverse=end < begin) or None,
            "options": {name: value for name, value in told["options"].items() if name in known},
            "before": Before(**told["before"]) if "before" in told else None, **changed})


def _on_grid(found: Mapping[str, Any], reached: float, end: float) -> tuple[int, Before]:
    """Number of steps, and what is before them: the run's grid where it ended on it, else the nearest step that is not
    longer. Raises InputError: t_end is off the grid."""
    held = found.get("before") or {"t_start": found["t_start"], "steps": 0}
    start, gone = held["t_start"], held["steps"]
    h = (found["t_end"] - start)/(gone + found["steps"])
    here, there = (reached - start)/h, (end - start)/h
    if found.get("events") or abs(here - round(here)) > STEP_TOLERANCE*here:
        return max(1, ceil((there - here)*(1.0 - 1e-12))), Before(reached, 0, {})
    if abs(there - round(there)) > STEP_TOLERANCE*there or round(there) == round(here):
        first = max(int(there), round(here) + 1)
        raise InputError(f"t_end = {end!r} is no whole number of steps of {abs(h)!r} from the run's start; the nearest"
                         f" are {start + first*h!r} and {start + (first + 1)*h!r}")
    return round(there) - round(here), Before(start, round(here), {})


def _called(data: "xarray.Dataset", found: Mapping[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Events and control of the run with what is left of their counts, those of `given` replaced. Raises InputError:
    they are functions, and not here."""
    spec = getattr(data.encoding.get(CALLED), "spec", None)
    for name in ("until", "events", "control"):
        if not found.get(name) or name in given:
            continue
        if name == "until" and not isinstance(found[name]["zero"], str):
            given[name] = Event(tuple(found[name]["zero"]), found[name]["direction"], found[name]["count"])
        elif spec is None:
            raise InputError(f"the run was made with {name}, which no file holds: give it again,"
                             f" go_on(t_end=..., {name}=...)")
        else:
            given[name] = spec.control.kept() if name == "control" else getattr(spec, name)
    if found.get("control") and "control" in given:
        given.setdefault("sample", found["control"]["sample"])
    until = event_of(given.get("until"))
    events = (until,) if until else events_of(given.get("events"))
    count = data.sizes.get("event", 0)
    numbers = data["event_numbers"].values if "event_numbers" in data else np.zeros(count, dtype=int)
    if count and data["event_times"].values[-1] == data["time"].values[-1] and (
            numbers[-1] < len(events) and events[numbers[-1]].reset is not None):
        raise InputError(f"the run ended at event {numbers[-1]}, in front of its reset: make a new run from behind it,"
                         " with t_start and initial")
    seen = np.bincount(numbers, minlength=len(events)).tolist()
    left = tuple(one if one.count is None or one.count <= n else replace(one, count=one.count - n)
                 for one, n in zip(events, seen, strict=False))
    return {**given, **({"until": left[0]} if until else {"events": left} if left else {})}
