"""Where a number lies among an ensemble of chaotic motions."""
import numpy as np

SURE = 0.95  # share of an ensemble's members that a verdict needs


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
