"""Events: functions of the state that people want to see become zero."""
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from liestep.compile.sources import MARK
from liestep.errors import InputError, number_or_nan, unknown
from liestep.mechanics.contracts.sheet import Fields, State
from liestep.simulation.runs.numbers import positive
from liestep.simulation.runs.own_names import Named, Own

Zero = Callable[[State], float] | tuple[str, ArrayLike | None, float]
Reset = Callable[[State], Fields]
OPEN: Any = ...  # in place of a default that follows from others


class Calling:
    """What a run calls: `functions` by the names of its arguments, and `canonical`, what a specification says of it."""

    def identity(self: Any) -> dict[str, Any]:
        """What a specification says of an event that goes on or of a control: the digest of all that its functions are
        and read, or why there is none (`unknown`)."""
        from liestep.simulation.plugins.reads import digest_of_reads

        try:
            return self.canonical() | {"sha256": digest_of_reads(self.functions)}
        except InputError as error:
            return self.canonical() | {"unknown": str(error)}


@dataclass(frozen=True)
class Event(Calling):
    """A function of the state that becomes zero.

    Args:
        zero: a function of the fields and observables by their names, or (name, index, value) where that component
            reaches the value, in the unit of the field.
        direction: 1 where the function grows in the order of the run, -1 where it falls, 0 for both and for points
            where it is zero without a change of sign.
        count: the run ends at so many of these events; None: it goes on (default: 1, with a reset None).
        reset: of events that go on (`simulate(events=...)`), a function of the state that gives the state fields which
            are new behind the event (default: none).
    """

    zero: Zero
    direction: int = 0
    count: int | None = OPEN
    reset: Reset | None = None

    def __post_init__(self) -> None:
        if self.count is OPEN:
            object.__setattr__(self, "count", 1 if self.reset is None else None)
        if self.reset is not None and not callable(self.reset):
            raise InputError("reset of an event must be a function of the state that gives new state fields, not"
                             f" {self.reset!r}")
        if isinstance(self.direction, bool) or self.direction not in (-1, 0, 1):
            raise InputError(f"direction of an event is {self.direction!r}; allowed are 1, -1 and 0 (both)")
        if self.count is not None and (isinstance(self.count, bool) or not isinstance(self.count, int)
                                       or self.count < 1):
            raise InputError(f"count of an event is {self.count!r}; allowed are 1, 2, ... and None (the run goes on)")
        if isinstance(self.zero, str):
            raise InputError(f"an event is the text {self.zero[:40]!r}, and no text is evaluated; allowed are a"
                             " function of the state and (field or observable, index, value)")
        if not callable(self.zero) and (not isinstance(self.zero, tuple | list) or len(self.zero) != 3):
            raise InputError("an event must be a function of the state, (field or observable, index, value) or"
                             f" liestep.Event of one of these, not {self.zero!r}")

    @property
    def functions(self) -> dict[str, Callable | str]:
        return {name: value for name, value in (("zero", self.zero), ("reset", self.reset)) if callable(value)}

    def canonical(self) -> dict[str, Any]:
        if callable(self.zero):
            zero: Any = f"function {getattr(self.zero, '__module__', '')}.{getattr(self.zero, '__qualname__', '')}"
        else:
            name, index, value = self.zero
            zero = [name, None if index is None else [int(k) for k in np.ravel(index)], float(value)]
        return {"zero": zero, "direction": self.direction, "count": self.count}


class EventFunction(NamedTuple):
    """What becomes zero: a component of a field less a level, or a function of the state."""

    name: str
    place: tuple[int, ...]
    level: float
    function: Callable[[State], float] | None = None
    own: Mapping[str, Own] = {}

    def over(self, fields: State, count: int) -> np.ndarray:
        """Its values at so many times, which are the first dimension of the fields."""
        if self.function is None:
            place: tuple[slice | int, ...] = (slice(None), *self.place)
            return np.asarray(Named(fields, self.own)[self.name][place] - self.level, dtype=np.float64)
        states = (Named({name: values[k] for name, values in fields.items()}, self.own) for k in range(count))
        return np.array([_number(answer("an event", self.function, state)) for state in states])

    def nearly(self, fields: State, count: int) -> np.ndarray:
        """Its values up to round-off: of all states at once, where the function takes columns for numbers."""
        if self.function is not None:
            with suppress(Exception), np.errstate(all="ignore"):
                numbers = np.asarray(self.function(Named({name: _columns(values) for name, values in fields.items()},
                                                       self.own)), float)
                ends = self.over({name: values[[0, -1]] for name, values in fields.items()}, 2)
                if numbers.shape == (count,) and np.abs(numbers[[0, -1]] - ends).max() <= 1e-9*np.abs(numbers).max():
                    return numbers
        return self.over(fields, count)


def _columns(values: np.ndarray) -> np.ndarray:
    """Values of many states (count, ...) as those of one, whose numbers are columns (count,)."""
    if values.ndim == 1:
        return values
    columns = np.empty(values.shape[1:], dtype=object)
    for place in np.ndindex(columns.shape):
        columns[place] = np.ascontiguousarray(values[:, *place])
    return columns


def answer(where: object, function: Callable, state: State, *before: float) -> Any:
    """What a person's function of a state, behind other arguments, gives. Raises InputError: it asks for a field that
    is not there, or fails."""
    try:
        return function(*before, state)
    except Exception as error:
        lacks = isinstance(error, KeyError) and error.args and error.args[0] not in state
        raise InputError(f"{where}: {unknown('field', error.args[0], state)}" if lacks else
                         f"{where}: {type(error).__name__}: {error}") from error


def event_function(event: Event, shapes: Mapping[str, tuple[int, ...]], own: Mapping[str, Own]) -> EventFunction:
    """What becomes zero at the event; shapes: of each field and observable at one time; own: further names. Raises
    InputError: a name that the run does not have, or an index that does not fit."""
    if callable(event.zero):
        return EventFunction("", (), 0.0, event.zero, own)
    names = {name: shapes[one.field] for name, one in own.items() if one.field in shapes} | dict(shapes)
    name, index, value = event.zero
    if name not in names:
        raise InputError(f"an event: {unknown('field or observable', name, names)}")
    place = () if index is None else tuple(index) if isinstance(index, tuple | list) else (index,)
    shape, level = names[name], _number(value)
    if len(place) != len(shape) or any(isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k < size
                                       for k, size in zip(place, shape, strict=False)):
        raise InputError(f"an event: the index {index!r} does not fit {name}, whose shape is {shape}; one number for"
                         " each dimension, from 0")
    return EventFunction(name, tuple(int(k) for k in place), level, None, own)


def _number(value: ArrayLike) -> float:
    if isinstance(value, bool | np.bool_ | str) or np.iscomplexobj(value) or np.ndim(value) != 0:
        raise InputError(f"an event must give a number that becomes zero there, not {value!r}")
    number = number_or_nan(value)
    if not np.isfinite(number):
        raise InputError(f"an event must give a finite number, not {value!r}; at a pole its inverse has a zero"
                         ) from (FloatingPointError() if np.isinf(number) else None)
    return number


def event_of(until: Event | Zero | None) -> Event | None:
    """`until` as people give it, as an event. Raises InputError."""
    return until if until is None or isinstance(until, Event) else Event(until)


def events_of(given: Any) -> tuple[Event, ...]:
    """`events` as people give them: one or several. Raises InputError."""
    several = given if isinstance(given, list) or (isinstance(given, tuple) and not (
        given and isinstance(given[0], str))) else [given]
    return () if given is None else tuple(one if isinstance(one, Event) else Event(one) for one in several)


@dataclass(frozen=True)
class Control(Calling):
    """A function of (t, state) that gives values of parameters, held for `sample` s each. Where it has a method
    `start`, runs call that first, but those that go on another one (`resumed`): its memory is then as at their end."""

    function: Callable[[float, State], Fields]
    sample: float
    resumed: bool = False

    def begin(self) -> None:
        """Make its memory that of the start of a run."""
        if hasattr(self.function, "start") and not self.resumed:
            self.function.start()

    def kept(self) -> "Control":
        """With the memory of now, which no later run changes, for one that goes on."""
        with_memory = hasattr(self.function, "start")
        return replace(self, function=deepcopy(self.function), resumed=True) if with_memory else self

    @property
    def functions(self) -> dict[str, Callable | str]:
        """Of a plugin with the hash of its text."""
        text = getattr(sys.modules.get(getattr(self.function, "__module__", "")), MARK, "")
        return {"control": self.function} | ({"text": text} if text else {})

    def canonical(self) -> dict[str, float | None]:
        return {"sample": self.sample}


def control_of(function: Callable | None, sample: float | None) -> Control | None:
    """`control` and `sample` as people give them. Raises InputError."""
    if function is None and sample is None:
        return None
    if isinstance(function, Control):
        return function if sample is None else replace(function, sample=positive("sample", sample))
    if not callable(function):
        raise InputError(f"control must be a function of (t, state) that gives parameters by their names, not"
                         f" {function!r}")
    if sample is None:
        raise InputError("control needs sample=, the time in s for which each of its values is held")
    made = Control(function, positive("sample", sample))
    made.begin()  # its memory is part of its identity
    return made


def times_from(text: str | None) -> list[float] | None:
    """Output times from a command line. Raises InputError."""
    if text is None:
        return None
    places = [number_or_nan(part) for part in text.split(",")]
    if not np.isfinite(places).all():
        raise InputError(f"--times {text[:40]!r} must be numbers with commas between them, for example 0,0.1,1")
    return places


def event_from(text: str | None, direction: int, count: int) -> Event | None:
    """An event from a command line. Raises InputError."""
    if text is None:
        return None
    matched = re.fullmatch(r"(\w+)(?::(\d+(?:,\d+)*))?=(.+)", text)
    if matched is None:
        raise InputError(f"--until {text[:40]!r} must be NAME:INDEX=VALUE, for example q:0,2=-0.5 or energy=1")
    name, index, value = matched.groups()
    return Event((name, tuple(map(int, index.split(","))) if index else None, number_or_nan(value)), direction, count)
