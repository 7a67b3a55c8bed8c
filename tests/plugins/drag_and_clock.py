"""A bob of unit mass on a rod of unit length with drag -c v and a force that depends on time."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Parameter, Preset, add, cross, put, row, scale, sin, spheres


class DragAndClock(NamedTuple):
    weight: Any
    drag: Any

    def potential(self, q):
        return self.weight*q[0, 2]

    def gradient(self, q, out):
        put(out, 0, (0.0, 0.0, self.weight))

    def force(self, t, q, omega, out):
        put(out, 0, add(scale(-self.drag, cross(row(omega, 0), row(q, 0))), (3.0*sin(2.0*t), 0.0, 0.0)))


def start(p):
    return {"q": np.array([[0.6, 0.0, -0.8]]), "omega": np.array([[0.0, 0.5, 0.0]])}


SHEET = spheres(
    title="Bob with drag and clock",
    equations="d^2q/dt^2 = -g e3 - c dq/dt + 3 sin(2 t) e1 + lambda q", citation="none",
    parameters={"g": Parameter("m s-2", "acceleration of gravity"), "drag": Parameter("kg s-1", "c")},
    build=lambda p: DragAndClock(p["g"], p["drag"]), mass=lambda p: np.array([1.0]),
    conserved_momentum=lambda p: (False, False, False),
    presets={"default": Preset("swings", "none", "own", {"g": 1.0, "drag": 0.8}, start, 4.0)})
