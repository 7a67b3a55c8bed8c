"""One step of a Munthe-Kaas method for equations of motion of one's own, in absolute coordinates: an existing code is
kept, only its state is advanced through a local-global transition map (lgt2022, sections 4.1 and 6.2).

A body that falls and turns, inertia J about its centre of mass, on the direct product:

    J = np.diag([1.0, 2.0, 3.0])

    def f(q, V, t):
        w = V[:3]
        return np.concatenate([np.linalg.solve(J, np.cross(J @ w, w)), [0.0, 0.0, -9.81]])

    q, V = np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([0.3, 1, 0.2, 1, -0.5, 0.7])
    for k in range(1000):
        q, V = liestep.lgt.step(f, q, V, 0.01, group="so3_r3", t=0.01*k)
"""
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from liestep.compile.status import IntegrationError, Status
from liestep.errors import InputError, arguments_named, unknown
from liestep.geometry.groups.actions import CHARTS
from liestep.geometry.groups.poses import EULER, QUATERNION, ROTATION_VECTOR, Poses
from liestep.integrators.rkmk import MuntheKaas
from liestep.integrators.tableaux import CLASSICAL, TABLEAUX
from liestep.mechanics.contracts.sheet import real_array
from liestep.mechanics.formulations.probed import plain

__all__ = ["step"]

GROUPS = {"se3": 1, "so3_r3": 0}
ATTITUDES = {"quaternion": (QUATERNION, 4), "rotation_vector": (ROTATION_VECTOR, 3), "euler": (EULER, 3)}
Equations = Callable[[np.ndarray, np.ndarray, float], ArrayLike]


@arguments_named
def step(f: Equations, q: np.ndarray, V: np.ndarray, h: float, group: str = "se3", chart: str = "exp",
         attitude: str = "quaternion", tableau: str = CLASSICAL, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The state a time h later, in plain Python; the same numbers as runs of liestep to round-off.

    Args:
        f: f(q, V, t) gives dV/dt, of the shape of V.
        q: absolute coordinates of a body (7,), or (6,) without quaternions, or of n bodies with n rows: attitude, body
            to space, then the place of the reference point in m, spatial.
        V: velocities (6,) or (n, 6): body rate in rad/s, then the velocity of the reference point in m/s: in body axes
            for se3, spatial for so3_r3.
        h: step in s.
        group: se3 (default) or so3_r3.
        chart: exp (default), cayley, cayley2 (second order) or second_kind.
        attitude: quaternion (scalar part first), rotation_vector (at most pi long) or euler (roll, pitch, yaw of R =
            Rz Ry Rx).
        tableau: name of an explicit Runge-Kutta method, such as rk4 (default) or dormand_prince5.
        t: time of the state, for f.

    Raises:
        InputError: a name that is not known, or a shape that does not fit.
        IntegrationError: a rotation within the step reaches the end of the chart.
    """
    kind, size = ATTITUDES[_known("attitude", attitude, ATTITUDES)]
    group_number, chart_number = GROUPS[_known("group", group, GROUPS)], CHARTS[_known("chart", chart, CHARTS)]
    method = plain(MuntheKaas(*TABLEAUX[_known("tableau", tableau, TABLEAUX)].arrays()))
    place, twist = _rows("q", q, size + 3), _rows("V", V, 6)
    if len(place) != len(twist) or np.ndim(q) != np.ndim(V):
        raise InputError(f"q is of shape {np.shape(q)} and V of shape {np.shape(V)}; allowed is one row for each body,"
                         " or one body without rows")
    user = _Equations(plain(Poses(len(place), kind, group_number, chart_number)), f, size, np.shape(q), np.shape(V))
    y = np.zeros((4*len(place), 4 if size == 4 else 3))
    y[0::4, :size], y[1::4, :3], y[2::4, :3], y[3::4, :3] = place[:, :size], place[:, size:], twist[:, :3], twist[:, 3:]
    status = Status(method.step(user, float(t), y, float(h), method.workspace(user, y)))
    if status != Status.OK:
        raise IntegrationError(status, float(t), f"{group}, chart {chart}: ")
    return user.coordinates(y), user.velocities(y)


class _Equations:
    """What a Munthe-Kaas method asks for: the action, and equations of motion as a function."""

    def __init__(self, poses: Poses, f: Equations, size: int, place: tuple[int, ...], twist: tuple[int, ...]):
        self.poses, self.f, self.size, self.place, self.twist = poses, f, size, place, twist
        self.act, self.dexpinv, self.in_chart = poses.act, poses.dexpinv, poses.in_chart
        self.algebra_rows = poses.algebra_rows

    def coordinates(self, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[0::4, :self.size], y[1::4, :3]], axis=1).reshape(self.place)

    def velocities(self, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2::4, :3], y[3::4, :3]], axis=1).reshape(self.twist)

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        values = np.asarray(self.f(self.coordinates(y), self.velocities(y), t), dtype=float)
        if values.shape != self.twist:
            raise InputError(f"f gives an array of shape {values.shape}; allowed is that of V, {self.twist}")
        rates = values.reshape(-1, 6)
        out[0::4], out[1::4], out[2::4], out[3::4] = y[2::4, :3], y[3::4, :3], rates[:, :3], rates[:, 3:]
        return bool(np.all(np.isfinite(values)))

    def project(self, y: np.ndarray) -> bool:
        return True

    def projects(self) -> bool:
        return False


def _known(what: str, name: str, allowed: Iterable[str]) -> str:
    if name not in allowed:
        raise InputError(unknown(what, str(name), tuple(allowed)))
    return name


def _rows(name: str, values: np.ndarray, width: int) -> np.ndarray:
    array = real_array(name, values)
    if array.ndim not in (1, 2) or array.shape[-1] != width or not np.all(np.isfinite(array)):
        raise InputError(f"{name} is of shape {array.shape}; allowed are finite numbers of shape ({width},), or (n,"
                         f" {width}) of n bodies")
    return array.reshape(-1, width)
