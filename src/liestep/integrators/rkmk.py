"""Runge-Kutta-Munthe-Kaas methods on any left action, of any explicit tableau, and adaptive pairs: both methods of an
embedded tableau in the Lie algebra (liegroup2021 section 4).

y' = d/ds exp(s f(t, y)).y at s = 0, f: M -> g. The tableau solves sigma' = dexpinv_sigma f(exp(sigma).y_n), sigma(0) =
0, where dexpinv is a component: exact, or its series cut after some commutators."""
from fractions import Fraction
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.precision import coefficients
from liestep.compile.roles import Arrays, Integrator
from liestep.compile.rows import add, axpy, copy, if_equal, put, quotient, row, scale, sqrt, sub
from liestep.compile.status import Status
from liestep.geometry.so3 import bernoulli
from liestep.integrators.one_step import OneStep, combine
from liestep.integrators.sizes import NORM, error_norm, first_slope, for_system, generator, moved
from liestep.integrators.step_control import CONTROL, HairerControl, control_of
from liestep.integrators.tableaux import (
    DOP853,
    DORMAND_PRINCE54,
    PAIR,
    PAIRS,
    TABLEAU,
    TABLEAUX,
    from_decimals,
    pair_of,
    tableau_of,
)
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import LieAction
from liestep.mechanics.contracts.method import ORBIT, Certified, Method, Places, each
from liestep.mechanics.contracts.sheet import Option, Options

DEXPINV = {"dexpinv": Option("exact", "exact, or its series cut after so many nested commutators", ("exact",), "whole")}


class Exact(NamedTuple):
    """The closed form of the action; False where it ends, at a rotation by 2 pi."""

    commutators: int  # not used; a component has at least one field

    def apply(self, problem: LieAction, sigma: np.ndarray, v: np.ndarray, scratch: np.ndarray) -> bool:
        """v = dexpinv_sigma(v) in place."""
        return problem.dexpinv(sigma, v, v)

    def in_chart(self, problem: LieAction, sigma: np.ndarray) -> bool:
        """Whether exp is invertible from sigma back to 0 without a singularity of dexpinv."""
        return problem.in_chart(sigma)


class Truncated(NamedTuple):
    """v - 1/2 [sigma, v] + 1/12 [sigma, [sigma, v]] - 1/720 ad^4 v + ...: coefficients B_j/j!
    with the Bernoulli numbers."""

    coefficients: np.ndarray  # (K + 1,)

    def apply(self, problem: LieAction, sigma: np.ndarray, v: np.ndarray, scratch: np.ndarray) -> bool:
        """v = cut series in place; it exists for every sigma."""
        copy(v, scratch)
        for j in range(1, self.coefficients.shape[0]):
            problem.bracket(sigma, scratch, scratch)
            if self.coefficients[j] != 0.0:
                for i in range(v.shape[0]):
                    put(v, i, axpy(self.coefficients[j], row(scratch, i), row(v, i)))
        return True

    def in_chart(self, problem: LieAction, sigma: np.ndarray) -> bool:
        """The series has no limit."""
        return True


def series(commutators: int) -> list[Fraction]:
    """B_j/j! for j = 0..K without zeros at the end."""
    terms = [bernoulli(j)/factorial(j) for j in range(commutators + 1)]
    while not terms[-1]:
        terms.pop()
    return terms


def dexpinv_component(options: Options) -> Exact | Truncated:
    if options["dexpinv"] == "exact":
        return Exact(0)
    return Truncated(coefficients(series(options["dexpinv"])))


def chart_order(order: int, options: Options) -> int:
    """Order of a method that takes the option `chart` for the exponential: Cayley maps agree with it to h^2, a chart of
    the second kind to h."""
    return min(order, {"exp": order, "second_kind": 1}.get(options.get("chart", "exp"), 2))


def truncated_order(order: int, options: Options) -> int:
    """Order of a Munthe-Kaas method whose tableau has order `order`. ad_sigma sigma' = O(h^2), hence ad_sigma^j f =
    O(h^(j+1)); the first term left out that is not zero has j = K + 1, or K + 2 for even K >= 2 (odd Bernoulli numbers
    vanish), and its integral over a step is O(h^(j+2)): order j + 1."""
    if options["dexpinv"] == "exact":
        return order
    if options.get("chart", "exp") != "exp":  # the series is that of the exponential
        return chart_order(order, options)
    first = len(series(options["dexpinv"]))
    return min(order, first + 1 if first <= 2 else first + 2)


@borrows(OneStep)
class MuntheKaas(NamedTuple):
    """Order of the tableau, explicit; conserves the orbit of the action (unit length, tangency) to round-off, no
    energy. liegroup2021 section 2. One specialisation serves all tableaux, one all truncations of dexpinv. Returns
    CHART_LIMIT when a stage or the step rotates by 2 pi (exact dexpinv only, which one stage does not need),
    NOT_EVALUABLE when f does not exist."""

    a: np.ndarray  # (s, s) strictly lower triangular
    b: np.ndarray  # (s,)
    c: np.ndarray  # (s,)
    dexpinv: Exact | Truncated = Exact(0)

    def workspace(self, problem: LieAction, y: np.ndarray) -> Arrays:
        """(stages, sigma and scratch; stage state)"""
        return np.zeros((self.b.shape[0] + 2, problem.algebra_rows(), 3), y.dtype), np.zeros_like(y)

    def step(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Arrays) -> Status:
        stages = self.b.shape[0]
        k, z = work
        sigma, scratch = k[stages], k[stages + 1]
        if not problem.algebra(t, y, k[0]):
            return Status.NOT_EVALUABLE
        # the last one is the end of the step: one call of each method, see `compile.driver`
        for s in range(1, stages + 1):
            combine(self.b if s == stages else self.a[s], h, k, s, sigma)
            if s == stages and stages > 1 and not self.dexpinv.in_chart(problem, sigma):
                return Status.CHART_LIMIT
            problem.act(sigma, y, y if s == stages else z)
            if s < stages:
                if not problem.algebra(t + self.c[s]*h, z, k[s]):
                    return Status.NOT_EVALUABLE
                if not self.dexpinv.apply(problem, sigma, k[s], scratch):
                    return Status.CHART_LIMIT
        return Status.OK if problem.project(y) else Status.SINGULAR_MATRIX


@borrows(OneStep)
class CasasOwren(NamedTuple):
    """Order 4, 4 stages, explicit; conserves the orbit of the action. sigma_s = h sum_r a_sr k_r + h^2 e_s [k_0,
    k_(s-1)], k_s = f(exp(sigma_s).y), y+ = exp(sigma_4).y: liegroup2021 section 2. Neither dexpinv nor a limit of
    rotations."""

    a: np.ndarray  # (5, 4)
    e: np.ndarray  # (5,) 0 where there is no commutator
    c: np.ndarray  # (4,)

    def workspace(self, problem: LieAction, y: np.ndarray) -> Arrays:
        """(stages, sigma and commutator; stage state)"""
        return np.zeros((6, problem.algebra_rows(), 3), y.dtype), np.zeros_like(y)

    def step(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Arrays) -> Status:
        k, z = work
        sigma, commutator = k[4], k[5]
        for s in range(5):
            if s > 0:
                combine(self.a[s], h, k, s, sigma)
                if self.e[s] != 0.0:
                    problem.bracket(k[0], k[s - 1], commutator)
                    for i in range(sigma.shape[0]):
                        put(sigma, i, axpy(h*h*self.e[s], row(commutator, i), row(sigma, i)))
                problem.act(sigma, y, y if s == 4 else z)
            if s < 4 and not problem.algebra(t + self.c[s]*h, y if s == 0 else z, k[s]):
                return Status.NOT_EVALUABLE
        return Status.OK if problem.project(y) else Status.SINGULAR_MATRIX


A = [[Fraction(x) for x in line.split()]
     for line in ("0 0 0 0", "1/2 0 0 0", "0 1/2 0 0", "0 0 1 0", "1/6 1/3 1/3 1/6")]
E = [Fraction(0), Fraction(0), Fraction(-1, 8), Fraction(0), Fraction(-1, 12)]
C = [Fraction(0), Fraction(1, 2), Fraction(1, 2), Fraction(1)]


class LiePair:
    """What pairs in the Lie algebra share: k[0] of a step is f at the last stage of the one before."""

    def measured(self: Any, formulated: Formulated) -> Any:
        return self._replace(norm=for_system(self.norm, formulated))

    def stages(self: Any, problem: LieAction, t: float, y: np.ndarray, h: float, count: int, work: Any) -> Status:
        """Slopes; the state of the last stage in work.new, its sigma in work.sigma, f there in work.slope."""
        if not first_slope(problem, t + self.c[0]*h, y, work.k[0], work.current):
            return Status.NOT_EVALUABLE
        for s in range(1, count):
            combine(self.a[s], h, work.k, s, work.sigma)
            problem.act(work.sigma, y, work.new)
            if not problem.algebra(t + self.c[s]*h, work.new, work.k[s]):
                return Status.NOT_EVALUABLE
            if s == count - 1:
                copy(work.k[s], work.slope)
            if not self.dexpinv.apply(problem, work.sigma, work.k[s], work.scratch):
                return Status.CHART_LIMIT
        return Status.OK

    def start(self: Any, problem: LieAction, t: float, y: np.ndarray, t_end: float, work: Any) -> float:
        """A first step that is too long is rejected."""
        h = self.control.first(t_end)
        self.norm.start(problem, t, y, h, work.k, work.sigma, work.new)
        work.current[0] = 0.0
        return h

    def attempt(self: Any, problem: LieAction, t: float, y: np.ndarray, h: float, work: Any
                ) -> tuple[Status, float]:
        """New state in work.new. Steps that fail, at the limit of a chart or where f does not exist, are halved."""
        status = self.stages(problem, t, y, h, self.stage_count(), work)
        if status != Status.OK:
            return status, np.inf
        error = self.error(problem, y, h, work)
        return Status.OK if problem.project(work.new) else Status.SINGULAR_MATRIX, error

    def rejected(self: Any, h: float) -> None:
        self.norm.rejected(h)

    def accept(self: Any, problem: LieAction, y: np.ndarray, work: Any) -> None:
        self.norm.keep(work.new)
        copy(work.new, y)
        copy(work.slope, work.k[0])
        if problem.projects():
            work.current[0] = 0.0


class PairWork(NamedTuple):
    k: np.ndarray        # (s, d, 3) values of dexpinv_sigma f
    sigma: np.ndarray    # (d, 3)
    scratch: np.ndarray  # (d, 3)
    slope: np.ndarray    # (d, 3) f at the new state
    new: np.ndarray      # (m, d)
    moved: np.ndarray    # (m, d) of the error norm
    current: np.ndarray  # (1,) 1 when k[0] is f at the state


@borrows(LiePair)
class MuntheKaasPair(NamedTuple):
    """Order of the tableau, explicit, first same as last, local extrapolation; conserves the orbit of the action. The
    error is the norm of sigma_1 - sigma_hat. f at the new state is the next step's first stage; its dexpinv belongs to
    the old chart and is not. Dense output is exp(sigma(s)).y with the tableau's continuous extension: on the manifold,
    and of the extension's order (4 for Dormand and Prince, else 3 or that of the tableau)."""

    a: np.ndarray      # (s, s), its last row equal to b
    b: np.ndarray      # (s,)
    c: np.ndarray      # (s,)
    e: np.ndarray      # (s,) b - b_hat
    dense: np.ndarray  # (s, degree) coefficients of s, s^2, ...
    dexpinv: Exact | Truncated
    norm: Any
    control: Any

    def workspace(self, problem: LieAction, y: np.ndarray) -> PairWork:
        stages, rows = self.b.shape[0], problem.algebra_rows()
        return PairWork(np.zeros((stages, rows, 3), y.dtype), np.zeros((rows, 3), y.dtype),
                        np.zeros((rows, 3), y.dtype), np.zeros((rows, 3), y.dtype), np.zeros_like(y), np.zeros_like(y),
                        np.zeros(1))

    def stage_count(self) -> int:
        return self.b.shape[0]

    def error(self, problem: LieAction, y: np.ndarray, h: float, work: Any) -> float:
        combine(self.e, h, work.k, self.b.shape[0], work.sigma)
        return self.norm.size(problem, work.sigma, y, work.new, work.moved, h)

    def interpolate(self, problem: LieAction, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: PairWork) -> None:
        degree = self.dense.shape[1]
        for i in range(work.sigma.shape[0]):
            total = (0.0, 0.0, 0.0)
            for r in range(self.b.shape[0]):
                weight = 0.0
                for p in range(degree):
                    weight = s*(self.dense[r, degree - 1 - p] + weight)
                total = axpy(weight, row(work.k[r], i), total)
            put(work.sigma, i, scale(h, total))
        problem.act(work.sigma, y, out)
        problem.project(out)


def _build(options: Options, tolerance: float | None, t_end: float) -> Integrator:
    assert tolerance is not None
    tableau = pair_of(options)
    return MuntheKaasPair(*tableau.arrays(), tableau.error_weights(), tableau.dense_rows(), dexpinv_component(options),
                          error_norm(options, tolerance), control_of(options, tolerance, tableau.embedded_order))


class Work853(NamedTuple):
    k: np.ndarray        # (16, d, 3) values of dexpinv_sigma f; 12 is that of the new state, 13..15 of dense output
    f: np.ndarray        # (7, d, 3) coefficients of dense output
    sigma: np.ndarray    # (d, 3)
    end: np.ndarray      # (d, 3) sigma of the new state
    slope: np.ndarray    # (d, 3) f at the new state
    scratch: np.ndarray  # (d, 3)
    new: np.ndarray      # (m, d)
    stage: np.ndarray    # (m, d)
    current: np.ndarray  # (2,) 1 when k[0] is f at the state; 1 when `f` belongs to the step


@borrows(LiePair)
class MuntheKaas853(NamedTuple):
    """Order 8(5,3), 12 stages, explicit, local extrapolation; conserves the orbit of the action. sigma' = dexpinv_sigma
    f(exp(sigma).y), sigma(0) = 0, by DOP853 (Hairer, Norsett and Wanner 1993, II.5 and II.10). Dense output is
    exp(sigma(s)).y with DOP853's polynomial of order 7 for sigma: on the manifold, three more evaluations in steps with
    an output. The error is the norm of sigma_1 - sigma_hat of order 5, reduced by that of order 3 as in DOP853,
    relative to the tolerance."""

    a: np.ndarray   # (16, 16)
    c: np.ndarray   # (16,)
    e3: np.ndarray  # (16,)
    e5: np.ndarray  # (16,)
    d: np.ndarray   # (4, 16)
    tolerance: float
    dexpinv: Exact | Truncated
    norm: Any
    control: HairerControl

    def workspace(self, problem: LieAction, y: np.ndarray) -> Work853:
        rows = (problem.algebra_rows(), 3)
        return Work853(np.zeros((16, *rows), y.dtype), np.zeros((7, *rows), y.dtype), np.zeros(rows, y.dtype),
                       np.zeros(rows, y.dtype), np.zeros(rows, y.dtype), np.zeros(rows, y.dtype), np.zeros_like(y),
                       np.zeros_like(y), np.zeros(2))

    def stage_count(self) -> int:
        return 13

    def error(self, problem: LieAction, y: np.ndarray, h: float, work: Work853) -> float:
        """err5^2/sqrt(err5^2 + 0.01 err3^2) over the tolerance, of the norms of the two estimates."""
        work.current[1] = 0.0
        copy(work.sigma, work.end)
        fifth, third = 0.0, 0.0
        for r in range(2):  # one call of the norm, which moves the state, so that it is inlined once
            combine(self.e5 if r == 0 else self.e3, h, work.k, 13, work.sigma)
            fifth, third = third, self.norm.size(problem, work.sigma, y, work.new, work.stage, h)
        share = quotient(fifth*fifth, sqrt(fifth*fifth + 0.01*third*third))
        return if_equal(fifth, 0.0, 0.0, share)/self.tolerance

    def interpolate(self, problem: LieAction, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: Work853) -> None:
        if work.current[1] == 0.0:
            self.prepare_dense(problem, t, y, h, work)
        for i in range(work.sigma.shape[0]):
            total = (0.0, 0.0, 0.0)
            for r in range(7):
                total = scale(s if r % 2 == 0 else 1.0 - s, add(row(work.f[6 - r], i), total))
            put(work.sigma, i, total)
        moved(problem, work.sigma, y, out)
        problem.project(out)

    def prepare_dense(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: Work853) -> None:
        """Where one of the three further stages has no value there is no state, and the run ends."""
        there = True
        for s in range(13, 16):
            combine(self.a[s], h, work.k, s, work.sigma)
            moved(problem, work.sigma, y, work.stage)
            there = generator(problem, t + self.c[s]*h, work.stage, work.k[s]) and there
            there = self.dexpinv.apply(problem, work.sigma, work.k[s], work.scratch) and there
        for i in range(work.sigma.shape[0]):
            change, old, new = row(work.end, i), scale(h, row(work.k[0], i)), scale(h, row(work.k[12], i))
            put(work.f[0], i, change if there else (np.nan, np.nan, np.nan))
            put(work.f[1], i, sub(old, change))
            put(work.f[2], i, sub(scale(2.0, change), add(old, new)))
            for r in range(4):
                total = (0.0, 0.0, 0.0)
                for j in range(16):
                    total = axpy(self.d[r, j], row(work.k[j], i), total)
                put(work.f[3 + r], i, scale(h, total))
        work.current[1] = 1.0


def _build_853(options: Options, tolerance: float | None, t_end: float) -> Integrator:
    assert tolerance is not None
    return MuntheKaas853(*DOP853.parts(), tolerance, dexpinv_component(options), error_norm(options, tolerance),
                         HairerControl())


BODY, SPHERES = "cotangent_rotation", "sphere_lagrangian"  # what systems are, on which options are certified
CALLS: dict[str, dict[str, Any]] = {
    "euler": {"mark": ("p", "dotted", "Lie-Euler")}, "heun": {"mark": ("H", "dashdot", "Lie-Euler-Heun")},
    "kutta3": {"mark": ("8", "dashdot", "RKMK3")},
    "dormand_prince5": {"mark": ((5, 1, 180), "solid", "RKMK5"), "places": Places(reference=4),
                        "certified": Certified(each("dexpinv", 0, 1, 2))}}
METHODS = {
    "rkmk": Method(
        summary="order 4 with 4 stages, or any explicit tableau, known or declared, Lie group action", order=4,
        formulation="lie_action", conserves=ORBIT, projects=True, citation="Munthe-Kaas 1999; liegroup2021 section 2",
        options=TABLEAU | DEXPINV,
        order_for=lambda options, sheet, parameters: truncated_order(tableau_of(options).order, options),
        calls={f"tableau={name}": {"order": TABLEAUX[name].order, "citation": TABLEAUX[name].source, **declared}
               for name, declared in CALLS.items()},
        build=lambda options, tolerance, t_end: MuntheKaas(*tableau_of(options).arrays(), dexpinv_component(options)),
        mark=("h", "dashed", "RKMK4"), scipy="RKMK4", places=Places(shown=2, stands_in=1, likely=True),
        decimals=from_decimals, certified=Certified((
            {}, *(({"action": action}, BODY) for action in ("direct", "coadjoint")),
            ({"alpha": 0.5, "beta": 0.25}, SPHERES), ({"chart": "cayley"}, SPHERES), ({"chart": "cayley2"}, BODY),
            ({"chart": "second_kind"}, SPHERES), ({"chart": "second_kind"}, BODY), {"tableau": "dop853"},
            {"tableau": "midpoint"}, {"tableau": "dop853", "dexpinv": 4}))),
    "rkmk4_2comm": Method(
        summary="order 4, 4 stages, 2 commutators, explicit, Lie group action", order=4, formulation="lie_action",
        conserves=ORBIT, projects=True, citation="Casas and Owren 2003; liegroup2021 section 2",
        order_for=lambda options, sheet, parameters: chart_order(4, options),
        build=lambda options, tolerance, t_end: CasasOwren(*map(coefficients, (A, E, C))),
        mark=("x", "dashed", "RKMK4, 2 commutators")),
    "rkmk_pair": Method(
        summary="order 5(4) with 7 stages, or any explicit embedded tableau, known or declared, adaptive with dense"
        " output, Lie group action", order=DORMAND_PRINCE54.order, formulation="lie_action", conserves=ORBIT,
        adaptive=True, projects=True, citation="Munthe-Kaas 1999; liegroup2021 section 4",
        options=PAIR | DEXPINV | CONTROL | NORM,
        order_for=lambda options, sheet, parameters: truncated_order(pair_of(options).order, options), build=_build,
        mark=((4, 1, 0), "solid", "RKMK(5,4)"), places=Places(likely=True),
        dense_order=lambda options: pair_of(options).dense_order, certified=Certified((
            {}, ({"chart": "cayley"}, SPHERES), *each("tableau", *list(PAIRS)[1:])[1:], {"norm": "algebra"},
            {"tableau": "bogacki_shampine32", "dexpinv": 1}))),
    "rkmk853": Method(
        summary="order 8(5,3), 12 stages, explicit, adaptive with dense output, Lie group action", order=8,
        formulation="lie_action", conserves=ORBIT, adaptive=True, projects=True,
        citation=f"Munthe-Kaas 1999; {DOP853.source}",
        options=DEXPINV | NORM,
        order_for=lambda options, sheet, parameters: truncated_order(8, options), build=_build_853,
        scipy="RKMK853", dense_order=lambda options: 7, decimals=lambda options: True, code="Map to the algebra"),
}
