"""Derivatives of what rows of joints pull with, A(q)^T l, by the increments of their bodies, for index-3 methods.

A group pulls on body i with a force F at its reference point and a moment M about it. Derivatives go to
`IndexThree.column`: the moment in body axes, the force in the components of the group. With a row p >= 0 of the band l
is one there and zero elsewhere: then the power of these derivatives in V is the derivative of (A V)_p.
"""
from typing import Any

import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import Vector, add, axpy, cross, dot, row, scale, sqrt, sub, unit
from liestep.mechanics.formulations.multibody.mechanism import (
    BLADE,
    BODY,
    DIRECTION,
    DRIVE,
    GROUP,
    MOVING,
    PLACE,
    POINT,
    ROLL,
    SCREW,
    SPRING,
    across,
    times,
)


@kernel
@outlined
def stiffness(problem: Any, j: int, found: np.ndarray, p: int) -> None:
    """Group j, with the multipliers `found` or with row p alone."""
    mechanism = problem.poses.generator.motion.mechanism
    c, b = mechanism.constants, BODY*mechanism.bodies + 1 + SPRING*mechanism.springs + GROUP*j
    kind, start = mechanism.table[j, 0], mechanism.table[j, 3]
    if kind == POINT:
        force = unit(p - start) if p >= 0 else (found[start], found[start + 1], found[start + 2])
        for side in range(2):
            i = mechanism.table[j, 1 + side]
            if i < mechanism.bodies:
                problem.pull(i, add(row(c, b + side), row(c, BODY*i + 7)), scale(1.0 - 2.0*side, force), 0.0, p)
    elif kind == DIRECTION:
        direction(problem, j, b, 1.0 if p >= 0 else found[start], p)
    elif kind == DRIVE:
        driven(problem, j, b, 1.0 if p >= 0 else found[start], p)
    elif kind == BLADE:
        blade(problem, j, b, 1.0 if p >= 0 else found[start], p)
    elif kind == ROLL:
        roll(problem, j, b, unit(p - start) if p >= 0 else (found[start], found[start + 1], found[start + 2]), p)
    else:
        line(problem, j, b, 1.0 if p >= 0 else found[start], p)


@kernel
def direction(problem: Any, j: int, b: int, value: float, p: int) -> None:
    """Moments u x v and -u x v."""
    mechanism = problem.poses.generator.motion.mechanism
    c, x = mechanism.constants, mechanism.scratch
    for side in range(2):
        i, k = mechanism.table[j, 1 + side], mechanism.table[j, 2 - side]
        own, other = row(c, b + 2 + side), row(c, b + 3 - side)
        if i < mechanism.bodies:
            facing = times(x, MOVING*i, across(x, MOVING*k, other))
            for r in range(3):
                theta = unit(r)
                problem.column(i, i, r, scale(-value, cross(own, cross(theta, facing))), (0.0, 0.0, 0.0), p)
                if k < mechanism.bodies:
                    moved = times(x, MOVING*i, across(x, MOVING*k, cross(theta, other)))
                    problem.column(i, k, r, scale(value, cross(own, moved)), (0.0, 0.0, 0.0), p)


@kernel
def driven(problem: Any, j: int, b: int, value: float, p: int) -> None:
    """Moments -u of the first body, which carries u along, and u of the second."""
    mechanism = problem.poses.generator.motion.mechanism
    x, one, two = mechanism.scratch, mechanism.table[j, 1], mechanism.table[j, 2]
    axis = row(mechanism.constants, b + 2)
    facing = times(x, MOVING*two, across(x, MOVING*one, axis))
    for r in range(3):
        if two < mechanism.bodies:
            problem.column(two, two, r, scale(value, cross(facing, unit(r))), (0.0, 0.0, 0.0), p)
            if one < mechanism.bodies:
                turned = times(x, MOVING*two, across(x, MOVING*one, cross(unit(r), axis)))
                problem.column(two, one, r, scale(value, turned), (0.0, 0.0, 0.0), p)


@kernel
def blade(problem: Any, j: int, b: int, value: float, p: int) -> None:
    """A force u that the body carries along: only its spatial components change."""
    mechanism, i = problem.poses.generator.motion.mechanism, problem.poses.generator.motion.mechanism.table[j, 1]
    if problem.poses.action.se3 == 0:
        for r in range(3):
            turned = cross(unit(r), scale(value, row(mechanism.constants, b + 2)))
            problem.column(i, i, r, (0.0, 0.0, 0.0), across(mechanism.scratch, MOVING*i, turned), p)


@kernel
@outlined
def roll(problem: Any, j: int, b: int, force: Vector, p: int) -> None:
    """A force in space at the contact, whose arm turns with the disc and in it."""
    mechanism = problem.poses.generator.motion.mechanism
    c, x, i = mechanism.constants, mechanism.scratch, mechanism.table[j, 1]
    m, normal, u = MOVING*i, row(c, b + 3), across(x, MOVING*i, row(c, b + 2))
    tilt = dot(normal, u)
    down = axpy(tilt, u, scale(-1.0, normal))
    size = sqrt(dot(down, down))
    share, fixed = c[b + 6, 0]/size, across(x, m, add(row(c, b), row(c, BODY*i + 7)))
    inside, moment = times(x, m, force), times(x, m, cross(axpy(share, down, fixed), force))
    for r in range(3):
        turn = across(x, m, unit(r))
        change = cross(turn, u)
        rise = dot(normal, change)
        slope = axpy(tilt*rise/(size*size), down, axpy(rise, u, scale(tilt, change)))
        arm = axpy(share, slope, cross(turn, fixed))
        moved = sub(times(x, m, cross(arm, force)), cross(unit(r), moment))
        pushed = cross(inside, unit(r)) if problem.poses.action.se3 == 1 else (0.0, 0.0, 0.0)
        problem.column(i, i, r, moved, pushed, p)


@kernel
@outlined
def line(problem: Any, j: int, b: int, value: float, p: int) -> None:
    """Forces -u and u at the point P_b; of a screw also moments, pitch u and -pitch u."""
    mechanism, se3 = problem.poses.generator.motion.mechanism, problem.poses.action.se3
    c, x, one, two = mechanism.constants, mechanism.scratch, mechanism.table[j, 1], mechanism.table[j, 2]
    m, n = MOVING*one, MOVING*two
    pitch = c[b + 6, 0] if mechanism.table[j, 0] == SCREW else 0.0
    u, far = across(x, m, row(c, b + 2)), across(x, n, row(c, b + 1))
    point = add(row(x, n + PLACE), far)
    for side in range(2):
        k = mechanism.table[j, 1 + side]
        if k >= mechanism.bodies:
            continue
        for r in range(6):
            turn, shift = across(x, MOVING*k, unit(r)), unit(r - 3)
            if se3 == 1:
                shift = across(x, MOVING*k, shift)
            tilt = cross(turn, u) if side == 0 else (0.0, 0.0, 0.0)
            moved = (0.0, 0.0, 0.0)  # of P_b
            if side == 1:
                moved = add(shift, cross(turn, sub(point, reference(problem, two))))
            for end in range(2):
                i, sign = mechanism.table[j, 1 + end], value*(2.0*end - 1.0)
                if i >= mechanism.bodies:
                    continue
                arm = sub(point, reference(problem, i))
                change = moved if end != side else sub(moved, shift)
                force, moment = u, axpy(-pitch, u, cross(arm, u))
                pushed, turned = tilt, add(axpy(-pitch, tilt, cross(arm, tilt)), cross(change, u))
                if end == side:  # its axes turn
                    turned = sub(turned, cross(turn, moment))
                    if se3 == 1:
                        pushed = sub(pushed, cross(turn, force))
                if se3 == 1:
                    pushed = times(x, MOVING*i, pushed)
                problem.column(i, k, r, scale(sign, times(x, MOVING*i, turned)), scale(sign, pushed), p)


@kernel
def reference(problem: Any, i: int) -> Vector:
    """Place of the reference point of body i."""
    mechanism = problem.poses.generator.motion.mechanism
    return sub(row(mechanism.scratch, MOVING*i + PLACE),
               across(mechanism.scratch, MOVING*i, row(mechanism.constants, BODY*i + 7)))
