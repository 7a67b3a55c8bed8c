"""Stoermer-Verlet for Hamilton's equations with H = T(p) + V(q), and its symmetric compositions (Hairer, Lubich and
Wanner 2006, I.1.4 and V.3)."""
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import CANONICAL, Certified, Option, Places, SeparableHamiltonian, Status, shift
from liestep.integrators.one_step import COMPOSED, WEIGHTS, composed, weighted

FIRST = ("velocity", "position")


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


METHODS = {
    "verlet": composed(
        lambda options: Verlet(FIRST.index(options["first"])),
        summary="order 2, or 4 to 8 by weights; explicit Stoermer-Verlet, for H = T(p) + V(q)",
        formulation="separable_hamiltonian", conserves=CANONICAL, forces="of time and position, at the kicks",
        citation="Hairer, Lubich and Wanner 2003, Acta Numer. 12, 399",
        options={"first": Option("velocity", "what moves first", FIRST), "weights": WEIGHTS},
        calls=weighted(*COMPOSED[1:]), places=Places(shown=13), certified=Certified((
            {}, {"first": "position"}, {"first": "position", "weights": "s4"}))),
}
