"""Evidence on statements of liegroup2021 about formulas, which no run of a study shows."""
import numpy as np

from liestep.claims.errata import Evidence
from liestep.geometry import se3
from liestep.study.tables.vectors import hat

ANGLES = (1e-6, 1e-2, 0.5, 2.0, 3.0, 5.5)  # of the rotation A


def _ad(a: np.ndarray) -> np.ndarray:
    """ad of (A, a) on R^6: (B, b) -> (A x B, A x b + a x B)."""
    zero = np.zeros((3, 3))
    return np.block([[hat(a[:3]), zero], [hat(a[3:]), hat(a[:3])]])


def _dexp(a: np.ndarray) -> np.ndarray:
    """dexp = sum_k ad^k/(k + 1)! as a matrix, by its series."""
    total, term, ad = np.eye(6), np.eye(6), _ad(a)
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
