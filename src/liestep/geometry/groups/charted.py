"""Actions of rotations and rigid motions in other local coordinates than the exponential: liegroup2021, section 2.3."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import hands_on
from liestep.compile.rows import put, row
from liestep.geometry import groups
from liestep.geometry.charts import (
    CAYLEY,
    CAYLEY2,
    EXPONENTIAL,
    SECOND_KIND,
    left_rate,
    left_rotation_rate,
    reaches,
    rotation,
    translation,
)
from liestep.geometry.groups.rotations import SphereRotations

CHARTS = dict(zip(groups.CHARTS, (EXPONENTIAL, CAYLEY, CAYLEY2, SECOND_KIND), strict=True))


@hands_on("action", SphereRotations, "state_rows", "algebra_rows", "bracket", "distance2")
class Charted(NamedTuple):
    """psi(X).y for an action of rotations (one row of algebra) or of n rigid motions (rows A_1..A_n, a_1..a_n).
    `dexpinv` is the inverse differential of psi, so that Munthe-Kaas methods with the exact one keep their order;
    methods that use psi for exp have the order to which the two agree."""

    action: Any
    chart: int

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        n = xi.shape[0]//2
        for i in range(max(n, 1)):
            q = rotation(self.chart, row(xi, i))
            a = (q[1], q[2], q[3])
            r = translation(self.chart, q, row(xi, i), row(xi, n + i)) if n > 0 else a
            self.action.move(i, 2.0*q[0], 2.0, a, r, y, out)

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        n = sigma.shape[0]//2
        if n == 0:
            put(out, 0, left_rotation_rate(self.chart, row(sigma, 0), row(v, 0)))
        for i in range(n):
            turned, moved = left_rate(self.chart, row(sigma, i), row(sigma, n + i), row(v, i), row(v, n + i))
            put(out, i, turned)
            put(out, n + i, moved)
        return self.in_chart(sigma)

    def in_chart(self, sigma: np.ndarray) -> bool:
        ok = True
        for i in range(max(sigma.shape[0]//2, 1)):
            ok = ok and reaches(self.chart, row(sigma, i))
        return ok


def in_coordinates(action: Any, chart: str) -> Any:
    """An action in the coordinates that an option names."""
    return action if chart == "exp" else Charted(action, CHARTS[chart])
