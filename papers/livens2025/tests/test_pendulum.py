"""A spherical pendulum in a unit quaternion (outlook of livens2025): moments (J, J, 0), and the spin fixed by a further
constraint, q_3 = 0. It is `spherical_pendulum_chain` with one pendulum. In plain Python."""
from typing import Any, NamedTuple

import numpy as np
import pytest
from constrained_cases import PLAIN
from scipy.integrate import solve_ivp

from liestep.compile.counters import new_counters
from liestep.compile.status import Status
from liestep.compile.tracing import plain_component
from liestep.integrators.livens import ReducedStep, VariationalStep
from liestep.mechanics.formulations.constrained.body_forms import weight_matrix
from liestep.mechanics.formulations.constrained.quaternion_bodies import QuaternionBody
from liestep.simulation.catalogue import sheet

MASS, LENGTH, GRAVITY, T = 0.7, 1.3, np.array([0.0, 0.0, -9.81]), 0.6
START, SPEED = np.array([0.6, 0.0, -0.8]), np.array([0.8, 1.1, 0.6])  # direction and its velocity


class SpinFixed(NamedTuple):
    """A body in a quaternion with q_3 = 0 besides |q| = 1."""

    body: Any

    def size(self):
        return 4

    def bonds(self):
        return 2

    def guess(self, h, q, v, d):
        d[:] = h*v

    def admissible(self, q0, q1):
        return self.body.admissible(q0, q1)

    def kinetic(self, *arguments):
        self.body.kinetic(*arguments)

    def momentum(self, *arguments):
        self.body.momentum(*arguments)

    def forces(self, *arguments):
        self.body.forces(*arguments)

    def constraints(self, q, out):
        self.body.constraints(q, out)
        out[1] = q[3]

    def slopes(self, q, out):
        self.body.slopes(q, out)
        out[1, :] = 0.0, 0.0, 0.0, 1.0

    def bend(self, s, multipliers, a):
        self.body.bend(s, multipliers, a)

    @property
    def counters(self):
        return self.body.counters


def direction(q):
    """R(q) e_3."""
    return np.array([2*(q[1]*q[3] + q[0]*q[2]), 2*(q[2]*q[3] - q[0]*q[1]), q[0]**2 - q[1]**2 - q[2]**2 + q[3]**2])


def pendulum():
    """(component, rows): T = m l^2/2 |direction'|^2, V = -m l gravity.direction."""
    inertia = MASS*LENGTH**2*np.array([1.0, 1.0, 0.0])
    lever = MASS*LENGTH*np.array([0.0, 0.0, 1.0])
    body = QuaternionBody((), inertia, weight_matrix(lever, GRAVITY), 0.0, 0, np.zeros((4, 3)), new_counters())
    q = np.array([1.0 + START[2], -START[1], START[0], 0.0])
    q /= np.linalg.norm(q)
    slopes = np.array([(direction(q + e) - direction(q - e))/2.0 for e in np.eye(4)]).T
    v = np.linalg.lstsq(np.vstack([slopes, q, np.eye(4)[3]]), np.append(SPEED, [0.0, 0.0]), rcond=None)[0]
    g = np.array([[-q[1], q[0], q[3], -q[2]], [-q[2], -q[3], q[0], q[1]], [-q[3], q[2], -q[1], q[0]]])
    rows = np.array([q, v, 4.0*g.T @ (inertia*(g @ v)), np.zeros(4)])
    return SpinFixed(plain_component(body, PLAIN, np.float64)), rows


def chain_of_one():
    """Direction of the pendulum of the package at T, by its own gradient."""
    facts = sheet("spherical_pendulum_chain")
    gravity = {name: GRAVITY for name in facts.parameters if "gravity" in name}
    parameters = facts.check({"mass": [MASS], "length": [LENGTH], **gravity})
    system = plain_component(facts.build(parameters), PLAIN, np.float64)

    def right(t, y):
        q, u, slope = y[:3], y[3:], np.zeros((1, 3))
        system.gradient(q[None], slope)
        pull = -slope[0]/(MASS*LENGTH**2)
        return np.concatenate([u, pull - (q @ pull)*q - (u @ u)*q])

    return solve_ivp(right, (0.0, T), np.concatenate([START, SPEED]), rtol=1e-12, atol=1e-13).y[:3, -1]


def end(method, steps):
    """(direction at T, largest change of the energy (74), largest defect of the constraints)."""
    problem, rows = pendulum()
    step, y = plain_component(method, PLAIN, np.float64), rows.copy()
    work = plain_component(step.workspace(problem, y), PLAIN, np.float64)
    energies, defect, out = [], 0.0, np.zeros(2)
    for k in range(steps + 1):
        twice = np.zeros(4)
        problem.momentum(0, y[0], y[1], y[0], y[1], twice)
        energies.append(y[2] @ y[1] - 0.25*twice @ y[1] - MASS*LENGTH*GRAVITY @ direction(y[0]))
        problem.constraints(y[0], out)
        defect = max(defect, np.abs(out).max())
        if k < steps:
            assert step.step(problem, 0.0, y, T/steps, work) == Status.OK
    return direction(y[0]), np.ptp(energies), defect


@pytest.mark.parametrize(("method", "exact"), [(ReducedStep(1, False, False, 1e-15, 40), True),
                                               (VariationalStep(1e-15, 40), False)])
def test_a_quaternion_carries_a_spherical_pendulum(method, exact):
    true = chain_of_one()
    errors = []
    for steps in (40, 80):
        found, energy, defect = end(method, steps)
        errors.append(np.abs(found - true).max())
        assert defect <= 1e-14
        assert energy <= 1e-12 if exact else energy >= 1e-6
    assert errors[0]/errors[1] == pytest.approx(4.0, abs=0.2)
    assert errors[1] <= 1e-3
