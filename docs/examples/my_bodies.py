"""n rigid bodies in a row; a spring joins a point of each, off its centre, with one of the next, and turns both."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Kept, Parameter, Preset, add, add_to, cross, dot, put, rigid_bodies, row, scale, sub


class Row(NamedTuple):
    """Rows of y: 3n axes of the bodies in space, n angular momenta, n positions, n velocities."""

    arm: Any         # (n,) along the first axis of each body
    stiffness: Any

    def forces(self, y, out, energy):
        """Torques in rows 0 to n - 1, forces in the next n; False where they cannot be evaluated."""
        n = self.arm.shape[0]
        for i in range(2*n):
            put(out, i, (0.0, 0.0, 0.0))
        energy[0] = 0.0
        for i in range(n - 1):
            one, two = scale(self.arm[i], row(y, 3*i)), scale(-self.arm[i + 1], row(y, 3*i + 3))
            gap = sub(add(row(y, 4*n + i), one), add(row(y, 4*n + i + 1), two))
            pull = scale(-self.stiffness, gap)
            back = scale(-1.0, pull)
            add_to(out, i, cross(one, pull))
            add_to(out, i + 1, cross(two, back))
            add_to(out, n + i, pull)
            add_to(out, n + i + 1, back)
            energy[0] += 0.5*self.stiffness*dot(gap, gap)
        return True


def start(p):
    n = len(p["mass"])
    return {"position": np.arange(n)[:, None]*np.array([[2.0, 0.2, 0.0]]), "velocity": np.zeros((n, 3)),
            "attitude": np.stack([np.eye(3)]*n), "angular_momentum": np.outer(np.arange(n), [0.2, -0.1, 0.3])}


SHEET = rigid_bodies(
    title="Rigid bodies in a row", equations="m dv/dt = F, dpi/dt = tau, dx/dt = v, dR/dt = hat(w) R",
    citation="own example",
    parameters={"mass": Parameter("kg", "masses", ("n",), "positive"),
                "inertia": Parameter("kg m2", "principal moments", ("n", 3), "moments"),
                "arm": Parameter("m", "distance of the springs' ends from the centre", ("n",)),
                "stiffness": Parameter("N m-1", "spring constant", (), "positive")},
    build=lambda p: Row(p["arm"], p["stiffness"]), masses=lambda p: p["mass"], moments=lambda p: p["inertia"],
    kept=lambda p: Kept(momentum=(True, True, True), linear=(True, True, True)), potential={"spring_energy": "springs"},
    presets={"three": Preset("tumbles", "none", "own", {
        "mass": [1.0, 2.0, 1.5], "inertia": [[0.3]*3, [0.5]*3, [0.4]*3], "arm": [0.4]*3, "stiffness": 2.0}, start, 5)})
