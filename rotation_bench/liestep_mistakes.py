"""Names of mistakes in rotations, recognised by the physics that they break; beside liestep_judge.py, numpy only.

Writing is told by the first row and the whole run: a reading of the numbers that makes them converge to the answer.
Equations are told by fits: which rates turn the attitude and how fast, how often gyroscopic term and torque count.
Methods are told by their formulas, which the steps fulfil to round-off, and by the times to which rates belong.
"""
import itertools
from math import inf, pi, sqrt

import numpy as np
from liestep_judge import DATA, START, BadStates, attitude_of, converges, errors, hat, length, times, turned

SAYS, EXACT, FIT = DATA["mistakes"], 1e-11, 0.03   # of formulas and fits
ONCE = (1.0, 1.0, 1.0, 0.0)   # what counts in right equations: turn, gyroscopic term, torque, damping
FACTORS = {-1.0: "left_handed", 2.0: "step_factor", 0.5: "step_factor", pi/180: "degrees", 180/pi: "degrees",
           1/(2*pi): "revolutions", 30/pi: "revolutions"}


def mid(u):
    return (u[1:] + u[:-1])/2


def vector_of(a):
    """Rotation vectors of matrices."""
    v = np.stack([a[..., 2, 1] - a[..., 1, 2], a[..., 0, 2] - a[..., 2, 0], a[..., 1, 0] - a[..., 0, 1]], -1)/2
    angle = np.arctan2(length(v), (np.trace(a, axis1=-2, axis2=-1) - 1)/2)
    return v*(angle/np.maximum(length(v), 1e-300))[..., None]


def rotation(v, angle=lambda x: x):
    """Matrices of rotation vectors whose lengths are replaced by `angle` of them."""
    size = length(v)[..., None]
    return attitude_of(np.concatenate([np.cos(angle(size)/2), np.sin(angle(size)/2)*v/np.maximum(size, 1e-300)], -1))


def torque_of(case, t, attitude):
    """Applied torque in the body (n, 3) of one body with attitudes (n, 3, 3) at the times (n,)."""
    t, back = np.reshape(t, (-1, 1)), turned(attitude)
    found = np.cross(case.arm + 0*t, times(back, case.force + 0*t)*np.cos(case.frequency*t))
    down = times(back, np.concatenate([np.cos(case.orbit*t), np.sin(case.orbit*t), 0*t], -1))
    return found + 3*case.orbit**2*np.cross(down, case.moments[0]*down)


def parts_of(case, t, a, w, moments=None, torque=None):
    """The two parts of dw/dt of one body, (n, 3): gyroscopic, and all other."""
    moments, turning = case.moments[0] if moments is None else moments, case.frame @ a
    other = (torque_of(case, t, a) if torque is None else torque)/moments
    return np.cross(moments*(w + turning), w + turning)/moments, other + np.cross(w, turning)


def late_rates(case, run, w, shift):
    """Largest scaled error of rates that stand `shift` steps late."""
    every, n = (len(run.t) - 1)//(len(case.t) - 1), len(case.t)
    slope = np.gradient(case.w, case.t, axis=0, edge_order=2) if case.kind != "body" else sum(
        parts_of(case, case.t, case.a[:, 0], case.w[:, 0]))[:, None]
    return length(w[::every][:n] - case.w - shift*run.h*slope)[1:].max()/length(case.w).max()


def halved(a, turns):
    """Rotations by half of the angles, which are continuous along a run; at the start whole `turns` are added."""
    v = vector_of(a)
    half = length(v)[..., None]/2
    q = np.concatenate([np.cos(half), np.sin(half)*v/np.maximum(2*half, 1e-300)], -1)
    signs = np.where((q[1:]*q[:-1]).sum(-1, keepdims=True) < 0, -1, 1)
    q = q*np.concatenate([1 - 2*turns + 0*q[:1, ..., :1], (1 - 2*turns)*np.cumprod(signs, axis=0)])
    size = np.maximum(length(q[..., 1:]), 1e-300)
    return rotation((np.arctan2(size, q[..., 0])/size)[..., None]*q[..., 1:])


def axes():
    """Orders of axes with signs that are not those of a right code, and their matrices."""
    for order, signs in itertools.product(itertools.permutations(range(3)), itertools.product((1, -1), repeat=3)):
        if abs(sum(signs)) < 3 or order != (0, 1, 2):
            yield order, signs, np.eye(3)[list(order)]*np.array(signs)[:, None]


def readings(case, run):
    """Mistakes in writing -> attitudes, and -> rates by these attitudes, as they were before that. Numbers in the keys
    tell what has one name apart."""
    factors = {(): 1.0} | {(key, f): f for f, key in FACTORS.items()}
    if case.kind == "pendulum":
        return {(): run.a}, lambda a: {key: run.w/f for key, f in factors.items()}
    found = {(): run.a, ("transposed",): turned(run.a), ("half_angle",): run.a @ run.a}
    found |= {("double_angle", turns): halved(run.a, turns) for turns in (0, 1)}
    if run.q is not None:
        rolled = attitude_of(np.roll(run.q, 1, -1))
        found |= {("quaternion_order",): rolled, ("quaternion_order", "transposed"): turned(rolled)}
    for k, (_, _, matrix) in enumerate(axes()):
        found[("axes", k)] = turned(matrix) @ run.a @ matrix
        if np.linalg.det(matrix) > 0:
            found |= {("axes", "body", k): run.a @ matrix, ("axes", "space", k): matrix @ run.a}

    def rates(a):
        frames = {(): run.w, ("spatial_rates",): times(turned(a), run.w), ("rates_frame",): times(a, run.w),
                  ("momentum_for_rate",): run.w/case.moments,
                  ("momentum_for_rate", "spatial_rates"): times(turned(a), run.w)/case.moments}
        return {keys + key: w/f for keys, w in frames.items() for key, f in factors.items()} | {
            ("axes", k): run.w[..., order]*signs for k, (order, signs, _) in enumerate(axes())}
    return found, rates


def measured(what, value):
    """Mistake of a factor that is not 1, or None for 0."""
    near = [key for factor, key in FACTORS.items() if abs(value/factor - 1) <= FIT]
    key = near[0] if near else "factor"
    return None if abs(value) <= FIT and not near else (key, f"{what} counts {value:.4g} times, not once: {SAYS[key]}")


def kinematics(run, a, w):
    """Mistakes of the attitude's motion: which rates turn it, on which side and how fast."""
    if a.shape[-1] == 1:
        return []
    step = np.diff(run.t)[:, None, None]
    right, left = vector_of(turned(a)[:-1] @ a[1:])/step, vector_of(a[1:] @ turned(a)[:-1])/step
    trials = [((), right, w), *(((key, text), turn, rate) for key, text, turn, rate in (
        ("spatial_rates", "the update is transposed: body rates turn the attitude as spatial ones", left, w),
        ("spatial_rates", "spatial rates turn the attitude as those of the body", right, times(a, w)),
        ("rates_frame", "the transposed attitude turns the rates", right, times(turned(a), times(turned(a), w)))))]
    trials += [(("axes", f"axes {order} with signs {signs} of the rates turn the attitude"), right,
                w[..., order]*signs) for order, signs, _ in axes()]
    fits = []
    for name, turn, rate in trials:
        s = float((turn*mid(rate)).sum()/(mid(rate)**2).sum())
        fits.append((sqrt(((turn - s*mid(rate))**2).sum()/max((turn**2).sum(), 1e-20*(w**2).sum())), s, name))
    least, s, name = next(fit for fit in fits if fit[0] <= 2*min(fits, key=lambda fit: fit[0])[0] + 1e-4)
    if least > FIT or abs(s) < 1e-6:
        return [("attitude", "the attitude does not follow the rates by any rule that is known here")]
    key, text = measured("the turn of a step", s) or ("attitude", "the attitude does not turn")
    key = "half_angle" if key == "step_factor" else key   # without other mistakes the two cannot be told apart
    return ([name] if name else []) + ([(key, text)] if abs(s - 1) > FIT else [])


def dynamics(case, run, a, w):
    """Mistakes of the rates' motion, by fits of the parts of the equation and of its variants."""
    if case.kind != "body":
        return []
    a, w, moments, back = a[:, 0], w[:, 0], case.moments[0], turned(a[:, 0])
    t, spin, change = run.t, times(a, w), np.diff(w, axis=0)/np.diff(run.t)[:, None]
    torque = torque_of(case, t, a)
    others = (("a force in space acts as one in the body", torque_of(case, t, 0*a + np.eye(3))), (
        "the transposed attitude turns the force", torque_of(case, t, back)), (
        "a torque in the body acts as one in space", times(back, torque)), (
        "a torque in space acts as one in the body", times(a, torque)))
    trials = [((), *parts_of(case, t, a, w))]
    trials += [((("torque_frame", text),), *parts_of(case, t, a, w, moments, part)) for text, part in others[
        :0 if case.free else 4]]
    trials += [((("inertia_axes", f"the moments stand at the axes {order}"),), *parts_of(
        case, t, a, w, moments[list(order)])) for order in list(itertools.permutations(range(3)))[1:]]
    trials += [((("inertia_inverse", "the inverse of the inertia acts"),), *parts_of(case, t, a, w, 1/moments)), (
        (("inertia_frame", "the body's moments act on spatial components"),), times(
            back, np.cross(moments*spin, spin)/moments), times(back, times(a, torque)/moments))]
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
        same = ", or the inertia stands in the wrong frame and does not turn: the same without torque"
        found.append(measured("the gyroscopic term", gyro) or (
            "missing_gyroscopic", "w x J w is missing" + (same if case.free else "")))
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
    """Name of the explicit step of a torque-free body's rates, whether h/2 became h, and whether lengths changed."""
    old, new, h, tried = w[:-1, 0], w[1:, 0], run.h, {}

    def f(u):
        return np.cross(case.moments[0]*u, u)/case.moments[0]
    for name, (rows, weights) in DATA["tableaux"].items():
        halves = [k for k, row in enumerate(rows) if max(row) == 0.5]
        wrong = itertools.chain.from_iterable(itertools.combinations(halves, n) for n in range(1, len(halves) + 1))
        for parts, chosen in ((1, ()), (2, ()), *((1, some) for some in wrong)):
            u = old
            for _ in range(parts):
                k = [f(u)]
                for i, row in enumerate(rows):
                    used = [1.0 if i in chosen and x == 0.5 else x for x in row]
                    k.append(f(u + h/parts*sum(x*y for x, y in zip(used, k, strict=True))))
                u = u + h/parts*sum(x*y for x, y in zip(weights, k, strict=True))
            tried.setdefault((("", "two half steps of ")[parts - 1] + name, bool(chosen)), u)
    for weights in ((3/2, -1/2), (23/12, -16/12, 5/12), (55/24, -59/24, 37/24, -9/24)):
        late, u = len(weights) - 1, new.copy()   # the first steps are those of any method
        u[late:] = old[late:] + h*sum(x*f(old)[late - k:len(old) - k] for k, x in enumerate(weights))
        tried.setdefault((f"Adams and Bashforth, of order {late + 1}", False), u)
    for name, slope in (("implicit midpoint rule", lambda u: f((u + old)/2)), (
            "trapezoidal rule", lambda u: (f(u) + f(old))/2), ("implicit Euler method", f)):
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


def recognised(case, runs, plateau):
    """Mistakes of states that do not go to the answer, and attitudes and rates of each run as they are to be read."""
    last, found, keys = runs[-1], [], [(), ()]
    plain = np.array([errors(case, run, run.a, run.w) for run in runs])
    if converges(plain.max(1), plateau):
        return found, [(run.a, run.w) for run in runs]

    def read(run, one, other):
        options, rates = readings(case, run)
        return options[one], rates(options[one])[other]
    turns = [length(case.w[0]).max(), length(np.gradient(case.w, case.t, axis=0)[0]).max()]
    for k, (start, turn) in enumerate(zip((case.a[0], case.w[0]), turns, strict=True)):
        options, rates = readings(case, last)
        options = rates(options[keys[0]]) if k else options
        first = {key: np.abs(values[0] - start).max() for key, values in options.items()}
        gaps = {key: errors(case, last, *((last.a, values) if k else (values, last.w)))[k]
                for key, values in options.items()}
        best, near = min(gaps, key=gaps.get), min(first, key=first.get)
        fits = gaps[best] < 0.1*plain[-1, k] and (gaps[best] < FIT or first[best] <= max(START, 1.5*last.h*turn))
        if best and fits and not converges(plain[:, k]):
            keys[k] = best
        elif first[()] > max(START, 1.5*last.h*turn):
            if first[near] > max(START, 1.5*last.h*turn):
                raise BadStates(f"the first {('attitude', 'rate')[k]} is {first[()]:.3g} from the start of {case.name}:"
                                f" another start, convention, or other units than {', '.join(case.units.values())}?")
            keys[k] = near
    found = [(key, SAYS[key]) for key in keys[0] + keys[1] if key in SAYS]
    done = [read(run, *keys) for run in runs]
    if converges([errors(case, run, *pair).max() for run, pair in zip(runs, done, strict=True)], plateau):
        return found, done
    turning = kinematics(last, *done[-1])
    if turning and not found:   # another convention in reading the start and in writing, or a mistake in turning
        options, rates = readings(case, last)
        for one, a in options.items():
            for other, w in rates(a).items():
                if (one or other) and "axes" not in one + other and not kinematics(last, a, w) and not dynamics(
                        case, last, a, w):
                    return [(key, f"{SAYS[key]}, in reading the start too") for key in one + other if key in SAYS], done
    lost = "attitude" in dict(turning) and not case.free   # then no torque is known
    return found + turning + ([] if lost else dynamics(case, last, *done[-1])), done


def coefficients(case, run, a, w):
    """How often the turn of a step, the gyroscopic term, the torque and the rates themselves count."""
    turn, rate = vector_of(turned(a)[:-1] @ a[1:])/np.diff(run.t)[:, None, None], mid(w)
    found = np.array([(turn*rate).sum()/(rate*rate).sum(), *ONCE[1:]])
    if case.kind == "body":
        parts, change = parts_of(case, run.t, a[:, 0], w[:, 0]), np.diff(w[:, 0], axis=0)/np.diff(run.t)[:, None]
        columns = np.stack([mid(part).ravel() for part in (*parts, w[:, 0])], axis=1)
        keep = np.linalg.norm(columns, axis=0) > 1e-6*np.linalg.norm(change)
        found[1:][keep] = np.linalg.lstsq(columns[:, keep], change.ravel() - columns[:, ~keep] @ found[1:][~keep],
                                          rcond=None)[0]
    return found


def small(case, runs, done):
    """Mistakes that fits of 3 % do not see, where errors stop: what does not change from step to smaller step."""
    if case.kind == "pendulum":
        return []
    a = done[-1][0][::(len(runs[-1].t) - 1)//(len(case.t) - 1)][:len(case.t)]
    for where, gap in (("body", turned(case.a) @ a), ("space", a @ turned(case.a))):
        v = vector_of(gap)[1:]
        angle = length(v.mean(0)).max()
        if np.abs(v - v.mean(0)).max() <= FIT*angle:
            return [("misaligned", f"attitudes are turned by {angle:.2g} rad about an axis fixed in the {where}")]
    coarse, fine = (coefficients(case, run, *pair) for run, pair in zip(runs[-2:], done[-2:], strict=True))
    off = [abs(new - one) > 10*abs(new - old) for old, new, one in zip(coarse, fine, ONCE, strict=True)]
    if off[3]:
        return [("damping", f"{fine[3]:.3g} times the rates are added to their change")]
    return [("factor", f"{what} counts {value:.6g} times, not once: {SAYS['factor']}") for what, value, wrong in zip(
        ("the turn of a step", "the gyroscopic term", "the torque"), fine, off[:3], strict=False) if wrong]


def levels(case, runs, done, order, implicit, found, orders, notes):
    """Mistakes of methods: what lowers the order, or is not what it is said to be."""
    claim, last, (a, w), free = order or inf, runs[0], done[0], case.free
    whole = len(last.t) - 1 == round(last.t[-1]/last.h)   # a row for each step
    form, level = attitude_step(last, a, w) if whole else ("", "")
    name, halved, stretched = rate_step(case, last, w) if whole and free else ("", False, False)
    total, turn, rate = (orders[key]["plain"] for key in ("state", "attitude", "rate"))
    fine = [errors(case, run, *pair)[1] for run, pair in zip(runs, done, strict=True)]
    for s in (0.5, -0.5, 1.0, -1.0):
        late = [late_rates(case, run, pair[1], s) for run, pair in zip(runs, done, strict=True)]
        if (rate < turn - 0.5 > 1 or total < claim - 0.5 < inf) and late[-1] < 0.2*fine[-1] and late[-1] < 0.4*late[-2]:
            when = f"{abs(s):g} steps {'after' if s > 0 else 'before'} their own"
            found.append(("time_level", f"the rates belong to times {when}"))
            break
    low = total < min(claim, max(turn, rate)) - 0.5 if claim < inf or not np.isnan(turn + rate) else False
    if form in ("normalised", "orthonormalised", "quaternion", "matrix") and level != "middle" and claim > 1:
        found.append(("first_order_quaternion", f"Euler's step of the attitude: {form}, rate at the {level} of a step"))
        if "normalised" in form:
            found.append(("hidden_drift", "the attitude is normalised after each step: its defect says nothing"))
    elif form == "exponential" and level != "middle" and total < claim - 0.5 < inf and "time_level" not in dict(found):
        found.append(("time_level", f"the attitude is turned by the rate at the {level} of a step"))
    elif low and turn < 1.5 < rate:
        turns, speed = vector_of(turned(a)[:-1] @ a[1:])/last.h, np.diff(w, axis=0)
        s = float(((turns - mid(w))*speed).sum()/(speed*speed).sum())
        found.append(("time_level", f"the attitude is turned by the rate {s + 0.5:.2f} steps after the start of one"))
    if halved:
        found.append(("step_factor", f"the rates' step is that of {name} with h for h/2 in a stage"))
    if stretched:
        found.append(("hidden_drift", f"the rates' step is that of {name}, brought to another length after it"))
    if implicit and (name or (form and level == "start")):
        found.append(("explicit", f"the step is explicit: {name or f'{form}, with the rate at the start of a step'}"))
    elif implicit and not free:
        notes.append("whether a step is implicit is told on torque-free bodies only")
    if name or form:
        notes.append("recognised: " + " and ".join(filter(None, (name, form and f"{form} step of the attitude"))))
