"""Work counters: positions in the `meter` array that every formulation carries (free of cost in compiled code)."""
from enum import IntEnum

import numpy as np


class Counter(IntEnum):
    """What is counted; names become attributes of every file."""

    FORCE_EVALUATIONS = 0
    RHS_EVALUATIONS = 1
    EXPONENTIALS = 2
    LINEAR_SOLVES = 3
    ITERATIONS = 4
    STEPS_ACCEPTED = 5
    STEPS_REJECTED = 6


NAMES = tuple(counter.name.lower() for counter in Counter)


def new_meter() -> np.ndarray:
    """All counters at zero, shape (len(Counter),), int64."""
    return np.zeros(len(Counter), dtype=np.int64)


def counts(meter: np.ndarray) -> dict[str, int]:
    """Counter values by lower-case name."""
    return {name: int(value) for name, value in zip(NAMES, meter, strict=True)}
