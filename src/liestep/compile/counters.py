"""Counters of work: positions in the array `counters` of every formulation (free of cost in compiled code)."""
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np


class Counter(IntEnum):
    """What is counted; names become attributes of every file.

    FORCE_EVALUATIONS  of all forces of the system at one state
    RHS_EVALUATIONS    of a right-hand side, or of a residual of the equations of motion in an implicit step

    Each of the p coefficients of a Taylor series of order p, which are values of the right-hand side and of its
    derivatives along the solution, counts as one right-hand side."""

    FORCE_EVALUATIONS = 0
    RHS_EVALUATIONS = 1
    EXPONENTIALS = 2
    LINEAR_SOLVES = 3
    ITERATIONS = 4
    STEPS_ACCEPTED = 5
    STEPS_REJECTED = 6


NAMES = tuple(counter.name.lower() for counter in Counter)
# the evaluations of a run are the larger of these, and at least its steps: see `evaluations_of`
EVALUATIONS = tuple(NAMES[counter] for counter in (Counter.FORCE_EVALUATIONS, Counter.RHS_EVALUATIONS))


def new_counters() -> np.ndarray:
    """All counters at zero, shape (len(Counter),), int64."""
    return np.zeros(len(Counter), dtype=np.int64)


def evaluations(counters: np.ndarray) -> int:
    """Evaluations of forces or right-hand sides that were counted, see EVALUATIONS."""
    return int(max(counters[Counter.FORCE_EVALUATIONS], counters[Counter.RHS_EVALUATIONS]))


def evaluations_of(counted: Mapping[Any, Any]) -> Any:
    """Evaluations of forces or right-hand sides of a run, or of each run of a table: counters by name, and `steps`. A
    right-hand side that asks for the forces may count both, so that it is the larger of them. A step that needs none,
    as that of an exact free motion, counts as one: budgets count it so too."""
    return np.fmax.reduce([counted[name] for name in (*EVALUATIONS, "steps")])


def counts(counters: np.ndarray) -> dict[str, int]:
    """Counter values by lower-case name."""
    return {name: int(value) for name, value in zip(NAMES, counters, strict=True)}
