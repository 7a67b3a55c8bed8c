"""Pendula in a row, as many as a parameter says; and a kick-drift-kick step that needs uncoupled bodies."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    Keeps,
    Method,
    Parameter,
    Preset,
    Status,
    atan2,
    axpy,
    cos,
    cross,
    dot,
    put,
    row,
    scale,
    sin,
    spheres,
    sqrt,
)


class Bobs(NamedTuple):
    """V = weight sum_i angle_i, the angle between q_i and e3."""

    weight: Any

    def potential(self, q):
        total = 0.0
        for i in range(q.shape[0]):
            total += self.weight*atan2(sqrt(q[i, 0]*q[i, 0] + q[i, 1]*q[i, 1]), q[i, 2])
        return total

    def gradient(self, q, out):
        for i in range(q.shape[0]):
            x, y, z = row(q, i)
            across = sqrt(x*x + y*y)
            square = across*across + z*z
            put(out, i, scale(self.weight/square, (z*x/across, z*y/across, -across)))


class KickDriftKick(NamedTuple):
    """Order 2, symmetric, explicit: kick, exact drift on great circles, kick."""

    half: Any

    def workspace(self, problem, y):
        return np.zeros_like(y[:y.shape[0]//2])

    def start(self, problem, t, y, h, work):
        return Status.OK

    def kick(self, problem, y, h, work):
        n = y.shape[0]//2
        problem.gradient(y[:n], work)
        for i in range(n):
            put(y, n + i, axpy(-h/problem.body_mass(i), cross(row(y, i), row(work, i)), row(y, n + i)))

    def step(self, problem, t, y, h, work):
        n = y.shape[0]//2
        self.kick(problem, y, self.half*h, work)
        for i in range(n):
            q, w = row(y, i), row(y, n + i)
            size = sqrt(dot(w, w))
            if size > 0.0:
                put(y, i, axpy(cos(h*size), q, scale(sin(h*size)/size, cross(w, q))))
        self.kick(problem, y, self.half*h, work)
        return Status.OK


def start(p):
    return {"q": np.tile([0.6, 0.0, 0.8], (p["bobs"], 1)), "omega": np.tile([0.0, 0.3, 0.0], (p["bobs"], 1))}


SHEETS = {"chain_of_bobs": spheres(
    title="Bobs in a row", equations="domega_i/dt = -q_i x G_i",
    parameters={"bobs": Parameter("1", "number of bobs", (), "index"),
                "weight": Parameter("J", "strength of the potential", (), "positive")},
    build=lambda p: Bobs(p["weight"]), mass=lambda p: np.ones(p["bobs"]),
    conserved_momentum=lambda p: (False, False, True),
    presets={"two": Preset("two alike", "none", "own", {"bobs": 2, "weight": 1.0}, start, 1.0)})}
METHODS = {"kick_drift_kick": Method(
    summary="order 2, 2 gradients, symmetric, explicit", order=2, formulation="sphere_lagrangian", symmetric=True,
    conserves=(Keeps.MANIFOLD,), build=lambda options, tolerance, t_end: KickDriftKick(0.5),
    requires=lambda p, sheet: "" if sheet.mass is not None and np.ndim(sheet.mass(p)) == 1 else "it needs uncoupled"
    " bodies")}
