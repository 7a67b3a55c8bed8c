"""Starts of the members of an ensemble: perturbed, or on a grid: vectors turned by equally spaced angles."""
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.formulated import StateField, perturbed, quaternion_matrix, rotation_quaternion

AXES = "xyz"
MOST = 1000            # trajectories that share a file
MOST_REDUCED = 10_000  # members whose samples are not kept


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


@dataclass(frozen=True)
class Ensemble:
    """Members start from perturbed states; member 0 is unperturbed. amplitude is the size of
    the tangent perturbation. With `turns` they start on a grid, and there is no perturbation. One of more members than
    share a file is kept in shards: `count` members from number `first` on (0: all of them)."""

    members: int
    amplitude: float
    seed: int = 0
    turns: tuple[Turn, ...] = ()
    first: int = 0
    count: int = 0

    @property
    def size(self) -> int:
        """Number of members that are made together."""
        return self.count or self.members

    def canonical(self) -> dict[str, Any]:
        """As the specification says it."""
        return {**vars(self), "turns": [vars(turn) for turn in self.turns]}

    def coordinates(self) -> Iterator[tuple[str, np.ndarray, str, str]]:
        """Angles of the members on each side of the grid: name, values (size,), units, meaning."""
        for turn, angles in zip(self.turns, np.meshgrid(*(each.angles for each in self.turns), indexing="ij"),
                                strict=True):
            yield (f"turn_{turn.field}_{turn.index}_{turn.axis}", angles.ravel()[self.first:self.first + self.size],
                   "rad", f"angle by which vector {turn.index} of {turn.field} is turned about {turn.axis}")

    def shards(self, reduced: bool) -> Iterator["Ensemble"]:
        """Ensembles whose members share a file, which are together this one; itself where it is small enough."""
        most = MOST_REDUCED if reduced else MOST
        for first in range(0, self.members, most):
            yield self if self.members <= most else replace(self, first=first, count=min(most, self.members - first))

    def states(self, parts: Sequence[StateField], initial: Mapping[str, np.ndarray], most: int = 1
               ) -> Iterator[dict[str, np.ndarray]]:
        """The starts of all, each field (members, ...), of at most `most` or of MOST members at a time. Each MOST have
        random numbers of their own, so that a shard needs none of the others."""
        end, most = self.first + self.size, max(most//MOST, 1)*MOST
        for first in range(self.first, end, most):
            numbers = range(first, min(first + most, end))
            if self.turns:
                yield turned_states(parts, initial, self.turns, np.array(numbers))
                continue
            moved = perturbed(parts, initial, self.amplitude, [
                (np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(k//MOST,)*(k > 0)))),
                 min(MOST, end - k) - (k == 0)) for k in numbers[::MOST]])
            yield moved if first else {name: np.concatenate([np.asarray(values)[None], moved[name]])
                                       for name, values in initial.items()}


def turned_states(parts: Sequence[StateField], initial: Mapping[str, np.ndarray], turns: tuple[Turn, ...],
                  numbers: np.ndarray) -> dict[str, np.ndarray]:
    """The starts of these numbers, the last turn fastest."""
    turned = {name: np.repeat(np.asarray(values)[None], len(numbers), axis=0) for name, values in initial.items()}
    places = np.unravel_index(numbers, tuple(turn.count for turn in turns))
    for turn, place in zip(turns, places, strict=True):
        axis = np.eye(3)[AXES.index(turn.axis)]
        rotations = np.array([quaternion_matrix(rotation_quaternion(angle*axis)) for angle in turn.angles])[place]
        for name in (turn.field, *(part.name for part in parts if part.tangent == turn.field)):
            turned[name][:, turn.index] = np.sum(rotations*turned[name][:, None, turn.index], axis=-1)
    return turned


def each(states: Mapping[str, np.ndarray]) -> Iterator[dict[str, np.ndarray]]:
    """The starts one by one."""
    for number in range(len(next(iter(states.values())))):
        yield {name: values[number] for name, values in states.items()}


def read_turns(given: Any, initial: Mapping[str, np.ndarray]) -> tuple[Turn, ...]:
    """Checked turns of a request. Raises InputError: unknown keys, fields or axes, or a field without vectors of three
    at that index."""
    allowed = [part.name for part in fields(Turn)]
    turns = []
    for entry in given:
        if strange := [name for name in entry if name not in allowed]:
            raise InputError(unknown("key of a turn", strange[0], allowed))
        if missing := [name for name in allowed if name not in entry]:
            raise InputError(f"{missing[0]} of a turn is missing")
        turn = Turn(**entry)
        if turn.field not in initial:
            raise InputError(unknown("state field to turn", turn.field, initial))
        values = initial[turn.field]
        if values.ndim != 2 or values.shape[1] != 3 or not 0 <= turn.index < len(values):
            raise InputError(f"turn of {turn.field}: there is no vector {turn.index}; its shape is {values.shape}")
        if turn.axis not in AXES or len(turn.axis) != 1:
            raise InputError(f"turn of {turn.field}: axis must be x, y or z, not {turn.axis!r}")
        turns.append(turn)
    return tuple(turns)
