"""Adaptive explicit pairs on a vector field, with dense output; the step control is a component.

Methods of a pair: start -> first step; attempt -> (status, error); interpolate; accept. Its field `control` decides."""
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import hands_on, kernel
from liestep.compile.roles import Integrator
from liestep.compile.rows import copy, if_equal, quotient, sqrt
from liestep.compile.separate import call_address
from liestep.compile.status import Status
from liestep.compile.straight.routines import Weights
from liestep.integrators._newton import worse
from liestep.integrators.sizes import (
    ATOL,
    NOT_GIVEN,
    Groups,
    RowGroups,
    absolute,
    evaluate,
    given_sizes,
    keep_sizes,
    note_rejected,
    rates_from_zero,
    sizes_for_errors,
    try_sizes,
)
from liestep.integrators.step_control import HairerControl, MatlabControl
from liestep.integrators.tableaux import DOP853, DORMAND_PRINCE54
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.contracts.formulations import VectorField
from liestep.mechanics.contracts.method import PROJECTED, Build, Method, Places
from liestep.mechanics.contracts.sheet import Option, Options


class DormandPrince(NamedTuple):
    """Order 5(4), 7 stages, first same as last, local extrapolation: MATLAB's ode45 with its 4th-order continuous
    extension. Conserves nothing exactly. twospheres2009 uses it as "RK45"."""

    a: np.ndarray      # (7, 7)
    b: np.ndarray      # (7,)
    c: np.ndarray      # (7,)
    e: np.ndarray      # (7,) weights of the error: b - b_hat
    dense: np.ndarray  # (7, 4) coefficients of s, s^2, s^3, s^4
    control: MatlabControl
    # without an absolute tolerance: groups and sizes (see `integrators.sizes`)
    groups: Groups = RowGroups()
    sizes: np.ndarray = NOT_GIVEN

    def measured(self, formulated: Formulated) -> "DormandPrince":
        groups, sizes = sizes_for_errors(formulated, self.sizes)
        return self._replace(groups=groups, sizes=sizes) if self.control.atol == 0.0 else self

    def workspace(self, problem: VectorField, y: np.ndarray) -> np.ndarray:
        return np.zeros((9, *y.shape), y.dtype)  # 7 slopes, new state, stage state

    def start(self, problem: VectorField, t: float, y: np.ndarray, t_end: float, work: np.ndarray) -> float:
        evaluate(problem, t, y, work[0])
        if self.control.atol == 0.0:
            rates_from_zero(problem, t, y, 0.01*t_end, self.groups, self.sizes, (work[0], work[1], work[8]))
        threshold = self.control.atol/self.control.rtol
        speed = 0.0
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                if self.control.atol == 0.0:
                    threshold = self.sizes[0, self.groups.of(i, k)]
                size = max(abs(y[i, k]), threshold)
                if size != 0.0:  # no more than what starts at zero
                    speed = max(speed, abs(work[0, i, k])/size)
        return self.control.first(speed)

    def attempt(self, problem: VectorField, t: float, y: np.ndarray, h: float,
                work: np.ndarray) -> tuple[Status, float]:
        """New state in work[7]; error = |h| max |e.k|/max(|y|, |y+|, atol/rtol)."""
        new = work[7]
        for s in range(1, 7):
            z = new if s == 6 else work[8]
            problem.stage(self.a[s], h, work, s, y, z)
            if not problem.rhs(t + self.c[s]*h, z, work[s]):
                return Status.NOT_EVALUABLE, np.inf
        threshold = self.control.atol/self.control.rtol
        if self.control.atol == 0.0:
            try_sizes(self.groups, self.sizes, y, new, h)
        error = 0.0
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                if self.control.atol == 0.0:
                    threshold = self.sizes[0, self.groups.of(i, k)]
                defect = self.defect(work, i, k)
                ratio = quotient(abs(defect), max(abs(y[i, k]), abs(new[i, k]), threshold))
                error = worse(error, if_equal(defect, 0.0, 0.0, ratio))
        return Status.OK, abs(h)*error

    def defect(self, work: np.ndarray, i: int, k: int) -> float:
        """e.k of one number."""
        total = self.e[0]*work[0, i, k]
        for r in range(1, 7):
            total = self.e[r]*work[r, i, k] + total
        return total

    def interpolate(self, problem: VectorField, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: np.ndarray) -> None:
        """State at t + s h, 0 <= s <= 1, order 4."""
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                total = 0.0
                for r in range(7):
                    weight = s*(self.dense[r, 0] + s*(self.dense[r, 1] + s*(self.dense[r, 2] + s*self.dense[r, 3])))
                    total = weight*work[r, i, k] + total
                out[i, k] = h*total + y[i, k]

    def rejected(self, h: float) -> None:
        if self.control.atol == 0.0:
            note_rejected(self.groups, self.sizes, h)

    def accept(self, problem: VectorField, y: np.ndarray, work: np.ndarray) -> None:
        if self.control.atol == 0.0:
            keep_sizes(self.groups, self.sizes, work[7])
        copy(work[7], y)
        copy(work[6], work[0])


def dormand_prince(options: Options, tolerance: float | None, t_end: float) -> DormandPrince:
    """The pair with MATLAB's step control for checked options."""
    assert tolerance is not None
    tableau = DORMAND_PRINCE54
    control = MatlabControl(tolerance, absolute(options["atol"]), 0.2, t_end/10.0)
    return DormandPrince(*tableau.arrays(), tableau.error_weights(), tableau.dense_rows(), control,
                         sizes=given_sizes(options, tolerance))


RATIO = 100.0  # of sizes of fields in one norm


@kernel
def length(y: np.ndarray) -> float:
    """Euclidean norm of all numbers of an array of rows."""
    total = 0.0
    for i in range(y.shape[0]):
        for k in range(y.shape[1]):
            total = y[i, k]*y[i, k] + total
    return sqrt(total)


@hands_on("pair", DormandPrince, "workspace", "interpolate", "rejected", "accept")
class NormControlled(NamedTuple):
    """Order 5(4), the step of `DormandPrince`, error = h |e.k|/max(|y|, |y+|, atol/rtol) with Euclidean norms of the
    whole state. Conserves nothing exactly."""

    pair: DormandPrince
    control: MatlabControl  # that of the pair

    def start(self, problem: VectorField, t: float, y: np.ndarray, t_end: float, work: np.ndarray) -> float:
        problem.rhs(t, y, work[0])
        return self.control.first(length(work[0])/max(length(y), self.control.atol/self.control.rtol))

    def attempt(self, problem: VectorField, t: float, y: np.ndarray, h: float,
                work: np.ndarray) -> tuple[Status, float]:
        """New state in work[7], defect in work[8]."""
        status, _ = self.pair.attempt(problem, t, y, h, work)
        if status != Status.OK:
            return status, np.inf
        defect = work[8]
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                defect[i, k] = self.pair.defect(work, i, k)
        threshold = self.control.atol/self.control.rtol
        return Status.OK, abs(h)*length(defect)/max(length(y), length(work[7]), threshold)


def _warning(sizes: Mapping[str, float]) -> str | None:
    """That one field decides, where others are far smaller."""
    large, small = (choose((size, name) for name, size in sizes.items() if size > 0.0) for choose in (max, min))
    if large[0] < RATIO*small[0]:
        return None
    return (f"ode45_norm measures the error of the whole state in one norm: {small[1]} (up to {small[0]:.2g}) is small"
            f" beside {large[1]} (up to {large[0]:.2g}): its relative error may be {large[0]/small[0]:.1g} times"
            " the tolerance; ode45 measures each field against its own size")


class Dop853Work(NamedTuple):
    k: np.ndarray      # (16, m, d) slopes; 12 is f at the new state, 13..15 the extra ones of the dense output
    f: np.ndarray      # (7, m, d) dense output coefficients
    new: np.ndarray    # (m, d)
    stage: np.ndarray  # (2, m, d) state of a stage; at the end of a step the errors of order 5 and 3
    zero: np.ndarray   # (m, d)
    ready: np.ndarray  # (1,) 1 when f belongs to the current step


class LoopStages(NamedTuple):
    """The stages of a step one after the other, for every vector field."""

    sums: int = 15  # 12 stages, the new state, two errors; the first stage is known

    def run(self, method: "Dop853", problem: VectorField, t: float, y: np.ndarray, h: float, work: Dop853Work) -> bool:
        """Slopes, the new state in work.new, and the errors of order 5 and 3 in work.stage; False where a slope cannot
        be evaluated."""
        for s in range(1, self.sums):  # stage 12 is the new state; the last two sums are the errors
            z = work.new if s == 12 else work.stage[1 if s == 14 else 0]
            problem.stage(method.e5 if s == 13 else method.e3 if s == 14 else method.a[s], h if s < 13 else 1.0, work.k,
                          min(s, 13), y if s < 13 else work.zero, z)
            if s < 13 and not problem.rhs(t + method.c[s]*h, z, work.k[s]):
                return False
        return True


class StraightStages(NamedTuple):
    """The same by machine code that holds tableau and right-hand side (`liestep.compile.straight.routines`)."""

    address: int
    table: np.ndarray

    def run(self, method: "Dop853", problem: VectorField, t: float, y: np.ndarray, h: float, work: Dop853Work) -> bool:
        return call_address(self.address, t, h, y, work.k, work.new, work.stage, self.table, problem.counters) == 1


class Dop853(NamedTuple):
    """Order 8(5,3), 12 stages, local extrapolation, 7th-order dense output (3 more evaluations in steps with an
    output). `problem.project` acts after each step and on outputs. Error norm: root mean square relative to
    atol + rtol max(|y|, |y+|)."""

    a: np.ndarray   # (16, 16)
    c: np.ndarray   # (16,)
    e3: np.ndarray  # (13,)
    e5: np.ndarray  # (13,)
    d: np.ndarray   # (4, 16)
    rtol: float
    atol: float
    control: HairerControl
    stages: LoopStages | StraightStages = LoopStages()
    # without an absolute tolerance: groups and sizes (see `integrators.sizes`)
    groups: Groups = RowGroups()
    sizes: np.ndarray = NOT_GIVEN

    def measured(self, formulated: Formulated) -> "Dop853":
        groups, sizes = sizes_for_errors(formulated, self.sizes)
        return self._replace(groups=groups, sizes=sizes) if self.atol == 0.0 else self

    def tableau(self) -> Weights:
        """What machine code of all stages holds."""
        return Weights(self.a[:13].tolist(), self.c.tolist(), (self.e5.tolist(), self.e3.tolist()))

    def with_stages(self, address: int, table: np.ndarray) -> "Dop853":
        return self._replace(stages=StraightStages(address, table))

    def workspace(self, problem: VectorField, y: np.ndarray) -> Dop853Work:
        return Dop853Work(np.zeros((16, *y.shape), y.dtype), np.zeros((7, *y.shape), y.dtype), np.zeros_like(y),
                          np.zeros((2, *y.shape), y.dtype), np.zeros_like(y), np.zeros(1))

    def start(self, problem: VectorField, t: float, y: np.ndarray, t_end: float, work: Dop853Work) -> float:
        """First step as in Hairer, Norsett, Wanner II.4: compares the scales of y, f and df/dt."""
        evaluate(problem, t, y, work.k[0])
        if self.atol == 0.0:
            rates_from_zero(problem, t, y, 0.01*t_end, self.groups, self.sizes, (work.k[0], work.k[1], work.new))
        size, speed = self.norm(y, y, y), self.norm(work.k[0], y, y)
        unit = t_end if self.atol == 0.0 else 1.0  # Hairer's numbers are seconds
        h = 1e-6*unit if size < 1e-5 or speed*unit < 1e-5 else 0.01*size/speed
        h = min(h, t_end)
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                work.new[i, k] = h*work.k[0, i, k] + y[i, k]
        evaluate(problem, t + h, work.new, work.k[1])
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                work.k[1, i, k] = -1.0*work.k[0, i, k] + work.k[1, i, k]
        bend = self.norm(work.k[1], y, y)/h
        if self.atol == 0.0:
            unit = 100.0*h
        largest = max(speed*unit, bend*unit*unit)
        second = unit*sqrt(sqrt(sqrt(0.01/largest))) if largest > 1e-15 else max(1e-6*unit, 1e-3*h)
        return min(100.0*h, second, t_end)

    def norm(self, u: np.ndarray, y: np.ndarray, new: np.ndarray) -> float:
        if self.atol == 0.0:
            try_sizes(self.groups, self.sizes, y, new, 0.0)
        total = 0.0
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                floor = self.atol if self.atol > 0.0 else self.rtol*self.sizes[0, self.groups.of(i, k)]
                tolerance = floor + self.rtol*max(abs(y[i, k]), abs(new[i, k]))
                if tolerance != 0.0:  # no more than what starts at zero
                    total += (u[i, k]/tolerance)*(u[i, k]/tolerance)
        return sqrt(total/(y.shape[1]*y.shape[0]))

    def attempt(self, problem: VectorField, t: float, y: np.ndarray, h: float,
                work: Dop853Work) -> tuple[Status, float]:
        work.ready[0] = 0.0
        if not self.stages.run(self, problem, t, y, h, work):
            return Status.NOT_EVALUABLE, np.inf
        return Status.OK, self.error(y, h, work)

    def error(self, y: np.ndarray, h: float, work: Dop853Work) -> float:
        """h err5^2/sqrt((err5^2 + 0.01 err3^2) m d) with the scaled 5th- and 3rd-order estimates."""
        if self.atol == 0.0:
            try_sizes(self.groups, self.sizes, y, work.new, h)
        fifth, third = 0.0, 0.0
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                floor = self.atol if self.atol > 0.0 else self.rtol*self.sizes[0, self.groups.of(i, k)]
                five, three = work.stage[0, i, k], work.stage[1, i, k]
                tolerance = floor + self.rtol*max(abs(y[i, k]), abs(work.new[i, k]))
                one, other = quotient(five, tolerance), quotient(three, tolerance)
                fifth += if_equal(abs(five) + abs(three), 0.0, 0.0, one*one)
                third += if_equal(abs(five) + abs(three), 0.0, 0.0, other*other)
        mean = sqrt((fifth + 0.01*third)*(y.shape[1]*y.shape[0]))
        return if_equal(fifth + third, 0.0, 0.0, quotient(abs(h)*fifth, mean))

    def interpolate(self, problem: VectorField, t: float, y: np.ndarray, h: float, s: float, out: np.ndarray,
                    work: Dop853Work) -> None:
        """State at t + s h, 0 <= s <= 1, order 7."""
        if work.ready[0] == 0.0:
            self.prepare_dense(problem, t, y, h, work)
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                total = 0.0
                for r in range(7):
                    total = (s if r % 2 == 0 else 1.0 - s)*(work.f[6 - r, i, k] + total)
                out[i, k] = total + y[i, k]
        problem.project(out)

    def prepare_dense(self, problem: VectorField, t: float, y: np.ndarray, h: float, work: Dop853Work) -> None:
        """Where one of the three further stages cannot be evaluated there is no state, and the run ends."""
        there = True
        for s in range(13, 16):
            problem.stage(self.a[s], h, work.k, s, y, work.stage[0])
            there = problem.rhs(t + self.c[s]*h, work.stage[0], work.k[s]) and there
        for i in range(y.shape[0]):
            for k in range(y.shape[1]):
                change = work.new[i, k] - y[i, k]
                old, new = work.k[0, i, k], work.k[12, i, k]
                work.f[0, i, k] = change if there else np.nan
                work.f[1, i, k] = h*old - change
                work.f[2, i, k] = 2.0*change - h*(new + old)
                for r in range(4):
                    total = 0.0
                    for j in range(16):
                        total = self.d[r, j]*work.k[j, i, k] + total
                    work.f[3 + r, i, k] = h*total
        work.ready[0] = 1.0

    def rejected(self, h: float) -> None:
        if self.atol == 0.0:
            note_rejected(self.groups, self.sizes, h)

    def accept(self, problem: VectorField, y: np.ndarray, work: Dop853Work) -> None:
        if self.atol == 0.0:
            keep_sizes(self.groups, self.sizes, work.new)
        copy(work.new, y)
        problem.project(y)  # by the error of the step, which changes its slope by as much: one order higher in the next
        copy(work.k[12], work.k[0])


def _build_853(options: Options, tolerance: float | None, t_end: float) -> Integrator:
    assert tolerance is not None
    return Dop853(*DOP853.parts(), tolerance, absolute(options["atol"]), HairerControl(),
                  sizes=given_sizes(options, tolerance))


def _pair(summary: str, order: int, citation: str, build: Build, atol: Option = ATOL, **more: Any) -> Method:
    return Method(summary=summary, order=order, formulation="vector_field", adaptive=True, citation=citation,
                  build=build, options={"atol": atol}, **more)


DORMAND_PRINCE = "Dormand and Prince 1980; Shampine and Reichelt 1997"
METHODS = {
    "ode45": _pair("order 5(4), 7 stages, explicit, adaptive with dense output (MATLAB's ode45)", 5, DORMAND_PRINCE,
                   dormand_prince, mark=("X", "dotted", "ode45"), scipy="RK45", dense_order=lambda options: 4,
                   also=("dopri5", "dormand_prince")),
    "ode45_norm": _pair(
        "order 5(4), MATLAB's ode45 with NormControl: the error of the whole state decides", 5, DORMAND_PRINCE,
        lambda *given: NormControlled((pair := dormand_prince(*given))._replace(sizes=NOT_GIVEN), pair.control),
        Option(1e-6, "absolute tolerance; the run's tolerance is the relative one"), warning=_warning,
        dense_order=lambda options: 4),
    "dop853": _pair("order 8(5,3), 12 stages, explicit, adaptive with dense output", 8,
                    "Hairer, Norsett, Wanner 1993, II.5", _build_853, mark=("*", "dashdot", "DOP853"), scipy="DOP853",
                    places=Places(reference=1, tried=({"form": "quaternion"},)), projects=True, conserves=PROJECTED,
                    dense_order=lambda options: 7, decimals=lambda options: True, code="Stages of dop853"),
}
