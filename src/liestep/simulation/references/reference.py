"""Reference solutions: two independent engines, one trajectory kept, their disagreement stored beside it.

The first engine's trajectory is kept. Of DOP853 and the Taylor series neither is better throughout: against an 80-bit
Taylor series their errors in q were 3.6e-11 and 5.1e-11 (three bodies, T = 10), 3.4e-14 and 0.9e-14 (double pendulum, T
= 10), 2.4e-13 and 7.6e-13 (rod, T = 0.1); their disagreement covers both."""
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from liestep.compile.cache import loop_for
from liestep.compile.driver import observe
from liestep.compile.sources import source_hash
from liestep.errors import InputError, names_in, unknown
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.formulations import formulate_standard
from liestep.mechanics.formulations.symbolic import NotSymbolic
from liestep.simulation.catalogue import integrator_module
from liestep.simulation.references.engines import (
    ENGINES,
    FIELD_ENGINES,
    USUAL,
    EngineError,
    core_series,
    description,
    stand_in,
    taylor_core,
)
from liestep.simulation.runs.content import FORMAT, Content
from liestep.simulation.runs.files import RunFile, is_current, read, write
from liestep.simulation.runs.specification import CheckedStart, specify_problem
from liestep.simulation.runs.specified import RunSpecification

# what a reference and the runs compared with it have in common
SHARED = ("problem", "parameters", "initial", "t_end", "samples", "plugins")
FINE = 250  # at least so many intervals for the largest kinetic energy and angular velocity


@dataclass(frozen=True)
class ReferenceSpecification:
    """Everything that determines a reference's file; `run` holds the fields SHARED."""

    run: RunSpecification
    engines: tuple[str, ...]

    def canonical(self) -> dict[str, Any]:
        shared = self.run.canonical()
        return {"engines": list(self.engines), **{name: shared[name] for name in SHARED}}

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(json.dumps({"reference": self.canonical()}, sort_keys=True).encode()).hexdigest()

    @property
    def source_hash(self) -> str:
        others = [stand_in(self.run), core_series() if taylor_core.__name__ in self.engines else None]
        return source_hash("liestep.simulation.references.reference", self.run.system.module,
                           *(integrator_module(name) for name in others if name is not None))


def specify_reference(problem: str, *, samples: int = 51, engines: Sequence[str] | None = None,
                      **chosen: Any) -> ReferenceSpecification:
    """Check a request for a reference; `chosen` as for `specify_problem`. Raises InputError: one sentence: what is
    wrong, and what is allowed."""
    run = specify_problem(problem, samples=samples, **chosen)
    facts = run.sheet
    engines = names_in("engines", engines or facts.engines_for(run.parameters) or USUAL)
    for name in engines:
        if name not in ENGINES:
            raise InputError(unknown("engine", name, ENGINES))
        if facts.standard_form != "vector_field" and (name in FIELD_ENGINES or (name in USUAL and not facts.series)):
            raise InputError(f"engine {name} integrates the vector field, but the standard form of {problem} is"
                             f" {facts.standard_form}; allowed are"
                             f" {', '.join(key for key in ENGINES if key not in (*FIELD_ENGINES, *USUAL))}")
    if len(engines) != 2 or engines[0] == engines[1]:
        raise InputError(f"a reference needs two different engines of {', '.join(ENGINES)}, not {', '.join(engines)}")
    return ReferenceSpecification(run, engines)


def study_reference(study: Any, problem: str) -> tuple[Path, ReferenceSpecification]:
    """File and specification of the reference with which all runs of one problem (key) of a `Study` are compared.
    Raises InputError: the runs have no common sample times, or there is no reference of them; names file, line and
    runs."""
    first, *others = study.select(problem)
    run = first.spec
    try:
        for cell in others:
            if cell.spec.samples != run.samples:
                raise InputError("runs compared with a reference need the same samples:"
                                 f" {cell.integrator} {cell.resolution} has {cell.spec.samples},"
                                 f" {first.integrator} {first.resolution} has {run.samples}; set `samples`")
        spec = specify_reference(run.problem, samples=run.samples,
                                 start=CheckedStart(run.parameters, run.initial, run.t_end, run.system))
    except InputError as error:
        raise study.complain(("problems", problem), error) from None
    return study.reference_path(problem), spec


def kept_reference(path: Path, spec: ReferenceSpecification) -> RunFile:
    """The reference in a file, which is made or made anew unless it is up to date; errors as `compute_reference`."""
    if not is_current(path, spec):
        write(compute_reference(spec), path)
    return read(path)


def disagreement(attributes: Mapping[str, float | str]) -> str:
    """Largest distances of the two engines by field, in words, from the attributes of a reference."""
    gaps = {name[len("disagreement_"):-len("_max")]: value
            for name, value in attributes.items() if name.startswith("disagreement_")}
    return ", ".join(f"{value:.2g} in {name}" for name, value in gaps.items())


def compute_reference(spec: ReferenceSpecification) -> Content:
    """Integrate with both engines and collect the content of the file. An engine that cannot treat the system (a Taylor
    series of 642 bodies) is replaced by `composition`; the attribute `engines` names what was used. Raises InputError:
    an engine stopped before t_end: there is no reference."""
    run = spec.run
    intervals = run.samples - 1
    fine = -(-FINE//intervals)
    sampled = np.arange(run.samples)*(run.t_end/intervals)
    dense = np.arange(fine*intervals + 1)*(run.t_end/(fine*intervals))
    dense[::fine] = sampled
    (first, rows), (second, other_rows) = (_trajectory(name, run, times)
                                           for name, times in zip(spec.engines, (dense, sampled), strict=True))
    facts = run.sheet
    formulated = formulate_standard(facts, run.parameters, run.initial)
    fields, others = formulated.to_fields(rows), formulated.to_fields(other_rows)
    kinetic = facts.kinetic_energy(run.parameters, fields)
    content = Content()
    content.add("time", ("time",), sampled, "s", "time")
    scales, gaps = {}, {}
    for part in formulated.fields:
        values, other = fields[part.name], others[part.name]
        content.add(part.name, ("time", *part.dims), values[::fine], part.units, part.long_name)
        scales[f"scale_{part.name}"] = part.measure.scale(values)
        gap = part.distance(values[::fine], other)/scales[f"scale_{part.name}"]
        content.add(f"disagreement_{part.name}", ("time",), gap, "1",
                    f"largest distance of {part.name} between the two engines, divided by scale_{part.name}")
        gaps[f"disagreement_{part.name}_max"] = float(gap.max())
    content.add("energy", ("time",), observed(formulated, rows[::fine])[:, 0].copy(), "J", "total energy")
    content.attributes = {
        "Conventions": "CF-1.11", "title": f"Reference of {facts.title}",
        "source": f"liestep reference, {description(first, run)}",
        "history": "written by liestep from the specification below", "references": facts.citation,
        "format": FORMAT, "problem": run.problem, "t_end": run.t_end,
        "specification": json.dumps(spec.canonical(), sort_keys=True),
        "run_sha256": spec.sha256, "source_hash": spec.source_hash, "status": "ok", "message": "completed",
        "engines": f"{description(first, run)}; {description(second, run)}", "stored": description(first, run),
        "energy_scale": float(kinetic.max()), **scales, **gaps,
    }
    return content


def _trajectory(name: str, run: RunSpecification, times: np.ndarray) -> tuple[str, np.ndarray]:
    try:
        try:
            return name, ENGINES[name](run, times)
        except NotSymbolic:
            return "composition", ENGINES["composition"](run, times)
    except EngineError as error:
        raise InputError(f"{run.problem} has no reference up to t = {run.t_end:g}: {error}") from None


def observed(formulated: Formulated, rows: Iterable[np.ndarray]) -> np.ndarray:
    """Observables of each state, (states, K)."""
    rows = list(rows)
    loop, values = loop_for(observe, formulated.problem), np.zeros((len(rows), formulated.width))
    for state, out in zip(rows, values, strict=True):
        loop(formulated.problem, np.ascontiguousarray(state), out)
    return values
