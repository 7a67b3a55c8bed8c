"""The table `drift`: does an invariant of a run drift?"""
from collections import Counter
from pathlib import Path

import numpy as np

from liestep.files.textfiles import TableRow
from liestep.simulation.runs.execution import BLOCKS, LEAST_SAMPLES
from liestep.simulation.runs.files import RunFile
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.plan.config import SURE
from liestep.study.plan.plan import Cell, Study
from liestep.study.tables.drift import (
    CONFIRMATION,
    DECIDED,
    SLACK,
    DriftEstimate,
    KeptVariable,
    confirm,
    drift_verdict,
    kept_variables,
)
from liestep.study.tables.errors import error_fields
from liestep.study.tables.kinds import Table
from liestep.study.tables.liestep_judge import longest_period
from liestep.study.tables.reading import run_file

RUN_COLUMNS = ("study", "problem", "integrator", "integrator_id", "resolution", "t_end")
NUMBERS = ("amplitude", "slope", "slope_low", "slope_high", "bound", "growth", "largest", "round_off")
COLUMNS = (*RUN_COLUMNS, "steps", "invariant", "verdict", "reason", "verdict_alone", "confirmed_by", "confirms",
           *NUMBERS, "period", "deciding_time")
UNCONFIRMED = "unconfirmed"  # verdict on a run without a longer or shorter version


def drift_rows(study: Study) -> list[TableRow]:
    """One row per run and invariant (energy, conserved components of the momentum map and of further invariants,
    residuals), columns COLUMNS. verdict_alone is that of the run. verdict is the one that the run and the same run
    (system, parameters, start, method, step) over at least four times its t_end both support; both rows of the pair
    show it. An ensemble has the verdict that 95 % of its members have, each with the same member of the longer one;
    else it is undecided. Its period is that of the run from its unperturbed start, which the study should have with
    dense samples. confirmed_by and confirms are the keys of the longer and of the shorter problem. Without such
    a pair a verdict that would decide is "unconfirmed". slope is over the whole run, bound the x of |slope T| < x
    amplitude."""
    # single runs, and ensembles that keep the blocks of their members
    cells = [cell for cell in study.cells if cell.spec.ensemble is None
             or (not cell.spec.ensemble.turns and cell.spec.samples > LEAST_SAMPLES*BLOCKS)]
    files = {cell.path: run_file(cell) for cell in cells}
    periods = {_motion(cell.spec): period_of(files[cell.path]) for cell in cells
               if not files[cell.path].failed and cell.spec.ensemble is None}
    found_in = {cell.path: _estimated(cell, files[cell.path], periods) for cell in cells}
    judged = pairs(cells)
    rows = []
    for cell in cells:
        pair = judged.get(cell.path, ())
        paths = [paired.path for paired in pair]
        for name in invariants(files[cell.path]):
            verdict: TableRow
            if files[cell.path].failed:
                verdict = {"verdict": "failed", "reason": files[cell.path].attributes["message"]}
            else:
                verdict = _shared([_verdict(alone[name], [found_in[path][k].get(name) for path in paths
                                                        if found_in[path]])
                                 for k, alone in enumerate(found_in[cell.path])])
                if "verdict_alone" in verdict:
                    verdict["period"] = periods.get(_motion(cell.spec))
                if pair and all(found_in[path] for path in paths):
                    first, longer = pair
                    verdict |= {"confirms": first.problem} if longer == cell else {"confirmed_by": longer.problem}
            rows.append({**run_columns(cell), "steps": int(files[cell.path].attributes["steps"]), "invariant": name,
                         **verdict})
    return rows


def pairs(cells: list[Cell]) -> dict[Path, tuple[Cell, Cell]]:
    """File of a run -> the run and the longer one that judge it together: with the shortest run at least four times as
    long, or, where there is none, with the longest run that it confirms itself. A run without either has no entry."""
    longer_ones = {}
    for cell in sorted(cells, key=lambda cell: cell.spec.t_end):
        same = [other for other in cells if other.spec.t_end >= CONFIRMATION*cell.spec.t_end*(1.0 - SLACK)
                and identity(other.spec) == identity(cell.spec)]
        if same:
            longer_ones[cell.path] = cell, min(same, key=lambda other: other.spec.t_end)
    return {longer.path: (first, longer) for first, longer in longer_ones.values()} | longer_ones


def identity(spec: RunSpecification) -> tuple:
    """What a run and its longer version share; the ensemble comes last."""
    content = spec.canonical()
    size = spec.tolerance if spec.steps is None else float(f"{spec.step:.9g}")
    return (size,
            *(str(content.get(name)) for name in ("problem", "parameters", "initial", "integrator", "options",
                                                  "plugins", "ensemble")))


def _motion(spec: RunSpecification) -> tuple:
    """What an ensemble shares with the run of its unperturbed start."""
    return (*identity(spec)[:-1], spec.t_end)


def _estimated(cell: Cell, file: RunFile, periods: dict[tuple, float]) -> list[dict[str, DriftEstimate | str]]:
    """The estimates of a run, or of each member of an ensemble with the period of the run without perturbation."""
    if file.failed:
        return []
    members = file.members() if cell.spec.ensemble else [file]
    return [estimates(cell.spec, member, periods.get(_motion(cell.spec))) for member in members]


def _verdict(alone: DriftEstimate | str, others: list[DriftEstimate | str | None]) -> TableRow:
    """Columns of one run and invariant: its own estimate and the verdict of its pair, if it has one."""
    if isinstance(alone, str):
        return {"verdict": "too short", "reason": alone}
    both = [estimate for estimate in others if isinstance(estimate, DriftEstimate)]
    judged = confirm(*both) if len(both) == 2 else alone
    verdict = judged.verdict if len(both) == 2 or alone.verdict not in DECIDED else UNCONFIRMED
    return {"verdict": verdict, "reason": judged.reason, "verdict_alone": alone.verdict,
            "deciding_time": judged.deciding_time, **{key: getattr(alone, key) for key in NUMBERS}}


def _shared(members: list[TableRow]) -> TableRow:
    """The columns of an ensemble: the verdict that 95 % of its members have, else undecided; the numbers are those of
    the member with the widest bound. Of a single run its own."""
    if len(members) == 1:
        return members[0]
    counts = Counter(member["verdict"] for member in members)
    verdict, most = counts.most_common(1)[0]
    widest = max(members, key=lambda member: member.get("bound", -1.0))
    said = ", ".join(f"{word} {count}" for word, count in sorted(counts.items()))
    return {**widest, "verdict": verdict if most >= SURE*len(members) else "undecided",
            "reason": f"of {len(members)} starts within round-off: {said}; the widest bound: {widest['reason']}"}


def run_columns(cell: Cell) -> TableRow:
    values = (cell.study, cell.problem, cell.integrator, cell.spec.integrator, cell.resolution, cell.spec.t_end)
    return dict(zip(RUN_COLUMNS, values, strict=True))


def invariants(file: RunFile) -> dict[str, KeptVariable]:
    """What the exact motion keeps, by name: energy, components of the momentum map, further ones, residuals."""
    return {name: place for attribute in ("invariants", "residuals")
            for name, place in kept_variables(file.attributes, attribute).items()}


def estimates(spec: RunSpecification, file: RunFile, period: float | None = None) -> dict[str, DriftEstimate | str]:
    """Invariant -> estimate, or the reason why there is none. period: the longest of the motion, if it is known."""
    period = period or period_of(file)
    found: dict[str, DriftEstimate | str] = {}
    for name, place in invariants(file).items():
        values, blocks = place.of(file[place.variable]), place.of(file.blocks(place.variable, "mean"))
        start = 0.0 if place.residual else values[0]
        if place.residual:
            scale = 1.0
        elif name == "energy":
            scale = energy_terms(spec, file)
        elif place.variable == "momentum_map":
            scale = float(file.attributes["momentum_scale"])
        else:
            scale = float(np.abs(file[place.variable]).max())
        try:
            found[name] = drift_verdict(file["time"], values - start, blocks, scale=scale or 1.0,
                                        steps=int(file.attributes["steps"]), period=period)
        except ValueError as error:
            found[name] = str(error)
    return found


def energy_terms(spec: RunSpecification, file: RunFile) -> float:
    """Size of the terms that are summed in the energy: largest kinetic plus largest potential energy at the samples."""
    kinetic = spec.sheet.kinetic_energy(spec.parameters, file.variables)
    return float(kinetic.max() + np.abs(file["energy"] - kinetic).max())


def period_of(file: RunFile) -> float:
    """Longest period of the first part of the state: directions or attitudes."""
    return longest_period(file["time"], file[error_fields(file)[0].name])


TABLE = Table(COLUMNS, lambda results: drift_rows(results.study),
    readable=("problem", "integrator", "resolution", "invariant", "t_end", "verdict", "verdict_alone", "confirmed_by",
              "confirms", "amplitude", "slope", "bound", "growth", "reason"),
    needed=("resolution", "invariant", "verdict", "bound", "slope"))
