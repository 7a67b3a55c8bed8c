"""Generalized-alpha method on Lie groups for the index-3 equations, with pseudo-accelerations a:

    U/h = V_n + h ((1/2 - beta) a_n + beta a_(n+1)),        q_(n+1) = q_n psi(U)
    V_(n+1) = V_n + h ((1 - gamma) a_n + gamma a_(n+1))
    (1 - alpha_m) a_(n+1) + alpha_m a_n = (1 - alpha_f) dV/dt_(n+1) + alpha_f dV/dt_n

(Bruels, Cardona and Arnold 2012; through a local-global transition map: lgt2022, section 4.2)."""
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    IndexThree,
    InputError,
    Keeps,
    Method,
    Option,
    Options,
    Parameters,
    Sheet,
    Status,
    Where,
    add_to,
    axpy,
    copy,
    number_in,
    outlined,
    put,
    row,
    scale,
    whole_number,
)
from liestep.integrators._newton import iterate, settled
from liestep.integrators.rkmk import MuntheKaas
from liestep.integrators.tableaux import TABLEAUX

CLOSE = 1e-11  # corrections below it that no longer shrink are round-off


class StepWork(NamedTuple):
    v: np.ndarray      # (3, 2n, 3) V_n, V_(n-1), V_(n-2)
    past: np.ndarray   # (2, 2n, 3) increments of the last steps
    u: np.ndarray      # (2n, 3) U
    start: np.ndarray  # (2, 2n, 3) what V and dV/dt of the new time are without U
    new: np.ndarray    # (2, 2n, 3) V and dV/dt of the new time
    a: np.ndarray      # (3, 2n, 3) of generalized-alpha: a, dV/dt; scratch
    found: np.ndarray  # (m,) scaled multipliers
    xi: np.ndarray     # (algebra rows, 3)
    state: np.ndarray  # (rows, d)
    steps: np.ndarray  # (1,) steps so far
    clock: np.ndarray  # (3,) of generalized-alpha the power; of bliedf the work at the last steps
    starter: tuple[np.ndarray, ...]  # workspace of the method that makes the first steps


class Newton(NamedTuple):
    """Newton's method for one step, from the U and the scaled multipliers in `work`."""

    tolerance: float  # of the largest correction of U, in rad and in lengths near the mechanism's own
    iterations: int
    dae_index: int    # 3: the joints' positions, g = 0; 2: their velocities, A V = 0

    @outlined
    def solve(self, problem: IndexThree, y: np.ndarray, work: StepWork, s: float, cv: float, cc: float,
              ca: float) -> Status:
        """The new state in y, without multipliers. V = start_0 + cv U + cc [U, past_0], dV/dt = start_1 + ca V."""
        status, _ = iterate(self, (problem, y, work, s, cv, cc, ca), 0, np.inf, self.iterations)
        if status != Status.OK:
            return status
        self.put_state(problem, y, work, cv, cc, ca)
        copy(work.state, y)
        return Status.OK if problem.in_chart(work.xi) else Status.CHART_LIMIT

    def improve(self, given: tuple, x: int, before: float) -> tuple[Status, int, float, bool]:
        problem, y, work, s, cv, cc, ca = given
        self.put_state(problem, y, work, cv, cc, ca)
        size = problem.newton(work.state, work.u, work.new[0], work.new[1], work.past[0], work.found, s, cv, cc, ca,
                              self.dae_index, 1 if x == 0 else 0)
        # what is left is estimated from how fast the corrections shrink
        left = settled(size*size, 0.1*self.tolerance*before if x > 0 else -1.0, size, before, CLOSE)
        return Status.OK if size < np.inf else Status.SINGULAR_MATRIX, x + 1, size, (size < self.tolerance) | left

    def put_state(self, problem: IndexThree, y: np.ndarray, work: StepWork, cv: float, cc: float, ca: float) -> None:
        """State, V and dV/dt of the new time from U."""
        for i in range(problem.bodies()):
            kw, kp = problem.commutator(work.u, work.past[0], i)
            for k in range(2):
                r = 2*i + k
                velocity = axpy(cv, row(work.u, r), axpy(cc, kw if k == 0 else kp, row(work.start[0], r)))
                put(work.new[0], r, velocity)
                put(work.new[1], r, axpy(ca, velocity, row(work.start[1], r)))
                put(work.xi, 4*i + k, row(work.u, r))
                put(work.xi, 4*i + 2 + k, (0.0, 0.0, 0.0))
        copy(y, work.state)
        problem.act(work.xi, y, work.state)
        problem.put_velocity(work.new[0], work.state)


STARTS = ("corrected", "shift", "plain")
SHORT = 0.05  # steps of the starting method over h, for the second derivative of the velocity


class GeneralizedAlpha(NamedTuple):
    """Order 2, implicit; conserves the joints' positions to Newton's tolerance, and of one body on a joint that makes a
    group also the velocities, for local coordinates of SE(3).

    Of index 2 multipliers hold A V = 0 at the new time instead of g = 0, and poses and then velocities return to the
    joints through the action after each step: both are conserved ((1) to (4) and (26) to (29) of lgt2022).

    start: 0 corrected: a_0 and V_0 are moved so that multipliers begin with order 2; 1 shift: a_0 alone; 2 plain. V_0
    is moved by h^2 ((1/6 - beta - (alpha_m - alpha_f)/2) V'' + [V, V']/12 + k(V)), k of the chart, V and V' at zero."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    begin: int
    newton: Newton
    starter: MuntheKaas

    def workspace(self, problem: IndexThree, y: np.ndarray) -> StepWork:
        n, m = problem.bodies(), problem.joint_rows()
        return StepWork(
            np.zeros((3, 2*n, 3)), np.zeros((2, 2*n, 3)), np.zeros((2*n, 3)), np.zeros((2, 2*n, 3)),
            np.zeros((2, 2*n, 3)), np.zeros((3, 2*n, 3)), np.zeros(m), np.zeros((problem.algebra_rows(), 3)),
            np.zeros_like(y), np.zeros(1, dtype=np.int64), np.zeros(3), self.starter.workspace(problem, y))

    def start(self, problem: IndexThree, t: float, y: np.ndarray, h: float, work: StepWork) -> Status:
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
        work.clock[0] = problem.power(y, 1.0/(self.beta*h*h) if self.beta > 0.0 else 0.0, work.found)
        problem.velocity(y, work.v[0])
        corrected = self.begin == 0 and not problem.holds_velocities()  # they fit the rows that hold them
        shift = self.alpha_m - self.alpha_f
        for i in range(n):
            wide, far = problem.commutator(work.v[0], work.a[1], i)
            chart, away = problem.chart_defect(work.v[0], i)
            for k in range(2):
                r = 2*i + k
                change = axpy(1.0/12.0, wide if k == 0 else far, chart if k == 0 else away)
                change = axpy(1.0/6.0 - self.beta - 0.5*shift, row(second, r), change)
                put(work.a[0], r, axpy(shift*h, row(second, r), row(work.a[1], r)))
                put(work.start[0], r, scale(h*h if corrected else 0.0, change))
        for i in range(2*n):
            add_to(work.v[0], i, row(work.start[0], i))
        return Status.OK

    def step(self, problem: IndexThree, t: float, y: np.ndarray, h: float, work: StepWork) -> Status:
        if self.beta == 0.0:
            return self.explicit(problem, t, y, h, work)
        problem.advance(h, work.xi)
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
        if self.newton.dae_index == 2:
            if not problem.close(y):
                return Status.SINGULAR_MATRIX
            problem.velocity(y, work.v[0])
        self.add_work(problem, y, h, 1.0/(self.beta*h*h), work)
        return Status.OK

    def add_work(self, problem: IndexThree, y: np.ndarray, h: float, factor: float, work: StepWork) -> None:
        """Work of the step by the trapezoidal rule; multipliers are factor times those that Newton's method found."""
        power = problem.power(y, factor, work.found)
        problem.put_work(problem.work(y) + 0.5*h*(work.clock[0] + power), y)
        work.clock[0] = power

    def explicit(self, problem: IndexThree, t: float, y: np.ndarray, h: float, work: StepWork) -> Status:
        """A step with beta = 0, without joints: the new pose is known at once, the new velocity by fixed points."""
        problem.advance(h, work.xi)
        for i in range(2*problem.bodies()):
            v, a = row(work.v[0], i), row(work.a[0], i)
            put(work.u, i, axpy(0.5*h*h, a, scale(h, v)))
            put(work.xi, 4*(i//2) + i % 2, row(work.u, i))
            put(work.xi, 4*(i//2) + 2 + i % 2, (0.0, 0.0, 0.0))
            put(work.new[1], i, row(work.a[1], i))
        if not problem.in_chart(work.xi):
            return Status.CHART_LIMIT
        problem.act(work.xi, y, y)
        status, _ = iterate(self, (problem, t, h, y, work), 0, np.inf, self.newton.iterations)
        if status == Status.OK:
            copy(work.new[0], work.v[0])
            copy(work.new[1], work.a[1])
            copy(work.a[2], work.a[0])
            self.add_work(problem, y, h, 0.0, work)
        return status

    def improve(self, given: tuple, k: int, before: float) -> tuple[Status, int, float, bool]:
        """The k-th fixed point of the new velocity and its rate."""
        problem, t, h, y, work = given
        share, worst = 1.0/(1.0 - self.alpha_m), 0.0
        for i in range(2*problem.bodies()):
            v, a, rate = row(work.v[0], i), row(work.a[0], i), row(work.a[1], i)
            mean = axpy(1.0 - self.alpha_f, row(work.new[1], i), scale(self.alpha_f, rate))
            put(work.a[2], i, scale(share, axpy(-self.alpha_m, a, mean)))
            change = axpy(1.0 - self.gamma, a, scale(self.gamma, row(work.a[2], i)))
            new = axpy(h, change, v)
            for j in range(3):
                worst = max(worst, h*abs(new[j] - work.new[0, i, j])*(problem.per_length() if i % 2 == 1 else 1.0))
            put(work.new[0], i, new)
        problem.put_velocity(work.new[0], y)
        if not problem.algebra(t + h, y, work.xi):
            return Status.NOT_EVALUABLE, k, worst, False
        for i in range(2*problem.bodies()):
            put(work.new[1], i, row(work.xi, 4*(i//2) + 2 + i % 2))
        return Status.OK, k + 1, worst, k > 0 and settled(worst, self.newton.tolerance, worst, before, CLOSE)


def coefficients_of(rho: float) -> tuple[float, float, float, float]:
    """(alpha_m, alpha_f, beta, gamma) of the spectral radius at infinity (Chung and Hulbert 1993)."""
    exact = Fraction(rho)
    alpha_m, alpha_f = (2*exact - 1)/(exact + 1), exact/(exact + 1)
    gamma = Fraction(1, 2) + alpha_f - alpha_m
    return float(alpha_m), float(alpha_f), float((gamma + Fraction(1, 2))**2/4), float(gamma)


OF_RHO = "of_rho"
COEFFICIENTS = {name: number_in(name, OF_RHO, f"{text}, instead of rho", words, allowed, instead=OF_RHO)
                for name, text, words, allowed in (
    ("alpha_m", "weight of the accelerations before; 0 beside other coefficients", "number from -1 to below 1",
     lambda x: -1.0 <= x < 1.0),
    ("alpha_f", "weight of the rates before; 0 beside other coefficients", "number from 0 to below 1",
     lambda x: 0.0 <= x < 1.0),
    ("newmark_beta", "of the positions; (gamma + 1/2)^2/4 beside other coefficients; 0 is explicit, for bodies without"
     " joints", "number from 0 to 1", lambda x: 0.0 <= x <= 1.0),
    ("newmark_gamma", "of the velocities; 1/2 + alpha_f - alpha_m, of order 2, beside other coefficients",
     "positive number up to 2", lambda x: 0.0 < x <= 2.0))}


def _resolve(options: Options) -> dict[str, Any]:
    """Index 2 where it is asked for; either rho or all four coefficients: Newmark's methods have alpha_m = alpha_f = 0
    (trapezoidal: beta = 1/4, gamma = 1/2), HHT alpha_m = 0 (Hilber, Hughes and Taylor 1977)."""
    given = {name: options[name] for name in COEFFICIENTS if options[name] != OF_RHO}
    left = {name: value for name, value in options.items()
            if name not in COEFFICIENTS and (name, value) != ("index", 3)}
    if not given:
        return left
    alpha_m, alpha_f = given.get("alpha_m", 0.0), given.get("alpha_f", 0.0)
    gamma = given.get("newmark_gamma", 0.5 + alpha_f - alpha_m)
    if not gamma > 0.0:
        raise InputError(f"alpha_m = {alpha_m:g} and alpha_f = {alpha_f:g} need newmark_gamma, because 1/2 + alpha_f -"
                         f" alpha_m is {gamma:g}; allowed are positive numbers up to 2")
    beta = given.get("newmark_beta", 0.25*(gamma + 0.5)**2)
    return {name: value for name, value in left.items() if name != "rho"} | {
        "alpha_m": alpha_m, "alpha_f": alpha_f, "newmark_beta": beta, "newmark_gamma": gamma}


def _combination(options: Options, sheet: Sheet, parameters: Parameters) -> None:
    """Raises InputError for beta = 0 where there are joints, and for index 2 where there are none."""
    rows = getattr(sheet.build(parameters), "row_count", 1)
    if options.get("index") == 2 and rows == 0:
        raise InputError("option index is 2, which is for joints, and there are none; allowed is 3")
    if options.get("newmark_beta") == 0.0 and rows > 0:
        raise InputError("option newmark_beta is 0, which is explicit and leaves no room for joints; allowed are"
                         " positive numbers up to 1 where bodies have joints")


def _order(options: Options, sheet: Sheet, parameters: Parameters) -> int:
    if "rho" in options:
        return 2
    defect = options["newmark_gamma"] - 0.5 - options["alpha_f"] + options["alpha_m"]
    return 2 if abs(defect) < 1e-12 else 1


NEWTON = {"tolerance": Option(1e-13, "largest correction of Newton's method, in rad, of lengths by the mechanism's"),
          "iterations": Option(25, "most iterations of a step")}


def newton_of(options: Options) -> Newton:
    return Newton(float(options["tolerance"]), int(options["iterations"]), options.get("index", 3))


def _build(options: Options, tolerance: float | None, t_end: float) -> GeneralizedAlpha:
    four: tuple[float, float, float, float] = coefficients_of(options["rho"]) if "rho" in options else (
        options["alpha_m"], options["alpha_f"], options["newmark_beta"], options["newmark_gamma"])
    newton = newton_of(options)
    # velocities that fit the joints are not moved for multipliers of index 3
    begin = STARTS.index(options["start"]) if newton.dae_index == 3 else max(1, STARTS.index(options["start"]))
    return GeneralizedAlpha(*four, begin, newton, MuntheKaas(*TABLEAUX["dormand_prince5"].arrays()))


METHODS = {
    "generalized_alpha": Method(
        summary="order 2, implicit, index 3, numerical damping by rho", order=2, formulation="index_three",
        conserves=(Keeps.POSITIONS, Where(Keeps.MANIFOLD, "of index 2", lambda options, sheet, parameters:
                                          options.get("index") == 2)),
        citation="Bruels, Cardona and Arnold 2012; lgt2022 section 4.2",
        options={"rho": number_in("rho", 0.9, "spectral radius at infinity: 1 without damping; ignored beside"
                                  " coefficients",
                                  "number from 0 to below 1", lambda rho: 0.0 <= rho < 1.0), **COEFFICIENTS,
                 "start": Option("corrected", "of accelerations and velocities: corrected for order 2 of the"
                                 " multipliers (of index 3, else as shift), shift of accelerations alone, or plain",
                                 STARTS),
                 "index": whole_number("index", 3, (3, 2), "multipliers hold the joints' positions (3), or their"
                                       " velocities and each step ends with a return to the joints (2)"), **NEWTON},
        resolve=_resolve, combination=_combination, order_for=_order,
        history="it takes its accelerations at earlier steps", build=_build),
}
