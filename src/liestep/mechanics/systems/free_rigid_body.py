"""Free rigid body: a body that turns about its centre of mass, or any fixed point, without torque
(liegroup2021, example 1).

Q is the attitude, body to space; Pi = Q^T pi the angular momentum in the body: dPi/dt = Pi x I^-1 Pi (Euler), dQ/dt = Q
hat(I^-1 Pi). Conserved: the spatial angular momentum pi, the energy 1/2 Pi.I^-1 Pi, and the Casimir |Pi|^2. The motion
is known in closed form.
"""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from liestep.compile.rows import Vector, dot, put, row, scale
from liestep.geometry.attitude import orthogonality_error, to_body
from liestep.mechanics.contracts.sheet import Parameter, Parameters, State, own
from liestep.mechanics.formulations.fixed_body.components import body_rate, kinetic_energy
from liestep.mechanics.formulations.fixed_body.forms import fixed_body, invariant
from liestep.mechanics.systems._free_motion import free_motion


class FreeRigidBody(NamedTuple):
    """Energy and invariants; the methods are listed in `mechanics.formulations.fixed_body.components`."""

    inertia: np.ndarray  # (3,) about the fixed point

    def torque(self, q: np.ndarray) -> Vector:
        return 0.0, 0.0, 0.0

    def torque_slope(self, q: np.ndarray, u: Vector) -> Vector:
        return 0.0, 0.0, 0.0

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        p = to_body(y, row(y, 3))
        out[0] = kinetic_energy(self.inertia, p)
        out[1], out[2], out[3] = row(y, 3)
        out[4] = orthogonality_error(y)
        out[5] = dot(p, p)

    def dual(self, y: np.ndarray, out: np.ndarray) -> None:
        """f = -dH/dPi: liegroup2021, example 1 with the sign of erratum 1."""
        put(out, 0, scale(-1.0, body_rate(self.inertia, row(y, 0))))

    def dual_observe(self, y: np.ndarray, out: np.ndarray) -> None:
        p = row(y, 0)
        out[0] = kinetic_energy(self.inertia, p)
        out[1] = dot(p, p)


ALL = (True, True, True)
UNEQUAL = {"inertia": [1.5, 1.0, 0.6]}


def _exact(parameters: Parameters, state: State, times: np.ndarray) -> np.ndarray:
    """Rows of the attitude state at `times`, (time, 4, 3)."""
    attitude, momentum = free_motion(parameters["inertia"], state["attitude"], state["angular_momentum"], times)
    return np.concatenate([np.swapaxes(attitude, 1, 2), momentum[:, None]], axis=1)


def _momentum(*pi: float) -> Callable[[Parameters], dict[str, np.ndarray]]:
    """Start with Q = 1 and an angular momentum."""
    return lambda parameters: {"attitude": np.eye(3), "angular_momentum": np.array(pi)}


SHEET = fixed_body(
    title="Free rigid body",
    equations="dQ/dt = hat(w) Q, dpi/dt = 0, w = Q I^-1 Q^T pi",
    citation="liegroup2021, example 1",
    parameters={"inertia": Parameter("kg m2", "principal moments of inertia, along the body's axes", (3,), "moments")},
    build=lambda parameters: FreeRigidBody(parameters["inertia"]),
    conserved_momentum=lambda parameters: ALL,
    invariants=lambda parameters, first: (invariant("momentum_casimir", first, "kg2 m4 s-2", "|Pi|^2"),),
    lever=lambda parameters: np.zeros(3),
    exact=_exact,
    engines=("exact", "dop853"),
    default_preset="asymmetric",
    motion="top",
    symmetries=(),
    presets={
        "asymmetric": own("three different moments, about the axis of the smallest", UNEQUAL,
                          _momentum(np.cos(1.1), 0.0, np.sin(1.1)), 10.0),
        "symmetric": own("two equal moments: steady precession", {"inertia": [1.0, 1.0, 0.5]}, _momentum(0.6, 0.0, 0.8),
                         10.0),
        "turning_over": own("close to the unstable axis of the middle moment: the body turns over again and again",
                            UNEQUAL, _momentum(0.02, 1.0, 0.01), 40.0),
    },
)
