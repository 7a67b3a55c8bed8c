"""The implicit variational step on (S^2)^n exactly as in the paper: Cayley coordinates f_i, 3n x 3n solves.

Kept beside the n x n multiplier form of `variational_sphere` (the same map, several times cheaper) because the paper's
claims and costs are about these two solvers.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, add, axpy, copy, cross, dot, put, row, scale
from liestep.compile.status import Status
from liestep.geometry.linalg import lu, lu_solve_rows
from liestep.integrators._newton import iterate, settled
from liestep.integrators.variational_sphere import Kick, begin, change_and_size, length_defect, settle
from liestep.mechanics.contracts.formulations import SphereLagrangian


class CayleyWork(NamedTuple):
    g: np.ndarray       # (n, 3) gradient at the start of the step
    f: np.ndarray       # (n, 3) Cayley vectors of the rotations of the step
    move: np.ndarray    # (n, 3) (F_i - I) q_i
    d: np.ndarray       # (n, 3) right-hand side of eq. (26)
    update: np.ndarray  # (n, 3)
    a: np.ndarray       # (3n, 3n)
    pivots: np.ndarray  # (3n,)
    push: np.ndarray    # (n, 3) F
    before: np.ndarray  # (n, 3) omega of the last iteration


@kernel
def hat_column(q: Vector, r: int) -> Vector:
    """Column r of hat(q): q x e_r."""
    if r == 0:
        return 0.0, q[2], -q[1]
    if r == 1:
        return -q[2], 0.0, q[0]
    return q[1], -q[0], 0.0


class CayleyStep(NamedTuple):
    """Order 2, symmetric, implicit: twospheres2009 eqs. (22)-(25), solved for f_i orthogonal to q_i.

    `newton` False is the fixed-point iteration on eq. (28) (linear convergence, rate O(h)); True is Newton's method.
    Returns NOT_CONVERGED or SINGULAR_MATRIX.
    """

    newton: bool
    increment: bool  # False: q+ = F q and (q+ - q)/h as printed; True also keeps round-off of the length from adding up
    tolerance: float  # on the error left, relative to the largest component of f
    iterations: int  # at most
    stagnation: float  # relative update below which an iteration that no longer converges has ended
    kick: Kick = Kick()

    def workspace(self, problem: SphereLagrangian, y: np.ndarray) -> Any:
        rows = np.zeros_like(y[:y.shape[0]//2])
        size = rows.size
        return CayleyWork(rows.copy(), rows.copy(), rows.copy(), rows.copy(), rows.copy(),
                          np.zeros((size, size), y.dtype),
                          np.zeros(size, dtype=np.int64), rows.copy(), rows.copy())

    def start(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        begin(problem, t, y, work.g, work.push)
        return Status.OK

    def step(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        n = y.shape[0]//2
        q, w = y[:n], y[n:]
        problem.add_work(0.5*h, y)
        for i in range(n):
            qi = row(q, i)
            pull = scale(-0.5*h*h, row(work.g, i))
            for j in range(n):
                if j != i:
                    pull = axpy(h*problem.mass_entry(i, j), cross(row(w, j), row(q, j)), pull)
            put(work.d, i, axpy(h*problem.mass_entry(i, i), row(w, i), cross(qi, pull)))
            put(work.f, i, scale(0.5*h, row(w, i)))
        status, _ = iterate(self, (problem, q, work), 0, np.inf, self.iterations)
        if status != Status.OK:
            return status
        for i in range(n):  # the round-off component along q_i
            qi, f = row(q, i), row(work.f, i)
            put(work.f, i, axpy(-dot(qi, f)/dot(qi, qi), qi, f))
        self.displacements(q, work)
        for i in range(n):
            qi = row(q, i)
            if self.increment:
                move = row(work.move, i)
                # Scaled back to |q+| = 1 for the q at hand; the momentum below keeps the exact displacement.
                put(q, i, add(qi, axpy(-0.5*length_defect(qi), add(qi, move), move)))
            else:
                f = row(work.f, i)
                ff = dot(f, f)
                new = scale(1.0/(1.0 + ff), axpy(1.0 - ff, qi, scale(2.0, cross(f, qi))))
                put(q, i, new)
                put(work.move, i, axpy(-1.0, qi, new))
        problem.gradient(q, work.g)
        for i in range(n):
            pull = (0.0, 0.0, 0.0)
            for j in range(n):
                pull = axpy(problem.mass_entry(i, j), row(work.move, j), pull)
            # Divided by h: the rounding of 1/h would be the same in every step, a drift of the momentum.
            pull = (pull[0]/h, pull[1]/h, pull[2]/h)
            put(w, i, cross(row(q, i), axpy(-0.5*h, row(work.g, i), pull)))
            if problem.forced():
                put(work.d, i, row(w, i))
        if not problem.solve_inertia(q, w):
            return Status.SINGULAR_MATRIX
        problem.counters[Counter.LINEAR_SOLVES] += 1
        if problem.forced():
            return settle(self, problem, t + h, y, h, work)
        return Status.OK

    def kicked(self, problem: SphereLagrangian, h: float, y: np.ndarray, work: Any) -> tuple[Status, float, float]:
        """A(q) omega+ = d + (h/2) q x F."""
        n = y.shape[0]//2
        q, w = y[:n], y[n:2*n]
        copy(w, work.before)
        for i in range(n):
            put(w, i, axpy(0.5*h, cross(row(q, i), row(work.push, i)), row(work.d, i)))
        if not problem.solve_inertia(q, w):
            return Status.SINGULAR_MATRIX, 0.0, 0.0
        problem.counters[Counter.LINEAR_SOLVES] += 1
        change, size = change_and_size(w, work.before)
        return Status.OK, change, size

    def displacements(self, q: np.ndarray, work: Any) -> None:
        """(F_i - I) q_i = u_i (f_i x q_i - |f_i|^2 q_i), u_i = 2/(1 + |f_i|^2)"""
        for i in range(q.shape[0]):
            f, qi = row(work.f, i), row(q, i)
            ff = dot(f, f)
            put(work.move, i, scale(2.0/(1.0 + ff), axpy(-ff, qi, cross(f, qi))))

    def improve(self, given: Any, x: int, previous: float) -> tuple[Status, int, float, bool]:
        """A new f."""
        problem, q, work = given
        n = q.shape[0]
        if self.newton:
            self.newton_system(problem, q, work)
        else:
            self.fixed_point_system(problem, q, work)
        if not lu(work.a, work.pivots, 3*n):
            return Status.NOT_CONVERGED, x, previous, False
        lu_solve_rows(work.a, work.pivots, work.update, 3*n)
        problem.counters[Counter.LINEAR_SOLVES] += 1
        problem.counters[Counter.ITERATIONS] += 1
        change, size = 0.0, 0.0
        for i in range(n):
            f, u = row(work.f, i), row(work.update, i)
            if self.newton:
                u = add(f, u)
            for k in range(3):
                change = max(change, abs(u[k] - f[k]))
                size = max(size, abs(u[k]))
            put(work.f, i, u)
        # The error left is of the size of the update, of its square for Newton's method.
        left = change*change/size if self.newton and size > 0.0 else change
        return Status.OK, x, change, settled(left, self.tolerance*size, change, previous, self.stagnation*size)

    def fixed_point_system(self, problem: SphereLagrangian, q: np.ndarray, work: Any) -> None:
        """A(f) f_new = d, eq. (28): A_ii = u_i M_ii I, A_ij = -u_j M_ij hat(q_i) (hat(q_j) + q_j f_j^T)."""
        n = q.shape[0]
        for i in range(n):
            qi = row(q, i)
            put(work.update, i, row(work.d, i))
            for j in range(n):
                qj, f = row(q, j), row(work.f, j)
                u = 2.0/(1.0 + dot(f, f))
                for r in range(3):
                    if i == j:
                        for k in range(3):
                            work.a[3*i + k, 3*j + r] = u*problem.mass_entry(i, i) if k == r else 0.0
                    else:
                        column = cross(qi, axpy(f[r], qj, hat_column(qj, r)))
                        for k in range(3):
                            work.a[3*i + k, 3*j + r] = -u*problem.mass_entry(i, j)*column[k]

    def newton_system(self, problem: SphereLagrangian, q: np.ndarray, work: Any) -> None:
        """Jacobian of eq. (26) and minus its residual: J_ii = M_ii (u_i I - u_i^2 f_i f_i^T), J_ij = M_ij hat(q_i) D_j,
        D_j = -u_j (2 - u_j |f_j|^2) q_j f_j^T - u_j^2 (f_j x q_j) f_j^T - u_j hat(q_j)."""
        n = q.shape[0]
        self.displacements(q, work)
        for i in range(n):
            qi, fi = row(q, i), row(work.f, i)
            pull = (0.0, 0.0, 0.0)
            for j in range(n):
                qj, f = row(q, j), row(work.f, j)
                ff = dot(f, f)
                u = 2.0/(1.0 + ff)
                turn = cross(f, qj)
                if j != i:
                    pull = axpy(problem.mass_entry(i, j), row(work.move, j), pull)
                for r in range(3):
                    if i == j:
                        for k in range(3):
                            unit = 1.0 if k == r else 0.0
                            work.a[3*i + k, 3*j + r] = problem.mass_entry(i, i)*(u*unit - u*u*f[k]*f[r])
                    else:
                        column = axpy(-u*(2.0 - u*ff)*f[r], qj, axpy(-u*u*f[r], turn, scale(-u, hat_column(qj, r))))
                        column = cross(qi, column)
                        for k in range(3):
                            work.a[3*i + k, 3*j + r] = problem.mass_entry(i, j)*column[k]
            inner = axpy(2.0*problem.mass_entry(i, i)/(1.0 + dot(fi, fi)), fi, cross(qi, pull))
            put(work.update, i, axpy(-1.0, inner, row(work.d, i)))
