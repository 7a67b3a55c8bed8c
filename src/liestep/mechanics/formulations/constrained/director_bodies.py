"""Rigid bodies in directors: the columns of the rotation matrix, and the position of the centre of mass where it is
free. A constant mass matrix, six quadratic constraints inside each body, linear joints.

T = 1/2 sum_i E_i |d_i'|^2 + m/2 |x'|^2 with the Euler tensor's moments E_i = (J_j + J_k - J_i)/2 (Betsch and Steinmann
2001). A torque is a force torque x d_i/2 on each director. State rows q, v, p (n,), multipliers (six of each body: unit
lengths, then d_1.d_2, d_1.d_3, d_2.d_3; three of each joint), and with a load its work."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel, separate
from liestep.compile.roles import System
from liestep.compile.rows import Vector, add, cross, dot, put, row, scale, wipe
from liestep.mechanics.formulations.constrained.bodies import FORCE, ROWS, TORQUE, Bodies, chained, load_at
from liestep.mechanics.formulations.coordinates import Masses

INNER = 6  # constraints inside a body


@kernel
def three(a: np.ndarray, i: int) -> Vector:
    return a[i], a[i + 1], a[i + 2]


@kernel
def spin_of(q: np.ndarray, p: np.ndarray, i: int) -> Vector:
    """sum_k d_k x p_k of the directors from place i on."""
    return add(cross(three(q, i), three(p, i)),
               add(cross(three(q, i + 3), three(p, i + 3)), cross(three(q, i + 6), three(p, i + 6))))


@kernel
def pair(k: int) -> tuple[int, int]:
    """Directors of the inner constraint k."""
    return (k, k) if k < 3 else ((0, 1) if k == 3 else ((0, 2) if k == 4 else (1, 2)))


class FixedReader(NamedTuple):
    """Observables of one body about a fixed point, by its system (`mechanics.formulations.fixed_body`)."""

    system: System
    rows: np.ndarray  # (4, 3) scratch

    def observe(self, q: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        for k in range(3):
            put(self.rows, k, three(q, 3*k))
        put(self.rows, 3, spin_of(q, p, 0))
        self.system.observe(self.rows, out)


class BodiesReader(NamedTuple):
    """Observables of bodies with positions."""

    bodies: Bodies
    rows: np.ndarray  # (6 N, 3) scratch

    def observe(self, q: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
        for b in range(self.bodies.number()):
            i, k = 12*b, ROWS*b
            put(self.rows, k, three(q, i))
            for j in range(3):
                put(self.rows, k + 1 + j, three(q, i + 3 + 3*j))
            put(self.rows, k + 4, three(p, i))
            put(self.rows, k + 5, spin_of(q, p, i + 3))
        self.bodies.observe(self.rows, out)


@borrows(Masses)
class DirectorBodies(NamedTuple):
    """`ConstrainedLagrangian`, `ConstantMass` and `LinkedBodies` of `mechanics.contracts.formulations`."""

    mass: np.ndarray     # (n,) diagonal
    weight: np.ndarray   # (n,) V = -weight.q
    lead: int            # 3: a position before the directors of each body; 0: a fixed point
    first: np.ndarray    # (K,) bodies of the joints, as in `Bodies`
    second: np.ndarray
    arm: np.ndarray      # (K, 3)
    other: np.ndarray
    peak: float          # of the load, N
    reader: Any          # FixedReader | BodiesReader
    column: int          # of the first observable after the reader's
    gap_column: int      # of the largest defect of a constraint
    counters: np.ndarray
    addresses: np.ndarray    # (1,) address of the machine code of `observe`

    def number(self) -> int:
        return self.mass.shape[0]//(9 + self.lead)

    def linked(self) -> bool:
        return self.lead > 0 and chained(self, self.number())

    def arms(self, k: int) -> tuple[Vector, Vector]:
        return row(self.arm, k), row(self.other, k)

    def width(self) -> int:
        return 9 + self.lead

    def inner(self) -> int:
        return INNER

    def bonds(self) -> int:
        return INNER*self.number() + 3*self.first.shape[0]

    def body_kinetic(self, b: int, i: int, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray,
                     v1: np.ndarray, alpha: float, beta: float, r: np.ndarray, a: np.ndarray) -> None:
        for k in range(self.width()):
            m = self.mass[self.width()*b + k]
            r[i + k] += m*(v0[i + k] + v1[i + k])
            a[i + k, i + k] += beta*m

    def forces(self, rule: int, t: float, h: float, q0: np.ndarray, q1: np.ndarray, r: np.ndarray,
               a: np.ndarray) -> None:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        for i in range(self.mass.shape[0]):
            r[i] -= h*self.weight[i]
        f = load_at(self.peak, t + 0.5*h)
        if f > 0.0:
            r[0] -= h*FORCE*f
            s = 0.25*h*TORQUE*f
            for k in range(3):
                i = self.lead + 3*k
                pull = cross((s, 0.0, 0.0), add(three(q0, i), three(q1, i)))
                for j in range(3):
                    r[i + j] -= pull[j]
                a[i + 1, i + 2] += s
                a[i + 2, i + 1] -= s

    def body_weight(self, b: int, i: int, h: float, r: np.ndarray) -> None:
        for k in range(self.width()):
            r[i + k] -= h*self.weight[self.width()*b + k]

    def constraints(self, q: np.ndarray, out: np.ndarray) -> None:
        for b in range(self.number()):
            self.body_constraints((9 + self.lead)*b, q, INNER*b, out)
        for j in range(self.first.shape[0]):
            place = INNER*self.number() + 3*j
            for k in range(3):
                out[place + k] = (self.coordinate(q, self.first[j], self.arm, j, k)
                                  - self.coordinate(q, self.second[j], self.other, j, k))

    def body_constraints(self, i: int, q: np.ndarray, place: int, out: np.ndarray) -> None:
        for k in range(INNER):
            left, right = pair(k)
            u, w = three(q, i + self.lead + 3*left), three(q, i + self.lead + 3*right)
            if k < 3:
                out[place + k] = 0.5*(((u[0]*u[0] - 1.0) + u[1]*u[1]) + u[2]*u[2])
            else:
                out[place + k] = dot(u, w)

    def end(self, i: int, q: np.ndarray, x: Vector) -> Vector:
        return add(three(q, i), add(scale(x[0], three(q, i + 3)), add(scale(x[1], three(q, i + 6)),
                                                                     scale(x[2], three(q, i + 9)))))

    def coordinate(self, q: np.ndarray, b: int, arms: np.ndarray, j: int, k: int) -> float:
        """Coordinate k of one end of joint j, linear in q."""
        if b < 0:
            return arms[j, k]
        i = 12*b + k
        return q[i] + arms[j, 0]*q[i + 3] + arms[j, 1]*q[i + 6] + arms[j, 2]*q[i + 9]

    def slopes(self, q: np.ndarray, out: np.ndarray) -> None:
        wipe(out)
        for b in range(self.number()):
            self.body_slopes((9 + self.lead)*b, q, INNER*b, out)
        for j in range(self.first.shape[0]):
            place = INNER*self.number() + 3*j
            self.end_slopes(12*self.first[j], q, place, row(self.arm, j), 1.0, out)
            if self.second[j] >= 0:
                self.end_slopes(12*self.second[j], q, place, row(self.other, j), -1.0, out)

    def body_slopes(self, i: int, q: np.ndarray, place: int, out: np.ndarray) -> None:
        i += self.lead
        for k in range(INNER):
            left, right = pair(k)
            share = 0.5 if left == right else 1.0
            for c in range(3):
                out[place + k, i + 3*left + c] += share*q[i + 3*right + c]
                out[place + k, i + 3*right + c] += share*q[i + 3*left + c]

    def end_slopes(self, i: int, q: np.ndarray, place: int, x: Vector, sign: float, out: np.ndarray) -> None:
        for k in range(3):
            out[place + k, i + k] += sign
            out[place + k, i + 3 + k] += sign*x[0]
            out[place + k, i + 6 + k] += sign*x[1]
            out[place + k, i + 9 + k] += sign*x[2]

    def bend(self, s: float, multipliers: np.ndarray, a: np.ndarray) -> None:
        for b in range(self.number()):
            self.body_bend((9 + self.lead)*b, s, INNER*b, multipliers, a)

    def body_bend(self, i: int, s: float, place: int, multipliers: np.ndarray, a: np.ndarray) -> None:
        i += self.lead
        for k in range(INNER):
            left, right = pair(k)
            share = s*multipliers[place + k]*(0.5 if left == right else 1.0)
            for c in range(3):
                a[i + 3*left + c, i + 3*right + c] += share
                a[i + 3*right + c, i + 3*left + c] += share

    def end_bend(self, i: int, x: Vector, mu: Vector, a: np.ndarray) -> None:
        """Joints are linear."""

    def work(self, t: float, h: float, q0: np.ndarray, q1: np.ndarray) -> float:
        f = load_at(self.peak, t + 0.5*h)
        total = FORCE*f*(q1[0] - q0[0])
        for k in range(3):
            i = self.lead + 3*k
            u, w = three(q0, i), three(q1, i)
            pull = cross((0.25*TORQUE*f, 0.0*f, 0.0*f), add(u, w))
            total += dot(pull, w) - dot(pull, u)
        return total

    @separate(2, 1)
    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """The reader's observables, then (74), (80), |g|, |Dg v|, work, (74) less work. The constraints are summed as
        written; those of velocities are their derivatives along v, exact for quadratic ones."""
        q, v, p = y[0], y[1], y[2]
        self.reader.observe(q, p, out)
        twice, both, potential = 0.0, 0.0, 0.0
        for i in range(self.mass.shape[0]):
            twice += self.mass[i]*v[i]*v[i]
            both += p[i]*v[i]
            potential -= self.weight[i]*q[i]
        gap, slip = 0.0, 0.0
        for b in range(self.number()):
            i = (9 + self.lead)*b + self.lead
            for k in range(INNER):
                left, right = pair(k)
                u, w = three(q, i + 3*left), three(q, i + 3*right)
                du, dw = three(v, i + 3*left), three(v, i + 3*right)
                share = 0.5 if left == right else 1.0
                gap = max(gap, share*abs(dot(u, w) - (1.0 if left == right else 0.0)))
                slip = max(slip, share*abs(dot(u, dw) + dot(du, w)))
        for j in range(self.first.shape[0]):
            for k in range(3):
                apart = (self.coordinate(q, self.first[j], self.arm, j, k)
                         - self.coordinate(q, self.second[j], self.other, j, k))
                moved = self.coordinate(v, self.first[j], self.arm, j, k)
                if self.second[j] >= 0:
                    moved -= self.coordinate(v, self.second[j], self.other, j, k)
                gap, slip = max(gap, abs(apart)), max(slip, abs(moved))
        c = self.column
        out[c], out[c + 1], out[self.gap_column] = both - 0.5*twice + potential, 0.5*twice + potential, gap
        last = c + 3 if self.gap_column == c + 2 else c + 2
        out[last] = slip
        if y.shape[0] > 4:
            out[last + 1] = y[4, 0]
            out[last + 2] = out[c] - y[4, 0]
