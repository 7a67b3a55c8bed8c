"""Evidence on the data of examples 1, 2, 3 and 6 of twospheres2009, mostly from runs of a few
seconds of simulated time."""
from itertools import permutations
from typing import Any

import numpy as np

from liestep.claims.errata import Evidence
from liestep.geometry.icosphere import icosphere
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.simulation import simulate

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
    """Example 1 with the printed l = g = 9.81 and with l = g = 1: ode45 at RelTol 1e-4, AbsTol
    1e-6, outputs every 0.01 s."""
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
    """Distance from the unit sphere of the initial directions printed with four digits, and of the
    roots that round to them."""
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
