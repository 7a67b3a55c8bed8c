"""Zeros of functions of the state within the steps of a run, and the run up to the first that ends it."""
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from liestep.errors import InputError
from liestep.simulation.endings.between import NODE, Between, nodes_of
from liestep.simulation.endings.events import Event, EventFunction
from liestep.simulation.runs.specified import RunSpecification

POINTS_OF_FIXED, POINTS_OF_ADAPTIVE = 5, 17  # in each step where events are looked for, both ends included
ROUNDING = 64.0*2.0**-52  # a start is on the surface up to this share of what the function reaches in the first step
SHARPNESS = 2.0**26       # extrema are rounded to this part of a step, so that other linear algebra gives the same bits
NEAR = 0.01               # an extremum that comes within this share of the range of a step is looked at closely
BESIDE = 1e-3             # of a step: where one looks beside a point
BEFORE = np.array([0.0, 0.25, 0.5, 0.75])  # of the share of an event: where its function has its height
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
        zero = abs(value) < max(NEAR*abs(before), ROUNDING*self.largest) and abs(value) <= self.noise(first, n, share)
        self.was = float(value) if off and not zero else 0.0
        if not off or not zero:
            return None
        own = [one.direction for one in self.found if abs(one.time - first.time) <= window]
        if not own and abs(self.between.times[-1] - first.time) <= window:  # no step shows what follows
            own = [way for way in (-int(np.sign(before)),) if self.event.direction in (0, way)]
        self.found = [one for one in self.found if sign*one.time < sign*first.time - window]
        return first._replace(direction=own[-1]) if own else None

    def noise(self, first: Occurrence, n: int, share: float) -> float:
        """What round-off of the state makes of a zero."""
        fields = self.seen(self.between, slice(n, n + 1), np.array([share]), first.whole)
        value, found = self.function.over(fields, 1), ROUNDING*self.largest
        for name, values in fields.items():
            for k in range(values.size):
                moved = np.array(values)
                moved.flat[k] *= 1.0 + NODE
                found += abs(float((self.function.over({**fields, name: moved}, 1) - value)[0]))
        return found

    def height(self, first: Occurrence) -> float:
        """Largest size of the function before an event."""
        return float(np.abs(self._values(slice(0, first.step + 1), first.share*BEFORE)).max())

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
        extremum = minimize_scalar(lambda s: sign*self._values(slice(n, n + 1), np.array([s]))[0, 0], method="bounded",
                                bounds=(share - width, share + width), options={"xatol": 1e-9})
        return float(extremum.x), float(sign*extremum.fun)

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
                try:
                    return float(self._values(slice(n, n + 1), np.array([share]), whole)[0, 0])
                except InputError as error:
                    if not isinstance(error.__cause__, ArithmeticError):
                        raise
                return 0.0  # a pole: the sign changes here

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


class Found(NamedTuple):
    """What several searches find in a run up to the first event that completes one of them."""

    between: Between
    last: Occurrence | None                 # where the run ends, if one is complete
    earlier: list[tuple[int, Occurrence]]   # in the order of time, with the numbers of their searches
    together: list[tuple[int, Occurrence]]  # all events of that time, in the order of the searches


def first_of(searches: Sequence[Search], spec: RunSpecification, interpreted: bool = False) -> Found:
    """The run up to the first event that completes one of the searches; interpreted as in `run_once`."""
    between, sign = nodes_of(spec, [one.watch for one in searches], interpreted or not searches), spec.direction
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
