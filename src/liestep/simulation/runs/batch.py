"""Trajectories that are made together, as arrays with a row for each."""
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from liestep.compile.counters import counts
from liestep.compile.status import Status
from liestep.mechanics.contracts.formulated import Formulated
from liestep.simulation.runs.execution import Outcome, Recorder


def changed(recorder: Recorder, change: Callable[[np.ndarray], np.ndarray]) -> Recorder:
    """A recorder with other arrays; its scratch stays."""
    own: dict[str, Any] = {name: change(value) for name, value in recorder._asdict().items()
                           if isinstance(value, np.ndarray) and name != "scratch"}
    return recorder._replace(**own)


@dataclass
class Batch:
    """Trajectories of one component, or of several that are read alike. Recorders and arrays have a row for each;
    `each` has what reads the fields of each, if it differs."""

    formulated: Formulated
    outputs: Recorder
    accepted: Recorder | None
    status: np.ndarray        # (n,)
    time_reached: np.ndarray  # (n,)
    steps: np.ndarray         # (n,)
    counters: np.ndarray      # (n, len(counters.NAMES))
    scale: np.ndarray         # (n,) of momenta
    reduced: np.ndarray = field(default_factory=lambda: np.zeros((0, 3, 0)))  # (n, 3, K) see `loops.reduce_blocks`
    each: Sequence[Callable[..., dict[str, np.ndarray]]] = ()
    growth: np.ndarray = field(default_factory=lambda: np.zeros((1, 0, 0)))  # see `Outcome`
    again: int = 0  # how many were run again alone, because their lanes could not go on

    @classmethod
    def of(cls, outcome: Outcome) -> "Batch":
        """A single one."""
        row = partial(changed, change=lambda value: value[None])
        return cls(outcome.formulated, row(outcome.outputs), outcome.accepted and row(outcome.accepted),
                   np.array([outcome.status]), np.array([outcome.time_reached]), np.array([outcome.steps]),
                   np.array([list(outcome.counters.values())]), np.array([outcome.formulated.momentum_scale]),
                   growth=outcome.growth[None])

    @property
    def samples(self) -> np.ndarray:
        """(n,): how many were written."""
        return self.outputs.filled[:, 0]

    @property
    def finished(self) -> np.ndarray:
        """(n,): whether it came to its end."""
        return self.status == Status.OK

    def recorders(self) -> list[Recorder]:
        return [self.outputs, self.accepted] if self.accepted else [self.outputs]

    def room(self, n: int) -> "Batch":
        """The same with room for n."""
        def zeros(value: np.ndarray) -> np.ndarray:
            return np.zeros((n, *value.shape[1:]), value.dtype) if len(value) == len(self.status) else value

        outputs, *accepted = (changed(one, zeros) for one in self.recorders())
        own: dict[str, Any] = {name: zeros(value) for name, value in vars(self).items() if hasattr(value, "dtype")}
        return replace(self, **own, outputs=outputs, accepted=accepted[0] if accepted else None)

    def put(self, numbers: Sequence[int] | np.ndarray, other: "Batch") -> None:
        """Replace rows by those of other trajectories; what all share stays."""
        for own, new in ((vars(self), vars(other)), *((one._asdict(), another._asdict()) for one, another in zip(
                self.recorders(), other.recorders(), strict=True))):
            for name, value in own.items():
                if hasattr(value, "dtype") and len(value) == len(self.status) and name not in ("scratch", "growth"):
                    value[numbers] = new[name]

    def row(self, number: int) -> tuple[Recorder, Recorder | None]:
        """The recorders of one of them."""
        row = partial(changed, change=lambda value: value[min(number, len(value) - 1)])
        return row(self.outputs), self.accepted and row(self.accepted)

    def member(self, number: int) -> Outcome:
        """One of them."""
        own = replace(self.formulated, momentum_scale=float(self.scale[number]),
                      to_fields=self.each[number] if self.each else self.formulated.to_fields)
        return Outcome(own, *self.row(number), Status(self.status[number]), float(self.time_reached[number]),
                       int(self.steps[number]), counts(self.counters[number]))
