"""A rigid body about a fixed point whose potential is linear in its attitude: V = -gravity.(Q lever)."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.rows import Vector, cross, dot, put, row, scale
from liestep.errors import InputError
from liestep.geometry.attitude import orthogonality_error, to_body, to_space
from liestep.mechanics.contracts.sheet import Parameters, Sheet
from liestep.mechanics.formulations.fixed_body.components import body_rate, kinetic_energy
from liestep.mechanics.formulations.fixed_body.family import fixed_body
from liestep.mechanics.formulations.fixed_body.forms import invariant


class WeightedBody(NamedTuple):
    """Torque, energy and Casimirs; the methods are listed in `mechanics.formulations.fixed_body.components`."""

    inertia: np.ndarray  # (3,) about the fixed point
    lever: np.ndarray    # (3,) in the body
    gravity: np.ndarray  # (3,) spatial

    def weight(self) -> Vector:
        """gravity, spatial."""
        return self.gravity[0], self.gravity[1], self.gravity[2]

    def arm(self) -> Vector:
        """The lever, in the body."""
        return self.lever[0], self.lever[1], self.lever[2]

    def torque(self, q: np.ndarray) -> Vector:
        return cross(to_space(q, self.arm()), self.weight())

    def torque_slope(self, q: np.ndarray, u: Vector) -> Vector:
        return cross(cross(u, to_space(q, self.arm())), self.weight())

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        p, gamma = to_body(y, row(y, 3)), to_body(y, self.weight())
        out[0] = kinetic_energy(self.inertia, p) - dot(self.arm(), gamma)
        out[1], out[2], out[3] = row(y, 3)
        out[4] = orthogonality_error(y)
        out[5], out[6] = dot(gamma, gamma), dot(p, gamma)

    def dual(self, y: np.ndarray, out: np.ndarray) -> None:
        """f = -dH/d(Pi, Gamma) = (-I^-1 Pi, lever): liegroup2021 eq. (18), unlike its example 1 (erratum 1)."""
        put(out, 0, scale(-1.0, body_rate(self.inertia, row(y, 0))))
        put(out, 1, self.arm())

    def dual_observe(self, y: np.ndarray, out: np.ndarray) -> None:
        p, gamma = row(y, 0), row(y, 1)
        out[0] = kinetic_energy(self.inertia, p) - dot(self.arm(), gamma)
        out[1], out[2] = dot(gamma, gamma), dot(p, gamma)


def parted(slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lever and gravity (3,) from the slopes dV/dR^T (3, 3) = -lever gravity^T.

    Raises:
        InputError: they are no such product.
    """
    k, i = np.unravel_index(np.argmax(np.abs(slopes)), (3, 3))
    largest = slopes[k, i]
    lever, gravity = (-slopes[:, i]/largest if largest else np.zeros(3)), slopes[k]
    if np.abs(slopes + np.outer(lever, gravity)).max() > 1e-12*abs(largest):
        raise InputError("the potential is no product of a lever and gravity at these parameters"
                         ": define the system anew")
    return lever, gravity


def weighted_body(*, slopes: Callable[[Parameters], np.ndarray], **further: Any) -> Sheet:
    """Sheet of such a body from the slopes dV/dR^T (3, 3), constant and of rank one, row j those of body axis j; V
    holds nothing else. `inertia` (3,) is a parameter; `further` are arguments of `fixed_body`. Absolute coordinates
    take a body of the same motion, whose mass has a fourth of the smallest moment about the fixed point."""
    def lever(values: Parameters) -> np.ndarray:
        return parted(slopes(values))[0]

    def gravity(values: Parameters) -> np.ndarray:
        return parted(slopes(values))[1]

    def mass_center(values: Parameters) -> tuple[float, np.ndarray]:
        arm = lever(values)
        mass = 4.0*float(arm @ arm)/float(values["inertia"].min()) or 1.0
        return mass, arm/mass

    def conserved(values: Parameters) -> tuple[bool, bool, bool]:
        g = gravity(values) if lever(values).any() else np.zeros(3)
        return not (g[1] or g[2]), not (g[0] or g[2]), not (g[0] or g[1])

    return fixed_body(build=lambda values: WeightedBody(values["inertia"], lever(values), gravity(values)), lever=lever,
                      gravity=gravity, mass_center=mass_center, quadratic=True, conserved_momentum=conserved,
                      invariants=lambda values, first: (
                          invariant("gravity_casimir", first, "1", "|Gamma|^2 of Gamma = Q^T gravity"),
                          invariant("momentum_casimir", first + 1, "1", "Pi.Gamma")), **further)
