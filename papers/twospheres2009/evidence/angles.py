"""Evidence of twospheres2009 on two angles for each body, q = (sin a cos b, sin a sin b, cos a), what the paper sets
itself against (sections 1, 2 and 3.4): singular at both poles q = +-e3, ill-conditioned near them, less compact. Their
equations are Lagrange's, with the accelerations of eqs. (9)-(11) turned into the frame of the angles."""
from typing import Any

import numpy as np

from liestep.paper import Evidence, sheet, simulate

CHAIN = "spherical_pendulum_chain"
SIDEWAYS = (0.3, 0.1, 0.03, 0.01)  # speed across the plane of the swing
SWING_STEP, SWING_END = 0.01, 6.0
NUMBERS = range(1, 11)
PENDULUM = {"mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, 1.0]}


def frame(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, dq/da and (dq/db)/sin a of angles (n,)."""
    s, c, u, v = np.sin(a), np.cos(a), np.sin(b), np.cos(b)
    return (np.stack([s*v, s*u, c], axis=1), np.stack([c*v, c*u, -s], axis=1), np.stack([-u, v, 0.0*s], axis=1))


def start_of_angles(q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Rows a, b, da/dt, db/dt (4, n) of directions and angular velocities (n, 3); not finite at a pole."""
    a, b = np.arctan2(np.hypot(q[:, 0], q[:, 1]), q[:, 2]), np.arctan2(q[:, 1], q[:, 0])
    _, down, along = frame(a, b)
    velocity = np.cross(omega, q)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack([a, b, np.sum(velocity*down, axis=1), np.sum(velocity*along, axis=1)/np.sin(a)])


class Chain:
    """Masses (n, n) in kg m2 and the constant gradient (n, 3) in J of a chain of spherical pendula."""

    def __init__(self, mass: Any, length: Any, gravity: Any):
        at, below = np.arange(len(mass)), np.cumsum(np.array(mass)[::-1])[::-1]
        self.matrix = np.outer(length, length)*below[np.maximum(at[:, None], at)]
        self.gradient = -(below*np.array(length))[:, None]*np.array(gravity)

    def rates(self, y: np.ndarray) -> np.ndarray:
        """dy/dt of rows a, b, da/dt, db/dt."""
        a, b, polar, around = y
        q, down, along = frame(a, b)
        omega = polar[:, None]*along - (around*np.sin(a))[:, None]*down
        size, other = np.sum(omega*omega, axis=1), self.matrix - np.diag(np.diag(self.matrix))
        right = np.cross(q, other @ (size[:, None]*q) - self.gradient)
        hats = np.cross(np.eye(3), q[:, None]).swapaxes(1, 2)
        blocks = -self.matrix[:, :, None, None]*np.einsum("iab,jbc->ijac", hats, hats)
        for i in range(len(q)):
            blocks[i, i] = self.matrix[i, i]*np.eye(3)
        turn = np.linalg.solve(blocks.swapaxes(1, 2).reshape(3*len(q), -1), right.ravel()).reshape(-1, 3)
        push = np.cross(turn, q)
        return np.stack([polar, around, np.sum(push*down, axis=1) + np.sin(a)*np.cos(a)*around**2,
                         (np.sum(push*along, axis=1) - 2.0*np.cos(a)*polar*around)/np.sin(a)])

    def motion(self, q: np.ndarray, omega: np.ndarray, h: float, steps: int, every: int) -> np.ndarray:
        """Directions (1 + steps/every, n, 3) by classical Runge-Kutta in the angles."""
        y = start_of_angles(q, omega)
        found = [q]
        for k in range(1, steps + 1):
            k1 = self.rates(y)
            k2 = self.rates(y + 0.5*h*k1)
            k3 = self.rates(y + 0.5*h*k2)
            y = y + h/6.0*(k1 + 2.0*k2 + 2.0*k3 + self.rates(y + h*k3))
            if k % every == 0:
                found.append(frame(y[0], y[1])[0])
        return np.array(found)


def _swing(sideways: float, form: str) -> np.ndarray:
    """q of a pendulum of 1 m in gravity 1 that swings past the pole e3, its lowest point."""
    q, velocity = np.array([[np.sin(1.0), 0.0, np.cos(1.0)]]), np.array([[0.0, sideways, 0.0]])
    omega, steps = np.cross(q, velocity), round(SWING_END/SWING_STEP)
    if form == "angles":
        return Chain(**PENDULUM).motion(q, omega, SWING_STEP, steps, steps//60)
    setting: dict[str, Any] = {"step": SWING_STEP} if form == "omega" else {"tolerance": 1e-12,
                                                                           "options": {"atol": 1e-13}}
    return simulate(CHAIN, "rk4" if form == "omega" else "dop853", preset="paper_scaled", t_end=SWING_END, samples=61,
                    parameters=PENDULUM, initial={"q": q, "omega": omega}, **setting)["q"].values


def polar_distance() -> Evidence:
    """Error of classical Runge-Kutta in angles and in (q, omega) against how near the motion comes to the pole; and
    whether the paper's own example 1, whose second body starts there, can start in angles."""
    numbers: dict[str, float] = {}
    for k, sideways in enumerate(SIDEWAYS):
        exact = _swing(sideways, "exact")
        numbers[f"distance{k}"] = float(np.hypot(exact[..., 0], exact[..., 1]).min())
        for form in ("omega", "angles"):
            error = float(np.abs(_swing(sideways, form) - exact).max())
            numbers[f"{form}{k}"] = error if np.isfinite(error) else np.inf
    preset = sheet(CHAIN).presets["paper_scaled"]
    start = preset.initial(preset.parameters)
    numbers["starts"] = float(np.isfinite(start_of_angles(start["q"], start["omega"])).all())
    worse = numbers["angles3"]/numbers["angles0"]
    same = numbers["omega3"]/numbers["omega0"]
    return Evidence(worse >= 100.0 and 1/3 <= same <= 3.0 and not numbers["starts"],
                    "polar distances {distance0:.2g}, {distance1:.2g}, {distance2:.2g}, {distance3:.2g}: error"
                    " in angles {angles0:.2g}, {angles1:.2g}, {angles2:.2g}, {angles3:.2g}, in (q, omega) {omega0:.2g},"
                    " {omega1:.2g}, {omega2:.2g}, {omega3:.2g}; starts of example 1 in angles: {starts:.0f}", numbers)


def _operations() -> tuple[int, int, int, int]:
    """Operations of Lagrange's equations: of a body and of a pair of bodies, in angles and in eqs. (9)-(11)."""
    import sympy as sp  # type: ignore[import-untyped]

    t, m, mass, g = sp.symbols("t m M g")
    a, b, c, d = (sp.Function(name)(t) for name in "abcd")

    def direction(polar, around):
        return sp.Matrix([sp.sin(polar)*sp.cos(around), sp.sin(polar)*sp.sin(around), sp.cos(polar)])

    one, other = direction(a, b), direction(c, d)

    def count(lagrangian) -> int:
        found = 0
        for angle in (a, b):
            equation = sp.diff(sp.diff(lagrangian, sp.diff(angle, t)), t) - sp.diff(lagrangian, angle)
            found += int(sp.count_ops(sp.trigsimp(sp.expand(equation))))
        return found

    velocity, speed = sp.diff(one, t), sp.diff(other, t)
    alone = count(sp.trigsimp(sp.expand(m*velocity.dot(velocity)/2)) + g*sp.cos(a))
    pair = count(mass*velocity.dot(speed))
    q, p, x, rate = (sp.Matrix(sp.symbols(f"{name}1:4")) for name in "qpxr")
    bodily = sum(int(sp.count_ops(one)) for one in m*rate + q.cross(sp.Matrix([0, 0, g])))
    coupled = sum(int(sp.count_ops(one)) for one in -mass*q.cross(p.cross(rate)) - mass*x.dot(x)*q.cross(p))
    return alone, pair, bodily, coupled


def compactness() -> Evidence:
    """Operations of the written-out equations of n bodies: a part for each body and one for each ordered pair."""
    alone, pair, bodily, coupled = _operations()
    numbers: dict[str, float] = {"alone": alone, "pair": pair, "bodily": bodily, "coupled": coupled}
    for n in NUMBERS:
        numbers[f"ratio{n}"] = (n*alone + n*(n - 1)*pair)/(n*bodily + n*(n - 1)*coupled)
    return Evidence(min(numbers[f"ratio{n}"] for n in NUMBERS if n > 1) >= 2.0,
                    "operations in angles: {alone:.0f} for a body, {pair:.0f} for a pair; in (9)-(11) {bodily:.0f} and"
                    " {coupled:.0f}, three equations instead of two; ratio {ratio1:.2f} for n = 1, {ratio2:.2f} for 2,"
                    " {ratio3:.2f} for 3, {ratio10:.2f} for 10", numbers)


def triple_pendulum() -> Evidence:
    """A triple pendulum in angles, away from the poles: fourth order, and the motion in (q, omega)."""
    q = np.array([[0.36, 0.48, 0.8], [0.6, 0.64, 0.48], [0.48, -0.6, 0.64]])
    omega = np.cross(q, [[0.2, 0.9, 0.5], [0.7, 0.1, 0.6], [0.3, -0.4, 0.8]])
    preset = sheet(CHAIN).presets["chain3"]
    exact = simulate(CHAIN, "dop853", preset="chain3", initial={"q": q, "omega": omega}, t_end=0.5, samples=11,
                     tolerance=1e-12, options={"atol": 1e-13})["q"].values
    numbers: dict[str, float] = {}
    for k, h in enumerate((0.01, 0.005, 0.0025)):
        steps = round(0.5/h)
        found = Chain(**preset.parameters).motion(q, omega, h, steps, steps//10)
        numbers[f"error{k}"] = float(np.abs(found - exact).max())
    order = float(np.log2(numbers["error1"]/numbers["error2"]))
    return Evidence(not (3.5 <= order <= 4.5 and numbers["error2"] <= 1e-6),
                    "0.5 s of three bodies in angles: error {error0:.2g}, {error1:.2g}, {error2:.2g} for h = 0.01 s,"
                    " 0.005 s, 0.0025 s: it can be studied, by a form that is generated for any n", numbers)
