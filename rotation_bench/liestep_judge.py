"""Is my code's rotation right? The judge of the rotation bench: needs cases.json beside it, and numpy only.

    python liestep_judge.py free_asymmetric my_*.csv --order 4 [--implicit] [--symmetric] [--units cgs] [--json FILE]
    judge("free_asymmetric", engine, order=4).text     # engine(case, h, steps) -> states; also .verdict, .names, .data
States are rows at t = 0, h, 2h, ...: a mapping with `quaternion` (n, 4: w x y z, body to space) or `attitude`
(n, 3, 3), and `rate` (n, 3: angular velocity in the body, rad per time), with one more axis after n for two bodies;
`direction` and `velocity` (n, 3) of the pendulum. The tables of liestep use these rules.
With liestep_mistakes.py beside it mistakes get their names; liestep_files.py is the command.
"""
import importlib
import itertools
import json
import sys
from math import inf, log, nan, sqrt
from pathlib import Path
from types import SimpleNamespace

import numpy as np

FILE = Path(__file__).resolve().with_name("cases.json")
DATA = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {"cases": {}, "units": []}
# Orders: admissible errors, ratio and slopes of neighbours, extent of a window, uncertainties, ranges of fits
FLOOR_FACTOR, LARGEST_ERROR, SMALLEST_RATIO, RATIO_SLACK, SLOPE_BAND, POINTS = 30.0, 0.1, 1.4, 0.02, 0.3, 4
STEP_SPAN, ERROR_SPAN, SPAN_SLACK, LEAST_ORDER, LEAST_UNCERTAINTY = log(10.0), log(1e4), 1e-9, 0.5, 0.02
LEAST_TOLERANCE, LIMIT, WIDE_LIMIT, HIGH = 0.05, 0.15, 0.3, 4   # wider above order 4
CORRECTION, LOWER, SUSPICION, LEAST_RESIDUAL = (-0.5, 1.0), (0.0, 1.0), 9.0, 1e-12
FINEST, SUPPORT, NEAR, KNOWN = 0.056, 0.045, 0.245, 0.002   # shares: of all steps, of those up to 4 times the finest
CLEARLY = 1000.0   # in squares: what 1 % of scatter on three steps pretends in less than 3 of 100 cases
# Drift: blocks, periods, growth, slope by oscillation (seen; a width about zero), walks, round-off
BLOCKS, LEAST_BLOCKS, LEAST_SAMPLES, PERIODS_PER_BLOCK, LEAST_PERIODS, STEADY, MOVING = 100, 20, 8, 5, 2, 0.25, 1e-3
BOUNDED_GROWTH, LASTING_GROWTH, DRIFT_GROWTH, BOUND, LARGEST_BOUND, PARTS = 0.25, 0.5, 0.75, 0.1, 0.5, 10
WALK, WANDER, ONE_SIGNED, MEMORY = 2.2, 0.15, 2.576, 1.32   # MEMORY: 1 + 4/pi asin(1/4)
ROUND_OFF_UNITS, RESOLUTION_UNITS, RESAMPLES, SLACK, EPSILON = 100.0, 4.0, 2000, 1e-9, float(np.finfo(float).eps)
START, PLATEAU, HIDDEN = 1e-6, 1e-7, 1e-4   # of starts; errors where round-off, or what is not seen, ends convergence


class BadStates(ValueError):
    """States that cannot be judged, in one sentence."""


def refuse(bad, sentence):
    if bad:
        raise BadStates(sentence)


def hat(w):
    return np.cross(np.eye(3), w[..., None, :])

def times(a, v):
    return (a @ v[..., None])[..., 0]

def turned(a):
    return np.swapaxes(a, -1, -2)

def length(v):
    return np.sqrt((v*v).sum(-1))

def attitude_of(q):
    """Matrices of quaternions w x y z; a wrong length shows in the matrix."""
    w, v = q[..., :1, None], q[..., 1:]
    return (w*w - (v*v).sum(-1)[..., None, None])*np.eye(3) + 2*v[..., :, None]*v[..., None, :] + 2*w*hat(v)


class Case:
    """One motion in one of its unit systems: parameters, start, answers `a` and `w` at the times `t`."""

    def __init__(self, name, units="SI"):
        for wanted, known, what in ((name, DATA["cases"], "case"), (units, DATA["units"], "unit system")):
            refuse(wanted not in known, f"there is no {what} {wanted!r}; there are {', '.join(known)}")
        self.name, self.data, facts = name, DATA["cases"][name], DATA["cases"][name]["systems"][units]
        given, self.units, self.kind = facts["parameters"], facts["units"], self.data["kind"]
        value = {key: np.array(part, float) for key, part in {**given, **facts["start"]}.items()}
        self.arm, self.force, self.frame = (value.get(key, np.zeros(3)) for key in ("arm", "force", "frame_rate"))
        self.frequency, self.orbit, self.gravity, self.length = (float(value.get(key, np.zeros(1)).item()) for key in (
            "force_frequency", "orbit_rate", "gravity", "length"))
        self.moments, self.masses, self.arms = (value.get(x, np.ones((1, 3))) for x in ("moments", "masses", "arms"))
        self.start, self.bodies, self.steps = value, len(self.moments), self.data["steps"]
        self.t_end, width = float(facts["t_end"]), 6 if self.kind == "pendulum" else 7
        unit = self.t_end/float(self.data["systems"]["SI"]["t_end"])
        self.t_drift, self.free = float(self.data["t_drift"])*unit, self.kind == "body" and len(value) == 3
        path = np.array([row.split() for row in self.data["path"]], float).reshape(-1, self.bodies, width)
        self.t, self.w = np.linspace(0, self.t_end, len(path)), path[..., -3:]/unit
        self.a = path[..., :-3, None] if self.kind == "pendulum" else attitude_of(path[..., :-3])

    def invariants(self, t, a, w):
        """Name -> (values (n,), size of their terms) of what the motion keeps."""
        if self.kind == "pendulum":
            q, v, square = a[:, 0, :, 0], w[:, 0], self.length**2
            return {"energy": (square*(v*v).sum(-1)/2 + self.gravity*self.length*q[:, 2], square*(v*v).sum(-1).max()),
                    "momentum": (square*(q[:, 0]*v[:, 1] - q[:, 1]*v[:, 0]), square*length(v).max())}
        total = w + (self.frame @ a)
        energy, spatial = (total*self.moments*total).sum((-1, -2))/2, times(a, self.moments*total).sum(-2)
        if self.kind == "joint":
            reduced = self.masses.prod()/self.masses.sum()
            arms = self.arms + 0*w
            apart, speed = (np.subtract(*np.moveaxis(times(a, x), 1, 0)) for x in (arms, np.cross(w, arms)))
            energy, spatial = energy + reduced*(speed**2).sum(-1)/2, spatial + reduced*np.cross(apart, speed)
        size, force = float(length(spatial).max()), length(self.force)
        if self.orbit:
            down = times(turned(a[:, 0]), np.stack([np.cos(self.orbit*t), np.sin(self.orbit*t), 0*t], -1))
            energy = energy - self.orbit*spatial[:, 2] + 1.5*self.orbit**2*(down*down*self.moments[0]).sum(-1)
        energy = energy - times(a[:, 0], self.arm + 0*w[:, 0]) @ self.force
        found = {} if self.frequency else {"energy": (energy, 2*np.abs(energy).max())}
        if force:
            return found | {"momentum": (spatial @ self.force/force, size)}
        moving = self.orbit or self.frame.any()
        return found if moving else found | {f"momentum_{x}": (spatial[:, i], size) for i, x in enumerate("xyz")}

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

def drift(run, a, values, size):
    """Class of an invariant along a run with attitudes a, growth exponent and largest deviation."""
    d, period, steps = values - values[0], longest_period(run.t, a), round(run.t[-1]/run.h)
    n = min(BLOCKS, max(LEAST_BLOCKS, int(run.t[-1]/period/PERIODS_PER_BLOCK)), (d.size - 1)//LEAST_SAMPLES)
    if n < LEAST_BLOCKS:
        return {"class": "too short", "growth": nan, "largest": float(np.abs(d).max())}
    means = np.array([x.mean() for x in np.array_split(d[1:], n)])
    e = SimpleNamespace(**drift_numbers(run.t, d, means, float(size) or 1.0, steps))
    return {"class": drift_class(e, n, period)[2], "growth": e.growth, "largest": e.largest}

def longest_period(time, a):
    s = a.reshape(len(time), -1)
    s = s[:, np.ptp(s, axis=0) > MOVING]
    up = np.count_nonzero(np.diff((s > s.mean(axis=0)).astype(int), axis=0) > 0, axis=0)
    return float(time[-1] - time[0])/max(up.min() if up.size else 1, 1)


def states(case, raw, h):
    """Checked states of one run. Raises BadStates."""
    where, found, shapes = f"the run with h = {h:g}", [], {"attitude": (3, 3), "quaternion": (4,)}
    try:
        first = "direction" if case.kind == "pendulum" else "attitude" if "attitude" in raw else "quaternion"
        names = first, "velocity" if first == "direction" else "rate"
        parts = [np.asarray(raw.get(key, ()), float) for key in (*names, "time")]
    except (AttributeError, TypeError, ValueError) as error:
        raise BadStates(f"{where}: states must be a mapping from names to arrays of numbers: {error}") from None
    for key, part in zip(names, parts, strict=False):
        shape = shapes.get(key, (3,))
        refuse(not part.size or part.size != len(parts[0])*case.bodies*np.prod(shape) or len(part) != len(parts[0]),
               f"{where}: {case.name} needs {' and '.join(names)} of equal length, {case.bodies} x {shape} numbers of"
               f" {key} in each, not {part.shape}")
        found.append(part.reshape(-1, case.bodies, *shape))
    (a, w), n = found, len(found[1])
    t = parts[2] if "time" in raw else np.arange(n)*h
    for key, part in (("time", t), *zip(names, found, strict=True)):
        finite = np.isfinite(part.reshape(len(part), -1)).all(axis=1)
        refuse(not finite.all(), f"{where}: {key} is not a finite number in row {np.argmin(finite)}")
    gaps = np.diff(t) if n > 1 else np.zeros(1)
    uneven = np.abs(gaps - np.median(gaps)) > 1e-6*np.median(gaps)
    refuse(n < 2 or t[0] != 0 or t.size != n or uneven.any(), f"{where}: times must start at 0 and be equally spaced"
           f" without gaps; they are not at row {int(np.argmax(uneven)) + 1 if t[0] == 0 else 0}")
    refuse(t[-1] < case.t_end*(1 - 1e-6), f"{where} ends at t = {t[-1]:g} {case.units['time']}, not at {case.t_end:g}:"
           " did the code stop, or is its unit of time another?")
    refuse((n - 1) % 64 and t[-1] <= case.t_end*(1 + 1e-6), f"{where} has {n - 1} intervals, not a multiple of 64")
    refuse(abs(t[1]/h - max(np.rint(t[1]/h), 1)) > 0.01*t[1]/h, f"{where}: times are {t[1]:g} apart, no multiple of h")
    square = (a*a).sum(-1) - 1 if first != "attitude" else (   # of a reflection it is 2
        turned(a) @ a - np.copysign(1.0, np.linalg.det(a))[..., None, None]*np.eye(3))
    defect = np.abs(square).reshape(n, -1).max(1)
    row = int(np.argmax(np.abs(np.diff(defect)))) + 1 if defect[0] <= START else 0   # methods lose it little by little
    allowed = 2*LARGEST_ERROR if row else START
    refuse(np.abs(np.diff(defect, prepend=0))[row] > allowed, f"{where}: the {first} of row {row} "
           f"{'is not a rotation' if first == 'attitude' else 'has not the length 1'}: the defect of its square is"
           f" {defect[row]:.3g}, allowed is {allowed:g}")
    q, a = (a, attitude_of(a)) if first == "quaternion" else (None, a[..., None] if first == "direction" else a)
    single = bool((w == w.astype(np.float32)).all())
    return SimpleNamespace(t=t, q=q, a=a, w=w, h=h, defect=float(defect.max()), single=single)


def errors(case, run, a, w):
    """Largest scaled errors of attitudes and of rates after the start."""
    every, n = (len(run.t) - 1)//(len(case.t) - 1), len(case.t)
    gap = (a[::every][:n] - case.a).reshape(n, case.bodies, -1)/sqrt(2 if case.a.shape[-1] == 3 else 1)
    return np.array([length(gap)[1:].max(), length(w[::every][:n] - case.w)[1:].max()/length(case.w).max()])

def converges(e, plateau=PLATEAU):
    """Whether errors from large to small steps go to zero, as far as round-off does not stop them."""
    return min(e) <= plateau or (e[-1] <= 0.75*e[-2] and e[-1] <= 0.5)


def computed(case, engine, long):
    """Steps and states of an engine until the end of a case, and over a long time. Raises BadStates where it fails."""
    counts = [(case.t_end, case.steps*2**k) for k in range(case.data["levels"])]
    for end, n in counts + [(case.t_drift, round(case.t_drift/case.t_end*case.steps))]*bool(long):
        try:
            yield end/n, engine(case, end/n, n)
        except Exception as error:
            raise BadStates(f"the run with h = {end/n:g} stopped: {type(error).__name__}: {error}") from error

def ladder(case, pairs):
    """Runs until the end of the case from large to small steps, and longer ones."""
    found = sorted((states(case, raw, h) for h, raw in pairs), key=lambda run: -run.h)
    longer, short = ([run for run in found if (run.t[-1] > case.t_end*(1 + 1e-6)) == late] for late in (True, False))
    refuse(len(short) < POINTS, f"{len(short)} step sizes until {case.t_end:g} are too few: give {POINTS} or more"
           f"{', and not longer: is the unit of time another?' if longer else ''}")
    refuse(short[-1].defect > 2*LARGEST_ERROR, f"no rotations: the smallest step's squares have the defect"
           f" {short[-1].defect:.3g}")
    return short, longer


def beside(name):
    """A module of this folder; None where it was not copied too."""
    sys.modules.setdefault("liestep_judge", sys.modules[__name__])   # whatever this file is called, it reads this one
    try:
        return importlib.import_module(f"{__package__ or ''}.{name}".strip("."))
    except ImportError:
        return None

def judge(case, runs, order=None, implicit=False, symmetric=False, units="SI", long=True):
    """Judge an engine, engine(case, h, steps) -> states, or a mapping from steps h to states, on a case.

    order: the claimed one; implicit, symmetric: claims; long: a second, long run of an engine, for the drift.
    Raises BadStates, one sentence: there is no verdict on what cannot be judged."""
    case, naming = case if isinstance(case, Case) else Case(case, units), beside("liestep_mistakes")
    refuse(not callable(runs) and not hasattr(runs, "items"), f"runs are no engine or mapping: {type(runs).__name__}")
    runs, longer = ladder(case, computed(case, runs, long) if callable(runs) else runs.items())
    plateau = HIDDEN if all(run.single for run in runs) else PLATEAU
    mistakes, done = naming.recognised(case, runs, plateau) if naming else ([], [(run.a, run.w) for run in runs])
    h, notes = np.array([run.h for run in runs]), [] if naming else [
        "mistakes are not named: liestep_mistakes.py is not beside liestep_judge.py"]
    parts = np.array([errors(case, run, *pair) for run, pair in zip(runs, done, strict=True)])
    error, floor = parts.max(1), EPSILON*np.sqrt(case.t_end/h)
    orders = {key: observed_order(h, values, floor, order, symmetric) for key, values in (
        ("state", error), ("attitude", parts[:, 0]), ("rate", parts[:, 1]))}
    state, right = orders["state"], converges(error, plateau)
    if right and naming:
        naming.levels(case, runs, done, order, implicit, mistakes, orders, notes)
    if right and order and state["class"] in ("asymptotic", "short range", "pre-asymptotic"):
        sure = state["class"] == "asymptotic"
        p, u = state["order" if sure else "plain"], max(state["uncertainty"], LEAST_TOLERANCE) if sure else 0.5
        mistakes += [("order", f"order {p:.2f} where {order:g} is claimed")] if p < order - u else []
    if not right and not mistakes and error.min() > HIDDEN:
        mistakes += (naming.small(case, runs, done) if naming else []) or [("unknown", "errors do not go to zero")]
    if not right or plateau == HIDDEN:
        notes.append(f"the error stops at {error.min():.2g}{', in single precision' if plateau == HIDDEN else ''}")
    seen = [(run, run.a, run.w) for run in longer] or [(runs[0], *done[0])]
    drifts = {key: drift(run, a, *part) for run, a, w in seen for key, part in case.invariants(run.t, a, w).items()}
    rk4 = case.data["rk4_errors"]
    multiple = next((e/float(rk4[f"{n:.0f}"]) for e, n in zip(error, case.t_end/h, strict=True)
                   if f"{n:.0f}" in rk4 and e <= LARGEST_ERROR), nan)
    k, power = (state["window"] or [0])[-1], round(state["plain"]) if np.isfinite(state["plain"]) else 0
    return Report({
        "case": case.name, "verdict": "wrong" if mistakes else "right" if right else "undecided", "mistakes": [
            {"name": key, "says": text} for key, text in dict(mistakes).items()], "notes": notes,
        "names": [*dict(mistakes), *["single_precision"]*(plateau == HIDDEN)], "steps": h.tolist(),
        "claimed": {"order": order, "implicit": implicit, "symmetric": symmetric}, "errors": error.tolist(),
        "orders": orders, "constant": float(error[k]/h[k]**power) if power else nan,
        "times_rk4": float(multiple), "drift": drifts, "defect": max(run.defect for run in runs + longer)})


class Report:
    """What was found: `verdict`, `names` of mistakes and limits, all as `data`, one screen of `text`."""

    def __init__(self, data):
        self.data, self.verdict, self.names = data, data["verdict"], data["names"]
        self.text = "\n".join([
            f"{data['case']}: {self.verdict}", *(f"  {item['name']}: {item['says']}" for item in data["mistakes"]),
            *(f"order of the {key}: {part['order']:.3f} +- {part['uncertainty']:.3f} ({part['class']})"
              for key, part in data["orders"].items()),
            *(f"error {e:.3g} at h = {h:.4g}" for h, e in zip(data["steps"], data["errors"], strict=True)),
            f"error constant {data['constant']:.3g}, {data['times_rk4']:.3g} times RK4's error at equal step",
            *(f"{key}: {part['class']}, at most {part['largest']:.3g}" for key, part in data["drift"].items()),
            f"defect of the manifold: {data['defect']:.3g}", *data["notes"]])


if __name__ == "__main__":
    command = beside("liestep_files")
    sys.exit(command.main() if command else "liestep_judge: files are read by liestep_files.py, which is not beside it")
