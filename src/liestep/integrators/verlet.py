"""Symplectic Euler and Stoermer-Verlet for Hamilton's equations with H = T(p) + V(q), and the symmetric compositions of
the latter (Hairer, Lubich and Wanner 2006, I.1.2, I.1.4 and V.3)."""
from typing import NamedTuple

import numpy as np

from liestep.extend import (
    CANONICAL,
    Certified,
    Method,
    Option,
    Places,
    SeparableHamiltonian,
    Status,
    coefficients,
    shift,
)
from liestep.integrators.one_step import COMPOSED, WEIGHTS, composed, weighted

# drifts and kicks of a step, which begins with a kick; A and B as in GeometricIntegrators.jl
SHARES = {"velocity": ([1.0], [0.5, 0.5]), "position": ([0.5, 0.5], [0.0, 1.0, 0.0]), "A": ([1.0], [0.0, 1.0]),
          "B": ([1.0], [1.0, 0.0])}


class KickDrift(NamedTuple):
    """Explicit, symplectic; one evaluation of the forces for each kick, those of a kick at the end serve the next step.
    Order 2 and symmetric: kick, drift, kick, or drift, kick, drift. Order 1: one kick by forces at the new (A) or at
    the old positions (B), its adjoint."""

    drifts: np.ndarray  # (s,)
    kicks: np.ndarray   # (s + 1,)

    def workspace(self, problem: SeparableHamiltonian, y: np.ndarray) -> np.ndarray:
        return np.zeros_like(y)

    def remembers(self) -> bool:
        """Whether a step begins with the forces at the end of the last one."""
        return self.kicks[0] != 0.0 and self.kicks[self.drifts.shape[0]] != 0.0

    def start(self, problem: SeparableHamiltonian, t: float, y: np.ndarray, h: float, work: np.ndarray) -> Status:
        if self.remembers():
            problem.kick(t, y, work)
        return Status.OK

    def step(self, problem: SeparableHamiltonian, t: float, y: np.ndarray, h: float, work: np.ndarray) -> Status:
        time = t
        for k in range(self.kicks.shape[0]):
            if k > 0:
                problem.drift(y, work)
                shift(self.drifts[k - 1]*h, work, 0, y)
                time += self.drifts[k - 1]*h
            if self.kicks[k] != 0.0:
                if k > 0 or not self.remembers():
                    problem.kick(time, y, work)
                problem.push(self.kicks[k]*h, work, y)
        return Status.OK


METHODS = {
    "symplectic_euler": Method(
        summary="order 1, explicit; symplectic Euler, for H = T(p) + V(q)", order=1,
        also=("semi_implicit_euler", "euler_cromer"),
        formulation="separable_hamiltonian", conserves=CANONICAL, forces="of time and position, at the kicks",
        citation="de Vogelaere 1956; Hairer, Lubich and Wanner 2006, I.1.2",
        build=lambda options, tolerance, t_end: KickDrift(*map(coefficients, SHARES[options["variant"]])),
        options={"variant": Option("A", "A: positions first, then forces there; B: momenta first", ("A", "B"))},
        places=Places(recommended=False), certified=Certified(
            ({}, {"variant": "B"}), adjoints=(({"variant": "A"}, {"variant": "B"}),))),
    "verlet": composed(
        lambda options: KickDrift(*map(coefficients, SHARES[options["first"]])),
        summary="order 2, or 4 to 8 by weights; explicit Stoermer-Verlet, for H = T(p) + V(q)",
        formulation="separable_hamiltonian", conserves=CANONICAL, forces="of time and position, at the kicks",
        also=("leapfrog", "velocity_verlet", "stoermer_verlet", "stormer_verlet", "kdk"),
        citation="Hairer, Lubich and Wanner 2003, Acta Numer. 12, 399",
        options={"first": Option("velocity", "what moves first", ("velocity", "position")), "weights": WEIGHTS},
        calls=weighted(*COMPOSED[1:]), places=Places(shown=13), certified=Certified((
            {}, {"first": "position"}, {"first": "position", "weights": "s4"}))),
}
