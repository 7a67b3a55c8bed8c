"""The specification of one run: everything that determines its file, as a canonical dictionary with a hash. What makes
one, `simulation.runs.specification`, is no source of runs: all that it finds is in the text whose hash names a run."""
import hashlib
import json
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from liestep.compile.sources import OF_SOME_RUNS, some_runs, source_hash
from liestep.compile.trees import made_once
from liestep.mechanics.contracts.method import Entry, Method
from liestep.mechanics.contracts.sheet import Options, Parameters, Sheet

if TYPE_CHECKING:
    with some_runs:
        from liestep.simulation.endings.events import Control, Event
        from liestep.simulation.runs.starts import Ensemble

HELD = ("system", "declared")
SHARED = ("initial", "parameters")  # by all runs of a problem, which share their texts
LATER = ("before", "control", "events", "max_step", "stops")  # where there are none, the text is as it was before
MOST_TEXTS = 100  # of them, in memory
LARGE = 30        # numbers of an array whose text is kept
TRACED = ("vector_field", "lie_action", "lie_chart")  # formulations that may have code without loops


@dataclass(frozen=True)
class Before:
    """The run that one goes on: its start, its fixed steps up to where this one starts, what was counted there, and the
    rows of the state, as far as they are known beside its fields."""

    t_start: float
    steps: int
    shown: Mapping[str, np.ndarray]
    rows: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class RunSpecification:
    """One run, checked: made by `specify`. Arrays are float64; options are complete and resolved. It holds its system
    and its integrator (None for a problem alone), which are no part of its text. Times are in s; `steps` of methods
    with fixed steps or `tolerance` of adaptive ones size its steps."""

    system: Entry[Sheet] = field(repr=False, compare=False)
    declared: Entry[Method] | None = field(default=None, repr=False, compare=False)
    problem: str
    parameters: Parameters
    initial: Mapping[str, np.ndarray]
    integrator: str = ""
    options: Options = field(default_factory=dict)
    plugins: Mapping[str, str] = field(default_factory=dict)  # id -> content hash
    t_end: float
    t_start: float = 0.0         # after t_end: the run is backward
    steps: int | None = None
    tolerance: float | None = None
    before: Before | None = None
    max_step: float | None = None    # adaptive
    stops: tuple[float, ...] = ()    # adaptive: where steps end, growing; those of the system's functions of t too
    # what is kept of each trajectory
    samples: int
    outputs: int                 # adaptive: points of the statistics; fixed: steps + 1
    statistics_every: int = 1
    log_steps: bool = False      # adaptive: store accepted times and steps
    reduced: bool = False        # of maps and ensembles: numbers of each trajectory, no samples (`reductions`)
    times: np.ndarray | None = None  # output times of one's own, in the order of the run
    until: "Event | None" = None
    events: "tuple[Event, ...]" = ()   # at which it goes on
    control: "Control | None" = None
    # which trajectories are made from the start, and what is made beside them
    replicas: int = 1            # runs started 1 ulp apart whose spread is stored
    ensemble: "Ensemble | None" = None
    exponents: int = 0           # fixed steps: number of Lyapunov exponents, the largest ones; 0: none

    @property
    def grid(self) -> tuple[float, int]:
        """Time from which fixed steps count, and their number before the start."""
        return (self.before.t_start, self.before.steps) if self.before else (self.t_start, 0)

    @property
    def longest(self) -> float:
        """Longest step."""
        return self.max_step or inf

    @property
    def step(self) -> float | None:
        """Negative in a run backward."""
        start, done = self.grid
        return None if self.steps is None else (self.t_end - start)/(done + self.steps)

    @property
    def duration(self) -> float:
        return abs(self.t_end - self.t_start)

    @property
    def direction(self) -> float:
        """1 or -1, of time in the run."""
        return 1.0 if self.t_end > self.t_start else -1.0

    @property
    def trajectories(self) -> int:
        """Number of them in its file."""
        return self.ensemble.size if self.ensemble else 1

    def __getstate__(self) -> dict[str, Any]:
        """Without what it holds, which has functions that cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name not in HELD}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        with some_runs:  # of what the ids stand for, `modules` has the sources
            from liestep.simulation.catalogue import integrator_entry, system_entry

        self.__dict__.update(state, system=system_entry(state["problem"]),
                             declared=integrator_entry(state["integrator"]) if state["integrator"] else None)

    @property
    def sheet(self) -> Sheet:
        return self.system.item

    @property
    def method(self) -> Method:
        """As declared; `method.on(sheet)` has the formulation that it takes here."""
        assert self.declared is not None
        return self.declared.item

    @property
    def ending(self) -> str:
        """What carries it out, a module of `simulation.endings` with `run`; "" where it simply ends."""
        if self.events or self.until or self.times is not None or (self.before and "work" in self.before.shown):
            return "legs"
        return "control" if self.control else ""

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules whose sources determine the run's file."""
        assert self.declared is not None
        formulation = self.method.on(self.sheet).formulation
        return (self.system.module, self.declared.module, *self.sheet.forms[formulation].needs,
                "liestep.compile.driver", "liestep.simulation.runs.outcomes", "liestep.simulation.runs.files",
                # an edit of one of these puts only the runs that use it out of date
                *(module for module, used in (
                    ("liestep.simulation.machine_code.straight", formulation in TRACED),
                    ("liestep.simulation.runs.members", self.ensemble),
                    ("liestep.simulation.runs.starts", self.ensemble),
                    ("liestep.simulation.tangents.exponents", self.exponents),
                    ("liestep.simulation.tangents.rates", self.exponents),
                    (f"liestep.simulation.endings.{self.ending}", self.ending)) if used))

    @property
    def source_hash(self) -> str:
        """Stored in the file: a file of another one is out of date."""
        return source_hash(*self.modules, left_out=OF_SOME_RUNS)

    def times_of(self, points: np.ndarray) -> np.ndarray:
        """Times of points from the start on: of fixed steps, or of the statistics of an adaptive run."""
        start, done = self.grid
        return start + (done + points)*(self.step or self.direction*self.duration/(self.outputs - 1))

    @property
    def shown_before(self) -> tuple[float, Mapping[str, np.ndarray]] | None:
        """Time of the start, and what was counted up to it."""
        return (self.t_start, self.before.shown) if self.before and self.before.shown else None

    def _values(self) -> list[tuple[str, Any]]:
        values = {part.name: getattr(self, part.name) for part in fields(self) if part.compare} | {
            "ensemble": self.ensemble and self.ensemble.canonical(), "until": self.until and self.until.canonical(),
            "before": self.before and vars(self.before), **self.called}
        if self.declared is not None:
            own = self.method.options
            values["options"] = {name: value for name, value in self.options.items()
                                 if name not in own or not own[name].later or value != own[name].default}
        return sorted((name, value) for name, value in values.items() if name not in LATER or value)

    @cached_property
    def called(self) -> dict[str, Any]:
        """What it says of functions that are called, as they were when it was made: a run may change what they read."""
        return {"events": [one.identity() for one in self.events], "control": self.control and self.control.identity()}

    def canonical(self) -> dict[str, Any]:
        """JSON-ready dictionary; numbers as shortest decimals that give the same float64."""
        return dict(json.loads(self.text))

    @cached_property
    def frame(self) -> list[str]:
        """Its text before, between and after start and parameters; for runs that differ by these alone made once."""
        rest = [(name, value) for name, value in self._values() if name not in SHARED]
        return [_encode({name: value for name, value in rest if bisect(SHARED, name) == part})[1:-1]
                for part in range(3)]

    @cached_property
    def text(self) -> str:
        """json.dumps(canonical, sort_keys=True)."""
        first, second, third = self.frame
        initial, parameters = (f'"{name}": {_text_of(getattr(self, name))}' for name in SHARED)
        return f"{{{', '.join(filter(None, (first, initial, second, parameters, third)))}}}"

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


_encode = json.JSONEncoder(  # `json.dumps` makes one for each piece
    sort_keys=True, default=lambda value: dict(value) if isinstance(value, Mapping) else value.tolist()).encode


@made_once
def _text_of(values: Parameters) -> str:
    """JSON text of the parameters or the start of a problem."""
    texts = ((name, _encode(value) if np.size(value) <= LARGE else _text_of_array(
        value.dtype.str, value.shape, value.tobytes())) for name, value in sorted(values.items()))
    return f"{{{', '.join(f'{_encode(name)}: {text}' for name, text in texts)}}}"


@lru_cache(maxsize=MOST_TEXTS)
def _text_of_array(kind: str, shape: tuple[int, ...], data: bytes) -> str:
    """Of equal arrays made once: large starts are those of many problems, often with equal rows."""
    array, row = np.frombuffer(data, dtype=kind).reshape(shape), data[:len(data)//shape[0]]
    if data == row*shape[0]:
        return f"[{', '.join([_encode(array[0].tolist())]*shape[0])}]"
    return _encode(array.tolist())
