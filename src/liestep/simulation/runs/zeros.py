"""Zeros of an event's function within the steps of a run."""
from functools import cache
from typing import NamedTuple

import numpy as np

from liestep.simulation.runs.dense import Between
from liestep.simulation.runs.events import Event, EventFunction

ROUNDING = 64.0*2.0**-52  # a start is on the surface up to this share of what the function reaches in the first step
SHARPNESS = 2.0**26       # extrema are rounded to this part of a step, so that other linear algebra gives the same bits
NEAR = 0.01               # an extremum that comes within this share of the range of a step is looked at closely
MOST_NUMBERS = 1_000_000  # of states at a time


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
    """Zeros of a function in the steps of a run, one step after the other.

    In each step the function is taken at `points` shares of it, and at the extrema of the polynomial through these
    values: a pair of zeros that is closer than the points has an extremum between them. A zero lies where the sign
    changes from one of all these points to the next."""

    between: Between

    def __init__(self, function: EventFunction, event: Event):
        self.function, self.event = function, event
        self.found: list[Occurrence] = []
        self.done = 0              # steps
        self.sign = 0              # the last one that is not zero; 0 before the start's surface is left
        self.leaving: float | None = None
        self.zero: tuple[int, float] | None = None  # a point where the function is zero, before its next sign is known

    @property
    def complete(self) -> bool:
        """Whether the run ends at what was found."""
        return self.event.count is not None and len(self.found) >= self.event.count

    def watch(self, between: Between) -> bool:
        """Go through the steps that have come, or to the one that ends the run; returns whether it does."""
        self.between, last = between, len(between.lengths)
        self.shares, self.matrix = _grid(between.points)
        size = max(1, MOST_NUMBERS//(len(self.shares)*between.nodes[0].size))
        for start in range(self.done, last, size):
            steps = slice(start, min(start + size, last))
            nodes = self._values(slice(steps.start, steps.stop + 1), np.zeros(1))[:, 0]
            values = np.column_stack((nodes[:-1], self._values(steps, self.shares[1:-1]), nodes[1:]))
            for n, line in enumerate(values, start):
                self._step(n, line)
                if self.complete:
                    return True
        self.done = last
        return False

    @property
    def resolution(self) -> float:
        """Longest time between two points of the search, in s."""
        return float(np.diff(self.shares).max()*np.abs(self.between.lengths).max(initial=0.0))

    def finish(self) -> None:
        """The run has come to its end: a zero there counts, from the sign before it."""
        if self.zero is not None and not self.complete:
            self._take(self.zero[0], self.zero[1], True, -self.sign)

    def _values(self, steps: slice, shares: np.ndarray, whole: bool = False) -> np.ndarray:
        rows, seen = self.between.inside(steps, shares, whole=whole)
        fields = self.between.fields(rows.reshape(-1, *rows.shape[2:]), seen.reshape(-1, seen.shape[-1]))
        return self.function.over(fields, rows.shape[0]*rows.shape[1]).reshape(rows.shape[:2])

    def _step(self, n: int, values: np.ndarray) -> None:
        if self.leaving is None:
            self.leaving = max(ROUNDING*np.abs(values).max(), 4.0*2.0**-52*abs(self.function.level))
            self.sign = 0 if abs(values[0]) <= self.leaving else int(np.sign(values[0]))
        coefficients = self.matrix @ values
        if self.zero is None and self.sign*coefficients[0] > np.abs(coefficients[1:]).sum() and np.all(
                self.sign*values > 0.0):
            return  # the polynomial has no zero
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
            self.sign = sign if abs(value) > self.leaving else 0
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
    if len(slope) < 2:
        return np.zeros(0)
    roots = np.polynomial.chebyshev.chebroots(slope)
    real = np.real(roots[np.abs(np.imag(roots)) < 1e-6])
    shares = np.unique(np.rint((0.5 + 0.5*real)*SHARPNESS)/SHARPNESS)
    return shares[(shares > 0.0) & (shares < 1.0)]
