"""Variational integrators on (S^2)^n (Lee, Leok, McClamroch 2009): one symmetric step of order 2;
see `composition` for more.

Three ways to the same map for coupled kinetic energy, one explicit way for diagonal mass. State rows q then omega,
spatial. All conserve |q_i| = 1, tangency, the symplectic form and the momentum maps of symmetries to round-off. The
increment form (default) never subtracts q+ - q; the form printed in the paper is kept for the study of round-off.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, add, axpy, copy, cross, dot, put, row, scale, sqrt, sub
from liestep.compile.status import Status
from liestep.geometry.linalg import cholesky, cholesky_solve, lu, lu_solve
from liestep.integrators._newton import extent, iterate, settled
from liestep.mechanics.contracts.formulations import SphereLagrangian


@kernel
def length_defect(q: Vector) -> float:
    """q.q - 1 without bias: q.q itself is rounded on a grid that is finer below 1 than above, which is wrong by 1e-17
    on average and makes the momentum of implicit steps drift in proportion to time."""
    return ((q[0]*q[0] - 1.0) + q[1]*q[1]) + q[2]*q[2]


SETTLED = 60  # iterations, at most, for the velocity after a kick by forces


class Kicks(NamedTuple):
    """What an explicit step remembers."""

    g: np.ndarray     # (n, 3) G - F at the end of the last step
    push: np.ndarray  # (n, 3) F
    base: np.ndarray  # (n, 3) omega before the forces


@kernel
def begin(problem: SphereLagrangian, t: float, y: np.ndarray, g: np.ndarray, push: np.ndarray) -> None:
    """g = G - F at the start of a run, and its power."""
    n = y.shape[0]//2
    problem.gradient(y[:n], g)
    if problem.forced():
        problem.force(t, y[:n], y[n:2*n], push)
        for i in range(n):
            put(g, i, sub(row(g, i), row(push, i)))
        problem.set_power(y[:n], y[n:2*n], push, y)


@kernel
def change_and_size(w: np.ndarray, before: np.ndarray) -> tuple[float, float]:
    """Largest change of a component of (n, 3), and the largest component."""
    change, size = 0.0, 0.0
    for i in range(w.shape[0]):
        new = row(w, i)
        change, size = max(change, extent(sub(new, row(before, i)))), max(size, extent(new))
    return change, size


class Kick(NamedTuple):
    """The half kick by a force F of time and velocity at the end of a step, which needs omega+ = `kicked` by F(t, q,
    omega+): fixed-point iteration to round-off."""

    iterations: int = SETTLED

    def improve(self, given: Any, x: int, previous: float) -> tuple[Status, int, float, bool]:
        step, problem, t, y, h, work = given
        n, small = y.shape[0]//2, step.stagnation
        problem.force(t, y[:n], y[n:2*n], work.push)
        problem.counters[Counter.ITERATIONS] += 1
        status, change, size = step.kicked(problem, h, y, work)
        return status, x, change, settled(change, 1e-4*small*size, change, previous, small*size)


@kernel
def settle(step: Any, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
    """That half kick of a step with kicked(problem, h, y, work): (status, change and size of omega), with its power and
    its work; g becomes G - F."""
    n = y.shape[0]//2
    status, _ = iterate(step.kick, (step, problem, t, y, h, work), 0, np.inf, step.kick.iterations)
    if status == Status.OK:
        problem.set_power(y[:n], y[n:2*n], work.push, y)
        problem.add_work(0.5*h, y)
        for i in range(n):
            put(work.g, i, sub(row(work.g, i), row(work.push, i)))
    return status


class ExplicitStep(NamedTuple):
    """Order 2, symmetric, explicit, one gradient per step, diagonal mass: twospheres2009 eqs. (29)-(30).

    A force F of time and velocity kicks like the gradient, at the start with the velocity there, at the end with the
    velocity after the kick, which it needs an iteration for: symmetric, so that compositions keep their order.

    Domain: a step that rotates a body by 90 degrees or more returns STEP_TOO_LARGE.
    """

    increment: bool  # True: q+ = q + (d x q - s/(1 + sqrt(1 - s)) q), s = |d|^2 + q.q - 1; False: eq. (29) as printed
    stagnation: float  # with forces: relative update below which an iteration that no longer converges has ended
    kick: Kick = Kick()

    def workspace(self, problem: SphereLagrangian, y: np.ndarray) -> Any:
        rows = np.zeros_like(y[:y.shape[0]//2])
        return Kicks(rows, rows.copy(), rows.copy())

    def start(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        begin(problem, t, y, work.g, work.push)
        return Status.OK

    def step(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        n = y.shape[0]//2
        q, w = y[:n], y[n:]
        problem.add_work(0.5*h, y)
        for i in range(n):
            qi = row(q, i)
            a = axpy(-0.5*h/problem.body_mass(i), cross(qi, row(work.g, i)), row(w, i))
            d = scale(h, a)
            s = dot(d, d)
            if self.increment:
                s += length_defect(qi)  # |q+| = 1 for the q at hand: round-off of the length does not add up
            if not s < 1.0:
                return Status.STEP_TOO_LARGE
            root = sqrt(1.0 - s)
            turn = cross(d, qi)
            if self.increment:
                put(q, i, add(qi, axpy(-s/(1.0 + root), qi, turn)))
            else:
                put(q, i, axpy(root, qi, turn))
            put(w, i, a)
        problem.gradient(q, work.g)
        for i in range(n):
            put(w, i, axpy(-0.5*h/problem.body_mass(i), cross(row(q, i), row(work.g, i)), row(w, i)))
        if problem.forced():
            copy(y[n:2*n], work.base)
            return settle(self, problem, t + h, y, h, work)
        return Status.OK

    def kicked(self, problem: SphereLagrangian, h: float, y: np.ndarray, work: Any) -> tuple[Status, float, float]:
        """omega+ = omega + h/(2 m) q x F."""
        n, change, size = y.shape[0]//2, 0.0, 0.0
        for i in range(n):
            new = axpy(0.5*h/problem.body_mass(i), cross(row(y, i), row(work.push, i)), row(work.base, i))
            change, size = max(change, extent(sub(new, row(y, n + i)))), max(size, extent(new))
            put(y, n + i, new)
        return Status.OK, change, size


class MultiplierWork(NamedTuple):
    g: np.ndarray           # (n, 3) gradient at the start of the step
    v: np.ndarray           # (n, 3) velocity
    kick: np.ndarray        # (n, 3) M^-1 G
    d: np.ndarray           # (n, 3) increment of q
    target: np.ndarray      # (n, 3) d without multipliers
    multiplier: np.ndarray  # (n,)
    residual: np.ndarray    # (n,)
    a: np.ndarray           # (n, n)
    pivots: np.ndarray      # (n,)
    push: np.ndarray        # (n, 3) F
    before: np.ndarray      # (n, 3) omega of the last iteration


class MultiplierStep(NamedTuple):
    """Order 2, symmetric, implicit, coupled mass: RATTLE with n x n Newton systems for the multipliers lambda.

    q+ = q + d, d = h v - (h^2/2) M^-1 G + M^-1 (lambda q), |q+_i| = 1; v+ = v - (h/2) M^-1 (G + G+) + M^-1 (lambda q)/h
    + M^-1 (mu q+), q+_i.v+_i = 0. The same map as twospheres2009 eqs. (22)-(25) (tested). Returns NOT_CONVERGED or
    SINGULAR_MATRIX.
    """

    increment: bool   # False: velocities from (q+ - q)/h, as printed
    tolerance: float  # on the error left by the last Newton update, relative to the largest multiplier
    iterations: int   # at most
    stagnation: float  # relative update below which an iteration that no longer converges has ended
    kick: Kick = Kick()

    def workspace(self, problem: SphereLagrangian, y: np.ndarray) -> Any:
        rows = np.zeros_like(y[:y.shape[0]//2])
        n = rows.shape[0]
        return MultiplierWork(rows.copy(), rows.copy(), rows.copy(), rows.copy(), rows.copy(),
                              np.zeros(n, y.dtype), np.zeros(n, y.dtype), np.zeros((n, n), y.dtype),
                              np.zeros(n, dtype=np.int64), rows.copy(), rows.copy())

    def start(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        begin(problem, t, y, work.g, work.push)
        for i in range(work.multiplier.shape[0]):
            work.multiplier[i] = 0.0
        return Status.OK

    def step(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        n = y.shape[0]//2
        q, w = y[:n], y[n:]
        problem.add_work(0.5*h, y)
        self.apply_inverse(problem, work.g, work.kick)
        for i in range(n):
            put(work.v, i, cross(row(w, i), row(q, i)))
            put(work.target, i, axpy(-0.5*h*h, row(work.kick, i), scale(h, row(work.v, i))))
            u = row(work.v, i)
            # First guess: the multiplier of the uncoupled motion, h^2 M_ii |v|^2, up to forces.
            work.multiplier[i] = -0.5*h*h*dot(u, u)/problem.inverse_mass_entry(i, i)
        status, _ = iterate(self, (problem, q, work), 0, np.inf, self.iterations)
        if status != Status.OK:
            return status
        self.increments(problem, q, work)
        for i in range(n):
            qi, d = row(q, i), row(work.d, i)
            new = add(qi, d)
            if self.increment:
                pull = axpy(-1.0, row(work.target, i), d)  # M^-1 (lambda q)
                put(work.v, i, axpy(1.0/h, pull, axpy(-0.5*h, row(work.kick, i), row(work.v, i))))
            else:
                put(work.v, i, scale(1.0/h, axpy(-1.0, qi, new)))
            put(q, i, new)
        problem.gradient(q, work.g)
        self.apply_inverse(problem, work.g, work.kick)
        for i in range(n):
            put(work.v, i, axpy(-0.5*h, row(work.kick, i), row(work.v, i)))
        if problem.forced():
            copy(work.v, work.target)
        status = self.project(problem, q, w, work)
        if status == Status.OK and problem.forced():
            return settle(self, problem, t + h, y, h, work)
        return status

    def kicked(self, problem: SphereLagrangian, h: float, y: np.ndarray, work: Any) -> tuple[Status, float, float]:
        """v+ = v + (h/2) M^-1 F made tangent."""
        n = y.shape[0]//2
        self.apply_inverse(problem, work.push, work.kick)
        for i in range(n):
            put(work.v, i, axpy(0.5*h, row(work.kick, i), row(work.target, i)))
        copy(y[n:2*n], work.before)
        status = self.project(problem, y[:n], y[n:2*n], work)
        change, size = change_and_size(y[n:2*n], work.before)
        return status, change, size

    def apply_inverse(self, problem: SphereLagrangian, g: np.ndarray, out: np.ndarray) -> None:
        """out_i = sum_j Minv_ij g_j"""
        for i in range(g.shape[0]):
            total = (0.0, 0.0, 0.0)
            for j in range(g.shape[0]):
                total = axpy(problem.inverse_mass_entry(i, j), row(g, j), total)
            put(out, i, total)

    def improve(self, given: Any, x: int, previous: float) -> tuple[Status, int, float, bool]:
        """Newton for lambda: 2 q_i.d_i + d_i.d_i + (q_i.q_i - 1) = 0."""
        problem, q, work = given
        n = q.shape[0]
        self.increments(problem, q, work)
        for i in range(n):
            qi, d = row(q, i), row(work.d, i)
            work.residual[i] = -(2.0*dot(qi, d) + dot(d, d) + length_defect(qi))
            new = add(qi, d)
            for j in range(n):
                work.a[i, j] = 2.0*problem.inverse_mass_entry(i, j)*dot(new, row(q, j))
        if not lu(work.a, work.pivots, n):
            return Status.NOT_CONVERGED, x, previous, False
        lu_solve(work.a, work.pivots, work.residual, n)
        problem.counters[Counter.LINEAR_SOLVES] += 1
        problem.counters[Counter.ITERATIONS] += 1
        update, size = 0.0, 0.0
        for i in range(n):
            work.multiplier[i] += work.residual[i]
            update = max(update, abs(work.residual[i]))
            size = max(size, abs(work.multiplier[i]))
        # Newton converges quadratically: the error left is about the square of the relative update.
        done = settled(update*update, self.tolerance*size*size, update, previous, self.stagnation*size)
        return Status.OK, x, update, done

    def increments(self, problem: SphereLagrangian, q: np.ndarray, work: Any) -> None:
        """d_i = target_i + sum_j Minv_ij lambda_j q_j"""
        n = q.shape[0]
        for i in range(n):
            pull = (0.0, 0.0, 0.0)
            for j in range(n):
                pull = axpy(problem.inverse_mass_entry(i, j)*work.multiplier[j], row(q, j), pull)
            put(work.d, i, add(row(work.target, i), pull))

    def project(self, problem: SphereLagrangian, q: np.ndarray, w: np.ndarray, work: Any) -> Status:
        """mu from q_i.(u + M^-1 (mu q))_i = 0, then omega = q x v."""
        n = q.shape[0]
        for i in range(n):
            qi = row(q, i)
            work.residual[i] = -dot(qi, row(work.v, i))
            for j in range(i + 1):
                work.a[i, j] = problem.inverse_mass_entry(i, j)*dot(qi, row(q, j))
        if not cholesky(work.a, n):
            return Status.SINGULAR_MATRIX
        cholesky_solve(work.a, work.residual, n)
        problem.counters[Counter.LINEAR_SOLVES] += 1
        for i in range(n):
            v = row(work.v, i)
            for j in range(n):
                v = axpy(problem.inverse_mass_entry(i, j)*work.residual[j], row(q, j), v)
            put(w, i, cross(row(q, i), v))
        return Status.OK
