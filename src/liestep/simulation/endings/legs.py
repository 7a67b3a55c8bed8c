"""Runs with events, at which they end or go on, and runs at times of one's own, also with a control: legs from one
event or instant to the next, joined into one data set.

Each leg is a run of its own from the state behind an event, so that an integrator keeps its order between events. It is
no longer than a few times the last one, so that the search for events is as fine where they come ever faster. With a
control a leg ends at its instants too, and the next one has the parameters that it gives there."""
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np

from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.mechanics.contracts.formulated import Observable
from liestep.mechanics.formulations.probed import plain
from liestep.simulation.endings.between import Between, require_partial_steps
from liestep.simulation.endings.control import Controlled
from liestep.simulation.endings.events import Reset, answer, event_function
from liestep.simulation.endings.impacts import Impact, Law
from liestep.simulation.endings.search import BESIDE, Found, Occurrence, Search, first_of
from liestep.simulation.runs.content import ACCUMULATED, Content, largest_momentum_error, message_of, origin, warning_of
from liestep.simulation.runs.execution import Progress, build
from liestep.simulation.runs.own_names import Named, of_fields, own_names
from liestep.simulation.runs.specified import Before, RunSpecification

LONGER = 4.0         # times the last interval between events: a leg
FEW = 5              # intervals that shrink alike before events are said to accumulate
NEAR = 2.0**-33      # of the run: the time that is then left, and after which impacts are one
SHORT = 0.1          # of the longest interval: round-off can hide shorter ones
RESTING = 1e-4       # a rate behind an event that is less than this share of the one before is none
ROUNDING = 2.0**-40  # of a field's largest number
MOST_AT_ONCE = 1000  # impacts at one time
THROUGH = 1e-7       # of the largest number of the state: a gap that is more negative has been passed


class Ended(NamedTuple):
    """How a run in legs ended."""

    status: str
    message: str
    accumulation: float | None = None  # time at which events accumulate


class Journey:
    """A run in legs."""

    def __init__(self, spec: RunSpecification):
        self.spec, self.impact, self.zero = spec, 0.0, ""
        self.events = (spec.until,) if spec.until else spec.events
        # times of samples; there rows, observables, what is counted, the work of the impacts up to there, J, and the
        # number of what the control gave last
        self.samples: list[tuple[np.ndarray, np.ndarray, np.ndarray, Mapping[str, np.ndarray], np.ndarray, np.ndarray]
                           ] = []
        self.nodes: list[np.ndarray] = []  # observables at all nodes
        self.found: list[tuple[int, float, int]] = []  # number of the event, time, direction
        self.searches: list[Search] = []  # of the last leg
        self.counters: Counter[str] = Counter()
        self.steps, self.resolution = 0, 0.0
        self.largest: dict[str, float] = {}  # number of each field at the nodes and the ends of legs
        # (time, what is counted there from one time to the next)
        self.turned: tuple[float, Mapping[str, np.ndarray]] | None = spec.shown_before
        self.resting: int | None = None  # an impact behind which bodies stay together
        self.held = Controlled(spec) if spec.control else None
        self.plain = replace(spec, before=None, events=(), until=None, control=None, times=None, samples=2,
                             outputs=2 if spec.steps is None else spec.outputs)
        self.goal = spec.t_start if self.held else spec.t_end  # the next instant of the control
        self.formulated, _ = build(self.plain)
        fields = self.formulated.to_fields(self.formulated.start[None])
        shapes = {name: values.shape[1:] for name, values in (
            fields | self.formulated.showing(np.zeros(1), fields)).items()} | {
            part.name: () if part.width == 1 else (part.width,) for part in self.formulated.observables}
        self.own = own_names(spec.sheet, spec.parameters)
        self.functions = [event_function(one, shapes, self.own) for one in self.events]
        self.law = Law(spec, shapes) if any(isinstance(one, Impact) for one in self.events) else None
        if self.law and spec.direction < 0:
            raise InputError("an impact has no way back: give t_end after t_start, and turn the velocities instead")
        for k, one in enumerate(self.events):
            if self.law and isinstance(one, Impact):
                self.law.require_places(k, one)
        # the columns whose values of the legs are added, and the work of forces among them, which the energy lacks
        self.work = [part.columns.start for part in self.formulated.observables if part.name == "work"]
        self.added = np.zeros(self.formulated.width)
        if spec.before and spec.before.rows is None:  # of the run that this one goes on
            self.added[self.work] = spec.before.shown.get("work", 0.0)
            self.impact = float(spec.before.shown.get("impact_work", 0.0))
        self.summed = self.work + [k for part in self.formulated.observables if part.integral
                                   for k in range(part.columns.start, part.columns.stop)]
        points = (spec.steps or spec.outputs - 1)//(spec.samples - 1)*np.arange(spec.samples)
        times = spec.times_of(points)
        self.sampled = spec.times if spec.times is not None else np.clip(
            times, min(spec.t_start, spec.t_end), max(spec.t_start, spec.t_end))

    def times_of(self, number: int) -> list[float]:
        """Times of an event."""
        return [time for k, time, _ in self.found if k == number]

    def go(self, progress: Progress | None) -> Ended:
        """Make all legs."""
        spec, sign, time, interval = self.spec, self.spec.direction, self.spec.t_start, self.spec.duration
        self._require_outside(spec.initial, time)
        state: Mapping[str, np.ndarray] = self._behind((), spec.initial, time) if spec.events else spec.initial
        left: dict[int, float] = {}  # the events before this leg, and four times what their functions were there
        turned: dict[int, float] = {}  # those with a reset, and the rates of their functions before it
        while True:
            self._command(state, time)
            between, one, _, events = self._fly(self._leg(state, time, LONGER*interval), left)
            outcome = between.outcome
            assert outcome is not None
            for number, rate in turned.items():
                self._require_left(number, rate, between)
            failed = one is None and outcome.status != Status.OK
            end = one.time if one else outcome.time_reached if failed else between.spec.t_end
            fields = self._enter(between, one, end)
            self._require_outside(fields, end)
            self.end = end
            if progress:
                progress(abs(end - spec.t_start)/spec.duration)
            ended, self.zero = self._ending(end, one), outcome.zero if failed else ""
            if failed:
                ended = Ended(outcome.status.name.lower(), message_of(outcome, spec))
            if ended is None and sign*end >= sign*spec.t_end:
                ended = Ended("ok", Status.OK.sentence)
            turned, before = {}, left if end == time else {}
            left = dict(before)
            if ended is None and not one:
                state = self._shown(fields)
            elif ended is None and one:
                numbers = [k for k, _ in events]
                if again := [k for k in numbers if k in before]:
                    raise InputError(f"event {again[0]} follows the last one at t = {end!r} without any time between: a"
                                     " reset must leave the surfaces of all events")
                at = {name: values[None] for name, values in fields.items()}
                left |= {k: 4.0*abs(float(self.functions[k].over(at, 1)[0])) for k in numbers}
                turned = {k: self._rate(k, between, one.step, one.share, -1.0) for k in numbers
                          if self.events[k].reset is not None}
                state = self._behind(numbers, fields, end)
                ended = self._ending(end)
            if ended:  # the state at the end of the run is its last sample
                *sample, self.added = self.last
                if spec.times is None or spec.events or one or end in spec.times or not self.samples:
                    self._keep(*sample)
                return ended
            # where nothing happened, the next leg is longer than this one
            time, interval = end, abs(end - time)*(1.0 if one else LONGER) if end != time else interval

    def _leg(self, state: Mapping[str, np.ndarray], time: float, length: float) -> RunSpecification:
        """The run from a state on, with the steps of the whole run; the last one, and that of a leg which is shorter,
        is shortened."""
        spec, steps, goal = self.spec, None, self.goal
        before = self.turned and Before(time, 0, self.turned[1])
        if state is spec.initial and time == spec.t_start:
            before = spec.before
            if length >= spec.duration and goal == spec.t_end:
                return replace(self.plain, before=before)
        rest = abs(goal - time)
        end = goal if length >= rest else time + spec.direction*length
        if spec.step is not None:
            steps = ceil(min(length, rest)/abs(spec.step)*(1.0 - 1e-12))
            if end != goal and steps > 1:
                end = time + steps*spec.step
                end = goal if spec.direction*end >= spec.direction*goal else end
        return replace(self.plain, initial=state, t_start=time, t_end=end, steps=steps and max(steps, 1), before=before)

    def _command(self, state: Mapping[str, np.ndarray], time: float) -> None:
        """Ask the control at its instant, which has come to the roundings of times, and set the next one."""
        spec, held = self.spec, self.held
        if held is None or abs(self.goal - time) > NEAR*held.sample:
            return
        if time != spec.t_start:
            held.ask(time, build(replace(self.plain, initial=state, t_start=time))[0].start, self.turned)
        self.plain = replace(self.plain, parameters=held.parameters)
        self.goal = spec.t_start + spec.direction*len(held.given)*held.sample
        if spec.direction*(spec.t_end - self.goal) < NEAR*held.sample:
            self.goal = spec.t_end

    def _fly(self, leg: RunSpecification, behind: Mapping[int, float]) -> Found:
        """The leg up to its first event that resets the state or ends the run, and all events there. What the functions
        of the events `behind` it were before it is zero."""
        before, self.searches = self.searches, []
        for k, (event, function) in enumerate(zip(self.events, self.functions, strict=True)):
            left = None if event.count is None else event.count - len(self.times_of(k))
            search = Search(function, replace(event, count=left if event.reset is None and not isinstance(
                event, Impact) else 1))
            search.behind = behind.get(k, 0.0)
            search.was = before[k].was if before and k not in behind else 0.0
            self.searches.append(search)
        first = first_of(self.searches, leg)
        self.found += [(k, seen.time, seen.direction) for k, seen in first.earlier + first.together]
        self.resolution = max([self.resolution, *(one.resolution for one in self.searches)])
        return first

    def _enter(self, between: Between, one: Occurrence | None, end: float) -> dict[str, np.ndarray]:
        """Keep the samples, nodes and counters of a leg; the fields and observables at its end."""
        sign = self.spec.direction
        last = one.step if one else len(between.lengths)
        nodes = between.inside(slice(0, last + 1), np.zeros(1))[1][:, 0]
        place = slice(last, last + 1), np.array([one.share if one else 0.0]), bool(one and one.whole)
        rows, seen = (part[0, 0] for part in between.inside(*place))
        if one and self.spec.until and self.spec.steps is None and self.spec.times is None and not self.held:
            share = (one.time - self.spec.t_start)/(self.spec.samples - 1)
            self.sampled = self.spec.t_start + np.arange(self.spec.samples)*share
        inside = self.sampled[(sign*self.sampled >= sign*between.times[0]) & (sign*self.sampled < sign*end)]
        if inside.size:
            state = between.at(inside)
            self._keep(inside, state[0], state[1], between.counted(inside, state[0]))
        self.nodes.append(self._joined(np.concatenate([nodes, seen[None]])))
        fields = {name: values[0] for name, values in between.seen(*place).items()}
        shown = {part.name: fields[part.name] for part in self.formulated.shown}
        self.turned = (end, shown) if shown else None
        if self.law:
            self.law.turned = self.turned
        for name, values in self.formulated.to_fields(between.nodes[:last + 1]).items() if self.spec.events else ():
            self.largest[name] = max(self.largest.get(name, 0.0), float(np.abs(values).max(initial=0.0)))
        counted = {name: values[None] for name, values in shown.items()}
        self.last = (np.array([end]), rows[None], seen[None], counted, self.added.copy())
        self.added[self.summed] += seen[self.summed]
        assert between.outcome is not None
        self.counters.update(between.outcome.counters)
        self.steps += last + (1 if one else 0)
        return fields

    def _keep(self, times: np.ndarray, rows: np.ndarray, seen: np.ndarray, shown: Mapping[str, np.ndarray]) -> None:
        number = len(self.held.given) - 1 if self.held else 0
        self.samples.append((times, rows, self._joined(seen), shown, np.full(len(times), self.impact),
                             np.full(len(times), number)))

    def _joined(self, seen: np.ndarray) -> np.ndarray:
        """Observables of a leg as those of the whole run: integrals since its start, and the energy less the work of
        forces and impacts."""
        whole = seen.copy()
        whole[:, self.summed] += self.added[self.summed]
        whole[:, 0] -= sum(self.added[self.work]) + self.impact
        return whole

    def _observed(self, state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """A state with its observables."""
        formulated, _ = build(replace(self.plain, initial=state))
        out = np.zeros(formulated.width)
        plain(formulated.problem).observe(formulated.start.copy(), out)
        return {**state, **{part.name: part.shaped(out[None, part.columns])[0] for part in formulated.observables}}

    def _shown(self, fields: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """A state from which the run can go on. Raises InputError: the integrator does not show it."""
        if missing := [name for name in self.spec.initial if name not in fields]:
            raise InputError(f"{self.spec.integrator} does not show {missing[0]} of {self.spec.problem}, from which a"
                             " run would have to go on behind an event: take another integrator")
        return {name: np.array(fields[name]) for name in self.spec.initial}

    def _behind(self, numbers: Sequence[int], fields: Mapping[str, np.ndarray], time: float) -> dict[str, np.ndarray]:
        """The state behind events, one after the other, and behind impacts that follow at once; at the start only
        those."""
        before = state = self._shown(fields)
        for number in numbers:
            if (reset := self.events[number].reset) is not None:
                seen = fields if state is before else {**fields, **self._observed(state)}
                state = self._reset(number, reset, seen, state, time)
            elif isinstance(self.events[number], Impact):
                state = self._strike(number, state, time, True) or state
        impacts = [k for k, one in enumerate(self.events) if isinstance(one, Impact)]
        for _ in range(MOST_AT_ONCE):
            struck = next((found for k in impacts if (found := self._strike(k, state, time, False))), None)
            if struck is None:
                break
            state = struck
        for name, values in state.items():  # a place that is zero up to rounding would have adaptive steps of that size
            self.largest[name] = max(self.largest.get(name, 0.0), float(np.abs(values).max(initial=0.0)))
            vectors = np.atleast_1d(values)
            vectors[np.abs(vectors).max(axis=-1, initial=0.0) < ROUNDING*self.largest[name]] = 0.0
        if state is not before:
            name = self.formulated.observables[0].name
            self.impact += float(self._observed(state)[name] - self._observed(before)[name])
        return state

    def _require_outside(self, state: Mapping[str, np.ndarray], time: float) -> None:
        """Raises InputError: the motion has gone through the surface of an impact."""
        if self.law is None:
            return
        size = max(float(np.abs(state[name]).max(initial=1.0)) for name in self.spec.initial)
        for k, impact in enumerate(self.events):
            if isinstance(impact, Impact) and (gap := self.law.gap(impact, state)) < -THROUGH*size:
                raise InputError(f"at t = {time:.6g} the gap of event {k} is {gap:.3g}: it must not be negative; a"
                                 " start at rest on the surface falls through it, so that it must be above")

    def _strike(self, number: int, state: dict[str, np.ndarray], time: float,
                here: bool) -> dict[str, np.ndarray] | None:
        """The state behind an impact that is `here`, or so near that its gap closes at once; None where it does not."""
        impact = self.events[number]
        assert isinstance(impact, Impact)
        assert self.law is not None
        if not here and self.law.gap(impact, state) > -self.law.rate(impact, state)*NEAR*self.spec.duration:
            return None
        struck = self.law.struck(impact, state)
        if struck is None:
            return None
        if not here:
            self.found.append((number, time, impact.direction))
        if impact.restitution == 0.0:
            self.resting = number
        return struck

    def _reset(self, number: int, reset: Reset, fields: Mapping[str, np.ndarray], state: dict[str, np.ndarray],
               time: float) -> dict[str, np.ndarray]:
        """The state that a reset gives. Raises InputError: it fails, or gives what is no state."""
        where, facts = f"reset of event {number} at t = {time!r}", self.spec.sheet
        new = answer(where, reset, Named({name: np.array(values) for name, values in fields.items()}, self.own, time))
        if not isinstance(new, Mapping):
            raise InputError(f"{where} gives {new!r}; it must give a mapping of state fields to new values")
        try:
            new = of_fields(facts, self.spec.parameters, new, lambda: state, time)
            return facts.check_initial(self.spec.parameters, {**state, **new})
        except InputError as error:
            try:
                facts.check_initial(self.spec.parameters, state)
            except InputError:  # the method itself has left the manifold by more than starts may
                return {name: np.array(new.get(name, values), dtype=float).reshape(values.shape)
                        for name, values in state.items()}
            raise InputError(f"{where}: {error}") from None

    def _ending(self, end: float, one: Occurrence | None = None) -> Ended | None:
        """Whether the run ends here, at an event, and why."""
        for number, event in enumerate(self.events):
            times = self.times_of(number)
            if event.count is not None and len(times) >= event.count:
                return Ended("ok", f"ended at the event, t = {end!r}")
            hidden = one is not None and self._hidden(number, one, np.array(times))
            point = _accumulation(np.array(times[-FEW - 1:]), 2 if hidden else FEW)
            if point is not None and (hidden or abs(point - end) < NEAR*self.spec.duration):
                return Ended(ACCUMULATED, f"ended at t = {end!r}: event {number} comes ever faster, and its times"
                             f" accumulate at t = {point!r}; what follows is a contact that stays, or another system"
                             " from there on", point)
        if self.resting is not None:
            return Ended(ACCUMULATED, f"ended at t = {end!r}: the impact of event {self.resting} has restitution 0,"
                         " behind which the bodies stay together; what follows is another system from there on", end)
        return None

    def _hidden(self, number: int, one: Occurrence, times: np.ndarray) -> bool:
        """Whether round-off of the state hides what the function of an event with a reset or an impact does behind it,
        as its intervals shrink."""
        event, search, intervals = self.events[number], self.searches[number], np.abs(np.diff(times))
        return bool(len(intervals) > 1 and times[-1] == one.time and intervals[-1] < SHORT*intervals.max()
                    and (event.reset or isinstance(event, Impact)) and search.noise(one, one.step, one.share)
                    *intervals[-2]**2 > RESTING*search.height(one)*intervals[-1]**2)

    def _rate(self, number: int, between: Between, step: int, share: float, side: float) -> float:
        """One-sided rate of a function at a share of a step, in 1/s: by three points on that side."""
        if step and not share and side < 0.0:
            step, share = step - 1, 1.0
        order = np.arange(3) if side > 0.0 else np.arange(-2, 1)
        d = side*min(BESIDE, 0.25*(share if side < 0.0 else 1.0 - share) or BESIDE)
        f = self.functions[number].over(between.seen(slice(step, step + 1), share + abs(d)*order), 3)[::int(side)]
        return float((4.0*f[1] - 3.0*f[0] - f[2])/(2.0*d*between.lengths[step]))

    def _require_left(self, number: int, before: float, between: Between) -> None:
        """Raises InputError where a reset leaves the state on the surface of its event."""
        if not len(between.lengths):
            return
        value = self.functions[number].over(between.seen(slice(0, 1), np.zeros(1)), 1)[0]
        after, most = self._rate(number, between, 0, 0.0, 1.0), abs(before*between.lengths[0])
        if abs(after) < RESTING*abs(before) and abs(value) < RESTING*most and (
                self.searches[number].noise(Occurrence(0, 0.0, False, 0.0, 0), 0, 0.0) < BESIDE*most):
            raise InputError(f"the reset of event {number} at t = {float(between.times[0])!r} leaves the state on its"
                             " surface: the function stays at zero, with no rate; a reset must leave a rate of it, or"
                             " end the run with count=")


def _accumulation(times: np.ndarray, few: int) -> float | None:
    """Where times accumulate whose intervals shrink by about one ratio; None where they do not."""
    intervals = np.diff(times)
    if len(intervals) < few or not np.all(intervals[:-1]*intervals[1:] > 0.0):
        return None
    ratios = intervals[1:]/intervals[:-1]
    if not (ratios.max() < 1.0 and ratios.max() < 2.0*ratios.min()):
        return None
    return float(times[-1] + intervals[-1]*ratios[-1]/(1.0 - ratios[-1]))


def run(spec: RunSpecification, progress: Progress | None = None) -> Content:
    """The content of the file of a run with events or own times: the variables and attributes of other runs, but no
    statistics of blocks, and `event_times`, `event_directions`, `event_numbers` of all events. Attributes: `events` in
    all, `event_resolution` in s, the longest time between two points where they were looked for; with `until` `event`,
    "reached" or "none", and `event_time` in s, NaN where there is none; with events that go on `event_counts` of each,
    `impact_work` and `mechanical_energy` (J), an `energy` less the work of forces and of resets, and where they come
    ever faster the status `accumulated` with `accumulation_time` (s).

    Raises:
        InputError: a wrong event, reset or control, or what such runs do not have.
    """
    if spec.until and spec.events:
        raise InputError("leave out until beside events: one of them with count=1 ends the run")
    if spec.ensemble or spec.replicas > 1 or spec.exponents or spec.log_steps:
        raise InputError("until, events and times are for single runs and members of liestep.ensemble; leave out"
                         " ensemble, replicas, exponents and log_steps")
    if spec.until or spec.events or spec.control:
        require_partial_steps(spec)
    made = Journey(spec)
    ended = made.go(progress)
    content, formulated = Content(), made.formulated
    times, rows, seen, impact, given = (np.concatenate([part[k] for part in made.samples]) for k in (0, 1, 2, 4, 5))
    content.add("time", ("time",), times, "s", "time")
    fields = made.held.fields(times, given, rows) if made.held else formulated.to_fields(rows)
    fields |= {part.name: np.concatenate([sample[3][part.name] for sample in made.samples])
               for part in formulated.shown}
    for part in (*formulated.fields, *formulated.shown):
        content.add(part.name, ("time", *part.dims), fields[part.name], part.units, part.long_name)
    for shown in formulated.observables:
        less = " less the work of impacts and resets" if shown.name == "energy" and spec.events else ""
        content.add(shown.name, ("time", *shown.dimensions), shown.shaped(seen[:, shown.columns]), shown.units,
                    shown.long_name + less)
    units = formulated.observables[0].units
    if spec.events:
        content.add("impact_work", ("time",), impact, units, "work of impacts and resets since the start")
    if spec.events and not made.work:
        content.add("mechanical_energy", ("time",), seen[:, 0] + impact, units, "energy of the state")
    if made.held:
        made.held.add_given(content, given)
    numbers = statistics_of(formulated.observables, np.concatenate(made.nodes))
    content.attributes |= origin(spec) | {
        "t_end": made.end, "time_reached": made.end, "status": ended.status,
        "message": ended.message, "steps": made.steps, **made.counters, **numbers, **formulated.attributes,
        **largest_momentum_error(formulated, numbers), **({"zero": made.zero} if made.zero else {})}
    told = warning_of(spec, formulated, numbers, lambda: {name: one[1] for name, one in content.variables.items()})
    if ended.accumulation is not None:
        content.attributes["accumulation_time"] = ended.accumulation
        told = f"{ended.message}{told and f'; {told}'}"
    if told:
        content.attributes["warning"] = told
    if made.events:
        _add_events(content, made)
    return content


def _add_events(content: Content, made: Journey) -> None:
    """Events as variables and attributes."""
    found, until = made.found, made.spec.until
    content.attributes |= {"events": len(found), "event_resolution": made.resolution}
    if until is not None:
        reached = len(found) >= (until.count or 1)
        content.attributes |= {"event": "reached" if reached else "none",
                               "event_time": found[-1 if until.count else 0][1] if reached else np.nan}
    else:
        content.attributes["event_counts"] = " ".join(str(len(made.times_of(k))) for k in range(len(made.events)))
    for name, k, kind, units, about in (
            ("times", 1, float, "s", "times of the events"),
            ("directions", 2, np.int32, "1",
             "1 where the function of the event grows, -1 where it falls, 0 where it does neither"),
            ("numbers", 0, np.int32, "1", "which event it is, from 0")):
        content.add(f"event_{name}", ("event",), np.array([one[k] for one in found], dtype=kind), units, about)


def statistics_of(observables: Iterable[Observable], nodes: np.ndarray) -> dict[str, float]:
    """Statistics of observables over nodes (N, K), as a recorder makes them."""
    found: dict[str, float] = {}
    for part in observables:
        values = nodes[:, part.columns]
        off = values - (values[0] if part.kind == "invariant" else 0.0)
        made = {"mean": np.abs(off).mean(axis=0), "max": np.abs(off).max(axis=0), "mean_square": (off*off).mean(axis=0)}
        for what in part.asked:
            found |= zip(part.statistic(what), map(float, made[what]), strict=True)
    return found
