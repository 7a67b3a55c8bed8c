"""What compiled loops call of the components that they are given: NamedTuples whose classes are those of a run."""
from typing import Any, Protocol

import numpy as np

from liestep.compile.status import Status

Work = Any     # arrays, and tuples of them, of a class for each method
Arrays = tuple[np.ndarray, ...]
System = Any   # a system's own numbers, with the methods that its family calls
Problem = Any  # a `Component` with the methods of the formulation that a method asks for


class Component(Protocol):
    """What every formulation offers."""

    counters: np.ndarray

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """Write the observables of y, as many numbers as the `Formulated` declares; column 0 is the energy in J."""


class Integrator(Protocol):
    """A method, which works in what `workspace` gives for a state y (m, d)."""

    def workspace(self, problem: Problem, y: np.ndarray, /) -> Work: ...


class Stepper(Integrator, Protocol):
    """One with fixed steps."""

    def start(self, problem: Problem, t: float, y: np.ndarray, h: float, work: Work, /) -> Status: ...
    def step(self, problem: Problem, t: float, y: np.ndarray, h: float, work: Work, /) -> Status: ...


class Adaptive(Integrator, Protocol):
    """One that chooses its steps."""

    @property
    def control(self) -> Any: ...
    def start(self, problem: Problem, t: float, y: np.ndarray, t_end: float, work: Work, /) -> float: ...
    def attempt(self, problem: Problem, t: float, y: np.ndarray, h: float, work: Work, /) -> tuple[Status, float]: ...
    def interpolate(self, problem: Problem, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray, work: Work, /
                    ) -> None: ...
    def accept(self, problem: Problem, y: np.ndarray, work: Work, /) -> None: ...
    def rejected(self, h: float, /) -> None: ...


class Recorder(Protocol):
    """What keeps states and statistics of the points of a run."""

    points: int

    def record(self, problem: Component, y: np.ndarray, k: int, t: float, /) -> Status: ...


class Reader(Protocol):
    """What notes states for a controller."""

    def read(self, t: float, y: np.ndarray, /) -> None: ...
