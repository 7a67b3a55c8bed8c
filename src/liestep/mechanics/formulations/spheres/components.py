"""Formulations of a mechanical system on (S^2)^n, all derived from one system with `potential` and `gradient`.

State: rows q_1..q_n then omega_1..omega_n (2n, 3), everything spatial; dq_i/dt = omega_i x q_i, omega_i . q_i = 0. The
velocity form replaces omega by dq/dt. Observables (same order in all): energy, J (3), length error (mean and maximum
over the bodies of |1 - q.q|), tangency error (maximum of |q.omega|, or of |q.dq/dt| in the velocity form)."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, hands_on
from liestep.compile.roles import System
from liestep.compile.rows import FieldOfRows, axpy, cross, dot, larger, put, row, sub
from liestep.geometry.attitude import make_tangent, normalise
from liestep.mechanics.contracts import formulations
from liestep.mechanics.formulations.work import separate_work

WORK = 7  # column of the work in `observe`, after those of `SphereLagrangian`


class SphereField(FieldOfRows):
    """Methods of vector fields with `projection`: 0 none, 1 position (q normalised), 2 state (and the last n rows made
    tangent)."""

    projection: int

    def project(self, y: np.ndarray) -> None:
        if self.projection == 0:
            return
        n = y.shape[0]//2
        for i in range(n):
            normalise(y, i)
            if self.projection == 2:
                make_tangent(y, i, n + i)


@hands_on("system", formulations.SphereLagrangian, "potential")
@hands_on("mass", formulations.SphereLagrangian, "inverse_band")
class SphereLagrangian(NamedTuple):
    """L = T(q, dq/dt) - V(q): what variational integrators ask for
    (`mechanics.contracts.formulations.SphereLagrangian`)."""

    system: System
    mass: Any             # DiagonalMass | DenseMass | BandedMass | ChainMass
    velocity: np.ndarray  # (n, 3) scratch of the observables
    counters: np.ndarray

    def gradient(self, q: np.ndarray, out: np.ndarray) -> None:
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        self.system.gradient(q, out)

    def body_mass(self, i: int) -> float:
        return self.mass.m[i]

    def mass_entry(self, i: int, j: int) -> float:
        return self.mass.matrix[i, j]

    def inverse_mass_entry(self, i: int, j: int) -> float:
        return self.mass.inverse_entry(i, j)

    def solve_inertia(self, q: np.ndarray, out: np.ndarray) -> bool:
        return self.mass.solve(q, out)

    def forced(self) -> bool:
        """Whether the system has forces: `ForcedSphereLagrangian` has the same methods, and there they act.
        Compiled code may not lack a method even where it is never called."""
        return False

    def force(self, t: float, q: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        pass

    def load(self, t: float, q: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        """out = G."""
        self.gradient(q, out)

    def add_power(self, q: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        pass

    def set_power(self, q: np.ndarray, w: np.ndarray, f: np.ndarray, y: np.ndarray) -> None:
        pass

    def add_work(self, h: float, y: np.ndarray) -> None:
        pass

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        n = y.shape[0]//2
        for i in range(n):
            put(self.velocity, i, cross(row(y, n + i), row(y, i)))
        self.observe_velocity(y, self.velocity, out)

    def observe_velocity(self, y: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        """Observables from positions (first n rows of y), velocities v, and the tangency of the last n rows of y.

        The energy is 1/2 sum M_ij v_i.v_j + V(q) also for states off the manifold."""
        n = y.shape[0]//2
        q = y[:n]
        out[0] = self.mass.kinetic_energy(v) + self.system.potential(q)
        out[1], out[2], out[3] = self.mass.momentum(q, v)
        mean, largest, tangency = 0.0, 0.0, 0.0
        for i in range(n):
            a = row(q, i)
            length = abs(1.0 - dot(a, a))
            mean += length
            largest = larger(largest, length)
            tangency = larger(tangency, abs(dot(a, row(y, n + i))))
        out[4] = mean/n
        out[5] = largest
        out[6] = tangency


@hands_on("plain", formulations.SphereLagrangian)
class ForcedSphereLagrangian(NamedTuple):
    """The methods of `SphereLagrangian`, where those for forces of time and velocity do something: M dv/dt = -G + F +
    lambda q.

    The state has one row more, below q and omega: (W, P, 0) with the work W = int sum F_i.v_i dt in J, and the power P
    at the last evaluation of a variational step. It is counted in no error. Observables are those without forces, with
    the energy less the work, which is the invariant; then W and the mechanical energy T + V."""

    plain: Any          # SphereLagrangian
    system: System         # with force(t, q, omega, out)
    mass: Any
    velocity: np.ndarray  # (n, 3) scratch of the observables
    counters: np.ndarray
    push: np.ndarray      # (n, 3) scratch: F

    def forced(self) -> bool:
        return True

    def force(self, t: float, q: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        """The part of F tangent to the spheres: the other one does no work and is taken up by the constraint."""
        self.counters[Counter.FORCE_EVALUATIONS] += 1
        self.system.force(t, q, w, out)
        for i in range(q.shape[0]):
            a, f = row(q, i), row(out, i)
            put(out, i, axpy(-dot(a, f)/dot(a, a), a, f))

    def load(self, t: float, q: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        """out = G - F; F stays in `push`."""
        self.plain.gradient(q, out)
        self.force(t, q, w, self.push)
        for i in range(q.shape[0]):
            put(out, i, sub(row(out, i), row(self.push, i)))

    def power_of(self, q: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        """sum F_i.v_i, v_i = omega_i x q_i."""
        total = 0.0
        for i in range(q.shape[0]):
            total += dot(row(f, i), cross(row(w, i), row(q, i)))
        return total

    def add_power(self, q: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
        """Rate of change of the work, of the F in `push`, into the last row of out."""
        put(out, 2*q.shape[0], (self.power_of(q, w, self.push), 0.0, 0.0))

    def set_power(self, q: np.ndarray, w: np.ndarray, f: np.ndarray, y: np.ndarray) -> None:
        y[2*q.shape[0], 1] = self.power_of(q, w, f)

    def add_work(self, h: float, y: np.ndarray) -> None:
        """A half kick of duration h: the power at its known end, where the velocity is the one that F was taken at.
        (By the mean velocity of the kick, a magnetic force would do work.)"""
        last = y.shape[0] - 1
        y[last, 0] += h*y[last, 1]

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        self.plain.observe(y, out)
        separate_work(y[y.shape[0] - 1, 0], WORK, out)

    def observe_velocity(self, y: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        self.plain.observe_velocity(y, v, out)
        separate_work(y[y.shape[0] - 1, 0], WORK, out)


@hands_on("lagrangian", formulations.Component, "observe")
@borrows(SphereField)
class SphereOmegaForm(NamedTuple):
    """Vector field for (q, omega) in the embedding space: twospheres2009 eqs. (9)-(11)."""

    lagrangian: Any
    counters: np.ndarray
    g: np.ndarray    # (n, 3) scratch
    projection: int

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        n = y.shape[0]//2
        q, w = y[:n], y[n:2*n]
        self.lagrangian.load(t, q, w, self.g)
        self.lagrangian.add_power(q, w, out)
        for i in range(n):
            put(out, i, cross(row(w, i), row(q, i)))
        return self.lagrangian.mass.angular_acceleration(q, w, self.g, out[n:2*n])


@borrows(SphereField)
class SphereVelocityForm(NamedTuple):
    """Vector field for (q, dq/dt) in the embedding space: twospheres2009 eqs. (7)-(8).

    The same motion as the omega form on the manifold, a different one off it."""

    lagrangian: Any
    counters: np.ndarray
    g: np.ndarray
    projection: int
    omega: np.ndarray  # (n, 3) scratch: q x v, which forces ask for

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        n = y.shape[0]//2
        q, v = y[:n], y[n:2*n]
        if self.lagrangian.forced():
            for i in range(n):
                put(self.omega, i, cross(row(q, i), row(v, i)))
        self.lagrangian.load(t, q, self.omega, self.g)
        self.lagrangian.add_power(q, self.omega, out)
        for i in range(n):
            put(out, i, row(v, i))
        return self.lagrangian.mass.acceleration(q, v, self.g, out[n:2*n])

    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        n = y.shape[0]//2
        self.lagrangian.observe_velocity(y, y[n:2*n], out)


@hands_on("lagrangian", formulations.Component, "observe")
class SphereGenerator(NamedTuple):
    """f(q, omega) = (omega, q x domega/dt) for SE(3)^n on (TS^2)^n: liegroup2021, section 4.

    (alpha q, alpha omega + beta q) belongs to the isotropy algebra: added to f, it changes no solution,
    only the method's error."""

    lagrangian: Any
    g: np.ndarray   # (n, 3) scratch
    dw: np.ndarray  # (n, 3) scratch
    alpha: float
    beta: float

    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        n = y.shape[0]//2
        q, w = y[:n], y[n:2*n]
        self.lagrangian.load(t, q, w, self.g)
        self.lagrangian.add_power(q, w, out)
        ok = self.lagrangian.mass.angular_acceleration(q, w, self.g, self.dw)
        for i in range(n):
            a, b = row(q, i), row(w, i)
            put(out, i, axpy(self.alpha, a, b))
            put(out, n + i, axpy(self.alpha, b, axpy(self.beta, a, cross(a, row(self.dw, i)))))
        return ok
