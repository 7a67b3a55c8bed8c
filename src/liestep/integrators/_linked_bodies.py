"""Linear algebra of the steps of `livens` and `quaternion_hamiltonian` for open chains: blocks of one body each,
eliminated in the order of the bodies, in time and memory proportional to their number.

The unknowns of body b are its increments (and momenta), the multipliers of its own constraints, and those of the joint
that holds it on body b - 1. Blocks of neighbours meet in this joint alone: eliminating body b - 1 adds a matrix of
3 x 3 to the block of body b, the response of the joint's end to its force."""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, scale, wipe
from liestep.geometry.linalg import lu, lu_solve
from liestep.integrators._newton import clear, largest, worse
from liestep.mechanics.contracts.formulations import LinkedBodies

FAINT = 1e-100  # corrections below it are left out: see `felt`


@kernel
def felt(x: float) -> float:
    """The correction x, zero if it is faint. What moves one end of a chain moves a body about 4 times less than the
    one before, so that beyond some hundred bodies the powers of increments that a step takes are denormal numbers, on
    which processors are many times slower: 256 bars then cost 5.4 times 64, and 4.1 without."""
    return x if abs(x) >= FAINT or x != x else 0.0*x


class LinkedWork(NamedTuple):
    """Workspace of a step, with the fields that the steps share with `livens.Work`, and its system of equations:
    blocks of s unknowns, the first w coordinates, the last 3 of the joint."""

    r: np.ndarray        # (N,) solution in the order of `Work`
    d: np.ndarray        # (n,) increment
    q1: np.ndarray       # (n,) end of the step
    v1: np.ndarray
    p1: np.ndarray
    qm: np.ndarray       # (n,) middle
    multipliers: np.ndarray  # (m,)
    a: np.ndarray        # (bodies, s, s) diagonal blocks
    rest: np.ndarray     # (bodies, s) residuals
    pivots: np.ndarray   # (bodies, s)
    push: np.ndarray     # (bodies, 3, s) force of joint b on body b - 1; then that block's answer to it
    pull: np.ndarray     # (bodies, 3, w) derivative of joint b by body b - 1
    near: np.ndarray     # (s, w) slopes of a body's own constraints and joint in the middle
    ends: np.ndarray     # (s, w) and at the end

    def reduced(self, problem: LinkedBodies, rule: int, t: float, h: float, y: np.ndarray) -> float:
        """Equations of the reduced step; largest residual."""
        w = problem.width()
        for b in range(self.a.shape[0]):
            i = w*b
            a, r, v0, p0 = self.a[b], self.rest[b], y[1][i:], y[2][i:]
            clear(r, a, r.shape[0])
            for k in range(w):
                self.v1[i + k] = 2.0/h*self.d[i + k] - v0[k]
                r[k] = -2.0*p0[k]
            problem.body_kinetic(b, 0, rule, h, y[0][i:], v0, self.q1[i:], self.v1[i:], 1.0, 2.0/h, r, a)
            problem.body_weight(b, 0, h, r)
            self.bind(problem, h, b, 0)
        return self.residual()

    def flow(self, problem: LinkedBodies, kind: int, polar: float, t: float, h: float, y: np.ndarray) -> float:
        """Equations of the Hamiltonian step; largest residual."""
        w = problem.width()
        for b in range(self.a.shape[0]):
            i = w*b
            a, r, p0, p1 = self.a[b], self.rest[b], y[2][i:], self.p1[i:]
            clear(r, a, r.shape[0])
            for k in range(w):
                r[k] = self.d[i + k]
                r[w + k] = p1[k] - p0[k]
                a[k, k] = 1.0
                a[w + k, w + k] = 1.0
            problem.body_flow(b, 0, w, kind, polar, h, y[0][i:], p0, self.q1[i:], p1, r, a)
            problem.body_weight(b, 0, h, r[w:])
            self.bind(problem, h, b, w)
        return self.residual()

    def bind(self, problem: LinkedBodies, h: float, b: int, row: int) -> None:
        """Constraints of body b and of its upper joint, with their forces in rows from `row` on."""
        w, inner, n = problem.width(), problem.inner(), self.a.shape[0]
        a, r, i, own, far = self.a[b], self.rest[b], w*b, problem.inner()*b, problem.inner()*n + 3*b
        column = r.shape[0] - inner - 3
        arm, other = problem.arms(b)
        q1, qm, at = self.q1[i:], self.qm[i:], self.multipliers
        mu = scale(0.5*h, (at[far], at[far + 1], at[far + 2]))
        problem.body_bend(0, 0.5*h, own, at, a[row:])
        problem.end_bend(0, arm, mu, a[row:])
        wipe(self.near)
        wipe(self.ends)
        problem.body_slopes(0, qm, 0, self.near)
        problem.body_slopes(0, q1, 0, self.ends)
        problem.end_slopes(0, qm, inner, arm, 1.0, self.near)
        problem.end_slopes(0, q1, inner, arm, 1.0, self.ends)
        problem.body_constraints(0, q1, column, r)
        gap = problem.end(0, q1, arm)
        start: Vector = other if b == 0 else problem.end(0, self.q1[max(i - w, 0):], other)
        for k in range(3):
            r[column + inner + k] = gap[k] - start[k]
        for k in range(inner + 3):
            multiplier = at[own + k] if k < inner else at[far + k - inner]
            for c in range(w):
                s = h*self.near[k, c]
                r[row + c] += s*multiplier
                a[row + c, column + k] = s
                a[column + k, c] = self.ends[k, c]
        if b > 0:
            self.hang(problem, h, b, row, other, mu)

    def hang(self, problem: LinkedBodies, h: float, b: int, row: int, other: Vector, mu: Vector) -> None:
        """The same joint at body b - 1."""
        w, before = problem.width(), b - 1
        i, far = w*before, problem.inner()*self.a.shape[0] + 3*b
        problem.end_bend(0, other, scale(-1.0, mu), self.a[before][row:])
        wipe(self.near)
        wipe(self.pull[b])
        problem.end_slopes(0, self.qm[i:], 0, other, -1.0, self.near)
        problem.end_slopes(0, self.q1[i:], 0, other, -1.0, self.pull[b])
        wipe(self.push[b])
        for k in range(3):
            for c in range(w):
                s = h*self.near[k, c]
                self.push[b, k, row + c] = s
                self.rest[before, row + c] += s*self.multipliers[far + k]

    def residual(self) -> float:
        size = 0.0
        for b in range(self.rest.shape[0]):
            size = worse(size, largest(self.rest[b], self.rest.shape[1]))
        return size

    def solve(self, problem: LinkedBodies, unknowns: int) -> bool:
        """Overwrite r (unknowns,) by the solution; False where a block is singular."""
        n, s = self.rest.shape
        w, inner = problem.width(), problem.inner()
        joint = s - 3
        for b in range(n):
            a, r = self.a[b], self.rest[b]
            if b > 0:
                for k in range(3):
                    for c in range(w):
                        r[joint + k] -= self.pull[b, k, c]*self.rest[b - 1, c]
                        for j in range(3):
                            a[joint + k, joint + j] -= self.pull[b, k, c]*self.push[b, j, c]
            if not lu(a, self.pivots[b], s):
                return False
            lu_solve(a, self.pivots[b], r, s)
            if b + 1 < n:
                for k in range(3):
                    lu_solve(a, self.pivots[b], self.push[b + 1, k], s)
        for b in range(n - 1, 0, -1):
            for k in range(3):
                force = self.rest[b, joint + k]
                for c in range(s):
                    self.rest[b - 1, c] -= self.push[b, k, c]*force
        rows = joint - inner  # of increments, and of momenta
        for b in range(n):
            for part in range(rows//w):
                for c in range(w):
                    self.r[part*w*n + w*b + c] = felt(self.rest[b, part*w + c])
            for k in range(inner):
                self.r[rows*n + inner*b + k] = felt(self.rest[b, rows + k])
            for k in range(3):
                self.r[(rows + inner)*n + 3*b + k] = felt(self.rest[b, joint + k])
        return True


def linked_work(problem: LinkedBodies, y: np.ndarray, parts: int) -> LinkedWork:
    """Workspace for `parts` unknowns of each coordinate (1 increments, 2 also momenta), in the number type of the
    state."""
    n, w, kind = problem.number(), problem.width(), y.dtype
    s = parts*w + problem.inner() + 3
    d, q1, v1, p1, qm = (np.zeros(n*w, kind) for _ in range(5))
    return LinkedWork(np.zeros(n*s, kind), d, q1, v1, p1, qm, np.zeros(problem.bonds(), kind),
                      np.zeros((n, s, s), kind), np.zeros((n, s), kind), np.zeros((n, s)),
                      np.zeros((n, 3, s), kind), np.zeros((n, 3, w), kind), np.zeros((s, w), kind),
                      np.zeros((s, w), kind))
