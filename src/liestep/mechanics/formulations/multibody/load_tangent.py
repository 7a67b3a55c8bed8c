"""Torques in the residual of index-3 methods, and their derivatives by the increments of their bodies.

A torque T about an axis u that body a carries acts on a, and against b; T = T cos(f t + p) - c (omega_a - omega_b).u.
"""
from typing import Any

import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import add, axpy, cross, dot, row, scale, unit
from liestep.mechanics.formulations.multibody.mechanism import (
    BODY,
    GROUP,
    LOAD,
    MOVING,
    RATE,
    SPRING,
    TURN,
    across,
    times,
)


@kernel
@outlined
def torque_tangent(problem: Any, k: int, u: np.ndarray, past: np.ndarray, s: float, cv: float, cc: float) -> None:
    """Torque k, s times it, at dV = cv dU + cc [dU, past]."""
    mechanism, still = problem.poses.generator.motion.mechanism, (0.0, 0.0, 0.0)
    c, x, number = mechanism.constants, mechanism.scratch, mechanism.groups + mechanism.springs + k
    at = BODY*mechanism.bodies + 1 + SPRING*mechanism.springs + GROUP*mechanism.groups + LOAD*k
    a, b = mechanism.table[number, 1], mechanism.table[number, 2]
    damping, axis = c[at + 1, 0], row(c, at)
    value, _, turn = mechanism.torque(k)
    facing = times(x, MOVING*b, turn)
    problem.load(a, scale(-s*value, axis), still)
    if b < mechanism.bodies:
        problem.load(b, scale(s*value, facing), still)
    for side in range(2):
        i = a if side == 0 else b
        if i >= mechanism.bodies:
            continue
        for r in range(3):
            theta = unit(r)
            ew, ep = problem.local(u, i, theta, still)
            kw, _ = problem.poses.action.bracket_of_body(ew, ep, row(past, 2*i), row(past, 2*i + 1))
            vw = axpy(cc, kw, scale(cv, ew))
            if side == 0:
                tilt = across(x, MOVING*a, cross(theta, axis))
                change = damping*(dot(row(x, MOVING*b + TURN), tilt) - dot(vw, axis))
                moved = times(x, MOVING*b, tilt)
            else:
                change = damping*dot(add(cross(theta, row(x, MOVING*b + RATE)), vw), facing)
                moved = cross(facing, theta)
            problem.column(a, i, r, scale(-s*change, axis), still, -1)
            if b < mechanism.bodies:
                problem.column(b, i, r, scale(s, axpy(change, facing, scale(value, moved))), still, -1)
