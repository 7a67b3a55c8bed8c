"""What makes the specification of a run from a request: checks, and what the request leaves open."""
from collections import ChainMap
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, floor, inf, isfinite, isqrt, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liestep.compile.translation import plugin_errors
from liestep.errors import InputError, number_or_nan, require_plain, unknown
from liestep.mechanics.contracts.manifold import DRIFTED, MANIFOLD_TOLERANCE, drifting
from liestep.mechanics.contracts.method import Entry, Method
from liestep.mechanics.contracts.sheet import Cells, Options, Parameters, Preset, Sheet, once
from liestep.simulation.catalogue import Identified, integrator_entry, integrator_ids, method, system_entry, system_ids
from liestep.simulation.endings.events import control_of, event_of, events_of
from liestep.simulation.runs.numbers import MOST, at_least_two, finite, mapping, positive, whole
from liestep.simulation.runs.own_names import of_fields, own_names
from liestep.simulation.runs.specified import Before, RunSpecification
from liestep.simulation.runs.starts import Ensemble, read_turns

DEFAULT_SAMPLES = 1001  # most samples by default; fewer if the intervals would be no whole numbers of steps
MOST_STEPS = 10**12  # of fixed steps: the fastest method takes a day for them
APART = ("times", "until", "events", "control", "stops")  # a call with one of them is made anew
EMPTY: Mapping[str, Any] = {}  # one for all calls
STEP_TOLERANCE = 1e-9   # relative mismatch of t_end/step that still counts as a whole number of steps


@dataclass(frozen=True)
class CheckedStart:
    """What all runs of one problem have in common, checked: made by `start_of`."""

    parameters: Parameters
    initial: Mapping[str, np.ndarray]
    t_end: float     # end time of the preset
    system: Entry[Sheet] = field(repr=False, compare=False)


def start_of(problem: str | Identified, *, preset: str | None = None, parameters: Mapping | None = None,
             initial: Mapping | None = None) -> CheckedStart:
    """`start_in` a system by its id."""
    return start_in(system_entry(problem), preset, parameters, initial)


@plugin_errors()
def start_in(system: Entry[Sheet], preset: str | None, parameters: Mapping | None, initial: Mapping | None,
             cells: Cells | None = None, t_start: float = 0.0) -> CheckedStart:
    """Check parameters and initial state; what is not given comes from the preset (default: the system's). cells: it is
    one of these. Raises InputError: one sentence: what is wrong, and what is allowed."""
    facts = system.item
    if preset is not None and (not isinstance(preset, str) or preset not in facts.presets):
        raise InputError(unknown(f"preset of {system.name}", preset, facts.presets))
    chosen = facts.presets[preset or facts.default]
    parameters, initial = mapping("parameters", parameters), mapping("initial", initial)
    with np.errstate(all="ignore"):  # numbers of 1e300 are refused in a sentence, without NumPy's warning
        checked = facts.check({**chosen.parameters, **parameters}, cells)
        state = facts.check_initial(checked, once(first_state, checked, facts, chosen, initial, t_start))
    return CheckedStart(checked, state, chosen.t_end, system)


def first_state(parameters: Parameters, facts: Sheet, chosen: Preset, initial: Mapping,
                t_start: float = 0.0) -> dict[str, np.ndarray]:
    """The fields of a preset, and those that are given under any of their names; velocities that the preset keeps are
    those of its start, also at another time and with other moments of inertia. Raises InputError: `of_fields`."""
    given = of_fields(facts, parameters, initial, lambda: chosen.initial(parameters), t_start)
    if set(facts.state_shapes(parameters)) <= set(given):
        return given
    usual = chosen.initial(parameters)
    state = {**usual, **given}
    first: Mapping = parameters
    if chosen.kept == "rate" and not np.array_equal(parameters["inertia"], chosen.parameters["inertia"]):
        first = ChainMap({"inertia": np.array(chosen.parameters["inertia"], dtype=float)}, parameters)  # type: ignore
    moved = given or t_start or first is not parameters
    one = own_names(facts, parameters)[chosen.kept] if chosen.kept and moved else None
    if one and one.read and one.write and one.field not in given:
        with suppress(ValueError):  # wrong shapes, which are told later
            kept = own_names(facts, first)[chosen.kept].read(usual, 0.0)  # type: ignore[misc]
            if (one.read(state, t_start) != kept).any():
                state[one.field] = one.write(state, kept, t_start)
    return state


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a request says beside its start and options, by the keywords of `liestep.simulate`, not checked yet."""

    t_start: float | None = None
    t_end: float | None = None
    step: float | None = None
    steps: int | None = None
    tolerance: float | None = None
    samples: int | None = None
    outputs: int | None = None
    statistics_every: int = 1
    log_steps: bool = False
    reduced: bool = False
    times: ArrayLike | None = None
    until: Any = None
    events: Any = None
    control: Any = None
    sample: float | None = None
    max_step: float | None = None
    stops: ArrayLike | None = None
    replicas: int = 1
    ensemble: Any = None
    exponents: int = 0
    before: Before | None = None


def specify(problem: str | Identified, integrator: str, *, start: CheckedStart | None = None, preset: str | None = None,
            parameters: Mapping | None = None, initial: Mapping | None = None, options: Mapping | None = None,
            **more: Any) -> RunSpecification:
    """Check a request and fill in what it leaves open; `more` are the fields of `Asked`. A preset (default: the
    system's) gives parameters, initial state and t_end; the other arguments override it. `start` stands for preset,
    parameters and initial when they have been checked before, and `options_of` it for options. The integrator is one of
    `catalogue.integrator_calls`, whose options are then the defaults. Raises InputError: one sentence: what is wrong,
    and what is allowed."""
    asked, known = Asked(**more), integrator_entry(integrator)
    held = start.system if start else system_entry(problem)
    facts, declared = held.item, known.item.on(held.item)
    if start is None:
        _require_applicable(held, known)
    with drifting(MANIFOLD_TOLERANCE if asked.t_start is None else DRIFTED):
        start = start or start_in(held, preset, parameters, initial, t_start=0.0 if asked.t_start is None else finite(
            "t_start", asked.t_start))
    resolved = options if isinstance(options, CheckedOptions) else options_of(integrator, start, options, known)
    begin, end = _ends(asked, start.t_end)
    if asked.times is not None and asked.samples is not None:
        raise InputError("give times or samples, not both")
    count = tolerance = None
    control = control_of(asked.control, asked.sample)
    alone = asked.until is None and asked.events is None and asked.times is None
    if control and declared.adaptive and alone:  # its points are the instants at which it is asked
        asked = replace(asked, outputs=whole_steps(abs(end - begin), control.sample, "sample") + 1)
    if declared.adaptive:
        tolerance, points = _adaptive_size(asked, integrator)
        _require_above_round_off(tolerance, declared, resolved, start.initial)
    else:
        points = count = _fixed_size(asked, integrator, declared.fewest_steps, abs(end - begin))
    made = RunSpecification(
        t_start=begin, t_end=end, steps=count, tolerance=tolerance, outputs=points + 1, before=asked.before,
        times=times_of("times", asked.times, begin, end), samples=_samples(asked.samples, points),
        statistics_every=whole("statistics_every", asked.statistics_every), log_steps=bool(asked.log_steps),
        reduced=bool(asked.reduced), replicas=whole("replicas", asked.replicas), control=control, problem=held.name,
        ensemble=_ensemble(asked.ensemble, start.initial), exponents=_exponents(asked.exponents, facts, start),
        max_step=_longest(asked.max_step), stops=_stops(asked, declared, start, begin, end, count),
        until=event_of(asked.until), events=events_of(asked.events), parameters=start.parameters,
        initial=start.initial, integrator=known.name, options=dict(resolved), system=held,
        plugins=_contents(held, known), declared=known if known.name == integrator else integrator_entry(known.name))
    vars(made)["called"] = made.called  # before a run changes what they read
    return made


@lru_cache(maxsize=8, typed=True)
def _calls(given: tuple[tuple[str, Any], ...], *start_entries_options: Any, **more: Any) -> list[Any]:
    """What calls share that differ by the numbers of parameters and start alone; more of it once one was right."""
    return [Cells(frozenset(name for name, _ in given))]


def _shapes(given: Mapping) -> tuple[tuple[str, Any], ...]:
    return tuple((name, value if isinstance(value, str) else np.shape(value)) for name, value in given.items())


def specify_again(problem: str | Identified, *, parameters: Mapping | None, initial: Mapping | None,
                  options: Mapping | None = None, preset: str | None = None, t_start: float | None = None, **more: Any
                  ) -> RunSpecification:
    """`specify`; what does not depend on the numbers of parameters and start is made once for calls that come again."""
    calls = None
    if all(more.get(name) is None for name in APART):
        with suppress(TypeError, ValueError):  # what is no name, number or mapping is told by `specify`
            held, given, chosen = (system_entry(problem), integrator_entry(more["integrator"])), *(
                mapping("", one) for one in (parameters, options))
            state = dict(mapping("", initial)) or EMPTY
            calls = None if "atol" in chosen else _calls(
                _shapes(given), _shapes(state), *(id(entry.item) for entry in held), preset, t_start,
                *(part for choice in chosen.items() for part in choice), **more)
    if calls and len(calls) > 1:
        cells, (system, _), make, *same = calls
        if same:
            return same[0]
        with drifting(MANIFOLD_TOLERANCE if t_start is None else DRIFTED):
            start = start_in(system, preset, given, state, cells, float(t_start or 0.0))
        found, made = once(make, start.parameters, start.t_end), object.__new__(RunSpecification)
        vars(made).update(vars(found), frame=found.frame, parameters=start.parameters, initial=start.initial)
        calls[3:] = [] if given or state else [made]  # nothing differs
        return made
    more |= {"options": options, "t_start": t_start}
    made = specify(problem, parameters=parameters, initial=initial, preset=preset, **more)
    if calls:
        calls[1:] = held, lambda parameters, t_end: specify(
            "", start=CheckedStart(parameters, made.initial, t_end, held[0]), **more)
    return made


def _adaptive_size(asked: Asked, integrator: str) -> tuple[float, int]:
    """Tolerance, and the number of the last point of the statistics. Raises InputError."""
    if asked.tolerance is None or asked.step is not None or asked.steps is not None:
        other = "" if asked.step is None and asked.steps is None else ", not a step"
        raise InputError(f"{integrator} is adaptive: give a tolerance{other}")
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
        other = "" if asked.tolerance is None else ", not a tolerance"
        raise InputError(f"{integrator} has fixed steps: give a step{other}")
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


def _longest(given: float | None) -> float | None:
    """The longest step; infinity, as in scipy, is none. Raises InputError: it is not positive."""
    return None if given is None or number_or_nan(given) == inf else positive("max_step", given)


def _stops(asked: Asked, declared: Method, start: CheckedStart, begin: float, end: float,
           steps: int | None) -> tuple[float, ...]:
    """Times at which the steps of an adaptive run end, those of the system's functions of t included. Raises
    InputError: as `times_of`, or fixed steps do not end there."""
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
    if not declared.adaptive or control:
        return ()
    stops = set() if given is None else {*given.tolist()}
    if start.system.item.clock is not None:
        from liestep.simulation.runs.stops import stops_in  # few systems need it

        stops |= stops_in(start.system.item.clock, start.parameters, *sorted((begin, end)))
    return tuple(sorted(stops))


def times_of(name: str, given: ArrayLike | None, begin: float, end: float) -> np.ndarray | None:
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


def specify_problem(problem: str | Identified, *, t_end: float | None = None, samples: int | None = None,
                    start: CheckedStart | None = None, **chosen: Any) -> RunSpecification:
    """A problem without an integrator, checked: what references and checks of a system start from. `chosen`: preset,
    parameters and initial, see `start_of`; `start` stands for them when they have been checked before. Raises
    InputError: one sentence: what is wrong, and what is allowed."""
    start = start or start_of(problem, **chosen)
    samples = DEFAULT_SAMPLES if samples is None else at_least_two("samples", samples)
    return RunSpecification(problem=start.system.name, parameters=start.parameters, initial=start.initial,
                            t_end=positive("t_end", start.t_end if t_end is None else t_end), samples=samples,
                            outputs=samples, plugins=_contents(start.system), system=start.system)


class CheckedOptions(dict[str, Any]):
    """All options of an integrator on a system, checked for a start: made by `options_of`."""


def options_of(integrator: str, start: CheckedStart, given: Mapping | None,
               known: Entry[Method] | None = None) -> CheckedOptions:
    """The options of all runs of an integrator from a start. Raises InputError: it cannot run there; a wrong option."""
    known, facts = known or integrator_entry(integrator), start.system.item
    _require_applicable(start.system, known, start.parameters)
    try:
        return CheckedOptions(complete_options(known.item.on(facts), facts, start.parameters,
                                               mapping("options", given)))
    except InputError as error:
        raise InputError(f"{integrator}: {error}") from None


def complete_options(declared: Method, facts: Sheet, parameters: Parameters,
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
    systems = [key for key in system_ids() if (form := system_entry(key).item.forms.get(declared.formulation)) and
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


def _require_applicable(held: Entry[Sheet], known: Entry[Method], parameters: Parameters | None = None) -> None:
    """Raises InputError when the integrator cannot run on the system (at these parameters), naming those that can."""
    reason = known.item.lacks(held.item, parameters)
    if reason is not None:
        able = ", ".join(name for name in integrator_ids() if not method(name).lacks(held.item, parameters)) or "none"
        raise InputError(f"{known.name} cannot run on {held.name}{'' if reason.formulation else f': {reason.reason}'};"
                         f" integrators that can: {able}")


def applicable(problem: str, integrator: str, parameters: Parameters | None = None) -> bool:
    """Whether the integrator can run on the system; without parameters, whether it has the formulation."""
    return method(integrator).lacks(system_entry(problem).item, parameters) is None


def offered(problem: str) -> list[str]:
    """Integrators that run on the system with the parameters of one of its presets at least."""
    known = [start_of(problem, preset=name).parameters for name in system_entry(problem).item.presets]
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


def _require_above_round_off(tolerance: float, declared: Method, options: Options,
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
        above = [f" and {k + 1}" for k in sorted(divisors) if k > samples - 1][:1]
        raise InputError(f"{samples} samples do not divide {points} steps into equal parts; the nearest valid"
                         f" {'numbers are' if above else 'number is'} {below}{''.join(above)}")
    return samples


def _exponents(given: int, facts: Sheet, start: CheckedStart) -> int:
    """Number of Lyapunov exponents, at most the dimension of the manifold of states."""
    number = whole("exponents", given) if given else 0
    if number and number > (most := dimension(facts, start.parameters, start.initial)):
        raise InputError(f"exponents is {number}; the states of this system have {most} dimensions")
    return number


def dimension(facts: Sheet, parameters: Parameters, initial: Mapping[str, np.ndarray]) -> int:
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
