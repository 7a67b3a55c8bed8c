"""Hamiltonian integrators in unit quaternions with the regular augmented mass matrix (Betsch and Siebert 2009;
livens2025 section 5.4 and appendix D): the energy-momentum scheme emh and the midpoint rule mph.

Unknowns are the increment of q, p_1 and the multipliers. The moment J_00 of the augmentation does not matter: q.p = 0
is kept, so that `polar` changes nothing but round-off. mpl is the same map of (q, p) as mph with variant b."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.status import Status
from liestep.integrators._linked_bodies import linked_work
from liestep.integrators._newton import correct, iterate, largest
from liestep.integrators.livens import (
    STOP,
    TIED_WEIGHTS,
    Common,
    begin,
    composed_order,
    deposit,
    is_chain,
    move,
    new_work,
    newton,
    stopping,
)
from liestep.integrators.one_step import OneStep, composed
from liestep.mechanics.contracts.formulations import QuaternionHamiltonian
from liestep.mechanics.contracts.method import MOMENTA, OF_POSITIONS, Certified, Keeps, Places, Where, each
from liestep.mechanics.contracts.sheet import Option, Options

KINDS = {"emh": 0, "a": 1, "x": 2, "b": 3}  # of `mechanics.formulations.constrained.hamilton`


@borrows(OneStep, improve=newton)
class HamiltonianStep(NamedTuple):
    """Order 2, symmetric, implicit, 2 n + m unknowns d, p_1, lambda. Returns NOT_CONVERGED, SINGULAR_MATRIX or
    CHART_LIMIT."""

    kind: int         # of KINDS
    polar: float      # J_00 over tr J/2
    printed: bool     # stop as printed: residual below PRINTED, then one update more
    tolerance: float  # error left in d and p, relative to them
    iterations: int   # at most

    def workspace(self, problem: QuaternionHamiltonian, y: np.ndarray) -> Common:
        if is_chain(problem):
            return linked_work(problem, y, 2)
        return new_work(problem, y, self.unknowns(problem))

    def step(self, problem: QuaternionHamiltonian, t: float, y: np.ndarray, h: float, work: Common) -> Status:
        begin(problem, y, h, work)
        for i in range(problem.size()):
            work.p1[i] = y[2, i]
        status, _ = iterate(self, (problem, t, h, y, work, work), 0, 1.0, self.iterations)
        if status == Status.OK:
            move(problem, y[0], work)
            status = problem.admissible(y[0], work.q1)
        if status == Status.OK:
            problem.velocity(self.polar, work.q1, work.p1, work.v1)
            deposit(problem, t, h, y, work)
        return status

    def unknowns(self, problem: QuaternionHamiltonian) -> int:
        return 2*problem.size() + problem.bonds()

    def residual(self, problem: QuaternionHamiltonian, t: float, h: float, y: np.ndarray, work: Any) -> float:
        return work.flow(problem, self.kind, self.polar, t, h, y)

    def update(self, problem: QuaternionHamiltonian, work: Common) -> tuple[float, float, float]:
        """The larger of the changes of d and p, each relative to its size."""
        n, r = problem.size(), work.r
        change, size = correct(work.d, r, n)
        push, momentum = correct(work.p1, r[n:], n)
        for k in range(problem.bonds()):
            work.multipliers[k] -= r[2*n + k]
        share = max(change/size if size > 0.0 else 0.0, push/momentum if momentum > 0.0 else 0.0)
        return share, 1.0, largest(work.q1, n)/size if size > 0.0 else 1.0


POLAR = Option(1.0, "moment J_00 of the augmented mass matrix over half the trace of the inertia: the motion does not"
               " depend on it")


def _inner(options: Options) -> HamiltonianStep:
    return HamiltonianStep(KINDS[options.get("variant", "emh")], options["polar"], *stopping(options))


METHODS = {
    "emh": composed(
        _inner, summary="order 2, symmetric, implicit, on quaternions with a regular mass matrix; 4, 6 or 8 by weights",
        formulation="quaternion_hamiltonian", conserves=(*OF_POSITIONS, MOMENTA, Keeps.ENERGY),
        citation="Betsch and Siebert 2009; livens2025, appendix D", order_for=composed_order(8),
        options={"polar": POLAR, "weights": TIED_WEIGHTS, **STOP}, mark=((4, 1, 45), "solid", "EMH"),
        places=Places(shown=11), certified=Certified(each("weights", "s4", "kl8"))),
    "mph": composed(
        _inner, formulation="quaternion_hamiltonian", citation="livens2025, section 5.4",
        summary="order 2, symmetric, implicit midpoint rule of the Hamiltonian form; variant b is the map of mpl",
        conserves=(*OF_POSITIONS, Keeps.BOUNDED, Where(
            Keeps.MOMENTUM, "with variants a, b, without joints", lambda options, sheet, parameters:
            options["variant"] != "x" and MOMENTA.holds(options, sheet, parameters))),
        options={"variant": Option("b", "where the mass matrix at the midpoint has its factor |q_m|^-4: a nowhere, x in"
                                   " the equation for q only, b in both", ("b", "a", "x")), "polar": POLAR, **STOP},
        mark=((5, 1, 0), "dashed", "MPH"), certified=Certified(each("variant", "a", "x"))),
}
