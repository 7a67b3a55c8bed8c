"""Runs that end at an event, and runs that keep their nodes."""
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from liestep.catalogue import method
from liestep.core.status import Status
from liestep.errors import InputError
from liestep.runs.content import Content, carry_out
from liestep.runs.dense import ROWS, Between, require_partial_steps
from liestep.runs.estimate import require_memory
from liestep.runs.events import Until, event_function, first_crossing, locate
from liestep.runs.execution import Outcome, build, run_once
from liestep.runs.specification import RunSpecification

if TYPE_CHECKING:
    from liestep.runs.events import State

NEVER = "none"  # attribute `event` of a run in which it never occurs


def with_nodes(spec: RunSpecification) -> Content:
    """The content of a run with all its nodes: the rows of the state at every step.

    Raises:
        InputError: an adaptive method, one that needs earlier steps, or more nodes than fit the memory.
    """
    require_partial_steps(spec)
    if spec.ensemble is not None or spec.replicas > 1:
        raise InputError("dense output is of single runs; leave out ensemble and replicas")
    assert spec.steps is not None
    require_memory(replace(spec, samples=spec.steps + 1), "dense output keeps every step")
    content = carry_out(spec)
    nodes = _nodes(spec)
    content.add(ROWS, ("node", "row", "column"), nodes.outputs.states[:nodes.samples], "1",
                "rows of the state at every step")
    return content


def _nodes(spec: RunSpecification) -> Outcome:
    """A run that samples every step."""
    assert spec.steps is not None
    return run_once(replace(spec, samples=spec.steps + 1))


def until_event(spec: RunSpecification, until: Until) -> Content:
    """The content of a run that ends at the first event: its last sample is the state there.

    Attributes: `event_time` in s and `event`, "reached", or "none" where it never occurs in the run.

    Raises:
        InputError: no event, see `event_function`; one that holds at the start; a method without partial steps.
    """
    if spec.ensemble is not None or spec.replicas > 1 or spec.exponents:
        raise InputError("until is for single runs; leave out ensemble, replicas and exponents")
    function = event_function(until, _shapes(spec))
    found = (_adaptive if method(spec.integrator).adaptive else _fixed)(spec, function)
    if found is None:
        found = carry_out(spec)
        found.attributes |= {"event": NEVER}
    return found


def _shapes(spec: RunSpecification) -> dict[str, tuple[int, ...]]:
    """Shapes of the state fields and observables at one time."""
    formulated, _ = build(spec)
    shapes = {name: values.shape[1:] for name, values in formulated.to_fields(formulated.start[None]).items()}
    return shapes | {part.name: () if part.width == 1 else (part.width,) for part in formulated.observables}


def _fields(outcome: Outcome) -> dict[str, np.ndarray]:
    """State fields and observables at the samples."""
    found = dict(outcome.formulated.to_fields(outcome.outputs.states[:outcome.samples]))
    return found | {part.name: part.shaped(outcome.outputs.series[:outcome.samples, part.columns])
                    for part in outcome.formulated.observables}


def _fixed(spec: RunSpecification, function: "Callable[[State], float]") -> Content | None:
    require_partial_steps(spec)
    assert spec.steps is not None
    assert spec.step is not None
    require_memory(replace(spec, samples=spec.steps + 1), "an event looks at every step")
    outcome = _nodes(spec)
    node = first_crossing(function, _fields(outcome), outcome.samples)
    if node is None:
        return None
    between = Between(spec, outcome.outputs.states[:outcome.samples])

    def value(length: float) -> float:
        rows, values = between.after(node, length)
        return function({name: part[0] for name, part in between.fields(rows[None], values[None]).items()})

    length = locate(value, 0.0, spec.step)
    rows, values = between.after(node, length)
    stride = spec.steps//(spec.samples - 1)
    steps = max(node, 1)  # statistics need a step; those of a run that ends within its first are of that one
    content = carry_out(replace(spec, steps=steps, t_end=steps*spec.step, samples=2))
    end = node*spec.step + length
    kept = np.arange(0, node + 1, stride)
    seen = between.fields(np.concatenate([outcome.outputs.states[kept], rows[None]]),
                          np.concatenate([outcome.outputs.series[kept], values[None]]))
    _replace_samples(content, np.append(kept*spec.step, end), seen)
    content.attributes |= _ended(end) | {"steps": node + 1, "t_end": end}
    return content


def _adaptive(spec: RunSpecification, function: "Callable[[State], float]") -> Content | None:
    """A run that ends at t makes the steps of a longer one up to the last, which is a partial step to t."""
    outcome = run_once(spec)
    node = first_crossing(function, _fields(outcome), outcome.samples)
    if node is None:
        return None
    interval = spec.t_end/(spec.samples - 1)

    def value(time: float) -> float:
        last = _fields(run_once(replace(spec, t_end=time, samples=2, outputs=2)))
        return function({name: part[-1] for name, part in last.items()})

    low, high = max(node*interval, 1e-3*interval), (node + 1)*interval
    if (value(low) > 0.0) == (value(high) > 0.0):
        raise InputError(f"until: the event near t = {high:g} is not the same in the samples and in the steps; take"
                         " more samples")
    end = locate(value, low, high)
    content = carry_out(replace(spec, t_end=end))
    content.attributes |= _ended(end)
    return content


def _ended(end: float) -> dict[str, Any]:
    return {"event": "reached", "event_time": end, "status": Status.OK.name.lower(), "time_reached": end,
            "message": f"ended at the event, t = {end!r}"}


def _replace_samples(content: Content, times: np.ndarray, seen: Mapping[str, np.ndarray]) -> None:
    """Put other samples into a run's content."""
    for name, (dims, _, attributes) in list(content.variables.items()):
        if dims and dims[0] == "time":
            content.variables[name] = (dims, times if name == "time" else seen[name], attributes)
