"""Helpers for chaotic motions: how long states can be compared at all, and where a number lies among an ensemble."""
from math import log

import numpy as np

SURE = 0.95  # share of an ensemble's members that a verdict needs


def horizon(time: np.ndarray, separation: np.ndarray, start: float = 1e-12, limit: float = 1e-6) -> float | None:
    """First time at which a perturbation of size `start` has grown to `limit`; None if it never does. time, separation:
    shape (n,), times that increase and the distance of the perturbed from the unperturbed motion, in the norm of
    `start` and `limit`. Between samples log(separation) is interpolated; separations below `start` count as `start`.
    Raises ValueError for shapes that do not match, values that are not finite, or unless 0 < start < limit."""
    time, separation = np.asarray(time, dtype=float), np.asarray(separation, dtype=float)
    if time.ndim != 1 or separation.shape != time.shape or not 0.0 < start < limit:
        raise ValueError(f"time and separation must be (n,) and 0 < start < limit; got {time.shape},"
                         f" {separation.shape}, {start}, {limit}")
    if not (np.all(np.isfinite(time)) and np.all(np.isfinite(separation))) or np.any(np.diff(time) <= 0.0):
        raise ValueError("times must increase, and times and separations must be finite")
    reached = np.flatnonzero(separation >= limit)
    if reached.size == 0:
        return None
    i = int(reached[0])
    if i == 0:
        return float(time[0])
    before = max(float(separation[i - 1]), start)
    return float(time[i - 1] + (time[i] - time[i - 1])*log(limit/before)/log(separation[i]/before))


def quantile_position(value: float, sample: np.ndarray) -> float:
    """Share of the sample below `value`, ties counted half: 0 below all members, 1 above all, 0.5 at the median."""
    sample = _members(sample)
    if not np.isfinite(value):
        raise ValueError(f"the value must be finite, got {value}")
    return float((np.count_nonzero(sample < value) + 0.5*np.count_nonzero(sample == value))/sample.size)


def interval(sample: np.ndarray, level: float = 0.9) -> tuple[float, float]:
    """Quantiles (1 - level)/2 and (1 + level)/2 of the sample, interpolated between members."""
    if not 0.0 < level <= 1.0:
        raise ValueError(f"level must be in (0, 1], got {level}")
    low, high = np.quantile(_members(sample), (0.5 - 0.5*level, 0.5 + 0.5*level))
    return float(low), float(high)


def _members(sample: np.ndarray) -> np.ndarray:
    """The sample as float (n,); raises ValueError unless n >= 2 and all are finite (leave failed members out)."""
    sample = np.asarray(sample, dtype=float)
    if sample.ndim != 1 or sample.size < 2 or not np.all(np.isfinite(sample)):
        raise ValueError("a sample needs one axis, at least two members, and finite values")
    return sample
