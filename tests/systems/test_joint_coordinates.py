"""Coordinates and rates of joints of given motions: turns, slides and screws in closed form."""
from functools import partial

import numpy as np
import pytest

from liestep.compile.tracing import on_own_arrays
from liestep.geometry.groups.poses import QUATERNION
from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly, prismatic, revolute, screw
from liestep.mechanics.formulations.multibody.coordinates import coordinates, frames, sight
from liestep.mechanics.formulations.multibody.forms import TWISTS, Layout

X, Y, Z, O = *np.eye(3), np.zeros(3)  # noqa: E741
TIMES = np.linspace(0.0, 3.0, 61)
ANGLE, SLIDE = 9.0*TIMES - np.sin(TIMES), 0.3*np.cos(TIMES)  # four turns
RATE, SPEED = 9.0 - np.cos(TIMES), -0.3*np.sin(TIMES)


def about_z(angle):
    c, s, zero = np.cos(angle), np.sin(angle), 0.0*angle
    return np.moveaxis(np.array([[c, -s, zero], [s, c, zero], [zero, zero, zero + 1.0]]), -1, 0)


def along(axis, values):
    return values[:, None]*np.array(axis)


def motion(joint):
    """States of body 0, which turns about z in the ground, and of body 1 at the joint with it; what they show."""
    first, angle, none = about_z(ANGLE), RATE, 0.0*TIMES
    if joint == "revolute":  # turns back twice as fast
        joints = [revolute(GROUND, O, Z, 0, O, Z), revolute(0, X, Z, 1, O, Z)]
        place, speed = first @ X, np.cross(along(Z, angle), first @ X)
        return joints, about_z(-ANGLE), place, -along(Z, RATE), speed, [ANGLE, -2.0*ANGLE], [RATE, -2.0*RATE]
    pitch = 0.1/(2.0*np.pi)
    slides = SLIDE if joint == "prismatic" else pitch*ANGLE
    moved = SPEED if joint == "prismatic" else pitch*RATE
    if joint == "prismatic":
        joints = [revolute(GROUND, O, Z, 0, O, Z), prismatic(0, Y, X, 1, O, X, Y, Z)]
        arm = along(Y, none + 1.0) + along(X, slides)
        place = np.einsum("tij,tj->ti", first, arm)
        speed = np.cross(along(Z, angle), place) + np.einsum("tij,tj->ti", first, along(X, moved))
        return joints, first, place, along(Z, RATE), speed, [ANGLE, slides], [RATE, moved]
    joints = [revolute(GROUND, O, Z, 0, O, Z), screw(GROUND, O, Z, 1, O, Z, 0.1, X, X)]
    return joints, first, along(Z, slides), along(Z, RATE), along(Z, moved), [ANGLE, ANGLE], [RATE, RATE]


@pytest.mark.parametrize("joint", ["revolute", "prismatic", "screw"])
def test_coordinates_of_given_motions(joint):
    """At all times, and one after the other, as a controller sees them."""
    joints, turn, place, rate, velocity, expected, rates = motion(joint)
    assembly = Assembly(np.ones(2), np.array([np.eye(3)]*2), np.zeros((2, 3)), O, joints)
    fields = {"attitude": np.stack([about_z(ANGLE), turn], 1), "position": np.stack([0.0*place, place], 1),
              "body_rate": np.stack([along(Z, RATE), rate], 1), "velocity": np.stack([0.0*place, velocity], 1)}
    shown = partial(coordinates, frames(assembly), assembly.center_of_mass)
    found = shown(TIMES, fields)
    assert np.abs(found["joint_coordinate"] - np.transpose(expected)).max() < 1e-11
    assert np.abs(found["joint_rate"] - np.transpose(rates)).max() < 1e-12
    before = None
    for k, time in enumerate(TIMES):
        one = shown(TIMES[k:k + 1], {name: values[k:k + 1] for name, values in fields.items()}, before)
        before = float(time), {name: values[0] for name, values in one.items()}
        assert np.abs(before[1]["joint_coordinate"] - found["joint_coordinate"][k]).max() < 1e-11


@pytest.mark.parametrize("twist", TWISTS.values(), ids=TWISTS)
@pytest.mark.parametrize("joint", ["one body", "revolute", "prismatic", "screw"])
def test_machine_code_reads_the_same_digits(joint, twist):
    """Of states in quaternions, one after the other: those of their fields and coordinates in plain Python."""
    joints, turn, place, rate, velocity, *_ = motion("revolute" if joint == "one body" else joint)
    n, centres = (1, [[0.3, -0.2, 0.1]]) if joint == "one body" else (2, [[0.3, -0.2, 0.1], [0.0, 0.4, -0.7]])
    assembly = Assembly(np.ones(n), np.array([np.eye(3)]*n), np.array(centres), O, joints[:n])
    layout, made, before = Layout(assembly, QUATERNION, twist), frames(assembly), None
    read, numbers, pieces, _ = sight(twist, assembly.center_of_mass, made)
    for k, time in list(enumerate(TIMES))[::4]:
        rows = layout.start({"attitude": np.stack([about_z(ANGLE)[k], turn[k]])[:n],
                             "position": np.stack([0.1*Y, place[k]])[:n],
                             "body_rate": np.stack([RATE[k]*Z + X, rate[k]])[:n],
                             "velocity": np.stack([0.1*X, velocity[k]])[:n]})
        on_own_arrays(read).read(time, rows)
        fields = layout.fields(rows[None])
        fields |= coordinates(made, assembly.center_of_mass, np.array([time]), fields, before)
        before = float(time), {name: values[0] for name, values in fields.items()}
        assert pieces.keys() == fields.keys()
        for name, values in fields.items():
            assert np.array_equal(pieces[name](numbers.copy()), values[0]), (name, k)
