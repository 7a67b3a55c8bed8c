"""A rigid body about a fixed point in a unit quaternion: 4 coordinates, 1 constraint, mass matrix 4 G^T J G of rank 3
(livens2025 section 4).

State rows q, v, p (4,) and the multiplier. V = 1/2 q.S q: with the lever m l chi in the body and gravity g, V =
-g.R(q) lever is homogeneous and quadratic.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.rows import Vector, put, scale
from liestep.compile.status import Status
from liestep.geometry.quaternion import (
    Quaternion,
    body_part,
    columns,
    exponential,
    from_body,
    inner,
    quaternion,
    space_part,
)
from liestep.mechanics.formulations.constrained.coordinates import Coordinates
from liestep.mechanics.formulations.constrained.hamilton import mobility, spin_flow, spin_velocity
from liestep.mechanics.formulations.constrained.spin import (
    far_apart,
    length_defect,
    radial_residual,
    radial_strain,
    spin_momentum,
    spin_residual,
    turned,
)

MULTIPLIER = 3  # row of the multipliers


@kernel
def observe_rows(system: Any, q: Quaternion, p: Quaternion, rows: np.ndarray, out: np.ndarray) -> None:
    """The system's own observables: of the attitude R(q) and the spatial angular momentum E(q) p/2."""
    one, two, three = columns(q)
    put(rows, 0, one)
    put(rows, 1, two)
    put(rows, 2, three)
    put(rows, 3, scale(0.5, space_part(q, p)))
    system.observe(rows, out)


@borrows(Coordinates)
class QuaternionBody(NamedTuple):
    """A rigid body about a fixed point under its weight: `ConstrainedLagrangian` and `QuaternionHamiltonian` of
    `mechanics.contracts.formulations`."""

    system: Any            # of `mechanics.formulations.fixed_body`
    inertia: np.ndarray    # (3,)
    stiffness: np.ndarray  # (4, 4) S
    polar: float           # J_00 of the augmented mass matrix; 0: the singular one
    first: int             # columns of the system's observables
    rows: np.ndarray       # (4, 3) scratch
    counters: np.ndarray

    def size(self) -> int:
        return 4

    def bonds(self) -> int:
        return 1

    def moments(self) -> Vector:
        return self.inertia[0], self.inertia[1], self.inertia[2]

    def pull(self, q: Quaternion, i: int) -> float:
        """(S q)_i"""
        s = self.stiffness
        return s[i, 0]*q[0] + s[i, 1]*q[1] + s[i, 2]*q[2] + s[i, 3]*q[3]

    def guess(self, h: float, q: np.ndarray, v: np.ndarray, d: np.ndarray) -> None:
        """By the body rate at the middle of the step, from Euler's equations: an error of third order."""
        x, j, k = quaternion(q, 0), self.moments(), 0.5*h
        g = body_part(x, quaternion(v, 0))
        w = (2.0*g[0], 2.0*g[1], 2.0*g[2])
        n = body_part(x, (self.pull(x, 0), self.pull(x, 1), self.pull(x, 2), self.pull(x, 3)))
        turn = (h*(w[0] + k*((j[1] - j[2])*w[1]*w[2] - 0.5*n[0])/j[0]),
                h*(w[1] + k*((j[2] - j[0])*w[2]*w[0] - 0.5*n[1])/j[1]),
                h*(w[2] + k*((j[0] - j[1])*w[0]*w[1] - 0.5*n[2])/j[2]))
        turned(x, exponential(turn), 0, d)

    def admissible(self, q0: np.ndarray, q1: np.ndarray) -> Status:
        return Status.CHART_LIMIT if far_apart(quaternion(q0, 0), quaternion(q1, 0)) else Status.OK

    def kinetic(self, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray, alpha: float,
                beta: float, r: np.ndarray, a: np.ndarray) -> None:
        spin_residual(rule > 0, self.moments(), h, 0, q0, v0, q1, v1, alpha, beta, r, a)
        if self.polar > 0.0:
            radial_residual(rule > 0, self.polar, h, quaternion(q0, 0), quaternion(v0, 0), quaternion(q1, 0),
                            quaternion(v1, 0), alpha, beta, r, a)

    def momentum(self, rule: int, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray,
                 out: np.ndarray) -> None:
        a0, b0, a1, b1 = quaternion(q0, 0), quaternion(v0, 0), quaternion(q1, 0), quaternion(v1, 0)
        p = spin_momentum(rule > 0, self.moments(), a0, b0, a1, b1)
        s = 0.0 if self.polar == 0.0 else 2.0*self.polar*radial_strain(rule > 0, a0, b0, a1, b1)
        for i in range(4):
            out[i] = p[i] + s*(q0[i] + q1[i])

    def flow(self, kind: int, polar: float, h: float, q0: np.ndarray, p0: np.ndarray, q1: np.ndarray, p1: np.ndarray,
             r: np.ndarray, a: np.ndarray) -> None:
        spin_flow(kind, mobility(polar, self.moments()), h, 0, 4, q0, p0, q1, p1, r, a)

    def velocity(self, polar: float, q: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        spin_velocity(mobility(polar, self.moments()), 0, q, p, out)

    def forces(self, rule: int, t: float, h: float, q0: np.ndarray, q1: np.ndarray, r: np.ndarray,
               a: np.ndarray) -> None:
        """The midpoint rule is exact for a quadratic potential."""
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        for i in range(4):
            for j in range(4):
                s = 0.5*h*self.stiffness[i, j]
                r[i] += s*(q0[j] + q1[j])
                a[i, j] += s

    def constraints(self, q: np.ndarray, out: np.ndarray) -> None:
        out[0] = length_defect(quaternion(q, 0))

    def slopes(self, q: np.ndarray, out: np.ndarray) -> None:
        for i in range(4):
            out[0, i] = q[i]

    def bend(self, s: float, multipliers: np.ndarray, a: np.ndarray) -> None:
        for i in range(4):
            a[i, i] += s*multipliers[0]

    def make_tangent(self, q: np.ndarray, v: np.ndarray) -> None:
        s = inner(quaternion(q, 0), quaternion(v, 0))
        for i in range(4):
            v[i] -= s*q[i]

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """The system's observables, then generalized energy (74), total energy (80), (q.q - 1)/2, q.v, q.p, p - M v."""
        q, v, p = quaternion(y[0], 0), quaternion(y[1], 0), quaternion(y[2], 0)
        observe_rows(self.system, q, p, self.rows, out)
        w, i = body_part(q, v), self.first
        slip = inner(q, v)
        twice = 4.0*(self.inertia[0]*w[0]*w[0] + self.inertia[1]*w[1]*w[1] + self.inertia[2]*w[2]*w[2]
                     + self.polar*slip*slip)
        potential = 0.5*(q[0]*self.pull(q, 0) + q[1]*self.pull(q, 1) + q[2]*self.pull(q, 2) + q[3]*self.pull(q, 3))
        out[i] = inner(p, v) - 0.5*twice + potential
        out[i + 1] = 0.5*twice + potential
        out[i + 2] = abs(length_defect(q))
        out[i + 3] = abs(slip)
        out[i + 4] = abs(inner(q, p))
        own = from_body(q, (4.0*self.inertia[0]*w[0], 4.0*self.inertia[1]*w[1], 4.0*self.inertia[2]*w[2]))
        radial = 4.0*self.polar*slip
        apart = 0.0
        for k in range(4):
            apart = max(apart, abs(p[k] - own[k] - radial*q[k]))
        out[i + 5] = apart
