"""BLieDF: backward differentiation on Lie groups for the index-3 equations, with the increments U of the last steps:

    V_(n+1) = (1/h) sum_i gamma_i U_(n+1-i) + [U_(n+1), U_n]/(12 h) for k = 3,    q_(n+1) = q_n psi(U_(n+1))
    dV/dt_(n+1) = (1/h) sum_i alpha_i V_(n+1-i)

(Wieloch and Arnold 2021 for k = 1, 2; the commutator for k = 3 follows from U = h V + h^3 (V''/24 + [V, V']/12) at the
middle of the step; lgt2022, section 4.3)."""
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    IndexThree,
    Keeps,
    Method,
    Option,
    Options,
    Parameters,
    Sheet,
    Status,
    axpy,
    borrows,
    coefficients,
    copy,
    put,
    row,
    scale,
    whole_number,
)
from liestep.integrators.generalized_alpha import NEWTON, GeneralizedAlpha, Newton, StepWork, newton_of
from liestep.integrators.rkmk import MuntheKaas
from liestep.integrators.tableaux import TABLEAUX

SUBSTEPS = 20  # of the starting method in each of the first steps
ALPHA, GAMMA = ([[Fraction(word) for word in line.split()] for line in lines] for lines in (
    ("1 -1 0 0", "3/2 -2 1/2 0", "11/6 -3 3/2 -1/3"), ("1 0 0", "3/2 -1/2 0", "11/6 -7/6 1/3")))


@borrows(workspace=GeneralizedAlpha.workspace)
class Bliedf(NamedTuple):
    """Order k = 1, 2, 3, implicit; conserves the joints' positions to Newton's tolerance. The first k - 1 steps are
    made of 20 steps of an explicit method of order 5 each, from which joints drift a little."""

    order: int
    alpha: np.ndarray  # (4,)
    gamma: np.ndarray  # (3,)
    commutator: float  # 1/12 or 0
    newton: Newton
    starter: MuntheKaas

    def start(self, problem: IndexThree, t: float, y: np.ndarray, h: float, work: StepWork) -> Status:
        work.steps[0] = 0
        work.clock[0] = problem.work(y)
        problem.velocity(y, work.v[0])
        return Status.OK

    def step(self, problem: IndexThree, t: float, y: np.ndarray, h: float, work: StepWork) -> Status:
        if work.steps[0] < self.order - 1:
            return self.first(problem, t, y, h, work)
        if work.steps[0] == self.order - 1:
            if not problem.algebra(t, y, work.xi):
                return Status.SINGULAR_MATRIX
            problem.multipliers(h*h, work.found)
            for i in range(2*problem.bodies()):
                put(work.u, i, axpy(0.5*h*h, row(work.xi, 4*(i//2) + 2 + i % 2), scale(h, row(work.v[0], i))))
        problem.advance(h, work.xi)
        lead = self.alpha[0]/h
        for i in range(2*problem.bodies()):
            put(work.start[0], i, axpy(self.gamma[1]/h, row(work.past[0], i),
                                       scale(self.gamma[2]/h, row(work.past[1], i))))
            put(work.start[1], i, axpy(self.alpha[1]/h, row(work.v[0], i), axpy(
                self.alpha[2]/h, row(work.v[1], i), scale(self.alpha[3]/h, row(work.v[2], i)))))
        status = self.newton.solve(problem, y, work, h*h, self.gamma[0]/h, self.commutator/h, lead)
        if status != Status.OK:
            return status
        problem.put_multipliers(1.0/(h*h), work.found, y)
        # the rate of the work is differenced as that of V
        known = self.alpha[1]*work.clock[0] + self.alpha[2]*work.clock[1] + self.alpha[3]*work.clock[2]
        problem.put_work((h*problem.power(y, 1.0/(h*h), work.found) - known)/self.alpha[0], y)
        copy(work.past[0], work.past[1])
        copy(work.u, work.past[0])
        self.remember(work.new[0], problem.work(y), work)
        return Status.OK

    def first(self, problem: IndexThree, t: float, y: np.ndarray, h: float, work: StepWork) -> Status:
        """A step of the starting method, with its increment."""
        copy(y, work.state)
        for k in range(SUBSTEPS):
            status = self.starter.step(problem, t + k*h/SUBSTEPS, y, h/SUBSTEPS, work.starter)
            if status != Status.OK:
                return status
        problem.log(work.state, y, work.xi)
        copy(work.past[0], work.past[1])
        for i in range(2*problem.bodies()):
            put(work.past[0], i, row(work.xi, 4*(i//2) + i % 2))
        if not problem.algebra(t + h, y, work.xi):
            return Status.SINGULAR_MATRIX
        problem.multipliers(1.0, work.found)
        problem.put_multipliers(1.0, work.found, y)
        problem.velocity(y, work.new[0])
        self.remember(work.new[0], problem.work(y), work)
        return Status.OK

    def remember(self, v: np.ndarray, done: float, work: StepWork) -> None:
        """The velocity and the work of a new step in front of those before it."""
        work.clock[2] = work.clock[1]
        work.clock[1] = work.clock[0]
        work.clock[0] = done
        copy(work.v[1], work.v[2])
        copy(work.v[0], work.v[1])
        copy(v, work.v[0])
        work.steps[0] += 1


def _order(options: Options, sheet: Sheet, parameters: Parameters) -> int:
    """Increments of a Cayley map differ from h V by O(h^3), and so do those of the exponential from the mean of V."""
    return min(options["order"], 2 if options["chart"] != "exp" or options.get("commutator") == "off" else 3)


def _resolve(options: Options) -> dict[str, Any]:
    """Only order 3 has a commutator."""
    return {name: value for name, value in options.items() if name != "commutator" or options["order"] == 3}


def _build(options: Options, tolerance: float | None, t_end: float) -> Bliedf:
    order, share = options["order"], 1.0/12.0 if options.get("commutator") == "on" else 0.0
    return Bliedf(order, coefficients(ALPHA[order - 1]), coefficients(GAMMA[order - 1]), share, newton_of(options),
                  MuntheKaas(*TABLEAUX["dormand_prince5"].arrays()))


METHODS = {
    "bliedf": Method(
        summary="order 3, or 1 and 2, implicit, of as many steps, index 3, backward differentiation", order=3,
        formulation="index_three", conserves=(Keeps.POSITIONS,),
        citation="Wieloch and Arnold 2021; lgt2022 section 4.3",
        options={"order": whole_number("order", 3, (1, 2, 3), "order, and number of steps"),
                 "commutator": Option("on", "of order 3: the term [U_(n+1), U_n]/12, without which the order is 2",
                                      ("on", "off")), **NEWTON},
        resolve=_resolve, fewest_steps=3, order_for=_order, build=_build,
        history="it takes its states at earlier steps",
        calls={f"order={order}": {"order": order, "fewest_steps": order} for order in (1, 2)}),
}
