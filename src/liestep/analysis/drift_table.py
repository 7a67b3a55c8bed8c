"""The tables `drift` (does an invariant drift?) and `horizons` (how long can states be
compared?), from the runs' files."""
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from liestep.analysis.chaos import horizon
from liestep.analysis.drift import CONFIRMATION, DriftEstimate, confirm, drift_verdict
from liestep.analysis.errors import error_fields, member_distances
from liestep.analysis.reading import run_file
from liestep.catalogue import sheet
from liestep.contracts.sheet import State
from liestep.runs.files import RunFile
from liestep.runs.specification import RunSpecification
from liestep.study.plan import Cell, Study

RUN_COLUMNS = ("study", "problem", "integrator", "integrator_id", "resolution", "t_end")
NUMBERS = ("amplitude", "slope", "slope_low", "slope_high", "growth", "largest", "round_off")
DRIFT_COLUMNS = (*RUN_COLUMNS, "steps", "invariant", "verdict", "reason", "verdict_alone", "confirmed_by", *NUMBERS,
                 "period", "deciding_time")
HORIZON_COLUMNS = (*RUN_COLUMNS, "members", "amplitude", "limit", "horizon", "separation_end")
LIMIT = 1e-6
SLACK = 1e-9
MOVING = 1e-3  # components of q that vary less say nothing about periods


def drift_rows(study: Study) -> list[dict[str, Any]]:
    """One row per run and invariant (energy, conserved components of the momentum map and of further invariants,
    residuals), columns DRIFT_COLUMNS.

    verdict is that of the run alone, or, where the study also holds the same run (system, parameters, start, method,
    step) over at least four times its t_end, the one that both support; confirmed_by is the key of that longer problem.
    slope is over the whole run.
    """
    cells = [cell for cell in study.cells if cell.spec.ensemble is None]
    files = {cell.path: run_file(cell) for cell in cells}
    found_in = {cell.path: {} if files[cell.path].failed else estimates(cell.spec, files[cell.path]) for cell in cells}
    rows = []
    for cell in cells:
        file, longer = files[cell.path], _longer(cell, cells)
        for name in invariants(file):
            estimate, other = found_in[cell.path].get(name), found_in[longer.path].get(name) if longer else None
            found: dict[str, Any]
            if file.failed:
                found = {"verdict": "failed", "reason": file.attributes["message"]}
            elif isinstance(estimate, str):
                found = {"verdict": "too short", "reason": estimate}
            else:
                assert estimate is not None
                confirmed = longer.problem if longer and isinstance(other, DriftEstimate) else None
                both = confirm(estimate, other) if isinstance(other, DriftEstimate) else estimate
                found = {"verdict": both.verdict, "reason": both.reason, "verdict_alone": estimate.verdict,
                         "deciding_time": both.deciding_time, "confirmed_by": confirmed,
                         "period": period_of(file), **{key: getattr(estimate, key) for key in NUMBERS}}
            rows.append({**_run_columns(cell), "steps": int(file.attributes["steps"]), "invariant": name, **found})
    return rows


def _run_columns(cell: Cell) -> dict[str, Any]:
    values = (cell.study, cell.problem, cell.integrator, cell.spec.integrator, cell.resolution, cell.spec.t_end)
    return dict(zip(RUN_COLUMNS, values, strict=True))


def _longer(cell: Cell, cells: list[Cell]) -> Cell | None:
    """The shortest run that differs from this one by a t_end at least four times as long."""
    same = [other for other in cells if _identity(other.spec) == _identity(cell.spec)
            and other.spec.t_end >= CONFIRMATION*cell.spec.t_end*(1.0 - SLACK)]
    return min(same, key=lambda other: other.spec.t_end, default=None)


def _identity(spec: RunSpecification) -> tuple:
    """What a run and its longer version share."""
    content = spec.canonical()
    size = spec.tolerance if spec.steps is None else float(f"{spec.step:.9g}")
    return (size,
            *(str(content[name]) for name in ("problem", "parameters", "initial", "integrator", "options", "plugins")))


@dataclass(frozen=True)
class Place:
    """Where a file keeps something that the exact motion keeps."""

    variable: str
    index: int | None   # of the component, None for a single number
    residual: bool      # measured from zero

    def of(self, values: np.ndarray) -> np.ndarray:
        """Its part of the variable's values (..., components)."""
        return values if self.index is None else values[..., self.index]


def invariants(file: RunFile) -> dict[str, Place]:
    """What the exact motion keeps, by name: energy, components of the momentum map, further ones, residuals."""
    found = {}
    for attribute in ("invariants", "residuals"):
        for item in file.attributes[attribute].split():
            name, _, place = item.partition("=")
            variable, _, index = place.partition(":")
            found[name] = Place(variable, int(index) if index else None, attribute == "residuals")
    return found


def estimates(spec: RunSpecification, file: RunFile) -> dict[str, DriftEstimate | str]:
    """Invariant -> estimate, or the reason why there is none."""
    period = period_of(file)
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
                                        steps=int(file.attributes["steps"]), period=period, blocks=len(blocks))
        except ValueError as error:
            found[name] = str(error)
    return found


def energy_terms(spec: RunSpecification, file: RunFile) -> float:
    """Size of the terms that are summed in the energy: largest kinetic plus largest potential energy at the samples."""
    kinetic = sheet(spec.problem).kinetic_energy(spec.parameters, cast(State, file))
    return float(kinetic.max() + np.abs(file["energy"] - kinetic).max())


def period_of(file: RunFile) -> float:
    """Longest period of the first part of the state: directions or attitudes."""
    return longest_period(file["time"], file[error_fields(file)[0].name])


def longest_period(time: np.ndarray, q: np.ndarray) -> float:
    """Estimate of the longest period: the longest mean time between upward passages of a
    component of q through its mean."""
    series = q.reshape(len(time), -1)
    series = series[:, np.ptp(series, axis=0) > MOVING]
    above = series > series.mean(axis=0)
    passages = np.count_nonzero(above[1:] & ~above[:-1], axis=0)
    return float((time[-1] - time[0])/max(passages.min(), 1)) if passages.size else float(time[-1] - time[0])


def horizon_rows(study: Study) -> list[dict[str, Any]]:
    """One row per ensemble: first time at which a member is 1e-6 from the unperturbed one, columns HORIZON_COLUMNS.

    The distance is that of `member_distances`, the largest over the members; horizon is empty if it stays below, and
    the perturbation is the amplitude of the study.
    """
    rows = []
    for cell in study.cells:
        if cell.spec.ensemble is None:
            continue
        file = run_file(cell)
        apart = member_distances(file).max(axis=0, initial=0.0)
        amplitude = cell.spec.ensemble.amplitude
        rows.append({**_run_columns(cell), "members": cell.spec.ensemble.members, "amplitude": amplitude,
                     "limit": LIMIT,
                     "horizon": horizon(file["time"], apart, amplitude, LIMIT) if amplitude < LIMIT else None,
                     "separation_end": float(apart[-1])})
    return rows
