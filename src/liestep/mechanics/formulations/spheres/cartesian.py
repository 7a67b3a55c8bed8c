"""A system on (S^2)^n in Cartesian coordinates q_i with the constraints |q_i| = 1: constant mass, derived once from its
potential and gradient.

State rows q, v, p (3n,) and the multipliers (n,). Newton's method goes without the second derivatives of V, which the
systems do not offer: it converges in 4 to 6 iterations. The discrete derivative of V is that of Gonzalez,

    DV = grad V(q_m) + (V_1 - V_0 - grad V(q_m).d) c/(c.d)

with c = d (`gonzalez`), or c = d less its part along simultaneous rotations, c_i = d_i - w x q_mi with w from sum_i
q_mi x c_i = 0 (`equivariant`: then c.d = |c|^2, and the momentum is kept for any potential that has the symmetry); or
the mean of the gradient over d by Gauss points (`average`)."""
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows
from liestep.compile.roles import System
from liestep.compile.rows import Vector, add, add_to, axpy, cross, dot, put, row, scale, sub
from liestep.geometry.linalg import lu, lu_solve
from liestep.mechanics.formulations.coordinates import Coordinates

AVERAGE, FREED = 3, 1  # rules of `integrators.livens`


@borrows(Coordinates)
class CartesianSpheres(NamedTuple):
    """`ConstrainedLagrangian` and `ConstantMass` of `mechanics.contracts.formulations`."""

    system: System            # potential(q) and gradient(q, out)
    matrix: np.ndarray     # (n, n) M
    inverse: np.ndarray    # (n, n) M^-1
    kept: np.ndarray       # (3,) whether rotations about this axis are symmetries
    ends: np.ndarray       # (2, n, 3) scratch: q0, q1
    place: np.ndarray      # (n, 3) scratch: where the gradient is taken
    slope: np.ndarray      # (n, 3) scratch: gradients
    total: np.ndarray      # (n, 3) scratch: DV
    along: np.ndarray      # (n, 3) scratch: c
    turn: np.ndarray       # (3, 3) scratch
    axis: np.ndarray       # (3,) scratch: w
    pivots: np.ndarray     # (3,) scratch
    nodes: np.ndarray      # of Gauss on [0, 1]
    weights: np.ndarray
    counters: np.ndarray

    def size(self) -> int:
        return 3*self.matrix.shape[0]

    def bonds(self) -> int:
        return self.matrix.shape[0]

    def kinetic(self, rule: int, h: float, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray, alpha: float,
                beta: float, r: np.ndarray, a: np.ndarray) -> None:
        n = self.matrix.shape[0]
        for i in range(n):
            for j in range(n):
                m = self.matrix[i, j]
                for k in range(3):
                    r[3*i + k] += m*(v0[3*j + k] + v1[3*j + k])
                    a[3*i + k, 3*j + k] += beta*m

    def momentum(self, rule: int, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray,
                 out: np.ndarray) -> None:
        n = self.matrix.shape[0]
        for i in range(n):
            for k in range(3):
                total = 0.0*v0[k]
                for j in range(n):
                    total += self.matrix[i, j]*(v0[3*j + k] + v1[3*j + k])
                out[3*i + k] = total

    def inverse_mass(self, p: np.ndarray, out: np.ndarray) -> None:
        n = self.matrix.shape[0]
        for i in range(n):
            for k in range(3):
                total = 0.0*p[k]
                for j in range(n):
                    total += self.inverse[i, j]*p[3*j + k]
                out[3*i + k] = total

    def between(self, x: float) -> None:
        """self.place = q0 + x (q1 - q0)."""
        for i in range(self.matrix.shape[0]):
            put(self.place, i, axpy(1.0 - x, row(self.ends[0], i), scale(x, row(self.ends[1], i))))

    def forces(self, rule: int, t: float, h: float, q0: np.ndarray, q1: np.ndarray, r: np.ndarray,
               a: np.ndarray) -> None:
        n = self.matrix.shape[0]
        for i in range(n):
            put(self.ends[0], i, self.point(q0, i))
            put(self.ends[1], i, self.point(q1, i))
            put(self.total, i, (0.0*q0[0], 0.0*q0[0], 0.0*q0[0]))
        for point in range(self.nodes.shape[0] if rule == AVERAGE else 1):
            self.between(self.nodes[point] if rule == AVERAGE else 0.5)
            self.counters[Counter.FORCE_EVALUATIONS] += 1
            self.system.gradient(self.place, self.slope)
            weight = self.weights[point] if rule == AVERAGE else 1.0
            for i in range(n):
                add_to(self.total, i, scale(weight, row(self.slope, i)))
        if rule > 0 and rule != AVERAGE:
            self.correct(rule == FREED)
        for i in range(n):
            for k in range(3):
                r[3*i + k] += h*self.total[i, k]

    def correct(self, freed: bool) -> None:
        """Add the correction along c to the gradient in the middle; `place` is the middle."""
        n = self.matrix.shape[0]
        gap = self.system.potential(self.ends[1]) - self.system.potential(self.ends[0])
        for i in range(n):
            d = sub(row(self.ends[1], i), row(self.ends[0], i))
            put(self.along, i, d)
            gap -= dot(d, row(self.total, i))
        if freed:
            self.free()
        square = 0.0
        for i in range(n):
            square += dot(row(self.along, i), row(self.along, i))
        if square > 0.0:
            for i in range(n):
                add_to(self.total, i, scale(gap/square, row(self.along, i)))

    def free(self) -> None:
        """Take the part along rotations about the kept axes out of c, all at once."""
        n = self.matrix.shape[0]
        for k in range(3):
            self.axis[k] = 0.0
            for j in range(3):
                self.turn[k, j] = 0.0
        for i in range(n):
            u, d = row(self.place, i), row(self.along, i)
            w, square = cross(u, d), dot(u, u)
            for k in range(3):
                self.axis[k] += w[k]
                self.turn[k, k] += square
                for j in range(3):
                    self.turn[k, j] -= self.place[i, k]*self.place[i, j]
        for k in range(3):
            if not self.kept[k] > 0.0:
                self.axis[k] = 0.0
                for j in range(3):
                    self.turn[k, j] = 1.0 if j == k else 0.0
                    if j != k:
                        self.turn[j, k] = 0.0
        if lu(self.turn, self.pivots, 3):
            lu_solve(self.turn, self.pivots, self.axis, 3)
            for i in range(n):
                turned = cross((self.axis[0], self.axis[1], self.axis[2]), row(self.place, i))
                put(self.along, i, sub(row(self.along, i), turned))

    def constraints(self, q: np.ndarray, out: np.ndarray) -> None:
        for i in range(self.matrix.shape[0]):
            out[i] = 0.5*(((q[3*i]*q[3*i] - 1.0) + q[3*i + 1]*q[3*i + 1]) + q[3*i + 2]*q[3*i + 2])

    def slopes(self, q: np.ndarray, out: np.ndarray) -> None:
        for k in range(self.matrix.shape[0]):
            for i in range(self.size()):
                out[k, i] = q[i] if i//3 == k else 0.0*q[i]

    def bend(self, s: float, multipliers: np.ndarray, a: np.ndarray) -> None:
        for i in range(self.size()):
            a[i, i] += s*multipliers[i//3]

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """The columns of `SphereLagrangian.observe`, energy and momentum of p, tangency of v."""
        n, q, v, p = self.matrix.shape[0], y[0], y[1], y[2]
        for k in range(7):
            out[k] = 0.0
        spin = (0.0, 0.0, 0.0)
        for i in range(n):
            x, u, push = self.point(q, i), self.point(v, i), self.point(p, i)
            put(self.place, i, x)
            spin = add(spin, cross(x, push))
            out[0] += 0.5*dot(push, u)
            gap = abs(1.0 - dot(x, x))
            out[4] += gap/n
            out[5] = max(out[5], gap)
            out[6] = max(out[6], abs(dot(x, u)))
        out[1], out[2], out[3] = spin
        out[0] += self.system.potential(self.place)

    def point(self, q: np.ndarray, i: int) -> Vector:
        return q[3*i], q[3*i + 1], q[3*i + 2]
