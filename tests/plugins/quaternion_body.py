"""A heavy top whose attitude is a unit quaternion: rows of four numbers, the momentum in the first three of its row.

dq/dt = (0, w) q/2, dpi/dt = Q chi x (0, 0, -weight), w = Q I^-1 Q^T pi, all spatial, scalar part first.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    ActionForm,
    Counter,
    Form,
    Formulated,
    InputError,
    Observable,
    Parameter,
    Preset,
    Sheet,
    StateField,
    axpy,
    cross,
    dot,
    kernel,
    new_counters,
    put,
    row,
    scale,
    stage_columns,
)
from liestep.geometry.so3 import coefficients, dexpinv, in_chart


@kernel
def turned(q, sign, u):
    """Q u for sign 1, Q^T u for sign -1, Q of the quaternion in a tuple of four."""
    v = scale(sign, (q[1], q[2], q[3]))
    twice = scale(2.0, cross(v, u))
    return axpy(q[0], twice, axpy(1.0, u, cross(v, twice)))


@kernel
def times(p, q):
    """Hamilton's product of tuples of four."""
    u, v = (p[1], p[2], p[3]), (q[1], q[2], q[3])
    w = axpy(p[0], v, axpy(q[0], u, cross(u, v)))
    return p[0]*q[0] - dot(u, v), w[0], w[1], w[2]


@kernel
def quaternion(y):
    return y[0, 0], y[0, 1], y[0, 2], y[0, 3]


@kernel
def put_quaternion(y, q):
    y[0, 0], y[0, 1], y[0, 2], y[0, 3] = q


class QuaternionTop(NamedTuple):
    inertia: Any  # (3,)
    lever: Any    # distance of the mass centre times the weight, along body axis 3

    def rate(self, y):
        q = quaternion(y)
        body = turned(q, -1.0, row(y, 1))
        return turned(q, 1.0, (body[0]/self.inertia[0], body[1]/self.inertia[1], body[2]/self.inertia[2]))

    def torque(self, y):
        return cross(turned(quaternion(y), 1.0, (0.0, 0.0, 1.0)), (0.0, 0.0, -self.lever))

    def observe(self, y, out):
        q, pi = quaternion(y), row(y, 1)
        out[0] = 0.5*dot(pi, self.rate(y)) + self.lever*turned(q, 1.0, (0.0, 0.0, 1.0))[2]
        out[1], out[2], out[3] = pi
        out[4] = abs(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3] - 1.0)


class QuaternionField(NamedTuple):
    top: Any
    counters: Any

    def stage(self, weights, h, k, count, y, out):
        stage_columns(weights, h, k, count, y, out)

    def rhs(self, t, y, out):
        self.counters[Counter.RHS_EVALUATIONS] += 1
        w = self.top.rate(y)
        put_quaternion(out, times((0.0, 0.5*w[0], 0.5*w[1], 0.5*w[2]), quaternion(y)))
        put(out, 1, self.top.torque(y))
        out[1, 3] = 0.0
        return True

    def project(self, y):
        pass

    def observe(self, y, out):
        self.top.observe(y, out)


class QuaternionGenerator(NamedTuple):
    top: Any

    def algebra(self, t, y, out):
        put(out, 0, self.top.rate(y))
        put(out, 1, self.top.torque(y))
        return True

    def observe(self, y, out):
        self.top.observe(y, out)


class QuaternionAction(NamedTuple):
    """SO(3) x R^3: exp(u, a).(q, pi) = (exp(u/2) q, pi + a)."""

    rows: Any

    def algebra_rows(self):
        return 2

    def act(self, xi, y, out):
        u = row(xi, 0)
        z = 0.25*dot(u, u)
        s, c, _ = coefficients(z)
        put_quaternion(out, times((1.0 - z*c, 0.5*s*u[0], 0.5*s*u[1], 0.5*s*u[2]), quaternion(y)))
        put(out, 1, axpy(1.0, row(xi, 1), row(y, 1)))
        out[1, 3] = y[1, 3]

    def dexpinv(self, sigma, v, out):
        u = row(sigma, 0)
        put(out, 0, dexpinv(u, row(v, 0)))
        put(out, 1, row(v, 1))
        return in_chart(u)

    def in_chart(self, sigma):
        return in_chart(row(sigma, 0))

    def bracket(self, a, b, out):
        put(out, 0, cross(row(a, 0), row(b, 0)))
        put(out, 1, (0.0, 0.0, 0.0))


FIELDS = (StateField("quaternion", "1", "attitude, scalar part first", ("part",), "quaternion"),
          StateField("momentum", "kg m2 s-1", "angular momentum, spatial", ("xyz",), "relative"))
OBSERVABLES = (
    Observable("energy", slice(0, 1), "J", "total energy"),
    Observable("momentum_map", slice(1, 4), "kg m2 s-1", "angular momentum", conserved=(False, False, True),
               stem="momentum_error"),
    Observable("unit_length_error", slice(4, 5), "1", "|q.q - 1|", "residual"))


def check(parameters, state):
    if abs(np.sum(state["quaternion"]**2) - 1.0) > 1e-12:
        raise InputError("initial quaternion is not of unit length to 1e-12")


def field(parameters, state, options):
    return formulated(QuaternionField(top_of(parameters), new_counters()), state)


def action(parameters, state, options):
    return formulated(ActionForm(QuaternionAction(2), QuaternionGenerator(top_of(parameters)), new_counters()), state)


def top_of(parameters):
    return QuaternionTop(parameters["inertia"], parameters["lever"])


def formulated(problem, state):
    rows = np.zeros((2, 4))
    rows[0], rows[1, :3] = state["quaternion"], state["momentum"]
    return Formulated(problem, rows, FIELDS, OBSERVABLES,
                      lambda y: {"quaternion": y[..., 0, :], "momentum": y[..., 1, :3]},
                      float(np.linalg.norm(state["momentum"])))


def kinetic(parameters, fields):
    q, pi = fields["quaternion"], fields["momentum"]
    v = -q[:, 1:]
    twice = 2.0*np.cross(v, pi)
    body = pi + q[:, :1]*twice + np.cross(v, twice)
    return 0.5*np.sum(body*body/parameters["inertia"], axis=1)


SHEET = Sheet(
    title="Heavy top in quaternions", equations="dq/dt = (0, w) q/2, dpi/dt = torque",
    parameters={"inertia": Parameter("kg m2", "principal moments", (3,), "positive"),
                "lever": Parameter("J", "weight times distance of the mass centre")},
    build=top_of,
    conserved_momentum=lambda p: (False, False, True),
    presets={"tilted": Preset("tilted and spinning", "none", "own", {"inertia": [1.0, 1.2, 0.6], "lever": 1.5},
                              lambda p: {"quaternion": np.array([0.8, 0.6, 0.0, 0.0]),
                                         "momentum": np.array([0.3, -0.5, 1.1])}, 2.0)},
    state_shapes=lambda p: {"quaternion": (4,), "momentum": (3,)}, manifold=check, kinetic_energy=kinetic,
    forms={"vector_field": Form(field), "lie_action": Form(action)})
