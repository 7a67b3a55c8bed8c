"""Times that a system's functions name: where a comparison with the time changes (np.where, np.abs, the knots of
np.interp), and where a pulse exp(f(t)) or 1/f(t) has its peak. Adaptive steps end there: a step that jumps over a short
pulse sees nothing of it.

What changes is looked for on POINTS even times, and at the turning points of the same functions between them. So pulses
may be as short as they like; what turns more than once between two of these times may be missed."""
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise

import numpy as np

from liestep.compile.tracing import plain_loop
from liestep.mechanics.contracts.sheet import Parameters

POINTS = 1025
FOOT = 40.0  # exp(-FOOT) is round-off beside the peak
GOLDEN = 0.6180339887498949


def stops_in(clock: Callable[..., list[tuple[str, float]]], parameters: Parameters, low: float, high: float
             ) -> set[float]:
    """Those between two times, of the functions of `Sheet.clock`; of what has a period those of one, in each."""
    read, end = cache(partial(plain_loop(clock), parameters)), 2.0**-40*max(abs(low), abs(high))
    ends = [(what, abs(b - a)/(high - low)) for (what, a), (_, b) in zip(read(low), read(high), strict=True)]
    periods = sorted({2.0*np.pi/rate for what, rate in ends if what == "sin" and rate*(high - low) > 4.0*np.pi})
    found: set[float] = set()
    for k in (k for k, (what, _) in enumerate(ends) if what != "sin"):
        period = next((one for one in periods if _repeats(read, k, low, high, one)), 0.0)
        some = _stops(read, k, low - 0.37*period, low + 1.13*period if period else high)
        found |= {time + j*period for time in some if not period or time < min(some) + period - end
                  for j in range(int((high - low)/period) + 2 if period else 1)}
    return {time for time in found if low + end < time < high - end}


def _repeats(read: Callable[[float], list[tuple[str, float]]], k: int, low: float, high: float, period: float) -> bool:
    """Whether function k has a period."""
    places = low + (high - low - period)*(GOLDEN*np.arange(1.0, 17.0) % 1.0)
    line = np.array([[read(time)[k][1], read(time + period)[k][1]] for time in places])
    return bool(np.ptp(line, axis=1).max() <= 1e-9*np.abs(line).max())


def _stops(read: Callable[[float], list[tuple[str, float]]], k: int, low: float, high: float) -> set[float]:
    """Those of function k."""
    def function(time: float) -> float:
        return float(read(time)[k][1])

    near = (high - low)*2.0**-np.arange(11.0, 50.0)  # a peak close to an end has to have neighbours on both sides
    times = np.unique(np.concatenate([np.linspace(low, high, POINTS), low + near, high - near])).tolist()
    what, line, stops = read(low)[k][0], [*map(function, times)], set[float]()
    peaks = _turns(function, times, line)
    known = sorted({*zip(times, line, strict=True), *((time, function(time)) for time in peaks)})
    if what != "inverse":
        stops |= _changes(function, known, 0.0)
    if what != "choice":
        stops.update(peaks)
    if what == "exp" and peaks:
        stops |= _changes(function, known, max(map(function, peaks)) - FOOT)
    return stops


def _turns(function: Callable[[float], float], times: Sequence[float], line: Sequence[float]) -> list[float]:
    """Where a function has its greatest and least values between neighbours."""
    turns, begin, before = [], 0, 0.0  # the last interval that is not level, and the sign of its slope
    for i, slope in enumerate(np.sign(np.diff(line)).tolist()):
        if slope*before < 0.0:
            turns.append(_peak(function, before, times[begin], times[i + 1]))
        begin, before = (i, slope) if slope else (begin, before)
    return turns


def _peak(function: Callable[[float], float], sign: float, a: float, b: float) -> float:
    """Where a function has its greatest value in an interval, or its least (sign < 0), by golden sections."""
    while a < (x := b - GOLDEN*(b - a)) < (y := a + GOLDEN*(b - a)) < b:
        a, b = (a, y) if sign*function(x) >= sign*function(y) else (x, b)
    return max(a, x, y, b, key=lambda time: sign*function(time))


def _changes(function: Callable[[float], float], known: Sequence[tuple[float, float]], level: float) -> set[float]:
    """Where a function crosses a level, to the last bit."""
    crossings = set()
    for (a, at_a), (b, at_b) in pairwise(known):
        side = np.sign(at_a - level)
        if side == np.sign(at_b - level):
            continue
        while a < (middle := 0.5*(a + b)) < b:
            if np.sign(function(middle) - level) == side:
                a = middle
            else:
                b = middle
        crossings.add(b if side else a)  # where it is zero at one time alone, that is it
    return crossings
