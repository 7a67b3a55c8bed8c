"""Coordinates of joints that leave one freedom, of states in absolute coordinates (plain Python)."""
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from liestep.mechanics.contracts.formulated import StateField
from liestep.mechanics.formulations.multibody.assembly import Assembly, Joint, complement

FREE = ("revolute", "prismatic", "screw")
COORDINATES = (
    StateField("joint_coordinate", "1", "of revolute, prismatic and screw joints, in their order: angles in rad"
               " with turns, from complement(u) of a to complement(v) of b; slides in m", ("moving_joint",), "derived"),
    StateField("joint_rate", "1", "their rates, in rad/s and m/s", ("moving_joint",), "derived"),
)


class Frame(NamedTuple):
    """Axis u and direction e of body a, direction f of b, and points p of a and q of b, of one joint."""

    joint: Joint
    u: np.ndarray
    e: np.ndarray
    f: np.ndarray
    p: np.ndarray
    q: np.ndarray


def frames(assembly: Assembly) -> list[Frame]:
    """Those of the joints that leave one freedom."""
    found = []
    for joint in assembly.joints:
        if joint.name in FREE:
            first, last = joint.rows[0].vectors, joint.rows[-1].vectors
            sides = [part.vectors for part in joint.rows][joint.name == "revolute":][:2]  # orthogonal to the axis
            e, f = last[4:] if joint.name == "screw" else (sides[0][2], complement(last[3])[0])
            found.append(Frame(joint, np.cross(sides[0][2], sides[1][2]), e, f, first[0], first[1]))
    return found


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b, as np.cross, which takes five times as long for one state."""
    found: np.ndarray = a[..., [1, 2, 0]]*b[..., [2, 0, 1]] - a[..., [2, 0, 1]]*b[..., [1, 2, 0]]
    return found


def coordinates(made: list[Frame], arms: np.ndarray, times: np.ndarray, fields: Mapping[str, np.ndarray],
                before: tuple[float, Mapping[str, np.ndarray]] | None = None) -> dict[str, np.ndarray]:
    """`COORDINATES` of states at times (k,), by the frames of an assembly and its centres of mass `arms`. Turns are
    counted from one time to the next, and from (time, coordinates) before: the nearest to what the mean of the two
    rates gives. The first angle is within half a turn."""
    turn, place, rate, velocity = (fields[name] for name in ("attitude", "position", "body_rate", "velocity"))
    spin, arm = np.einsum("tbij,tbj->tbi", turn, rate), turn @ arms[..., None]
    ground = np.zeros((len(turn), 1, 3))  # behind the last body, where GROUND is
    turn = np.concatenate([turn, np.broadcast_to(np.eye(3), (len(turn), 1, 3, 3))], axis=1)
    place, velocity, spin = (np.concatenate([part, ground], axis=1) for part in (
        place + arm[..., 0], velocity + cross(spin, arm[..., 0]), spin))
    found, rates = np.empty((2, len(turn), len(made)))
    for k, (joint, *vectors) in enumerate(made):
        a, b = joint.a, joint.b
        u, e, p = (turn[:, a] @ vectors[n] for n in (0, 1, 3))
        f, q = (turn[:, b] @ vectors[n] for n in (2, 4))
        if joint.name == "prismatic":
            gap = place[:, b] + q - place[:, a]
            slide = velocity[:, b] + cross(spin[:, b], q) - velocity[:, a] - cross(spin[:, a], gap)
            found[:, k], rates[:, k] = np.sum(u*(gap - p), axis=1), np.sum(u*slide, axis=1)
            continue
        found[:, k] = np.arctan2(np.sum(cross(e, f)*u, axis=1), np.sum(e*f, axis=1))
        rates[:, k] = np.sum(u*(spin[:, b] - spin[:, a]), axis=1)
    if before is not None:
        times = np.concatenate([[before[0]], times])
        found, rates = (np.concatenate([before[1][part.name][None], values]) for part, values in zip(
            COORDINATES, (found, rates), strict=True))
    for k in (k for k, one in enumerate(made) if one.joint.name != "prismatic"):
        gone, told = np.diff(found[:, k]), 0.5*np.diff(times)*(rates[1:, k] + rates[:-1, k])
        found[1:, k] += 2.0*np.pi*np.cumsum(np.round((told - gone)/(2.0*np.pi)))
    first = 0 if before is None else 1
    return {"joint_coordinate": found[first:], "joint_rate": rates[first:]}
