"""Starts of the members of an ensemble that lie on a grid: vectors of the start turned by equally spaced angles."""
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np

from liestep.contracts.formulated import StateField
from liestep.contracts.norms import quaternion_matrix, rotation_quaternion
from liestep.errors import InputError, unknown

AXES = "xyz"


@dataclass(frozen=True)
class Turn:
    """One side of the grid: vector `index` of a state field, and of the fields tangent to it, is turned about a spatial
    axis by `count` angles from `first` to `last` (rad)."""

    field: str
    index: int
    axis: str
    first: float
    last: float
    count: int

    @property
    def angles(self) -> np.ndarray:
        return np.linspace(self.first, self.last, self.count)


def turned_states(parts: Iterable[StateField], initial: Mapping[str, np.ndarray],
                  turns: tuple[Turn, ...]) -> Iterator[dict[str, np.ndarray]]:
    """The starts, the last turn fastest."""
    tangents = {turn.field: [turn.field, *(part.name for part in parts if part.tangent == turn.field)]
                for turn in turns}
    for angles in product(*(turn.angles for turn in turns)):
        state = {name: values.copy() for name, values in initial.items()}
        for turn, angle in zip(turns, angles, strict=True):
            rotation = quaternion_matrix(rotation_quaternion(angle*np.eye(3)[AXES.index(turn.axis)]))
            for name in tangents[turn.field]:
                state[name][turn.index] = np.sum(rotation*state[name][turn.index], axis=-1)
        yield state


def read_turns(given: Any, initial: Mapping[str, np.ndarray]) -> tuple[Turn, ...]:
    """Checked turns of a request.

    Raises:
        InputError: unknown keys, fields or axes, or a field without vectors of three at that index.
    """
    allowed = [part.name for part in fields(Turn)]
    found = []
    for entry in given:
        for name in entry:
            if name not in allowed:
                raise InputError(unknown("key of a turn", name, allowed))
        for name in allowed:
            if name not in entry:
                raise InputError(f"{name} of a turn is missing")
        turn = Turn(**entry)
        if turn.field not in initial:
            raise InputError(unknown("state field to turn", turn.field, initial))
        values = initial[turn.field]
        if values.ndim != 2 or values.shape[1] != 3 or not 0 <= turn.index < len(values):
            raise InputError(f"turn of {turn.field}: there is no vector {turn.index}; its shape is {values.shape}")
        if turn.axis not in AXES or len(turn.axis) != 1:
            raise InputError(f"turn of {turn.field}: axis must be x, y or z, not {turn.axis!r}")
        found.append(turn)
    return tuple(found)
