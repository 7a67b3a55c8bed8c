"""Rigid bodies in unit quaternions, |q| = 1: with spherical joints and positions, 7 coordinates each and 3 constraints
for each joint (livens2025 section 5.5), or one about a fixed point, 4 coordinates and a mass matrix 4 G^T J G of rank 3
(section 4).

State rows q, v, p (7 N,), multipliers (N of unit lengths, then 3 of each joint), and with a load its work. The
derivatives of joints are taken at the means of quaternions, (R(q) X is quadratic), which keeps the generalized energy;
the angular momentum then changes by h sum_joints mu x g(q_m), since g(q_m) = 0 only up to h^2.

About a fixed point V = 1/2 q.S q: with the lever m l chi in the body and gravity g, V = -g.R(q) lever is homogeneous
and quadratic."""
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, hands_on, separate
from liestep.compile.roles import System
from liestep.compile.rows import Vector, add, cross, dot, put, row, scale, wipe
from liestep.compile.status import Status
from liestep.geometry.quaternion import (
    Quaternion,
    body_part,
    columns,
    exponential,
    from_body,
    from_space,
    inner,
    middle,
    quaternion,
    space_part,
    spin_quadratic,
    unit,
)
from liestep.mechanics.formulations.constrained.bodies import FORCE, ROWS, TORQUE, Bodies, chained, load_at
from liestep.mechanics.formulations.constrained.spin import (
    far_apart,
    length_defect,
    mobility,
    radial_residual,
    radial_strain,
    spin_flow,
    spin_momentum,
    spin_residual,
    spin_velocity,
    turned,
)
from liestep.mechanics.formulations.coordinates import Coordinates

WIDTH = 7       # coordinates of a body with a position
MULTIPLIER = 3  # row of the multipliers of a body without


@hands_on("bodies", Bodies, "number")
class QuaternionBodies(NamedTuple):
    """`ConstrainedLagrangian`, `QuaternionHamiltonian` and `LinkedBodies` of `mechanics.contracts.formulations`."""

    bodies: Bodies
    rows: np.ndarray  # (6 N, 3) scratch
    counters: np.ndarray
    addresses: np.ndarray  # (7,) addresses of machine code

    def size(self) -> int:
        return WIDTH*self.bodies.mass.shape[0]

    def bonds(self) -> int:
        return self.bodies.mass.shape[0] + 3*self.bodies.first.shape[0]

    def linked(self) -> bool:
        return chained(self.bodies, self.bodies.number())

    def arms(self, k: int) -> tuple[Vector, Vector]:
        return row(self.bodies.arm, k), row(self.bodies.other, k)

    def width(self) -> int:
        return WIDTH

    def inner(self) -> int:
        return 1

    def moments(self, b: int) -> Vector:
        return row(self.bodies.inertia, b)

    def guess(self, h: float, q: np.ndarray, v: np.ndarray, d: np.ndarray) -> None:
        for b in range(self.bodies.number()):
            i = WIDTH*b
            for k in range(3):
                d[i + k] = h*v[i + k]
            x = quaternion(q, i + 3)
            turned(x, exponential(scale(2.0*h, body_part(x, quaternion(v, i + 3)))), i + 3, d)

    def admissible(self, q0: np.ndarray, q1: np.ndarray) -> Status:
        for b in range(self.bodies.number()):
            if far_apart(quaternion(q0, WIDTH*b + 3), quaternion(q1, WIDTH*b + 3)):
                return Status.CHART_LIMIT
        return Status.OK

    @separate(int, float, 1, 1, 1, 1, float, float, 1, 2)
    def kinetic(self, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray, alpha: float,
                beta: float, r: np.ndarray, a: np.ndarray) -> None:
        for b in range(self.bodies.number()):
            self.body_kinetic(b, WIDTH*b, rule, h, q0, v0, q1, v1, alpha, beta, r, a)

    def body_kinetic(self, b: int, i: int, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray,
                     v1: np.ndarray, alpha: float, beta: float, r: np.ndarray, a: np.ndarray) -> None:
        m = self.bodies.mass[b]
        for k in range(i, i + 3):
            r[k] += m*(v0[k] + v1[k])
            a[k, k] += beta*m
        spin_residual(rule > 0, self.moments(b), h, i + 3, q0, v0, q1, v1, alpha, beta, r, a)

    def momentum(self, rule: int, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray,
                 out: np.ndarray) -> None:
        for b in range(self.bodies.number()):
            i = WIDTH*b
            p = spin_momentum(rule > 0, self.moments(b), quaternion(q0, i + 3), quaternion(v0, i + 3),
                              quaternion(q1, i + 3), quaternion(v1, i + 3))
            for k in range(3):
                out[i + k] = self.bodies.mass[b]*(v0[i + k] + v1[i + k])
            for k in range(4):
                out[i + 3 + k] = p[k]

    @separate(int, float, float, 1, 1, 1, 1, 1, 2)
    def flow(self, kind: int, polar: float, h: float, q0: np.ndarray, p0: np.ndarray, q1: np.ndarray, p1: np.ndarray,
             r: np.ndarray, a: np.ndarray) -> None:
        for b in range(self.bodies.number()):
            self.body_flow(b, WIDTH*b, self.size(), kind, polar, h, q0, p0, q1, p1, r, a)

    def body_flow(self, b: int, i: int, n: int, kind: int, polar: float, h: float, q0: np.ndarray, p0: np.ndarray,
                  q1: np.ndarray, p1: np.ndarray, r: np.ndarray, a: np.ndarray) -> None:
        share = 0.5*h/self.bodies.mass[b]
        for k in range(i, i + 3):
            r[k] -= share*(p0[k] + p1[k])
            a[k, n + k] -= share
        spin_flow(kind, mobility(polar, self.moments(b)), h, i + 3, n, q0, p0, q1, p1, r, a)

    def velocity(self, polar: float, q: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        for b in range(self.bodies.number()):
            i = WIDTH*b
            for k in range(i, i + 3):
                out[k] = p[k]/self.bodies.mass[b]
            spin_velocity(mobility(polar, self.moments(b)), i + 3, q, p, out)

    @separate(int, float, float, 1, 1, 1, 2)
    def forces(self, rule: int, t: float, h: float, q0: np.ndarray, q1: np.ndarray, r: np.ndarray,
               a: np.ndarray) -> None:
        """Weights, and the load at the middle of the step with its generalized force 2 E(q_m)^T torque (128)."""
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        c = self.bodies
        for b in range(c.number()):
            self.body_weight(b, WIDTH*b, h, r)
        f = load_at(c.peak, t + 0.5*h)
        if f > 0.0:
            r[0] -= h*FORCE*f
            pull = from_space(middle(quaternion(q0, 3), quaternion(q1, 3)), (TORQUE*f, 0.0, 0.0))
            for k in range(4):
                r[3 + k] -= 2.0*h*pull[k]
                bend = from_space(unit(k), (TORQUE*f, 0.0, 0.0))
                for i in range(4):
                    a[3 + i, 3 + k] -= h*bend[i]

    def body_weight(self, b: int, i: int, h: float, r: np.ndarray) -> None:
        c = self.bodies
        for k in range(3):
            r[i + k] -= h*c.mass[b]*c.gravity[k]

    @separate(1, 1)
    def constraints(self, q: np.ndarray, out: np.ndarray) -> None:
        c = self.bodies
        for b in range(c.number()):
            self.body_constraints(WIDTH*b, q, b, out)
        for j in range(c.joints()):
            place, i = c.number() + 3*j, WIDTH*c.first[j]
            x = spin_quadratic(quaternion(q, i + 3), row(c.arm, j))
            for k in range(3):
                out[place + k] = q[i + k] + x[k]
            x, i = row(c.other, j), WIDTH*c.second[j]
            if i >= 0:
                x = spin_quadratic(quaternion(q, i + 3), x)
                for k in range(3):
                    out[place + k] -= q[i + k]
            for k in range(3):
                out[place + k] -= x[k]

    def body_constraints(self, i: int, q: np.ndarray, place: int, out: np.ndarray) -> None:
        out[place] = length_defect(quaternion(q, i + 3))

    def end(self, i: int, q: np.ndarray, x: Vector) -> Vector:
        return add((q[i], q[i + 1], q[i + 2]), spin_quadratic(quaternion(q, i + 3), x))

    @separate(1, 2)
    def slopes(self, q: np.ndarray, out: np.ndarray) -> None:
        c = self.bodies
        wipe(out)
        for b in range(c.number()):
            self.body_slopes(WIDTH*b, q, b, out)
        for j in range(c.joints()):
            self.end_slopes(WIDTH*c.first[j], q, c.number() + 3*j, row(c.arm, j), 1.0, out)
            if c.second[j] >= 0:
                self.end_slopes(WIDTH*c.second[j], q, c.number() + 3*j, row(c.other, j), -1.0, out)

    def body_slopes(self, i: int, q: np.ndarray, place: int, out: np.ndarray) -> None:
        for k in range(i + 3, i + 7):
            out[place, k] = q[k]

    def end_slopes(self, i: int, q: np.ndarray, place: int, x: Vector, sign: float, out: np.ndarray) -> None:
        """[1, 2 E(q) X^-] times the sign."""
        a = quaternion(q, i + 3)
        for k in range(3):
            out[place + k, i + k] += sign
        for k in range(4):
            column = space_part(a, from_body(unit(k), x))
            for s in range(3):
                out[place + s, i + 3 + k] += 2.0*sign*column[s]

    @separate(float, 1, 2)
    def bend(self, s: float, multipliers: np.ndarray, a: np.ndarray) -> None:
        c = self.bodies
        for b in range(c.number()):
            self.body_bend(WIDTH*b, s, b, multipliers, a)
        for j in range(c.joints()):
            k = c.number() + 3*j
            mu = (s*multipliers[k], s*multipliers[k + 1], s*multipliers[k + 2])
            self.end_bend(WIDTH*c.first[j], row(c.arm, j), mu, a)
            if c.second[j] >= 0:
                self.end_bend(WIDTH*c.second[j], row(c.other, j), scale(-1.0, mu), a)

    def body_bend(self, i: int, s: float, place: int, multipliers: np.ndarray, a: np.ndarray) -> None:
        for k in range(i + 3, i + 7):
            a[k, k] += s*multipliers[place]

    def end_bend(self, i: int, x: Vector, mu: Vector, a: np.ndarray) -> None:
        """2 (X^-)^T mu^+, constant."""
        for k in range(4):
            column = from_body(from_space(unit(k), mu), x)
            for s in range(4):
                a[i + 3 + s, i + 3 + k] -= 2.0*column[s]

    def work(self, t: float, h: float, q0: np.ndarray, q1: np.ndarray) -> float:
        f = load_at(self.bodies.peak, t + 0.5*h)
        a, b = quaternion(q0, 3), quaternion(q1, 3)
        pull = from_space(middle(a, b), (TORQUE*f, 0.0, 0.0))
        return FORCE*f*(q1[0] - q0[0]) + 2.0*(inner(pull, b) - inner(pull, a))

    def make_tangent(self, q: np.ndarray, v: np.ndarray) -> None:
        for b in range(self.bodies.number()):
            i = WIDTH*b + 3
            s = inner(quaternion(q, i), quaternion(v, i))
            for k in range(i, i + 4):
                v[k] -= s*q[k]

    def speed(self, q: np.ndarray, v: np.ndarray, b: int, x: Vector) -> Vector:
        """Velocity of the point x of body b, by the derivative of R(q) x."""
        i = WIDTH*b
        u = space_part(quaternion(q, i + 3), from_body(quaternion(v, i + 3), x))
        return v[i] + 2.0*u[0], v[i + 1] + 2.0*u[1], v[i + 2] + 2.0*u[2]

    @separate(2, 1)
    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """As `Bodies.observe`, constraints with |q.q - 1|/2, then (74), (80), |Dg v|, |q.p|, work, (74) less work."""
        c, q, v, p = self.bodies, y[0], y[1], y[2]
        generalized, total, length, slip, radial = 0.0, 0.0, 0.0, 0.0, 0.0
        for b in range(c.number()):
            i, k = WIDTH*b, ROWS*b
            x, u, m = quaternion(q, i + 3), quaternion(v, i + 3), quaternion(p, i + 3)
            place, speed, push = (q[i], q[i + 1], q[i + 2]), (v[i], v[i + 1], v[i + 2]), (p[i], p[i + 1], p[i + 2])
            put(self.rows, k, place)
            for axis, column in enumerate(columns(x)):
                put(self.rows, k + 1 + axis, column)
            put(self.rows, k + 4, push)
            put(self.rows, k + 5, scale(0.5, space_part(x, m)))
            w, j = body_part(x, u), self.moments(b)
            kinetic = 0.5*c.mass[b]*dot(speed, speed) + 2.0*(j[0]*w[0]*w[0] + j[1]*w[1]*w[1] + j[2]*w[2]*w[2])
            height = c.height(b, place)
            generalized += dot(push, speed) + inner(m, u) - kinetic + height
            total += kinetic + height
            length = max(length, abs(length_defect(x)))
            slip = max(slip, abs(inner(x, u)))
            radial = max(radial, abs(inner(x, m)))
        for joint in range(c.joints()):
            near = self.speed(q, v, c.first[joint], row(c.arm, joint))
            far = cross(near, near)
            if c.second[joint] >= 0:
                far = self.speed(q, v, c.second[joint], row(c.other, joint))
            for k in range(3):
                slip = max(slip, abs(near[k] - far[k]))
        c.observe(self.rows, out)
        out[7] = max(out[7], length)
        out[8], out[9], out[10], out[11] = generalized, total, slip, radial
        if y.shape[0] > 4:
            out[12] = y[4, 0]
            out[13] = generalized - y[4, 0]


@borrows(Coordinates)
class QuaternionBody(NamedTuple):
    """A rigid body about a fixed point under its weight: `ConstrainedLagrangian` and `QuaternionHamiltonian` of
    `mechanics.contracts.formulations`."""

    system: System            # of `mechanics.formulations.fixed_body`
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
        """The system's observables, of the attitude R(q) and the spatial angular momentum E(q) p/2, then generalized
        energy (74), total energy (80), (q.q - 1)/2, q.v, q.p, p - M v."""
        q, v, p = quaternion(y[0], 0), quaternion(y[1], 0), quaternion(y[2], 0)
        for k, axis in enumerate(columns(q)):
            put(self.rows, k, axis)
        put(self.rows, 3, scale(0.5, space_part(q, p)))
        self.system.observe(self.rows, out)
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
