"""What a run's file contains: variables with dimensions and units, and attributes, with a warning where
residuals or the error of conserved energy are not small beside their own sizes: one rule for every run."""
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from liestep.compile.sources import derived_text, some_runs
from liestep.compile.status import Status
from liestep.compile.trees import made_once
from liestep.mechanics.contracts.formulated import JOINTS, Formulated, Joints, Observable
from liestep.mechanics.contracts.method import Method
from liestep.simulation.runs.execution import BLOCKS, LEAST_SAMPLES, Outcome, block_means, spread
from liestep.simulation.runs.specified import RunSpecification

if TYPE_CHECKING:
    with some_runs:
        from liestep.simulation.runs.batch import Batch

FORMAT = "2"  # version of the layout of files
DENSE = LEAST_SAMPLES*BLOCKS  # samples; an ensemble has blocks with more, so that a drift can be judged
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
    end: tuple[float, np.ndarray] | None = None  # time of the last sample and rows of its state, in memory only

    def add(self, name: str, dims: tuple[str, ...], values: np.ndarray, units: str, long_name: str) -> None:
        self.variables[name] = (dims, values, {"long_name": long_name, "units": units})

    def put(self, lead: tuple[str, int], place: np.ndarray | slice | list[int], variable: Variable, samples: int = 0,
            finished: np.ndarray | None = None) -> None:
        """Rows of a variable of all along the dimension `lead`, with room for so many samples: those that are not
        written are NaN. finished: which rows must have all values."""
        name, dims, values, *about = variable
        if name not in self.variables:
            shape = (samples, *values.shape[2:]) if "time" in dims else values.shape[1:]
            self.add(name, (lead[0], *dims), np.full((lead[1], *shape), np.nan), *about)
            if finished is not None:
                self.whole[name] = np.zeros(lead[1], dtype=bool)
        array = self.variables[name][1]
        if "time" in dims:
            array[place, :values.shape[1]] = values
        else:
            array[place] = values
        if finished is not None:
            self.whole[name][place] = finished


def collected(spec: RunSpecification, outcomes: list[Outcome]) -> Content:
    """The content of a run's file from its trajectories: of all its replicas."""
    first = outcomes[0]
    content = Content()
    content.add("time", ("time",), times(spec, first, first.samples), "s", "time")
    for made in (*series(spec, first, first.samples), *block_variables(first)):
        content.add(*made)
    if spec.replicas > 1:
        for part in first.formulated.error_fields:
            content.add(f"spread_{part.name}", ("time",), spread(outcomes, part.name), part.units,
                        f"largest distance of {part.name} between {spec.replicas} runs started 1 ulp apart")
    if spec.log_steps:
        content.add("accepted_time", ("step",), first.step_log[:, 0], "s", "end of each accepted step")
        content.add("accepted_step", ("step",), first.step_log[:, 1], "s", "size of each accepted step")
    if spec.exponents:
        _exponents(content, spec, first)
    known = {name: values for name, (over, values, _) in content.variables.items() if over[0] == "time"}
    content.attributes |= attributes_of(spec, first, known)
    if first.samples:
        content.end = float(content.variables["time"][1][-1]), first.outputs.states[first.samples - 1].copy()
    return content


def _exponents(content: Content, spec: RunSpecification, outcome: Outcome) -> None:
    """The growth of derivatives, and as attributes the largest Lyapunov exponent (1/s) with its standard error and, if
    all exponents are there, the largest sum of two that belong together."""
    with some_runs:
        from liestep.simulation.tangents.directions import span
        from liestep.simulation.tangents.rates import exponents, pair_sums

    growth = outcome.growth
    rates = exponents(growth, spec.t_end)
    content.add("growth", ("block", "tangent"), growth, "1",
                f"logarithm of the growth of orthonormal derivatives in each of {BLOCKS} equal parts of the run")
    largest = max(rates, key=lambda one: one.rate)
    content.attributes |= {"lyapunov": largest.rate, "lyapunov_uncertainty": largest.uncertainty,
                           "lyapunov_exponents": " ".join(f"{one.rate!r}" for one in rates),
                           "symplectic_error": outcome.symplectic_error}
    if spec.exponents == len(span(spec.sheet, spec.parameters, spec.initial)):
        content.attributes["lyapunov_pair_sum"] = float(np.abs(pair_sums([one.rate for one in rates])).max())


def times(spec: RunSpecification, outcome: "Outcome | Batch", samples: int) -> np.ndarray:
    """The start and k times the sampling interval: the same numbers as the loop's own times."""
    return spec.times_of(np.arange(samples)*outcome.outputs.stride)


def series(spec: RunSpecification, outcome: "Outcome | Batch", samples: int) -> Iterator[Variable]:
    """State fields and observables at the samples, of a batch with its rows first."""
    formulated, at = outcome.formulated, times(spec, outcome, samples)
    states = outcome.outputs.states[..., :samples, :, :]
    lead = states.shape[:-2]
    fields = {name: values.reshape(*lead, *values.shape[1:])
              for name, values in formulated.to_fields(states.reshape(prod(lead), *states.shape[-2:])).items()}
    if formulated.shown:
        each = [fields] if len(lead) == 1 else [{name: values[k] for name, values in fields.items()}
                                                for k in range(lead[0])]
        rows = [formulated.showing(at, one, spec.shown_before) for one in each]
        fields |= {name: np.stack([row[name] for row in rows]) if len(lead) > 1 else values
                   for name, values in rows[0].items()}
    for part in (*formulated.fields, *formulated.shown):
        yield part.name, ("time", *part.dims), fields[part.name], part.units, part.long_name
    for seen in formulated.observables:
        own = seen.components if seen.dimensions not in ((), ("xyz",)) else ()
        yield (seen.name, ("time", *seen.dimensions), seen.shaped(outcome.outputs.series[..., :samples, seen.columns]),
               seen.units, f"{seen.long_name}; components {', '.join(own)}" if own else seen.long_name)


def block_variables(outcome: "Outcome | Batch") -> Iterator[Variable]:
    """Mean, minimum and maximum of the deviations over BLOCKS equal parts, from every counted point. One variable per
    observable: each further one would take a third of a millisecond to write."""
    recorder = outcome.outputs
    blocks = np.stack((block_means(recorder), recorder.block_low, recorder.block_high), axis=-3)
    ends = blocks[..., 1:, :, :]
    ends[~np.isfinite(ends)] = np.nan
    for observable in outcome.formulated.observables:
        yield (f"{observable.name}{BLOCKS_SUFFIX}", ("statistic", "block", *observable.dimensions),
               observable.shaped(blocks[..., observable.columns]), observable.units,
               f"{', '.join(BLOCK_STATISTICS)} of the deviation of {observable.long_name} over each of {BLOCKS}"
               " equal parts of the run")


def statistics(outcome: "Outcome | Batch") -> dict[str, Any]:
    """Means, maxima and mean squares of the deviations over all counted points, numbers or of each row; the suffix
    _accepted is over accepted steps."""
    numbers: dict[str, Any] = {}
    for suffix, recorder in (("", outcome.outputs), ("_accepted", outcome.accepted)):
        if recorder is not None:
            means = (recorder.total/np.maximum(recorder.filled[..., 1], 1)[..., None, None]).T
            values = {"mean": means[:, 0], "max": recorder.largest.T, "mean_square": means[:, 1]}
            found = values if recorder.largest.ndim > 1 else {what: value.tolist() for what, value in values.items()}
            numbers |= {name + suffix: found[what][column]
                        for name, what, column in _statistics(outcome.formulated.observables)}
    return numbers


@made_once
def _statistics(observables: tuple[Observable, ...]) -> list[tuple[str, str, int]]:
    """Each with its name, what it is, and its column."""
    return [(name, what, part.columns.start + k) for part in observables for what in part.asked
            for k, name in enumerate(part.statistic(what))]


def limit_of(status: Status, spec: RunSpecification, zero: str = "") -> str:
    """What was zero beside a singularity that ended a run, or the chart that did, and where it ends; "" for other ends.
    """
    if zero:
        return f"with {zero} at zero, which has no size for errors: give an absolute tolerance, options={{'atol': ...}}"
    options = spec.options
    chart = options.get("chart") or options.get("coordinates") or IMPLIED_CHARTS.get(spec.method.formulation)
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
        "t_end": spec.t_end, "specification": spec.text,
        "run_sha256": spec.sha256, "source_hash": spec.source_hash, **({"derived_equations": text} if text else {}),
        **_reproducible(spec)}


def stopped(outcome: Outcome) -> str:
    """How a run ended before its end, in words."""
    return f"stopped after t = {outcome.time_reached:.6g}: {outcome.status.sentence}"


def message_of(outcome: Outcome, spec: RunSpecification) -> str:
    """How a run ended, with the remedy."""
    status, limit = outcome.status, limit_of(outcome.status, spec, outcome.zero)
    return (status.sentence if status == Status.OK else f"{stopped(outcome)}{limit and f'; it ran {limit}'}")


def largest_momentum_error(formulated: Formulated, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """The largest error of the conserved components of the momentum map; nothing where there is none."""
    kept = [numbers[f"momentum_error_max_{axis}"] for axis in formulated.momentum_axes]
    return {"momentum_error_max": reduce(np.maximum, kept)} if kept else {}


def warning_of_run(spec: RunSpecification, outcome: Outcome, numbers: Mapping[str, Any],
                   variables: Mapping[str, np.ndarray] | None = None) -> dict[str, str]:
    """What is off beyond its own size, and what the method says to the sizes of the sampled states. variables: time,
    fields and observables at the samples, where they are there."""
    @cache
    def seen() -> Mapping[str, np.ndarray]:
        made = series(spec, outcome, outcome.samples)
        return variables or {"time": times(spec, outcome, outcome.samples)} | {
            name: values for name, _, values, *_ in made}

    fields = variables or outcome.formulated.to_fields(outcome.outputs.states[:outcome.samples])
    sizes = {part.name: float(np.abs(fields[part.name]).max(initial=0.0)) for part in (
        outcome.formulated.error_fields if spec.method.warning is not Method.warning else ())}
    told = (warning_of(spec, outcome.formulated, numbers, seen) if outcome.samples else "",
            spec.method.warning(sizes) if any(sizes.values()) else None)
    return {"warning": "; ".join(filter(None, told))} if any(told) else {}


def attributes_of(spec: RunSpecification, outcome: Outcome, variables: Mapping[str, np.ndarray] | None = None
                  ) -> dict[str, Any]:
    numbers = statistics(outcome)
    return origin(spec) | {
        "status": outcome.status.name.lower(), "message": message_of(outcome, spec),
        "time_reached": outcome.time_reached, "steps": outcome.steps, **outcome.counters,
        "statistics_every": spec.statistics_every, "statistics_points": int(outcome.outputs.filled[1]),
        **numbers, **outcome.formulated.attributes, **largest_momentum_error(outcome.formulated, numbers),
        **({"zero": outcome.zero} if outcome.zero else {}),
        **(warning_of_run(spec, outcome, numbers, variables) if spec.ensemble is None else {})}


ALLOWED = 0.01  # of the own size of a residual or an energy; runs that are farther off have a warning
MOST = 20  # samples that are looked at
Seen = Callable[[], Mapping[str, np.ndarray]]  # makes times, fields and observables at the samples of a run


def warning_of(spec: RunSpecification, formulated: Formulated, numbers: Mapping[str, float], seen: Seen) -> str:
    """What is off by more than ALLOWED of its own size, by how much, and what helps; "" where nothing is. numbers:
    statistics over all steps. Sizes: of residuals what their observables declare, of joints the mechanism's length
    (directions: 1), of an energy the largest of kinetic and potential energy at the samples."""
    found: list[str] = []
    for part in formulated.observables:
        off = _largest(part, numbers)
        mechanical = _mechanical(part, seen()) if part.is_energy and off > 0.0 else np.zeros(1)
        if not off > _bound(part, np.abs(mechanical).max(initial=0.0) if part.is_energy else 0.0):
            continue
        if part.is_energy:
            kinetic = spec.sheet.kinetic_energy(spec.parameters, dict(seen()))
            terms = np.abs([*kinetic, *(mechanical - kinetic)])
            if off > ALLOWED*(size := float(terms[np.isfinite(terms)].max(initial=0.0))):
                found.append(f"{part.name} is off by up to {off:.3g}, {_share(off, size)}, the largest kinetic or"
                             " potential energy: take a smaller step or tolerance")
        elif part.size == JOINTS:
            assert formulated.joints is not None
            found += _of_joints(spec, formulated.joints, off, seen)
        else:
            found.append(f"{part.name} ({part.long_name}) is up to {off:.3g}, {_share(off, float(part.size or 0.0))}:"
                         " take a smaller step or tolerance, or an integrator that keeps it")
    return "; ".join(found)


def _share(off: float, size: float) -> str:
    return f"{100.0*off/size if size > 0.0 else np.inf:.3g} % of {size:.3g} (warned of above {100.0*ALLOWED:g} %)"


def _largest(part: Observable, numbers: Mapping[str, Any]) -> Any:
    """Of the deviations of what the exact motion keeps over all counted points and accepted steps; 0 without any."""
    if part.kind == "plain" or "max" not in part.asked:
        return 0.0
    kept = part.conserved or (True,)*part.width
    largest = [numbers[name] for one, flag in zip(part.statistic("max"), kept, strict=True) if flag
             for name in (one, f"{one}_accepted") if name in numbers]
    return reduce(np.maximum, largest, 0.0)


def _bound(part: Observable, energy: Any) -> Any:
    """Up to where nothing is said of it: more than half of an energy T + V is T or V."""
    return (0.5*ALLOWED*energy if part.is_energy else
            0.0 if part.size == JOINTS else np.inf if part.size is None else ALLOWED*float(part.size))


def suspects(formulated: Formulated, numbers: Mapping[str, np.ndarray], energies: np.ndarray) -> np.ndarray:
    """Numbers of those runs of a batch that may have a warning. energies: (n, samples) of the first observable."""
    suspicious, total = np.zeros(len(energies), dtype=bool), np.nanmax(np.abs(energies), axis=1, initial=0.0)
    for part in formulated.observables:
        suspicious |= _largest(part, numbers) > _bound(part, total)
    return np.flatnonzero(suspicious)


def _mechanical(part: Observable, seen: Mapping[str, np.ndarray]) -> np.ndarray:
    """T + V at the samples, where `part` may be less the work."""
    if "mechanical_energy" in seen:
        return seen["mechanical_energy"]
    return seen["energy"] + seen["work"] if part.name == "energy" and "work" in seen else seen["energy"]


def _of_joints(spec: RunSpecification, joints: Joints, off: float, seen: Seen) -> Iterator[str]:
    """The recorded residual is the largest of lengths and directions: which one it was, the samples tell."""
    length = joints.length(seen())
    if not off > ALLOWED*min(1.0, length):
        return
    kept = np.unique(np.linspace(0, len(seen()["time"]) - 1, MOST).round().astype(int))
    gap, turn = joints.gaps({name: values[kept] for name, values in seen().items()})
    gap, turn = (off, turn) if off > 2.0*turn or gap >= turn else (gap, off)
    known = spec.sheet.forms[spec.method.formulation].options.get("stabilisation")
    remedy = (f" or options={{'stabilisation': {known.choices[-1]!r}}}"
              if known and spec.options.get("stabilisation") == "none" else "")
    worst = f"{gap:.3g} m, {_share(gap, length)}" if gap >= turn*length else (
        f"{turn:.3g} (directions), {_share(turn, 1.0)}")
    if max(gap/length, turn) > ALLOWED:
        yield f"joints are off by up to {worst}: take a smaller step or tolerance{remedy}"
