"""Coordinates of joints that leave one freedom, of states in absolute coordinates (plain Python), and what controllers
see of a mechanism, read by machine code."""
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, add, atan2, cross, dot, put, row, scale, sub
from liestep.geometry.attitude import put_axes
from liestep.mechanics.contracts.formulated import Sight, StateField
from liestep.mechanics.formulations.multibody.assembly import Assembly, complement
from liestep.mechanics.formulations.multibody.components import BODY_TWIST, SPATIAL
from liestep.mechanics.formulations.multibody.mechanism import times

FREE = ("revolute", "prismatic", "screw")
COORDINATES = (
    StateField("joint_coordinate", "1", "of revolute, prismatic and screw joints, in their order: angles in rad"
               " with turns, from complement(u) of a to complement(v) of b; slides in m", ("moving_joint",), "derived"),
    StateField("joint_rate", "1", "their rates, in rad/s and m/s", ("moving_joint",), "derived"),
)


class Frames(NamedTuple):
    """Bodies a and b of joints that leave one freedom, axes u and directions e of a, directions f of b, and points p of
    a and q of b, (joints, 3); which of them are prismatic."""

    a: np.ndarray
    b: np.ndarray
    u: np.ndarray
    e: np.ndarray
    f: np.ndarray
    p: np.ndarray
    q: np.ndarray
    slides: np.ndarray


def frames(assembly: Assembly) -> Frames | None:
    """Those of the joints that leave one freedom, where there are any."""
    held = []
    for joint in assembly.joints:
        if joint.name in FREE:
            first, last = joint.rows[0].vectors, joint.rows[-1].vectors
            sides = [part.vectors for part in joint.rows][joint.name == "revolute":][:2]  # orthogonal to the axis
            e, f = last[4:] if joint.name == "screw" else (sides[0][2], complement(last[3])[0])
            held.append((joint.a, joint.b, np.cross(sides[0][2], sides[1][2]), e, f, first[0], first[1],
                          joint.name == "prismatic"))
    return Frames(*map(np.array, zip(*held, strict=True))) if held else None


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b, as np.cross, which takes five times as long for one state."""
    return a[..., [1, 2, 0]]*b[..., [2, 0, 1]] - a[..., [2, 0, 1]]*b[..., [1, 2, 0]]


def turned(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Matrices times vectors, without linear algebra of other people, whose rounding would get into motions."""
    found: np.ndarray = (matrices[..., 0]*vectors[..., :1] + matrices[..., 1]*vectors[..., 1:2]
                         + matrices[..., 2]*vectors[..., 2:])
    return found


def coordinates(made: Frames, arms: np.ndarray, times: np.ndarray, fields: Mapping[str, np.ndarray],
                before: tuple[float, Mapping[str, np.ndarray]] | None = None) -> dict[str, np.ndarray]:
    """`COORDINATES` of states at times (k,), by the frames of an assembly and its centres of mass `arms`. Turns are
    counted from one time to the next, and from (time, coordinates) before: the nearest to what the mean of the two
    rates gives. The first angle is within half a turn."""
    turn, rate, slides = fields["attitude"], fields["body_rate"], made.slides
    ground = np.zeros((len(turn), 1, 3))  # behind the last body, where GROUND is
    spin = np.concatenate([np.einsum("tbij,tbj->tbi", turn, rate), ground], axis=1)
    turn = np.concatenate([turn, np.broadcast_to(np.eye(3), (len(turn), 1, 3, 3))], axis=1)
    u, e, f = (turned(turn[:, at], part) for at, part in ((made.a, made.u), (made.a, made.e), (made.b, made.f)))
    angle = np.arctan2(np.sum(crossed(e, f)*u, axis=-1), np.sum(e*f, axis=-1))
    rates = np.sum(u*(spin[:, made.b] - spin[:, made.a]), axis=-1)
    if slides.any():
        arm = turned(turn[:, :-1], arms)
        place, velocity = (np.concatenate([part, ground], axis=1) for part in (
            fields["position"] + arm, fields["velocity"] + crossed(spin[:, :-1], arm)))
        a, b, u = made.a[slides], made.b[slides], u[:, slides]
        p, q = turned(turn[:, a], made.p[slides]), turned(turn[:, b], made.q[slides])
        gap = place[:, b] + q - place[:, a]
        slide = velocity[:, b] + crossed(spin[:, b], q) - velocity[:, a] - crossed(spin[:, a], gap)
        angle[:, slides], rates[:, slides] = np.sum(u*(gap - p), axis=-1), np.sum(u*slide, axis=-1)
    if before is not None:
        times = np.concatenate([[before[0]], times])
        angle, rates = (np.concatenate([before[1][part.name][None], values]) for part, values in zip(
            COORDINATES, (angle, rates), strict=True))
    if len(times) > 1:
        gone = angle[1:] - angle[:-1]
        told = 0.5*(times[1:] - times[:-1])[:, None]*(rates[1:] + rates[:-1])
        angle[1:] += 2.0*np.pi*np.cumsum(np.round((told - gone)/(2.0*np.pi))*~slides, axis=0)
    first = 0 if before is None else 1
    return {"joint_coordinate": angle[first:], "joint_rate": rates[first:]}


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
    the first state, the time."""

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
