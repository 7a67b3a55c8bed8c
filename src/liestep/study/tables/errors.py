"""Scaled state error of a run against a reference, and the floor below which it says nothing."""
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan

import numpy as np

from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import StateField
from liestep.simulation.runs.files import RunFile

TIME_SLACK = 1e-9  # relative to t_end: sample times are the same number computed in two ways


@dataclass(frozen=True)
class StateError:
    """error    maximum over the outputs and the counted parts
    parts    maximum over the outputs of the error of each state field in its norm, divided by the reference's scale
             where the norm has one: for directions the chord, for relative vectors the distance over the largest
             length along the reference
    final    Euclidean norm of the counted part of the state minus the reference at the last output, not scaled
    """

    error: float = nan
    parts: Mapping[str, float] = field(default_factory=dict)
    final: float = nan


def state_error(run: RunFile, reference: RunFile) -> StateError:
    """Error of a complete run; all NaN for one that stopped early, because it has no error over the whole time. Raises
    InputError: the sample times differ from those of the reference."""
    if run.failed:
        return StateError()
    time, wanted = run["time"], reference["time"]
    if time.shape != wanted.shape or np.abs(time - wanted).max() > TIME_SLACK*wanted[-1]:
        raise InputError(f"{run.path} and {reference.path} have different sample times")
    fields = error_fields(run)
    parts = {field.name: float(field.distance(run[field.name], reference[field.name]).max()/_scale(field, reference))
             for field in fields}
    return StateError(max(parts[field.name] for field in counted(fields)), parts, final_distance(run, reference))


def final_distance(run: RunFile, other: RunFile) -> float:
    """Euclidean norm of the difference of the last states of two complete runs, counted fields, not scaled."""
    return float(np.sqrt(sum(float(np.sum((run[field.name][-1] - other[field.name][-1])**2))
                             for field in counted(error_fields(run)))))


def counted(fields: list[StateField]) -> list[StateField]:
    """The fields that enter the state error."""
    return [field for field in fields if field.counted]


def error_history(fields: list[StateField], values: Mapping[str, np.ndarray], reference: RunFile) -> np.ndarray:
    """(time,): largest scaled error over the counted fields."""
    return np.max([field.distance(values[field.name], reference[field.name])/_scale(field, reference)
                   for field in counted(fields)], axis=0)


def member_distances(run: RunFile) -> np.ndarray:
    """(members - 1, time): distance of each member of an ensemble from the unperturbed one, the largest over the
    counted fields, each divided by its scale along the unperturbed motion."""
    gaps = []
    for state_field in counted(error_fields(run)):
        first, *others = run[state_field.name]
        gaps.append([state_field.distance(other, first)/state_field.measure.scale(first) for other in others])
    return np.max(gaps, axis=0).reshape(-1, len(run["time"]))


def error_fields(run: RunFile) -> list[StateField]:
    """The fields that have an error, as the run's file names them with their norms."""
    pairs = (item.split(":") for item in run.attributes["error_norms"].split())
    return [StateField(name, "", "", norm=norm, counted=not apart) for name, norm, *apart in pairs]


def error_variables(attributes: Mapping[str, str]) -> tuple[str, ...]:
    """Variables of a run's file that `state_error` and `replica_floor` read; of something else none."""
    names = [item.split(":")[0] for item in attributes.get("error_norms", "").split()]
    return ("time", *names, *(f"spread_{name}" for name in names))


def reference_floor(reference: RunFile, fields: list[StateField]) -> float:
    """Largest scaled disagreement of the reference's two engines in the counted ones of these fields."""
    return float(max(reference[f"disagreement_{field.name}"].max() for field in counted(fields)))


def replica_floor(run: RunFile, reference: RunFile) -> float:
    """Largest scaled distance between runs started 1 ulp apart; NaN without replicas or if one failed."""
    fields = counted(error_fields(run))
    spreads = [run.variables.get(f"spread_{field.name}") for field in fields]
    whole = [spread for spread in spreads if spread is not None and len(spread) == len(reference["time"])]
    if run.failed or len(whole) < len(fields):
        return nan
    return float(max(spread.max()/_scale(field, reference) for field, spread in zip(fields, whole, strict=True)))


def _scale(field: StateField, reference: RunFile) -> float:
    return float(reference.attributes[f"scale_{field.name}"]) if field.measure.scaled else 1.0
