"""Formulations: what a system offers to a family of integrators, as protocols of compiled components.

A component is a NamedTuple; its methods are compiled. The types here are those of runs, all arrays of float64;
certificates call the same methods with complex numbers and with objects of many digits. y is a state (m, d), where the
form chooses m and d; t is a time in s; methods write their result to `out`. Vectors are in spatial components unless it
says otherwise. `meter` counts evaluations (`liestep.core.counters`).
"""
from typing import Protocol

import numpy as np


class Component(Protocol):
    """What every formulation offers."""

    meter: np.ndarray

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """Write the observables of y, as many numbers as the `Formulated` declares; column 0 is the energy in J."""


class VectorField(Component, Protocol):
    """right-hand side in the embedding space"""

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """dy/dt (m, d); False where it cannot be evaluated."""

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        """out = y + h (weights_0 k_0 + ...) over the first `count` of the slopes k (s, m, d)."""

    def project(self, y: np.ndarray) -> None:
        """Return y to the manifold in place, as far as the option `projection` says."""


class LieAction(Component, Protocol):
    """action of a Lie group and f: states -> algebra"""

    def algebra_rows(self) -> int:
        """Number d of rows of an element of the algebra."""

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """f(t, y) (d, 3) with y' = d/ds exp(s f(t, y)).y at s = 0; False where it cannot be evaluated."""

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        """exp(xi).y (m, 3) of xi (d, 3); out may be y itself."""

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        """dexpinv_sigma(v) (d, 3); False at the limit of the chart. out may be v itself."""

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        """[a, b] (d, 3); out may be a or b."""

    def project(self, y: np.ndarray) -> bool:
        """Return y to constraints that the action does not keep, in place, after a fixed step, as far as the option
        `stabilisation` says; False where it cannot."""


class SphereLagrangian(Component, Protocol):
    """mass matrix, potential and gradient on (S^2)^n"""

    def potential(self, q: np.ndarray) -> float:
        """V in J of directions q (n, 3), defined off the spheres too."""

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        """dV/dq_i in J (n, 3), the plain one in R^3: its radial part never matters."""

    def body_mass(self, i: int) -> float:
        """M_ii in kg m2 of a diagonal mass matrix (option mass: diagonal)."""

    def mass_entry(self, i: int, j: int) -> float:
        """M_ij of a full mass matrix (option mass: dense)."""

    def inverse_mass_entry(self, i: int, j: int) -> float:
        """(M^-1)_ij of a full mass matrix (option mass: dense)."""

    def solve_inertia(self, q: np.ndarray, out: np.ndarray) -> bool:
        """Solve A(q) x = out in place (n, 3), A_ij = -M_ij hat(q_i) hat(q_j) with diagonal blocks M_ii; False when A is
        not positive definite. Of a full mass matrix (option mass: dense)."""


class CotangentRotation(Component, Protocol):
    """T*SO(3), right trivialised: angular velocity and torque"""

    def inertia(self) -> tuple[float, float, float]:
        """Principal moments of inertia in kg m2, a tuple of three, along the body's axes."""

    def torque(self, y: np.ndarray) -> tuple[float, float, float]:
        """Torque in N m, a tuple of three, at the attitude in rows 0 to 2 of y (columns of Q)."""

    def torque_slope(self, y: np.ndarray, u: tuple[float, float, float]) -> tuple[float, float, float]:
        """d/de torque(exp(e hat u) Q) at e = 0, a tuple of three; u in rad, spatial."""

    def carry(self, h: float, stage: np.ndarray, y: np.ndarray) -> None:
        """Advance the rows of y beyond attitude and momentum by h with the attitude of `stage`."""


class QuadraticRotation(CotangentRotation, Protocol):
    """T*(SO(3) x R^3) with a quadratic Hamiltonian"""


class RigidBodies(Component, Protocol):
    """n rigid bodies that turn, all or none of which move: forces and torques in one call

    Rows: 3n axes of the bodies in space, n spatial angular momenta about the centres; then, where they move, n
    positions and n velocities.
    """

    def bodies(self) -> int:
        """n."""

    def translates(self) -> bool:
        """Whether the bodies have positions."""

    def mass(self, i: int) -> float:
        """Mass in kg of body i; without meaning where the bodies do not move."""

    def moments(self, i: int) -> tuple[float, float, float]:
        """Principal moments of inertia in kg m2 of body i, a tuple of three, along its axes."""

    def forces(self, y: np.ndarray, out: np.ndarray) -> bool:
        """Spatial torques in N m in rows 0 to n - 1, forces in N in rows n to 2n - 1, which stay as they are where the
        bodies do not move; False where they cannot be evaluated."""


PROTOCOLS: dict[str, type] = {
    "sphere_lagrangian": SphereLagrangian,
    "vector_field": VectorField,
    "lie_action": LieAction,
    "cotangent_rotation": CotangentRotation,
    "quadratic_rotation": QuadraticRotation,
    "rigid_bodies": RigidBodies,
}
