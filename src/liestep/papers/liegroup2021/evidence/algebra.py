"""Evidence on the actions, generators and schemes of liegroup2021, from random data with a fixed seed."""
from collections.abc import Callable

import numpy as np

from liestep.claims.errata import Evidence
from liestep.geometry import se3
from liestep.study.tables.vectors import hat, size

DIFFERENCE = 1e-3      # step of central differences
TRUNCATION = 1e-9      # what they leave, relative
INERTIA = np.array([2.0, 1.0, 0.7])


def turn(u: np.ndarray) -> np.ndarray:
    """exp(hat(u))."""
    angle = float(np.linalg.norm(u))
    if angle == 0.0:
        return np.eye(3)
    k = hat(u)
    return np.eye(3) + np.sin(angle)/angle*k + 2.0*np.sin(0.5*angle)**2/angle**2*k @ k


def dexpinv(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Inverse of the derivative of the exponential on so(3), closed form of section 2.2."""
    angle = float(np.linalg.norm(u))
    second = 1.0/12.0 if angle < 1e-3 else (1.0 - 0.5*angle/np.tan(0.5*angle))/angle**2
    return v - 0.5*np.cross(u, v) + second*np.cross(u, np.cross(u, v))


def rate(path) -> np.ndarray:
    """Derivative of path(s) at s = 0 by central differences of fourth order."""
    h = DIFFERENCE
    return (8.0*(path(h) - path(-h)) - (path(2.0*h) - path(-2.0*h)))/(12.0*h)


def body_sign() -> Evidence:
    """f on so(3)*: the generator of g.mu = g mu for f = +-I^-1 mu against the momentum Q^T pi of a turning body."""
    random = np.random.default_rng(1)
    attitude, momentum = turn(random.standard_normal(3)), random.standard_normal(3)
    spatial = attitude @ momentum
    body_rate = momentum/INERTIA
    motion = rate(lambda s: (attitude @ turn(s*body_rate)).T @ spatial)
    minus, plus = (rate(lambda s, f=f: turn(s*f) @ momentum) for f in (-body_rate, body_rate))
    numbers = {"corrected": size(minus - motion)/size(motion), "printed": size(plus - motion)/size(motion),
               "formula": size(-np.cross(body_rate, momentum) - motion)/size(motion)}
    return Evidence(
        numbers["corrected"] <= TRUNCATION and numbers["formula"] <= TRUNCATION and numbers["printed"] >= 0.1,
        "random body: the generator of f = -I^-1 mu differs from the motion of Q^T pi by {corrected:.1e} of it, that of"
        " the printed f = +I^-1 mu by {printed:.2g}; the printed right side -I^-1 mu x mu by {formula:.1e}", numbers)


def top_sign() -> Evidence:
    """f on se(3)*: the generator of (g, u).(Pi, Gamma) = (g Pi + u x g Gamma, g Gamma) against (23)-(24)."""
    random = np.random.default_rng(2)
    momentum, gamma, arm = random.standard_normal((3, 3))
    body_rate = momentum/INERTIA
    motion = np.array([np.cross(momentum, body_rate) + np.cross(gamma, arm), np.cross(gamma, body_rate)])

    def generator(sign: float) -> np.ndarray:
        xi, v = sign*body_rate, sign*arm
        # exp(s (xi, v)) = (exp(s xi), dexp_{s xi} s v)
        return rate(lambda s: np.array([turn(s*xi) @ momentum + np.cross(_translation(s*xi, s*v), turn(s*xi) @ gamma),
                                        turn(s*xi) @ gamma]))

    numbers = {"corrected": size(generator(-1.0) - motion)/size(motion),
               "printed": size(generator(1.0) - motion)/size(motion)}
    return Evidence(numbers["corrected"] <= TRUNCATION and numbers["printed"] >= 0.1,
                    "random heavy top: f = -dH/d(Pi, Gamma) reproduces (23)-(24) to {corrected:.1e}, f = +dH/d(Pi,"
                    " Gamma) to {printed:.2g}", numbers)


def _translation(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """dexp_u v by its series."""
    total, term = np.zeros(3), v
    for k in range(1, 12):
        total, term = total + term, np.cross(u, term)/(k + 1)
    return total


def hamiltonian_order() -> Evidence:
    """A pendulum in (q, pi): the generator (u x q, u x pi + v x q) for both orders of the derivatives of H."""
    random = np.random.default_rng(8)
    q = random.standard_normal(3)
    q /= np.linalg.norm(q)
    mass, length, gravity = 1.3, 0.8, 9.81
    inertia = mass*length**2
    omega = np.cross(q, random.standard_normal(3))
    momentum = inertia*omega
    # Newton: pi' is the moment of the weight
    motion = np.array([np.cross(omega, q), np.cross(length*q, [0.0, 0.0, -mass*gravity])])
    by_momentum, by_direction = momentum/inertia, mass*gravity*length*np.array([0.0, 0.0, 1.0])

    def generator(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([np.cross(u, q), np.cross(u, momentum) + np.cross(v, q)])

    numbers = {"corrected": size(generator(by_momentum, by_direction) - motion),
               "printed": size(generator(by_direction, by_momentum) - motion), "motion": size(motion)}
    return Evidence(numbers["corrected"] <= 1e-14*numbers["motion"] and numbers["printed"] >= 0.1*numbers["motion"],
                    "random spherical pendulum, (q', pi') of size {motion:.3g}: (dH/dpi, dH/dq) differs by"
                    " {corrected:.1e}, the printed (dH/dq, dH/dpi) by {printed:.3g}", numbers)


def attitude_group() -> Evidence:
    """The printed action (B R, Omega + b): a left action of SO(3) x R^3, not of the tangent group of SO(3)."""
    random = np.random.default_rng(10)
    first, second = ((turn(random.standard_normal(3)), random.standard_normal(3)) for _ in range(2))
    attitude, body_rate = turn(random.standard_normal(3)), random.standard_normal(3)

    def act(g, point):
        return g[0] @ point[0], point[1] + g[1]

    twice = act(first, act(second, (attitude, body_rate)))
    direct = act((first[0] @ second[0], first[1] + second[1]), (attitude, body_rate))
    tangent = act((first[0] @ second[0], first[1] + first[0] @ second[1]), (attitude, body_rate))
    numbers = {"direct": size(twice[1] - direct[1]), "tangent": size(twice[1] - tangent[1])}
    return Evidence(numbers["direct"] <= 1e-14 and numbers["tangent"] >= 0.1,
                    "random elements: acting twice and acting with the product differ by {direct:.1e} for the direct"
                    " product, by {tangent:.2g} for the tangent group", numbers)


def _field(y: np.ndarray) -> np.ndarray:
    """An f: R^3 -> so(3) that does not commute along the motion."""
    return np.array([y[1]*y[2], 1.0 + y[0], y[2] - 2.0*y[0]*y[1]])


def _classical(slope: Callable[[float, np.ndarray], np.ndarray], start: np.ndarray, end: float,
               steps: int) -> np.ndarray:
    """States of RK4 at the step's ends, (steps + 1, ...)."""
    h, states = end/steps, [start]
    for k in range(steps):
        t, y = k*h, states[-1]
        a = slope(t, y)
        b = slope(t + 0.5*h, y + 0.5*h*a)
        c = slope(t + 0.5*h, y + 0.5*h*b)
        states.append(y + h/6.0*(a + 2.0*b + 2.0*c + slope(t + h, y + h*c)))
    return np.array(states)


def frozen_point() -> Evidence:
    """The equation for sigma with the point frozen at the start of the step, and with P(t) as printed."""
    start, end, steps = np.array([0.6, 0.0, 0.8]), 0.5, 200
    path = _classical(lambda t, y: np.cross(_field(y), y), start, end, 2*steps)

    def moving(t: float) -> np.ndarray:
        return path[round(2*steps*t/end)]

    frozen = _classical(lambda t, s: dexpinv(s, _field(turn(s) @ start)), np.zeros(3), end, steps)[-1]
    printed = _classical(lambda t, s: dexpinv(s, _field(turn(s) @ moving(t))), np.zeros(3), end, steps)[-1]
    numbers = {"corrected": size(turn(frozen) @ start - path[-1]), "printed": size(turn(printed) @ start - path[-1])}
    return Evidence(numbers["corrected"] <= 1e-9 and numbers["printed"] >= 1e-2,
                    "y' = f(y) x y over 0.5 s: exp(sigma).y_n misses the solution by {corrected:.1e} with the point"
                    " frozen at t_n, by {printed:.2g} with the moving point", numbers)


def _commutator_free(y: np.ndarray, h: float, scale: float) -> np.ndarray:
    """Second pair of section 4.2.1 with Y3 = exp(h 5/12 f1 + scale/4 f2).y."""
    first = _field(y)
    second = _field(turn(2.0*h/3.0*first) @ y)
    y3 = turn(h*5.0/12.0*first + scale*second/4.0) @ y
    return turn(h*(_field(y3) - first/6.0 - second/2.0)) @ y3


def third_stage() -> Evidence:
    """Order of the second pair of section 4.2.1 for the two places where the missing parenthesis of Y3 = exp(h(5/12 f1
    + 1/4 f2).y can stand: before the dot, and behind 5/12 f1, so that h does not multiply f2."""
    start, end = np.array([0.6, 0.0, 0.8]), 0.5
    exact = _classical(lambda t, y: np.cross(_field(y), y), start, end, 4000)[-1]

    def error(steps: int, whole: bool) -> float:
        y, h = start, end/steps
        for _ in range(steps):
            y = _commutator_free(y, h, h if whole else 1.0)
        return size(y - exact)

    corrected, other = (float(np.log2(error(40, whole)/error(80, whole))) for whole in (True, False))
    return Evidence(abs(corrected - 3.0) <= 0.1 and other <= 0.5,
                    "observed order {corrected:.3f} with the parenthesis before the dot, {other:.2f} with the one"
                    " behind 5/12 f1", {"corrected": corrected, "other": other})


ANGLES = (1e-6, 1e-2, 0.5, 2.0, 3.0, 5.5)  # of the rotation A


def _dexp(a: np.ndarray) -> np.ndarray:
    """dexp = sum_k ad^k/(k + 1)! as a matrix, by its series."""
    zero = np.zeros((3, 3))
    ad = np.block([[hat(a[:3]), zero], [hat(a[3:]), hat(a[:3])]])  # (B, b) -> (A x B, A x b + a x B)
    total, term = np.eye(6), np.eye(6)
    for k in range(1, 60):
        term = term @ ad/(k + 1)
        total = total + term
    return total


def printed_dexpinv(a: np.ndarray, b: np.ndarray, sign: float = -0.5) -> np.ndarray:
    """Section 2.3 with phi(z) = z/(e^z - 1), as printed; `sign` is g_1."""
    rotation, translation, first, second = a[:3], a[3:], b[:3], b[3:]
    angle = float(np.linalg.norm(rotation))
    half = 0.5*angle
    g2 = (1.0 - half/np.tan(half))/angle**2
    slope = (-0.5/np.tan(half) + 0.5*half/np.sin(half)**2)/angle**2 - 2.0*(1.0 - half/np.tan(half))/angle**3
    rho = float(rotation @ translation)
    twice = np.cross(rotation, np.cross(rotation, first))
    rotated = first + sign*np.cross(rotation, first) + g2*twice
    moved = (second + sign*(np.cross(translation, first) + np.cross(rotation, second)) + rho*slope/angle*twice
             + g2*(np.cross(translation, np.cross(rotation, first)) + np.cross(rotation, np.cross(translation, first))
                   + np.cross(rotation, np.cross(rotation, second))))
    return np.concatenate([rotated, moved])


def dexpinv_formula() -> Evidence:
    """The exact expression of section 2.3 against the inverse of the series of dexp, and with the other sign of g_1;
    beside it the kernel of the package, which has a series near zero."""
    random = np.random.default_rng(23)
    numbers = {"printed": 0.0, "flipped": np.inf, "ours": 0.0}
    for angle in ANGLES:
        a, b = random.standard_normal((2, 6))
        a[:3] *= angle/np.linalg.norm(a[:3])
        exact = np.linalg.solve(_dexp(a), b)
        out = np.array(se3.dexpinv(*(tuple(part) for part in (a[:3], a[3:], b[:3], b[3:]))))
        largest = float(np.abs(exact).max())
        numbers["ours"] = max(numbers["ours"], float(np.abs(out.ravel() - exact).max())/largest)
        if angle >= 0.1:  # the printed form loses digits near zero
            numbers["printed"] = max(numbers["printed"], float(np.abs(printed_dexpinv(a, b) - exact).max())/largest)
            flipped = printed_dexpinv(a, b, sign=0.5)
            numbers["flipped"] = min(numbers["flipped"], float(np.abs(flipped - exact).max())/largest)
    return Evidence(max(numbers["printed"], numbers["ours"]) <= 1e-11 and numbers["flipped"] >= 1e-2,
                    "random elements of se(3): the printed expression differs from the inverse of the series of dexp"
                    " by {printed:.1e} (rotations of 0.5 to 5.5), that of the package by {ours:.1e} (1e-6 to 5.5); with"
                    " the other sign of g_1 by {flipped:.2g}", numbers)
