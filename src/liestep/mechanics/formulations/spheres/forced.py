"""Systems on (S^2)^n with forces of time and velocity beside the potential: M dv/dt = -G + F + lambda q.

The state has one row more, below q and omega: (W, P, 0) with the work W = int sum F_i.v_i dt in J, and the power P at
the last evaluation of a variational step. It is counted in no error. Observables are those without forces, with the
energy less the work, which is the invariant; then W and the mechanical energy T + V.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import hands_on
from liestep.compile.rows import axpy, cross, dot, put, row, sub
from liestep.mechanics.contracts.formulations import SphereLagrangian
from liestep.mechanics.formulations.work import separate_work

WORK = 7  # column of the work in `observe`, after those of `SphereLagrangian`


@hands_on("plain", SphereLagrangian)
class ForcedSphereLagrangian(NamedTuple):
    """The methods of `SphereLagrangian`, where those for forces do something."""

    plain: Any          # SphereLagrangian
    system: Any         # with force(t, q, omega, out)
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
        """Remember the power of F = f at the end of a kick."""
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


def has_force(system: Any) -> bool:
    """Whether a system declares forces: known from its class, before anything is compiled."""
    return hasattr(type(system), "force")
