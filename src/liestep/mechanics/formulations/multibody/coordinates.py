"""Coordinates of joints that leave one freedom, of states in absolute coordinates (plain Python)."""
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from liestep.mechanics.contracts.formulated import StateField
from liestep.mechanics.formulations.multibody.assembly import Assembly, complement

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


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
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
    angle = np.arctan2(np.sum(cross(e, f)*u, axis=-1), np.sum(e*f, axis=-1))
    rates = np.sum(u*(spin[:, made.b] - spin[:, made.a]), axis=-1)
    if slides.any():
        arm = turned(turn[:, :-1], arms)
        place, velocity = (np.concatenate([part, ground], axis=1) for part in (
            fields["position"] + arm, fields["velocity"] + cross(spin[:, :-1], arm)))
        a, b, u = made.a[slides], made.b[slides], u[:, slides]
        p, q = turned(turn[:, a], made.p[slides]), turned(turn[:, b], made.q[slides])
        gap = place[:, b] + q - place[:, a]
        slide = velocity[:, b] + cross(spin[:, b], q) - velocity[:, a] - cross(spin[:, a], gap)
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
