"""Evidence on example 4 of twospheres2009: direction, inertia and potential of the elastic rod."""
from typing import Any

import numpy as np

from liestep.claims.errata import Evidence
from liestep.simulation.catalogue import sheet


def rod_sheet(**changes: Any) -> Any:
    """Fact sheet of the rod and its checked parameters as printed."""
    facts = sheet("elastic_rod")
    return facts, facts.check({**facts.presets["paper"].parameters, **changes})


def horizontal_rod() -> Evidence:
    """Angle between the rod at the start and gravity."""
    facts, parameters = rod_sheet()
    gravity = parameters["gravity"]
    corrected, printed = (float(np.degrees(np.arctan2(np.linalg.norm(np.cross(gravity, q)), np.dot(gravity, q))))
                          for q in (facts.presets["paper"].initial(parameters)["q"][0], (0.0, 0.0, 1.0)))
    return Evidence(abs(corrected - 90.0) <= 1e-9 and abs(printed - 90.0) >= 1.0,
                    "angle between gravity and the rod, said to be horizontal: {corrected:g} degrees with [1,0,0],"
                    " {printed:g} as printed", {"corrected": corrected, "printed": printed})


def rod_energy(mass: np.ndarray, length: np.ndarray, rates: np.ndarray) -> float:
    """Kinetic energy of joined uniform rods with dq_i/dt = rates[i], by Gauss quadrature (exact)."""
    nodes, weights = np.polynomial.legendre.leggauss(3)
    total, joint = 0.0, np.zeros(3)
    for m, extent, rate in zip(mass, length, rates, strict=True):
        speed = joint + 0.5*(nodes[:, None] + 1.0)*extent*rate
        total += 0.25*m*float(np.dot(weights, np.sum(speed*speed, axis=1)))
        joint = joint + extent*rate
    return total


def rod_matrix(mass: np.ndarray, length: np.ndarray, *, diagonal: str, coupling: str) -> np.ndarray:
    """Inertia matrix before eq. (36), diagonal and coupling each "printed" or "corrected"."""
    n = len(mass)
    matrix = np.zeros((n, n))
    for i in range(n):
        outer = mass[i]*(n - 1 - i) if diagonal == "printed" else mass[i + 1:].sum()
        matrix[i, i] = (mass[i]/3.0 + outer)*length[i]**2
        for j in range(i):  # max(i, j) = i
            if coupling == "printed":
                value = 0.5*np.sum(mass[i:]*length[i:]**2)
            else:
                value = (0.5*mass[i] + mass[i + 1:].sum())*length[i]*length[j]
            matrix[i, j] = matrix[j, i] = value
    return matrix


def matrix_energy(matrix: np.ndarray, rates: np.ndarray) -> float:
    return 0.5*float(np.sum(rates*(matrix @ rates)))


def decides(numbers: dict[str, float]) -> bool:
    """The corrected number is the exact one, the printed one is more than 1 % off."""
    return (abs(numbers["corrected"]/numbers["exact"] - 1.0) <= 1e-12
            and abs(numbers["printed"]/numbers["exact"] - 1.0) >= 0.01)


def rod_diagonal() -> Evidence:
    """M_ii: six unequal rods of which only one turns, and the same with equal masses."""
    random = np.random.default_rng(7)
    mass, length, rates = random.uniform(0.5, 1.5, 6), random.uniform(0.5, 1.5, 6), np.zeros((6, 3))
    rates[1] = random.standard_normal(3)
    numbers = {"exact": rod_energy(mass, length, rates)}
    equal = {}
    for form in ("corrected", "printed"):
        numbers[form] = matrix_energy(rod_matrix(mass, length, diagonal=form, coupling="corrected"), rates)
        equal[form] = matrix_energy(rod_matrix(np.ones(6), length, diagonal=form, coupling="corrected"), rates)
    numbers["equal"] = abs(equal["printed"]/equal["corrected"] - 1.0)
    return Evidence(decides(numbers) and numbers["equal"] <= 1e-12,
                    "kinetic energy of unequal uniform rods of which one turns: quadrature {exact:.6g} J, corrected"
                    " {corrected:.6g} J, printed {printed:.6g} J; equal masses: relative difference {equal:.0e}",
                    numbers)


def rod_coupling() -> Evidence:
    """M_ij against ten uniform rods with the data of example 4; the system must offer both inertias."""
    facts, parameters = rod_sheet()
    n = parameters["elements"]
    mass, length = (np.full(n, parameters[name]/(n + 1)) for name in ("mass", "length"))
    rates = np.random.default_rng(36).standard_normal((n, 3))
    numbers = {"exact": rod_energy(mass, length, rates)}
    offered = True
    for form, inertia in (("corrected", "consistent"), ("printed", "printed")):
        matrix = rod_matrix(mass, length, diagonal="corrected", coupling=form)
        numbers[form] = matrix_energy(matrix, rates)
        offered = offered and np.allclose(matrix, facts.mass(rod_sheet(inertia=inertia)[1]), rtol=1e-12, atol=0.0)
    return Evidence(decides(numbers) and offered,
                    "kinetic energy of ten uniform rods with random velocities: quadrature {exact:.6g} J, corrected"
                    " {corrected:.6g} J, printed {printed:.6g} J", numbers)


def rod_equation() -> Evidence:
    """The coefficient of the first coupling in eq. (36) against the correct M_12."""
    _, parameters = rod_sheet()
    n = parameters["elements"]
    unit = parameters["mass"]*parameters["length"]**2
    mass, length = (np.full(n, parameters[name]/(n + 1)) for name in ("mass", "length"))
    rates = np.zeros((n, 3))
    energies = []
    for pattern in ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0)):
        rates[:2, 0] = pattern
        energies.append(rod_energy(mass, length, rates))
    numbers = {"exact": energies[0] - energies[1] - energies[2], "corrected": (n - 1.5)/(n + 1)**3*unit,
               "printed": (n - 1)/(2*(n + 1)**3)*unit}
    return Evidence(decides(numbers), "coupling of the first two of ten rods: quadrature {exact:.6g} kg m2, corrected"
                    " {corrected:.6g} kg m2, printed {printed:.6g} kg m2", numbers)


def spring_sum() -> Evidence:
    """Joints that resist bending when the sum covers the spring term, and when that stands once with i = n."""
    facts, parameters = rod_sheet(gravity=[0.0, 0.0, 0.0])
    n, straight = parameters["elements"], parameters["clamp"]
    bent = np.array([np.cos(0.1), np.sin(0.1), 0.0])
    corrected = printed = 0
    for joint in range(n):
        q = np.array([straight]*joint + [bent]*(n - joint))
        corrected += facts.build(parameters).potential(q) > 0.0
        printed += 0.5*parameters["stiffness"]*(1.0 - np.dot(q[-2], q[-1]))**2 > 0.0
    return Evidence(corrected == n and printed < n,
                    "joints of the straight rod that resist a bend of 0.1 rad: {corrected:d} of {joints:d} with the sum"
                    " over both terms, {printed:d} with a single spring term",
                    {"corrected": int(corrected), "printed": int(printed), "joints": n})
