"""Parameters and presets of a system: what a number must be, and where it comes from."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from liestep.errors import InputError


def has_truth(value: Any) -> bool:
    """Whether a value, or a value in a list of lists, is true or false, which Python takes for 1 and 0."""
    if isinstance(value, np.ndarray):
        return value.dtype == bool
    return isinstance(value, bool | np.bool_) or (isinstance(value, list | tuple) and any(map(has_truth, value)))


@dataclass(frozen=True)
class Parameter:
    """One named parameter: `shape` uses letters for sizes that must agree between parameters
    ("n", "m") and integers."""

    units: str
    doc: str
    shape: tuple = ()
    rule: str = "finite"            # finite | positive | non-negative | index | choice
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> Any:
        """Normalised value (float, contiguous float64, int64 or str).

        Raises:
            InputError: wrong type, shape, sign, or not finite.
        """
        if self.rule == "choice":
            if not isinstance(value, str) or value not in self.choices:
                raise InputError(f"parameter {name} is {value!r}; allowed are {', '.join(self.choices)}")
            return value
        if has_truth(value):
            raise InputError(f"parameter {name} must be numbers, not true or false")
        kind = np.int64 if self.rule == "index" else np.float64
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"parameter {name} must be numbers, not {value!r}") from None
        wanted = "a scalar" if not self.shape else "of shape (" + ", ".join(map(str, self.shape)) + ")"
        if array.ndim != len(self.shape):
            raise InputError(f"parameter {name} must be {wanted}, not of shape {array.shape}")
        for size, expected in zip(array.shape, self.shape, strict=True):
            expected = sizes.setdefault(expected, size) if isinstance(expected, str) else expected
            if size != expected:
                raise InputError(f"parameter {name} must be {wanted} with size {expected}, not of shape {array.shape}")
        if array.size == 0:
            raise InputError(f"parameter {name} must not be empty")
        if not np.all(np.isfinite(array)):
            raise InputError(f"parameter {name} must be finite numbers")
        if self.rule == "positive" and not np.all(array > 0.0):
            raise InputError(f"parameter {name} must be positive")
        if self.rule in ("non-negative", "index") and not np.all(array >= 0.0):
            raise InputError(f"parameter {name} must not be negative")
        if self.rule == "index" and not np.all((array == np.round(array)) & (array < 2**31)):
            raise InputError(f"parameter {name} must be integers below 2^31")
        if not self.shape:
            return int(array) if self.rule == "index" else float(array)
        return np.ascontiguousarray(array.astype(kind))


@dataclass(frozen=True)
class Preset:
    """Named parameters, initial state and end time of a system, each value with its source.

    kind: "printed" (in the paper), "scaled" (equivalent units), "inferred" (deduced from the paper's numbers), "guess"
    (free choice), "own" (not from a paper).
    """

    doc: str
    citation: str
    kind: str
    parameters: Mapping[str, Any]
    initial: Callable[[dict], dict[str, np.ndarray]]  # parameters -> state fields
    t_end: float
