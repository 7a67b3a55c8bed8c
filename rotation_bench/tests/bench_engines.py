"""Small engines for the bench: right ones, and the same with one planted mistake.

An engine is a function (case, h, steps) -> {"quaternion" or "attitude", "rate"}; here it is made of a step of the state
(attitude as quaternion, rate in the body) and, for mistakes in writing, a change of what is written.
"""
from math import atan, cos, sin, sqrt

import numpy as np


def cross(a, b):
    return np.array([a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]])


def times(p, q):
    return np.array([p[0]*q[0] - p[1]*q[1] - p[2]*q[2] - p[3]*q[3], p[0]*q[1] + p[1]*q[0] + p[2]*q[3] - p[3]*q[2],
                     p[0]*q[2] - p[1]*q[3] + p[2]*q[0] + p[3]*q[1], p[0]*q[3] + p[1]*q[2] - p[2]*q[1] + p[3]*q[0]])


def exponential(v):
    """Quaternion of a rotation vector."""
    size = sqrt(v @ v)
    factor = sin(size/2)/size if size > 0 else 0.5
    return np.array([cos(size/2), *(factor*v)])


def cayley(v):
    """The rotation about v by 2 atan(|v|/2)."""
    return np.array([1.0, *(0.5*v)])/sqrt(1.0 + v @ v/4)


def matrix(q):
    w, x, y, z = q
    return np.array([[w*w + x*x - y*y - z*z, 2*(x*y - w*z), 2*(x*z + w*y)],
                     [2*(x*y + w*z), w*w - x*x + y*y - z*z, 2*(y*z - w*x)],
                     [2*(x*z - w*y), 2*(y*z + w*x), w*w - x*x - y*y + z*z]])


def body_slope(case, gyro=1.0, torque=1.0):
    """dw/dt in the body (t, q, w)."""
    moments, force, arm = case.moments[0], case.force, case.arm

    def slope(t, q, w):
        found = gyro*cross(moments*w, w)/moments
        if force.any():
            push = case.force*cos(case.frequency*t)
            found = found + torque*cross(arm, matrix(q).T @ push)/moments
        return found
    return slope


def stepped(step):
    """An engine that makes `step(case, slope?, t, h, q, w) -> (q, w)`."""
    def engine(case, h, steps):
        q, w = case.start["quaternion"][0].copy(), case.start["rate"][0].copy()
        advance, rows = step(case), [(q, w)]
        for n in range(steps):
            q, w = advance(n*h, h, q, w)
            rows.append((q, w))
        return {"quaternion": np.array([row[0] for row in rows]), "rate": np.array([row[1] for row in rows])}
    return engine


def runge_kutta(rows, weights, slope=body_slope, normalise=False, turn=0.5):
    """An explicit method on quaternion and rate together."""
    nodes = [0.0, *(sum(row) for row in rows)]

    def step(case):
        change = slope(case)

        def f(t, q, w):
            return turn*times(q, np.array([0.0, *w])), change(t, q, w)

        def advance(t, h, q, w):
            k = [f(t, q, w)]
            for node, row in zip(nodes[1:], rows, strict=True):
                k.append(f(t + node*h, q + h*sum(a*x[0] for a, x in zip(row, k, strict=True)),
                           w + h*sum(a*x[1] for a, x in zip(row, k, strict=True))))
            q, w = (y + h*sum(b*x[i] for b, x in zip(weights, k, strict=True)) for i, y in enumerate((q, w)))
            return (q/sqrt(q @ q) if normalise else q), w
        return advance
    return stepped(step)


RK4 = ([[0.5], [0, 0.5], [0, 0, 1]], [1/6, 1/3, 1/3, 1/6])
RK3 = ([[0.5], [-1, 2]], [1/6, 2/3, 1/6])
MIDPOINT = ([[0.5]], [0, 1])
HEUN = ([[1]], [0.5, 0.5])
EULER = ([], [1])


def rk4_rates(f, t, h, w):
    k1 = f(t, w)
    k2 = f(t + h/2, w + h/2*k1)
    k3 = f(t + h/2, w + h/2*k2)
    return w + h/6*(k1 + 2*k2 + 2*k3 + f(t + h, w + h*k3))


def split(kick, turn, scheme):
    """A step made of kicks and turns; `scheme` lists (which, share)."""
    def step(case):
        slope = body_slope(case)

        def advance(t, h, q, w):
            for which, share in scheme:
                if which == "kick":
                    w = kick(slope, t, share*h, q, w)
                else:
                    q = turn(q, w, share*h)
            return q, w
        return advance
    return stepped(step)


def exp_turn(q, w, h):
    return times(q, exponential(h*w))


def cayley_turn(q, w, h):
    return times(q, cayley(h*w))


def rk4_kick(slope, t, h, q, w):
    return rk4_rates(lambda s, u: slope(s, q, u), t, h, w)


def euler_kick(slope, t, h, q, w):
    return w + h*slope(t, q, w)


def rotors(case):
    """Strang splitting of a torque-free body into rotations about its axes: exact rotors, |J w| is kept."""
    moments = case.moments[0]

    def rotate(q, p, axis, h):
        rate = np.zeros(3)
        rate[axis] = p[axis]/moments[axis]
        turn = exponential(h*rate)
        return times(q, turn), matrix(turn).T @ p

    def advance(t, h, q, w):
        p = moments*w
        for axis, share in ((0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)):
            q, p = rotate(q, p, axis, share*h)
        return q, p/moments
    return advance


def implicit_midpoint(iterations):
    """Implicit midpoint rule of the rates by fixed-point iterations, Cayley's map for the attitude."""
    def step(case):
        slope = body_slope(case)

        def advance(t, h, q, w):
            new, end = w, q
            for _ in range(iterations):
                mean = (w + new)/2
                middle = times(q, cayley(h/2*mean)) if case.force.any() else q
                new, old = w + h*slope(t + h/2, middle, mean), new
                if np.abs(new - old).max() <= 1e-16:
                    break
            end = times(q, cayley(h*(w + new)/2))
            return end, new
        return advance
    return stepped(step)


def lie_midpoint(case):
    """Explicit midpoint rule with exponentials."""
    slope = body_slope(case)

    def advance(t, h, q, w):
        middle = w + h/2*slope(t, q, w)
        half = times(q, exponential(h/2*w))
        return times(q, exponential(h*middle)), w + h*slope(t + h/2, half, middle)
    return advance


def lie_euler(case):
    slope = body_slope(case)
    return lambda t, h, q, w: (times(q, exponential(h*w)), w + h*slope(t, q, w))


def momentum_midpoint(case):
    """The spatial momentum is kept: exponential midpoint in two stages."""
    moments = case.moments[0]
    momentum = matrix(case.start["quaternion"][0]) @ (moments*case.start["rate"][0])

    def rate(q):
        return matrix(q).T @ momentum/moments

    def advance(t, h, q, w):
        q = times(q, exponential(h*rate(times(q, exponential(h/2*rate(q))))))
        return q, rate(q)
    return advance


def matrix_rk4(case, h, steps):
    """RK4 on the nine numbers of a matrix."""
    slope, a, w = case.moments[0], matrix(case.start["quaternion"][0]), case.start["rate"][0].copy()

    def f(a, w):
        return a @ np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]), cross(slope*w, w)/slope

    rows = [(a, w)]
    for _ in range(steps):
        k1 = f(a, w)
        k2 = f(a + h/2*k1[0], w + h/2*k1[1])
        k3 = f(a + h/2*k2[0], w + h/2*k2[1])
        k4 = f(a + h*k3[0], w + h*k3[1])
        a, w = (y + h/6*(b + 2*c + 2*d + e) for y, b, c, d, e in zip((a, w), k1, k2, k3, k4, strict=True))
        rows.append((a, w))
    return {"attitude": np.array([row[0] for row in rows]), "rate": np.array([row[1] for row in rows])}


def rk4_normalised_with_sign(case, h, steps):
    """Quaternions of changing sign: the same attitudes."""
    found = runge_kutta(*RK4, normalise=True)(case, h, steps)
    found["quaternion"][::3] *= -1.0
    return found


def adams_bashforth(case):
    """Two steps, the first by the midpoint rule; exponential of the extrapolated rate."""
    slope, before, midpoint = body_slope(case), [], lie_midpoint(case)

    def advance(t, h, q, w):
        now = slope(t, q, w)
        before.append((now, w))
        if len(before) == 1:
            return midpoint(t, h, q, w)
        return times(q, exponential(h*(1.5*w - 0.5*before[-2][1]))), w + h*(1.5*now - 0.5*before[-2][0])
    return advance


def single(case, h, steps):
    """RK4 in single precision, step by step."""
    step = runge_kutta(*RK4, normalise=True)
    raw = step(case, h, steps)
    return {key: part.astype(np.float32).astype(float) for key, part in raw.items()}


def late(case, h, steps):
    """Every row is that of the step before."""
    raw = RIGHT["rk4"][0](case, h, steps)
    return {key: np.concatenate([part[:1], part[:-1]]) for key, part in raw.items()}


def exchanged(case):
    """Moments at other axes."""
    moments = case.moments[0][[1, 0, 2]]
    return lambda t, q, w: cross(moments*w, w)/moments


def damped(case):
    slope = body_slope(case)
    return lambda t, q, w: slope(t, q, w) - 0.1*w


STRANG = (("kick", 0.5), ("turn", 1.0), ("kick", 0.5))
RIGHT = {   # name -> (engine, order, implicit)
    "rk4": (runge_kutta(*RK4), 4, False), "rk4 normalised": (runge_kutta(*RK4, normalise=True), 4, False),
    "rk3": (runge_kutta(*RK3), 3, False), "midpoint": (runge_kutta(*MIDPOINT), 2, False),
    "heun normalised": (runge_kutta(*HEUN, normalise=True), 2, False),
    "strang": (split(rk4_kick, exp_turn, STRANG), 2, False),
    "rotors": (stepped(rotors), 2, False), "implicit midpoint": (implicit_midpoint(60), 2, True),
    "lie midpoint": (stepped(lie_midpoint), 2, False), "lie euler": (stepped(lie_euler), 1, False),
    "momentum": (stepped(momentum_midpoint), 2, False), "matrix rk4": (matrix_rk4, 4, False),
    "signs": (rk4_normalised_with_sign, 4, False), "ab2": (stepped(adams_bashforth), 2, False),
    "single precision": (single, 4, False)}
FREE_ONLY = {"rotors", "momentum", "matrix rk4"}


def written(change, engine=RIGHT["rk4"][0]):
    """A right engine whose states are written in another way."""
    def found(case, h, steps):
        raw = engine(case, h, steps)
        return raw | change(raw["quaternion"], raw["rate"])
    return found


def conjugate(q):
    return q*np.array([1.0, -1.0, -1.0, -1.0])


def mixed(turn, normalise=False):
    """Rates by RK4, quaternion q + h/2 q w with the rate at the start."""
    def step(case):
        slope = body_slope(case)

        def advance(t, h, q, w):
            new = rk4_rates(lambda s, u: slope(s, q, u), t, h, w)
            q = turn(q, w, h)
            return (q/sqrt(q @ q) if normalise else q), new
        return advance
    return stepped(step)


def euler_turn(q, w, h):
    return q + h/2*times(q, np.array([0.0, *w]))


def spatial_rates(raw):
    return {"rate": np.array([matrix(q) @ w for q, w in zip(*raw, strict=True)])}


def wrong_inertia(case):
    """Euler's equation with the body's moments for spatial components."""
    moments = case.moments[0]

    def slope(t, q, w):
        a = matrix(q)
        spin = a @ w
        push = cross(a @ case.arm, case.force)
        return a.T @ ((cross(moments*spin, spin) + push)/moments)
    return slope


def leapfrog(case, h, steps):
    """Rates at the middle of the steps, written as if they stood at the ends."""
    slope, q, w = body_slope(case), case.start["quaternion"][0], case.start["rate"][0]
    rates = rk4_rates(lambda s, u: slope(s, q, u), 0.0, h/2, w)
    rows = [(q, rates)]
    for _ in range(steps):
        q = times(q, exponential(h*rates))
        rates = rk4_rates(lambda s, u, q=q: slope(s, q, u), 0.0, h, rates)
        rows.append((q, rates))
    return {"quaternion": np.array([row[0] for row in rows]), "rate": np.array([row[1] for row in rows])}


WRONG = {   # name -> (engine, claimed order, implicit claimed, what must be among the names)
    "spatial rates": (written(lambda q, w: spatial_rates((q, w))), 4, False, "spatial_rates"),
    "transposed update": (split(rk4_kick, lambda q, w, h: times(exponential(h*w), q), STRANG), 2, False,
                          "spatial_rates"),
    "transposed": (written(lambda q, w: {"quaternion": conjugate(q)}), 4, False, "transposed"),
    "no gyroscopic term": (runge_kutta(*RK4, slope=lambda case: body_slope(case, gyro=0.0)), 4, False,
                           "missing_gyroscopic"),
    "first-order quaternion": (mixed(euler_turn), 4, False, "first_order_quaternion"),
    "normalised": (mixed(euler_turn, normalise=True), 4, False, "hidden_drift"),
    "h for h/2": (split(rk4_kick, exp_turn, (("kick", 1.0), ("turn", 1.0), ("kick", 1.0))), 2, False, "step_factor"),
    "h for h/2 in a stage": (runge_kutta([[1.0], [0, 0.5], [0, 0, 1]], RK4[1]), 4, False, "step_factor"),
    "old rate": (split(rk4_kick, exp_turn, (("turn", 1.0), ("kick", 1.0))), 2, False, "time_level"),
    "leapfrog": (leapfrog, 2, False, "time_level"),
    "degrees": (written(lambda q, w: {"rate": np.degrees(w)}), 4, False, "degrees"),
    "degrees inside": (runge_kutta(*RK4, turn=np.pi/360), 4, False, "degrees"),
    "left-handed": (runge_kutta(*RK4, slope=lambda case: body_slope(case, gyro=-1.0)), 4, False, "left_handed"),
    "left-handed turn": (runge_kutta(*RK4, turn=-0.5), 4, False, "left_handed"),
    "wrong inertia": (runge_kutta(*RK4, slope=wrong_inertia), 4, False, "inertia_frame"),
    "explicit": (implicit_midpoint(2), 2, True, "explicit"),
    "explicit once": (implicit_midpoint(1), 1, True, "explicit"),
    "order 3": (runge_kutta(*RK3), 4, False, "order"),
    "xyzw": (written(lambda q, w: {"quaternion": np.roll(q, -1, 1)}), 4, False, "quaternion_order"),
    "half angle": (runge_kutta(*RK4, turn=1.0), 4, False, "half_angle"),
    "half of the angle": (written(lambda q, w: {"quaternion": np.array([halved(x) for x in q])}), 4, False,
                          "half_angle"),
    "late": (late, 4, False, "time_level"), "exchanged": (runge_kutta(*RK4, slope=exchanged), 4, False, "inertia_axes"),
    "damped": (runge_kutta(*RK4, slope=damped), 4, False, "damping"),
    "per minute": (written(lambda q, w: {"rate": w*30/np.pi}), 4, False, "revolutions"),
    "stretched": (stepped(lambda case: stretched(case)), 4, False, "hidden_drift")}


def halved(q):
    size = sqrt(q[1:] @ q[1:])
    half = atan(size/q[0])/2 if q[0] > 0 else np.arctan2(size, q[0])/2
    return np.array([cos(half), *(sin(half)/size*q[1:])])


def stretched(case):
    """Explicit Euler rates, brought back to the energy of the start."""
    slope, moments = body_slope(case), case.moments[0]
    energy = case.start["rate"][0] @ (moments*case.start["rate"][0])

    def advance(t, h, q, w):
        q, w = times(q, exponential(h*w)), w + h*slope(t, q, w)
        return q, w*sqrt(energy/(w @ (moments*w)))
    return advance


def rk4(case, h, steps):
    """The classical method for every case, on quaternions and rates of all bodies, or direction and velocity."""
    if case.kind == "pendulum":
        first, names = (case.start["direction"], case.start["velocity"]), ("direction", "velocity")
    else:
        first, names = (case.start["quaternion"], case.start["rate"]), ("quaternion", "rate")

    def f(t, q, w):
        if case.kind == "pendulum":
            down = np.array([0.0, 0.0, -case.gravity/case.length])
            return w, down - (q @ down + w @ w)*q
        return 0.5*np.array([times(p, np.array([0.0, *u])) for p, u in zip(q, w, strict=True)]), change(case, t, q, w)

    y, rows = first, [first]
    for n in range(steps):
        k = [f(n*h, *y)]
        for share in (0.5, 0.5, 1.0):
            k.append(f((n + share)*h, *(a + share*h*b for a, b in zip(y, k[-1], strict=True))))
        y = tuple(a + h/6*(k[0][i] + 2*k[1][i] + 2*k[2][i] + k[3][i]) for i, a in enumerate(y))
        rows.append(y)
    return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}


def change(case, t, q, w):
    """dw/dt of all bodies."""
    if case.kind == "joint":
        return jointed(case, q, w)
    moments, a = case.moments[0], matrix(q[0])
    spin = w[0] + a.T @ case.frame
    down = a.T @ np.array([cos(case.orbit*t), sin(case.orbit*t), 0.0])
    torque = cross(case.arm, a.T @ case.force*cos(case.frequency*t)) + 3*case.orbit**2*cross(down, moments*down)
    return ((cross(moments*spin, spin) + torque)/moments - cross(a.T @ case.frame, w[0]))[None]


def jointed(case, q, w):
    """Newton's and Euler's equations of two bodies and the joint's condition, as one linear system of 15 unknowns."""
    matrices, rows, right = [matrix(p) for p in q], np.zeros((15, 15)), np.zeros(15)
    for k, (a, u, arm, moments, mass) in enumerate(zip(matrices, w, case.arms, case.moments, case.masses, strict=True)):
        sign, turning, centre = (1 - 2*k), slice(3*k, 3*k + 3), slice(6 + 3*k, 9 + 3*k)
        lever = np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
        rows[turning, turning], rows[turning, 12:] = np.diag(moments), -sign*lever @ a.T
        right[turning] = cross(moments*u, u)
        rows[centre, centre], rows[centre, 12:] = mass*np.eye(3), -sign*np.eye(3)
        rows[12:, centre], rows[12:, turning] = sign*np.eye(3), -sign*a @ lever
        right[12:] -= sign*(a @ cross(u, cross(u, arm)))
    return np.linalg.solve(rows, right)[:6].reshape(2, 3)
