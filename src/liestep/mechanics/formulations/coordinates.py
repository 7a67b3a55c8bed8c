"""What `ConstrainedLagrangian` of `mechanics.contracts.formulations` is where nothing else is said: coordinates without
limits, constraints or loads, whose increment is guessed by the velocity; and where each has a constant mass. What is
observed beside the energy."""
from collections.abc import Callable

import numpy as np

from liestep.compile.status import Status
from liestep.mechanics.contracts.formulated import Observable


class Coordinates:
    """Methods of components with `size`."""

    size: Callable[[], int]

    def bonds(self) -> int:
        return 0

    def guess(self, h: float, q: np.ndarray, v: np.ndarray, d: np.ndarray) -> None:
        for i in range(self.size()):
            d[i] = h*v[i]

    def admissible(self, q0: np.ndarray, q1: np.ndarray) -> Status:
        return Status.OK

    def constraints(self, q: np.ndarray, out: np.ndarray) -> None:
        pass

    def slopes(self, q: np.ndarray, out: np.ndarray) -> None:
        pass

    def bend(self, s: float, multipliers: np.ndarray, a: np.ndarray) -> None:
        pass

    def work(self, t: float, h: float, q0: np.ndarray, q1: np.ndarray) -> float:
        return 0.0

    def make_tangent(self, q: np.ndarray, v: np.ndarray) -> None:
        pass


class Masses(Coordinates):
    """Methods of components with a diagonal mass matrix (n,)."""

    mass: np.ndarray

    def size(self) -> int:
        return self.mass.shape[0]

    def kinetic(self, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray, alpha: float,
                beta: float, r: np.ndarray, a: np.ndarray) -> None:
        for i in range(self.mass.shape[0]):
            r[i] += self.mass[i]*(v0[i] + v1[i])
            a[i, i] += beta*self.mass[i]

    def momentum(self, rule: int, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray,
                 out: np.ndarray) -> None:
        for i in range(self.mass.shape[0]):
            out[i] = self.mass[i]*(v0[i] + v1[i])

    def inverse_mass(self, p: np.ndarray, out: np.ndarray) -> None:
        for i in range(self.mass.shape[0]):
            out[i] = p[i]/self.mass[i]


def energies(first: int) -> tuple[Observable, Observable]:
    """Two columns: generalized and total energy."""
    return (Observable("generalized_energy", slice(first, first + 1), "J",
                       "generalized energy p.v - T(q, v) + V, livens2025 eq. (74)", conserved=(True,)),
            Observable("total_energy", slice(first + 1, first + 2), "J",
                       "total energy T(q, v) + V of the velocities, livens2025 eq. (80)", conserved=(True,)))


def legendre(first: int, units: str = "kg m s-1") -> Observable:
    """A column: how far p is from M v; with a constant mass matrix not at all."""
    return Observable("legendre_error", slice(first, first + 1), units, "largest |p - M(q) v|", "residual")
