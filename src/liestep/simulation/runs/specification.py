"""The specification of one run: everything that determines its file, as a canonical dictionary with a hash."""
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import ceil, floor, inf, isfinite, isqrt, prod
from typing import Any

import numpy as np

from liestep.compile.sources import source_hash
from liestep.compile.translation import plugin_errors
from liestep.errors import InputError, number_or_nan, require_plain, unknown
from liestep.mechanics.contracts.manifold import DRIFTED, MANIFOLD_TOLERANCE, drifting
from liestep.mechanics.contracts.method import Method
from liestep.mechanics.contracts.sheet import Cells, Preset, Sheet, once
from liestep.simulation.catalogue import (
    Entry,
    integrator_entry,
    integrator_ids,
    method,
    sheet,
    system_entry,
    system_ids,
)
from liestep.simulation.runs.events import Control, Event, control_of, event_of, events_of, identity
from liestep.simulation.runs.numbers import MOST, at_least_two, finite, mapping, positive, whole
from liestep.simulation.runs.starts import Ensemble, read_turns

HELD = ("system", "declared")
SHARED = ("initial", "parameters")  # by all runs of a problem
LATER = ("before", "control", "events", "max_step", "stops")  # where there are none, the text is as it was before
MOST_TEXTS = 100  # of them, in memory
DEFAULT_SAMPLES = 1001  # most samples by default; fewer if the intervals would be no whole numbers of steps
MOST_STEPS = 10**12  # of fixed steps: the fastest method takes a day for them
STEP_TOLERANCE = 1e-9   # relative mismatch of t_end/step that still counts as a whole number of steps


@dataclass(frozen=True)
class Before:
    """The run that one goes on: its start, its fixed steps up to where this one starts, what was counted there, and the
    rows of the state, as far as they are known beside its fields."""

    t_start: float
    steps: int
    shown: Mapping[str, np.ndarray]
    rows: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True)
class Horizon:
    """Times of a run in s, and what sizes its steps: `steps` of methods with fixed steps, `tolerance` of adaptive ones.
    """

    t_end: float
    t_start: float = 0.0         # after t_end: the run is backward
    steps: int | None = None
    tolerance: float | None = None
    before: Before | None = None
    max_step: float | None = None    # adaptive
    stops: tuple[float, ...] = ()    # adaptive: where steps end, growing; those of the system's functions of t too

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


@dataclass(frozen=True, kw_only=True)
class Output:
    """What is kept of each trajectory."""

    samples: int
    outputs: int                 # adaptive: points of the statistics; fixed: steps + 1
    statistics_every: int = 1
    log_steps: bool = False      # adaptive: store accepted times and steps
    reduced: bool = False        # of maps and ensembles: numbers of each trajectory, no samples (`reductions`)
    times: np.ndarray | None = None  # output times of one's own, in the order of the run
    until: Event | None = None
    events: tuple[Event, ...] = ()   # at which it goes on
    control: Control | None = None

    @property
    def observed(self) -> bool:
        """Whether its samples are not those of its time loop (`simulation.runs.until`)."""
        return self.times is not None or self.until is not None


@dataclass(frozen=True, kw_only=True)
class Trajectories:
    """Which trajectories are made from the start, and what is made beside them."""

    replicas: int = 1            # runs started 1 ulp apart whose spread is stored
    ensemble: Ensemble | None = None
    exponents: int = 0           # fixed steps: number of Lyapunov exponents, the largest ones; 0: none

    @property
    def trajectories(self) -> int:
        """Number of them in its file."""
        return self.ensemble.size if self.ensemble else 1


@dataclass(frozen=True, kw_only=True)
class RunSpecification(Horizon, Output, Trajectories):
    """One run, checked: made by `specify`. Arrays are float64; options are complete and resolved. It holds its system
    and its integrator (None for a problem alone), which are no part of its text."""

    system: Entry[Sheet] = field(repr=False, compare=False)
    declared: Entry[Method] | None = field(default=None, repr=False, compare=False)
    problem: str
    parameters: Mapping[str, Any]
    initial: Mapping[str, np.ndarray]
    integrator: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    plugins: Mapping[str, str] = field(default_factory=dict)  # id -> content hash

    def __getstate__(self) -> dict[str, Any]:
        """Without what it holds, which has functions that cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name not in HELD}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
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
    def modules(self) -> tuple[str, ...]:
        """Modules whose sources determine the run's file."""
        assert self.declared is not None
        return (self.system.module, self.declared.module, "liestep.mechanics.formulations",
                "liestep.compile.driver", "liestep.simulation.runs.execution", "liestep.simulation.runs.files",
                # an edit of one of these puts only the runs that use it out of date
                *(module for module, used in (
                    ("liestep.simulation.runs.batches", self.ensemble),
                    ("liestep.simulation.tangents.exponents", self.exponents),
                    ("liestep.simulation.runs.until", self.observed),
                    ("liestep.simulation.runs.legs", self.events),
                    ("liestep.simulation.runs.control", self.control),
                    ("liestep.compile.going", self.before)) if used))

    @property
    def source_hash(self) -> str:
        """Stored in the file: a file of another one is out of date."""
        return source_hash(*self.modules)

    def times_of(self, points: np.ndarray) -> np.ndarray:
        """Times of points from the start on: of fixed steps, or of the statistics of an adaptive run."""
        start, done = self.grid
        return start + (done + points)*(self.step or self.direction*self.duration/(self.outputs - 1))

    @property
    def shown_before(self) -> tuple[float, Mapping[str, np.ndarray]] | None:
        """Time of the start, and what was counted up to it."""
        return (self.t_start, self.before.shown) if self.before and self.before.shown else None

    def _values(self) -> list[tuple[str, Any]]:
        values = {part.name: getattr(self, part.name) for part in fields(self) if part.compare}
        values |= {"ensemble": self.ensemble and self.ensemble.canonical(),
                   "until": self.until and self.until.canonical(), "before": self.before and vars(self.before),
                   **self.called}
        if self.declared is not None:
            own = self.method.options
            values["options"] = {name: value for name, value in self.options.items()
                                 if name not in own or not own[name].later or value != own[name].default}
        return sorted((name, value) for name, value in values.items() if name not in LATER or value)

    @cached_property
    def called(self) -> dict[str, Any]:
        """What it says of functions that are called, as they were when it was made: a run may change what they read."""
        return {"events": [identity(one) for one in self.events], "control": self.control and identity(self.control)}

    def canonical(self) -> dict[str, Any]:
        """JSON-ready dictionary; numbers as shortest decimals that give the same float64."""
        return {name: _plain(value) for name, value in self._values()}

    @cached_property
    def sha256(self) -> str:
        """Of the text json.dumps(canonical, sort_keys=True), whose long pieces all runs of a problem share."""
        pieces = (f'"{name}": {(_text_of if name in SHARED else _json)(value)}' for name, value in self._values())
        return hashlib.sha256(f"{{{', '.join(pieces)}}}".encode()).hexdigest()


_texts: dict[int, tuple[Mapping[str, Any], str]] = {}


def _text_of(values: Mapping[str, Any]) -> str:
    """JSON text of the parameters or the start of a problem, made once for the runs that hold the same object."""
    held, text = _texts.get(id(values), (None, ""))
    if held is not values:
        if len(_texts) == MOST_TEXTS:
            _texts.clear()
        text = _json(values)
        _texts[id(values)] = values, text
    return text


def _json(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in sorted(value.items())}
    return value


@dataclass(frozen=True)
class Start:
    """What all runs of one problem have in common, checked: made by `start_of`."""

    parameters: Mapping[str, Any]
    initial: Mapping[str, np.ndarray]
    t_end: float     # end time of the preset
    system: Entry[Sheet] = field(repr=False, compare=False)


def start_of(problem: str, *, preset: str | None = None, parameters: Mapping | None = None,
             initial: Mapping | None = None) -> Start:
    """`start_in` a system by its id."""
    return start_in(system_entry(problem), preset, parameters, initial)


@plugin_errors()
def start_in(system: Entry[Sheet], preset: str | None, parameters: Mapping | None, initial: Mapping | None,
             cells: Cells | None = None) -> Start:
    """Check parameters and initial state; what is not given comes from the preset (default: the system's). cells: it is
    one of these. Raises InputError: one sentence: what is wrong, and what is allowed."""
    facts = system.item
    if preset is not None and (not isinstance(preset, str) or preset not in facts.presets):
        raise InputError(unknown(f"preset of {system.name}", preset, facts.presets))
    chosen = facts.presets[preset or facts.default]
    parameters, initial = mapping("parameters", parameters), mapping("initial", initial)
    with np.errstate(all="ignore"):  # numbers of 1e300 are refused in a sentence, without NumPy's warning
        checked = facts.check({**chosen.parameters, **parameters}, cells)
        state = facts.check_initial(checked, once(_first_state, checked, facts, chosen, initial))
    return Start(checked, state, chosen.t_end, system)


def _first_state(parameters: Mapping[str, Any], facts: Sheet, chosen: Preset, initial: Mapping) -> dict[str, Any]:
    given = set(facts.state_shapes(parameters)) <= set(initial)
    return {**({} if given else chosen.initial(parameters)), **initial}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a request says beside its start and options, by the keywords of `liestep.simulate`, not checked yet."""

    t_start: Any = None
    t_end: Any = None
    step: Any = None
    steps: Any = None
    tolerance: Any = None
    samples: Any = None
    outputs: Any = None
    statistics_every: Any = 1
    log_steps: Any = False
    reduced: Any = False
    times: Any = None
    until: Any = None
    events: Any = None
    control: Any = None
    sample: Any = None
    max_step: Any = None
    stops: Any = None
    replicas: Any = 1
    ensemble: Any = None
    exponents: Any = 0
    before: Before | None = None


def specify(problem: str, integrator: str, *, start: Start | None = None, preset: str | None = None,
            parameters: Mapping | None = None, initial: Mapping | None = None, options: Mapping | None = None,
            **more: Any) -> RunSpecification:
    """Check a request and fill in what it leaves open; `more` are the fields of `Asked`. A preset (default: the
    system's) gives parameters, initial state and t_end; the other arguments override it. `start` stands for preset,
    parameters and initial when they have been checked before. The integrator is one of `catalogue.integrator_calls`,
    whose options are then the defaults. Raises InputError: one sentence: what is wrong, and what is allowed."""
    asked, known = Asked(**more), integrator_entry(integrator)
    held = start.system if start else system_entry(problem)
    facts, declared = held.item, known.item.on(held.item)
    _require_applicable(held, known)
    with drifting(MANIFOLD_TOLERANCE if asked.t_start is None else DRIFTED):
        start = start or start_in(held, preset, parameters, initial)
    _require_applicable(held, known, start.parameters)
    begin, end = _ends(asked, start.t_end)
    try:
        resolved = complete_options(declared, facts, start.parameters, mapping("options", options))
    except InputError as error:
        raise InputError(f"{integrator}: {error}") from None
    count = tolerance = None
    control = control_of(asked.control, asked.sample)
    if control and declared.adaptive:  # its points are the instants at which it is asked
        asked = replace(asked, outputs=whole_steps(abs(end - begin), control.sample, "sample") + 1)
    if declared.adaptive:
        tolerance, points = _adaptive_size(asked, integrator)
        _require_above_round_off(tolerance, declared, resolved, start.initial)
    else:
        points = count = _fixed_size(asked, integrator, declared.fewest_steps, abs(end - begin))
    made = RunSpecification(
        t_start=begin, t_end=end, steps=count, tolerance=tolerance, outputs=points + 1,
        times=output_times(asked.times, begin, end, asked.samples), samples=_samples(asked.samples, points),
        statistics_every=whole("statistics_every", asked.statistics_every), log_steps=bool(asked.log_steps),
        reduced=bool(asked.reduced), replicas=whole("replicas", asked.replicas),
        ensemble=_ensemble(asked.ensemble, start.initial), exponents=_exponents(asked.exponents, facts, start),
        before=asked.before, max_step=_longest(asked.max_step),
        stops=_stops(asked, declared, start, begin, end, count),
        until=event_of(asked.until), events=events_of(asked.events), control=control, problem=held.name,
        parameters=start.parameters, initial=start.initial,
        integrator=known.name, options=resolved, plugins=_contents(held, known), system=held,
        declared=known if known.name == integrator else integrator_entry(known.name))
    vars(made)["called"] = made.called  # before a run changes what they read
    return made


def _adaptive_size(asked: Asked, integrator: str) -> tuple[float, int]:
    """Tolerance, and the number of the last point of the statistics. Raises InputError."""
    if asked.tolerance is None or asked.step is not None or asked.steps is not None:
        raise InputError(f"{integrator} is adaptive: give a tolerance, not a step")
    tolerance = positive("tolerance", asked.tolerance)
    if asked.exponents:
        raise InputError(f"{integrator} is adaptive: exponents need fixed steps")
    if asked.outputs is not None:
        return tolerance, at_least_two("outputs", asked.outputs) - 1
    return tolerance, (DEFAULT_SAMPLES if asked.samples is None else at_least_two("samples", asked.samples)) - 1


def _fixed_size(asked: Asked, integrator: str, fewest: int, span: float) -> int:
    """Number of steps in a time of `span` s. Raises InputError."""
    step, steps = asked.step, asked.steps
    if step is not None and steps is not None:
        raise InputError(f"{integrator}: step {step!r} and steps {steps!r} are both given; give one of them")
    if asked.tolerance is not None or (step is None and steps is None):
        raise InputError(f"{integrator} has fixed steps: give a step, not a tolerance")
    if asked.outputs is not None or asked.log_steps:
        raise InputError(f"{integrator} has fixed steps: outputs and log_steps are for adaptive integrators")
    if _longest(asked.max_step):
        raise InputError(f"{integrator} has fixed steps: give a shorter step; max_step is for adaptive integrators")
    count = whole_steps(span, step) if step is not None else whole("steps", steps)
    if count > MOST_STEPS:
        raise InputError(f"{integrator} would make {count:.4g} steps; at most {MOST_STEPS:.0e} are made in one run,"
                         f" so that the shortest step here is {span/MOST_STEPS!r}")
    if count < fewest:
        raise InputError(f"{integrator} needs at least {fewest} steps, not {count}: the longest step is"
                         f" {span/fewest!r}")
    return count


def _contents(*entries: Entry) -> dict[str, str]:
    """id -> content hash of those that come from plugins."""
    return {entry.name: entry.content for entry in entries if entry.content}


def _ends(asked: Asked, preset: float) -> tuple[float, float]:
    """Start and end of a run; the end of a preset counts from the start. Raises InputError: no finite numbers, the same
    time twice, or exponents of a run that does not go forward from 0."""
    begin = 0.0 if asked.t_start is None else finite("t_start", asked.t_start)
    end = begin + preset if asked.t_end is None else finite("t_end", asked.t_end)
    if end == begin or not isfinite(end - begin):
        raise InputError(f"t_end must differ from the start t = {begin!r}, by a finite time: it is {end!r}")
    if asked.exponents and (begin != 0.0 or end < 0.0):
        raise InputError("exponents are of runs from t = 0 forward; leave out t_start, and give a positive t_end")
    return begin, end


def _longest(given: Any) -> float | None:
    """The longest step; infinity, as in scipy, is none. Raises InputError: it is not positive."""
    return None if given is None or number_or_nan(given) == inf else positive("max_step", given)


def _stops(asked: Asked, declared: Method, start: Start, begin: float, end: float,
           steps: int | None) -> tuple[float, ...]:
    """Times at which the steps of an adaptive run end, those of the system's functions of t included. Raises
    InputError: as `output_times`, or fixed steps do not end there."""
    given, control = times_of("stops", asked.stops, begin, end), asked.control is not None
    if control and (given is not None or asked.max_step is not None):
        raise InputError("max_step and stops are not for runs with control, whose steps end at each of its instants:"
                         " take a shorter sample")
    for stop in given if given is not None and steps else ():
        assert steps
        place = (stop - begin)/(end - begin)*steps
        if abs(place - round(place)) > STEP_TOLERANCE*max(1.0, abs(place)):
            raise InputError(f"t = {float(stop)!r} of stops is no end of a step of {(end - begin)/steps!r}: with fixed"
                             " steps it must be one")
    if not declared.adaptive or asked.control is not None:
        return ()
    found = set() if given is None else {*given.tolist()}
    if start.system.item.clock is not None:
        from liestep.simulation.runs.stops import stops_in  # few systems need it

        found |= stops_in(start.system.item.clock, start.parameters, *sorted((begin, end)))
    return tuple(sorted(found))


def output_times(given: Any, begin: float, end: float, samples: Any = None) -> np.ndarray | None:
    """Output times of one's own, checked. Raises InputError: as `times_of`, or with `samples`."""
    if given is not None and samples is not None:
        raise InputError("give times or samples, not both")
    return times_of("times", given, begin, end)


def times_of(name: str, given: Any, begin: float, end: float) -> np.ndarray | None:
    """Times that were given, checked. Raises InputError: no numbers, not in the order of the run, or outside of it."""
    if given is None:
        return None
    if isinstance(given, str) or not np.iterable(given):
        raise InputError(f"{name} must be a list of numbers, not {given!r}")
    require_plain(name, given)
    times = np.array([number_or_nan(value) if not isinstance(value, str) else np.nan for value in given])
    sign = 1.0 if end > begin else -1.0
    if not times.size:
        raise InputError(f"{name} is empty; give at least one time, or leave it out")
    if not np.isfinite(times).all():
        raise InputError(f"{name} must be finite numbers; number {int(np.argmin(np.isfinite(times)))} is not one")
    if not np.all(np.diff(sign*times) > 0.0):
        place = int(np.argmin(np.diff(sign*times) > 0.0))
        raise InputError(f"{name} must {'grow' if sign > 0.0 else 'fall, as the run is backward'}: {times[place]!s}"
                         f" stands before {times[place + 1]!s}")
    for value in (times[0], times[-1]):
        if not min(begin, end) <= value <= max(begin, end):
            raise InputError(f"t = {value!s} of {name} is outside of the run, which is from {begin!r} to {end!r}")
    return times


def specify_problem(problem: str, *, t_end: float | None = None, samples: int | None = None,
                    **chosen: Any) -> RunSpecification:
    """A problem without an integrator, checked: what references and checks of a system start from. `chosen`: preset,
    parameters and initial, see `start_of`. Raises InputError: one sentence: what is wrong, and what is allowed."""
    start = start_of(problem, **chosen)
    samples = DEFAULT_SAMPLES if samples is None else at_least_two("samples", samples)
    return RunSpecification(problem=problem, parameters=start.parameters, initial=start.initial,
                            t_end=positive("t_end", start.t_end if t_end is None else t_end), samples=samples,
                            outputs=samples, plugins=_contents(start.system), system=start.system)


def complete_options(declared: Method, facts: Sheet, parameters: Mapping[str, Any],
                     given: Mapping[str, Any]) -> dict[str, Any]:
    """All options that exist for an integrator on a system, those of the form and its own, defaults filled in. Raises
    InputError: an option that does not exist there, or a value or combination that is not allowed."""
    form = facts.forms[declared.formulation]
    for name in given:
        if name not in form.options and name not in declared.options:
            raise InputError(_strange_option(name, declared, facts))
    chosen = form.preferred(parameters, given, declared.prefers)
    own = {name: option.check(name, given[name] if name in given else option.default_at(parameters, chosen))
           for name, option in declared.options.items()}
    if not declared.projects:
        for name, value in chosen.items():
            form.options[name].require_projection(name, value)
    resolved = declared.resolve(chosen | own)
    declared.combination(resolved, facts, parameters)
    return resolved


def _strange_option(name: str, declared: Method, facts: Sheet) -> str:
    """Why an option does not exist: who has it, or the closest name."""
    forms = [key for key, form in facts.forms.items() if name in form.options]
    systems = [key for key in system_ids() if (form := sheet(key).forms.get(declared.formulation)) and
               name in form.options]
    owners = [key for key in integrator_ids() if name in method(key).options]
    head = f"option {name} does not exist for {declared.formulation} of {facts.title}"
    if forms:
        return f"{head}: it is one of {', '.join(forms)}"
    if systems:
        return f"{head}: {declared.formulation} of {', '.join(systems)} has it"
    if owners:
        return f"{head}: it is one of {', '.join(owners)}"
    allowed = {**facts.forms[declared.formulation].options, **declared.options}
    return unknown("option", name, allowed) if allowed else f"unknown option {name!r}: there is none here"


def _require_applicable(held: Entry[Sheet], known: Entry[Method], parameters: Mapping[str, Any] | None = None) -> None:
    """Raises InputError when the integrator cannot run on the system (at these parameters), naming those that can."""
    reason = known.item.lacks(held.item, parameters)
    if reason is not None:
        able = ", ".join(name for name in integrator_ids() if not method(name).lacks(held.item, parameters)) or "none"
        raise InputError(f"{known.name} cannot run on {held.name}{'' if reason.formulation else f': {reason.reason}'};"
                         f" integrators that can: {able}")


def applicable(problem: str, integrator: str, parameters: Mapping[str, Any] | None = None) -> bool:
    """Whether the integrator can run on the system; without parameters, whether it has the formulation."""
    return method(integrator).lacks(sheet(problem), parameters) is None


def offered(problem: str) -> list[str]:
    """Integrators that run on the system with the parameters of one of its presets at least."""
    known = [start_of(problem, preset=name).parameters for name in sheet(problem).presets]
    return [name for name in integrator_ids() if any(applicable(problem, name, one) for one in known)]


def whole_steps(t_end: float, step: float, name: str = "step") -> int:
    """Number of steps of size `step` in t_end. Raises InputError: not a whole number; the sentence names the two
    nearest steps that are."""
    step = positive(name, step)
    ratio = t_end/step
    if not ratio < MOST:
        raise InputError(f"{name} {step!r} makes more than 2^53 steps in t_end = {t_end!r}")
    count = round(ratio)
    if count >= 1 and abs(ratio - count) <= STEP_TOLERANCE*count:
        return count
    if ratio < 1.0:
        raise InputError(f"{name} {step!r} is longer than t_end = {t_end!r}; the longest valid {name} is {t_end!r}")
    below, above = floor(ratio), ceil(ratio)
    raise InputError(f"{name} {step!r} does not divide t_end = {t_end!r}; the nearest valid {name}s are"
                     f" {t_end/above!r} and {t_end/below!r}")


def _require_above_round_off(tolerance: float, declared: Method, options: Mapping[str, Any],
                             initial: Mapping[str, np.ndarray]) -> None:
    """Raises InputError for tolerances that no step can meet: step size control would make ever smaller ones."""
    if tolerance < 2.0**-52:
        raise InputError(f"tolerance {tolerance!r} is below round-off; the least is {2.0**-52:.2g}")
    by_field = "atol" in options and declared.options["atol"].default == "scale"
    atol = options["atol"] if by_field else None  # in one norm of all fields it limits nothing
    for name, state in initial.items():
        least = 2.0**-104*float(np.abs(state).max(initial=0.0))
        if isinstance(atol, float) and atol < least:
            raise InputError(f"option atol {atol!r} is below round-off of {name}; the least is {least:.2g}, or scale")


def _samples(samples: int | None, points: int) -> int:
    """Number of samples whose intervals are whole numbers of points."""
    if samples is None:
        intervals = next(k for k in range(min(DEFAULT_SAMPLES - 1, points), 0, -1) if points % k == 0)
        return intervals + 1
    samples = at_least_two("samples", samples)
    if points % (samples - 1):
        divisors = {k for i in range(1, isqrt(points) + 1) if points % i == 0 for k in (i, points//i)}
        below = max(k for k in divisors if k < samples - 1) + 1
        above = min((k for k in divisors if k > samples - 1), default=points) + 1
        raise InputError(f"{samples} samples do not divide {points} steps into equal parts; the nearest valid numbers"
                         f" are {below} and {above}")
    return samples


def _exponents(given: Any, facts: Sheet, start: Start) -> int:
    """Number of Lyapunov exponents, at most the dimension of the manifold of states."""
    number = whole("exponents", given) if given else 0
    if number and number > (most := dimension(facts, start.parameters, start.initial)):
        raise InputError(f"exponents is {number}; the states of this system have {most} dimensions")
    return number


def dimension(facts: Sheet, parameters: Mapping[str, Any], initial: Mapping[str, np.ndarray]) -> int:
    """Dimension of the manifold of a system's states."""
    from liestep.simulation.tangents.directions import span

    return len(span(facts, parameters, initial))


def _ensemble(given: Any, initial: Mapping[str, np.ndarray]) -> Ensemble | None:
    if given is None:
        return None
    allowed = {"members", "amplitude", "seed", "turns"}
    for name in mapping("ensemble", given):
        if name not in allowed:
            raise InputError(unknown("key of ensemble", name, allowed))
    seed = given.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"ensemble seed must be a whole number and not negative, not {seed!r}")
    if given.get("turns"):
        turns = read_turns(given["turns"], initial)
        return Ensemble(prod(turn.count for turn in turns), 0.0, 0, turns)
    return Ensemble(whole("ensemble members", given.get("members")),
                    positive("ensemble amplitude", given.get("amplitude")), seed)
