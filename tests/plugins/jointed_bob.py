"""A bob on a rigid link, in Cartesian coordinates: its start must fit the joint, which only the parameters know. The
form has an option of its own, a wall makes the field no single expression, and another engine stands in for it."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    Counter,
    Form,
    Formulated,
    InputError,
    Observable,
    Option,
    Parameter,
    Preset,
    Sheet,
    StateField,
    axpy,
    dot,
    new_counters,
    put,
    row,
    scale,
    stage_rows,
)

FIELDS = (StateField("position", "m", "place of the bob", ("xyz",)), StateField("velocity", "m s-1", "its", ("xyz",)))
ENERGY = Observable("energy", slice(0, 1), "J", "total energy")


class Bob(NamedTuple):
    g: Any
    wall: Any    # stiffness of a wall at x = 0.5
    rate: Any    # of the stabilisation
    counters: Any

    def push(self, x):
        return self.wall*(0.5 - x[0]) if x[0] > 0.5 else 0.0

    def stage(self, weights, h, k, count, y, out):
        stage_rows(weights, h, k, count, y, out)

    def rhs(self, t, y, out):
        self.counters[Counter.RHS_EVALUATIONS] += 1
        x, v = row(y, 0), row(y, 1)
        force = (self.push(x), 0.0, -self.g)
        tension = (dot(v, v) + dot(x, force) + 2.0*self.rate*dot(x, v))/dot(x, x)
        put(out, 0, v)
        put(out, 1, axpy(-tension, x, force))
        return True

    def project(self, y):
        pass

    def observe(self, y, out):
        x, v = row(y, 0), row(y, 1)
        out[0] = 0.5*dot(v, v) + self.g*x[2] + (0.5*self.wall*(x[0] - 0.5)*(x[0] - 0.5) if x[0] > 0.5 else 0.0)


def make(p, state, options):
    problem = Bob(p["g"], p["wall"], options["stabilisation_rate"], new_counters())
    return Formulated(problem, np.array([state["position"], state["velocity"]]), FIELDS, (ENERGY,),
                      lambda rows: {"position": rows[..., 0, :], "velocity": rows[..., 1, :]}, 0.0)


def joint(p, state):
    gap = abs(np.linalg.norm(state["position"]) - p["length"])
    if gap > 1e-12:
        raise InputError(f"initial position is {gap:.3g} m off the joint: the link is {p['length']:g} m long")
    if abs(state["position"] @ state["velocity"]) > 1e-12:
        raise InputError("initial velocity is along the link")


def start(p):
    return {"position": scale(p["length"], (0.6, 0.0, -0.8)), "velocity": (0.0, 1.0, 0.0)}


SHEET = Sheet(
    title="Bob on a link", equations="x'' = f + tension x", build=lambda p: None,
    parameters={"length": Parameter("m", "length of the link", (), "positive"),
                "g": Parameter("m s-2", "acceleration of gravity"),
                "wall": Parameter("N m-1", "stiffness of a wall", (), "non-negative")},
    conserved_momentum=lambda p: (False, False, p["wall"] == 0.0),
    state_shapes=lambda p: {"position": (3,), "velocity": (3,)}, manifold=joint,
    kinetic_energy=lambda p, fields: 0.5*np.sum(fields["velocity"]**2, axis=1),
    forms={"vector_field": Form(make, {"stabilisation_rate": Option(0.0, "of the joint, in 1/s", numbers="finite")})},
    fallback=lambda p: "vector_field" if p["wall"] == 0.0 else None,
    requires=lambda p, method: "a wall needs fixed steps" if method.adaptive and p["wall"] > 0.0 else "",
    presets={"swing": Preset("swings", "none", "own", {"length": 1.0, "g": 1.0, "wall": 0.0}, start, 0.2)})
