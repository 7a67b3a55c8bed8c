"""Errors, orders, drift and work of states written elsewhere, by the definitions that hold for our own runs: what
`rotation-bench judge --problem` asks for (the entry point `rotation_bench.problems` of pyproject.toml).

A file becomes the same `RunFile` as a run's: energy, momentum and residuals by the system's own `observe`, statistics
over its samples. All tables then come from the functions that make those of a study."""
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import netCDF4
import numpy as np
import pandas

from liestep.compile import counters
from liestep.errors import InputError
from liestep.files.textfiles import TableRow
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.sheet import Fields, Parameters
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.endings.legs import statistics_of
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
from liestep.simulation.runs.opening import require_openable
from liestep.simulation.runs.specification import start_of
from liestep.study.tables.drift import LEAST_SAMPLES, DriftEstimate
from liestep.study.tables.errors import StateError, error_fields, reference_floor, state_error
from liestep.study.tables.kinds.drift import NUMBERS, estimates, invariants, period_of
from liestep.study.tables.kinds.orders import orders_table
from liestep.study.tables.kinds.work import PAIR, WORK, at_equal_error

if TYPE_CHECKING:
    from rotation_bench.states import StateFile

OWN_WORK = "work"  # observable that is subtracted from the energy of a system with forces
RUN = ("problem", "label", "file", "resolution", "step", "tolerance")
Tables = dict[str, list[TableRow]]


class Problem:
    """A problem as `rotation_bench.judgement.Problem` describes it. Raises InputError: unknown names, or wrong
    parameters."""

    refused = (InputError,)

    def __init__(self, problem: str, preset: str | None = None, parameters: Parameters | None = None) -> None:
        start = start_of(problem, preset=preset, parameters=parameters)
        self.system, self.parameters, self.initial = start.system.item, start.parameters, start.initial
        self.chosen: dict[str, Any] = {"problem": problem, "preset": preset, "parameters": parameters}
        self.what = f"{problem} with preset {preset or self.system.default}"
        formulated = formulate_standard(self.system, self.parameters, self.initial)
        self.fields = {field.name: field for field in formulated.fields if field.name in self.initial}
        self.optional = tuple(observable.name for observable in formulated.observables if observable.name == OWN_WORK)
        self.moments = None if self.system.moments is None else self.system.moments(self.parameters)

    def vouch(self, path: Path) -> None:
        """Raises InputError for a damaged NetCDF file, and for one of this program that is not as it was written."""
        require_openable(path)
        with netCDF4.Dataset(path) as data:
            own = "run_sha256" in data.ncattrs()
        if own:
            read(path)

    def manifold(self, state: Mapping[str, np.ndarray]) -> None:
        """Raises InputError for a state that breaks a constraint."""
        self.system.manifold(self.parameters, state)

    def kept(self, path: Path) -> int:
        """Intervals of the reference that a file holds."""
        return len(read(path, ("time",))["time"]) - 1

    def specify(self, t_end: float, outputs: int | None, initial: Fields | None = None) -> ReferenceSpecification:
        """The reference up to t_end, with the states at the ends of `outputs` intervals."""
        return specify_reference(**self.chosen, initial=initial, t_end=t_end, samples=(outputs or 1) + 1)

    def judged(self, files: "Sequence[StateFile]", facts: Sequence[Mapping[str, float | str]],
               initial: Mapping[str, np.ndarray] | None, outputs: int | None, reference: Path | None) -> Tables:
        """Tables of files with what is known about each; `outputs` None: invariants only."""
        spec = self.specify(float(files[0].time[-1]), outputs, initial)
        runs, found = [run_file(file, spec) for file in files], None if outputs is None else _reference(spec, reference)
        rows = [_metrics(run, found, spec, fact) for run, fact in zip(runs, facts, strict=True)]
        table = pandas.DataFrame(rows)
        errors = [row | {"label": row["integrator"]} for row in rows]
        ladders = (table.groupby("integrator")["step"].nunique() >= 2).any()
        return {"errors": errors, "orders": orders_table(table) if found and ladders else [],
                "drift": _drift(errors, runs, spec), "work": _work(table) if found else []}


def _reference(spec: ReferenceSpecification, path: Path | None) -> RunFile:
    """The reference, kept in the file `path` if there is one."""
    if path is not None:
        if not is_current(path, spec):
            require_free(path, spec.sha256)
        return kept_reference(path, spec)
    content = compute_reference(spec)
    return RunFile(Path("reference"), content.attributes, {name: entry[1] for name, entry in content.variables.items()})


def run_file(file: "StateFile", spec: ReferenceSpecification) -> RunFile:
    """The states with energy, momentum and residuals at every sample, as a run's file has them."""
    formulated, series = _observed(file, spec)
    variables = {"time": file.time, **{name: values for name, values in file.fields.items() if name != OWN_WORK}}
    seen = [observable for observable in formulated.observables if observable.name != OWN_WORK]
    numbers, blocks = statistics_of(seen, series), min(BLOCKS, max((file.time.size - 1)//LEAST_SAMPLES, 1))
    for observable in seen:
        values = series[:, observable.columns]
        deviation = values - values[0] if observable.kind == "invariant" else values
        means = np.array([block.mean(axis=0) for block in np.array_split(deviation[1:], blocks)])
        variables[observable.name] = observable.shaped(values)
        # the mean is the first of a block's statistics
        variables[f"{observable.name}{BLOCKS_SUFFIX}"] = observable.shaped(means)[None]
    attributes = {"status": "ok", "message": "completed", "steps": int(file.facts.get("steps", file.time.size - 1)),
        "momentum_error_max": max((numbers[f"momentum_error_max_{axis}"] for axis in formulated.momentum_axes),
                                  default=nan), **formulated.attributes, **numbers}
    return RunFile(file.path, attributes, variables)


def _observed(file: "StateFile", spec: ReferenceSpecification) -> tuple[Formulated, np.ndarray]:
    """(formulated problem at the start, observables at every sample). Raises InputError: the energy of a system with
    forces is asked for without their work."""
    facts, run = spec.run.sheet, spec.run
    first = formulate_standard(facts, run.parameters, run.initial)
    states = ({name: values[k] for name, values in file.fields.items()} for k in range(file.time.size))
    series = observed(first, [formulate_standard(facts, run.parameters, state).start for state in states])
    if not np.isfinite(series).all():
        bad = int(np.argmax(~np.isfinite(series).all(axis=1)))
        raise InputError(f"{file.path}: the energy cannot be evaluated at sample {bad} (t = {file.time[bad]:g})")
    if any(observable.name == OWN_WORK for observable in first.observables):
        series[:, 0] -= file.fields.get(OWN_WORK, nan)
    return first, series


def _metrics(run: RunFile, reference: RunFile | None, spec: ReferenceSpecification,
             facts: Mapping[str, Any]) -> TableRow:
    error, floor, scale = StateError(), nan, nan
    if reference is not None:
        every = (run["time"].size - 1)//(reference["time"].size - 1)
        thinned = replace(run, variables={name: values[::every] for name, values in run.variables.items()
                                          if not name.endswith(BLOCKS_SUFFIX)})
        error, floor = state_error(thinned, reference), reference_floor(reference, error_fields(run))
        scale = float(reference.attributes["energy_scale"])
    attributes, label = run.attributes, facts["label"]
    tolerance, step = facts.get("tolerance"), facts.get("step")
    steps = int(facts.get("steps") or (round(spec.run.t_end/step) if step else 0)) or None
    resolution = f"tol{tolerance:.6g}" if tolerance else f"h{step:.6g}" if step else run.path.stem
    return {"study": "judge", "problem": spec.run.problem, "problem_label": spec.run.problem, "integrator": label,
        "integrator_id": label, "integrator_label": label, "file": run.path.name, "order": facts.get("order"),
        "symmetric": facts.get("symmetric", False), "adaptive": tolerance is not None, "resolution": resolution,
        "step": step or (spec.run.t_end/steps if steps else nan), "steps": steps, "tolerance": tolerance,
        "t_end": spec.run.t_end, "members": 1, "status": "ok", "samples": run["time"].size,
        "outputs": None if reference is None else reference["time"].size, "error": error.error,
        **{f"error_{name}": value for name, value in error.parts.items()}, "error_final": error.final, "floor": floor,
        "floor_reference": floor, "seconds": facts.get("seconds", nan), "cost": nan,
        **{name: facts.get(name, nan) for name in counters.NAMES},
        **{name: value for name, value in attributes.items() if "_error_m" in name},
        "momentum_scale": attributes["momentum_scale"],
        "energy_error_mean_relative": attributes["energy_error_mean"]/scale if scale else nan}


def _work(table: pandas.DataFrame) -> list[TableRow]:
    """Work at equal error of every label that has at least two files."""
    return [dict(runs.iloc[0][list(PAIR)]) | row for _, runs in table.groupby("integrator", sort=False)
            for row in at_equal_error(runs, (*WORK, "seconds"))]


def _drift(rows: list[TableRow], runs: list[RunFile], spec: ReferenceSpecification) -> list[TableRow]:
    lines = []
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
            lines.append(common | {"invariant": name} | values)
    return lines
