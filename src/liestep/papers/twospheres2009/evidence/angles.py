"""Evidence on what twospheres2009 says of two angles for each body: singular, ill-conditioned, less compact."""
from typing import Any

import numpy as np

from liestep.claims.errata import Evidence
from liestep.compile.status import IntegrationError
from liestep.errors import InputError
from liestep.simulation.runs.simulation import simulate

CHAIN = "spherical_pendulum_chain"
SIDEWAYS = (0.3, 0.1, 0.03, 0.01)  # speed across the plane of the swing
STEP, END = 0.01, 6.0
BODIES = range(1, 11)


def _swing(sideways: float, form: str, *, exact: bool = False) -> np.ndarray:
    """q of a pendulum of 1 m in gravity 1 that swings past the pole e3, its lowest point."""
    q, velocity = np.array([np.sin(1.0), 0.0, np.cos(1.0)]), np.array([0.0, sideways, 0.0])
    setting: dict[str, Any] = {"tolerance": 1e-12} if exact else {"step": STEP}
    options = {"atol": 1e-13} if exact else {"form": form}
    return simulate(CHAIN, "dop853" if exact else "rk4", preset="paper_scaled", t_end=END, samples=61, options=options,
                    parameters={"mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, 1.0]},
                    initial={"q": [q], "omega": [np.cross(q, velocity)]}, **setting)["q"].values


def polar_distance() -> Evidence:
    """Error of classical Runge-Kutta in angles and in (q, omega) against how near the motion comes to the pole; and
    whether the paper's own example 1, whose second body starts there, can start in angles."""
    numbers: dict[str, float] = {}
    for k, sideways in enumerate(SIDEWAYS):
        exact = _swing(sideways, "omega", exact=True)
        numbers[f"distance{k}"] = float(np.hypot(exact[..., 0], exact[..., 1]).min())
        for form in ("omega", "angles"):
            try:
                numbers[f"{form}{k}"] = float(np.abs(_swing(sideways, form) - exact).max())
            except IntegrationError:
                numbers[f"{form}{k}"] = np.inf
    try:
        simulate(CHAIN, "rk4", preset="paper_scaled", step=STEP, t_end=1.0, options={"form": "angles"})
        numbers["starts"] = 1.0
    except InputError:
        numbers["starts"] = 0.0
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
    for n in BODIES:
        numbers[f"ratio{n}"] = (n*alone + n*(n - 1)*pair)/(n*bodily + n*(n - 1)*coupled)
    return Evidence(min(numbers[f"ratio{n}"] for n in BODIES if n > 1) >= 2.0,
                    "operations in angles: {alone:.0f} for a body, {pair:.0f} for a pair; in (9)-(11) {bodily:.0f} and"
                    " {coupled:.0f}, three equations instead of two; ratio {ratio1:.2f} for n = 1, {ratio2:.2f} for 2,"
                    " {ratio3:.2f} for 3, {ratio10:.2f} for 10", numbers)


def triple_pendulum() -> Evidence:
    """A triple pendulum in angles, away from the poles: fourth order, and the motion in (q, omega)."""
    q = np.array([[0.36, 0.48, 0.8], [0.6, 0.64, 0.48], [0.48, -0.6, 0.64]])
    omega = np.cross(q, [[0.2, 0.9, 0.5], [0.7, 0.1, 0.6], [0.3, -0.4, 0.8]])
    setting: dict[str, Any] = {"preset": "chain3", "initial": {"q": q, "omega": omega}, "t_end": 0.5, "samples": 11}
    exact = simulate(CHAIN, "dop853", tolerance=1e-12, options={"atol": 1e-13}, **setting)["q"].values
    numbers: dict[str, float] = {}
    for k, h in enumerate((0.01, 0.005, 0.0025)):
        found = simulate(CHAIN, "rk4", step=h, options={"form": "angles"}, **setting)["q"].values
        numbers[f"error{k}"] = float(np.abs(found - exact).max())
    order = float(np.log2(numbers["error1"]/numbers["error2"]))
    return Evidence(not (3.5 <= order <= 4.5 and numbers["error2"] <= 1e-6),
                    "0.5 s of three bodies in angles: error {error0:.2g}, {error1:.2g}, {error2:.2g} for h = 0.01 s,"
                    " 0.005 s, 0.0025 s: it can be studied, by a form that is generated for any n", numbers)
