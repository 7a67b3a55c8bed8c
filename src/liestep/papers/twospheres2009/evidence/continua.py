"""Evidence on what twospheres2009 says of many bodies: a rod of elements as a model of a continuum, and macroscopic
numbers of molecules."""
from typing import Any

import numpy as np

from liestep.claims.errata import Evidence
from liestep.simulation.runs.simulation import simulate

ELEMENTS = (4, 8, 16, 32)
LENGTH, PRINTED_ELEMENTS, STIFFNESS = 1.1, 10, 1000.0
MEMBERS, SPREAD = 8, 1e-6
MOLECULES_END, MOLECULES_STEP = 40.0, 0.01


def _tips(power: int) -> np.ndarray:
    """Places of the free end at 0.1, 0.2, 0.3 s for each of ELEMENTS; the stiffness of the joints grows with this power
    of their number from the printed one."""
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
