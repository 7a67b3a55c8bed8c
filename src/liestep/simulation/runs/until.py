"""States of a run between its nodes: of methods with fixed steps by one step of the method itself, which keeps the
manifold and has its order; of adaptive ones by their interpolant. Runs that end at an event, at zeros of its function
within their steps, runs at times of one's own, and runs that keep their nodes."""
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.interpreted import brief_loop
from liestep.compile.partial import interpolated_steps, partial_steps
from liestep.compile.status import IntegrationError, Status
from liestep.errors import InputError, number_or_nan
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.manifold import drifting
from liestep.simulation.catalogue import integrator_ids, method, sheet
from liestep.simulation.runs.content import Content, collected, origin
from liestep.simulation.runs.estimate import memory, readable, require_memory
from liestep.simulation.runs.events import Event, EventFunction, event_function
from liestep.simulation.runs.execution import Outcome, Progress, build, for_loop, gap_of, run_once
from liestep.simulation.runs.own_names import own_names
from liestep.simulation.runs.specification import applicable, specify
from liestep.simulation.runs.specified import Before, RunSpecification

ROWS = "rows"  # variable of a data set with the nodes: rows of the state at every step
POINTS_OF_FIXED, POINTS_OF_ADAPTIVE = 5, 17  # in each step where events are looked for, both ends included
NODE = 8.0*2.0**-52  # a time within this of a node, relative to its size or that of the step, is the node


class Between:
    """States of a run between its nodes: nodes (N + 1, m, d) at `times` (N + 1,), for a run with fixed steps by default
    k h."""

    def __init__(self, spec: RunSpecification, nodes: np.ndarray, times: np.ndarray | None = None):
        self.spec, self.adaptive = spec, spec.steps is None
        self.before = spec.shown_before  # what is counted up to the first node
        self._every = np.empty(0) if self.adaptive else spec.times_of(np.arange((spec.steps or 0) + 1))
        self.extend(nodes, times)

    @cached_property
    def _made(self) -> tuple[Formulated, tuple[Any, Any], Any, Callable]:
        """What states within steps need: the problem, (integrator, problem) for a loop, its scratch, the loop."""
        formulated, integrator = build(self.spec)
        work = integrator.workspace(formulated.problem, formulated.start)
        problem, integrator = for_loop(formulated, integrator, self.spec.steps or 0)
        return formulated, (integrator, problem), work, brief_loop(
            interpolated_steps if self.adaptive else partial_steps, integrator, problem, work)

    @property
    def formulated(self) -> Formulated:
        return self._made[0]

    def extend(self, nodes: np.ndarray, times: np.ndarray | None) -> None:
        """The same run with more nodes."""
        self.nodes, self.times = nodes, self._every[:len(nodes)] if times is None else times
        if self.adaptive:  # steps may be too short to be seen in the time, where a number is zero but for round-off
            later = np.append(True, np.diff(self.times) != 0.0)
            self.nodes, self.times = (nodes, self.times) if later.all() else (nodes[later], self.times[later])
        # the last node begins no step
        self._spans = (np.append(np.diff(self.times), 0.0) if self.adaptive else
                       np.broadcast_to(np.float64(self.spec.step or 0.0), len(self.nodes)))
        self.lengths = self._spans[:-1]
        self._integrals: np.ndarray | None = None
        self.shown: dict[str, np.ndarray] = {}  # of the nodes, as far as it was asked for
        self.outcome: Outcome | None = None  # once the run has ended

    def inside(self, steps: slice | np.ndarray, shares: np.ndarray,
               whole: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(rows, observables), (n, k, m, d) and (n, k, K), at shares (k,) of some steps, a share of 0 alone also of the
        last node. whole: of adaptive methods by a step that ends there, not by the interpolant. Raises InputError: a
        share that is not 0, and a method that needs earlier steps; IntegrationError: a step failed."""
        if shares.any():
            require_partial_steps(self.spec)
        times, nodes = self.times[steps], np.ascontiguousarray(self.nodes[steps])
        lengths = np.ascontiguousarray(self._spans[steps])
        states = np.empty((len(times), len(shares), *nodes.shape[1:]))
        values = np.zeros((len(times), len(shares), self.formulated.width))
        more = (whole, self.spec.duration) if self.adaptive else ()
        _, parts, work, loop = self._made
        if self.spec.stops:
            gap = self.spec.direction*gap_of(self.spec, self.formulated)  # as `Legs`
            times, lengths = times + gap, lengths - 2.0*gap*(lengths != 0.0)
        status = loop(*parts, times, nodes, lengths, shares, states, values, work, *more)
        if status != Status.OK:
            raise IntegrationError(Status(status), float(times[0]), f"{self.spec.integrator}, partial step: ")
        self._integrate(steps, shares[None, :]*lengths[:, None], values)
        return states, values

    def _integrate(self, steps: slice | np.ndarray, after: np.ndarray, values: np.ndarray) -> None:
        """Integrals over time in place of their integrands, by the rule of the recorder."""
        columns = [k for part in self.formulated.observables if part.integral
                   for k in range(part.columns.start, part.columns.stop)]
        if not columns:
            return
        if self._integrals is None:
            self._integrals = np.zeros((0, 2, len(columns)))  # while the integrands at the nodes are asked for
            at = self.inside(slice(None), np.zeros(1))[1][:, 0, columns]
            grown = 0.5*np.diff(self.times)[:, None]*(at[:-1] + at[1:])
            self._integrals = np.stack((at, np.concatenate([np.zeros((1, len(columns))), np.cumsum(grown, 0)])), 1)
        if len(self._integrals):
            there = self._integrals[steps]
            values[..., columns] = there[:, None, 1] + 0.5*after[..., None]*(there[:, None, 0] + values[..., columns])

    def seen(self, steps: slice | np.ndarray, shares: np.ndarray, whole: bool = False) -> dict[str, np.ndarray]:
        """Fields, observables and what is counted from one time to the next, by their names, at growing shares of some
        steps, all in one row."""
        rows, values = self.inside(steps, shares, whole)
        found = self.fields(rows.reshape(-1, *rows.shape[2:]), values.reshape(-1, values.shape[-1]))
        if not self.formulated.shown:
            return found
        times = self.times_of(steps, shares)
        return found | self.formulated.showing(times, found, self._counted(
            steps.start if isinstance(steps, slice) else int(steps[0])))

    def times_of(self, steps: slice | np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Times of shares of some steps, all in one row."""
        return (self.times[steps][:, None] + self._spans[steps][:, None]*shares).ravel()

    def counted(self, times: np.ndarray, rows: np.ndarray) -> dict[str, np.ndarray]:
        """What is counted from one time to the next, of times (k,) with their rows."""
        fields = self.formulated.to_fields(rows)
        every = [self.formulated.showing(times[k:k + 1], {name: values[k:k + 1] for name, values in fields.items()},
                                         self._counted(self._place(float(time))[0])) for k, time in enumerate(times)]
        return {part.name: np.concatenate([one[part.name] for one in every]) for part in self.formulated.shown}

    def _counted(self, n: int) -> tuple[float, Mapping[str, np.ndarray]] | None:
        """(time, what is counted) at node n."""
        known = len(next(iter(self.shown.values()), ()))
        if n >= known:
            before = self._counted(known - 1) if known else self.before
            new = self.formulated.showing(self.times[known:n + 1], self.formulated.to_fields(self.nodes[known:n + 1]),
                                          before)
            self.shown = {name: np.concatenate([self.shown[name], values]) if known else values
                          for name, values in new.items()}
        return float(self.times[n]), {name: values[n] for name, values in self.shown.items()}

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(rows, observables) at times (k,) within the run; those within one step are made together."""
        states, values = np.empty((len(times), *self.nodes.shape[1:])), np.empty((len(times), self.formulated.width))
        places = [self._place(float(time)) for time in times]
        for n, group in groupby(range(len(times)), key=lambda k: places[k][0]):
            own = list(group)
            found = self.inside(slice(n, n + 1), np.array([places[k][1] for k in own]))
            states[own], values[own] = found[0][0], found[1][0]
        return states, values

    def _place(self, time: float) -> tuple[int, float]:
        """The step in which a time lies, and the share of it."""
        sign = self.spec.direction
        n = int(np.clip(np.searchsorted(sign*self.times, sign*time, side="right") - 1, 0, len(self.times) - 1))
        near = min((n, min(n + 1, len(self.times) - 1)), key=lambda k: abs(time - self.times[k]))
        if abs(time - self.times[near]) <= NODE*abs(time):
            return near, 0.0
        return n, (time - self.times[n])/self.lengths[n]

    def fields(self, rows: np.ndarray, values: np.ndarray, times: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """State fields and observables of times, by their names; rows (time, m, d), values (time, columns). Of given
        times also what is counted from one to the next."""
        found = dict(self.formulated.to_fields(rows))
        if times is not None:
            found |= self.formulated.showing(times, found)
        return found | {part.name: part.shaped(values[:, part.columns]) for part in self.formulated.observables}


def require_partial_steps(spec: RunSpecification) -> None:
    """Raises InputError for methods that cannot make a step of another length within a run."""
    declared = spec.method
    if declared.history:
        able = [name for name in integrator_ids() if applicable(spec.problem, name, spec.parameters)
                and not (method(name).history or method(name).adaptive)]
        raise InputError(f"{spec.integrator} has no dense output and no events: {declared.history}, which a partial"
                         f" step would spoil; integrators that have: {', '.join(able)}")


def require_within(times: np.ndarray, begin: float, end: float) -> None:
    """Raises InputError: times outside of a run."""
    outside = times[~((times >= min(begin, end)) & (times <= max(begin, end)))]
    if outside.size:
        raise InputError(f"t = {float(outside[0])!r} is outside of the run, which is from {begin:g} to {end!r}")


def specification_of(attributes: Mapping[str, Any], **changed: Any) -> RunSpecification:
    """The specification that a data set says it was made from, some arguments changed, but for the functions of events
    and control; its start may be the drifted end of another run."""
    found = json.loads(attributes["specification"])
    facts, declared = sheet(found["problem"]), method(found["integrator"])
    span = {"t_start": 0.0, **found, **changed}
    begin, end = span["t_start"], span["t_end"]
    known = {*facts.forms[declared.on(facts).formulation].options, *declared.options}
    with drifting():
        return specify(found["problem"], found["integrator"], **{
            **{name: found.get(name) for name in ("steps", "tolerance", "t_end", "t_start", "parameters", "initial",
                                                  "max_step", "statistics_every", "log_steps")},
            "stops": sorted([stop for stop in found.get("stops", ()) if min(begin, end) < stop < max(begin, end)],
                            reverse=end < begin) or None,
            "options": {name: value for name, value in found["options"].items() if name in known},
            "before": Before(**found["before"]) if "before" in found else None, **changed})


ROUNDING = 64.0*2.0**-52  # a start is on the surface up to this share of what the function reaches in the first step
SHARPNESS = 2.0**26       # extrema are rounded to this part of a step, so that other linear algebra gives the same bits
NEAR = 0.01               # an extremum that comes within this share of the range of a step is looked at closely
BESIDE = 1e-3             # of a step: where one looks beside a point
MOST_NUMBERS = 1_000_000  # of states at a time
BENDS, SEEN = 2.0, 64     # a parabola bends by 1/8 of its second differences; of so many steps one tells


class Occurrence(NamedTuple):
    """An event at a share of a step."""

    step: int
    share: float
    whole: bool     # found on steps of the method that end there; else on its interpolant
    time: float
    direction: int  # 0: no change of sign


@cache
def _grid(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Shares of a step, denser at its ends (Chebyshev), and the matrix from values there to Chebyshev coefficients."""
    x = -np.cos(np.pi*np.arange(count)/(count - 1))
    x[(count - 1)//2] = 0.0
    return 0.5 + 0.5*x, np.linalg.inv(np.polynomial.chebyshev.chebvander(x, count - 1))


class Search:
    """Zeros of a function in the steps of a run, one step after the other. In each step the function is taken at
    some shares of it, and at the extrema of the polynomial through these values: a pair of zeros that is closer
    than the points has an extremum between them. A zero lies where the sign changes from one of all these points to the
    next."""

    between: Between

    def __init__(self, function: EventFunction, event: Event, seen: Callable = Between.seen):
        self.function, self.event, self.seen = function, event, seen
        self.found: list[Occurrence] = []
        self.done = 0              # steps
        self.sign = 0              # the last one that is not zero; 0 before the start's surface is left
        self.since: float | None = None  # the time from which it is not zero
        self.leaving: float | None = None
        self.behind = 0.0          # the event at the start: what the function was there, zero to round-off
        self.was = 0.0             # at the end of the run before this one, if that was not on the surface
        self.largest = self.last = 0.0  # of what the function reaches, and at the last node
        self.zero: tuple[int, float] | None = None  # a point where the function is zero, before its next sign is known

    @property
    def complete(self) -> bool:
        """Whether the run ends at what was found."""
        return self.event.count is not None and len(self.found) >= self.event.count

    def watch(self, between: Between) -> bool:
        """Go through the steps that have come, or to the one that ends the run; returns whether it does."""
        self.between, last = between, len(between.lengths)
        self.shares, self.matrix = _grid(POINTS_OF_ADAPTIVE if between.adaptive else POINTS_OF_FIXED)
        size = max(1, MOST_NUMBERS//(len(self.shares)*between.nodes[0].size))
        for start in range(self.done, last, size):
            steps = self._near(start, min(start + size, last))
            values = self._lines(steps)
            self.largest, self.last = max(self.largest, float(np.abs(values).max())), float(values[-1, -1])
            for n, line, sign in zip(steps.tolist(), values, self._clear(values), strict=True):
                if sign and sign == self.sign and self.zero is None:
                    continue  # the polynomial has no zero
                self._step(n, line)
                if self.complete:
                    return True
        self.done = max(self.done, last)
        return False

    def _near(self, start: int, stop: int) -> np.ndarray:
        """The steps that are to be looked at: the last one, and of fixed steps all but those between nodes where the
        function is farther from zero than BENDS second differences. Every SEEN-th tells whether it bends no more."""
        steps, between = np.arange(start, stop), self.between
        if between.adaptive or between.formulated.shown or start == 0 or stop - start < SEEN:
            return steps

        def rough(own: slice | np.ndarray, shares: np.ndarray) -> np.ndarray:
            fields = {} if self.function.function or shares.any() else between.formulated.to_fields(between.nodes[own])
            if self.function.name not in fields:  # it asks for more than the fields of nodes
                fields = self.seen(between, own, shares)
            return self.function.nearly(fields, len(between.times[own])*len(shares)).reshape(-1, len(shares))

        nodes = rough(slice(start - 1, stop + 1), np.zeros(1))[:, 0]
        second = np.abs(nodes[2:] - 2.0*nodes[1:-1] + nodes[:-2])  # of the nodes from `start` on
        bends = BENDS*(second[:-1] + second[1:])
        low, high = nodes[1:-2], nodes[2:-1]
        near = np.append((np.minimum(low, high) <= bends) & (np.maximum(low, high) >= -bends), True)
        straight = low[::SEEN, None] + (high - low)[::SEEN, None]*self.shares
        bent = np.abs(rough(steps[:-1:SEEN], self.shares) - straight) - bends[::SEEN, None]
        return steps if bent.max() > ROUNDING*np.abs(nodes).max() else steps[near]

    def _lines(self, steps: np.ndarray) -> np.ndarray:
        """Values at the points of some steps."""
        ends = np.union1d(steps, steps + 1)
        nodes, at = self._values(ends, np.zeros(1))[:, 0], np.searchsorted(ends, steps)
        return np.column_stack((nodes[at], self._values(steps, self.shares[1:-1]), nodes[at + 1]))

    def _clear(self, values: np.ndarray) -> list[int]:
        """Sign of the function in each step where its polynomial has no zero, with a margin for round-off; else 0."""
        coefficients = values @ self.matrix.T
        rest, signs = np.abs(coefficients[:, 1:]).sum(axis=1)*(1.0 + 1e-9), np.sign(coefficients[:, 0])
        clear = (np.abs(coefficients[:, 0]) > rest) & np.all(signs[:, None]*values > 0.0, axis=1)
        return np.where(clear, signs, 0.0).astype(int).tolist()

    @property
    def resolution(self) -> float:
        """Longest time between two points of the search, in s."""
        return float(np.diff(self.shares).max()*np.abs(self.between.lengths).max(initial=0.0))

    def finish(self) -> None:
        """The run has come to its end: a zero there counts, from the sign before it."""
        if self.zero is not None and not self.complete:
            self._take(self.zero[0], self.zero[1], True, -self.sign)
        self.was = self.last if self.sign else 0.0

    def joining(self, first: Occurrence) -> Occurrence | None:
        """This event where another search has found one: its function is zero there up to round-off of the state, and
        has been off zero before."""
        sign, n, share = self.between.spec.direction, first.step, first.share
        n, share = (n - 1, 1.0) if n and not share else (n, share)
        near = min(BESIDE, 0.25*share)
        before, value = self._values(slice(n, n + 1), np.array([share - near, share]), first.whole)[0]
        off = self.since is not None and sign*self.since < sign*first.time
        window = near*abs(self.between.lengths[n])
        zero = abs(value) < max(NEAR*abs(before), ROUNDING*self.largest) and abs(value) <= self._noise(n, share, first)
        self.was = float(value) if off and not zero else 0.0
        if not off or not zero:
            return None
        own = [one.direction for one in self.found if abs(one.time - first.time) <= window]
        if not own and abs(self.between.times[-1] - first.time) <= window:  # no step shows what follows
            own = [way for way in (-int(np.sign(before)),) if self.event.direction in (0, way)]
        self.found = [one for one in self.found if sign*one.time < sign*first.time - window]
        return first._replace(direction=own[-1]) if own else None

    def _noise(self, n: int, share: float, first: Occurrence) -> float:
        """What round-off of the state makes of a zero."""
        fields = self.seen(self.between, slice(n, n + 1), np.array([share]), first.whole)
        value, found = self.function.over(fields, 1), ROUNDING*self.largest
        for name, values in fields.items():
            for k in range(values.size):
                moved = np.array(values)
                moved.flat[k] *= 1.0 + NODE
                found += abs(float((self.function.over({**fields, name: moved}, 1) - value)[0]))
        return found

    def _values(self, steps: slice | np.ndarray, shares: np.ndarray, whole: bool = False) -> np.ndarray:
        count = len(self.between.times[steps])
        fields = self.seen(self.between, steps, shares, whole)
        return self.function.over(fields, count*len(shares)).reshape(count, len(shares))

    def _step(self, n: int, values: np.ndarray) -> None:
        if self.leaving is None:
            self.leaving = max(ROUNDING*np.abs(values).max(), 4.0*2.0**-52*abs(self.function.level), self.behind)
            on = abs(values[0]) <= self.leaving and not abs(values[0] - self.was) < 0.5*abs(self.was)
            self.sign, self.since = (0, None) if on else (int(np.sign(values[0])), float(self.between.times[n]))
        coefficients = self.matrix @ values
        shares = self.shares
        extrema = _extrema(coefficients)
        if len(extrema):
            more = self._values(slice(n, n + 1), extrema)[0]
            for k in np.flatnonzero((np.sign(more) == np.sign(values).min()) & (np.sign(more) == np.sign(values).max())
                                    & (np.abs(more) < NEAR*np.ptp(values))):
                extrema[k], more[k] = self._sharper(n, float(extrema[k]), np.sign(more[k]))
            order = np.argsort(np.concatenate((shares, extrema)), kind="stable")
            shares, values = (np.concatenate(pair)[order] for pair in ((shares, extrema), (values, more)))
        before = 0.0
        for share, value in zip(shares.tolist(), values.tolist(), strict=True):
            self._point(n, before, share, value)
            before = share
            if self.complete:
                return

    def _sharper(self, n: int, share: float, sign: float) -> tuple[float, float]:
        """The share near a point where the function comes closest to zero, and its value there: the polynomial is not
        quite the function."""
        from scipy.optimize import minimize_scalar

        width = 0.1*min(share, 1.0 - share, 0.5)
        found = minimize_scalar(lambda s: sign*self._values(slice(n, n + 1), np.array([s]))[0, 0], method="bounded",
                                bounds=(share - width, share + width), options={"xatol": 1e-9})
        return float(found.x), float(sign*found.fun)

    def _point(self, n: int, before: float, share: float, value: float) -> None:
        """The next point of step n, after the one at the share `before`."""
        sign = int(np.sign(value))
        if self.sign == 0:  # at the start, on the surface
            assert self.leaving is not None
            if abs(value) > self.leaving:
                self.sign, self.since = sign, float(self.between.times[n] + share*self.between.lengths[n])
        elif sign == 0:
            self.zero = self.zero or (n, share)
        else:
            if self.zero is not None:
                self._take(*self.zero, True, sign if sign != self.sign else 0)
            elif sign != self.sign:
                self._take(n, *self._root(n, before, share), sign)
            self.sign, self.zero = sign, None

    def _take(self, n: int, share: float, whole: bool, direction: int) -> None:
        if self.event.direction in (0, direction):
            time = self.between.times[n] + share*self.between.lengths[n] if share < 1.0 else self.between.times[n + 1]
            self.found.append(Occurrence(n, share, whole, float(time), direction))

    def _root(self, n: int, low: float, high: float) -> tuple[float, bool]:
        """The share where the sign changes, to round-off, and on what it was found: steps of the method that end
        there, or its interpolant where these see no change."""
        from scipy.optimize import brentq

        for whole in (True, False):
            def value(share: float, whole: bool = whole) -> float:
                return float(self._values(slice(n, n + 1), np.array([share]), whole)[0, 0])

            ends = value(low), value(high)
            if ends[0]*ends[1] < 0.0:
                return float(brentq(value, low, high, xtol=1e-16, rtol=4.0*np.finfo(np.float64).eps)), whole
        return high, True  # between the end of this step and the next node


def _extrema(coefficients: np.ndarray) -> np.ndarray:
    """Shares of a step between its ends where a Chebyshev series has derivative zero."""
    largest = np.abs(coefficients).max()
    slope = np.polynomial.chebyshev.chebder(np.polynomial.chebyshev.chebtrim(coefficients, 1e-15*largest))
    if len(slope) < 2 or abs(slope[0]) > (1.0 + 1e-9)*np.abs(slope[1:]).sum():
        return np.zeros(0)  # no zero from -1 to 1
    roots = np.polynomial.chebyshev.chebroots(slope)
    real = np.real(roots[np.abs(np.imag(roots)) < 1e-6])
    shares = np.unique(np.rint((0.5 + 0.5*real)*SHARPNESS)/SHARPNESS)
    return shares[(shares > 0.0) & (shares < 1.0)]


NEVER, REACHED = "none", "reached"  # attribute `event` of a run


def with_nodes(spec: RunSpecification) -> Content:
    """The content of a run with all its nodes: the rows of the state at every step. Raises InputError: an adaptive
    method, one that needs earlier steps, or more nodes than fit the memory."""
    if spec.method.adaptive:
        raise InputError(f"{spec.integrator} is adaptive and keeps no nodes: its samples come from its own interpolant,"
                         " ask for more of them with samples=, or for your own with times=")
    require_partial_steps(spec)
    _require_single(spec, "dense output is")
    content = _carry_out(spec)
    content.add(ROWS, ("node", "row", "column"), nodes_of(spec).nodes, "1", "rows of the state at every step")
    return content


def observed(spec: RunSpecification, progress: Progress | None = None) -> Content:
    """The content of the file of a run with times of its own or an event: its samples there, and up to the event.
    Attributes of a run with an event: `event`, "reached" or "none"; `event_time` in s, NaN where there is none;
    `event_resolution` in s, the longest time between two points where it was looked for. Variables: `event_times` and
    `event_directions` of all that were found. Raises InputError: no event, see `event_function`; a method without
    partial steps; more nodes than fit the memory."""
    _require_single(spec, "until and times are")
    search = None
    if spec.until is not None:
        require_partial_steps(spec)
        search = Search(event_function(spec.until, shapes_of(build(spec)[0]), own_names(spec.sheet, spec.parameters)),
                        spec.until)
    between, last, *_ = first_of([search] if search else [], spec)
    plain = replace(spec, until=None, times=None, samples=2 if spec.times is not None else spec.samples)
    if last is None:
        content = _carry_out(plain, progress)
        if spec.times is not None:
            reached = content.attributes["time_reached"]
            kept = spec.times[spec.direction*spec.times <= spec.direction*reached]
            _replace_samples(content, kept, between.fields(*between.at(kept), kept))
    else:
        content = _ended(spec, plain, between, last, progress)
    content.attributes |= {name: value for name, value in origin(spec).items() if name not in ("t_end", "source_hash")}
    if search is not None:
        found, count = search.found, search.event.count
        reached = last is not None or (count is None and bool(found))
        content.attributes |= {"event": REACHED if reached else NEVER,
                               "event_time": found[-1 if count else 0].time if reached else np.nan,
                               "events": len(found), "event_resolution": search.resolution}
        if found:
            add_events(content, [(one.time, one.direction) for one in found])
    return content


def times_from(text: str | None) -> list[float] | None:
    """Output times from a command line. Raises InputError."""
    if text is None:
        return None
    found = [number_or_nan(part) for part in text.split(",")]
    if not np.isfinite(found).all():
        raise InputError(f"--times {text[:40]!r} must be numbers with commas between them, for example 0,0.1,1")
    return found


def event_from(text: str | None, direction: int, count: int) -> Event | None:
    """An event from a command line. Raises InputError."""
    if text is None:
        return None
    found = re.fullmatch(r"(\w+)(?::(\d+(?:,\d+)*))?=(.+)", text)
    if found is None:
        raise InputError(f"--until {text[:40]!r} must be NAME:INDEX=VALUE, for example q:0,2=-0.5 or energy=1")
    name, index, value = found.groups()
    return Event((name, tuple(map(int, index.split(","))) if index else None, number_or_nan(value)), direction, count)


def _carry_out(spec: RunSpecification, progress: Progress | None = None) -> Content:
    return collected(spec, [run_once(spec, progress=progress)])


def _require_single(spec: RunSpecification, what: str) -> None:
    if spec.ensemble is not None or spec.replicas > 1 or spec.exponents:
        raise InputError(f"{what} for single runs; leave out ensemble, replicas and exponents")


def nodes_of(spec: RunSpecification, searches: Sequence["Search"] = (), interpreted: bool = True) -> Between:
    """The run with all its nodes, or those up to the step after which one of the searches is complete."""
    if spec.steps is not None:
        spec = replace(spec, samples=spec.steps + 1)
        require_memory(spec, "dense output, times and events keep every step")
    kept: list[Between] = []

    def keep(nodes: np.ndarray, times: np.ndarray | None) -> bool:
        if nodes.nbytes > memory():
            raise InputError(f"every step is kept, and {len(nodes)} of them need {readable(nodes.nbytes)} of memory:"
                             " take a shorter run or a larger tolerance")
        if not kept:
            kept.append(Between(spec, nodes, times))
        kept[0].extend(nodes, times)
        return max([one.watch(kept[0]) for one in searches], default=False)

    kept[0].outcome = run_once(replace(spec, times=None, until=None), watch=keep, interpreted=interpreted)
    return kept[0]


class Found(NamedTuple):
    """What several searches find in a run up to the first event that completes one of them."""

    between: Between
    last: Occurrence | None                 # where the run ends, if one is complete
    earlier: list[tuple[int, Occurrence]]   # in the order of time, with the numbers of their searches
    together: list[tuple[int, Occurrence]]  # all events of that time, in the order of the searches


def first_of(searches: Sequence[Search], spec: RunSpecification, interpreted: bool = False) -> Found:
    """The run up to the first event that completes one of the searches; interpreted as in `run_once`."""
    between, sign = nodes_of(spec, searches, interpreted or not searches), spec.direction
    for one in searches:
        one.finish()
    stops = [(sign*one.found[-1].time, k) for k, one in enumerate(searches) if one.complete]
    number = min(stops)[1] if stops else -1
    last = searches[number].found[-1] if stops else None
    joined = [(k, last if k == number else one.joining(last)) for k, one in enumerate(searches)] if last else []
    earlier = [(k, seen) for k, one in enumerate(searches) for seen in one.found
               if last is None or sign*seen.time < sign*last.time]
    return Found(between, last, sorted(earlier, key=lambda pair: (sign*pair[1].time, pair[0])),
                 [(k, seen) for k, seen in joined if seen])


def shapes_of(formulated: Formulated) -> dict[str, tuple[int, ...]]:
    """Shape of each field and observable at one time."""
    fields = formulated.to_fields(formulated.start[None])
    shapes = {name: values.shape[1:] for name, values in (fields | formulated.showing(np.zeros(1), fields)).items()}
    return shapes | {part.name: () if part.width == 1 else (part.width,) for part in formulated.observables}


def _ended(spec: RunSpecification, plain: RunSpecification, between: Between, last: Occurrence,
           progress: Progress | None) -> Content:
    """The content of a run that ends at an event. Its last sample is the state there; statistics are over the steps
    before it, or over the first step of a run that ends within it."""
    if spec.steps is not None:
        assert spec.step is not None
        steps = max(last.step, 1)
        content = _carry_out(replace(plain, steps=steps, t_end=spec.t_start + steps*spec.step, samples=2), progress)
        times = between.times[:last.step + 1:spec.steps//(spec.samples - 1)]
    else:
        content = _carry_out(replace(plain, t_end=last.time, samples=2), progress)
        times = spec.t_start + np.arange(spec.samples)*((last.time - spec.t_start)/(spec.samples - 1))
    times = times if spec.times is None else spec.times
    times = times[spec.direction*times < spec.direction*last.time]
    end = between.inside(slice(last.step, last.step + 1), np.array([last.share]), last.whole)
    rows, values = (np.concatenate([one, two[0]]) for one, two in zip(between.at(times), end, strict=True))
    times = np.append(times, last.time)
    _replace_samples(content, times, between.fields(rows, values, times))
    content.attributes |= {"steps": last.step + 1, "t_end": last.time, "time_reached": last.time,
                           "status": Status.OK.name.lower(), "message": f"ended at the event, t = {last.time!r}"}
    return content


def add_events(content: Content, found: Sequence[tuple[float, int]]) -> None:
    """Times and directions of events as variables."""
    content.add("event_times", ("event",), np.array([time for time, _ in found], dtype=float), "s",
                "times of the events")
    content.add("event_directions", ("event",), np.array([direction for _, direction in found], dtype=np.int32), "1",
                "1 where the function of the event grows, -1 where it falls, 0 where it does neither")


def _replace_samples(content: Content, times: np.ndarray, seen: Mapping[str, np.ndarray]) -> None:
    for name, (dims, _, attributes) in list(content.variables.items()):
        if dims and dims[0] == "time":
            content.variables[name] = (dims, times if name == "time" else seen[name], attributes)
