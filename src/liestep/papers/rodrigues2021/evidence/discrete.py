"""Evidence on the discrete Lagrangian, the map and the pendulum of rodrigues2021, from random data with fixed seeds."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.simulation.runs.simulation import simulate
from liestep.study.tables.vectors import hat, size

ROUND_OFF = 1e-12
E3 = np.array([0.0, 0.0, 1.0])


def rotation(alpha: np.ndarray) -> np.ndarray:
    """R(alpha), eq. (4)."""
    s = hat(alpha)
    return np.eye(3) + 4.0/(4.0 + alpha @ alpha)*(s + 0.5*s @ s)


def vee(matrix: np.ndarray) -> np.ndarray:
    """a of a skew matrix hat(a)."""
    return np.array([matrix[2, 1], matrix[0, 2], matrix[1, 0]])


def random_turns(count: int, seed: int) -> list[np.ndarray]:
    return [rotation(alpha) for alpha in np.random.default_rng(seed).standard_normal((count, 3))]


def verlet(moment, h: float = 1e-3, steps: int = 10_000) -> dict[str, float]:
    """Map (25) of the pendulum with (R) -> spatial moment: largest changes of the energy and of (R rho0).Omega."""
    turn, omega = rotation(2.0*np.tan(3.0*np.pi/8.0)*np.array([0.0, 1.0, 0.0])), 0.2*np.array([1.0, 0.0, 1.0])
    energy, product = [], []
    for _ in range(steps + 1):
        energy.append(0.5*omega @ omega - turn[2, 2])
        product.append(turn @ E3 @ omega)
        middle = omega + 0.5*h*moment(turn)
        turn = rotation(h*middle) @ turn
        omega = middle + 0.5*h*moment(turn)
    return {"energy": float(np.ptp(energy)), "product": float(np.ptp(product))}


def pendulum_moment() -> Evidence:
    """(40) as printed, R rho0 x R^T e3, against R rho0 x e3; and the body moment in the spatial map."""
    right = verlet(lambda r: np.cross(r @ E3, E3))
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
    turn, omega, h = rotation(np.array([0.3, 1.9, -0.4])), np.array([0.2, 0.5, 0.9]), 0.01
    vertical = []
    for _ in range(1000):
        vertical.append(omega[2])
        middle = omega + 0.5*h*np.cross(turn @ E3, E3)
        turn = rotation(h*middle) @ turn
        omega = middle + 0.5*h*np.cross(turn @ E3, E3)
    numbers = {"change": float(np.ptp(vertical)), "other": float(abs(omega[0] - 0.2))}
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


STEP = 0.01  # of figure 5


def diameter() -> Evidence:
    """D_t = 3 and 30 at the step of figure 5, over 1 s."""
    numbers = {}
    for name, preset in (("printed", "as_printed"), ("other", "rescaled")):
        data = simulate("bonded_ring", "rodrigues", preset=preset, step=STEP, t_end=1.0, samples=2, on_failure="return")
        numbers[name] = float(data.attrs["time_reached"])
    numbers["limit"] = 3.0*0.03925981575906861/200.0**0.5  # D sqrt(m/K^a), D = 3 sin(pi/80)
    return Evidence(numbers["printed"] < 0.9 and numbers["other"] >= 0.999 and numbers["limit"] < STEP,
                    "at h = 0.01 the ring with D_t = 3 flies apart after {printed:.2f} s, before it reaches the wall,"
                    " because h is above D sqrt(m/K^a) = {limit:.4f}; with D_t = 30 it completes", numbers)


def asymmetric_map() -> Evidence:
    """Maps (25) and (27) forward and back over 100 steps of the pendulum."""
    numbers = {}
    for name, integrator in (("newmark", "rodrigues"), ("euler", "rodrigues kick=whole")):
        forth = simulate("heavy_top", integrator, preset="rodrigues2021", step=STEP, t_end=1.0, samples=2)
        turned = {"attitude": forth["attitude"].values[-1], "angular_momentum": -forth["angular_momentum"].values[-1]}
        back = simulate("heavy_top", integrator, preset="rodrigues2021", step=STEP, t_end=1.0, samples=2,
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
