"""A point that is pushed from rest at the origin: x'' = push sqrt(1 - t/last) + strong^2; NaN after `last`, infinite
where the square overflows. All numbers of the state start at zero."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    Counter,
    Form,
    Formulated,
    Observable,
    Parameter,
    Preset,
    Sheet,
    StateField,
    new_counters,
    sqrt,
    stage_columns,
)


class PushedPoint(NamedTuple):
    push: Any
    strong: Any
    last: Any
    counters: Any

    def stage(self, weights, h, k, count, y, out):
        stage_columns(weights, h, k, count, y, out)

    def rhs(self, t, y, out):
        self.counters[Counter.RHS_EVALUATIONS] += 1
        out[0, 0] = y[1, 0]
        out[1, 0] = self.push*sqrt(1.0 - t/self.last) + self.strong*self.strong
        return True

    def project(self, y):
        pass

    def observe(self, y, out):
        out[0] = 0.5*y[1, 0]*y[1, 0]


def field(parameters, state, options):
    names = ("position", "velocity")
    return Formulated(
        PushedPoint(parameters["push"], parameters["strong"], parameters["last"], new_counters()),
        np.array([state[name] for name in names]),
        tuple(StateField(name, units, name, ("coordinate",), "relative")
              for name, units in zip(names, ("m", "m s-1"), strict=True)),
        (Observable("energy", slice(0, 1), "J", "kinetic energy", conserved=(False,)),),
        lambda y: {name: y[..., row, :] for row, name in enumerate(names)}, 0.0)


SHEET = Sheet(
    title="Pushed point", equations="x'' = push sqrt(1 - t/last) + strong^2",
    parameters={"push": Parameter("m s-2", "push at the start"), "strong": Parameter("m1/2 s-1", "root of a push"),
                "last": Parameter("s", "when the push ends", (), "positive")},
    build=lambda p: PushedPoint(p["push"], p["strong"], p["last"], new_counters()),
    conserved_momentum=lambda p: (False, False, False),
    presets={"rest": Preset("from rest", "none", "own", {"push": 1.0, "strong": 0.0, "last": 4.0},
                            lambda p: {"position": np.zeros(1), "velocity": np.zeros(1)}, 1.0)},
    state_shapes=lambda p: {"position": (1,), "velocity": (1,)}, manifold=lambda p, state: None,
    kinetic_energy=lambda p, fields: 0.5*np.sum(fields["velocity"]**2, axis=1),
    forms={"vector_field": Form(field)})
