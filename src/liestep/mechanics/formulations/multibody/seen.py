"""What controllers see of a mechanism, read by machine code. A file of its own: an edit puts no other run out of
date."""
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, add, atan2, cross, dot, put, row, scale, sub
from liestep.geometry.attitude import put_axes
from liestep.mechanics.contracts.formulated import Sight
from liestep.mechanics.formulations.multibody.components import BODY_TWIST, SPATIAL
from liestep.mechanics.formulations.multibody.coordinates import Frames
from liestep.mechanics.formulations.multibody.mechanism import times


@kernel
def summed(a: np.ndarray, i: int, v: Vector, last: int) -> Vector:
    """As `times`, but products with v[last], 1 or 2, are added last: np.einsum takes 1 where there is one matrix."""
    k = 3 - last
    return (a[i, 0]*v[0] + a[i, k]*v[k] + a[i, last]*v[last],
            a[i + 1, 0]*v[0] + a[i + 1, k]*v[k] + a[i + 1, last]*v[last],
            a[i + 2, 0]*v[0] + a[i + 2, k]*v[k] + a[i + 2, last]*v[last])


class Seeing(NamedTuple):
    """Reads states whose attitudes are quaternions, with the digits of `Layout.fields` and `coordinates` at one state.

    joints: bodies a and b, the ground behind the last one, and 1 where it slides. parts: centres of mass, then u, e, f,
    p, q of each joint. moving: attitudes, places, body rates and velocities, then spins, places and velocities of the
    centres of mass. turning: sines and cosines, turns (rad) or slides (m), rates, and coordinates; last, and NaN before
    the first state, the time.
    """

    twist: int
    joints: np.ndarray   # (joints, 3)
    parts: np.ndarray    # (bodies + 5 joints, 3)
    moving: np.ndarray   # (9 (bodies + 1), 3)
    turning: np.ndarray  # (5 joints + 1,)

    def read(self, t: float, y: np.ndarray) -> None:
        s, m = self.moving, self.moving.shape[0]//9
        last = 1 if m == 2 else 2
        for i in range(m - 1):
            place, rate, velocity = row(y, 4*i + 1), row(y, 4*i + 2), row(y, 4*i + 3)
            put_axes((y[4*i, 0], -y[4*i, 1], -y[4*i, 2], -y[4*i, 3]), s, 3*i)  # of space in the body: rows of R
            if self.twist == SPATIAL:
                velocity = add(velocity, cross(rate, place))
                rate = add(add(scale(rate[0], row(s, 3*i)), scale(rate[1], row(s, 3*i + 1))),
                           scale(rate[2], row(s, 3*i + 2)))
            elif self.twist == BODY_TWIST:
                velocity = summed(s, 3*i, velocity, last)
            spin, arm = summed(s, 3*i, rate, last), times(s, 3*i, row(self.parts, i))
            put(s, 3*m + i, place)
            put(s, 4*m + i, rate)
            put(s, 5*m + i, velocity)
            put(s, 6*m + i, spin)
            put(s, 7*m + i, add(place, arm))
            put(s, 8*m + i, add(velocity, cross(spin, arm)))
        for j in range(self.joints.shape[0]):
            self.put_joint(t, j)
        self.turning[self.turning.shape[0] - 1] = t

    def put_joint(self, t: float, j: int) -> None:
        """Numbers of a joint; turns as `coordinates` counts them, from the state before."""
        s, c, n = self.moving, self.turning, self.joints.shape[0]
        a, b, m, p = self.joints[j, 0], self.joints[j, 1], s.shape[0]//9, self.parts.shape[0] - 5*(n - j)
        u, e, f = (times(s, 3*a, row(self.parts, p)), times(s, 3*a, row(self.parts, p + 1)),
                   times(s, 3*b, row(self.parts, p + 2)))
        if self.joints[j, 2] == 1:
            q = times(s, 3*b, row(self.parts, p + 4))
            gap = sub(add(row(s, 7*m + b), q), row(s, 7*m + a))
            c[j], c[n + j], c[2*n + j] = 0.0, 1.0, dot(u, sub(gap, times(s, 3*a, row(self.parts, p + 3))))
            c[3*n + j] = dot(u, sub(sub(add(row(s, 8*m + b), cross(row(s, 6*m + b), q)), row(s, 8*m + a)),
                                    cross(row(s, 6*m + a), gap)))
        else:
            sine, cosine, rate = dot(cross(e, f), u), dot(e, f), dot(u, sub(row(s, 6*m + b), row(s, 6*m + a)))
            angle, told = atan2(sine, cosine), 0.5*(t - c[5*n])*(rate + c[3*n + j])
            turns = np.rint((told - (angle - c[4*n + j]))/(2.0*np.pi))
            wound = 2.0*np.pi*turns if turns == turns else 0.0
            c[j], c[n + j], c[2*n + j], c[3*n + j], c[4*n + j] = sine, cosine, wound, rate, angle + wound


def sight(twist: int, arms: np.ndarray, made: Frames | None) -> Sight:
    """What controllers see of a mechanism of quaternions with these centres of mass and joints."""
    n, k, joints, parts = len(arms) + 1, 0, np.zeros((0, 3), np.int64), arms
    if made is not None:
        k, joints = len(made.a), np.stack([made.a % n, made.b % n, made.slides], axis=1).astype(np.int64)
        parts = np.concatenate([arms, np.stack(made[2:7], axis=1).reshape(-1, 3)])
    size = 27*n
    numbers = np.zeros(size + 5*k + 1)
    numbers[9*n - 9:9*n], numbers[-1] = np.eye(3).ravel(), np.nan
    pieces: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "attitude": lambda found: found[:9*n - 9].reshape(-1, 3, 3),
        "position": lambda found: found[9*n:12*n - 3].reshape(-1, 3),
        "body_rate": lambda found: found[12*n:15*n - 3].reshape(-1, 3),
        "velocity": lambda found: found[15*n:18*n - 3].reshape(-1, 3)}
    if k:
        sines, cosines, turns, rates = (slice(at, at + k) for at in range(size, size + 4*k, k))
        pieces |= {"joint_coordinate": lambda found: np.arctan2(found[sines], found[cosines]) + found[turns],
                   "joint_rate": lambda found: found[rates]}

    def count(t: float, shown: Mapping[str, np.ndarray]) -> None:
        numbers[size + 3*k:] = np.concatenate([shown["joint_rate"], shown["joint_coordinate"], [t]])
    return Sight(Seeing(twist, joints, parts, numbers[:size].reshape(-1, 3), numbers[size:]), numbers, pieces, count)
