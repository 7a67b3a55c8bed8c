"""What a run's file contains: variables with dimensions and units, and attributes. Used by the
writer and by `simulate`."""
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liestep.compile.sources import derived_text
from liestep.compile.status import Status
from liestep.compile.translation import without_folders
from liestep.errors import PluginError
from liestep.mechanics.contracts.formulated import Formulated, Observable
from liestep.simulation.runs.execution import BLOCKS, LEAST_SAMPLES, Outcome, Recorder, block_means, not_run, spread
from liestep.simulation.runs.specification import RunSpecification, dimension

FORMAT = "2"  # version of the layout of files
JOINTS_OFF = 1e-2  # largest residual of a row of a joint, m or 1, of which a run does not warn
ACCUMULATED = "accumulated"  # status of a run at whose end events come ever faster
BLOCKS_SUFFIX = "_blocks"  # of the variable that holds these of an observable, along its dimension `statistic`:
CHART_ENDS = {"exp": "2 pi", "cayley": "pi (used up to 174 degrees)", "cayley2": "2 pi (used up to 348 degrees)",
              "second_kind": "pi/2 about the second axis (used up to 87 degrees)", "alpha": "pi", "modified": "2 pi",
              "quaternion": "308 degrees in a step"}
# where no option names one
IMPLIED_CHARTS = {"lie_action": "exp", "cotangent_rotation": "exp", "quaternion_hamiltonian": "quaternion"}
BLOCK_STATISTICS = ("mean", "min", "max")
Variable = tuple[str, tuple[str, ...], np.ndarray, str, str]  # name, dimensions, values, units, meaning


@dataclass
class Content:
    """Variables: name -> (dimensions, values, attributes); attributes of the whole file. `whole`: of variables of a
    shard, the cells that must have all values."""

    variables: dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, str]]] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    whole: dict[str, np.ndarray] = field(default_factory=dict)

    def add(self, name: str, dims: tuple[str, ...], values: np.ndarray, units: str, long_name: str) -> None:
        self.variables[name] = (dims, values, {"long_name": long_name, "units": units})


def not_compiled(spec: RunSpecification, error: PluginError) -> Content:
    """The content of a run that cannot be made: no sample, and the reason."""
    content = collected(spec, [not_run(spec)]*(spec.ensemble.size if spec.ensemble else spec.replicas))
    content.attributes["message"] = without_folders(str(error))
    return content


def collected(spec: RunSpecification, outcomes: list[Outcome]) -> Content:
    """The content of a run's file from its trajectories: of all its replicas or members."""
    first = outcomes[0]
    content = Content()
    samples = first.samples if spec.ensemble is None else min(outcome.samples for outcome in outcomes)
    content.add("time", ("time",), times(spec, first, samples), "s", "time")
    if spec.ensemble is None:
        for made in series(spec, first, samples):
            content.add(*made)
        _blocks(content, [first], ())
        if spec.replicas > 1:
            for part in first.formulated.error_fields:
                content.add(f"spread_{part.name}", ("time",), spread(outcomes, part.name), part.units,
                            f"largest distance of {part.name} between {spec.replicas} runs started 1 ulp apart")
        if spec.log_steps:
            content.add("accepted_time", ("step",), first.step_log[:, 0], "s", "end of each accepted step")
            content.add("accepted_step", ("step",), first.step_log[:, 1], "s", "size of each accepted step")
    else:
        for of_members in zip(*(series(spec, outcome, samples) for outcome in outcomes), strict=True):
            name, dims, _, *about = of_members[0]
            content.add(name, ("member", *dims), np.stack([values for _, _, values, *_ in of_members]), *about)
        if samples > LEAST_SAMPLES*BLOCKS:
            _blocks(content, outcomes, ("member",))
        whole, found = np.array([one.status == Status.OK for one in outcomes]), [statistics(one) for one in outcomes]
        for name in found[0]:
            content.whole[name] = whole
            numbers = np.where(whole, [one[name] for one in found], np.nan)
            content.add(name, ("member",), numbers, "1", f"{name} of each member")
    if spec.exponents:
        _exponents(content, spec, outcomes)
    # the first failed member, else member 0
    worst = next((one for one in outcomes if one.status != Status.OK), first) if spec.ensemble else first
    content.attributes |= _attributes(spec, worst)
    return content


def _exponents(content: Content, spec: RunSpecification, outcomes: list[Outcome]) -> None:
    """The growth of derivatives, and as attributes the largest Lyapunov exponent (1/s) with its standard error and, if
    all exponents are there, the largest sum of two that belong together; of an ensemble the exponent of each member."""
    from liestep.simulation.tangents.rates import exponents, pair_sums

    if spec.ensemble is not None:
        rates = [max(one.rate for one in exponents(outcome.growth, spec.t_end)) for outcome in outcomes]
        content.add("lyapunov", ("member",), np.array(rates), "1/s", "largest Lyapunov exponent of each member")
        for name, angles, units, long_name in spec.ensemble.coordinates():
            content.add(name, ("member",), angles, units, long_name)
        return
    growth = outcomes[0].growth
    found = exponents(growth, spec.t_end)
    content.add("growth", ("block", "tangent"), growth, "1",
                f"logarithm of the growth of orthonormal derivatives in each of {BLOCKS} equal parts of the run")
    largest = max(found, key=lambda one: one.rate)
    content.attributes |= {"lyapunov": largest.rate, "lyapunov_uncertainty": largest.uncertainty,
                           "lyapunov_exponents": " ".join(f"{one.rate!r}" for one in found),
                           "symplectic_error": outcomes[0].symplectic_error}
    if spec.exponents == dimension(spec.sheet, spec.parameters, spec.initial):
        content.attributes["lyapunov_pair_sum"] = float(np.abs(pair_sums([one.rate for one in found])).max())


def times(spec: RunSpecification, outcome: Outcome, samples: int) -> np.ndarray:
    """The start and k times the sampling interval: the same numbers as the loop's own times."""
    interval = spec.step or spec.direction*spec.duration/(spec.outputs - 1)
    return spec.t_start + np.arange(samples)*outcome.outputs.stride*interval


def series(spec: RunSpecification, outcome: Outcome, samples: int) -> Iterator[Variable]:
    """State fields and observables at the samples."""
    formulated = outcome.formulated
    fields = formulated.to_fields(outcome.outputs.states[:samples])
    fields |= formulated.showing(times(spec, outcome, samples), fields)
    for part in (*formulated.fields, *formulated.shown):
        yield part.name, ("time", *part.dims), fields[part.name], part.units, part.long_name
    for seen in formulated.observables:
        own = seen.components if seen.dimensions not in ((), ("xyz",)) else ()
        yield (seen.name, ("time", *seen.dimensions), seen.shaped(outcome.outputs.series[:samples, seen.columns]),
               seen.units, f"{seen.long_name}; components {', '.join(own)}" if own else seen.long_name)


def _blocks(content: Content, outcomes: list[Outcome], of: tuple[str, ...]) -> None:
    """Mean, minimum and maximum of the deviations over BLOCKS equal parts, from every counted point; `of`: the
    dimension of several members. One variable per observable: each further one would take a third of a millisecond to
    write. Of an ensemble only where samples are so dense that a drift can be judged."""
    found = np.stack([np.stack((block_means(one.outputs), *(np.where(np.isfinite(ends), ends, np.nan)
                                for ends in (one.outputs.block_low, one.outputs.block_high)))) for one in outcomes])
    for observable in outcomes[0].formulated.observables:
        values = observable.shaped(found[..., observable.columns])
        content.add(f"{observable.name}{BLOCKS_SUFFIX}", (*of, "statistic", "block", *observable.dimensions),
                    values if of else values[0], observable.units,
                    f"{', '.join(BLOCK_STATISTICS)} of the deviation of {observable.long_name} over each of {BLOCKS}"
                    " equal parts of the run")


def statistics(outcome: Outcome) -> dict[str, float]:
    """Means, maxima and mean squares of the deviations over all counted points; the suffix _accepted is over accepted
    steps."""
    found = _recorder_statistics(outcome.outputs, outcome.formulated.observables)
    if outcome.accepted is not None:
        found |= {f"{name}_accepted": value
                  for name, value in _recorder_statistics(outcome.accepted, outcome.formulated.observables).items()}
    return found


def _recorder_statistics(recorder: Recorder, observables: tuple[Observable, ...]) -> dict[str, float]:
    points = max(int(recorder.filled[1]), 1)
    values = {"mean": recorder.total[0]/points, "max": recorder.largest, "mean_square": recorder.total[1]/points}
    return {name: float(value) for observable in observables for what in observable.asked
            for name, value in zip(observable.statistic(what), values[what][observable.columns], strict=True)}


def chart_of(status: Status, spec: RunSpecification) -> str:
    """In which chart a run was that left it, and where this ends; "" for all other runs."""
    options = spec.options
    implied = IMPLIED_CHARTS.get(spec.method.formulation)
    chart = options.get("chart") or options.get("coordinates") or implied
    if status != Status.CHART_LIMIT or chart not in CHART_ENDS:
        return ""
    return f"in the chart {chart}, which ends at a turn of {CHART_ENDS[chart]}"


def _reproducible(spec: RunSpecification) -> dict[str, str]:
    """Why nobody can make a file again from its specification; nothing where one can."""
    called = {"control": spec.called["control"] or {}} | {
        f"event {k}": one for k, one in enumerate(spec.called["events"])}
    if spec.system.content == spec.problem:
        called["black box"] = {"unknown": "no hash says what its function computes"}
    why = next((f"{name}: {one['unknown']}" for name, one in called.items() if "unknown" in one), "")
    return {"reproducible": f"not reproducible: {why}"} if why else {}


def origin(spec: RunSpecification) -> dict[str, Any]:
    """Attributes that say what a file was made from."""
    facts, declared = spec.sheet, spec.method
    size = {"tolerance": spec.tolerance} if spec.steps is None else {"step": abs(spec.step or 0.0)}
    text = derived_text(spec.system.module)
    return {
        "Conventions": "CF-1.11", "title": f"{facts.title} by {spec.integrator}",
        "source": f"liestep {declared.summary}", "history": "written by liestep from the specification below",
        "references": f"{facts.citation}; {declared.citation}", "format": FORMAT, "problem": spec.problem,
        "integrator": spec.integrator, **size,
        "t_end": spec.t_end, "specification": json.dumps(spec.canonical(), sort_keys=True),
        "run_sha256": spec.sha256, "source_hash": spec.source_hash, **({"derived_equations": text} if text else {}),
        **_reproducible(spec)}


def stopped(outcome: Outcome) -> str:
    """How a run ended before its end, in words."""
    return f"stopped after t = {outcome.time_reached:.6g}: {outcome.status.sentence}"


def message_of(outcome: Outcome, spec: RunSpecification) -> str:
    """How a run ended, with the remedy."""
    status, chart = outcome.status, chart_of(outcome.status, spec)
    return (status.sentence if status == Status.OK else f"{stopped(outcome)}{chart and f'; it ran {chart}'}")


def largest_momentum_error(formulated: Formulated, numbers: Mapping[str, float]) -> dict[str, float]:
    """The largest error of the conserved components of the momentum map; nothing where there is none."""
    kept = [numbers[f"momentum_error_max_{axis}"] for axis in formulated.momentum_axes]
    return {"momentum_error_max": max(kept)} if kept else {}


def _warning(spec: RunSpecification, outcome: Outcome) -> dict[str, str]:
    """What the method says to the sizes of the sampled states; or that joints are off by more than JOINTS_OFF."""
    off = statistics(outcome).get("joint_error_max", 0.0)
    if off > JOINTS_OFF and "stabilisation" in spec.options:
        known = spec.sheet.forms[spec.method.formulation].options["stabilisation"].choices
        remedy = (f" or options={{'stabilisation': {known[-1]!r}}}" if spec.options["stabilisation"] == "none" else "")
        return {"warning": f"joints are off by up to {off:.3g} (m, of directions 1; warned of above {JOINTS_OFF:g}):"
                           f" take a smaller step or tolerance{remedy}"}
    fields = outcome.formulated.to_fields(outcome.outputs.states[:outcome.samples])
    sizes = {part.name: float(np.abs(fields[part.name]).max(initial=0.0)) for part in outcome.formulated.error_fields}
    found = spec.method.warning(sizes) if any(sizes.values()) else None
    return {} if found is None else {"warning": found}


def _attributes(spec: RunSpecification, outcome: Outcome) -> dict[str, Any]:
    numbers = statistics(outcome)
    return origin(spec) | {
        "status": outcome.status.name.lower(), "message": message_of(outcome, spec),
        "time_reached": outcome.time_reached, "steps": outcome.steps, **outcome.counters,
        "statistics_every": spec.statistics_every, "statistics_points": int(outcome.outputs.filled[1]),
        **numbers, **outcome.formulated.attributes, **largest_momentum_error(outcome.formulated, numbers),
        **_warning(spec, outcome)}
