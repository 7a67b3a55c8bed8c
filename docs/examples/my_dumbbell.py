"""Two balls on a spring whose ends are off their centres, so that it turns them.

The spring joins x_i + R_i arm of ball 1 with x_2 - R_2 arm of ball 2; V = 1/2 k |gap|^2 with gap between these points.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Kept, Parameter, Preset, add, cross, dot, put, rigid_bodies, row, scale, sub


class Dumbbell(NamedTuple):
    """Rows of y: axes of both balls in space (6), angular momenta (2), positions (2), velocities (2)."""

    arm: Any        # along the first axis of each ball
    stiffness: Any

    def forces(self, y, out, energy):
        """Torques in rows 0 and 1, forces in rows 2 and 3; False where they cannot be evaluated."""
        one, two = scale(self.arm, row(y, 0)), scale(-self.arm, row(y, 3))
        gap = sub(add(row(y, 8), one), add(row(y, 9), two))
        pull = scale(-self.stiffness, gap)
        put(out, 0, cross(one, pull))
        put(out, 1, cross(two, scale(-1.0, pull)))
        put(out, 2, pull)
        put(out, 3, scale(-1.0, pull))
        energy[0] = 0.5*self.stiffness*dot(gap, gap)
        return True


def start(p):
    return {"position": np.array([[-1.0, 0.0, 0.0], [1.0, 0.2, 0.0]]), "velocity": np.zeros((2, 3)),
            "attitude": np.stack([np.eye(3)]*2), "angular_momentum": np.array([[0.0, 0.3, 0.4], [0.5, 0.0, 0.0]])}


SHEET = rigid_bodies(
    title="Two balls on a spring",
    equations="m dv/dt = F, dpi/dt = tau, dx/dt = v, dR/dt = hat(w) R",
    citation="own example",
    parameters={"arm": Parameter("m", "distance of the spring's end from the centre", (), "positive"),
                "stiffness": Parameter("N m-1", "spring constant", (), "positive")},
    build=lambda p: Dumbbell(p["arm"], p["stiffness"]),
    masses=lambda p: np.array([1.0, 2.0]),
    moments=lambda p: np.array([[0.3, 0.3, 0.3], [0.5, 0.5, 0.5]]),   # three equal ones: every map runs
    kept=lambda p: Kept(momentum=(True, True, True), linear=(True, True, True)),
    potential={"spring_energy": "energy of the spring"},
    presets={"default": Preset("tumbles", "none", "own", {"arm": 0.4, "stiffness": 2.0}, start, 5.0)},
)
