"""Trials: compiled runs over the whole horizon, their errors against the reference and what they cost."""
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import evaluations_of
from liestep.compile.status import Status
from liestep.mechanics.contracts.formulated import StateField
from liestep.simulation.catalogue import method
from liestep.simulation.runs.execution import Outcome, RunTooLong, run_once
from liestep.simulation.runs.specification import RunSpecification
from liestep.study.tables.timing import timer
from liestep.tools.recommend.request import FINER, INTERVALS, PATIENCE, Request

SHORT = 200      # steps of the run by which the cost of a step is measured
FEWEST, MOST, ENOUGH = 2, 9, 5e-3  # measurements of a time: at least, at most, and so many s in all
LEAST = 0.1      # s that a run may always take; a time of so much is measured once
MARGIN = 3.0     # of errors that a power law predicts
QUARTER = 4      # pilots cover this part of the horizon


class Try(NamedTuple):
    """One run: its number of steps or its tolerance, its error (infinite if it stopped) and its seconds."""

    size: float
    error: float
    seconds: float


@dataclass
class Trials:
    """Runs of one request beside a reference: values of each counted field at FINER[0] times in each interval.

    pilot: the horizon is a quarter of what was asked for, and errors are those that a power law predicts at its end."""

    request: Request
    fields: tuple[StateField, ...] = ()
    reference: Mapping[str, np.ndarray] = field(default_factory=dict)
    pilot: bool = False
    reference_steps: int = 0                                  # of the reference's first method
    spent: float = 0.0                                        # s of processor time in compiled loops
    rates: dict[str, float] = field(default_factory=dict)     # integrator -> s per step (tried, for adaptive ones)
    calls: dict[str, float] = field(default_factory=dict)     # integrator -> s of a run without a step
    work: dict[str, float] = field(default_factory=dict)      # integrator -> evaluations per step

    @property
    def over(self) -> bool:
        """Whether the budget is spent."""
        return self.spent > self.request.budget

    def run(self, spec: RunSpecification, most: float = inf) -> Outcome:
        """A run that is stopped after `most` s, or when the budget is spent. Raises RunTooLong: it was stopped; what it
        took is spent. InputError, PluginError as `run_once`."""
        limit = max(LEAST, min(most, self.request.budget - self.spent))
        try:
            return run_once(spec, limit=limit)
        except RunTooLong:
            self.spent += limit
            raise

    def outcome(self, integrator: str, size: float) -> tuple[Outcome, float]:
        """A run and its seconds, from the cost of a step, which is measured once for each integrator. Raises
        InputError: the method does not run from this start, or takes too long; PluginError: it cannot be compiled."""
        spec = self.request.run(integrator, size)
        # half of what is left: where its steps cost most of that, they are timed as well
        found = self.run(spec, min(PATIENCE*self.request.limit, 0.5*(self.request.budget - self.spent)))
        steps = _tried_steps(found)
        if integrator not in self.rates:
            if found.status != Status.OK:
                return found, inf
            self.calls[integrator], self.rates[integrator] = self._costs(spec, steps)
            self.work[integrator] = float(evaluations_of({**found.counters, "steps": steps}))/steps
        return found, self.counted(integrator, found)

    def counted(self, integrator: str, found: Outcome) -> float:
        """Seconds of a run, which are spent."""
        seconds = self.calls.get(integrator, 0.0) + self.rates.get(integrator, 0.0)*_tried_steps(found)
        self.spent += seconds
        return seconds

    def history(self, found: Outcome) -> np.ndarray:
        """(INTERVALS + 1,): scaled error of a run at the start, and the largest in each interval; infinite for one that
        stopped."""
        if found.status != Status.OK:
            return np.full(INTERVALS + 1, inf)
        values = values_of(found)
        stride = FINER[0]*INTERVALS//(found.samples - 1)
        error = distances(self.fields, values, {name: item[::stride] for name, item in self.reference.items()})
        return np.append(error[0], error[1:].reshape(INTERVALS, -1).max(axis=1))

    def error(self, found: Outcome) -> float:
        """Largest error of a run, or that which is predicted at the end of the horizon."""
        history = self.history(found)
        worst = float(history.max())
        if not self.pilot or not isfinite(worst):
            return worst if isfinite(worst) else inf
        early = float(history[:INTERVALS//QUARTER + 1].max())
        return MARGIN*worst*max(1.0, worst/early if early > 0.0 else 1.0)

    def _costs(self, spec: RunSpecification, steps: int) -> tuple[float, float]:
        """Seconds of a run without a step and of one step, from a run and a short one: a call takes 10 to 30 us, as
        much as a hundred steps of a small system."""
        if spec.steps is not None and spec.steps > SHORT:
            spec, steps = replace(spec, steps=SHORT, t_end=SHORT*spec.t_end/spec.steps), SHORT
        few = (replace(spec, steps=1, t_end=spec.t_end/spec.steps) if spec.steps is not None else
               replace(spec, t_end=1e-3*spec.t_end))
        least = 1 if spec.steps is not None else _tried_steps(run_once(replace(few, samples=2, outputs=2)))
        whole, short = self._least(spec), self._least(few)
        rate = (whole - short)/(steps - least) if steps > least else 0.0
        if not 0.0 < rate <= whole/steps:  # lost in the noise of the clock
            return 0.0, whole/steps
        return whole - rate*steps, rate

    def _least(self, spec: RunSpecification) -> float:
        """Seconds of a run, the least of several measurements."""
        once, share = timer(spec)
        measured: list[float] = []
        while (not measured or (len(measured) < FEWEST and measured[0] < LEAST)
               or (len(measured) < MOST and sum(measured) < ENOUGH)):
            measured.append(once())
        self.spent += sum(measured)
        return min(measured)/share


def _tried_steps(found: Outcome) -> int:
    """Steps that were made, those that were rejected included."""
    return max(1, found.steps + found.counters["steps_rejected"])


def values_of(found: Outcome) -> dict[str, np.ndarray]:
    """The state fields of a run at its samples."""
    return found.formulated.to_fields(found.outputs.states[:found.samples])


def distances(fields: tuple[StateField, ...], values: Mapping[str, np.ndarray],
              reference: Mapping[str, np.ndarray]) -> np.ndarray:
    """(time,): largest distance over the fields, each divided by its scale along the reference."""
    with np.errstate(invalid="ignore", over="ignore"):
        found: np.ndarray = np.max([part.distance(values[part.name], reference[part.name])
                                    / part.scale(reference[part.name]) for part in fields], axis=0)
    return np.where(np.isfinite(found), found, inf)


def order_of(request: Request, integrator: str, size: float) -> int:
    """Order of an integrator on the problem, with the options of a run."""
    spec = request.run(integrator, size)
    return method(integrator).on(request.facts).order_of(spec.options, request.facts, request.start.parameters)
