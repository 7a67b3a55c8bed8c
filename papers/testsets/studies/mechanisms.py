"""Mechanisms of public test sets, as bodies, joints and force elements: IFToMM's library of multibody benchmarks A01,
A03 to A05 (Gonzalez, Dopico, Gonzalez and Cuadrado 2006, Multibody Syst. Dyn. 16, 191) and Andrews' squeezing
mechanism; an arm of six axes and a satellite whose panels unfold, with data of our own.
"""
import numpy as np

import liestep
from liestep.extend import (
    GROUND,
    Body,
    distance,
    prismatic,
    revolute,
    spring_damper,
    torsion,
)

X, Y, Z = np.eye(3)
ZERO = np.zeros(3)
DOWN = [0, -9.81, 0]


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def cuboid(mass, a, b, c):
    return mass/12*np.array([b*b + c*c, a*a + c*c, a*a + b*b])


def pendulum():
    """A01: 1 kg, 1 m, at rest at x = -1. The turn of the body itself is free and stands still."""
    return {"bodies": [Body(1.0, [0.1]*3, x=-X)], "joints": [distance(GROUND, ZERO, 0, ZERO, 1.0)], "gravity": DOWN}


def squeezer():
    """A03, and the IVP test set's: seven bodies, ten revolutes, a spring and a constant torque (Hairer and Wanner 1996,
    VII.7)."""
    mass = [0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498]
    inertia = [2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5]
    a, b, c = np.array([-0.06934, -0.00227, 0]), np.array([-0.03635, 0.03273, 0]), np.array([0.014, 0.072, 0])
    beta, theta, gamma, phi, delta, omega, epsilon = (
        -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
        -0.222668390165885885, 1.23054744454982119)
    frames = [turned(angle) for angle in (beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon)]
    # from each body's joint to its centre of mass, in body axes
    centre = [[0.00092, 0], [-0.01150, 0], [0.01043, -0.01874], [0, -0.00579], [0.02308, 0.00916], [0.00579, 0],
              [-0.00449, -0.01228]]
    arms = [np.array([*arm, 0.0]) for arm in centre]
    crank, end, pin5, pin7 = 0.007*X, -0.028*X, 0.04*X, -0.04*Y
    first = [ZERO, frames[0] @ crank, b, a + frames[4] @ pin5, a, a + frames[6] @ pin7, a]
    bodies = [Body(m, [i]*3, x=place + frame @ arm, R=frame)
              for m, i, place, frame, arm in zip(mass, inertia, first, frames, arms, strict=True)]
    joints = [revolute(i, p - (arms[i] if i != GROUND else ZERO), Z, j, q - arms[j], Z) for i, p, j, q in (
        (GROUND, ZERO, 0, ZERO), (0, crank, 1, ZERO), (GROUND, b, 2, ZERO), (1, end, 2, -0.035*Y), (GROUND, a, 4, ZERO),
        (4, pin5, 3, ZERO), (1, end, 3, -0.02*Y), (GROUND, a, 6, ZERO), (6, pin7, 5, ZERO), (1, end, 5, 0.02*X))]
    return {"bodies": bodies, "joints": joints, "fit": True, "elements": [
        spring_damper(GROUND, c, 2, np.array([0.02, -0.018, 0]) - arms[2], stiffness=4530.0, rest=0.07785),
        torsion(GROUND, Z, X, 0, X, effort=(0.033, 0.0, 0.0, 0.0))]}


def bricard():
    """A04: five rods of 1 m and 1 kg on the edges of a cube, six revolutes of which one row is redundant."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1.0]])
    rods, ends = np.diff(corners, axis=0), [ZERO, *(corners[1:] + corners[:-1])/2, ZERO]
    bodies = [Body(1.0, np.eye(3)/12 - 0.0832*np.outer(rod, rod), x=x) for rod, x in zip(rods, ends[1:-1], strict=True)]
    axes = [Y, Z, X, Y, Z, X]
    joints = [revolute(k - 1 if k else GROUND, corners[k] - ends[k], axes[k], k if k < 5 else GROUND,
                       corners[k] - ends[k + 1], axes[k]) for k in range(6)]
    return {"bodies": bodies, "joints": joints, "gravity": DOWN}


def governor():
    """A05: a shaft, two arms with balls, and a slider on two stiff springs with dampers, which turns at first at
    2 pi rad/s. Copies of the specification differ in that rate; this one is simEngine3D-Vignos'."""
    rate, rod, ball = 2*np.pi, 0.3, 5.0
    offset = 0.5*ball/(rod + ball)  # of an arm's centre of mass from its middle
    inertia = cuboid(rod, 1, 0.01, 0.01) + (rod*offset**2 + ball*(0.5 - offset)**2)*np.array([0, 1, 1])
    bodies = [Body(0.3, cuboid(0.3, 0.01, 0.01, 1), x=0.5*Z, rate=rate*Z),
              Body(3.0, cuboid(3.0, 0.1, 0.1, 0.1), x=0.5*Z, rate=rate*Z)]
    joints = [revolute(GROUND, ZERO, Z, 0, -0.5*Z, Z), prismatic(0, ZERO, Z, 1, ZERO, Z, X, Y)]
    elements = []
    for k, side in enumerate((1, -1)):
        along = np.array([side*np.cos(np.pi/6), 0, -0.5])
        frame = np.column_stack([along, side*Y, np.cross(along, side*Y)])
        x = np.array([side*0.05, 0, 1]) + (0.5 + offset)*along
        bodies.append(Body(rod + ball, inertia, x=x, R=frame, v=rate*np.cross(Z, x), rate=rate*frame.T @ Z))
        joints.append(revolute(0, [side*0.05, 0, 0.5], Y, 2 + k, [-0.5 - offset, 0, 0], side*Y))
        elements.append(spring_damper(1, [side*0.05, 0, 0], 2 + k, [-offset, 0, 0], stiffness=8e5, rest=0.5,
                                      damping=4e4))
    return {"bodies": bodies, "joints": joints, "elements": elements, "gravity": [0, 0, -9.81]}


def arm():
    """Six links in sequence from the ground, hinges with dampers and actuators, at rest."""
    hinges = np.array([[0, 0, 0.2], [0, 0, 0.5], [0, 0, 1.1], [0.2, 0, 1.25], [0.7, 0, 1.25], [0.85, 0, 1.25]])
    centres = np.array([[0.02, 0.01, 0.35], [0.03, 0.05, 0.8], [0.1, 0.02, 1.2], [0.45, -0.01, 1.25],
                        [0.78, 0.01, 1.26], [0.95, 0.02, 1.24]])
    inertia = [[0.3, 0.28, 0.15], [[0.5, 0.01, 0.02], [0.01, 0.45, 0], [0.02, 0, 0.1]], [0.05, 0.08, 0.07],
               [0.01, 0.09, 0.09], [0.005, 0.006, 0.006], [0.001, 0.0015, 0.0012]]
    efforts = [(5, 0, 20, 3), (-60, 10, 5, 2), (-30, 0, 8, 5), (1, 0, 2, 7), (-5, 0, 1, 4), (0.2, 0, 0.1, 6)]
    bodies = [Body(*given) for given in zip((12.0, 9.0, 6.0, 4.0, 2.0, 0.8), inertia, centres, strict=True)]
    joints, elements = [], []
    for k, (axis, damping) in enumerate(zip((Z, Y, Y, X, Y, X), (3.0, 2.0, 1.5, 0.6, 0.4, 0.1), strict=True)):
        below, side = (k - 1, centres[k - 1]) if k else (GROUND, ZERO), Y if axis is X else X
        joints.append(revolute(below[0], hinges[k] - below[1], axis, k, hinges[k] - centres[k], axis))
        elements.append(torsion(below[0], axis, side, k, side, damping=damping, effort=efforts[k]))
    return {"bodies": bodies, "joints": joints, "elements": elements, "gravity": [0, 0, -9.81]}


def satellite():
    """A hub that tumbles, with two panels on each side that unfold by springs in their hinges, with dampers."""
    rate, drift, panel = np.array([0.1, 0.3, -0.2]), np.array([0.1, 0.0, 0.2]), cuboid(11.0, 1.0, 1.5, 0.03)
    bodies = [Body(400.0, cuboid(400.0, 1.2, 1.0, 1.6), v=drift, rate=rate)]
    joints, elements = [], []
    for side in (1, -1):
        below, at, end, angle = 0, np.array([0, 0.5*side, 0.1]), np.array([0, 0.5*side, 0.1]), 0.0
        for turn, stiffness, damping in ((-1.2, 7.0, 0.5), (2.3, 4.0, 0.3)):
            angle += side*turn
            frame = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
            x, half = at + frame @ (0.75*side*Y), 0.75*side*Y
            bodies.append(Body(11.0, panel, x=x, R=frame, v=drift + np.cross(rate, x), rate=frame.T @ rate))
            joints.append(revolute(below, end, X, len(bodies) - 1, -half, X))
            elements.append(torsion(below, X, Y, len(bodies) - 1, Y, stiffness=stiffness, damping=damping))
            below, at, end = len(bodies) - 1, x + frame @ half, half
    return {"bodies": bodies, "joints": joints, "elements": elements}


SHEETS = {name: liestep.system(f"{name}_bodies", **given).sheet for name, given in {
    "iftomm_pendulum": pendulum(), "iftomm_bricard": bricard(), "iftomm_governor": governor(),
    "andrews_squeezer": squeezer(), "six_axis_arm": arm(), "satellite_panels": satellite()}.items()}
