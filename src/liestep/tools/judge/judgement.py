"""Errors, orders, drift and work of states written elsewhere, by the definitions that hold for our own runs.

A file becomes the same `RunFile` as a run's: energy, momentum and residuals by the system's own `observe`, statistics
over its samples. All tables then come from the functions that make those of a study."""
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from liestep.compile import counters
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import sheet
from liestep.simulation.references.reference import (
    ReferenceSpecification,
    compute_reference,
    kept_reference,
    observed,
    specify_reference,
)
from liestep.simulation.runs.content import BLOCKS_SUFFIX
from liestep.simulation.runs.execution import BLOCKS
from liestep.simulation.runs.files import RunFile, is_current, read, require_free
from liestep.simulation.runs.legs import statistics_of
from liestep.simulation.runs.specification import start_of
from liestep.study.tables.drift import LEAST_SAMPLES, DriftEstimate
from liestep.study.tables.errors import StateError, error_fields, reference_floor, state_error
from liestep.study.tables.kinds.drift import NUMBERS, estimates, invariants, period_of
from liestep.study.tables.kinds.orders import orders_table
from liestep.study.tables.kinds.work import PAIR, WORK, at_equal_error
from liestep.study.tables.tables import filled, markdown
from liestep.tools.judge.statefile import Layout, StateFile, read_states, stand_ins

MOST_OUTPUTS, LEAST_OUTPUTS = 400, 50  # intervals at whose ends states are compared with the reference
START_TOLERANCE = 1e-12                # distance of the first state from the start, of the field's size in the file
OWN_WORK = "work"                      # observable that is subtracted from the energy of a system with forces
RUN = ("problem", "label", "file", "resolution", "step", "tolerance")
COLUMNS = {
    "errors": (*RUN, "t_end", "samples", "outputs", "error", "error_final", "floor", "steps", *counters.NAMES,
               "seconds", "energy_error_mean", "energy_error_max", "energy_error_mean_relative", "momentum_error_max",
               "momentum_scale"),
    "orders": ("problem", "integrator", "order_theory", "p", "u", "class", "passed", "window_h_min", "window_h_max",
               "points", "runs", "floor", "verdict", "energy_order", "energy_u", "energy_class"),
    "drift": (*RUN, "t_end", "steps", "invariant", "verdict", "reason", *NUMBERS, "period", "deciding_time"),
    "work": ("problem", "integrator", "error", *WORK, "seconds"),
}
UNCLEAR = ("too short", "not judged")
Judgement = dict[str, list[dict[str, Any]]]  # rows of the tables of COLUMNS
READABLE = {
    "errors": ("label", "resolution", "t_end", "outputs", "error", "error_final", "floor", "rhs_evaluations", "seconds",
               "energy_error_max", "momentum_error_max"),
    "orders": ("integrator", "order_theory", "p", "u", "class", "window_h_min", "window_h_max", "points", "verdict"),
    "drift": ("label", "resolution", "invariant", "verdict", "amplitude", "slope", "growth", "reason"),
    "work": COLUMNS["work"][1:],
}


@dataclass(frozen=True)
class Request:
    """What files are judged against. `own_start`: the first state of the first file replaces the preset's."""

    problem: str
    preset: str | None = None
    parameters: Mapping[str, Any] | None = None
    own_start: bool = False
    reference: Path | None = None  # file in which the reference is kept for the next call
    without_reference: bool = False
    facts: Mapping[str, Any] | None = None      # facts that hold for files that do not state them
    steps: Sequence[float] = ()                 # one for each file


def layout_of(problem: str, preset: str | None = None, parameters: Mapping[str, Any] | None = None) -> Layout:
    """Fields of the states of a problem. Raises InputError for unknown names and wrong parameters."""
    start = start_of(problem, preset=preset, parameters=parameters)
    facts = start.system.item
    found = formulate_standard(facts, start.parameters, start.initial)
    shapes = {name: values.shape for name, values in start.initial.items()}
    fields = {part.name: part for part in found.fields if part.name in shapes}
    optional = tuple(part.name for part in found.observables if part.name == OWN_WORK)
    moments = None if facts.moments is None else facts.moments(start.parameters)
    return Layout(f"{problem} with preset {preset or facts.default}", fields, shapes, optional,
                  stand_ins(fields, shapes, moments))


def judge(paths: Sequence[Path], request: Request) -> Judgement:
    """Judge files of one problem; several of one label with different steps give an order. Raises InputError: one
    sentence about a file or the request."""
    layout = layout_of(request.problem, request.preset, request.parameters)
    files = [read_states(path, layout) for path in paths]
    for file in files[1:]:
        if abs(file.time[-1] - files[0].time[-1]) > 1e-9*files[0].time[-1]:
            raise InputError(f"{file.path} ends at t = {file.time[-1]:g}, {files[0].path} at {files[0].time[-1]:g}:"
                             " judge them one by one")
    if request.steps and len(request.steps) != len(files):
        raise InputError(f"give one step for each file: {len(files)} files, {len(request.steps)} steps")
    start = start_of(request.problem, preset=request.preset, parameters=request.parameters)
    initial = {name: files[0].fields[name][0] for name in layout.fields} if request.own_start else None
    for file in files:
        _check_start(file, layout, request, start.parameters, initial or start.initial)
    spec = specify_reference(request.problem, preset=request.preset, parameters=request.parameters, initial=initial,
                             t_end=float(files[0].time[-1]), samples=_outputs(files, request) + 1)
    runs = [run_file(file, spec) for file in files]
    reference = None if request.without_reference else _reference(spec, request.reference)
    rows = []
    for number, (file, run) in enumerate(zip(files, runs, strict=True)):
        facts = {"label": "external", **(request.facts or {}), **file.facts}
        if request.steps:
            facts["step"] = float(request.steps[number])
        rows.append(_metrics(run, reference, spec, facts))
    table = pandas.DataFrame(rows)
    errors = [row | {"problem": request.problem, "label": row["integrator"]} for row in rows]
    ladders = (table.groupby("integrator")["step"].nunique() >= 2).any()
    return {"errors": errors, "orders": orders_table(table) if reference and ladders else [],
            "drift": _drift(errors, runs, spec), "work": _work(table) if reference else []}


def _check_start(file: StateFile, layout: Layout, request: Request, parameters: Mapping[str, Any],
                 wanted: Mapping[str, np.ndarray]) -> None:
    """The first state is on the manifold and the one that the reference starts from."""
    facts, first = sheet(request.problem), {name: file.fields[name][0] for name in layout.fields}
    try:
        facts.manifold(parameters, first)
    except InputError as error:
        raise InputError(f"{file.path}: {error}; write 17 digits") from None
    for name, values in first.items():
        gap = float(np.abs(values - wanted[name]).max())
        if gap > START_TOLERANCE*float(np.abs(file.fields[name]).max()):
            raise InputError(f"{file.path}: {name} at t = 0 is {gap:.3g} from the start of {layout.what}; start from"
                             " the numbers of `liestep export-reference`, or judge with --own-start")


def _outputs(files: Sequence[StateFile], request: Request) -> int:
    """Number of intervals at whose ends all files are compared with the reference: one that divides
    the samples of all of them."""
    common = gcd(*(file.time.size - 1 for file in files))
    if request.without_reference:
        return 1
    if request.reference is not None and request.reference.exists():
        kept = len(read(request.reference, ("time",))["time"]) - 1
        if common % kept:
            raise InputError(f"{request.reference} has {kept} intervals, which do not divide those of the files"
                             f" ({common} in common)")
        return kept
    best = next(k for k in range(min(common, MOST_OUTPUTS), 0, -1) if common % k == 0)
    if best < min(common, LEAST_OUTPUTS):
        raise InputError(f"the files have {common} intervals in common, of which no {LEAST_OUTPUTS} to {MOST_OUTPUTS}"
                         " equal parts can be made: write for example 1001 samples")
    return best


def _reference(spec: ReferenceSpecification, path: Path | None) -> RunFile:
    """The reference, kept in the file `path` if there is one."""
    if path is not None:
        if not is_current(path, spec):
            require_free(path, spec.sha256)
        return kept_reference(path, spec)
    content = compute_reference(spec)
    return RunFile(Path("reference"), content.attributes, {name: entry[1] for name, entry in content.variables.items()})


def run_file(file: StateFile, spec: ReferenceSpecification) -> RunFile:
    """The states with energy, momentum and residuals at every sample, as a run's file has them."""
    formulated, series = _observed(file, spec)
    variables = {"time": file.time, **{name: values for name, values in file.fields.items() if name != OWN_WORK}}
    seen = [part for part in formulated.observables if part.name != OWN_WORK]
    numbers, blocks = statistics_of(seen, series), min(BLOCKS, max((file.time.size - 1)//LEAST_SAMPLES, 1))
    for observable in seen:
        values = series[:, observable.columns]
        deviation = values - values[0] if observable.kind == "invariant" else values
        means = np.array([part.mean(axis=0) for part in np.array_split(deviation[1:], blocks)])
        variables[observable.name] = observable.shaped(values)
        # the mean is the first of a block's statistics
        variables[f"{observable.name}{BLOCKS_SUFFIX}"] = observable.shaped(means)[None]
    attributes = {
        "status": "ok", "message": "completed", "steps": int(file.facts.get("steps", file.time.size - 1)),
        "momentum_error_max": max((numbers[f"momentum_error_max_{axis}"] for axis in formulated.momentum_axes),
                                  default=nan), **formulated.attributes, **numbers}
    return RunFile(file.path, attributes, variables)


def _observed(file: StateFile, spec: ReferenceSpecification) -> tuple[Formulated, np.ndarray]:
    """(formulated problem at the start, observables at every sample). Raises InputError: the energy of a system with
    forces is asked for without their work."""
    facts, run = spec.run.sheet, spec.run
    first = formulate_standard(facts, run.parameters, run.initial)
    states = ({name: values[k] for name, values in file.fields.items()} for k in range(file.time.size))
    series = observed(first, [formulate_standard(facts, run.parameters, state).start for state in states])
    if not np.isfinite(series).all():
        bad = int(np.argmax(~np.isfinite(series).all(axis=1)))
        raise InputError(f"{file.path}: the energy cannot be evaluated at sample {bad} (t = {file.time[bad]:g})")
    if any(part.name == OWN_WORK for part in first.observables):
        series[:, 0] -= file.fields.get(OWN_WORK, nan)
    return first, series


def _metrics(run: RunFile, reference: RunFile | None, spec: ReferenceSpecification,
             facts: Mapping[str, Any]) -> dict[str, Any]:
    error, floor, scale = StateError(), nan, nan
    if reference is not None:
        every = (run["time"].size - 1)//(reference["time"].size - 1)
        thinned = replace(run, variables={name: values[::every] for name, values in run.variables.items()
                                          if not name.endswith(BLOCKS_SUFFIX)})
        error, floor = state_error(thinned, reference), reference_floor(reference, error_fields(run))
        scale = float(reference.attributes["energy_scale"])
    found, label = run.attributes, facts["label"]
    tolerance, step = facts.get("tolerance"), facts.get("step")
    steps = int(facts.get("steps") or (round(spec.run.t_end/step) if step else 0)) or None
    resolution = f"tol{tolerance:.6g}" if tolerance else f"h{step:.6g}" if step else run.path.stem
    return {
        "study": "judge", "problem": spec.run.problem, "problem_label": spec.run.problem, "integrator": label,
        "integrator_id": label, "integrator_label": label, "file": run.path.name, "order": facts.get("order"),
        "symmetric": facts.get("symmetric", False), "adaptive": tolerance is not None, "resolution": resolution,
        "step": step or (spec.run.t_end/steps if steps else nan), "steps": steps, "tolerance": tolerance,
        "t_end": spec.run.t_end, "members": 1, "status": "ok", "samples": run["time"].size,
        "outputs": None if reference is None else reference["time"].size, "error": error.error,
        **{f"error_{name}": value for name, value in error.parts.items()}, "error_final": error.final, "floor": floor,
        "floor_reference": floor, "seconds": facts.get("seconds", nan), "cost": nan,
        **{name: facts.get(name, nan) for name in counters.NAMES},
        **{name: value for name, value in found.items() if "_error_m" in name},
        "momentum_scale": found["momentum_scale"],
        "energy_error_mean_relative": found["energy_error_mean"]/scale if scale else nan}


def _work(table: pandas.DataFrame) -> list[dict[str, Any]]:
    """Work at equal error of every label that has at least two files."""
    return [dict(runs.iloc[0][list(PAIR)]) | row for _, runs in table.groupby("integrator", sort=False)
            for row in at_equal_error(runs, (*WORK, "seconds"))]


def _drift(rows: list[dict[str, Any]], runs: list[RunFile], spec: ReferenceSpecification) -> list[dict[str, Any]]:
    found = []
    for row, run in zip(rows, runs, strict=True):
        common, verdicts = {name: row[name] for name in (*RUN, "t_end", "steps")}, estimates(spec.run, run)
        for name in invariants(run):
            estimate = verdicts[name]
            if isinstance(estimate, DriftEstimate):
                values = {"period": period_of(run), **{key: getattr(estimate, key) for key in (
                    "verdict", "reason", "deciding_time", *NUMBERS)}}
            elif name == "energy" and np.isnan(run["energy"]).any():
                values = {"verdict": "not judged",
                          "reason": f"the work of the forces is needed: write it as {OWN_WORK!r} (J)"}
            else:
                values = {"verdict": "too short", "reason": estimate}
            found.append(common | {"invariant": name} | values)
    return found


def columns(name: str, judgement: Judgement) -> tuple[str, ...]:
    """Columns of one table; those of the errors end with error_<field> of each field of the state."""
    fields = {key for row in judgement["errors"] for key in row if key.startswith("error_")}
    return (*COLUMNS[name], *sorted(fields.difference(COLUMNS[name]))) if name == "errors" else COLUMNS[name]


def page(judgement: Judgement) -> str:
    """The tables to read, in Markdown, without empty columns; what is too short to have a verdict is one line."""
    parts = []
    unclear = Counter((row["verdict"], row["reason"]) for row in judgement["drift"] if row["verdict"] in UNCLEAR)
    for name, readable in READABLE.items():
        rows = [row for row in judgement[name] if row.get("verdict") not in UNCLEAR]
        rows.sort(key=lambda row: (row.get("label") or "", -(row.get("step") or 0.0)))
        shown = [column for column in readable if any(filled(row.get(column)) for row in rows)]
        parts += [f"## {name}\n", markdown(shown, rows)] if rows else []
    lines = [f"drift of {count} invariants is {verdict}: {reason}\n" for (verdict, reason), count in unclear.items()]
    return "\n".join(parts + lines)
