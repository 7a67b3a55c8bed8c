"""A chain of n bobs with drag and a pivot that shakes: coupled bodies, forces of time and velocity."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import Parameter, Preset, add, copy, cross, dot, put, row, scale, sin, spheres


class DraggedChain(NamedTuple):
    """V = sum_i weight_i.q_i; drag -c dx_k/dt and m a sin(3 t) e1 on each mass at x_k = sum_{i<=k} l q_i."""

    weight: Any   # (n, 3)
    length: Any
    mass: Any
    drag: Any
    shake: Any

    def potential(self, q):
        total = 0.0
        for i in range(q.shape[0]):
            total += dot(row(self.weight, i), row(q, i))
        return total

    def gradient(self, q, out):
        copy(self.weight, out)

    def force(self, t, q, omega, out):
        n = q.shape[0]
        push = (self.mass*self.shake*sin(3.0*t), 0.0, 0.0)
        for i in range(n):
            total = (0.0, 0.0, 0.0)
            for k in range(i, n):
                velocity = (0.0, 0.0, 0.0)
                for j in range(k + 1):
                    velocity = add(velocity, scale(self.length, cross(row(omega, j), row(q, j))))
                total = add(total, add(push, scale(-self.drag, velocity)))
            put(out, i, scale(self.length, total))


def carried(p):
    return np.arange(p["bobs"], 0, -1)*p["mass"]


def start(p):
    n = p["bobs"]
    q = np.array([[0.6, 0.0, -0.8], [0.0, 0.8, -0.6], [0.28, 0.96, 0.0]])[np.arange(n) % 3]
    turn = np.cross(q, np.array([0.3, -0.5, 0.7]))
    return {"q": q, "omega": turn*(1.0 + np.arange(n))[:, None]}


SHEET = spheres(
    title="Chain of bobs with drag", equations="M dv/dt = -G + F + lambda q; dq/dt = v", citation="none",
    parameters={"bobs": Parameter("1", "how many", (), "index"), "mass": Parameter("kg", "of each", (), "positive"),
                "length": Parameter("m", "of each link", (), "positive"), "g": Parameter("m s-2", "gravity"),
                "drag": Parameter("kg s-1", "c"), "shake": Parameter("m s-2", "a")},
    build=lambda p: DraggedChain((carried(p)*p["g"]*p["length"])[:, None]*np.array([0.0, 0.0, 1.0]), p["length"],
                                 p["mass"], p["drag"], p["shake"]),
    mass=lambda p: p["length"]**2*np.minimum.outer(carried(p), carried(p)),
    conserved_momentum=lambda p: (False, False, False),
    presets={"three": Preset("swings", "none", "own", {"bobs": 3, "mass": 0.5, "length": 0.8, "g": 9.81, "drag": 0.2,
                                                        "shake": 2.0}, start, 1.0)})
