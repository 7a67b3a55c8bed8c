"""SE(3)^n or (SO(3) x R^3)^n on the poses of n rigid bodies, with their velocities: local-global transition maps.

lgt2022 calls q' = tau(q, X) the local-global transition map of absolute coordinates q and local coordinates X: the pose
C of a body becomes C psi(X). That is a left action of the opposite group, whose bracket is -[a, b] and whose dexpinv_X
is dpsi^-1_(-X), so that every method for left actions is one in local coordinates."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import Vector, add, atan2, axpy, cos, put, row, scale, sin, sqrt, unit
from liestep.geometry.attitude import to_space
from liestep.geometry.charts import logarithm, rate, reaches, rotation, rotation_rate, translation, translation_log
from liestep.geometry.quaternion import Quaternion, from_rotation_vector, multiply, rotate, to_rotation_vector
from liestep.geometry.se3 import bracket as bracket_of_one

MATRIX, QUATERNION, ROTATION_VECTOR, EULER = 0, 1, 2, 3  # how a state holds the attitude of a body


@kernel
def attitude_rows(attitude: int) -> int:
    """Rows that the attitude of a body takes: its three axes, or one."""
    return 3 if attitude == 0 else 1


@kernel
def quaternion_at(attitude: int, y: np.ndarray, b: int) -> Quaternion:
    """The quaternion of the attitude in row b of y, for every kind but MATRIX; Euler angles are those of
    R = Rz(yaw) Ry(pitch) Rx(roll), in the order roll, pitch, yaw."""
    if attitude == 1:
        return y[b, 0], y[b, 1], y[b, 2], y[b, 3]
    if attitude == 2:
        return from_rotation_vector(row(y, b))
    roll, pitch, yaw = 0.5*y[b, 0], 0.5*y[b, 1], 0.5*y[b, 2]
    turned = multiply((cos(yaw), 0.0, 0.0, sin(yaw)), (cos(pitch), 0.0, sin(pitch), 0.0))
    return multiply(turned, (cos(roll), sin(roll), 0.0, 0.0))


@kernel
def put_quaternion(attitude: int, q: Quaternion, y: np.ndarray, b: int) -> None:
    """Write an attitude to row b of y, for every kind but MATRIX. Rotation vectors have lengths up to pi. Near the pole
    of the Euler angles yaw is read first and roll from what it leaves, so that together they stay accurate."""
    if attitude == 1:
        y[b, 0], y[b, 1], y[b, 2], y[b, 3] = q
    elif attitude == 2:
        put(y, b, to_rotation_vector(q))
    else:
        one, two, three = (rotate(q, (1.0, 0.0, 0.0)), rotate(q, (0.0, 1.0, 0.0)), rotate(q, (0.0, 0.0, 1.0)))
        yaw = atan2(one[1], one[0])
        c, s = cos(yaw), sin(yaw)
        put(y, b, (atan2(s*three[0] - c*three[1], c*two[1] - s*two[0]),
                   atan2(-one[2], sqrt(one[0]*one[0] + one[1]*one[1])), yaw))


@kernel
def turn_axes(q: Quaternion, y: np.ndarray, b: int, out: np.ndarray) -> None:
    """out = R R(Q) for the attitude in rows b, b + 1, b + 2; out may be y."""
    one, two, three = row(y, b), row(y, b + 1), row(y, b + 2)
    for k in range(3):
        turned = rotate(q, unit(k))
        put(out, b + k, axpy(turned[0], one, axpy(turned[1], two, scale(turned[2], three))))


class Poses(NamedTuple):
    """y psi(X) on each of n bodies, psi as in `geometry.charts`. State rows of a body: attitude (three axes, or one
    row), position of the reference point (spatial), body rate, velocity of the reference point; rows of four numbers
    where the attitude is a quaternion. Algebra rows of a body: x, y, changes of the body rate and of the velocity,
    which are translations. With a clock both have one row more, a translation too."""

    n: int
    attitude: int = MATRIX
    se3: int = 1    # 1: SE(3)^n, 0: (SO(3) x R^3)^n
    chart: int = 0  # of `geometry.charts`
    clock: int = 0  # 1: a row for time and work

    def state_rows(self) -> int:
        return (attitude_rows(self.attitude) + 3)*self.n + self.clock

    def algebra_rows(self) -> int:
        return 4*self.n + self.clock

    @outlined
    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        a = attitude_rows(self.attitude)
        for i in range(self.n):
            b, d = i*(a + 3), 4*i
            x, step = row(xi, d), row(xi, d + 1)
            q = rotation(self.chart, x)
            if self.se3 == 1:
                step = translation(self.chart, q, x, step)
            if self.attitude == 0:
                if self.se3 == 1:
                    step = to_space(y[b:b + 3], step)
                turn_axes(q, y, b, out)
            else:
                old = quaternion_at(self.attitude, y, b)
                if self.se3 == 1:
                    step = rotate(old, step)
                put_quaternion(self.attitude, multiply(old, q), out, b)
            put(out, b + a, add(row(y, b + a), step))
            put(out, b + a + 1, add(row(y, b + a + 1), row(xi, d + 2)))
            put(out, b + a + 2, add(row(y, b + a + 2), row(xi, d + 3)))
        if self.clock == 1:
            put(out, self.n*(a + 3), add(row(y, self.n*(a + 3)), row(xi, 4*self.n)))

    @outlined
    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        ok = True
        for i in range(self.n):
            d = 4*i
            x, w = row(sigma, d), row(v, d)
            ok = ok and reaches(self.chart, x)
            if self.se3 == 1:
                turned, moved = rate(self.chart, x, row(sigma, d + 1), w, row(v, d + 1))
            else:
                turned, moved = rotation_rate(self.chart, x, w), row(v, d + 1)
            put(out, d, turned)
            put(out, d + 1, moved)
            put(out, d + 2, row(v, d + 2))
            put(out, d + 3, row(v, d + 3))
        if self.clock == 1:
            put(out, 4*self.n, row(v, 4*self.n))
        return ok

    def in_chart(self, sigma: np.ndarray) -> bool:
        ok = True
        for i in range(self.n):
            ok = ok and reaches(self.chart, row(sigma, 4*i))
        return ok

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        for i in range(self.n):
            d = 4*i
            turned, moved = self.bracket_of_body(row(b, d), row(b, d + 1), row(a, d), row(a, d + 1))
            put(out, d, turned)
            put(out, d + 1, moved)
            put(out, d + 2, (0.0, 0.0, 0.0))
            put(out, d + 3, (0.0, 0.0, 0.0))
        if self.clock == 1:
            put(out, 4*self.n, (0.0, 0.0, 0.0))

    def bracket_of_body(self, w: Vector, u: Vector, x: Vector, y: Vector) -> tuple[Vector, Vector]:
        """[(w, u), (x, y)] of the group itself, not of the opposite one."""
        turned, moved = bracket_of_one(w, u, x, y)
        if self.se3 == 0:
            moved = (0.0, 0.0, 0.0)
        return turned, moved

    def log(self, y: np.ndarray, z: np.ndarray, out: np.ndarray) -> None:
        """out (4n, 3) with act(out, y) = z, of attitudes that are rotations and no more than a half turn apart."""
        a = attitude_rows(self.attitude)
        for i in range(self.n):
            b, d = i*(a + 3), 4*i
            old, new = self.quaternion(y, b), self.quaternion(z, b)
            x = logarithm(self.chart, multiply((old[0], -old[1], -old[2], -old[3]), new))
            step = axpy(-1.0, row(y, b + a), row(z, b + a))
            if self.se3 == 1:
                step = translation_log(self.chart, x, rotate((old[0], -old[1], -old[2], -old[3]), step))
            put(out, d, x)
            put(out, d + 1, step)
            put(out, d + 2, axpy(-1.0, row(y, b + a + 1), row(z, b + a + 1)))
            put(out, d + 3, axpy(-1.0, row(y, b + a + 2), row(z, b + a + 2)))
        if self.clock == 1:
            put(out, 4*self.n, axpy(-1.0, row(y, self.n*(a + 3)), row(z, self.n*(a + 3))))

    def quaternion(self, y: np.ndarray, b: int) -> Quaternion:
        """Attitude in row b, of matrices by the largest of its four parts."""
        if self.attitude != 0:
            return quaternion_at(self.attitude, y, b)
        trace = y[b, 0] + y[b + 1, 1] + y[b + 2, 2]
        w, x = 1.0 + trace, 1.0 + 2.0*y[b, 0] - trace
        v, z = 1.0 + 2.0*y[b + 1, 1] - trace, 1.0 + 2.0*y[b + 2, 2] - trace
        turn = (y[b + 1, 2] - y[b + 2, 1], y[b + 2, 0] - y[b, 2], y[b, 1] - y[b + 1, 0])
        xy, yz, zx = y[b, 1] + y[b + 1, 0], y[b + 1, 2] + y[b + 2, 1], y[b + 2, 0] + y[b, 2]
        if w >= x and w >= v and w >= z:
            s = 0.5/sqrt(w)
            return s*w, s*turn[0], s*turn[1], s*turn[2]
        if x >= v and x >= z:
            s = 0.5/sqrt(x)
            return s*turn[0], s*x, s*xy, s*zx
        if v >= z:
            s = 0.5/sqrt(v)
            return s*turn[1], s*xy, s*v, s*yz
        s = 0.5/sqrt(z)
        return s*turn[2], s*zx, s*yz, s*z
