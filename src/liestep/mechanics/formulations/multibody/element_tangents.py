"""Force elements in the equations of index-3 methods: loads of the residual, and their derivatives by differences.

Newton's iterations need no exact derivatives, and an author's functions have none: each unknown of each body moves its
pose and its velocity by 2^-27 of an angle, or of the largest length in the mechanism.
"""
from typing import Any

import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import add, axpy, cross, larger, put, row, scale, sub, unit
from liestep.mechanics.formulations.multibody.mechanism import BODY, MOVING, PLACE, RATE, TURN, VELOCITY, across, times

MOVED = 2.0**-27


@kernel
@outlined
def pulled(problem: Any, i: int) -> tuple:
    """Moment about the reference point of body i in its axes and force in the components of the group."""
    mechanism = problem.poses.generator.motion.mechanism
    loads, m = mechanism.elements.loads, MOVING*i
    force = row(loads, 2*i + 1)
    inside = times(mechanism.scratch, m, force)
    moment = add(times(mechanism.scratch, m, row(loads, 2*i)), cross(row(mechanism.constants, BODY*i + 7), inside))
    return moment, inside if problem.poses.action.se3 == 1 else force


@kernel
@outlined
def move(problem: Any, i: int, theta: tuple, delta: tuple, w: tuple, p: tuple) -> None:
    """Body i in scratch, which stands where `evaluate` read it, turned by theta (body) and moved by delta at its
    reference point, with the native velocities w and p: of SE(3) all in the body's axes."""
    mechanism, se3 = problem.poses.generator.motion.mechanism, problem.poses.action.se3
    s, m, centre = mechanism.scratch, MOVING*i, row(mechanism.constants, BODY*i + 7)
    place = add(sub(row(s, m + PLACE), across(s, m, centre)), across(s, m, delta) if se3 == 1 else delta)
    x, y, z = (across(s, m, add(unit(0), cross(theta, unit(0)))), across(s, m, add(unit(1), cross(theta, unit(1)))),
               across(s, m, add(unit(2), cross(theta, unit(2)))))
    put(s, m, x)
    put(s, m + 1, y)
    put(s, m + 2, z)
    put(s, m + PLACE, add(place, across(s, m, centre)))
    put(s, m + RATE, w)
    put(s, m + TURN, across(s, m, w))
    put(s, m + VELOCITY, add(across(s, m, p) if se3 == 1 else p, across(s, m, cross(w, centre))))


@kernel
@outlined
def element_tangents(problem: Any, u: np.ndarray, v: np.ndarray, past: np.ndarray, h: float, cv: float,
                     cc: float) -> None:
    """h times the loads in the residual, and their derivatives at dV = cv dU + cc [dU, past]."""
    mechanism, n = problem.poses.generator.motion.mechanism, problem.poses.action.n
    s, elements = mechanism.scratch, mechanism.elements
    time, size = s[s.shape[0] - 1, 0], elements.size
    elements.forces(s, time)
    for i in range(n):
        moment, force = pulled(problem, i)
        problem.load(i, scale(-h, moment), scale(-h, force))
        put(elements.base, 2*i, moment)
        put(elements.base, 2*i + 1, force)
        for c in range(3):
            size = larger(size, abs(s[MOVING*i + PLACE, c]))
    for i in range(n):
        m, w, p = MOVING*i, row(v, 2*i), row(v, 2*i + 1)
        old = (row(s, m), row(s, m + 1), row(s, m + 2), row(s, m + PLACE), row(s, m + RATE), row(s, m + TURN),
               row(s, m + VELOCITY))
        for j in range(6):
            share = MOVED if j < 3 else MOVED*size
            ew, ep = problem.local(u, i, unit(j), unit(j - 3))
            kw, kp = problem.poses.action.bracket_of_body(ew, ep, row(past, 2*i), row(past, 2*i + 1))
            vw, vp = axpy(cc, kw, scale(cv, ew)), axpy(cc, kp, scale(cv, ep))
            move(problem, i, scale(share, unit(j)), scale(share, unit(j - 3)), axpy(share, vw, w), axpy(share, vp, p))
            elements.forces(s, time)
            for k in range(n):
                moment, force = pulled(problem, k)
                moment, force = sub(moment, row(elements.base, 2*k)), sub(force, row(elements.base, 2*k + 1))
                # bodies that it does not pull have the same bits, and no place in the band
                if moment != (0.0, 0.0, 0.0) or force != (0.0, 0.0, 0.0):
                    problem.column(k, i, j, scale(-h/share, moment), scale(-h/share, force), -1)
            put(s, m, old[0])
            put(s, m + 1, old[1])
            put(s, m + 2, old[2])
            put(s, m + PLACE, old[3])
            put(s, m + RATE, old[4])
            put(s, m + TURN, old[5])
            put(s, m + VELOCITY, old[6])
