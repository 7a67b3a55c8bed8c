"""Adams-Bashforth methods in local coordinates about the current state.

The past states are y_(n-j) = exp(X_j).y_n, X_0 = 0, and sigma(t) with y(t) = exp(sigma(t)).y_n passes through X_j with
the rates K_j = dexpinv_(X_j) f(y_(n-j)): the method is the classical one for sigma, y_(n+1) = exp(h sum c_j K_j).y_n.
With K_j = f(y_(n-j)), without transport to the current coordinates, the order is at most 2 (lgt2022, section 6.3:
multistep methods need the local coordinates of past states)."""
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from liestep.extend import ORBIT, LieChart, Method, Option, Options, Status, coefficients, copy, whole_number
from liestep.integrators.one_step import combine
from liestep.integrators.rkmk import MuntheKaas, chart_order
from liestep.integrators.tableaux import TABLEAUX

WEIGHTS = {2: ["3/2", "-1/2"], 4: ["55/24", "-59/24", "37/24", "-3/8"]}


class AdamsWork(NamedTuple):
    states: np.ndarray  # (k - 1, m, d) states before the current one, the latest first
    rates: np.ndarray   # (k, d, 3) f of the current state and of those before it
    moved: np.ndarray   # (k, d, 3) the same in the coordinates of the current state
    sigma: np.ndarray   # (d, 3)
    steps: np.ndarray   # (1,) steps so far
    starter: tuple[np.ndarray, ...]  # workspace of the method of the first steps


class LieAdams(NamedTuple):
    """Order k, explicit, one evaluation of f for each step; conserves the orbit of the action. The first k - 1 steps
    are those of a Munthe-Kaas method of order 5. Returns CHART_LIMIT when k - 1 steps or one step turn by the end of
    the chart, NOT_EVALUABLE when f does not exist."""

    weights: np.ndarray  # (k,)
    transport: bool
    starter: MuntheKaas

    def workspace(self, problem: LieChart, y: np.ndarray) -> AdamsWork:
        count, rows = self.weights.shape[0], problem.algebra_rows()
        return AdamsWork(np.zeros((count - 1, *y.shape), y.dtype), np.zeros((count, rows, 3), y.dtype),
                         np.zeros((count, rows, 3), y.dtype), np.zeros((rows, 3), y.dtype),
                         np.zeros(1, dtype=np.int64), self.starter.workspace(problem, y))

    def start(self, problem: LieChart, t: float, y: np.ndarray, h: float, work: AdamsWork) -> Status:
        work.steps[0] = 0
        return Status.OK

    def step(self, problem: LieChart, t: float, y: np.ndarray, h: float, work: AdamsWork) -> Status:
        count = self.weights.shape[0]
        if not problem.algebra(t, y, work.rates[0]):
            return Status.NOT_EVALUABLE
        status = Status.OK
        copy(work.rates[0], work.moved[0])
        if work.steps[0] >= count - 1:
            for j in range(1, count):
                copy(work.rates[j], work.moved[j])
                if self.transport:
                    problem.log(y, work.states[j - 1], work.sigma)
                    if not problem.dexpinv(work.sigma, work.moved[j], work.moved[j]):
                        return Status.CHART_LIMIT
            combine(self.weights, h, work.moved, count, work.sigma)
            if not problem.in_chart(work.sigma):
                return Status.CHART_LIMIT
        for r in range(count - 1):
            j = count - 1 - r
            copy(work.rates[j - 1], work.rates[j])
            if j > 1:
                copy(work.states[j - 2], work.states[j - 1])
        copy(y, work.states[0])
        if work.steps[0] < count - 1:
            status = self.starter.step(problem, t, y, h, work.starter)
            work.steps[0] += 1
            return status
        problem.act(work.sigma, y, y)
        return Status.OK if problem.project(y) else Status.SINGULAR_MATRIX


def _build(options: Options, tolerance: float | None, t_end: float) -> LieAdams:
    return LieAdams(coefficients([Fraction(word) for word in WEIGHTS[options["order"]]]), options["transport"] == "on",
                    MuntheKaas(*TABLEAUX["dormand_prince5"].arrays()))


METHODS = {
    "lie_ab": Method(
        summary="order 4, or 2, of as many steps, explicit, Adams-Bashforth in local coordinates", order=4,
        formulation="lie_chart", conserves=ORBIT, projects=True,
        citation="lgt2022 section 6.3; Bashforth and Adams 1883",
        options={"order": whole_number("order", 4, tuple(WEIGHTS), "order, and number of steps"),
                 "transport": Option("on", "of the rates of past states to the coordinates of the current one; off:"
                                     " order 2", ("on", "off"))},
        order_for=lambda options, sheet, parameters: options["order"] if options["transport"] == "on" else chart_order(
            2, options),
        calls={"order=2": {"order": 2}}, history="it takes its slopes at earlier steps", build=_build),
}
