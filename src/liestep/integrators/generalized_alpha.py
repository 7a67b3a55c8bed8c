"""Generalized-alpha method on Lie groups for the index-3 equations, with pseudo-accelerations a:

    U/h = V_n + h ((1/2 - beta) a_n + beta a_(n+1)),        q_(n+1) = q_n psi(U)
    V_(n+1) = V_n + h ((1 - gamma) a_n + gamma a_(n+1))
    (1 - alpha_m) a_(n+1) + alpha_m a_n = (1 - alpha_f) dV/dt_(n+1) + alpha_f dV/dt_n

(Bruels, Cardona and Arnold 2012; through a local-global transition map: lgt2022, section 4.2).
"""
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.contracts.method import Method
from liestep.contracts.option import Option
from liestep.contracts.sheet import Options
from liestep.core.rows import add_to, axpy, copy, put, row, scale
from liestep.core.status import Status
from liestep.errors import InputError
from liestep.integrators._index_three import Newton, StepWork, step_work
from liestep.integrators.rkmk import MuntheKaas
from liestep.integrators.tableaux import TABLEAUX

STARTS = ("corrected", "shift", "plain")
SHORT = 0.05  # steps of the starting method over h, for the second derivative of the velocity


class GeneralizedAlpha(NamedTuple):
    """Order 2, implicit; conserves the joints' positions to Newton's tolerance, and of one body on a joint that makes a
    group also the velocities, for local coordinates of SE(3).

    start: 0 corrected: a_0 and V_0 are moved so that multipliers begin with order 2; 1 shift: a_0 alone; 2 plain. V_0
    is moved by h^2 ((1/6 - beta - (alpha_m - alpha_f)/2) V'' + [V, V']/12 + k(V)), k of the chart, V and V' at zero.
    """

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    begin: int
    newton: Newton
    starter: MuntheKaas

    def workspace(self, problem: Any, y: np.ndarray) -> StepWork:
        return step_work(problem, y, self.starter)

    def start(self, problem: Any, t: float, y: np.ndarray, h: float, work: StepWork) -> Status:
        n = problem.bodies()
        second = work.a[2]
        for i in range(2*n):
            put(second, i, (0.0, 0.0, 0.0))
        for k in range(3):  # dV/dt a short step ahead, a short step back, and at the start
            copy(y, work.state)
            step = SHORT*h if k == 0 else -SHORT*h
            if k < 2 and self.begin < 2:
                status = self.starter.step(problem, t, work.state, step, work.starter)
                if status != Status.OK:
                    return status
            if not problem.algebra(t, work.state, work.xi):
                return Status.SINGULAR_MATRIX
            for i in range(2*n):
                rate = row(work.xi, 4*(i//2) + 2 + i % 2)
                if k < 2 and self.begin < 2:
                    add_to(second, i, scale(0.5/step, rate))
                put(work.a[1], i, rate)
        problem.multipliers(self.beta*h*h, work.found)
        problem.velocity(y, work.v[0])
        shift = self.alpha_m - self.alpha_f
        for i in range(n):
            wide, far = problem.commutator(work.v[0], work.a[1], i)
            chart, away = problem.chart_defect(work.v[0], i)
            for k in range(2):
                r = 2*i + k
                change = axpy(1.0/12.0, wide if k == 0 else far, chart if k == 0 else away)
                change = axpy(1.0/6.0 - self.beta - 0.5*shift, row(second, r), change)
                put(work.a[0], r, axpy(shift*h, row(second, r), row(work.a[1], r)))
                put(work.start[0], r, scale(h*h if self.begin == 0 else 0.0, change))
        for i in range(2*n):
            add_to(work.v[0], i, row(work.start[0], i))
        return Status.OK

    def step(self, problem: Any, t: float, y: np.ndarray, h: float, work: StepWork) -> Status:
        slope = self.gamma/(self.beta*h)
        ratio = (1.0 - self.alpha_m)/(1.0 - self.alpha_f)
        for i in range(2*problem.bodies()):
            v, a, rate = row(work.v[0], i), row(work.a[0], i), row(work.a[1], i)
            put(work.u, i, axpy(0.5*h*h, a, scale(h, v)))
            # a_(n+1) = U/(beta h^2) + rest
            rest = axpy(-1.0/(self.beta*h), v, scale((self.beta - 0.5)/self.beta, a))
            put(work.start[0], i, axpy(h*self.gamma, rest, axpy(h*(1.0 - self.gamma), a, v)))
            least = axpy(ratio, rest, axpy(self.alpha_m/(1.0 - self.alpha_f), a,
                                           scale(-self.alpha_f/(1.0 - self.alpha_f), rate)))
            put(work.start[1], i, axpy(-ratio/(h*self.gamma), row(work.start[0], i), least))
        status = self.newton.solve(problem, y, work, self.beta*h*h, slope, 0.0, ratio/(h*self.gamma))
        if status != Status.OK:
            return status
        problem.put_multipliers(1.0/(self.beta*h*h), work.found, y)
        for i in range(2*problem.bodies()):
            v, a = row(work.v[0], i), row(work.a[0], i)
            rest = axpy(-1.0/(self.beta*h), v, scale((self.beta - 0.5)/self.beta, a))
            put(work.a[0], i, axpy(1.0/(self.beta*h*h), row(work.u, i), rest))
        copy(work.new[0], work.v[0])
        copy(work.new[1], work.a[1])
        return Status.OK


def coefficients_of(rho: float) -> tuple[float, float, float, float]:
    """(alpha_m, alpha_f, beta, gamma) of the spectral radius at infinity (Chung and Hulbert 1993)."""
    exact = Fraction(rho)
    alpha_m, alpha_f = (2*exact - 1)/(exact + 1), exact/(exact + 1)
    gamma = Fraction(1, 2) + alpha_f - alpha_m
    return float(alpha_m), float(alpha_f), float((gamma + Fraction(1, 2))**2/4), float(gamma)


def _below_one(value: Any) -> float:
    try:
        number = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0.0 <= number < 1.0:
        raise InputError(f"option rho is {value!r}; allowed are numbers from 0 to below 1")
    return number


NEWTON = {"tolerance": Option(1e-13, "largest correction of Newton's method, in rad and m"),
          "iterations": Option(25, "most iterations of a step")}


def newton_of(options: Options) -> Newton:
    """Newton's method of checked options."""
    return Newton(float(options["tolerance"]), int(options["iterations"]))


def _build(options: Options, tolerance: float | None, t_end: float) -> GeneralizedAlpha:
    return GeneralizedAlpha(*coefficients_of(options["rho"]), STARTS.index(options["start"]), newton_of(options),
                            MuntheKaas(*TABLEAUX["dormand_prince5"].arrays()))


METHODS = {
    "generalized_alpha": Method(
        summary="order 2, implicit, index 3, numerical damping by rho", order=2, formulation="index_three",
        conserves="positions of joints to Newton's tolerance; nothing else exactly",
        citation="Bruels, Cardona and Arnold 2012; lgt2022 section 4.2",
        options={"rho": Option(0.9, "spectral radius at infinity: 1 without damping", normalise=_below_one,
                               values="from 0 to below 1"),
                 "start": Option("corrected", "of accelerations and velocities: corrected for order 2 of the"
                                 " multipliers, shift of accelerations alone, or plain", STARTS), **NEWTON},
        build=_build),
}
