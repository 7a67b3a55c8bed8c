"""Commutator-free methods: compositions of exponentials of sums of stages, fixed steps and embedded pairs.

They need f and the action only, no dexpinv and no bracket, and have no limit of rotations (Celledoni,
Marthinsen, Owren 2003)."""
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from liestep.extend import (
    ORBIT,
    Certified,
    Formulated,
    InputError,
    LieAction,
    Method,
    MetricAction,
    Option,
    Options,
    Parameters,
    Places,
    Sheet,
    Status,
    axpy,
    borrows,
    coefficients,
    copy,
    if_equal,
    put,
    row,
    sqrt,
)
from liestep.integrators.one_step import OneStep, combine
from liestep.integrators.rkmk import chart_order
from liestep.integrators.sizes import StateNorm, WithoutSizes, first_slope, for_system
from liestep.integrators.step_control import CONTROL, control_of

Weights = tuple[Fraction, ...]
START = -1  # as a base: the state at the beginning of the step


@dataclass(frozen=True)
class Exponential:
    """exp(h sum_r weights_r k_r).Y, Y the state `base` (number of an earlier exponential, or START). With `stage`, f of
    the result is the next stage k."""

    base: int
    weights: Weights
    stage: bool = False


@dataclass(frozen=True)
class ExponentialScheme:
    """Explicit method k_0 = f(y), then the exponentials in their order; exponential number `result` is the new state.
    `lower` is the number of the state of the embedded method, of order `lower_order`. Raises ValueError when an
    exponential uses a state or a stage that is not there yet, or when the weights of a new state do not add up to 1."""

    name: str
    order: int
    source: str
    exponentials: tuple[Exponential, ...]
    result: int
    lower: int = START
    lower_order: int = 0

    def __post_init__(self) -> None:
        stages = 1
        for number, entry in enumerate(self.exponentials):
            if not START <= entry.base < number or len(entry.weights) > stages:
                raise ValueError(f"{self.name}: exponential {number} uses what comes later")
            stages += entry.stage
        for number in (self.result, self.lower):
            if number != START and sum(self.total(number)) != 1:
                raise ValueError(f"{self.name}: weights of state {number} do not add up to 1")

    @property
    def stages(self) -> int:
        return 1 + sum(entry.stage for entry in self.exponentials)

    def total(self, number: int) -> Weights:
        """(stages,) weights of all exponentials that lead to a state: its Runge-Kutta method
        where everything commutes."""
        sums = [Fraction(0)]*self.stages
        while number != START:
            for r, weight in enumerate(self.exponentials[number].weights):
                sums[r] += weight
            number = self.exponentials[number].base
        return tuple(sums)

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """weights (e, stages), times (e,), bases (e,), stages that the results give (e,), 0 for none."""
        zeros = (Fraction(0),)*self.stages
        weights = coefficients([(entry.weights + zeros)[:self.stages] for entry in self.exponentials])
        times = coefficients([sum(self.total(number)) for number in range(len(self.exponentials))])
        gives = np.array([entry.stage for entry in self.exponentials])
        return weights, times, np.array([entry.base for entry in self.exponentials]), np.cumsum(gives)*gives


DISTANCE = {"distance": Option(
    "scaled", "between the two states of the pair. scaled: of rows, each relative to the size of its field, so that"
    " units do not matter; euclidean: of all numbers of the rows, as in liegroup2021; riemannian: angles of directions"
    " and attitudes, velocities carried along", ("scaled", "euclidean", "riemannian"))}
WITHOUT = ("coadjoint", "se3", "so3_r3")  # actions whose states have no such distance here


@borrows(WithoutSizes)
class Euclidean(NamedTuple):
    """Of all numbers of the rows: depends on how the manifold is embedded."""

    unused: int  # a component has at least one field

    def between(self, problem: LieAction, start: np.ndarray, y: np.ndarray, z: np.ndarray, h: float) -> float:
        error = 0.0
        for i in range(y.shape[0]):
            square = 0.0
            for k in range(y.shape[1]):
                gap = y[i, k] - z[i, k]
                square += gap*gap
            error += square
        return sqrt(error)


@borrows(WithoutSizes)
class Riemannian(NamedTuple):
    """Of the manifold itself, from the action (`distance2`)."""

    unused: int

    def between(self, problem: MetricAction, start: np.ndarray, y: np.ndarray, z: np.ndarray, h: float) -> float:
        return sqrt(problem.distance2(y, z))


def require_distance(options: Options, sheet: Sheet, parameters: Parameters) -> None:
    """Raises InputError for a distance on states that have none."""
    if options["distance"] == "riemannian" and options.get("action") in WITHOUT:
        raise InputError(f"option distance is riemannian, which states with action {options['action']} do not have;"
                         " allowed are scaled and euclidean")


class SchemeWork(NamedTuple):
    k: np.ndarray        # (s, d, 3) values of f
    sigma: np.ndarray    # (d, 3)
    end: np.ndarray      # (d, 3) f at the new state, for dense output
    states: np.ndarray   # (e, m, d)
    current: np.ndarray  # (2,) 1 when k[0] is f at the state, 1 when `end` is up to date


@borrows(OneStep)
class CommutatorFree(NamedTuple):
    """Order of the scheme, explicit; conserves the orbit of the action. One specialisation serves all schemes,
    Crouch-Grossman included. Returns NOT_EVALUABLE when f does not exist."""

    weights: np.ndarray  # (e, s)
    times: np.ndarray    # (e,) of the states
    bases: np.ndarray    # (e,) START or the number of an earlier state
    gives: np.ndarray    # (e,) stage that f of the state is, 0 for none

    def workspace(self, problem: LieAction, y: np.ndarray) -> SchemeWork:
        rows = problem.algebra_rows()
        count, stages = self.weights.shape
        return SchemeWork(np.zeros((stages, rows, 3), y.dtype), np.zeros((rows, 3), y.dtype),
                          np.zeros((rows, 3), y.dtype), np.zeros((count, *y.shape), y.dtype), np.zeros(2))

    def step(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: SchemeWork) -> Status:
        status = self.states(problem, t, y, h, 0, work)
        if status == Status.OK:
            copy(work.states[self.bases.shape[0] - 1], y)
            if not problem.project(y):
                return Status.SINGULAR_MATRIX
        return status

    def states(self, problem: LieAction, t: float, y: np.ndarray, h: float, ready: int, work: SchemeWork) -> Status:
        """All states and stages; `ready` = 1 when k[0] = f(t, y) is there."""
        for number in range(-1 + ready, self.bases.shape[0]):  # -1: y itself
            stage, time = 0, t
            if number >= 0:
                stage, time = self.gives[number], t + self.times[number]*h
                combine(self.weights[number], h, work.k, self.weights.shape[1], work.sigma)
                problem.act(work.sigma, y if self.bases[number] < 0 else work.states[self.bases[number]],
                            work.states[number])
            if (number < 0 or stage > 0) and not problem.algebra(time, y if number < 0 else work.states[number],
                                                                 work.k[stage]):
                return Status.NOT_EVALUABLE
        return Status.OK


class CommutatorFreePair(NamedTuple):
    """Order of the scheme, with the embedded method's error: the distance of y and y~, by default relative to the
    sizes of fields.

    A rejected step keeps f(y). Dense output of order 3, on the manifold, that meets both ends: with the
    new state exp(B).exp(A).y,

        y(t + s h) = exp(gamma(s) - a(s)).exp(a(s)).y,   a(s) = s^2 A + (s - s^2) (sum of A's weights) h f(y),
        gamma(s) = (3 s^2 - 2 s^3) (A + B) + (s - 2 s^2 + s^3) h f(y) + (s^3 - s^2) h f(y+):

    gamma, Hermite's polynomial in the algebra, meets the conditions without commutators, and a(s) the one for [f(y),
    d/dt f], that sum_r c_r a_r(s) = s sum_r a_r(s)/2 - s^2/6. f(y+) serves the next step too."""

    scheme: CommutatorFree
    result: int  # number of the new state; its base is exp(A).y, with START as base
    lower: Any
    distance: Any
    control: Any

    def measured(self, formulated: Formulated) -> "CommutatorFreePair":
        return self._replace(distance=for_system(self.distance, formulated))

    def workspace(self, problem: LieAction, y: np.ndarray) -> SchemeWork:
        return self.scheme.workspace(problem, y)

    def start(self, problem: LieAction, t: float, y: np.ndarray, t_end: float, work: SchemeWork) -> float:
        h = self.control.first(t_end)
        self.distance.start(problem, t, y, h, work.k, work.sigma, work.states[0])
        work.current[0] = 0.0
        work.current[1] = 0.0
        return h

    def attempt(self, problem: LieAction, t: float, y: np.ndarray, h: float, work: SchemeWork) -> tuple[Status, float]:
        """New state in work.states[result]."""
        work.current[1] = 0.0
        if not first_slope(problem, t, y, work.k[0], work.current):
            return Status.NOT_EVALUABLE, np.inf
        status = self.scheme.states(problem, t, y, h, 1, work)
        if status != Status.OK:
            return status, np.inf
        error = self.distance.between(problem, y, work.states[self.result], work.states[self.lower], h)
        return Status.OK if problem.project(work.states[self.result]) else Status.SINGULAR_MATRIX, error

    def interpolate(self, problem: LieAction, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: SchemeWork) -> None:
        if work.current[1] == 0.0:
            problem.algebra(t + h, work.states[self.result], work.end)
            work.current[1] = 1.0
        for part in range(2):
            inner, outer = self.scheme.weights[self.scheme.bases[self.result]], self.scheme.weights[self.result]
            sign = 1.0 if part == 0 else -1.0  # a(s), then gamma(s) - a(s)
            share = 0.0
            for r in range(inner.shape[0]):
                share += inner[r]
            hermite = s*s*(3.0 - 2.0*s) if part == 1 else 0.0
            first = sign*(s - s*s)*share + (s*(1.0 - s)*(1.0 - s) if part == 1 else 0.0)
            last = s*s*(s - 1.0) if part == 1 else 0.0
            for i in range(work.sigma.shape[0]):
                total = axpy(h*last, row(work.end, i), (0.0, 0.0, 0.0))
                total = axpy(h*first, row(work.k[0], i), total)
                for r in range(inner.shape[0]):
                    weight = hermite*(inner[r] + outer[r]) + sign*s*s*inner[r]
                    total = axpy(h*weight, row(work.k[r], i), total)
                put(work.sigma, i, total)
            problem.act(work.sigma, y if part == 0 else out, out)
        problem.project(out)

    def rejected(self, h: float) -> None:
        self.distance.rejected(h)

    def accept(self, problem: LieAction, y: np.ndarray, work: SchemeWork) -> None:
        self.distance.keep(work.states[self.result])
        copy(work.states[self.result], y)
        for i in range(work.end.shape[0]):
            for k in range(3):
                work.k[0, i, k] = if_equal(work.current[1], 1.0, work.end[i, k], work.k[0, i, k])
        work.current[0] = work.current[1]


def _scheme(name: str, exponentials: list[tuple[int, str, bool]], **given: Any) -> ExponentialScheme:
    """Of an entry of the file: base, weights and `stage` of each exponential."""
    return ExponentialScheme(name, exponentials=tuple(Exponential(
        base, tuple(map(Fraction, weights.split())), stage) for base, weights, stage in exponentials), **given)


CF4, CF43, CF32A, CF32B, CG3 = (_scheme(name, **entry) for name, entry in tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")).items())
PAIRS = {scheme.name: scheme for scheme in (CF43, CF32A, CF32B)}


def fixed(scheme: ExponentialScheme, **declared: Any) -> Method:
    """Integrator of a scheme whose last exponential gives the new state."""
    return Method(summary=f"order {scheme.order}, {scheme.stages} stages, {len(scheme.exponentials)} exponentials,"
                  " explicit, Lie group action", order=scheme.order, formulation="lie_action", conserves=ORBIT,
                  projects=True, citation=scheme.source,
                  order_for=lambda options, sheet, parameters: chart_order(scheme.order, options),
                  build=lambda options, tolerance, t_end: CommutatorFree(*scheme.arrays()), **declared)


def _pair(options: Options, tolerance: float | None, t_end: float) -> CommutatorFreePair:
    assert tolerance is not None
    scheme = PAIRS[options["scheme"]]
    distance = {"scaled": StateNorm(), "euclidean": Euclidean(0), "riemannian": Riemannian(0)}[options["distance"]]
    return CommutatorFreePair(CommutatorFree(*scheme.arrays()), scheme.result, scheme.lower, distance,
                              control_of(options, tolerance, scheme.lower_order))


METHODS = {
    "cf4": fixed(CF4, mark=((3, 1, 0), "solid", "CF4"), places=Places(shown=5), certified=Certified((
        {}, ({"chart": "cayley"}, "cotangent_rotation"), ({"chart": "second_kind"}, "sphere_lagrangian")))),
    "cf_pair": Method(
        summary="order 4(3) with 5 stages, or 3(2) with 3, explicit, adaptive with dense output, Lie group action",
        order=CF43.order, formulation="lie_action", conserves=ORBIT, adaptive=True, projects=True,
        citation=CF43.source,
        options={"scheme": Option(CF43.name, "the pair", tuple(PAIRS))} | CONTROL | DISTANCE, build=_pair,
        combination=require_distance,
        order_for=lambda options, sheet, parameters: chart_order(PAIRS[options["scheme"]].order, options),
        calls={f"scheme={scheme.name}": {"order": scheme.order, "citation": scheme.source, "mark": mark}
               for scheme, mark in ((CF32A, ("1", "dashed", "CF3(2) a")), (CF32B, ("2", "dotted", "CF3(2) b")))},
        mark=((3, 1, 180), "solid", "CF4(3)"), dense_order=lambda options: 3, certified=Certified((
            {}, *(({"distance": "riemannian"}, formulation)
                  for formulation in ("sphere_lagrangian", "cotangent_rotation"))))),
    "cg3": fixed(CG3, mark=("+", "dashdot", "Crouch-Grossman 3")),
}
