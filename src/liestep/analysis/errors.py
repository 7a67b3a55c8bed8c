"""Scaled state error of a run on (S^2)^n against a reference, and the floor below which it says nothing."""
from dataclasses import dataclass
from math import nan

import numpy as np

from liestep.study.files import RunFile
from liestep.systems.sheet import InputError

TIME_SLACK = 1e-9  # relative to t_end: sample times are the same number computed in two ways


@dataclass(frozen=True)
class StateError:
    """error    maximum over the outputs of the larger of both parts
    q          maximum over outputs and bodies of the chord |q - q_ref|
    omega      the same of |omega - omega_ref|, divided by the largest |omega_ref| over time and bodies
    final      Euclidean norm of all components of (q, omega) - (q_ref, omega_ref) at the last output, not scaled
    """

    error: float = nan
    q: float = nan
    omega: float = nan
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
    q = lengths(run["q"] - reference["q"]).max()
    difference = lengths(run["omega"] - reference["omega"])
    omega = difference.max()/velocity_scale(reference)
    last = np.concatenate([run["q"][-1] - reference["q"][-1], run["omega"][-1] - reference["omega"][-1]])
    return StateError(float(max(q, omega)), float(q), float(omega), float(np.sqrt(np.sum(last*last))))


def reference_floor(reference: RunFile) -> float:
    """Largest scaled disagreement of the reference's two engines."""
    return float(max(reference["disagreement_q"].max(), reference["disagreement_omega"].max()))


def replica_floor(run: RunFile, reference: RunFile) -> float:
    """Largest scaled distance between runs of the same method started 1 ulp apart; NaN without replicas or if one of them failed."""
    if "spread_q" not in run.variables or run.failed or len(run["spread_q"]) != len(reference["time"]):
        return nan
    return float(max(run["spread_q"].max(), run["spread_omega"].max()/velocity_scale(reference)))


def velocity_scale(reference: RunFile) -> float:
    """Largest |omega_ref|; 1 for an equilibrium."""
    return float(reference.attributes["velocity_scale"]) or 1.0


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Euclidean norm over the last axis."""
    return np.sqrt(np.sum(vectors*vectors, axis=-1))
