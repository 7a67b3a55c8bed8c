"""Is my code's rotation right? The judge of the rotation bench: this file and cases.json, numpy only, licence MIT.

    python liestep_judge.py free_asymmetric my_*.csv --order 4 [--implicit] [--symmetric] [--units SI] [--json FILE]
    report = liestep_judge.judge("free_asymmetric", engine, order=4)   # engine(case, h, steps) -> states

States: rows at t = 0, h, 2h, ...; a mapping with `quaternion` (n, 4: w x y z, body to space) or `attitude` (n, 3, 3)
and `rate` (n, 3: angular velocity in the body, rad per time), with one more axis after n for two bodies; `direction` and
`velocity` (n, 3) for the pendulum. Rules and thresholds are those of the study in liestep (DESIGN, section 8).
"""
import argparse
import itertools
import json
import sys
from math import ceil, inf, isfinite, log, nan, pi, sqrt
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().with_name("cases.json")
FLOOR_FACTOR, LARGEST_ERROR, SMALLEST_RATIO, RATIO_SLACK, SLOPE_BAND, POINTS = 30.0, 0.1, 1.4, 0.02, 0.3, 4
STEP_SPAN, ERROR_SPAN, SPAN_SLACK, LEAST_ORDER, LEAST_UNCERTAINTY, LEAST_TOLERANCE = log(10), log(1e4), 1e-9, 0.5, 0.02, 0.05
CORRECTION, LOWER, SUSPICION, LEAST_RESIDUAL, FINEST, KNOWN = (-0.5, 1.0), (0.0, 1.0), 9.0, 1e-12, 0.08, 0.002
PERIODS_PER_BLOCK, LEAST_SAMPLES, LEAST_BLOCKS, BLOCKS, STEADY, LEAST_PERIODS = 5, 8, 20, 100, 0.25, 2
BOUNDED_GROWTH, LASTING_GROWTH, DRIFT_GROWTH, BOUND, LARGEST_BOUND, PARTS = 0.25, 0.5, 0.75, 0.1, 0.5, 10
WALK, WANDER, ONE_SIGNED, MEMORY, ROUND_OFF_UNITS, RESOLUTION_UNITS, RESAMPLES = 2.2, 0.15, 2.576, 1.32, 100.0, 4.0, 2000
EPSILON, SLACK, MOVING, LEAST_OUTPUTS = float(np.finfo(float).eps), 1e-9, 1e-3, 50
START, DEFECT, PLATEAU, EXACT, FIT = 1e-9, 0.1, 1e-7, 1e-11, 0.03  # of the bench: starts, defects, recognitions
FACTORS = {-1.0: ("left_handed", "with the opposite sign: a left-handed cross product or angle"), 2.0: (
    "step_factor", "twice: h for h/2, or a half angle"), 0.5: ("step_factor", "half: h/2 for h, or a half angle"),
    pi/180: ("degrees", "pi/180 times: degrees"), 180/pi: ("degrees", "180/pi times: degrees"), 1/(2*pi): (
    "revolutions", "1/(2 pi) times: revolutions"), 30/pi: ("revolutions", "30/pi times: revolutions per minute")}
TABLEAUX = {"Euler": ([], [1]), "explicit midpoint": ([[1/2]], [0, 1]), "Heun": ([[1]], [1/2, 1/2]), "Ralston": (
    [[2/3]], [1/4, 3/4]), "Kutta's third-order": ([[1/2], [-1, 2]], [1/6, 2/3, 1/6]), "Heun's third-order": (
    [[1/3], [0, 2/3]], [1/4, 0, 3/4]), "SSP third-order": ([[1], [1/4, 1/4]], [1/6, 1/6, 2/3]), "RK4": (
    [[1/2], [0, 1/2], [0, 0, 1]], [1/6, 1/3, 1/3, 1/6]), "3/8": (
    [[1/3], [-1/3, 1], [1, -1, 1]], [1/8, 3/8, 3/8, 1/8])}
HAT = np.zeros((3, 3, 3))
for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    HAT[k, i, j], HAT[k, j, i] = -1.0, 1.0


class BadStates(ValueError):
    """States that cannot be judged, in one sentence."""


def hat(w):
    return (w @ HAT.reshape(3, 9)).reshape(*w.shape, 3)


def times(a, v):
    """Matrices (..., 3, 3) on vectors (..., 3)."""
    return (a @ v[..., None])[..., 0]


def cross(a, b):
    return times(hat(a), b)


def attitude_of(q):
    """Matrices of quaternions w x y z; a wrong length shows in the matrix."""
    w, v = q[..., :1, None], q[..., 1:]
    return (w*w - (v*v).sum(-1)[..., None, None])*np.eye(3) + 2*v[..., :, None]*v[..., None, :] + 2*w*hat(v)


def vector_of(a):
    """Rotation vectors of matrices."""
    v = np.stack([a[..., 2, 1] - a[..., 1, 2], a[..., 0, 2] - a[..., 2, 0], a[..., 1, 0] - a[..., 0, 1]], -1)/2
    sine = np.sqrt((v*v).sum(-1))
    return v*(np.arctan2(sine, (np.trace(a, axis1=-2, axis2=-1) - 1)/2)/np.where(sine > 0, sine, 1.0))[..., None]


def rotation(v, angle=lambda x: x):
    """Matrices of rotation vectors whose lengths are replaced by `angle` of them."""
    size = np.sqrt((v*v).sum(-1))[..., None]
    half, n = angle(size)/2, v/np.where(size > 0, size, 1.0)
    return attitude_of(np.concatenate([np.cos(half), np.sin(half)*n], -1))


class Case:
    """One motion: parameters, start and equations in one of its three unit systems."""

    def __init__(self, name, units="SI"):
        whole = json.loads(DATA.read_text("utf-8"))["cases"]
        for wanted, known, what in ((name, whole, "case"), (units, next(iter(whole.values()))["systems"], "unit system")):
            if wanted not in known:
                raise BadStates(f"there is no {what} {wanted!r}; there are {', '.join(known)}")
        self.name, self.data, facts = name, whole[name], whole[name]["systems"][units]
        given, self.units, self.kind = facts["parameters"], facts["units"], self.data["kind"]
        self.steps, self.levels, self.end = self.data["steps"], self.data["levels"], facts["end"]
        self.t_end = float(facts["t_end"])
        self.t_drift = float(self.data["t_drift"])*self.t_end/float(whole[name]["systems"]["SI"]["t_end"])
        value = {key: np.array(given.get(key, "0 0 0") if key in given else np.zeros(3), float)
                 for key in ("arm", "force", "frame_rate")}
        self.arm, self.force, self.frame = value.values()
        self.frequency, self.orbit = (float(given.get(key, ["0"])[0]) for key in ("force_frequency", "orbit_rate"))
        self.moments = np.array(given.get("moments", [[1, 1, 1]]), float)   # (bodies, 3)
        if self.kind == "pendulum":
            self.gravity, self.length = float(given["gravity"][0]), float(given["length"][0])
        elif self.kind == "joint":
            self.masses, self.arms = np.array(given["masses"], float), np.array(given["arms"], float)
            self.reduced = self.masses.prod()/self.masses.sum()
        self.quaternion, self.rate = (np.array(facts["start"].get(key, 0), float) for key in ("quaternion", "rate"))
        self.a0, self.w0 = self.read(facts["start"])
        self.free = self.kind == "body" and not (self.force.any() or self.orbit or self.frame.any())
        self.known = {}

    def read(self, content):
        """Attitudes (bodies, 3, 3), or the direction (1, 3, 1), and rates (bodies, 3), of texts or numbers."""
        if self.kind == "pendulum":
            return np.array(content["direction"], float).reshape(1, 3, 1), np.array(content["velocity"], float)[None]
        return attitude_of(np.array(content["quaternion"], float)), np.array(content["rate"], float)

    def torque(self, t, attitude):
        """Applied torque in the body (..., 3) for one body with attitudes (..., 3, 3)."""
        t, back = np.asarray(t)[..., None], np.swapaxes(attitude, -1, -2)
        found = cross(self.arm + 0*t, times(back, self.force + 0*t)*np.cos(self.frequency*t))
        if self.orbit:
            down = times(back, np.concatenate([np.cos(self.orbit*t), np.sin(self.orbit*t), 0*t], -1))
            found = found + 3*self.orbit**2*cross(down, self.moments[0]*down)
        return found

    def parts(self, t, a, w, moments=None, torque=None):
        """The two parts of dw/dt of one body, (n, 3): gyroscopic, and all other."""
        moments, turning = self.moments[0] if moments is None else moments, self.frame @ a
        other = (self.torque(t, a) if torque is None else torque)/moments
        return cross(moments*(w + turning), w + turning)/moments, other + cross(w, turning)

    def invariants(self, t, a, w):
        """Name -> (values (n,), size of their terms) of what the motion keeps."""
        if self.kind == "pendulum":
            kinetic, q = (w*w).sum((-1, -2))/2*self.length**2, a[:, 0, :, 0]
            return {"energy": (kinetic + self.gravity*self.length*q[:, 2], 2*kinetic.max()), "momentum": (self.length**2*(
                q[:, 0]*w[:, 0, 1] - q[:, 1]*w[:, 0, 0]), self.length**2*np.abs(w).max())}
        total = w + times(np.swapaxes(a, -1, -2), self.frame)
        energy, spatial = (total*self.moments*total).sum((-1, -2))/2, times(a, self.moments*total).sum(-2)
        if self.kind == "joint":
            apart, speed = (times(a, part) for part in (self.arms + 0*w, cross(w, self.arms + 0*w)))
            apart, speed = (part[:, 0] - part[:, 1] for part in (apart, speed))
            energy, spatial = energy + self.reduced*(speed**2).sum(-1)/2, spatial + self.reduced*cross(apart, speed)
        size, force = float(np.abs(spatial).max()), float(np.linalg.norm(self.force))
        if self.orbit:
            down = times(np.swapaxes(a[:, 0], -1, -2), np.stack([np.cos(self.orbit*t), np.sin(self.orbit*t), 0*t], -1))
            field = (down*down*self.moments[0]).sum(-1)
            return {"energy": (energy - self.orbit*spatial[:, 2] + 1.5*self.orbit**2*field, 2*energy.max())}
        if force:
            found = {"momentum": (spatial @ self.force/force, size)}
            return found if self.frequency else found | {"energy": (
                energy - times(a[:, 0], self.arm) @ self.force, 2*energy.max())}
        kept = {} if self.frame.any() else {f"momentum_{x}": (spatial[:, i], size) for i, x in enumerate("xyz")}
        return {"energy": (energy, 2*energy.max())} | kept


def project(x, y, share, limits=CORRECTION):
    """Least squares of log e = log C + p x + log(1 + c share): p, c within limits, residuals."""
    x, (low, high) = x - x.mean(), limits
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
    """Reason why a term of lower order shows at the smallest steps, or an empty text."""
    first = next(k for k in range(x.size) if unknown[k] <= KNOWN or x.size - k <= POINTS)
    a, b, known = x[first:], y[first:], unknown[first:]
    order, _, higher = project(a, b, np.exp(power*(a - a.max())))
    leading, _, lower = project(a, b, np.exp(power*(a.min() - a)), LOWER)
    least = LEAST_RESIDUAL**2*a.size + float(known @ known)/SUSPICION
    if higher @ higher > SUSPICION*max(float(lower @ lower), least) and abs(leading - round(leading)) < abs(
            order - round(order)):
        return "towards the smallest steps the slopes fall as a term of lower order makes them"
    z, n = x - x.max(), round(project(x, y, np.exp(power*(x - x.max())))[0])
    shares = np.stack([np.ones_like(z), np.exp(power*z), np.exp(x.min() - x)], axis=1)
    found = np.linalg.lstsq(np.exp(n*z - y + y.max())[:, None]*shares, np.ones_like(z), rcond=None)[0]
    return f"towards the smallest steps the slopes leave {n}" if abs(found[2]/found[0]) > FINEST else ""


def observed_order(h, error, floor=0.0, theory=None, symmetric=False):
    """Order of errors at steps, its uncertainty, class, window (indices) and reason, as the study judges them."""
    h, error = np.asarray(h, float), np.asarray(error, float)
    floor, power, finite = np.broadcast_to(floor, h.shape), 2 if symmetric else 1, np.isfinite(error)
    high, kept, slopes = (error >= FLOOR_FACTOR*floor) & (error > 0), [], []
    good = finite & high & (error <= LARGEST_ERROR)
    for i in np.argsort(h, kind="stable"):
        if good[i] and (not kept or h[i] >= SMALLEST_RATIO*(1 - RATIO_SLACK)*h[kept[-1]]):
            kept.append(int(i))
    window = kept
    for count, (j, i) in enumerate(itertools.pairwise(kept), start=1):
        slopes.append(log(error[i]/error[j])/log(h[i]/h[j]))
        if max(slopes) - min(slopes) > SLOPE_BAND or np.any(~good & (h > h[j]) & (h < h[i])):
            window = kept[:count]
            break
    x, y, plain, p, u = np.log(h[window]), np.log(error[window]), nan, nan, nan
    if len(window) >= 2:
        plain = float((x - x.mean()) @ (y - y.mean())/((x - x.mean()) @ (x - x.mean())))
    if len(window) >= POINTS:
        share = np.exp(power*(x - x.max()))
        p, c, r = project(x, y, share)
        all_p = [p] + [project(x[s], y[s], np.exp(power*(x[s] - x[s].max())))[0] for s in (
            slice(1, None), slice(None, -1))]
        row = np.linalg.pinv(np.stack([np.ones_like(x), x, share/(1 + c*share)], axis=1))[1]
        u = max(abs(plain - p), (max(all_p) - min(all_p))/2, 2*sqrt(r @ r/(x.size - 3)*(row @ row)), LEAST_UNCERTAINTY)

    def wide(points):
        return len(points) >= POINTS and (np.ptp(np.log(h[points])) >= STEP_SPAN - SPAN_SLACK or np.ptp(
            np.log(error[points])) >= ERROR_SPAN - SPAN_SLACK)

    lost, limit = np.any(finite & (error <= LARGEST_ERROR) & ~high), 0.15 if theory is None or theory <= 4 else 0.3
    agree = len(window) >= POINTS and u <= limit and plain >= LEAST_ORDER
    few = f"{len(window)} steps agree, uncertainty {u:.3f}"
    name, reason = (
        ("failed", "fewer than two runs gave a finite error") if np.count_nonzero(finite) < 2 else
        ("saturated", f"all errors are above {LARGEST_ERROR:g}") if np.all(error[finite] > LARGEST_ERROR) else
        ("asymptotic", few) if agree and wide(window) else ("short range", few) if agree else
        ("floor-limited", "errors are at the floor of round-off") if not wide(kept) and lost else
        ("pre-asymptotic", f"{len(kept)} steps can be used: smaller or more are needed") if not wide(kept) else
        ("floor-limited", "the error stops falling at the smallest steps") if plain < LEAST_ORDER else
        ("pre-asymptotic", few))
    if name in ("asymptotic", "short range"):
        lower = lower_order(x, y, power, floor[window]/error[window])
        name, reason = ("pre-asymptotic", lower) if lower else (name, reason)
    return {"order": p, "uncertainty": u, "class": name, "plain": plain, "window": window[::-1], "reason": reason}


def slope_interval(mean, seed=0):
    """Slope of block means over the run, and its 95 % interval by a bootstrap of moving blocks."""
    n = mean.size
    line = (np.arange(n) + 0.5)/n - 0.5
    weights, length = line/(line @ line), round(sqrt(n))
    slope = float(weights @ mean)
    rest, pieces = mean - mean.mean() - slope*line, -(-n//length)
    starts = np.random.default_rng(seed).integers(0, n - length + 1, (RESAMPLES, pieces))
    picked = (starts[:, :, None] + np.arange(length)).reshape(RESAMPLES, -1)[:, :n]
    return slope, *(float(x) for x in np.quantile(slope + rest[picked] @ weights, (0.025, 0.975))), float(np.ptp(rest))


def drift(time, d, scale, steps, period, means=None):
    """Class of the deviation d of an invariant along a run: verdict, growth exponent and largest deviation."""
    count = min(BLOCKS, (time.size - 1)//LEAST_SAMPLES) if means is None else len(means)
    if count < LEAST_BLOCKS:
        return {"verdict": "too short", "growth": nan, "largest": float(np.abs(d).max())}
    m = np.array([part.mean() for part in np.array_split(d[1:], count)]) if means is None else means
    length, unit = float(time[-1] - time[0]), RESOLUTION_UNITS*EPSILON*scale
    share = (time - time[0])/length
    edges = np.searchsorted(np.clip(np.ceil(share*count*(1 - SLACK)).astype(int) - 1, 0, count - 1), np.arange(count + 1))
    ranges = np.array([np.subtract(*np.quantile(d[i:j], (0.95, 0.05))) for i, j in itertools.pairwise(edges)])
    size, half, (slope, low, high, residual) = float(np.median(ranges)), count//2, slope_interval(m)
    running = np.maximum(np.maximum.accumulate(np.abs(d)), unit)
    first, tenth, last = (running[np.searchsorted(share, f*(1 + SLACK), side="right") - 1] for f in (0.01, 0.1, 1.0))
    late = max(np.median(np.maximum.reduceat(np.abs(d), edges[:-1])[-(count//10):]), unit)
    growth, lasting = log(last/first)/log(100), log(late/first)/log(100)
    slow = min(log(tenth/first), log(last/tenth))/log(10) <= DRIFT_GROWTH
    span, wide = 1 - 1/PARTS, np.maximum(ranges, unit)
    slopes = np.array(slope_interval(wide)[1:3])
    narrow, broad = span*slopes/np.maximum(wide.mean() - (span - 0.5)*slopes, wide.min())
    part = max(float(np.median([np.ptp(x) for x in np.array_split(m, PARTS)])), unit)
    signs, top = np.sign(np.diff(m)), max(abs(low), abs(high))
    one_signed = abs(signs.sum())/sqrt(MEMORY*max(np.count_nonzero(signs), 1)) > ONE_SIGNED
    halves = [slope_interval(m[:half])[0], slope_interval(m[-half:])[0]]
    around, bound = low <= 0 <= high, 0.0 if top == 0 else top/size if size > 0 else inf
    limit = LARGEST_BOUND if around else BOUND
    grows = broad > (LARGEST_BOUND if narrow <= 0 else BOUND)
    wanders = np.ptp(m)/max(size, unit) > WANDER and max(np.ptp(m), unit)/part > WALK
    largest = float(max(np.abs(d).max(), np.abs(m).max()))
    verdict = ("bounded" if not (grows or wanders) and bound <= limit and growth <= BOUNDED_GROWTH else
               "round-off" if largest <= ROUND_OFF_UNITS*EPSILON*sqrt(steps)*scale and slow and not one_signed else
               "drift" if (0 if around else min(abs(low), abs(high))) > size/2 and min(halves)*max(halves) > 0 and (
                   halves[0]*slope > 0) or growth > DRIFT_GROWTH and lasting > LASTING_GROWTH else "undecided")
    if period and length*(1 + SLACK) < PERIODS_PER_BLOCK*period*count and not (
            verdict == "drift" and length >= LEAST_PERIODS*period*(1 - SLACK) and residual <= STEADY*abs(slope)):
        verdict = "too short"
    return {"verdict": verdict, "growth": growth, "largest": largest}


def longest_period(time, a):
    s = a.reshape(len(time), -1)
    s = s[:, np.ptp(s, axis=0) > MOVING]
    above = s > s.mean(axis=0)
    up = np.count_nonzero(above[1:] & ~above[:-1], axis=0)
    return float((time[-1] - time[0])/max(up.min(), 1)) if up.size else float(time[-1] - time[0])


def states(case, raw, h, where):
    """Checked states of one run. Raises BadStates in one sentence."""
    raw = raw if isinstance(raw, dict) else dict(zip(("quaternion", "rate"), raw, strict=True))
    swing = case.kind == "pendulum"
    first = "direction" if swing else "attitude" if "attitude" in raw else "quaternion"
    try:
        a, w = (np.asarray(raw[key], float) for key in (first, "velocity" if swing else "rate"))
    except KeyError as error:
        raise BadStates(f"{where} has no {error.args[0]!r}; {case.name} needs {first} and"
                        f" {'velocity' if swing else 'rate'}") from None
    n, bodies, shape = len(w), len(case.moments), {"attitude": (3, 3), "quaternion": (4,), "direction": (3,)}[first]
    if n == 0 or a.size != n*bodies*int(np.prod(shape)) or w.size != n*bodies*3:
        raise BadStates(f"{where}: {first} {a.shape} and rates {w.shape} must be (n, {f'{bodies}, ' if bodies > 1 else ''}"
                        f"{', '.join(map(str, shape))}) and (n, {f'{bodies}, ' if bodies > 1 else ''}3)")
    a, w = a.reshape(n, bodies, *shape), w.reshape(n, bodies, 3)
    t = np.asarray(raw.get("time", np.arange(n)*h), float)
    for key, part in (("time", t), (first, a), ("rate", w)):
        bad = np.flatnonzero(~np.isfinite(part.reshape(n, -1)).all(axis=1))
        if bad.size:
            raise BadStates(f"{where}: {key} is not a number in row {bad[0]}: the code stopped or failed there")
    gaps = np.diff(t)
    if n < 2 or t[0] or gaps.min() <= 0 or np.ptp(gaps) > 1e-6*gaps.mean():
        row = int(np.argmax(np.abs(gaps - np.median(gaps)))) + 1 if n > 1 else 0
        raise BadStates(f"{where}: times must start at 0 and be equally spaced, without gaps; look at row {row}")
    if t[-1] < case.t_end*(1 - 1e-6):
        raise BadStates(f"{where} ends at t = {t[-1]:g}: the code stopped before {case.t_end:g}, or another unit of time")
    q = a if first == "quaternion" else None
    defect = (np.abs((a*a).sum(-1) - 1) if first != "attitude" else np.abs(np.swapaxes(a, -1, -2) @ a - np.eye(3)).max(
        (-1, -2))).max(1)
    if defect[0] > START:
        raise BadStates(f"{where}: the first {first} is not {'a rotation' if not swing else 'of unit length'}: its defect"
                        f" is {defect[0]:.3g}, allowed is {START:g}; are these other numbers or units?")
    a = attitude_of(q) if q is not None else a[..., None] if swing else a
    return {"t": t, "a": a, "w": w, "q": q, "h": h, "defect": float(defect.max()), "where": where,
            "single": bool(n > 2 and np.all(w[1:] == w[1:].astype(np.float32)) and np.ptp(w[1:]) > 0)}


def error(kind, values, case, run, shift=0.0):
    """Largest scaled error of attitudes or rates at the outputs, of states that are `shift` steps late."""
    t, a, w = case.reference()
    every = (len(run["t"]) - 1)//(len(t) - 1)
    values = values[::every]
    if kind == "rate":
        late = shift*run["h"]*case.acceleration()
        return float(np.sqrt(((values - w - late)[1:]**2).sum(-1)).max()/np.sqrt((w*w).sum(-1)).max())
    if shift:
        a = a @ rotation(shift*run["h"]*w)
    gap = (values - a).reshape(*values.shape[:2], -1)
    return float(np.sqrt((gap[1:]**2).sum(-1)).max()/sqrt(2 if a.shape[-1] == 3 else 1))


def converges(e):
    """Whether errors from large to small steps go to zero, as far as they are above round-off."""
    return e[-1] <= PLATEAU or (e[-1] <= 0.75*e[-2] and e[-2] <= 0.9*max(e) and e[-1] <= 5*LARGEST_ERROR)


def attitude_readings(run):
    """Mistakes -> attitudes as they would be if the mistakes had been made in writing them."""
    q, a = run["q"], run["a"]
    if a.shape[-1] == 1:
        return {(): a}
    found = {(): a, ("transposed",): np.swapaxes(a, -1, -2), ("half_angle",): a @ a, ("double_angle",): rotation(
        vector_of(a)/2)}
    if q is not None:
        rolled = attitude_of(np.roll(q, 1, -1))
        found |= {("quaternion_order",): rolled, ("quaternion_order", "transposed"): np.swapaxes(rolled, -1, -2)}
    return found


def rate_readings(case, a, w):
    """The same for rates, with the attitudes as read."""
    found = {}
    back = np.swapaxes(a, -1, -2)
    frames = {(): w} if a.shape[-1] == 1 else {(): w, ("spatial_rates",): times(back, w), ("transposed_rates",): times(
        a, w), ("momentum_for_rate",): w/case.moments, ("momentum_for_rate", "spatial_rates"): times(back, w)/case.moments}
    for keys, values in frames.items():
        for factor, (key, _) in {1.0: ("", ""), **FACTORS}.items():
            found[(*keys, key) if key else keys] = values/factor if factor not in (2.0, 0.5) else values/factor
    return found


def named(what, value, slack=FIT):
    """Mistake and sentence for a factor that is measured and is not one."""
    if abs(value) <= slack:
        return None
    for factor, (key, text) in FACTORS.items():
        if abs(value/factor - 1) <= slack:
            return key, f"{what} counts {text} (measured {value:.4g})"
    return "factor", f"{what} counts {value:.4g} times"


def kinematics(t, a, w):
    """Mistakes of the attitude's motion: which rates turn it, on which side and how fast."""
    if a.shape[-1] == 1:
        return []
    step, back, mid = np.diff(t)[:, None, None], np.swapaxes(a, -1, -2), lambda u: (u[1:] + u[:-1])/2
    right, left = vector_of(back[:-1] @ a[1:])/step, vector_of(a[1:] @ back[:-1])/step
    trials = [(None, right, w), (("spatial_rates", "the attitude is turned by body rates as if they were spatial"), left, w),
              (("spatial_rates", "the attitude is turned by spatial rates as if they were those of the body"), right,
               times(a, w)), (("transposed_rates", "rates are turned into the body with the wrong side of the attitude"),
                              right, times(back, w))]
    for order, signs in itertools.product(itertools.permutations(range(3)), itertools.product((1, -1), repeat=3)):
        if abs(sum(signs)) < 3 or order != (0, 1, 2):
            trials.append((("axes", f"the rates' axes stand as {order} with signs {signs}"), right, w[..., order]*signs))
    fits = []
    for name, turn, rate in trials:
        rate = mid(rate)
        s = float((turn*rate).sum()/(rate*rate).sum())
        fits.append((float(np.sqrt(((turn - s*rate)**2).sum()/max((turn**2).sum(), 1e-30*(rate**2).sum()))), s, name))
    least = min(fit[0] for fit in fits)
    rest, s, name = next(fit for fit in fits if fit[0] <= 2*least + 1e-4)
    if rest > FIT:
        return [("attitude", "the attitude does not follow the rates by any rule that is known here")] if abs(s) > 1e-6 else [
            ("attitude", "the attitude does not turn")]
    factor = [] if abs(s - 1) <= FIT else [named("the turn in a step", s) or ("attitude", "the attitude does not turn")]
    return ([name] if name else []) + factor


def dynamics(case, t, a, w):
    """Mistakes of the rates' motion, by fits of the equation's parts and of its variants."""
    if case.kind != "body":
        return []
    a, w, moments, mid = a[:, 0], w[:, 0], case.moments[0], lambda u: (u[1:] + u[:-1])/2
    back, torque, change = np.swapaxes(a, -1, -2), case.torque(t, a), np.diff(w, axis=0)/np.diff(t)[:, None]
    spin, unit = times(a, w), 0*a + np.eye(3)
    torques = [(None, torque)] + [(("torque_frame", text), part) for text, part in (
        ("the force in space is used as one in the body", case.torque(t, unit)), ("the force is turned by the transposed"
         " attitude", case.torque(t, back)), ("the torque in the body is used as one in space", times(back, torque)),
        ("the torque is turned twice", times(a, torque)))]
    trials = [([name], *case.parts(t, a, w, moments, part)) for name, part in torques[:1 if case.free else 5]]
    trials += [([("inertia_axes", f"the moments of inertia stand at the axes {order}")], *case.parts(
        t, a, w, moments[list(order)])) for order in list(itertools.permutations(range(3)))[1:]]
    wrong = ("inertia_frame", "inertia in the wrong frame: the body's moments act on spatial components")
    trials += [([("inertia_inverse", "the inverse of the inertia is used")], *case.parts(t, a, w, 1/moments)),
               ([wrong], times(back, cross(moments*spin, spin)/moments), times(back, times(a, torque)/moments))]
    true = sum(case.parts(t, a, w))
    scale, fits = max(np.linalg.norm(change), 0.02*np.linalg.norm(mid(true))), []
    for names, gyro, rest in trials:
        columns = np.stack([mid(part).ravel() for part in (gyro, rest, w)], axis=1)
        size = np.linalg.norm(columns, axis=0)
        used = size[:2] > 1e-6*size[2]*np.abs(w).max()
        keep = np.array([*used, True])
        found = np.where(keep, 0.0, 1.0)
        found[keep] = np.linalg.lstsq(columns[:, keep], change.ravel(), rcond=None)[0]
        fits.append((np.linalg.norm(change.ravel() - columns @ found)/scale, found, names, size[2]*abs(found[2])/scale))
    least = min(fit[0] for fit in fits)
    rest, (gyro, push, damp), names, damped = next(fit for fit in fits if fit[0] <= 2*least + 1e-3)
    carried = times(back, moments*spin)   # R^T J R w: constant where the inertia is turned the wrong way
    carried = times(back, moments*times(a, spin))
    if case.free and np.ptp(carried, axis=0).max() <= FIT*np.abs(carried).max() < np.ptp(times(a, moments*w), axis=0).max():
        return [("inertia_frame", "inertia in the wrong frame: it is turned by the transposed attitude")]
    if rest > FIT:
        return [("rates", "the rates follow no equation that is known here")]
    found = [name for name in names if name]
    if abs(gyro - 1) > FIT:
        found.append(named("the gyroscopic term", gyro) or (
            "missing_gyroscopic", "the gyroscopic term w x J w is missing" + (", or the inertia does not turn with the body"
            " (inertia in the wrong frame), which is the same without torque" if case.free else "")))
    if abs(push - 1) > 2e-4 and not case.free:
        key, text = named("the torque", push, 0.01) or ("missing_torque", "the torque is missing")
        found.append(("torque_sign" if push < 0 else key, text))
    return found + ([("damping", f"the rates are damped or driven: {damp:.3g} w is added")] if damped > FIT else [])


def attitude_step(run, a, w):
    """Form and level of the attitude's step where it is a known one: (form, level) or None."""
    turn, h = np.linalg.solve(a[:-1], a[1:]), run["h"]
    for level, u in (("start", w[:-1]), ("end", w[1:]), ("middle", (w[1:] + w[:-1])/2)):
        v = h*u
        forms = {"exponential": rotation(v), "normalised quaternion": rotation(v, lambda x: 2*np.arctan(x/2)),
                 "normalised matrix": rotation(v, np.arctan), "quaternion": attitude_of(np.concatenate([
                     1 + 0*v[..., :1], v/2], -1)), "matrix": np.eye(3) + hat(v)}
        for form, values in forms.items():
            if np.abs(turn - values).max() <= 10*EXACT:
                return form, level
    return None


def rate_step(case, run, w):
    """Names of the explicit step that the rates of a torque-free body make, and whether their length was changed."""
    w, h, moments = w[:, 0], run["h"], case.moments[0]
    old, new, size = w[:-1], w[1:], np.abs(w).max()

    def f(u):
        return cross(moments*u, u)/moments

    tried = {}
    for name, (rows, weights) in TABLEAUX.items():
        halves = [k for k, row in enumerate(rows) if max(row) == 0.5]
        for count in range(len(halves) + 1):
            for chosen in itertools.combinations(halves, count):
                k = [f(old)]
                for i, row in enumerate(rows):
                    k.append(f(old + h*sum((1.0 if i in chosen and x == 0.5 else x)*y for x, y in zip(row, k, strict=True))))
                tried[name, bool(chosen)] = old + h*sum(x*y for x, y in zip(weights, k, strict=True))
    for name, mean in (("implicit midpoint", lambda u: f((u + old)/2)), ("trapezoidal rule", lambda u: (f(u) + f(old))/2),
                       ("implicit Euler", f)):
        u = old
        for count in range(1, 7):
            u = old + h*mean(u)
            tried.setdefault((f"{name} with {count} fixed-point iterations", False), u)
    for (name, halved), u in tried.items():
        if np.abs(u - new).max() <= EXACT*size:
            return name, halved, False
        unit = [x/np.sqrt((x*x).sum(-1, keepdims=True)) for x in (u, new)]
        if np.abs(unit[0] - unit[1]).max() <= EXACT and np.abs(u - old).max() > 1e-6*size:
            return name, halved, True
    return None


def recognised(case, runs):
    """Mistakes of states that do not go to the answer, and the readings of attitudes and rates to go on with."""
    last, found = runs[-1], []
    plain = [np.array([error(kind, run[key], case, run) for run in runs]) for kind, key in (("attitude", "a"), ("rate", "w"))]
    if all(map(converges, plain)):
        return [], (), ()
    chosen = []
    for kind, e, options in (("attitude", plain[0], lambda run: attitude_readings(run)), (
            "rate", plain[1], lambda run: rate_readings(case, case.reading(run, chosen[0] if chosen else ()), run["w"]))):
        gaps = {keys: error(kind, values, case, last) for keys, values in options(last).items()}
        best = min(gaps, key=gaps.get)
        fits = best and not converges(e) and gaps[best] < 0.1*e[-1] and converges(
            np.array([error(kind, options(run)[best], case, run) for run in runs]))
        start = case.a0 if kind == "attitude" else case.w0
        near = {keys: np.abs(values[0] - start).max() for keys, values in options(last).items()}
        slack = 1.5*last["h"]*(np.abs(case.acceleration()).max() if kind == "rate" else np.abs(case.w0).max())
        if not fits and near[()] > max(START, slack):
            best = min(near, key=near.get)
            if near[best] > max(START, slack):
                raise BadStates(f"the first {kind} is {near[()]:.3g} from the start of {case.name} and no known reading of"
                                f" it fits: another start, or other units than {'-'.join(case.units.values())}?")
            fits = True
        chosen.append(best if fits else ())
        found += [(key, SENTENCES[key]) for key in chosen[-1]]
    a, w = case.read_as(last, *chosen)
    if converges(np.array([max(error("attitude", x, case, run), error("rate", y, case, run)) for run in runs for x, y in (
            case.read_as(run, *chosen),)])):
        return found, *chosen
    turning = kinematics(last["t"], a, w)
    if turning and not found:   # numbers that are read and written in another convention throughout
        for one, other in itertools.product(attitude_readings(last), rate_readings(case, a, last["w"])):
            trial = case.read_as(last, one, other)
            if (one or other) and not kinematics(last["t"], *trial) and not dynamics(case, last["t"], *trial):
                return [(key, SENTENCES[key] + ", in reading the start too") for key in one + other], one, other
    found += turning + dynamics(case, last["t"], a, w)
    return found or [("unknown", "the states go to another motion by a mistake that is not known here")], *chosen
