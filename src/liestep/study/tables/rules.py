"""The rules of observed orders and of drift: a copy of those of `rotation_bench/liestep_judge.py`, which judges when it
is copied alone. A test holds the two equal, line by line."""
import itertools
from math import inf, log, nan, sqrt

import numpy as np

# Orders: admissible errors, ratio and slopes of neighbours, extent of a window, uncertainties, ranges of fits
FLOOR_FACTOR, LARGEST_ERROR, SMALLEST_RATIO, RATIO_SLACK, SLOPE_BAND, POINTS = 30.0, 0.1, 1.4, 0.02, 0.3, 4
STEP_SPAN, ERROR_SPAN, SPAN_SLACK, LEAST_ORDER, LEAST_UNCERTAINTY = log(10.0), log(1e4), 1e-9, 0.5, 0.02
LEAST_TOLERANCE, LIMIT, WIDE_LIMIT, HIGH = 0.05, 0.15, 0.3, 4   # wider above order 4
CORRECTION, LOWER, SUSPICION, LEAST_RESIDUAL = (-0.5, 1.0), (0.0, 1.0), 9.0, 1e-12
FINEST, SUPPORT, NEAR, KNOWN = 0.058, 0.045, 0.245, 0.002   # shares: of all steps, of those up to 4 times the finest
CLEARLY = 1000.0   # in squares: what 1 % of scatter on three steps pretends in less than 3 of 100 cases
# Drift: blocks, periods, growth, slope by oscillation (seen; a width about zero), walks, round-off
BLOCKS, LEAST_BLOCKS, LEAST_SAMPLES, PERIODS_PER_BLOCK, LEAST_PERIODS, STEADY, MOVING = 100, 20, 8, 5, 2, 0.25, 1e-3
BOUNDED_GROWTH, LASTING_GROWTH, DRIFT_GROWTH, BOUND, LARGEST_BOUND, PARTS = 0.25, 0.5, 0.75, 0.1, 0.5, 10
WALK, WANDER, ONE_SIGNED, MEMORY = 2.2, 0.15, 2.576, 1.32   # MEMORY: 1 + 4/pi asin(1/4)
ROUND_OFF_UNITS, RESOLUTION_UNITS, RESAMPLES, SLACK, EPSILON = 100.0, 4.0, 2000, 1e-9, float(np.finfo(float).eps)


class BadStates(ValueError):
    """States that cannot be judged, in one sentence."""


def refuse(bad, sentence):
    if bad:
        raise BadStates(sentence)


def project(x, y, share, limits=None):
    """Least squares of y = log C + p x + log(1 + c share): p, c within limits, residuals."""
    x, (low, high) = x - x.mean(), limits or CORRECTION
    for _ in range(8):
        c = np.linspace(low, high, 101)
        z = y - np.log1p(c[:, None]*share)
        z -= z.mean(axis=1, keepdims=True)
        p = z @ x/(x @ x)
        r = z - p[:, None]*x
        best = int(np.argmin((r*r).sum(axis=1)))
        low, high = c[max(best - 1, 0)], c[min(best + 1, c.size - 1)]
    return float(p[best]), float(c[best]), r[best]


def lower_order(x, y, power, unknown):
    """Whether a term of lower order explains the smallest steps better, and its share in the error of the smallest;
    0 where the finest steps alone do not show it, or the floor can do it."""
    first = next(k for k in range(x.size) if unknown[k] <= KNOWN or x.size - k <= POINTS)
    a, b, known, explains = x[first:] - x[-1], y[first:] - y[-1], unknown[first:], False
    order, _, higher = project(a, b, np.exp(power*a))
    n, r, one = round(order), np.exp(a[0] - a), np.ones_like(a)
    for k in (1, 2):
        leading, _, lower = project(a, b, r**k, LOWER)
        least = max(float(lower @ lower), LEAST_RESIDUAL**2*a.size + float(known @ known)/SUSPICION)
        explains |= bool(higher @ higher > SUSPICION**(1 + (k != power))*least and abs(leading - round(leading)) < abs(
            order - n))
    def fitted(rows, *terms):
        """Share of the second term in the error of the smallest step, and the sum of the squared residuals."""
        basis = (np.exp(n*a - b)*np.stack(terms)).T[rows]
        found = np.linalg.lstsq(basis, one[rows], None)[0]
        return float(found[1]/found[0]), float(((basis @ found - one[rows])**2).sum())

    growing, finest = np.exp(power*a), r >= min(NEAR, r[1])
    wide, (near, rest), (_, otherwise) = fitted(r > 0, one, r, growing)[0], fitted(finest, one, r), fitted(
        finest, one, growing)
    shown = wide > FINEST and near > SUPPORT + known[0] and (finest.sum() <= 2 or CLEARLY*otherwise > rest)
    return explains, wide if shown else 0.0


def sufficient(h, error, points):
    return len(points) >= POINTS and (np.ptp(np.log(h[points])) >= STEP_SPAN - SPAN_SLACK or
                                      np.ptp(np.log(error[points])) >= ERROR_SPAN - SPAN_SLACK)


def limit_of(theory):
    return LIMIT if theory is None or theory <= HIGH else WIDE_LIMIT


def observed_order(h, error, floor=0.0, theory=None, symmetric=False):
    """Order of errors at steps, uncertainty, class, plain slope, window (indices from large to small steps), as the
    study has them; `kept`: points that may be used, with `slopes` between them; `lower`: see lower_order."""
    h, error, power = np.asarray(h, float), np.asarray(error, float), 2 if symmetric else 1
    floor, finite = np.broadcast_to(floor, h.shape), np.isfinite(error)
    high, kept = (error >= FLOOR_FACTOR*floor) & (error > 0), list[int]()
    good = finite & high & (error <= LARGEST_ERROR)
    for i in np.argsort(h, kind="stable"):
        if good[i] and (not kept or h[i] >= SMALLEST_RATIO*(1 - RATIO_SLACK)*h[kept[-1]]):
            kept.append(int(i))
    slopes = [log(error[j]/error[i])/log(h[j]/h[i]) for i, j in itertools.pairwise(kept)]
    window = next((kept[:k] for k, (i, j) in enumerate(itertools.pairwise(kept), start=1) if max(slopes[:k]) - min(
        slopes[:k]) > SLOPE_BAND or np.any(~good & (h > h[i]) & (h < h[j]))), kept)
    x, y, plain, p, u = np.log(h[window]), np.log(error[window]), nan, nan, nan
    if len(window) >= 2:
        plain = float((x - x.mean()) @ (y - y.mean())/((x - x.mean()) @ (x - x.mean())))
    if len(window) >= POINTS:
        fits = [project(x[s], y[s], np.exp(power*(x[s] - x[s].max()))) for s in (
            slice(None), slice(1, None), slice(None, -1))]
        (p, c, r), orders, share = fits[0], [fit[0] for fit in fits], np.exp(power*(x - x.max()))
        row = np.linalg.pinv(np.stack([np.ones_like(x), x, share/(1 + c*share)], axis=1))[1]
        u = float(max(abs(plain - p), np.ptp(orders)/2, 2*sqrt(r @ r/(x.size - 3)*(row @ row)), LEAST_UNCERTAINTY))
    lost, agree = int((finite & (error <= LARGEST_ERROR) & ~high).sum()), u <= limit_of(theory) and plain >= LEAST_ORDER
    lower = lower_order(x, y, power, floor[window]/error[window]) if agree else (False, 0.0)
    name = ("failed" if finite.sum() < 2 else "saturated" if np.all(error[finite] > LARGEST_ERROR) else
            "pre-asymptotic" if lower[0] or lower[1] else
            "asymptotic" if agree and sufficient(h, error, window) else "short range" if agree else
            "floor-limited" if (plain < LEAST_ORDER if sufficient(h, error, kept) else lost) else "pre-asymptotic")
    return {"order": p, "uncertainty": u, "class": name, "plain": plain, "window": window[::-1], "kept": kept[::-1],
            "slopes": slopes[::-1], "lower": lower, "lost": lost}


def slope_of(mean):
    """Least-squares slope of block means times the length of all, and distances from the line."""
    line = (np.arange(mean.size) + 0.5)/mean.size - 0.5
    slope = float(line/(line @ line) @ mean)
    return slope, mean - mean.mean() - slope*line, line/(line @ line)


def slope_interval(mean, seed):
    """95 % interval of the slope by a bootstrap of moving blocks."""
    n, size, (slope, rest, weights) = mean.size, round(sqrt(mean.size)), slope_of(mean)
    starts = np.random.default_rng(seed).integers(0, n - size + 1, (RESAMPLES, -(-n//size)))
    picked = (starts[:, :, None] + np.arange(size)).reshape(RESAMPLES, -1)[:, :n]
    return np.quantile(slope + rest[picked] @ weights, (0.025, 0.975))


def drift_numbers(time, d, m, scale, steps, seed=0):
    """What the verdict on a deviation d with block means m is made of: see DriftEstimate of the study."""
    n, span, unit = len(m), float(time[-1] - time[0]), RESOLUTION_UNITS*EPSILON*scale
    share, slack = (time - time[0])/span, 1 + SLACK
    edges = np.searchsorted(np.clip(np.ceil(share*n*(1 - SLACK)).astype(int) - 1, 0, n - 1), np.arange(n + 1))
    refuse(min(sizes := np.diff(edges)) < LEAST_SAMPLES, f"a block needs {LEAST_SAMPLES} samples, one has {min(sizes)}")
    ranges = np.zeros(n)
    for k in np.unique(sizes):  # a call for each block would take half of the time
        ranges[sizes == k] = np.subtract(*np.quantile(d[edges[:-1][sizes == k, None] + np.arange(k)], (0.95, 0.05), 1))
    size, (slope, rest, _), (low, high) = float(np.median(ranges)), slope_of(m), map(float, slope_interval(m, seed))
    running = np.maximum(np.maximum.accumulate(np.abs(d)), unit)
    first, tenth, last = (float(running[np.searchsorted(share, f*slack, side="right") - 1]) for f in (0.01, 0.1, 1.0))
    late = max(float(np.median(np.maximum.reduceat(np.abs(d), edges[:-1])[-(n//10):])), unit)
    ranges, rise = np.maximum(ranges, unit), 1 - 1/PARTS
    slopes, top, signs = slope_interval(ranges, seed), max(abs(low), abs(high)), np.sign(np.diff(m))
    spread = tuple(map(float, rise*slopes/np.maximum(ranges.mean() - (rise - 0.5)*slopes, ranges.min())))
    part, rest = np.median([np.ptp(x) for x in np.array_split(m, PARTS)]), float(np.ptp(rest))
    return {
        "amplitude": size, "slope": slope, "slope_low": low, "slope_high": high, "residual": rest, "duration": span,
        "bound": 0.0 if top == 0 else top/size if size > 0 else inf, "envelope": spread,
        "wander": (float(np.ptp(m))/max(size, unit), max(float(np.ptp(m)), unit)/max(float(part), unit)),
        "one_signed": abs(float(signs.sum()))/sqrt(MEMORY*max(int(np.count_nonzero(signs)), 1)),
        "half_slopes": (2*slope_of(m[:n//2])[0], 2*slope_of(m[-(n//2):])[0]), "growth": log(last/first)/log(100),
        "decade_growth": (log(tenth/first)/log(10), log(last/tenth)/log(10)),
        "lasting_growth": log(late/first)/log(100),
        "largest": float(max(np.abs(d).max(), np.abs(m).max())), "round_off": ROUND_OFF_UNITS*EPSILON*sqrt(steps)*scale}


def spreads(e):
    """Whether ranges of blocks grow, and whether their means wander."""
    grows = e.envelope[1] > (LARGEST_BOUND if e.envelope[0] <= 0 else BOUND)
    return grows, e.wander[0] > WANDER and e.wander[1] > WALK


def drift_class(e, blocks, period=None):
    """Class by the numbers e, whether a lasting slope makes a drift, and the class where blocks are too short."""
    around = e.slope_low <= 0 <= e.slope_high
    lasting = not around and min(abs(e.slope_low), abs(e.slope_high)) > e.amplitude/2 and (
        min(e.half_slopes)*max(e.half_slopes) > 0 and e.half_slopes[0]*e.slope > 0)
    name = ("bounded" if not any(spreads(e)) and e.bound <= (LARGEST_BOUND if around else BOUND)
            and e.growth <= BOUNDED_GROWTH else
            "round-off" if e.largest <= e.round_off and min(e.decade_growth) <= DRIFT_GROWTH
            and e.one_signed <= ONE_SIGNED else
            "drift" if lasting or (e.growth > DRIFT_GROWTH and e.lasting_growth > LASTING_GROWTH) else "undecided")
    steady = period is None or e.duration*(1 + SLACK) >= PERIODS_PER_BLOCK*period*blocks or (
        name == "drift" and e.duration >= LEAST_PERIODS*period*(1 - SLACK) and e.residual <= STEADY*abs(e.slope))
    return name, lasting, name if steady else "too short"


def longest_period(time, a):
    s = a.reshape(len(time), -1)
    s = s[:, np.ptp(s, axis=0) > MOVING]
    up = np.count_nonzero(np.diff((s > s.mean(axis=0)).astype(int), axis=0) > 0, axis=0)
    return float(time[-1] - time[0])/max(up.min() if up.size else 1, 1)
