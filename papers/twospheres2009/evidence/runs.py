"""Evidence on the data of examples 1, 2, 3 and 6 of twospheres2009, on what it says of many bodies (a rod as a model of
a continuum, macroscopic numbers of molecules), mostly from runs of a few seconds of simulated time."""
from itertools import permutations
from typing import Any

import numpy as np

from liestep.geometry.icosphere import icosphere
from liestep.paper import Evidence, sheet, simulate

# Printed mean energy variations and unit length errors.
PENDULUM_VI, PENDULUM_RK, PENDULUM_LENGTH = 2.1641e-5, 7.8586e-4, 8.8893e-15
BODIES = (1.1717e-4, 1.1986e-6)
SPRINGS = 3.6171e-5
PRINTED_ORDER = (10.0, 20.0, 30.0, 40.0)          # N/m, springs 12, 23, 34, 41
STEP = 0.005                                      # s, example 3; not printed
OTHER_STEPS = (0.02, 0.01, 0.002, 0.001)
DURATION = 30                                     # s, example 3; not printed
DURATIONS = range(1, 201)                         # s, tried


def matches(ours: float, printed: float) -> bool:
    """Equal when rounded to the five printed digits."""
    return f"{ours:.4e}" == f"{printed:.4e}"


def mean_energy_error(problem: str, integrator: str = "vi_sphere", **setting: Any) -> float:
    return float(simulate(problem, integrator, samples=2, **setting).attrs["energy_error_mean"])


def spring_errors(step: float = STEP, **setting: Any) -> np.ndarray:
    """Mean energy variation of example 3 over each of DURATIONS, from one run."""
    last = DURATIONS[-1]
    energy = simulate("spring_pendula", "vi_sphere", step=step, t_end=float(last), samples=round(last/step) + 1,
                      **setting)["energy"].values
    means = np.cumsum(np.abs(energy - energy[0]))/np.arange(1, len(energy) + 1)
    return means[[round(end/step) for end in DURATIONS]]


def hits(errors: np.ndarray) -> list[int]:
    """Durations that give the printed number in all digits."""
    return [end for end, value in zip(DURATIONS, errors, strict=True) if matches(value, SPRINGS)]


def horizontal_springs() -> Evidence:
    """Example 3 with e1 = [1, 0, 0] and with the printed e1 = [0, 0, 1]."""
    corrected, printed = spring_errors(), spring_errors(preset="paper_e1_vertical")
    return Evidence(bool(hits(corrected)) and not hits(printed),
                    "mean energy variation over {duration:d} s at h = {step:g} s: {corrected:.4e} J with [1,0,0],"
                    " {printed:.4e} J as printed, {paper:.4e} in the paper; {tried:d} durations give all digits"
                    " {hits:d} and {misses:d} times",
                    {"duration": DURATION, "step": STEP, "corrected": corrected[DURATION - 1],
                     "printed": printed[DURATION - 1], "paper": SPRINGS, "tried": len(DURATIONS),
                     "hits": len(hits(corrected)), "misses": len(hits(printed))})


def spring_constants() -> Evidence:
    """Example 3 with the four constants in every order on the four springs."""
    found = {order: hits(spring_errors(parameters={"stiffness": list(order)})) for order in permutations(PRINTED_ORDER)}
    own, others = len(found[PRINTED_ORDER]), sum(len(ends) for order, ends in found.items() if order != PRINTED_ORDER)
    return Evidence(own > 0 and others == 0,
                    "{orders:d} orders and {tried:d} durations at h = {step:g} s: {paper:.4e} comes out {own:d} times"
                    " for 12, 23, 34, 41 in printed order, {others:d} times for all others",
                    {"orders": len(found), "tried": len(DURATIONS), "step": STEP, "paper": SPRINGS, "own": own,
                     "others": others})


def spring_duration() -> Evidence:
    """Example 3: steps and durations that give the printed mean energy variation."""
    errors = spring_errors()
    own, others = hits(errors), sum(len(hits(spring_errors(step))) for step in OTHER_STEPS)
    return Evidence(DURATION in own and others == 0,
                    "{error:.5e} J over {duration:d} s at h = {step:g} s, {paper:.4e} in the paper; {tried:d} durations"
                    " give all digits {own:d} times at this step, {others:d} times at {more:d} others",
                    {"error": errors[DURATION - 1], "duration": DURATION, "step": STEP, "paper": SPRINGS,
                     "tried": len(DURATIONS), "own": len(own), "others": others, "more": len(OTHER_STEPS)})


def body_steps() -> Evidence:
    """Example 2 at the printed steps and at five times larger ones."""
    ours = {step: mean_energy_error("sphere_nbody", step=step) for step in (5e-3, 5e-4, 1e-3, 1e-4)}
    corrected = matches(ours[5e-3], BODIES[0]) and matches(ours[5e-4], BODIES[1])
    printed = any(matches(ours[step], value) for step, value in zip((1e-3, 1e-4), BODIES, strict=True))
    return Evidence(corrected and not printed,
                    "mean energy variation {a:.4e} and {b:.4e} J at h = 5e-3 and 5e-4 s, {c:.4e} and {d:.4e} J at the"
                    " printed steps; {e:.4e} and {f:.4e} in the paper",
                    dict(zip("abcdef", (*ours.values(), *BODIES), strict=True)))


def pendulum_units() -> Evidence:
    """Example 1 with l = g = 9.81 and l = g = 1: ode45 at RelTol 1e-4, AbsTol 1e-6, outputs every 0.01 s."""
    numbers = {"paper_vi": PENDULUM_VI, "paper_rk": PENDULUM_RK}
    for preset, name in (("paper", "printed"), ("paper_scaled", "scaled")):
        numbers[f"{name}_vi"] = mean_energy_error("spherical_pendulum_chain", preset=preset, step=0.01)
        numbers[f"{name}_rk"] = mean_energy_error("spherical_pendulum_chain", "ode45", preset=preset, tolerance=1e-4,
                                                  options={"atol": 1e-6, "mass": "dense"}, outputs=10001)
    near = matches(numbers["scaled_rk"], PENDULUM_RK) and abs(numbers["scaled_vi"]/PENDULUM_VI - 1.0) <= 1e-3
    return Evidence(near and numbers["printed_vi"] >= 10.0*PENDULUM_VI and numbers["printed_rk"] >= 10.0*PENDULUM_RK,
                    "variational integrator {scaled_vi:.4e} J for l = 1 m, g = 1 m/s2, {printed_vi:.4e} J for 9.81,"
                    " {paper_vi:.4e} in the paper; ode45 {scaled_rk:.4e}, {printed_rk:.4e}, {paper_rk:.4e}", numbers)


def face_count() -> Evidence:
    """Example 6: an icosahedron subdivided three times has the molecules, four times the faces."""
    (points, coarse), (fine_points, fine) = icosphere(3), icosphere(4)
    inside = bool(np.array_equal(fine_points[:len(points)], points))
    return Evidence(len(points) == 642 and len(coarse) != 5120 and len(fine) == 5120 and inside,
                    "three subdivisions: {points:d} vertices, {coarse:d} faces; four: {fine_points:d} vertices,"
                    " {fine:d} faces",
                    {"points": len(points), "coarse": len(coarse), "fine_points": len(fine_points), "fine": len(fine)})


def rounded_starts() -> Evidence:
    """Distance from the sphere of the directions printed with four digits, and of the roots that round to them."""
    printed = {("spherical_pendulum_chain", 0): (0.8660, 0.0, 0.5), ("spring_pendula", 2): (0.4698, 0.1710, 0.8660),
               ("dipole_array", 15): (0.3536, 0.3536, -0.8660)}
    rounded, exact, same = [], [], True
    for (problem, body), direction in printed.items():
        facts = sheet(problem)
        root = facts.presets["paper"].initial(facts.check(facts.presets["paper"].parameters))["q"][body]
        same = same and np.array_equal(np.round(root, 4), direction)
        rounded.append(abs(1.0 - float(np.dot(direction, direction))))
        exact.append(abs(1.0 - float(np.dot(root, root))))
    return Evidence(same and min(rounded) > 1e6*PENDULUM_LENGTH and max(exact) <= 1e-15,
                    "|1 - q.q| of the printed directions at least {rounded:.1e}, of the roots at most {exact:.0e}; the"
                    " mean unit length error of the paper's example 1 is {paper:.0e}",
                    {"rounded": min(rounded), "exact": max(exact), "paper": PENDULUM_LENGTH})


ELEMENTS = (4, 8, 16, 32)
LENGTH, PRINTED_ELEMENTS, STIFFNESS = 1.1, 10, 1000.0
MEMBERS, SPREAD = 8, 1e-6
MOLECULES_END, MOLECULES_STEP = 40.0, 0.01


def _tips(power: int) -> np.ndarray:
    """Free end at 0.1, 0.2, 0.3 s for each of ELEMENTS; stiffness grows with this power of their number."""
    found = []
    for n in ELEMENTS:
        stiffness = STIFFNESS*((n + 1)/(PRINTED_ELEMENTS + 1))**power
        run = simulate("elastic_rod", "dop853", preset="paper_consistent", tolerance=1e-6, t_end=0.3, samples=4,
                       options={"atol": 1e-8}, parameters={"elements": n, "stiffness": stiffness},
                       initial={"q": [[1.0, 0.0, 0.0]]*n, "omega": [[0.0, 0.0, 0.0]]*n})
        found.append(LENGTH/(n + 1)*(np.array([1.0, 0.0, 0.0]) + run["q"].values[1:].sum(axis=1)))
    return np.array(found)


def element_limit() -> Evidence:
    """A rod that falls from rest, with 4 to 32 elements: whether its tip has a limit, with the printed stiffness of a
    joint, and with one that grows with the cube of the number of elements, which keeps the quartic bending energy of a
    given curve (kappa n (curvature l)^4/8, l = L/n)."""
    numbers: dict[str, float] = {}
    for name, power in (("fixed", 0), ("scaled", 3)):
        tips = _tips(power)
        for k in range(len(ELEMENTS) - 1):
            numbers[f"{name}{k}"] = float(np.linalg.norm(tips[k + 1] - tips[k], axis=-1).max())
    return Evidence(numbers["scaled2"] <= 0.5*numbers["scaled0"],
                    "largest difference of the tip up to 0.3 s between 4, 8, 16 and 32 elements: {fixed0:.2g} m,"
                    " {fixed1:.2g} m, {fixed2:.2g} m with the printed stiffness of each joint, {scaled0:.2g} m,"
                    " {scaled1:.2g} m, {scaled2:.2g} m with one that grows with the cube of their number", numbers)


def macroscopic() -> Evidence:
    """42 molecules from starts that differ by 1e-6: places, and mean temperature (kinetic energy for each degree of
    freedom) and virial (mean of the sum of r dV/dr over the pairs) of the second half of the run."""
    random = np.random.default_rng(6)
    setting: dict[str, Any] = {"preset": "level1", "t_end": MOLECULES_END, "samples": 401}
    start = simulate("lennard_jones_sphere", "vi_sphere", step=MOLECULES_STEP, preset="level1", t_end=MOLECULES_STEP,
                     samples=2)
    q, omega = start["q"].values[0], start["omega"].values[0]
    sigma, epsilon = 0.5187556444911803, 0.01
    places, temperatures, virials = [], [], []
    for method in ("vi_sphere", "rkmk"):
        for _ in range(MEMBERS):
            change = SPREAD*random.standard_normal(omega.shape)
            change -= np.sum(change*q, axis=1, keepdims=True)*q
            run = simulate("lennard_jones_sphere", method, step=MOLECULES_STEP,
                           initial={"q": q, "omega": omega + change}, **setting)
            x, w = run["q"].values, run["omega"].values
            places.append(x[-1])
            half = slice(len(x)//2, None)
            temperatures.append(float(0.5*np.mean(np.sum(w[half]**2, axis=(1, 2)))/(2*len(q))))
            i, j = np.triu_indices(len(q), 1)
            ratio = (sigma/np.linalg.norm(x[half][:, i] - x[half][:, j], axis=-1))**6
            virials.append(float(np.mean(np.sum(24.0*epsilon*(ratio - 2.0*ratio**2), axis=1))))
    spread = np.std(temperatures)/np.mean(temperatures), np.std(virials)/abs(np.mean(virials))
    numbers = {"places": float(np.median([np.abs(a - places[0]).max() for a in places[1:]])),
               "temperature": float(np.mean(temperatures)), "temperature_spread": float(spread[0]),
               "virial": float(np.mean(virials)), "virial_spread": float(spread[1]),
               "methods": abs(float(np.mean(temperatures[:MEMBERS])/np.mean(temperatures[MEMBERS:])) - 1.0)}
    return Evidence(bool(numbers["places"] >= 0.5 and max(spread) <= 0.1 and numbers["methods"] <= 0.1),
                    "16 runs of 40 s, starts 1e-6 rad/s apart, half of them by vi_sphere and half by rkmk: a place"
                    " differs by {places:.2g}; temperature {temperature:.4g} J with a relative spread of"
                    " {temperature_spread:.2g}, virial {virial:.4g} J with {virial_spread:.2g}; the two methods' mean"
                    " temperatures differ by {methods:.2g}", numbers)
