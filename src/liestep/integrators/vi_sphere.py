"""Variational integrators on (S^2)^n (Lee, Leok, McClamroch 2009): one symmetric step of order 2;
see `one_step.composed` for more.

Three ways to the same map for coupled kinetic energy, one explicit way for diagonal mass. State rows q then omega,
spatial. All conserve |q_i| = 1, tangency, the symplectic form and the momentum maps of symmetries to round-off. The
increment form (default) never subtracts q+ - q; the form printed in the paper is kept for the study of round-off."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.precision import above_round_off
from liestep.compile.roles import Work
from liestep.compile.rows import Vector, add, axpy, copy, cross, dot, put, row, scale, sqrt, sub
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.bands import solve_banded
from liestep.geometry.linalg import cholesky, cholesky_solve, lu, lu_solve
from liestep.integrators._newton import extent, iterate, settled
from liestep.integrators.one_step import WEIGHTS, composed, weighted
from liestep.mechanics.contracts.formulations import SphereLagrangian
from liestep.mechanics.contracts.method import VARIATIONAL, Certified, Places
from liestep.mechanics.contracts.sheet import Option, Options


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


class SphereStep:
    """Methods of steps that remember g = G - F at their end."""

    def start(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Work) -> Status:
        """g at the start of a run, and its power."""
        n = y.shape[0]//2
        problem.gradient(y[:n], work.g)
        if problem.forced():
            problem.force(t, y[:n], y[n:2*n], work.push)
            for i in range(n):
                put(work.g, i, sub(row(work.g, i), row(work.push, i)))
            problem.set_power(y[:n], y[n:2*n], work.push, y)
        return Status.OK


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

    def improve(self, given: tuple, x: int, previous: float) -> tuple[Status, int, float, bool]:
        step, problem, t, y, h, work = given
        n, small = y.shape[0]//2, step.stagnation
        problem.force(t, y[:n], y[n:2*n], work.push)
        problem.counters[Counter.ITERATIONS] += 1
        status, change, size = step.kicked(problem, h, y, work)
        return status, x, change, settled(change, 1e-4*small*size, change, previous, small*size)


@kernel
def settle(step: Any, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Work) -> Status:
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


@borrows(SphereStep)
class ExplicitStep(NamedTuple):
    """Order 2, symmetric, explicit, one gradient per step, diagonal mass: twospheres2009 eqs. (29)-(30). A force F of
    time and velocity kicks like the gradient, at the start with the velocity there, at the end with the velocity after
    the kick, which it needs an iteration for: symmetric, so that compositions keep their order. Domain: a step that
    rotates a body by 90 degrees or more returns STEP_TOO_LARGE."""

    increment: bool  # True: q+ = q + (d x q - s/(1 + sqrt(1 - s)) q), s = |d|^2 + q.q - 1; False: eq. (29) as printed
    stagnation: float  # with forces: relative update below which an iteration that no longer converges has ended
    kick: Kick = Kick()

    def workspace(self, problem: SphereLagrangian, y: np.ndarray) -> Kicks:
        return Kicks(*np.zeros((3, y.shape[0]//2, 3), y.dtype))

    def step(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: Kicks) -> Status:
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

    def kicked(self, problem: SphereLagrangian, h: float, y: np.ndarray, work: Kicks) -> tuple[Status, float, float]:
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
    a: np.ndarray           # (n, n), or (n, 3 band + 1)
    pivots: np.ndarray      # (n,)
    push: np.ndarray        # (n, 3) F
    before: np.ndarray      # (n, 3) omega of the last iteration


@kernel
def along(i: int, n: int, band: int) -> tuple[int, int]:
    """First and behind the last column of row i of a matrix (n, n) with so many diagonals on each side; 0: full."""
    if band == 0:
        return 0, n
    return max(0, i - band), min(n, i + band + 1)


@borrows(SphereStep)
class MultiplierStep(NamedTuple):
    """Order 2, symmetric, implicit, coupled mass: RATTLE with Newton systems, n x n or banded as M^-1, for the
    multipliers lambda. q+ = q + d, d = h v - (h^2/2) M^-1 G + M^-1 (lambda q), |q+_i| = 1; v+ = v - (h/2) M^-1 (G + G+)
    + M^-1 (lambda q)/h + M^-1 (mu q+), q+_i.v+_i = 0. The same map as twospheres2009 eqs. (22)-(25) (tested). Returns
    NOT_CONVERGED or SINGULAR_MATRIX."""

    increment: bool   # False: velocities from (q+ - q)/h, as printed
    tolerance: float  # on the error left by the last Newton update, relative to the largest multiplier
    iterations: int   # at most
    stagnation: float  # relative update below which an iteration that no longer converges has ended
    kick: Kick = Kick()

    def workspace(self, problem: SphereLagrangian, y: np.ndarray) -> MultiplierWork:
        n, band = y.shape[0]//2, problem.inverse_band()
        g, v, kick, d, target, push, before = np.zeros((7, n, 3), y.dtype)
        return MultiplierWork(g, v, kick, d, target, np.zeros(n, y.dtype), np.zeros(n, y.dtype),
                              np.zeros((n, 3*band + 1 if band else n), y.dtype), np.zeros(n), push, before)

    def step(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: MultiplierWork) -> Status:
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

    def kicked(self, problem: SphereLagrangian, h: float, y: np.ndarray,
               work: MultiplierWork) -> tuple[Status, float, float]:
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
        n, band = g.shape[0], problem.inverse_band()
        for i in range(n):
            total, (first, last) = (0.0, 0.0, 0.0), along(i, n, band)
            for j in range(first, last):
                total = axpy(problem.inverse_mass_entry(i, j), row(g, j), total)
            put(out, i, total)

    def improve(self, given: tuple, x: int, previous: float) -> tuple[Status, int, float, bool]:
        """Newton for lambda: 2 q_i.d_i + d_i.d_i + (q_i.q_i - 1) = 0."""
        problem, q, work = given
        n, band = q.shape[0], problem.inverse_band()
        self.increments(problem, q, work)
        for i in range(n):
            qi, d, (first, last) = row(q, i), row(work.d, i), along(i, n, band)
            work.residual[i] = -(2.0*dot(qi, d) + dot(d, d) + length_defect(qi))
            new = add(qi, d)
            for j in range(first, min(n, last + band)):  # of a band also zeros, for exchanges of its rows
                work.a[i, j - (i - band if band > 0 else 0)] = 2.0*problem.inverse_mass_entry(i, j)*dot(new, row(q, j))
        if band > 0:
            if not solve_banded(work.a, work.residual, n, band):
                return Status.NOT_CONVERGED, x, previous, False
        else:
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

    def increments(self, problem: SphereLagrangian, q: np.ndarray, work: MultiplierWork) -> None:
        """d_i = target_i + sum_j Minv_ij lambda_j q_j"""
        n, band = q.shape[0], problem.inverse_band()
        for i in range(n):
            pull, (first, last) = (0.0, 0.0, 0.0), along(i, n, band)
            for j in range(first, last):
                pull = axpy(problem.inverse_mass_entry(i, j)*work.multiplier[j], row(q, j), pull)
            put(work.d, i, add(row(work.target, i), pull))

    def project(self, problem: SphereLagrangian, q: np.ndarray, w: np.ndarray, work: MultiplierWork) -> Status:
        """mu from q_i.(u + M^-1 (mu q))_i = 0, then omega = q x v."""
        n, band = q.shape[0], problem.inverse_band()
        for i in range(n):
            qi, (first, last) = row(q, i), along(i, n, band)
            work.residual[i] = -dot(qi, row(work.v, i))
            for j in range(first, min(n, last + band) if band > 0 else i + 1):
                work.a[i, j - (i - band if band > 0 else 0)] = problem.inverse_mass_entry(i, j)*dot(qi, row(q, j))
        if band > 0:
            if not solve_banded(work.a, work.residual, n, band):
                return Status.SINGULAR_MATRIX
        else:
            if not cholesky(work.a, n):
                return Status.SINGULAR_MATRIX
            cholesky_solve(work.a, work.residual, n)
        problem.counters[Counter.LINEAR_SOLVES] += 1
        for i in range(n):
            v, (first, last) = row(work.v, i), along(i, n, band)
            for j in range(first, last):
                v = axpy(problem.inverse_mass_entry(i, j)*work.residual[j], row(q, j), v)
            put(w, i, cross(row(q, i), v))
        return Status.OK


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


@borrows(SphereStep)
class SphereCayleyStep(NamedTuple):
    """Order 2, symmetric, implicit, as printed: twospheres2009 eqs. (22)-(25), solved for f_i orthogonal to q_i. The
    map of `MultiplierStep`, which is several times cheaper; the paper's claims and costs are about these solvers.
    `newton` False is the fixed-point iteration on eq. (28) (linear convergence, rate O(h)); True is Newton's method.
    Returns NOT_CONVERGED or SINGULAR_MATRIX."""

    newton: bool
    increment: bool  # False: q+ = F q and (q+ - q)/h as printed; True also keeps round-off of the length from adding up
    tolerance: float  # on the error left, relative to the largest component of f
    iterations: int  # at most
    stagnation: float  # relative update below which an iteration that no longer converges has ended
    kick: Kick = Kick()

    def workspace(self, problem: SphereLagrangian, y: np.ndarray) -> CayleyWork:
        size = y.size//2
        g, f, move, d, update, push, before = np.zeros((7, y.shape[0]//2, 3), y.dtype)
        return CayleyWork(g, f, move, d, update, np.zeros((size, size), y.dtype), np.zeros(size), push, before)

    def step(self, problem: SphereLagrangian, t: float, y: np.ndarray, h: float, work: CayleyWork) -> Status:
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

    def kicked(self, problem: SphereLagrangian, h: float, y: np.ndarray,
               work: CayleyWork) -> tuple[Status, float, float]:
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

    def displacements(self, q: np.ndarray, work: CayleyWork) -> None:
        """(F_i - I) q_i = u_i (f_i x q_i - |f_i|^2 q_i), u_i = 2/(1 + |f_i|^2)"""
        for i in range(q.shape[0]):
            f, qi = row(work.f, i), row(q, i)
            ff = dot(f, f)
            put(work.move, i, scale(2.0/(1.0 + ff), axpy(-ff, qi, cross(f, qi))))

    def improve(self, given: tuple, x: int, previous: float) -> tuple[Status, int, float, bool]:
        """A new f."""
        problem, q, work = given
        n = q.shape[0]
        self.linear_system(problem, q, work)
        if not lu(work.a, work.pivots, 3*n):
            return Status.NOT_CONVERGED, x, previous, False
        lu_solve(work.a, work.pivots, work.update, 3*n)
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

    def linear_system(self, problem: SphereLagrangian, q: np.ndarray, work: CayleyWork) -> None:
        """A(f) f_new = d, eq. (28): A_ii = u_i M_ii I, A_ij = -u_j M_ij hat(q_i) (hat(q_j) + q_j f_j^T). Newton's
        method takes the Jacobian of eq. (26) and minus its residual: J_ii = M_ii (u_i I - u_i^2 f_i f_i^T), J_ij =
        M_ij hat(q_i) D_j, D_j = -u_j (2 - u_j |f_j|^2) q_j f_j^T - u_j^2 (f_j x q_j) f_j^T - u_j hat(q_j)."""
        n = q.shape[0]
        self.displacements(q, work)
        for i in range(n):
            qi, fi, pull = row(q, i), row(work.f, i), (0.0, 0.0, 0.0)
            for j in range(n):
                qj, f, m = row(q, j), row(work.f, j), problem.mass_entry(i, j)
                ff = dot(f, f)
                u = 2.0/(1.0 + ff)
                turn, share = cross(f, qj), m if self.newton else -u*m
                if j != i:
                    pull = axpy(m, row(work.move, j), pull)
                for r in range(3):
                    column = axpy(f[r], qj, hat_column(qj, r))
                    if self.newton:
                        column = axpy(-u*(2.0 - u*ff)*f[r], qj, axpy(-u*u*f[r], turn, scale(-u, hat_column(qj, r))))
                    column = cross(qi, column)
                    for k in range(3):
                        unit, bend = 1.0 if k == r else 0.0, u*u*f[k]*f[r] if self.newton else 0.0
                        work.a[3*i + k, 3*j + r] = m*(u*unit - bend) if i == j else share*column[k]
            inner = axpy(2.0*problem.mass_entry(i, i)/(1.0 + dot(fi, fi)), fi, cross(qi, pull))
            put(work.update, i, axpy(-1.0, inner, row(work.d, i)) if self.newton else row(work.d, i))


OPTIONS = {
    "weights": WEIGHTS,
    "solver": Option("auto", "how the step is solved; auto is explicit for diagonal mass and multipliers otherwise",
                     ("auto", "explicit", "multipliers", "newton", "fixed_point")),
    "form": Option("increment", "increment never subtracts q+ - q; paper is the printed form, with larger round-off",
                   ("increment", "paper")),
    "tolerance": Option(1e-15, "implicit solvers: error left, relative to the largest unknown"),
    "iterations": Option(50, "implicit solvers: at most so many iterations"),
}


# largest c h/m of a drag -c v on one mass m with which the iterations of all substeps converge, also those with
# negative steps, which y4 has the longest of; measured
DRAG = {"one": 1.2, "y4": 0.7, "s4": 1.9, "y6": 0.9, "kl6": 1.5, "kl8": 2.1}


def _resolve(options: Options) -> dict[str, Any]:
    """Replace solver = auto; an explicit step leaves the solver's numbers out of the specification. An implicit one on
    uncoupled bodies is the same map, to be compared with the explicit one: it takes their mass as a full matrix, as
    those do for which a band is of no use."""
    options, diagonal = dict(options), options["mass"] == "diagonal"
    if options["solver"] == "auto":
        options["solver"] = "explicit" if diagonal else "multipliers"
    if options["solver"] != "explicit":
        banded = options["mass"] == "banded" and options["solver"] == "multipliers"
        return options | {"mass": "banded" if banded else "dense"}
    if not diagonal:
        raise InputError("option solver = explicit needs a diagonal mass matrix; allowed here are multipliers, newton,"
                         " fixed_point")
    return {name: value for name, value in options.items() if name not in ("tolerance", "iterations")}


def inner_step(options: Options) -> Any:
    """The one-step component that the options describe."""
    increment = options["form"] == "increment"
    if options["solver"] == "explicit":
        return ExplicitStep(increment, above_round_off(4))
    if options["solver"] == "multipliers":
        return MultiplierStep(increment, options["tolerance"], options["iterations"], above_round_off(4))
    return SphereCayleyStep(options["solver"] == "newton", increment, options["tolerance"], options["iterations"],
                            above_round_off(3))


ITERATED = ("multipliers", "newton", "fixed_point")
SAME = (*((({"solver": "multipliers"}), "vi_sphere", other) for other in (
    {"solver": "newton"}, {"solver": "fixed_point"}, {"form": "paper"}, {"solver": "newton", "form": "paper"})),
    *(({"solver": "explicit"}, "vi_sphere", other) for other in (
        {"solver": "multipliers"}, {"solver": "explicit", "form": "paper"})))
METHODS = {
    "vi_sphere": composed(
        inner_step, summary="order 2, 4, 6 or 8 by weights, symmetric; explicit for diagonal mass, else implicit",
        formulation="sphere_lagrangian", conserves=VARIATIONAL,
        citation="twospheres2009 eqs. (22)-(30)", options=OPTIONS, resolve=_resolve,
        mark=("o", "solid", "VI"), places=Places(shown=1, likely=True), calls=weighted(
            y4={"mark": ("^", "dashed", "VI Yoshida 4")}, s4={"mark": ("v", "solid", "VI Suzuki 4")},
            y6={"mark": ("<", "dashed", "VI Yoshida 6")}, kl6={"mark": (">", "solid", "VI Kahan-Li 6")},
            kl8={"mark": ("D", "solid", "VI Kahan-Li 8"), "places": Places(reference=1, stands_in=1)}),
        certified=Certified(({}, *({"solver": solver} for solver in ITERATED), {"form": "paper"}), same=SAME),
        forces="half kicks by F at both ends, the last one solved to round-off: the same order; drag c on a mass m"
        f" converges up to a step of about {DRAG['one']} m/c (NOT_CONVERGED beyond), with weights"
        f" {', '.join(f'{name} {limit} m/c' for name, limit in DRAG.items() if name != 'one')}: s4 takes longer steps"
        " than y4"),
}
