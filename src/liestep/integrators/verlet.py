"""Symplectic Euler and Stoermer-Verlet for Hamilton's equations with H = T(p) + V(q), and the symmetric compositions of
the latter (Hairer, Lubich and Wanner 2006, I.1.2, I.1.4 and V.3)."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import CANONICAL, Certified, Method, Option, Places, SeparableHamiltonian, Status, borrows, shift
from liestep.integrators.one_step import COMPOSED, WEIGHTS, OneStep, composed, weighted

FIRST = ("velocity", "position")
VARIANTS = ("A", "B")  # as in GeometricIntegrators.jl


class Verlet(NamedTuple):
    """Order 2, explicit, symmetric and symplectic; one evaluation of the forces in a step.

    Forces are taken at the ends of a step (velocity first: kick, drift, kick), or in its middle (position first).
    """

    first: int  # of FIRST

    def workspace(self, problem: SeparableHamiltonian, y: np.ndarray) -> Any:
        return np.zeros_like(y)

    def start(self, problem: SeparableHamiltonian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        problem.kick(t, y, work)
        return Status.OK

    def step(self, problem: SeparableHamiltonian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        if self.first == 0:
            problem.push(0.5*h, work, y)
            problem.drift(y, work)
            shift(h, work, 0, y)
            problem.kick(t + h, y, work)
            problem.push(0.5*h, work, y)
        else:
            problem.drift(y, work)
            shift(0.5*h, work, 0, y)
            problem.kick(t + 0.5*h, y, work)
            problem.push(h, work, y)
            problem.drift(y, work)
            shift(0.5*h, work, 0, y)
        return Status.OK


@borrows(Verlet, OneStep)  # workspace; start
class SymplecticEuler(NamedTuple):
    """Order 1, explicit, symplectic; one evaluation of the forces in a step. A: the positions by the old velocities,
    then the momenta by forces at the new positions; B, its adjoint: the momenta first."""

    variant: int  # of VARIANTS

    def step(self, problem: SeparableHamiltonian, t: float, y: np.ndarray, h: float, work: Any) -> Status:
        if self.variant == 1:
            problem.kick(t, y, work)
            problem.push(h, work, y)
        problem.drift(y, work)
        shift(h, work, 0, y)
        if self.variant == 0:
            problem.kick(t + h, y, work)
            problem.push(h, work, y)
        return Status.OK


METHODS = {
    "symplectic_euler": Method(
        summary="order 1, explicit; symplectic Euler, for H = T(p) + V(q)", order=1,
        also=("semi_implicit_euler", "euler_cromer"),
        formulation="separable_hamiltonian", conserves=CANONICAL, forces="of time and position, at the kicks",
        citation="de Vogelaere 1956; Hairer, Lubich and Wanner 2006, I.1.2",
        build=lambda options, tolerance, t_end: SymplecticEuler(VARIANTS.index(options["variant"])),
        options={"variant": Option("A", "A: positions first, then forces there; B: momenta first", VARIANTS)},
        places=Places(recommended=False), certified=Certified(
            ({}, {"variant": "B"}), adjoints=(({"variant": "A"}, {"variant": "B"}),))),
    "verlet": composed(
        lambda options: Verlet(FIRST.index(options["first"])),
        summary="order 2, or 4 to 8 by weights; explicit Stoermer-Verlet, for H = T(p) + V(q)",
        formulation="separable_hamiltonian", conserves=CANONICAL, forces="of time and position, at the kicks",
        also=("leapfrog", "velocity_verlet", "stoermer_verlet", "stormer_verlet", "kdk"),
        citation="Hairer, Lubich and Wanner 2003, Acta Numer. 12, 399",
        options={"first": Option("velocity", "what moves first", FIRST), "weights": WEIGHTS},
        calls=weighted(*COMPOSED[1:]), places=Places(shown=13), certified=Certified((
            {}, {"first": "position"}, {"first": "position", "weights": "s4"}))),
}
