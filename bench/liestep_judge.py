"""Is my code's rotation right? The judge of the rotation bench: this file and cases.json beside it, numpy only.

    python liestep_judge.py free_asymmetric my_*.csv --order 4 [--implicit] [--symmetric] [--units cgs] [--json FILE]
    report = liestep_judge.judge("free_asymmetric", engine, order=4)   # engine(case, h, steps) -> states
    print(report.text, report.names)                                   # also: report.data, report.verdict

States are rows at t = 0, h, 2h, ...: a mapping with `quaternion` (n, 4: w x y z, body to space) or `attitude` (n, 3, 3)
and `rate` (n, 3: angular velocity in the body, rad per time), with one axis more after n for two bodies; `direction` and
`velocity` (n, 3) of the pendulum. Rules and thresholds are those of the study of liestep: cases.json repeats them.
"""
import argparse
import csv
import itertools
import json
import sys
from math import inf, log, nan, pi, sqrt
from pathlib import Path
from types import SimpleNamespace

import numpy as np

DATA = json.loads(Path(__file__).resolve().with_name("cases.json").read_text("utf-8"))
RULE, SAYS, EPSILON = SimpleNamespace(**DATA["rules"]), DATA["mistakes"], float(np.finfo(float).eps)
START, PLATEAU, EXACT, FIT = 1e-6, 1e-7, 1e-11, 0.03   # of starts, ends of convergence, formulas and fits
FACTORS = {-1.0: "left_handed", 2.0: "step_factor", 0.5: "step_factor", pi/180: "degrees", 180/pi: "degrees",
           1/(2*pi): "revolutions", 30/pi: "revolutions"}
HAT = np.array([[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]], float)


class BadStates(ValueError):
    """States that cannot be judged, in one sentence."""


def hat(w):
    return (w @ HAT.reshape(3, 9)).reshape(*w.shape, 3)


def times(a, v):
    return (a @ v[..., None])[..., 0]


def cross(a, b):
    return times(hat(a), b)


def turned(a):
    return np.swapaxes(a, -1, -2)


def mid(u):
    return (u[1:] + u[:-1])/2


def length(v):
    return np.sqrt((v*v).sum(-1))


def attitude_of(q):
    """Matrices of quaternions w x y z; a wrong length shows in the matrix."""
    w, v = q[..., :1, None], q[..., 1:]
    return (w*w - (v*v).sum(-1)[..., None, None])*np.eye(3) + 2*v[..., :, None]*v[..., None, :] + 2*w*hat(v)


def vector_of(a):
    """Rotation vectors of matrices."""
    v = np.stack([a[..., 2, 1] - a[..., 1, 2], a[..., 0, 2] - a[..., 2, 0], a[..., 1, 0] - a[..., 0, 1]], -1)/2
    angle = np.arctan2(length(v), (np.trace(a, axis1=-2, axis2=-1) - 1)/2)
    return v*(angle/np.maximum(length(v), 1e-300))[..., None]


def rotation(v, angle=lambda x: x):
    """Matrices of rotation vectors whose lengths are replaced by `angle` of them."""
    size = length(v)[..., None]
    return attitude_of(np.concatenate([np.cos(angle(size)/2), np.sin(angle(size)/2)*v/np.maximum(size, 1e-300)], -1))


class Case:
    """One motion in one of its unit systems: parameters, start, answers `a` and `w` at the times `t`."""

    def __init__(self, name, units="SI"):
        for wanted, known, what in ((name, DATA["cases"], "case"), (units, DATA["units"], "unit system")):
            if wanted not in known:
                raise BadStates(f"there is no {what} {wanted!r}; there are {', '.join(known)}")
        self.name, self.data, facts = name, DATA["cases"][name], DATA["cases"][name]["systems"][units]
        given, self.units, self.kind = facts["parameters"], facts["units"], self.data["kind"]
        value = {key: np.array(part, float) for key, part in {**given, **facts["start"]}.items()}
        self.arm, self.force, self.frame = (value.get(key, np.zeros(3)) for key in ("arm", "force", "frame_rate"))
        self.frequency, self.orbit, self.gravity, self.length = (float(value.get(key, np.zeros(1)).item()) for key in (
            "force_frequency", "orbit_rate", "gravity", "length"))
        self.moments, self.masses, self.arms = (value.get(key, np.ones((1, 3))) for key in ("moments", "masses", "arms"))
        self.start, self.bodies, self.steps, self.t_end = value, len(self.moments), self.data["steps"], float(facts["t_end"])
        unit = self.t_end/float(self.data["systems"]["SI"]["t_end"])
        self.t_drift, self.free = float(self.data["t_drift"])*unit, self.kind == "body" and len(value) == 3
        path = np.array([row.split() for row in self.data["path"]], float).reshape(-1, self.bodies, 6 + (self.kind != "pendulum"))
        self.t, self.w, self.certified = np.linspace(0, self.t_end, len(path)), path[..., -3:]/unit, path[..., :-3]
        self.a = self.certified[..., None] if self.kind == "pendulum" else attitude_of(self.certified)
        fine = np.gradient(self.w, self.t, axis=0, edge_order=2)
        self.slope = sum(self.parts(self.t, self.a[:, 0], self.w[:, 0]))[:, None] if self.kind == "body" else fine

    def torque(self, t, attitude):
        """Applied torque in the body (n, 3) of one body with attitudes (n, 3, 3) at the times (n,)."""
        t, back = np.reshape(t, (-1, 1)), turned(attitude)
        found = cross(self.arm + 0*t, times(back, self.force + 0*t)*np.cos(self.frequency*t))
        down = times(back, np.concatenate([np.cos(self.orbit*t), np.sin(self.orbit*t), 0*t], -1))
        return found + 3*self.orbit**2*cross(down, self.moments[0]*down)

    def parts(self, t, a, w, moments=None, torque=None):
        """The two parts of dw/dt of one body, (n, 3): gyroscopic, and all other."""
        moments, turning = self.moments[0] if moments is None else moments, self.frame @ a
        other = (self.torque(t, a) if torque is None else torque)/moments
        return cross(moments*(w + turning), w + turning)/moments, other + cross(w, turning)

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
            apart, speed = (np.subtract(*np.moveaxis(times(a, x), 1, 0)) for x in (self.arms + 0*w, cross(w, self.arms + 0*w)))
            energy, spatial = energy + reduced*(speed**2).sum(-1)/2, spatial + reduced*cross(apart, speed)
        size, force = float(length(spatial).max()), length(self.force)
        if self.orbit:
            down = times(turned(a[:, 0]), np.stack([np.cos(self.orbit*t), np.sin(self.orbit*t), 0*t], -1))
            energy = energy - self.orbit*spatial[:, 2] + 1.5*self.orbit**2*(down*down*self.moments[0]).sum(-1)
        found = {} if self.frequency else {"energy": (energy - times(a[:, 0], self.arm + 0*w[:, 0]) @ self.force, 2*abs(energy).max())}
        if force:
            return found | {"momentum": (spatial @ self.force/force, size)}
        moving = self.orbit or self.frame.any()
        return found if moving else found | {f"momentum_{x}": (spatial[:, i], size) for i, x in enumerate("xyz")}


def project(x, y, share, limits=None):
    """Least squares of y = log C + p x + log(1 + c share): p, c within limits, residuals."""
    x, (low, high) = x - x.mean(), limits or RULE.CORRECTION
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
    """Whether a term of lower order shows at the smallest steps."""
    first = next(k for k in range(x.size) if unknown[k] <= RULE.KNOWN or x.size - k <= RULE.POINTS)
    a, b, known = x[first:], y[first:], unknown[first:]
    order, _, higher = project(a, b, np.exp(power*(a - a.max())))
    leading, _, lower = project(a, b, np.exp(power*(a.min() - a)), RULE.LOWER)
    least = max(float(lower @ lower), RULE.LEAST_RESIDUAL**2*a.size + float(known @ known)/RULE.SUSPICION)
    z, n = x - x.max(), round(project(x, y, np.exp(power*(x - x.max())))[0])
    shares = np.stack([np.ones_like(z), np.exp(power*z), np.exp(x.min() - x)], axis=1)
    found = np.linalg.lstsq(np.exp(n*z - y + y.max())[:, None]*shares, np.ones_like(z), rcond=None)[0]
    return abs(found[2]/found[0]) > RULE.FINEST or higher @ higher > RULE.SUSPICION*least and abs(
        leading - round(leading)) < abs(order - round(order))


def observed_order(h, error, floor=0.0, theory=None, symmetric=False):
    """Order of errors at steps, uncertainty, class and window (indices), as the study judges them."""
    h, error = np.asarray(h, float), np.asarray(error, float)
    floor, power, finite = np.broadcast_to(floor, h.shape), 2 if symmetric else 1, np.isfinite(error)
    high, kept, slopes = (error >= RULE.FLOOR_FACTOR*floor) & (error > 0), [], []
    good = finite & high & (error <= RULE.LARGEST_ERROR)
    for i in np.argsort(h, kind="stable"):
        if good[i] and (not kept or h[i] >= RULE.SMALLEST_RATIO*(1 - RULE.RATIO_SLACK)*h[kept[-1]]):
            kept.append(int(i))
    window = kept
    for count, (j, i) in enumerate(itertools.pairwise(kept), start=1):
        slopes.append(log(error[i]/error[j])/log(h[i]/h[j]))
        if max(slopes) - min(slopes) > RULE.SLOPE_BAND or np.any(~good & (h > h[j]) & (h < h[i])):
            window = kept[:count]
            break
    x, y, plain, p, u = np.log(h[window]), np.log(error[window]), nan, nan, nan
    if len(window) >= 2:
        plain = float((x - x.mean()) @ (y - y.mean())/((x - x.mean()) @ (x - x.mean())))
    if len(window) >= RULE.POINTS:
        (p, c, r), *others = (project(x[s], y[s], np.exp(power*(x[s] - x[s].max()))) for s in (
            slice(None), slice(1, None), slice(None, -1)))
        share, orders = np.exp(power*(x - x.max())), [p, *(other[0] for other in others)]
        row = np.linalg.pinv(np.stack([np.ones_like(x), x, share/(1 + c*share)], axis=1))[1]
        u = max(abs(plain - p), np.ptp(orders)/2, 2*sqrt(r @ r/(x.size - 3)*(row @ row)), RULE.LEAST_UNCERTAINTY)
    enough, wide = (len(points) >= RULE.POINTS and (
        np.ptp(np.log(h[points])) >= RULE.STEP_SPAN - RULE.SPAN_SLACK or np.ptp(np.log(error[points])) >=
        RULE.ERROR_SPAN - RULE.SPAN_SLACK) for points in (kept, window))
    agree = u <= (0.15 if theory is None or theory <= 4 else 0.3) and plain >= RULE.LEAST_ORDER
    lost, lower = np.any(finite & (error <= RULE.LARGEST_ERROR) & ~high), agree and lower_order(
        x, y, power, floor[window]/error[window])
    name = ("failed" if finite.sum() < 2 else "saturated" if np.all(error[finite] > RULE.LARGEST_ERROR) else
            "pre-asymptotic" if lower else "asymptotic" if agree and wide else "short range" if agree else
            "floor-limited" if not enough and lost or enough and plain < RULE.LEAST_ORDER else "pre-asymptotic")
    return {"order": p, "uncertainty": u, "class": name, "plain": plain, "window": window[::-1]}


def slope_interval(mean, seed=0):
    """Slope of block means over the run, its 95 % interval by a bootstrap of moving blocks, and the rest's range."""
    n = mean.size
    line = (np.arange(n) + 0.5)/n - 0.5
    weights, size, slope = line/(line @ line), round(sqrt(n)), float(line/(line @ line) @ mean)
    rest, pieces = mean - mean.mean() - slope*line, -(-n//size)
    starts = np.random.default_rng(seed).integers(0, n - size + 1, (RULE.RESAMPLES, pieces))
    picked = (starts[:, :, None] + np.arange(size)).reshape(RULE.RESAMPLES, -1)[:, :n]
    return slope, *np.quantile(slope + rest[picked] @ weights, (0.025, 0.975)), float(np.ptp(rest))


def drift(time, d, scale, steps, period, means=None):
    """Class of the deviation d of an invariant along a run, growth exponent and largest deviation, as in the study."""
    n = min(RULE.BLOCKS, (time.size - 1)//RULE.LEAST_SAMPLES) if means is None else len(means)
    if n < RULE.LEAST_BLOCKS:
        return {"class": "too short", "growth": nan, "largest": float(np.abs(d).max())}
    m = np.array([part.mean() for part in np.array_split(d[1:], n)]) if means is None else means
    span, unit = float(time[-1] - time[0]), RULE.RESOLUTION_UNITS*EPSILON*scale
    share, slack = (time - time[0])/span, 1 + RULE.SLACK
    places = np.clip(np.ceil(share*n*(1 - RULE.SLACK)).astype(int) - 1, 0, n - 1)
    edges = np.searchsorted(places, np.arange(n + 1))
    ranges = np.array([np.subtract(*np.quantile(d[i:j], (0.95, 0.05))) for i, j in itertools.pairwise(edges)])
    size, half, (slope, low, high, rest) = float(np.median(ranges)), n//2, slope_interval(m)
    running = np.maximum(np.maximum.accumulate(np.abs(d)), unit)
    first, tenth, last = (running[np.searchsorted(share, f*slack, side="right") - 1] for f in (0.01, 0.1, 1.0))
    late = max(np.median(np.maximum.reduceat(np.abs(d), edges[:-1])[-(n//10):]), unit)
    growth, lasting, slower = log(last/first)/log(100), log(late/first)/log(100), min(log(tenth/first), log(last/tenth))
    ranges, rise = np.maximum(ranges, unit), 1 - 1/RULE.PARTS
    slopes = np.array(slope_interval(ranges)[1:3])
    narrow, broad = rise*slopes/np.maximum(ranges.mean() - (rise - 0.5)*slopes, ranges.min())
    part = max(float(np.median([np.ptp(x) for x in np.array_split(m, RULE.PARTS)])), unit)
    signs, top, around = np.sign(np.diff(m)), max(abs(low), abs(high)), low <= 0 <= high
    mixed = abs(signs.sum()) <= RULE.ONE_SIGNED*sqrt(RULE.MEMORY*max(np.count_nonzero(signs), 1))
    halves = [slope_interval(x)[0] for x in (m[:half], m[-half:])]
    bound, limit = 0.0 if top == 0 else top/size if size > 0 else inf, RULE.LARGEST_BOUND if around else RULE.BOUND
    grows = broad > (RULE.LARGEST_BOUND if narrow <= 0 else RULE.BOUND)
    wanders = np.ptp(m)/max(size, unit) > RULE.WANDER and max(np.ptp(m), unit)/part > RULE.WALK
    largest, steady = float(max(np.abs(d).max(), np.abs(m).max())), not around and min(abs(low), abs(high)) > size/2
    name = ("bounded" if not grows and not wanders and bound <= limit and growth <= RULE.BOUNDED_GROWTH else
            "round-off" if largest <= RULE.ROUND_OFF_UNITS*EPSILON*sqrt(steps)*scale and mixed and slower <= (
                RULE.DRIFT_GROWTH*log(10)) else
            "drift" if steady and min(halves)*max(halves) > 0 and halves[0]*slope > 0 or growth > RULE.DRIFT_GROWTH and (
                lasting > RULE.LASTING_GROWTH) else "undecided")
    lasts = span >= RULE.LEAST_PERIODS*period*(1 - RULE.SLACK) and rest <= RULE.STEADY*abs(slope)
    if span*slack < RULE.PERIODS_PER_BLOCK*period*n and not (name == "drift" and lasts):
        name = "too short"
    return {"class": name, "growth": growth, "largest": largest}


def longest_period(time, a):
    s = a.reshape(len(time), -1)
    s = s[:, np.ptp(s, axis=0) > RULE.MOVING]
    above = s > s.mean(axis=0)
    up = np.count_nonzero(above[1:] & ~above[:-1], axis=0)
    return float((time[-1] - time[0])/max(up.min(), 1)) if up.size else float(time[-1] - time[0])


def states(case, raw, h, where):
    """Checked states of one run. Raises BadStates."""
    swing, raw = case.kind == "pendulum", raw if isinstance(raw, dict) else dict(zip(("quaternion", "rate"), raw, strict=True))
    names = ("direction", "velocity") if swing else ("attitude" if "attitude" in raw else "quaternion", "rate")
    shape = {"attitude": (3, 3), "quaternion": (4,), "direction": (3,)}[names[0]]
    for key, size in zip(names, (shape, (3,)), strict=True):
        if key not in raw or np.size(raw[key]) != len(raw[key])*case.bodies*np.prod(size) or len(raw[key]) != len(raw[names[1]]):
            raise BadStates(f"{where}: {case.name} needs {' and '.join(names)}, with {case.bodies} x {size} numbers of {key} in"
                            f" each row, not {np.shape(raw.get(key, ()))[1:]}")
    a, w = (np.asarray(raw[key], float).reshape(-1, case.bodies, *size) for key, size in zip(names, (shape, (3,)), strict=True))
    n, t = len(w), np.asarray(raw.get("time", np.arange(len(w))*h), float)
    for key, part in (("time", t), *zip(names, (a, w), strict=True)):
        bad = np.flatnonzero(~np.isfinite(part.reshape(n, -1)).all(axis=1))
        if bad.size:
            raise BadStates(f"{where}: {key} is not a number in row {bad[0]}: give only what was computed before a code failed")
    gaps = np.diff(t)
    if n < 2 or t[0] != 0 or np.any(np.abs(gaps - np.median(gaps)) > 1e-6*np.median(gaps)):
        row = int(np.argmax(np.abs(gaps - np.median(gaps)))) + 1 if n > 1 and t[0] == 0 else 0
        raise BadStates(f"{where}: times must start at 0 and be equally spaced without gaps, see row {row}")
    if abs(t[-1] - case.t_end) > 1e-6*case.t_end and t[-1] < case.t_end:
        raise BadStates(f"{where} ends at t = {t[-1]:g} {case.units['time']}, not at {case.t_end:g}: did the code stop, or is"
                        " the unit of time another?")
    square = (a*a).sum(-1) - 1 if names[0] != "attitude" else turned(a) @ a - np.eye(3)
    defect = np.abs(square).reshape(n, -1).max(1)
    row = int(np.argmax(defect)) if defect[0] <= START else 0
    if defect[row] > (2*RULE.LARGEST_ERROR if row else START):
        raise BadStates(f"{where}: the {names[0]} of row {row} is not {'of length 1' if len(shape) == 1 else 'a rotation'}: its"
                        f" defect is {defect[row]:.3g}, and {2*RULE.LARGEST_ERROR if row else START:g} is allowed")
    q = a if names[0] == "quaternion" else None
    return SimpleNamespace(t=t, q=q, a=a[..., None] if swing else attitude_of(a) if q is not None else a, w=w, h=h,
                           defect=float(defect.max()), every=n - 1, single=bool(np.all(w == w.astype(np.float32))))


def errors(case, run, a, w, shift=(0.0, 0.0)):
    """Largest scaled errors of attitudes and of rates after the start; states may stand `shift` steps late."""
    every, n = (len(run.t) - 1)//(len(case.t) - 1), len(case.t)
    late = case.a if not shift[0] else case.a @ rotation(shift[0]*run.h*case.w)
    gap = (a[::every][:n] - late).reshape(n, case.bodies, -1)/sqrt(2 if case.a.shape[-1] == 3 else 1)
    rate = length(w[::every][:n] - case.w - shift[1]*run.h*case.slope)/length(case.w).max()
    return np.array([length(gap)[1:].max(), rate[1:].max()])


def converges(e):
    """Whether errors from large to small steps go to zero, as far as round-off does not stop them."""
    return min(e) <= PLATEAU or e[-1] <= 0.75*e[-2] and e[-1] <= 0.5


def readings(case, run):
    """Mistakes in writing -> attitudes, and -> rates by these attitudes, as they were before that."""
    if case.kind == "pendulum":
        return {(): run.a}, lambda a: {(key,) if key else (): run.w/f for f, key in ((1.0, ""), *FACTORS.items())}
    found = {(): run.a, ("transposed",): turned(run.a), ("half_angle",): run.a @ run.a, ("double_angle",): rotation(
        vector_of(run.a)/2)}
    if run.q is not None:
        rolled = attitude_of(np.roll(run.q, 1, -1))
        found |= {("quaternion_order",): rolled, ("quaternion_order", "transposed"): turned(rolled)}

    def rates(a):
        frames = {(): run.w, ("spatial_rates",): times(turned(a), run.w), ("rates_frame",): times(a, run.w),
                  ("momentum_for_rate",): run.w/case.moments,
                  ("momentum_for_rate", "spatial_rates"): times(turned(a), run.w)/case.moments}
        return {keys + ((key,) if key else ()): w/f for keys, w in frames.items() for f, key in ((1.0, ""), *FACTORS.items())}
    return found, rates


def measured(what, value):
    """Mistake of a factor that is not 1, or None for 0."""
    near = [key for factor, key in FACTORS.items() if abs(value/factor - 1) <= FIT]
    return None if abs(value) <= FIT else (near[0] if near else "factor", f"{what} counts {value:.4g} times")


def kinematics(run, a, w):
    """Mistakes of the attitude's motion: which rates turn it, on which side and how fast."""
    if a.shape[-1] == 1:
        return []
    step = np.diff(run.t)[:, None, None]
    right, left = vector_of(turned(a)[:-1] @ a[1:])/step, vector_of(a[1:] @ turned(a)[:-1])/step
    trials = [((), right, w), (("spatial_rates", "body rates turn the attitude as if they were spatial"), left, w), (
        ("spatial_rates", "spatial rates turn the attitude as if they were those of the body"), right, times(a, w)), (
        ("rates_frame", "the rates are turned by the transposed attitude"), right, times(turned(a), times(turned(a), w)))]
    for order, signs in itertools.product(itertools.permutations(range(3)), itertools.product((1, -1), repeat=3)):
        if abs(sum(signs)) < 3 or order != (0, 1, 2):
            trials.append((("axes", f"axes {order} with signs {signs} of the rates turn the attitude"), right, w[..., order]*signs))
    fits = []
    for name, turn, rate in trials:
        s = float((turn*mid(rate)).sum()/(mid(rate)**2).sum())
        fits.append((sqrt(((turn - s*mid(rate))**2).sum()/max((turn**2).sum(), 1e-20*(w**2).sum())), s, name))
    least, s, name = next(fit for fit in fits if fit[0] <= 2*min(fits, key=lambda fit: fit[0])[0] + 1e-4)
    if least > FIT or abs(s) < 1e-6:
        return [("attitude", "the attitude does not follow the rates by any rule that is known here")]
    return ([name] if name else []) + ([measured("the turn of a step", s)] if abs(s - 1) > FIT and abs(s) > FIT else [])


def dynamics(case, run, a, w):
    """Mistakes of the rates' motion, by fits of the parts of the equation and of its variants."""
    if case.kind != "body":
        return []
    a, w, moments, back = a[:, 0], w[:, 0], case.moments[0], turned(a[:, 0])
    torque, change, spin = case.torque(run.t, a), np.diff(w, axis=0)/np.diff(run.t)[:, None], times(a, w)
    torques = [(), (("torque_frame", "a force in space acts as one in the body"), case.torque(run.t, 0*a + np.eye(3))), (
        ("torque_frame", "the transposed attitude turns the force"), case.torque(run.t, back)), (
        ("torque_frame", "a torque in the body acts as one in space"), times(back, torque)), (
        ("torque_frame", "a torque in space acts as one in the body"), times(a, torque))]
    trials = [(name[:1], *case.parts(run.t, a, w, moments, *name[1:])) for name in torques[:1 if case.free else 5]]
    trials += [([("inertia_axes", f"the moments stand at the axes {order}")], *case.parts(run.t, a, w, moments[list(order)]))
               for order in list(itertools.permutations(range(3)))[1:]]
    trials += [([("inertia_inverse", "the inverse of the inertia acts")], *case.parts(run.t, a, w, 1/moments)), (
        [("inertia_frame", "the body's moments act on spatial components")], times(back, cross(moments*spin, spin)/moments),
        times(back, times(a, torque)/moments))]
    scale, fits = max(np.linalg.norm(change), 0.02*np.linalg.norm(mid(sum(trials[0][1:])))), []
    for names, gyro, rest in trials:
        columns = np.stack([mid(part).ravel() for part in (gyro, rest, w)], axis=1)
        keep = np.linalg.norm(columns, axis=0) > 1e-6*scale
        found = np.where(keep, 0.0, 1.0)
        found[keep] = np.linalg.lstsq(columns[:, keep], change.ravel(), rcond=None)[0]
        fits.append((np.linalg.norm(change.ravel() - columns @ (found*keep))/scale, *found, names,
                     np.linalg.norm(columns[:, 2]*found[2])/scale))
    least, gyro, push, damp, names, damped = next(
        fit for fit in fits if fit[0] <= 2*min(fits, key=lambda fit: fit[0])[0] + 1e-3)
    kept = [np.ptp(x, axis=0).max()/np.abs(x).max() for x in (times(back, moments*times(a, spin)), times(a, moments*w))]
    if case.free and kept[0] <= FIT < kept[1]:
        return [("inertia_frame", "the transposed attitude turns the inertia")]
    if least > FIT:
        return [("rates", "the rates follow no equation that is known here")]
    found = list(names)
    if abs(gyro - 1) > FIT:
        found.append(measured("the gyroscopic term", gyro) or ("missing_gyroscopic", "w x J w is missing" + (
            ", or the inertia stands in the wrong frame and does not turn: the same without torque" if case.free else "")))
    if abs(push - 1) > 0.002 and not case.free:
        key, text = measured("the torque", push) or ("missing_torque", "the torque is missing")
        found.append(("torque_sign" if push < 0 else key, text))
    return found + ([("damping", f"{damp:.3g} times the rates are added to their change")] if damped > FIT else [])


def attitude_step(run, a, w):
    """Form and level of the attitude's step where it is a known one."""
    turn = np.linalg.solve(a[:-1], a[1:]) if a.shape[-1] == 3 else np.zeros(0)
    for level, v in (("start", run.h*w[:-1]), ("end", run.h*w[1:]), ("middle", run.h*mid(w))):
        forms = {"exponential": rotation(v), "normalised": rotation(v, lambda x: 2*np.arctan(x/2)), "orthonormalised":
                 rotation(v, np.arctan), "quaternion": attitude_of(np.concatenate([1 + 0*v[..., :1], v/2], -1)),
                 "matrix": np.eye(3) + hat(v)}
        for form, values in forms.items():
            if turn.size and np.abs(turn - values).max() <= 10*EXACT:
                return form, level
    return "", ""


def rate_step(case, run, w):
    """Name of the explicit step of the rates of a torque-free body, whether h/2 became h, and whether lengths changed."""
    old, new, h, tried = w[:-1, 0], w[1:, 0], run.h, {}

    def f(u):
        return cross(case.moments[0]*u, u)/case.moments[0]
    for name, (rows, weights) in DATA["tableaux"].items():
        halves = [k for k, row in enumerate(rows) if max(row) == 0.5]
        for chosen in itertools.chain.from_iterable(itertools.combinations(halves, n) for n in range(len(halves) + 1)):
            k = [f(old)]
            for i, row in enumerate(rows):
                k.append(f(old + h*sum((1.0 if i in chosen and x == 0.5 else x)*y for x, y in zip(row, k, strict=True))))
            tried.setdefault((name, bool(chosen)), old + h*sum(x*y for x, y in zip(weights, k, strict=True)))
    for name, slope in (("implicit midpoint rule", lambda u: f((u + old)/2)), ("trapezoidal rule", lambda u: (f(u) + f(old))/2),
                        ("implicit Euler method", f)):
        u = old
        for count in range(1, 7):
            was, u = u, old + h*slope(u)
            if np.abs(u - was).max() <= 1e-8*np.abs(w).max():
                break   # settled: nothing is left that an implicit step would not do
            tried.setdefault((f"{name} with {count} fixed-point iterations", False), u)
    for (name, halved), u in tried.items():
        along = u/length(u)[:, None] - new/length(new)[:, None]
        if np.abs(along).max() <= EXACT and np.abs(u - old).max() > 1e-6*np.abs(w).max():
            return name, halved, np.abs(u - new).max() > 100*EXACT*np.abs(w).max()
    return "", False, False


def recognised(case, runs):
    """Mistakes of states that do not go to the answer, and attitudes and rates of each run as they are to be read."""
    last, found, keys = runs[-1], [], [(), ()]
    plain = np.array([errors(case, run, run.a, run.w) for run in runs])
    if converges(plain.max(1)):
        return found, [(run.a, run.w) for run in runs]

    def read(run, one, other):
        options, rates = readings(case, run)
        return options[one], rates(options[one])[other]
    for k, (start, turn) in enumerate(((case.a[0], length(case.w[0]).max()), (case.w[0], length(case.slope[0]).max()))):
        options, rates = readings(case, last)
        options = rates(options[keys[0]]) if k else options
        first = {key: np.abs(values[0] - start).max() for key, values in options.items()}
        gaps = {key: errors(case, last, *((last.a, values) if k else (values, last.w)))[k] for key, values in options.items()}
        best, near = min(gaps, key=gaps.get), min(first, key=first.get)
        if best and gaps[best] < 0.1*plain[-1, k] and not converges(plain[:, k]):
            keys[k] = best
        elif first[()] > max(START, 1.5*last.h*turn):
            if first[near] > max(START, 1.5*last.h*turn):
                raise BadStates(f"the first {'rate' if k else 'attitude'} is {first[()]:.3g} from the start of {case.name}: are the"
                                f" units others than {', '.join(case.units.values())}?")
            keys[k] = near
    found = [(key, SAYS[key]) for key in keys[0] + keys[1]]
    done = [read(run, *keys) for run in runs]
    if converges([errors(case, run, *pair).max() for run, pair in zip(runs, done, strict=True)]):
        return found, done
    turning = kinematics(last, *done[-1])
    if turning and not found:   # another convention in reading the start and in writing, or a mistake in turning
        options, rates = readings(case, last)
        for one, a in options.items():
            for other, w in rates(a).items():
                if (one or other) and not kinematics(last, a, w) and not dynamics(case, last, a, w):
                    return [(key, f"{SAYS[key]}, in reading the start too") for key in one + other], done
    found += turning + dynamics(case, last, *done[-1])
    shifts = [s for s in (1.0, -1.0) if converges([errors(case, run, *pair, (s, s)).max() for run, pair in zip(
        runs, done, strict=True)])]
    return found or [("unknown", "the states go to another motion, by a mistake that is not known here")], done


def levels(case, runs, done, order, implicit, found, orders, notes):
    """Mistakes of methods: what lowers the order, or is not what it is said to be."""
    claim, last, (a, w), free = order or inf, runs[0], done[0], case.free
    whole = len(last.t) - 1 == round(last.t[-1]/last.h)   # a row for each step
    form, level = attitude_step(last, a, w) if whole else ("", "")
    name, halved, stretched = rate_step(case, last, w) if whole and free else ("", False, False)
    total, turn, rate = (orders[key]["plain"] for key in ("state", "attitude", "rate"))
    fine = [errors(case, run, *pair)[1] for run, pair in zip(runs, done, strict=True)]
    for s in (0.5, -0.5, 1.0, -1.0):
        late = [errors(case, run, *pair, (0.0, s))[1] for run, pair in zip(runs, done, strict=True)]
        if turn > 1.5 and rate < turn - 0.5 and late[-1] < 0.2*fine[-1] and late[-1] < 0.4*late[-2]:
            found.append(("time_level", f"the rates belong to times {abs(s):g} steps {'after' if s > 0 else 'before'} theirs"))
            break
    low = total < min(claim, max(turn, rate)) - 0.5 if claim < inf or not np.isnan(turn + rate) else False
    if form in ("normalised", "orthonormalised", "quaternion", "matrix") and level != "middle" and claim > 1:
        found.append(("first_order_quaternion", f"the attitude's step is A + h A hat(w) with the rate at the {level} of a step"))
        if "normalised" in form:
            found.append(("hidden_drift", "the attitude is normalised after each step: its defect says nothing"))
    elif low and turn < 1.5 < rate:
        turns, speed = vector_of(turned(a)[:-1] @ a[1:])/last.h, np.diff(w, axis=0)
        s = float(((turns - mid(w))*speed).sum()/(speed*speed).sum())
        found.append(("time_level", f"the attitude is turned with the rate {s + 0.5:.2f} steps after the start of a step"))
    if halved:
        found.append(("step_factor", f"the rates' step is that of {name} with h for h/2 in a stage"))
    if stretched:
        found.append(("hidden_drift", f"the rates' step is that of {name}, brought to another length after it"))
    if implicit and (name or (form and level == "start")):
        found.append(("explicit", f"the step is explicit: {name or f'{form}, with the rate at the start of a step'}"))
    if name or form:
        notes.append(f"recognised: {' and '.join(x for x in (name, f'{form} step of the attitude' if form else '') if x)}")


def judge(case, runs, order=None, implicit=False, symmetric=False, units="SI", long=True):
    """Judge an engine, engine(case, h, steps) -> states, or a mapping from steps h to states, on a case.

    order: the claimed one; implicit, symmetric: claims; long: a second, long run for the drift of an engine.
    Raises BadStates, one sentence: never a verdict on what cannot be judged."""
    case, engine, runs = case if isinstance(case, Case) else Case(case, units), runs, runs

    def run(h, n):
        where = f"the run with h = {h:g}"
        try:
            return states(case, engine(case, h, n), h, where)
        except BadStates:
            raise
        except Exception as error:
            raise BadStates(f"{where} stopped: {type(error).__name__}: {error}") from error
    if callable(engine):
        counts = [case.steps*2**k for k in range(case.data["levels"])]
        found = [run(case.t_end/n, n) for n in counts]
    else:
        found = sorted((states(case, raw, h, f"the run with h = {h:g}") for h, raw in engine.items()), key=lambda x: -x.h)
    longer = [x for x in found if x.t[-1] > 1.5*case.t_end]
    runs, rows = [x for x in found if x not in longer], len(case.t) - 1
    for x in runs:
        if (len(x.t) - 1) % rows:
            raise BadStates(f"the run with h = {x.h:g} has {len(x.t)} rows: one more than a multiple of {rows} is needed")
    if len(runs) < RULE.POINTS:
        raise BadStates(f"{len(runs)} step sizes until {case.t_end:g} {case.units['time']} are too few: give {RULE.POINTS} or more")
    mistakes, done = recognised(case, runs)
    notes, h = [], np.array([x.h for x in runs])
    e = np.array([errors(case, x, *pair) for x, pair in zip(runs, done, strict=True)])
    floor = EPSILON*np.sqrt([round(case.t_end/x.h) for x in runs])
    orders = {key: observed_order(h, values, floor, order, symmetric) for key, values in (
        ("state", e.max(1)), ("attitude", e[:, 0]), ("rate", e[:, 1]))}
    state, known = orders["state"], not any(key in ("unknown", "attitude", "rates") for key, _ in mistakes)
    if converges(e.max(1)) and known:
        levels(case, runs, done, order, implicit, mistakes, orders, notes)
        p, u = (state["order"], max(state["uncertainty"], RULE.LEAST_TOLERANCE)) if state["class"] == "asymptotic" else (
            state["plain"], 0.5)
        if order and state["class"] in ("asymptotic", "short range", "pre-asymptotic") and p < order - u:
            mistakes.append(("order", f"order {p:.2f} where {order:g} is claimed"))
    if all(x.single for x in runs):
        notes.append("all rates are numbers of single precision")
    if callable(engine) and long:
        n = round(case.t_drift/case.t_end*case.steps)
        longer = [run(case.t_drift/n, n)]
    drifts = {}
    for x, (a, w) in [(x, (x.a, x.w)) for x in longer] or [(runs[0], done[0])]:
        period = longest_period(x.t, a)
        for key, (values, size) in case.invariants(x.t, a, w).items():
            drifts[key] = drift(x.t, values - values[0], float(size) or 1.0, len(x.t) - 1, period)
    own = {round(case.t_end/int(n), 12): float(value) for n, value in case.data["rk4_errors"].items()}
    ratio = next((e.max(1)[k]/own[round(x.h, 12)] for k, x in enumerate(runs) if round(x.h, 12) in own and e.max(1)[k] < 0.1), nan)
    window = state["window"]
    size = float(e.max(1)[window[-1]]/h[window[-1]]**round(state["plain"])) if window and state["plain"] == state["plain"] else nan
    data = {"case": case.name, "verdict": "wrong" if mistakes else "right" if converges(e.max(1)) else "undecided",
            "mistakes": [{"name": key, "says": f"{text}"} for key, text in dict(mistakes).items()], "notes": notes,
            "claimed": {"order": order, "implicit": implicit, "symmetric": symmetric}, "steps": h.tolist(),
            "errors": e.max(1).tolist(), "orders": orders, "constant": size, "times_rk4": ratio, "drift": drifts,
            "defect": max(x.defect for x in found + longer)}
    return Report(data)


class Report:
    """What was found: `verdict`, `names` of the mistakes, all as `data`, one screen of `text`."""

    def __init__(self, data):
        self.data, self.verdict, self.names = data, data["verdict"], [item["name"] for item in data["mistakes"]]
        lines = [f"{data['case']}: {DATA['cases'][data['case']]['title']}", f"verdict: {self.verdict}"]
        lines += [f"  {item['name']}: {item['says']}" for item in data["mistakes"]]
        for key, part in data["orders"].items():
            lines.append(f"order of the {key}: {part['order']:.3f} +- {part['uncertainty']:.3f} ({part['class']})")
        lines += [f"error {e:.3g} at h = {h:.4g}" for h, e in zip(data["steps"], data["errors"], strict=True)]
        lines.append(f"error constant {data['constant']:.3g}; error {data['times_rk4']:.3g} times that of RK4 at the same step")
        lines += [f"{key}: {part['class']}, largest deviation {part['largest']:.3g}" for key, part in data["drift"].items()]
        self.text = "\n".join([*lines, f"defect of the manifold: {data['defect']:.3g}", *data["notes"]])


def read_csv(path):
    """Step and states of a CSV file: `# step = 0.01`, then a header such as time,quaternion_w,...,rate_x,..."""
    lines = Path(path).read_text("utf-8-sig").splitlines()
    facts = dict(part.strip("# ").split(" = ") for part in lines if part.startswith("#") and " = " in part)
    rows = list(csv.reader(line for line in lines if line.strip() and not line.startswith("#")))
    try:
        table = np.array([[float(x) for x in row] for row in rows[1:]])
        names = {name.split("_")[0] for name in rows[0]}
        raw = {name: table[:, [k for k, head in enumerate(rows[0]) if head.split("_")[0] == name]] for name in names}
        raw["time"] = raw["time"][:, 0]
        return float(facts.get("step", raw["time"][1])), raw
    except (IndexError, KeyError, ValueError) as error:
        raise BadStates(f"{path} needs a header with time, and rows of as many numbers: {error}") from None


def main():
    parser = argparse.ArgumentParser(description="Is my code's rotation right? Files of one case, one for each step.")
    parser.add_argument("case", help=", ".join(DATA["cases"]))
    parser.add_argument("file", nargs="+", help="CSV with a line '# step = 0.01' and a header; see the page of the bench")
    parser.add_argument("--order", type=float)
    parser.add_argument("--units", default="SI")
    parser.add_argument("--json")
    for claim in ("--implicit", "--symmetric"):
        parser.add_argument(claim, action="store_true")
    given = parser.parse_args()
    try:
        found = judge(given.case, dict(map(read_csv, given.file)), given.order, given.implicit, given.symmetric, given.units)
    except (BadStates, OSError) as error:
        sys.exit(f"liestep_judge: {error}")
    if given.json:
        Path(given.json).write_text(json.dumps(found.data, indent=1, default=float) + "\n", "utf-8")
    print(found.text)
    return found.verdict != "right"


if __name__ == "__main__":
    sys.exit(main())
