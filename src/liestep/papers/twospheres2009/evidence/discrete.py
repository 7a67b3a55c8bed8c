"""Evidence on the discrete equations of twospheres2009: each is evaluated as printed and as corrected on motions that
the variational integrator computes in multiplier form, which uses none of these equations."""
from typing import NamedTuple

import numpy as np

from liestep.claims.errata import Evidence
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.simulation import simulate
from liestep.study.tables.vectors import hat, size

ROUND_OFF = 1e-11  # largest relative residual of an equation that holds


class PendulumStates(NamedTuple):
    """Consecutive states of a chain of pendula, step h; constant mass matrix and gradient of the potential."""

    q: np.ndarray         # (steps + 1, n, 3)
    omega: np.ndarray     # (steps + 1, n, 3)
    mass: np.ndarray      # (n, n)
    gradient: np.ndarray  # (n, 3)
    h: float

    def pull(self, vectors: np.ndarray) -> np.ndarray:
        """sum_j M_ij v_j, shape (..., n, 3)"""
        return np.einsum("ij,...jk->...ik", self.mass, vectors)

    def coupling(self, vectors: np.ndarray) -> np.ndarray:
        """sum_{j!=i} M_ij v_j, shape (..., n, 3)"""
        return np.einsum("ij,...jk->...ik", self.mass - np.diag(np.diag(self.mass)), vectors)


def pendulum_motion(preset: str = "paper_scaled", h: float = 0.01, steps: int = 200) -> PendulumStates:
    problem = "spherical_pendulum_chain"
    facts = sheet(problem)
    parameters = facts.check(facts.presets[preset].parameters)
    data = simulate(problem, "vi_sphere", preset=preset, step=h, t_end=h*steps, samples=steps + 1)
    q, omega = data["q"].values, data["omega"].values
    gradient = np.zeros_like(q[0])
    facts.build(parameters).gradient(q[0], gradient)
    assert facts.mass is not None
    return PendulumStates(q, omega, facts.mass(parameters), gradient, h)


def angular_matrix(mass: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Blocks M_ii I and -M_ij hat(q_i) hat(q_j) of eqs. (11) and (25), (3n, 3n)."""
    n = len(mass)
    return np.block([[mass[i, i]*np.eye(3) if i == j else -mass[i, j]*hat(q[i]) @ hat(q[j]) for j in range(n)]
                     for i in range(n)])


def two_sides(motion: PendulumStates) -> tuple[np.ndarray, np.ndarray]:
    """Left and right side of eq. (18) at all inner states, each (steps - 1, n, 3)."""
    q, h = motion.q, motion.h
    change = np.diff(q, axis=0)
    left = np.cross(q[1:-1], motion.pull(change[1:]))  # q_i x F_i q_i = q_i x (q_{k+1} - q_k)_i
    return left, np.cross(q[1:-1], motion.pull(change[:-1])) - h*h*np.cross(q[1:-1], motion.gradient)


def stray_zero(motion: PendulumStates | None = None) -> Evidence:
    """Eq. (18) along a computed motion: left side = right side, and, as printed, left side = right side = 0. Both
    residuals are relative to the size of the inertial term. Of a pendulum at rest both hold, which decides nothing."""
    motion = motion or pendulum_motion()
    left, right = two_sides(motion)
    scale = size(motion.pull(np.diff(motion.q, axis=0))) or 1.0
    corrected, printed = size(left - right)/scale, max(size(left), size(right))/scale
    return Evidence(corrected <= ROUND_OFF and printed >= 0.1,
                    "{steps:d} steps of the double pendulum, relative to the inertial terms: left minus right side"
                    " {corrected:.1e}; the larger of the two sides, which `= 0` says to vanish, {printed:.2g}",
                    {"steps": len(motion.q) - 1, "corrected": corrected, "printed": printed})


def discrete_momentum(motion: PendulumStates) -> np.ndarray:
    """Right side of the formula before eq. (20) at all states but the last."""
    q = motion.q[:-1]
    inner = motion.pull(np.diff(motion.q, axis=0))/motion.h + 0.5*motion.h*motion.gradient
    return -np.cross(q, np.cross(q, inner))


def momentum_symbol() -> Evidence:
    """The formula before eq. (20) gives p of eq. (12), not q."""
    motion = pendulum_motion()
    q = motion.q[:-1]
    velocity = np.cross(motion.omega[:-1], q)
    p = np.diag(motion.mass)[:, None]*velocity - np.cross(q, np.cross(q, motion.coupling(velocity)))
    formula = discrete_momentum(motion)
    corrected, printed = size(formula - p)/size(p), float(np.linalg.norm(formula - q, axis=-1).min())
    return Evidence(corrected <= ROUND_OFF and printed >= 0.1,
                    "along a motion the right side differs from p of (12) by {corrected:.1e} of it, from q by at"
                    " least {printed:.2g}", {"corrected": corrected, "printed": printed})


def determines(q: np.ndarray, outer: int) -> float:
    """How well q_outer x [bracket of body 0] = 0 determines the bracket, which is orthogonal to q_0: the least size of
    the product over unit brackets. Zero: a bracket that does not vanish passes."""
    plane = np.linalg.svd(q[0][None])[2][1:]  # unit vectors orthogonal to q_0
    return float(np.linalg.svd(np.array([np.cross(q[outer], vector) for vector in plane]), compute_uv=False).min())


def bracket_index(angles: tuple[float, float] = (30.0, 90.0)) -> Evidence:
    """Does q_i x [ ... ] = 0 before eq. (20), or q_j x [ ... ] = 0 as printed, make the bracket vanish? For two
    directions at each of the angles (degrees) between them."""
    numbers = {"corrected": np.inf, "printed": np.inf}
    for angle in np.radians(angles):
        q = np.array([[1.0, 0.0, 0.0], [np.cos(angle), np.sin(angle), 0.0]])
        numbers["corrected"] = min(numbers["corrected"], determines(q, 0))
        numbers["printed"] = min(numbers["printed"], determines(q, 1))
    numbers["oblique"] = determines(np.array([[1.0, 0.0, 0.0], [np.sqrt(0.75), 0.5, 0.0]]), 1)
    return Evidence(numbers["corrected"] >= 1.0 - ROUND_OFF and numbers["printed"] <= ROUND_OFF,
                    "least size of the product for brackets of size 1: with q_i {corrected:.2g}, with q_j {printed:.1g}"
                    " where q_j is orthogonal to q_i, so that a bracket along q_j passes, and {oblique:.2g} at 30"
                    " degrees", numbers)


def legendre_signs() -> Evidence:
    """Eqs. (20), (22) and (24) hold along a motion with the printed signs, and with no other."""
    motion = pendulum_motion()
    q, omega, h = motion.q, motion.omega, motion.h
    change = np.diff(q, axis=0)
    diagonal = np.diag(motion.mass)[:, None]
    torque = 0.5*h*np.cross(q, motion.gradient)

    def residual(at: slice, force: float, coupling: float) -> float:
        """M_ii omega_i - coupling q_i x sum_{j!=i} M_ij (q_j x omega_j) = q_i x sum_j M_ij (q_{k+1} - q_k)_j/h
        + force (h/2) q_i x dV_i"""
        left = diagonal*omega[at] - coupling*np.cross(q[at], motion.coupling(np.cross(q[at], omega[at])))
        right = np.cross(q[at], motion.pull(change))/h + force*torque[at]
        return size(left - right)/size(left)

    start, end = slice(None, -1), slice(1, None)
    printed = max(residual(start, 1.0, 1.0), residual(end, -1.0, 1.0))
    flipped = min(residual(start, -1.0, 1.0), residual(end, 1.0, 1.0), residual(start, 1.0, -1.0),
                  residual(end, -1.0, -1.0))
    return Evidence(printed <= ROUND_OFF and flipped >= 1e-3,
                    "relative residual along a motion {printed:.1e} as printed, with any one sign changed at"
                    " least {flipped:.1g}", {"printed": printed, "flipped": flipped})


def matrix_index() -> Evidence:
    """omega_{k+1} of three pendula from (25), with hat(q_1) of step k and k+1 in the last entry of the first row."""
    motion = pendulum_motion("chain3", h=0.05, steps=20)
    before, q, omega, h = motion.q[-2], motion.q[-1], motion.omega[-1], motion.h
    right = (np.cross(q, motion.pull(q - before))/h - 0.5*h*np.cross(q, motion.gradient)).ravel()
    corrected = angular_matrix(motion.mass, q)
    printed = corrected.copy()
    printed[:3, -3:] = -motion.mass[0, -1]*hat(before[0]) @ hat(q[-1])
    error = {name: size(np.linalg.solve(matrix, right).reshape(-1, 3) - omega)/size(omega)
             for name, matrix in (("printed", printed), ("corrected", corrected))}
    return Evidence(error["corrected"] <= ROUND_OFF and error["printed"] >= 1e-3,
                    "three pendula, h = 0.05: omega of (25) differs from that of the multiplier step by {corrected:.1e}"
                    " of it with the index k+1, by {printed:.1e} with k", error)
