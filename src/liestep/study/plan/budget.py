"""Fixed steps that spend a budget: so many evaluations of forces or right-hand sides in a run, or operations."""
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter, evaluations
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.symbolic import operations
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import CheckedStart
from liestep.simulation.runs.specified import RunSpecification

TRIED = tuple(10**k for k in range(3, 9))   # steps in t_end of the step that is tried: the first that succeeds counts
MOST_PER_STEP = 64    # evaluations of the longest run in a step that is worth trying
# no such form (an InputError, which is a ValueError); functions of numpy refuse numbers that count or lack their
# methods; Python raises where numpy gives inf or NaN
UNCOUNTED = (ArithmeticError, AttributeError, TypeError, ValueError)


class Cap(NamedTuple):
    """Most operations of a run, and those of one evaluation of the equations of its problem."""

    most: int
    each: int
    counted: bool  # or estimated from the size of the state

    @property
    def evaluations(self) -> int:
        return self.most//self.each

    def cut(self, budgets: Sequence[int]) -> list[int]:
        """Budgets of evaluations, those above the cap replaced by it."""
        return sorted({min(budget, self.evaluations) for budget in budgets})

    def sentence(self, budgets: Sequence[int]) -> str:
        """What became of the budgets; empty where nothing was cut."""
        if max(budgets) <= self.evaluations:
            return ""
        return (f"at most {self.evaluations} evaluations instead of {max(budgets)}: an evaluation of the equations"
                f" takes {'' if self.counted else 'about '}{self.each} operations, and a run may take {self.most}")


def cap_of(start: CheckedStart, most: int) -> Cap:
    """The cap of a problem. Operations are those of the vector field in its form by default, counted as it runs; where
    code that counts cannot run, one for each pair of numbers of the state. Raises InputError: one evaluation takes
    more."""
    try:
        formulated = formulate(start.system.item, start.parameters, start.initial, "vector_field", {})
        each = operations(formulated.problem, lambda plain, y, out: plain.rhs(0.0, y, out), formulated.start)
        counted = True
    except UNCOUNTED:
        each, counted = sum(np.size(values) for values in start.initial.values())**2, False
    if each > most:
        raise InputError(f"operations: one evaluation of the equations of {start.system.name} takes {each} operations,"
                         f" more than the {most} that a run may take")
    return Cap(most, max(1, each), counted)


def evaluations_per_step(spec: RunSpecification, largest: int = 0) -> int:
    """Evaluations that the second step of a run takes, in plain Python; at least 1. Implicit steps take more when they
    are longer: what a run has spent is in its file. `largest`: budget of the longest run, so that long times are not
    tried in a few steps. Raises InputError: no step succeeds, however short."""
    assert spec.steps is not None
    for steps in TRIED:
        if steps < largest/MOST_PER_STEP:
            continue
        formulated, integrator = build(replace(spec, steps=steps))
        problem, component = plain(formulated.problem), plain(integrator)
        y, h, counters = formulated.start.copy(), spec.t_end/steps, problem.counters
        with np.errstate(all="ignore"):
            work = plain(component.workspace(problem, y))
            status = component.start(problem, 0.0, y, h, work)
            for k in range(2):
                before = counters.copy()
                if status == Status.OK:
                    status = component.step(problem, k*h, y, h, work)
        if status == Status.OK:
            return max(1, evaluations(counters - before))
    raise InputError(f"evaluations: no step of {spec.integrator} succeeds on {spec.problem}, and the number of"
                     " evaluations of a step is not known; give steps")


def step_counts(spec: RunSpecification, budgets: Sequence[int], intervals: int, fewest: int) -> list[int]:
    """Numbers of steps that spend about so many evaluations, each a multiple of `intervals`, increasing. Raises
    InputError: a budget is less than one step takes."""
    each = evaluations_per_step(spec, max(budgets))
    _require_enough(spec, budgets, each)
    counts = {max(1, round(budget/each/intervals))*intervals for budget in budgets}
    return sorted(count for count in counts if count >= fewest) or [-(-fewest//intervals)*intervals]


def _require_enough(spec: RunSpecification, budgets: Sequence[int], each: int) -> None:
    if (least := min(budgets)) < each:
        raise InputError(f"evaluations: a budget of {least} is less than the {each} evaluations of one step of"
                         f" {spec.integrator}; the smallest that is allowed is {each}")


def fictitious_steps(spec: RunSpecification, budgets: Sequence[int]) -> list[float]:
    """Steps of fictitious time (`Method.fictitious`) that spend about so many evaluations if it runs against time as it
    does in the first step of `spec`: where it runs more slowly later, a run spends more. Raises InputError: a budget is
    less than one step takes, or the first step fails."""
    assert spec.tolerance is not None
    formulated, integrator = build(spec)
    problem, component = plain(formulated.problem), plain(integrator)
    work = plain(component.workspace(problem, formulated.start))
    with np.errstate(all="ignore"):
        time = float(component.start(problem, 0.0, formulated.start, spec.t_end, work))
    each = max(1, int(problem.counters[Counter.FORCE_EVALUATIONS]) - 1)
    if not 0.0 < time < np.inf:
        raise InputError(f"evaluations: no step of {spec.integrator} succeeds on {spec.problem}; give tolerances")
    _require_enough(spec, budgets, each)
    return [spec.t_end*spec.tolerance/time*each/budget for budget in sorted(budgets)]
