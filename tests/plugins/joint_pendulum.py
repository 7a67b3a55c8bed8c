"""A point of unit mass on a rod of fixed length in two coordinates: rows x, v, (lambda, 0) of two numbers.

dx/dt = v, dv/dt = g + lambda x, lambda = -(|v|^2 + g.x)/l^2; the multiplier is integrated by dlambda/dt = -3 g.v/l^2,
so that it is stored like any row. Its error is not counted in that of the state.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    Counter,
    Form,
    Formulated,
    InputError,
    Observable,
    Parameter,
    Preset,
    Sheet,
    StateField,
    new_counters,
    sqrt,
    stage_columns,
)


class JointPendulum(NamedTuple):
    length: Any
    gravity: Any  # along -x_2
    counters: Any

    def stage(self, weights, h, k, count, y, out):
        stage_columns(weights, h, k, count, y, out)

    def rhs(self, t, y, out):
        self.counters[Counter.RHS_EVALUATIONS] += 1
        for i in range(2):
            out[0, i] = y[1, i]
            out[1, i] = y[2, 0]*y[0, i]
        out[1, 1] = out[1, 1] - self.gravity
        out[2, 0] = 3*self.gravity*y[1, 1]/(self.length*self.length)
        out[2, 1] = 0*y[2, 1]
        return True

    def project(self, y):
        pass

    def observe(self, y, out):
        speed = y[1, 0]*y[1, 0] + y[1, 1]*y[1, 1]
        out[0] = 0.5*speed + self.gravity*y[0, 1]
        out[1] = (y[0, 0]*y[0, 0] + y[0, 1]*y[0, 1])/(self.length*self.length) - 1.0
        out[2] = (y[0, 0]*y[1, 0] + y[0, 1]*y[1, 1])/(self.length*sqrt(self.length*self.gravity))
        out[3] = sqrt(speed)


FIELDS = (StateField("position", "m", "position", ("coordinate",), "coordinate"),
          StateField("velocity", "m s-1", "velocity", ("coordinate",), "coordinate"),
          StateField("multiplier", "s-2", "multiplier of the joint", ("joint",), "relative", counted=False))
OBSERVABLES = (
    Observable("energy", slice(0, 1), "J", "total energy"),
    Observable("joint_error", slice(1, 3), "1", "joint, relative, and its rate", "residual", ("place", "rate"),
               statistics=("mean", "max", "mean_square")),
    Observable("path_length", slice(3, 4), "m", "length of the path", "plain", integral=True))


def check(parameters, state):
    if abs(np.dot(state["position"], state["velocity"])) > 1e-12:
        raise InputError("initial velocity is not orthogonal to position")


def field(parameters, state, options):
    x, v, length, gravity = state["position"], state["velocity"], parameters["length"], parameters["gravity"]
    multiplier = -(v @ v - gravity*x[1])/length**2
    return Formulated(JointPendulum(length, gravity, new_counters()), np.array([x, v, [multiplier, 0.0]]), FIELDS,
                      OBSERVABLES, lambda y: {"position": y[..., 0, :], "velocity": y[..., 1, :],
                                              "multiplier": y[..., 2, :1]}, 0.0)


SHEET = Sheet(
    title="Pendulum with a joint", equations="x'' = g + lambda x, |x| = l",
    parameters={"length": Parameter("m", "length of the rod", (), "positive"),
                "gravity": Parameter("m s-2", "acceleration of gravity", (), "positive")},
    build=lambda p: JointPendulum(p["length"], p["gravity"], new_counters()),
    conserved_momentum=lambda p: (False, False, False),
    presets={"swing": Preset("from the side", "none", "own", {"length": 2.0, "gravity": 9.81},
                             lambda p: {"position": np.array([1.2, -1.6]), "velocity": np.array([0.8, 0.6])}, 2.0)},
    state_shapes=lambda p: {"position": (2,), "velocity": (2,)}, manifold=check,
    kinetic_energy=lambda p, fields: 0.5*np.sum(fields["velocity"]**2, axis=1),
    forms={"vector_field": Form(field)})
