"""Evidence on the bonds and contacts of rodrigues2021, eqs. (44) to (57), from random data with fixed seeds."""
from collections.abc import Callable

import numpy as np

from liestep.claims.errata import Evidence
from liestep.papers.rodrigues2021.evidence.discrete import ROUND_OFF, random_turns, rotation, vee
from liestep.study.tables.vectors import hat, size

STEP = 1e-4
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
    return np.array([(8.0*(f(STEP*e) - f(-STEP*e)) - (f(2.0*STEP*e) - f(-2.0*STEP*e)))/(12.0*STEP) for e in np.eye(3)])


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
    slopes = {name: (c*k*((s + STEP)**2.5 - (s - STEP)**2.5)/(2.0*STEP))/reach for name, c in (("five", 2.5),
                                                                                            ("two", 0.4))}
    numbers = {"printed": slopes["five"]/force, "right": slopes["two"]/force}
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
