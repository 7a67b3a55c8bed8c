"""Systems on (S^2)^n in two angles each, q = (sin a cos b, sin a sin b, cos a): the description that twospheres2009
sets itself against (sections 1, 2 and 3.4). Singular at both poles, q = +-e_3."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.rows import FieldOfRows, Vector, add, cos, cross, dot, put, row, scale, sin
from liestep.errors import InputError


@kernel
def frame(a: float, b: float) -> tuple[Vector, Vector, Vector]:
    """q, dq/da and (dq/db)/sin a."""
    s, c, u, v = sin(a), cos(a), sin(b), cos(b)
    return (s*v, s*u, c), (c*v, c*u, -s), (-u, v, 0.0*s)


@borrows(FieldOfRows)
class SphereAngleForm(NamedTuple):
    """Vector field for rows (a_i, b_i, 0) and then their rates: Lagrange's equations in the angles, with the
    accelerations of eqs. (9)-(11) turned into the frame of the angles.

    Unit length needs no care; where sin a vanishes the right-hand side does not exist.
    """

    lagrangian: Any
    counters: np.ndarray
    g: np.ndarray      # (n, 3) scratch, as are the others
    place: np.ndarray  # (2n, 3) q and omega
    turn: np.ndarray   # (n, 3) d omega/dt

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        n = y.shape[0]//2
        self.directions(y)
        q, w = self.place[:n], self.place[n:]
        self.lagrangian.gradient(q, self.g)
        ok = self.lagrangian.mass.angular_acceleration(q, w, self.g, self.turn)
        for i in range(n):
            angles, rates = row(y, i), row(y, n + i)
            a, b = rates[0], rates[1]
            s, c = sin(angles[0]), cos(angles[0])
            direction, down, along = frame(angles[0], angles[1])
            push = cross(row(self.turn, i), direction)
            put(out, i, rates)
            if not s*s > 0.0:
                ok = False
            put(out, n + i, (dot(push, down) + s*c*b*b, (dot(push, along) - 2.0*c*a*b)/s, 0.0*s))
        return ok

    def directions(self, y: np.ndarray) -> None:
        """q and omega = q x dq/dt of the angles and their rates."""
        n = y.shape[0]//2
        for i in range(n):
            angles, rates = row(y, i), row(y, n + i)
            q, down, along = frame(angles[0], angles[1])
            put(self.place, i, q)
            put(self.place, n + i, add(scale(rates[0], along), scale(-rates[1]*sin(angles[0]), down)))

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.directions(y)
        self.lagrangian.observe(self.place, out)


def angles_of(q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Rows (a, b, 0) and rates (2n, 3) of directions and angular velocities (n, 3).

    Raises:
        InputError: a body is at a pole.
    """
    side = np.hypot(q[:, 0], q[:, 1])
    if not np.all(side > 0.0):
        raise InputError(f"body {int(np.argmin(side))} starts at a pole of the angles (q = +-e3), where they are"
                         " singular; choose the form omega or velocity, or another start")
    velocity = np.cross(omega, q)
    down = np.stack([q[:, 2]*q[:, 0]/side, q[:, 2]*q[:, 1]/side, -side], axis=1)
    along = np.stack([-q[:, 1]/side, q[:, 0]/side, 0.0*side], axis=1)
    zero = 0.0*side
    return np.concatenate([
        np.stack([np.arctan2(side, q[:, 2]), np.arctan2(q[:, 1], q[:, 0]), zero], axis=1),
        np.stack([np.sum(velocity*down, axis=1), np.sum(velocity*along, axis=1)/side, zero], axis=1)])


def fields_of_angles(rows: np.ndarray) -> dict[str, np.ndarray]:
    """q and omega of rows (..., 2n, 3)."""
    n = rows.shape[-2]//2
    a, b, up, on = rows[..., :n, 0], rows[..., :n, 1], rows[..., n:, 0], rows[..., n:, 1]
    s, c = np.sin(a), np.cos(a)
    along = np.stack([-np.sin(b), np.cos(b), 0.0*a], axis=-1)
    down = np.stack([c*np.cos(b), c*np.sin(b), -s], axis=-1)
    q = np.stack([s*np.cos(b), s*np.sin(b), c], axis=-1)
    return {"q": q, "omega": up[..., None]*along - (on*s)[..., None]*down}
