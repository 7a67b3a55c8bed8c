"""Scaled state error of a run against a reference, and the floor below which it says nothing."""
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan

import numpy as np

from liestep.contracts.formulated import StateField
from liestep.errors import InputError
from liestep.runs.files import RunFile

TIME_SLACK = 1e-9  # relative to t_end: sample times are the same number computed in two ways


@dataclass(frozen=True)
class StateError:
    """error    maximum over the outputs and the parts
    parts    maximum over the outputs of the error of each state field, by `StateField.distance`,
             relative fields divided by the reference's scale: for q the chord, for omega |omega -
             omega_ref| over the largest |omega_ref|
    final    Euclidean norm of all components of the state minus the reference at the last output, not scaled
    """

    error: float = nan
    parts: Mapping[str, float] = field(default_factory=dict)
    final: float = nan


def state_error(run: RunFile, reference: RunFile) -> StateError:
    """Error of a complete run; all NaN for one that stopped early, because it has no error over the whole time.

    Raises:
        InputError: the sample times differ from those of the reference.
    """
    if run.failed:
        return StateError()
    time, wanted = run["time"], reference["time"]
    if time.shape != wanted.shape or np.abs(time - wanted).max() > TIME_SLACK*wanted[-1]:
        raise InputError(f"{run.path} and {reference.path} have different sample times")
    fields = error_fields(run)
    parts = field_errors(fields, run.variables, reference)
    squares = sum(float(np.sum((run[part.name][-1] - reference[part.name][-1])**2)) for part in fields)
    return StateError(max(parts.values()), parts, float(np.sqrt(squares)))


def field_errors(fields: list[StateField], values: Mapping[str, np.ndarray], reference: RunFile) -> dict[str, float]:
    """Largest scaled error of each field over the times."""
    return {part.name: float(part.distance(values[part.name], reference[part.name]).max()/_scale(part, reference))
            for part in fields}


def error_history(fields: list[StateField], values: Mapping[str, np.ndarray], reference: RunFile) -> np.ndarray:
    """(time,): largest scaled error over the fields."""
    return np.max([part.distance(values[part.name], reference[part.name])/_scale(part, reference) for part in fields],
                  axis=0)


def error_fields(run: RunFile) -> list[StateField]:
    """The fields that make the state error, as the run's file names them with their norms."""
    pairs = (item.split(":") for item in run.attributes["error_norms"].split())
    return [StateField(name, "", "", norm=norm) for name, norm in pairs]


def error_variables(attributes: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the variables of a run's file that `state_error` and `replica_floor` read; a file of
    something else has none."""
    names = [item.split(":")[0] for item in attributes.get("error_norms", "").split()]
    return ("time", *names, *(f"spread_{name}" for name in names))


def reference_floor(reference: RunFile, fields: list[StateField]) -> float:
    """Largest scaled disagreement of the reference's two engines in these fields."""
    return float(max(reference[f"disagreement_{part.name}"].max() for part in fields))


def replica_floor(run: RunFile, reference: RunFile) -> float:
    """Largest scaled distance between runs of the same method started 1 ulp apart; NaN without replicas
    or if one of them failed."""
    fields = error_fields(run)
    spreads = [run.variables.get(f"spread_{part.name}") for part in fields]
    if run.failed or any(spread is None or len(spread) != len(reference["time"]) for spread in spreads):
        return nan
    return float(max(spread.max()/_scale(part, reference) for part, spread in zip(fields, spreads, strict=True)))


def _scale(part: StateField, reference: RunFile) -> float:
    return float(reference.attributes[f"scale_{part.name}"]) if part.norm == "relative" else 1.0


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Euclidean norm over the last axis."""
    return np.sqrt(np.sum(vectors*vectors, axis=-1))
