"""Evidence on rodrigues2021 from random data with fixed seeds, in plain numpy. Symplectic form, symmetry, operations
and charts alone are those of a step of the package's own maps, on the printed pendulum."""
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import new_counters
from liestep.compile.rows import Vector
from liestep.compile.tracing import Functions, plain_component
from liestep.geometry.rodrigues import EXACT, EXPONENTIAL, NEWMARK, increment
from liestep.integrators.rigid_split import DiscreteTurn, discrete_turn
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.probed import plain
from liestep.mechanics.formulations.symbolic import Counted
from liestep.paper import Evidence, Status, method, sheet, simulate, start_of
from liestep.simulation.runs.specification import complete_options

ROUND_OFF = 1e-12
E3 = np.array([0.0, 0.0, 1.0])


def size(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors, axis=-1).max())


def hat(a: np.ndarray) -> np.ndarray:
    return np.cross(np.eye(3), a)


def rotation(alpha: np.ndarray) -> np.ndarray:
    """R(alpha), eq. (4)."""
    s = hat(alpha)
    return np.eye(3) + 4.0/(4.0 + alpha @ alpha)*(s + 0.5*s @ s)


def vee(matrix: np.ndarray) -> np.ndarray:
    return np.array([matrix[2, 1], matrix[0, 2], matrix[1, 0]])


def random_turns(count: int, seed: int) -> list[np.ndarray]:
    return [rotation(alpha) for alpha in np.random.default_rng(seed).standard_normal((count, 3))]


def pendulum(moment, turn: np.ndarray, omega: np.ndarray, h: float, steps: int) -> Iterator[tuple]:
    """(R, Omega) at the start and after each step of map (25) with (R) -> spatial moment."""
    yield turn, omega
    for _ in range(steps):
        middle = omega + 0.5*h*moment(turn)
        turn = rotation(h*middle) @ turn
        omega = middle + 0.5*h*moment(turn)
        yield turn, omega


def spatial_moment(turn: np.ndarray) -> np.ndarray:
    return np.cross(turn @ E3, E3)


def verlet(moment) -> dict[str, float]:
    """Largest changes of the energy and of (R rho0).Omega over 10 s with (R) -> spatial moment."""
    turn, omega = rotation(2.0*np.tan(3.0*np.pi/8.0)*np.array([0.0, 1.0, 0.0])), 0.2*np.array([1.0, 0.0, 1.0])
    energy, product = np.array([(0.5*omega @ omega - turn[2, 2], turn @ E3 @ omega)
                                for turn, omega in pendulum(moment, turn, omega, 1e-3, 10_000)]).T
    return {"energy": float(np.ptp(energy)), "product": float(np.ptp(product))}


def pendulum_moment() -> Evidence:
    """(40) as printed, R rho0 x R^T e3, against R rho0 x e3; and the body moment in the spatial map."""
    right = verlet(spatial_moment)
    printed = verlet(lambda r: np.cross(r @ E3, r.T @ E3))
    body = verlet(lambda r: np.cross(E3, r.T @ E3))
    numbers = {"right": right["energy"], "printed": printed["energy"], "body": body["energy"],
               "kept": printed["product"], "lost": body["product"]}
    return Evidence(numbers["right"] <= 1e-6 and numbers["printed"] >= 1.0 and numbers["body"] >= 0.1,
                    "energy of map (25), 10 s at h = 1e-3: it changes by {right:.2g} J with R rho0 x e3, by"
                    " {printed:.3g} J with the printed moment, which yet keeps (R rho0).Omega to {kept:.1g}, and by"
                    " {body:.2g} J with the body moment rho0 x R^T e3, which loses {lost:.2g} of it", numbers)


def domain() -> Evidence:
    """(16) solves (15) up to h|w| = 1, not only for h^2|w| < 1."""
    h, worst = 0.01, 0.0
    for size_of_w in (0.5/h, 0.999999/h):  # h^2|w| is 0.005 and 0.01, far below 1
        w = size_of_w*np.array([0.6, 0.0, 0.8])
        alpha = 2.0*h*w/(1.0 + np.sqrt(1.0 - h*h*size_of_w**2))
        worst = max(worst, size(4.0*alpha/(4.0 + alpha @ alpha) - h*w))
    allowed = 50.0/h  # h^2|w| = 0.5 satisfies the printed condition, but h|w| = 50
    numbers = {"residual": worst, "root": 1.0 - h*h*allowed**2, "printed": h*h*allowed}
    return Evidence(worst <= ROUND_OFF and numbers["root"] < 0.0 and numbers["printed"] < 1.0,
                    "(16) solves (15) to {residual:.1g} up to h|w| = 1; at h^2|w| = {printed:.2g} < 1, h = 0.01, the"
                    " root is of {root:.3g}", numbers)


def legendre() -> Evidence:
    """First lines of (14) and (17) with and without the left factor R^T, against their second lines."""
    h, inertia = 0.1, 1.0
    one, two = random_turns(2, 3)
    potential = np.outer([0.3, -0.2, 0.5], [0.1, 0.7, -0.4])  # dU/dR of U = a.R b
    half = 0.5*inertia
    slope = -half/h*(two - one) - 0.5*h*potential
    moment = vee(potential.T @ one - one.T @ potential)
    second = half/h*(one.T @ two - two.T @ one) - 0.5*h*hat(moment)
    bare, left = -slope + slope.T, -one.T @ slope + slope.T @ one
    numbers = {"with": float(np.abs(left - second).max()), "without": float(np.abs(bare - second).max())}
    return Evidence(numbers["with"] <= ROUND_OFF and numbers["without"] >= 0.1,
                    "random attitudes: the first line of (14) differs from the second by {without:.2g}, with the factor"
                    " R_k^T by {with:.1g}", numbers)


def identity_factor() -> Evidence:
    """R_(k+1)^T R_k in (21d) applied to w, when R_(k+1) = R(h R_k w) R_k."""
    (turn,), w, h = random_turns(1, 4), np.array([0.4, -1.1, 0.7]), 0.3
    after = rotation(2.0*h*(turn @ w)/(1.0 + np.sqrt(1.0 - h*h*w @ w))) @ turn
    numbers = {"gap": size(after.T @ turn @ w - w), "factor": float(np.abs(after.T @ turn - np.eye(3)).max())}
    return Evidence(numbers["gap"] <= ROUND_OFF and numbers["factor"] >= 0.1,
                    "R_(k+1)^T R_k differs from 1 by {factor:.2g}, but changes w by {gap:.1g}: the increment turns"
                    " about w", numbers)


def vertical_invariant() -> Evidence:
    """e3.Omega along map (25) of the pendulum, beside the listed (R rho0).Omega."""
    turn, omega = rotation(np.array([0.3, 1.9, -0.4])), np.array([0.2, 0.5, 0.9])
    rates = np.array([omega for _, omega in pendulum(spatial_moment, turn, omega, 0.01, 1000)])
    numbers = {"change": float(np.ptp(rates[:-1, 2])), "other": float(abs(rates[-1, 0] - 0.2))}
    return Evidence(numbers["change"] <= ROUND_OFF and numbers["other"] >= 0.1,
                    "e3.Omega changes by {change:.1g} over 1000 steps, while Omega_1 changes by {other:.2g}", numbers)


def truncation() -> Evidence:
    """Map (25) is symplectic and symmetric itself: its drift is the exact flow of a kinetic energy of |pi|."""
    h = 0.3
    z = 2.0*np.tan(np.linspace(0.01, 0.5, 50))*0.5
    angle = 2.0*np.arctan(0.5*z)
    energy = (2.0*z*np.arctan(0.5*z) - 2.0*np.log1p(0.25*z*z))/h**2   # integral of the angle over z
    slope = np.gradient(energy, z, edge_order=2)*h*h
    forward = rotation(h*np.array([0.4, -0.2, 1.0]))
    numbers = {"flow": float(np.abs(slope - angle)[2:-2].max()/angle.max()),
               "back": float(np.abs(rotation(-h*np.array([0.4, -0.2, 1.0])) @ forward - np.eye(3)).max())}
    return Evidence(numbers["flow"] <= 1e-2 and numbers["back"] <= ROUND_OFF,
                    "the angle 2 arctan(z/2) is the slope of a function of |pi| to {flow:.1g} (differences), and a step"
                    " back returns to {back:.1g}", numbers)


def halved_order() -> Evidence:
    """(37) of numbers whose error is e: the root of |(1 + e)^2 - 1|."""
    small = np.array([1e-4, 1e-6])
    slope = float(np.diff(np.log(np.sqrt((1.0 + small)**2 - 1.0)))[0]/np.diff(np.log(small))[0])
    steps = np.array([100, 200, 400])
    times = [np.linspace(0.0, 1.0, n + 1) for n in steps]
    errors = [abs(np.trapezoid(np.exp(t), t) - np.expm1(1.0))**0.5 for t in times]
    numbers = {"slope": slope, "exact": float(np.log2(errors[1]/errors[2]))}
    return Evidence(abs(slope - 0.5) <= 0.01 and abs(numbers["exact"] - 1.0) <= 0.01,
                    "an error e of the norm becomes e^{slope:.2f} in (37); the trapezoidal rule alone, on an exact"
                    " motion, has slope {exact:.3f} there", numbers)


RING_STEP = 0.01  # of figure 5


def diameter() -> Evidence:
    """D_t = 3 and 30 at the step of figure 5, over 1 s."""
    numbers = {}
    for name, preset in (("printed", "as_printed"), ("other", "rescaled")):
        data = simulate("bonded_ring", "rodrigues", preset=preset, step=RING_STEP, t_end=1.0, samples=2,
                        on_failure="return")
        numbers[name] = float(data.attrs["time_reached"])
    numbers["limit"] = 3.0*0.03925981575906861/200.0**0.5  # D sqrt(m/K^a), D = 3 sin(pi/80)
    return Evidence(numbers["printed"] < 0.9 and numbers["other"] >= 0.999 and numbers["limit"] < RING_STEP,
                    "at h = 0.01 the ring with D_t = 3 flies apart after {printed:.2f} s, before it reaches the wall,"
                    " because h is above D sqrt(m/K^a) = {limit:.4f}; with D_t = 30 it completes", numbers)


def asymmetric_map() -> Evidence:
    """Maps (25) and (27) forward and back over 100 steps of the pendulum."""
    numbers = {}
    for name, integrator in (("newmark", "rodrigues"), ("euler", "rodrigues kick=whole")):
        forth = simulate("heavy_top", integrator, preset="rodrigues2021", step=RING_STEP, t_end=1.0, samples=2)
        turned = {"attitude": forth["attitude"].values[-1], "angular_momentum": -forth["angular_momentum"].values[-1]}
        back = simulate("heavy_top", integrator, preset="rodrigues2021", step=RING_STEP, t_end=1.0, samples=2,
                        initial=turned)
        numbers[name] = float(abs(back["attitude"].values[-1] - forth["attitude"].values[0]).max())
    return Evidence(numbers["newmark"] <= 1e-12 and numbers["euler"] >= 1e-3,
                    "with the velocities turned round after 1 s, map (25) returns to {newmark:.1g}, map (27) to"
                    " {euler:.1g}", numbers)


def second_root() -> Evidence:
    """Both solutions of (15) for h|w| that tends to zero: residuals, lengths, angle of the other."""
    sizes = np.array([1e-1, 1e-2, 1e-3])
    root = np.sqrt(1.0 - sizes**2)
    first, second = 2.0*sizes/(1.0 + root), 2.0*(1.0 + root)/sizes  # the second is 2 s/(1 - root) without cancellation
    numbers = {"residual": float(max(np.abs(4.0*z/(4.0 + z*z) - sizes).max() for z in (first, second))),
               "first": float(first[-1]), "second": float(second[-1]), "angle": float(2.0*np.arctan(0.5*second[-1]))}
    return Evidence(numbers["residual"] <= ROUND_OFF and numbers["first"] <= 1e-2 and numbers["second"] >= 1e3,
                    "both solve (15) to {residual:.1g}; at h|w| = 1e-3 (16) has the length {first:.3g}, the other"
                    " {second:.3g}, a turn by {angle:.4f} rad", numbers)


def leading_terms() -> Evidence:
    """(24): the increments of (23) and (25) for one body and moment at h = 0.1, 0.05, 0.025."""
    rate, moment = np.random.default_rng(24).standard_normal((2, 3))
    gaps = []
    for h in (0.1, 0.05, 0.025):
        z = h*rate + 0.5*h*h*moment
        gaps.append(size(2.0*z/(1.0 + np.sqrt(1.0 - z @ z)) - z))
    slopes = np.log2(np.array(gaps[:-1])/gaps[1:])
    numbers = {"coarse": float(slopes[0]), "fine": float(slopes[1]), "gap": gaps[-1]}
    return Evidence(bool(np.abs(slopes - 3.0).max() <= 0.2) and abs(slopes[1] - 3.0) < abs(slopes[0] - 3.0),
                    "the increments of (23) and (25) differ by {gap:.2g} at h = 0.025, with slopes {coarse:.3f} and"
                    " {fine:.3f}: from the third order on", numbers)


def _quaternions(h: float, held: bool) -> tuple[np.ndarray, float]:
    """Quaternion after 10 s, largest change of its length. Discrete Euler-Lagrange equations in R^4 of L = 2 |q'|^2 +
    q.D q, the pendulum with J = m g l = 1 and its lower point along e3; held: by a multiplier of |q|^2 = 1."""
    sign, tangent = np.array([1.0, -1.0, -1.0, 1.0]), np.array([-0.2, 0.3, 0.1, 0.0])
    q = np.array([0.6, 0.0, 0.8, 0.0])
    tangent = tangent - (tangent @ q)*q
    force = 0.5*sign*q
    new = q + h*tangent + 0.5*h*h*(force - (force @ q)*q)
    new, worst = new/np.linalg.norm(new), 0.0
    for _ in range(round(10.0/h) - 1):
        free = 2.0*new - q + 0.5*h*h*sign*new
        along = free @ new
        # |free - m new| = 1 with |new| = 1: the root that vanishes with h
        q, new = new, free - (along - np.sqrt(along*along - free @ free + 1.0))*new if held else free
        worst = max(worst, abs(float(np.linalg.norm(new)) - 1.0))
    return new, worst


def quaternion_multipliers() -> Evidence:
    """The discrete Lagrangian in unit quaternions of Wendlandt and Marsden, with a multiplier and without."""
    runs = [_quaternions(h, True) for h in (0.02, 0.01, 0.005)]
    ends = [end for end, _ in runs]
    numbers = {"held": max(worst for _, worst in runs), "free": _quaternions(0.005, False)[1],
               "order": float(np.log2(size(ends[0] - ends[1])/size(ends[1] - ends[2])))}
    return Evidence(numbers["held"] <= ROUND_OFF and numbers["free"] >= 0.1 and abs(numbers["order"] - 2.0) <= 0.1,
                    "a pendulum, 10 s: with a multiplier the length stays within {held:.1g} and the order is"
                    " {order:.2f}; without one the length moves by {free:.2g}", numbers)


NEAR = 1e-4
Energy = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], float]  # R_1, R_2, x_1, x_2
REST = np.array([0.0, 0.6, 0.8])


def compose(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(5)."""
    return 4.0/(4.0 - a @ b)*(a + b - 0.5*np.cross(a, b))


def angle_vector(turn: np.ndarray) -> np.ndarray:
    """Rotation vector."""
    sine = vee(0.5*(turn - turn.T))
    length = float(np.linalg.norm(sine))
    return np.arctan2(length, 0.5*(np.trace(turn) - 1.0))/length*sine


def gradient(f: Callable[[np.ndarray], float]) -> np.ndarray:
    """Derivatives of f(s e_k) at s = 0 by central differences of fourth order, (3,)."""
    return np.array([(8.0*(f(NEAR*e) - f(-NEAR*e)) - (f(2.0*NEAR*e) - f(-2.0*NEAR*e)))/(12.0*NEAR) for e in np.eye(3)])


def printed_shear(one, two, x1, x2, rest=REST) -> float:
    """(53) for K = 1: (1 - c)^2/2 with c = (R_1 d0).(R_2 d)."""
    d = (x1 - x2)/np.linalg.norm(x1 - x2)
    return float(0.5*(1.0 - (one @ rest) @ (two @ d))**2)


def mean_shear(one, two, x1, x2, rest=REST) -> float:
    """The same with the mean of both bodies' axes, c = d.(R_1 d0 + R_2 d0)/2."""
    d = (x1 - x2)/np.linalg.norm(x1 - x2)
    return float(0.5*(1.0 - 0.5*d @ (one @ rest + two @ rest))**2)


def loads(energy: Energy, state: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spatial moments on both bodies and the force on the first, by differences."""
    one, two, x1, x2 = state
    return (-gradient(lambda s: energy(rotation(s) @ one, two, x1, x2)),
            -gradient(lambda s: energy(one, rotation(s) @ two, x1, x2)),
            -gradient(lambda s: energy(one, two, x1 + s, x2)))


def pair(seed: int) -> tuple:
    one, two = random_turns(2, seed)
    return (one, two, *np.random.default_rng(seed).standard_normal((2, 3)))


def relative_vector() -> Evidence:
    """(45): -alpha_i (+) alpha_j and (-alpha_j) (+) alpha_i against R_i R_j^T."""
    a, b = np.random.default_rng(1).standard_normal((2, 3))
    wanted = rotation(a) @ rotation(b).T
    printed, right = rotation(compose(-a, b)), rotation(compose(-b, a))
    numbers = {"printed": float(np.abs(printed - wanted).max()), "transpose": float(np.abs(printed - wanted.T).max()),
               "right": float(np.abs(right - wanted).max())}
    return Evidence(numbers["right"] <= ROUND_OFF and numbers["printed"] >= 0.1,
                    "random pair: R(-alpha_i (+) alpha_j) differs from R_i R_j^T by {printed:.2g}; R((-alpha_j) (+)"
                    " alpha_i) by {right:.1g}", numbers)


def bending_sign() -> Evidence:
    """(47): both forms of the moment against the gradient of (44), alpha_12 from R_1 R_2^T."""
    a, b = 0.4*np.random.default_rng(2).standard_normal((2, 3))
    one, two = rotation(a), rotation(b)
    moment = -gradient(lambda s: 0.5*float(np.sum(angle_vector(rotation(s) @ one @ two.T)**2)))
    right = compose(-b, a)
    first, second = -angle_vector(one @ two.T), 2.0*np.arctan(0.5*np.linalg.norm(right))*right/np.linalg.norm(right)
    numbers = {"first": size(first - moment)/size(moment), "second": size(second - moment)/size(moment)}
    return Evidence(numbers["first"] <= 1e-8 and numbers["second"] >= 1.0,
                    "random pair: -K theta differs from the gradient by {first:.1g} of it, the second form by"
                    " {second:.2g}", numbers)


def contact_factor() -> Evidence:
    """(56), (57): energy c K s^(5/2) with c = 5/2 and 2/5 against the printed force."""
    s, k, reach = 0.3, 2100.0, 0.7
    force = k/reach*s**1.5
    numbers = {name: (c*k*((s + NEAR)**2.5 - (s - NEAR)**2.5)/(2.0*NEAR))/reach/force
               for name, c in (("printed", 2.5), ("right", 0.4))}
    return Evidence(abs(numbers["right"] - 1.0) <= 1e-6 and abs(numbers["printed"] - 6.25) <= 1e-4,
                    "the slope of (56) is {printed:.4g} times the force (57) with the factor 5/2, {right:.7f} times"
                    " with 2/5", numbers)


def frames_of_momenta() -> Evidence:
    """(32), (34): the moments of the printed shear energy, summed in the inertial frame and in the bodies' frames."""
    one, two, *places = pair(5)
    first, second, _ = loads(printed_shear, (one, two, *places))
    numbers = {"inertial": size(first + second), "body": size(one.T @ first + two.T @ second)}
    return Evidence(numbers["inertial"] <= 1e-8 and numbers["body"] >= 1e-2,
                    "the moments on two bodies add up to {inertial:.1g} in the inertial frame, to {body:.2g} in the"
                    " frames of the bodies", numbers)


def invariances() -> Evidence:
    """(33), (53): the printed shear energy under R -> QR in place and under a turn of everything; its moments."""
    state, turn = pair(6), random_turns(1, 7)[0]
    one, two, x1, x2 = state
    base = printed_shear(*state)
    first, second, force = loads(printed_shear, state)
    numbers = {"place": abs(printed_shear(turn @ one, turn @ two, x1, x2) - base),
               "whole": abs(printed_shear(turn @ one, turn @ two, turn @ x1, turn @ x2) - base),
               "spin": size(first + second), "total": size(first + second + np.cross(x1 - x2, force))}
    return Evidence(numbers["place"] <= ROUND_OFF and numbers["whole"] >= 1e-3 and numbers["spin"] <= 1e-8
                    and numbers["total"] >= 1e-3,
                    "random pair: (53) changes by {place:.1g} when the bodies turn in place, by {whole:.2g} when"
                    " everything turns; its moments add up to {spin:.1g}, with x x F to {total:.2g}", numbers)


def orientation() -> Evidence:
    """(53) when the two particles change their names, which turns d0 and d round."""
    one, two, x1, x2 = pair(8)
    numbers = {name: abs(energy(two, one, x2, x1, -REST) - energy(one, two, x1, x2))
               for name, energy in (("printed", printed_shear), ("mean", mean_shear))}
    return Evidence(numbers["printed"] >= 1e-3 and numbers["mean"] <= ROUND_OFF,
                    "random pair: with the names exchanged (53) changes by {printed:.2g}, the energy with the mean of"
                    " both axes by {mean:.1g}", numbers)


def opposite_moments() -> Evidence:
    """(55): tau_1 = -tau_2 for the printed energy, not for a frame-indifferent one, where x x F balances."""
    state = pair(9)
    one, two, _ = loads(printed_shear, state)
    left, right, force = loads(mean_shear, state)
    balance = left + right + np.cross(state[2] - state[3], force)
    numbers = {"printed": size(one + two), "mean": size(left + right), "balance": size(balance)}
    return Evidence(numbers["printed"] <= 1e-8 and numbers["mean"] >= 1e-3 and numbers["balance"] <= 1e-8,
                    "moments on both bodies add up to {printed:.1g} for (53), to {mean:.2g} for the frame-indifferent"
                    " energy, to {balance:.1g} with x x F", numbers)


def trace_slopes() -> Evidence:
    """(49): R_1 and -R_2 R_1^T R_2 act alike on tangents of the second attitude."""
    one, two = random_turns(2, 10)
    tangent = two @ hat(np.array([0.2, -0.9, 0.4]))
    numbers = {"first": float(np.sum(one*tangent)), "second": float(np.sum(-(two @ one.T @ two)*tangent))}
    numbers["gap"] = abs(numbers["first"] - numbers["second"])
    return Evidence(numbers["gap"] <= ROUND_OFF and abs(numbers["first"]) >= 1e-3,
                    "along a random tangent both give {first:.4g}, {gap:.1g} apart", numbers)


STEP, NUDGE, SHORT = 0.1, 1e-3, 0.0125
QUARTER = 2.0  # h|w| of a turn by pi/2 of (25)
DISSIPATES = ("campello", {"phi": 0.5})
VARIATIONAL: Mapping[str, tuple[str, dict[str, Any]]] = {
    "(23)": ("rodrigues drift=exact", {}), "(25)": ("rodrigues", {}), "exponential": ("rodrigues drift=exp", {}),
    "(27)": ("rodrigues kick=whole", {}), "(30)": ("rodrigues kick=whole", {"drift": "exact"}), "LGVI": ("lgvi", {}),
    "five turns": ("dlm", {})}
FIRST_ORDER = ("(27)", "(30)")


def map_of(name: str, options: Mapping[str, Any], problem_name: str = "heavy_top", **setting: Any
           ) -> tuple[Callable, np.ndarray]:
    """(map of rows (4, 3) by a step, start) of an integrator, on the printed pendulum if nothing else is said; the
    momentum after a step that failed is NaN."""
    facts, start = sheet(problem_name), start_of(problem_name, **setting or {"preset": "rodrigues2021"})
    found = formulate(facts, start.parameters, start.initial, "rigid_bodies", {})
    declared, problem = method(name), plain(found.problem)
    component = plain(declared.build(complete_options(declared, facts, start.parameters, options), None, 1.0))

    def step(y: np.ndarray, h: float = STEP, steps: int = 1) -> np.ndarray:
        y = y.copy()
        work = component.workspace(problem, y)
        status = component.start(problem, 0.0, y, h, work)
        for _ in range(steps):
            status = component.step(problem, 0.0, y, h, work) if status == Status.OK else status
        y[3] = y[3] if status == Status.OK else np.nan
        return y

    return step, found.start


def _moved(y: np.ndarray, tangent: np.ndarray, s: float) -> np.ndarray:
    """Rows displaced by s times a spatial turn and a change of the angular momentum, (2, 3)."""
    turn = rotation(s*tangent[0])
    return np.concatenate([y[:3] @ turn.T, y[3:] + s*tangent[1]])


def _form(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """Symplectic form of T*SO(3) at the angular momentum y[3], spatial."""
    return float(a[0] @ b[1] - b[0] @ a[1] - y[3] @ np.cross(a[0], b[0]))


def _pushed(step: Callable, y: np.ndarray, new: np.ndarray, tangent: np.ndarray) -> np.ndarray:
    """A tangent at the end of a step, by differences of fourth order."""
    found = np.zeros((2, 3))
    for weight, k in ((8.0, 1), (-8.0, -1), (-1.0, 2), (1.0, -2)):
        z = step(_moved(y, tangent, k*NUDGE))
        turn = z[:3].T @ new[:3]
        found += weight*np.stack([vee(0.5*(turn - turn.T)), z[3] - new[3]])
    return found/(12.0*NUDGE)


def defect(name: str, options: Mapping[str, Any]) -> float:
    """Largest change of the symplectic form in a step, over all pairs of a basis of tangents."""
    step, start = map_of(name, options)
    y = step(start, 0.1, 7)
    new, basis = step(y), list(np.eye(6).reshape(6, 2, 3))
    images = [_pushed(step, y, new, tangent) for tangent in basis]
    return max(abs(_form(new, images[i], images[j]) - _form(y, basis[i], basis[j])) for i in range(6) for j in range(i))


def symplectic() -> Evidence:
    """Defects of the symplectic form of every variational map, and of Campello's with phi = 1/2."""
    numbers = {"worst": max(defect(*entry) for entry in VARIATIONAL.values()), "other": defect(*DISSIPATES)}
    return Evidence(numbers["worst"] <= 1e-9 and numbers["other"] >= 1e-5,
                    f"one step of h = {STEP}: the form changes by at most {{worst:.1g}} (differences) for"
                    f" {', '.join(VARIATIONAL)}; by {{other:.2g}} for (26) with phi = 1/2", numbers)


def symmetric() -> Evidence:
    """Every map of second order forward and back; those of first order do not return."""
    gaps = {}
    for name, entry in VARIATIONAL.items():
        step, y = map_of(*entry)
        gaps[name] = float(np.abs(step(step(y, STEP, 5), -STEP, 5) - y).max())
    numbers = {"second": max(gap for name, gap in gaps.items() if name not in FIRST_ORDER),
               "first": min(gaps[name] for name in FIRST_ORDER)}
    return Evidence(numbers["second"] <= 1e-13 and numbers["first"] >= 1e-3,
                    "5 steps forth and back return to {second:.1g} for (23), (25), the exponential drift, the LGVI and"
                    " the five turns; (27) and (30) miss the start by {first:.2g}", numbers)


def euler_symmetric() -> Evidence:
    """The statement that every map of a discrete Lagrangian is symmetric, for (27) and (30): refuted."""
    found = symmetric()
    return Evidence(found.numbers["first"] <= 1e-13, "5 steps of (27) and (30) forth and back miss the start by"
                    " {first:.2g}", found.numbers)


class Tally:
    """Counts operations and calls of trigonometric functions of plain Python code."""

    def __init__(self) -> None:
        self.operations, self.trigonometric, self.roots = [0], [0], [0]

    def number(self, value: float) -> Counted:
        return Counted(value, self.operations)

    def functions(self) -> Functions:
        def counted(function: Callable[[float], float], tally: list[int]) -> Callable[[Any], Any]:
            def call(x: Any) -> Any:
                tally[0] += 1
                return Counted(function(float(x)), self.operations)
            return call

        return Functions(sqrt=counted(math.sqrt, self.roots), sin=counted(math.sin, self.trigonometric),
                         cos=counted(math.cos, self.trigonometric))


def of_increment(rule: int, angle: float) -> Tally:
    """Operations of the two coefficients of a drift by a rule, for a turn of about `angle`."""
    tally = Tally()
    part = Increment(rule, 1.0)
    h, w = tally.number(0.5), (tally.number(0.0), tally.number(0.6*angle/0.5), tally.number(0.8*angle/0.5))
    plain_component(part, tally.functions()).turn(h, w)
    return tally


class Increment(NamedTuple):
    """A drift's rule as a component."""

    rule: int
    unused: float

    def turn(self, h: float, w: Vector) -> tuple[float, float]:
        return increment(self.rule, h, w)


def no_trigonometry() -> Evidence:
    """The drifts of (23) and (25) call no trigonometric function, whatever the angle; the exponential one does."""
    small, large = ({rule: of_increment(rule, angle) for rule in (EXACT, NEWMARK, EXPONENTIAL)} for angle in (0.1, 0.9))
    numbers = {"printed": max(part[rule].trigonometric[0] for part in (small, large) for rule in (EXACT, NEWMARK)),
               "exponential": large[EXPONENTIAL].trigonometric[0], "root": large[EXACT].roots[0]}
    return Evidence(numbers["printed"] == 0 and numbers["exponential"] > 0,
                    "calls of sine and cosine in a drift: {printed} for (23), which takes {root} square root, and (25);"
                    " {exponential} for the exponential at large angles", numbers)


def overhead() -> Evidence:
    """Operations of the coefficients of a drift: the exponential, by series or by sine and cosine, over (25)."""
    counts = {rule: of_increment(rule, 0.1).operations[0] for rule in (EXACT, NEWMARK, EXPONENTIAL)}
    numbers = {"newmark": counts[NEWMARK], "exact": counts[EXACT], "series": counts[EXPONENTIAL],
               "ratio": counts[EXPONENTIAL]/counts[NEWMARK]}
    return Evidence(numbers["ratio"] >= 1.5,
                    "operations for the two coefficients of a turn: {newmark} for (25), {exact} for (23), {series} for"
                    " the exponential by series ({ratio:.1f} times); the rest of a step is the same", numbers)


def quaternion_form() -> Evidence:
    """(25) as q <- (1, h w/2) q divided by its length, against R(h w): no trigonometric function, one square root."""
    w, h = np.array([0.3, -1.1, 0.8]), 0.7
    tally, q = Tally(), np.array([0.5, -0.5, 0.1, 0.7])
    root = tally.functions().sqrt
    u = [tally.number(float(0.5*h*x)) for x in w]
    a, b, c, d = (tally.number(float(x)) for x in q)
    moved = [a - (u[0]*b + u[1]*c + u[2]*d), b + (u[0]*a + u[1]*d - u[2]*c), c + (u[1]*a + u[2]*b - u[0]*d),
             d + (u[2]*a + u[0]*c - u[1]*b)]
    length = root(moved[0]*moved[0] + moved[1]*moved[1] + moved[2]*moved[2] + moved[3]*moved[3])
    new = np.array([float(part/length) for part in moved])
    numbers = {"gap": float(np.abs(matrix(new) - rotation(h*w) @ matrix(q)).max()), "roots": tally.roots[0],
               "trigonometric": tally.trigonometric[0], "operations": tally.operations[0]}
    return Evidence(numbers["gap"] <= 1e-15 and numbers["trigonometric"] == 0,
                    "q <- normalise(q + h/2 (0, w) q) is the drift of (25) to {gap:.1g}, with {operations} operations,"
                    " {roots} square root and {trigonometric} sines or cosines", numbers)


def matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrix of a quaternion of any length, scalar part first."""
    w, v = q[0], q[1:]
    return ((w*w - v @ v)*np.eye(3) + 2.0*np.outer(v, v) + 2.0*w*hat(v))/(q @ q)


def chart_limits() -> Evidence:
    """A turn by pi/2 in each step of (25): alpha ends at pi, modified parameters at 2 pi; the matrix goes on."""
    numbers = {}
    for chart in ("alpha", "modified", "none"):
        step, start = map_of("rodrigues", {"chart": chart}, "free_rigid_body", preset="asymmetric",
                             parameters={"inertia": [1.0, 1.0, 1.0]},
                             initial={"attitude": np.eye(3), "angular_momentum": [0.0, 0.0, QUARTER]})
        numbers[chart] = sum(bool(np.isfinite(step(start, 1.0, steps)).all()) for steps in range(1, 7))
    return Evidence((numbers["alpha"], numbers["modified"], numbers["none"]) == (1, 3, 6),
                    "steps of pi/2 that complete: {alpha} with alpha, whose next one would end at pi, {modified} with"
                    " modified parameters, whose next one would end at 2 pi, all {none} with the matrix", numbers)


def implicit_equation() -> Evidence:
    """Residual of the equation h hat(P) = F J_d - J_d F^T of Lee, Leok and McClamroch for F of the closed form (23),
    relative to h P: for three equal moments, as the paper's bodies have them, and for three different ones."""
    momentum, numbers = np.array([0.03, -0.05, 0.02]), {}
    for name, moments in (("equal", np.array([0.7, 0.7, 0.7])), ("different", np.array([0.9, 0.7, 0.5]))):
        dyadic, skew = np.diag(0.5*moments.sum() - moments), hat(momentum/moments)
        s, c = increment(EXACT, 1.0, tuple(momentum/moments))
        turn = np.eye(3) + s*skew + c*skew @ skew
        gap = vee(turn @ dyadic - dyadic @ turn.T) - momentum
        numbers[name] = float(np.linalg.norm(gap)/np.linalg.norm(momentum))
    return Evidence(min(numbers.values()) >= 1e-12, "the closed form (23) leaves of the implicit equation {equal:.1g}"
                    " for three equal moments, {different:.1g} for three different ones: only these require its"
                    " solution", numbers)


def newton_updates() -> Evidence:
    """Largest error of the vector of a turn after one and after two updates of Newton's method, as the LGVI makes them,
    along 800 steps of the pendulum; the truth is (23)."""
    step, y = map_of("lgvi", {})
    errors = []
    for _ in range(800):
        y = step(y, SHORT)
        momentum = SHORT*y[3]  # of equal moments of one: the same in the body
        length = float(np.linalg.norm(momentum))
        exact = momentum/length*2.0*math.tan(0.5*math.asin(length))
        turns = (discrete_turn(DiscreteTurn(0.0, updates), (1.0, 1.0, 1.0), tuple(momentum), new_counters())[1]
                 for updates in (1, 2))
        errors.append([float(np.linalg.norm(turn - exact))/length for turn in turns])
    one, two = np.max(errors, axis=0)
    numbers = {"one": float(one), "two": float(two), "tolerance": method("lgvi").options["tolerance"].default}
    return Evidence(one > numbers["tolerance"] >= two, "after one update of Newton's method the turn of a step is off"
                    " by {one:.1g} of itself, after two by {two:.1g}; the tolerance is {tolerance:.1g}", numbers)
