"""What is asked of a recommendation, checked, and its trials: runs over the whole horizon, their errors against the
reference and what they cost. The reference is two methods of different classes that agree."""
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import evaluations_of
from liestep.compile.status import Status
from liestep.errors import InputError, unknown
from liestep.mechanics.contracts.formulated import StateField
from liestep.mechanics.contracts.method import Keeps, Method
from liestep.mechanics.contracts.sheet import Fields, Options, Parameters, Sheet
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import method, ranked
from liestep.simulation.runs.content import stopped
from liestep.simulation.runs.execution import Outcome, RunTooLong, run_once
from liestep.simulation.runs.numbers import positive
from liestep.simulation.runs.specification import CheckedStart, complete_options, specify, start_of
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.tables.choice import KEEP
from liestep.study.tables.timing import time_run
from liestep.tools.recommend import BUDGET

INTERVALS = 20              # numbers of steps are multiples of it, so that each part of the horizon ends with a step
FINER = (10, 5, 2, 1)       # errors are looked at so many times in each part, the most that the steps allow
LOOSEST, TIGHTEST = 0.1, 1e-14
SHARE = 20.0                # the budget divided by this is what one run may be predicted to take
PATIENCE = 2.0              # a run is stopped after so many times that


@dataclass(frozen=True)
class Demand:
    """A problem from one start, the error that is allowed at `t_end` (s) and what must be kept ("": nothing). budget:
    processor time in s that runs may take."""

    problem: str
    start: CheckedStart
    error: float
    t_end: float
    keep: str
    budget: float

    @property
    def limit(self) -> float:
        """What one run may take, s."""
        return self.budget/SHARE

    @property
    def facts(self) -> Sheet:
        return self.start.system.item

    def declared(self, integrator: str) -> Method:
        """An integrator with the formulation that the problem has."""
        return method(integrator).on(self.facts)

    def kept(self, integrator: str) -> frozenset[Keeps]:
        """What an integrator declares to keep here, with the options that it gets."""
        declared, parameters = self.declared(integrator), self.start.parameters
        try:
            options = complete_options(declared, self.facts, parameters, self.options(integrator))
        except InputError:  # it is refused with its sentence when it runs
            return frozenset()
        return declared.kept(options, self.facts, parameters)

    def options(self, integrator: str) -> Options:
        """Those with which it is tried, where they are not its defaults."""
        declared = self.declared(integrator)
        form, parameters = self.facts.forms[declared.formulation], self.start.parameters
        usual = form.preferred(parameters, {}, declared.prefers)
        tried = form.preferred(parameters, {}, (*declared.places.tried, *declared.prefers))
        return {name: value for name, value in tried.items() if value != usual.get(name)}

    def run(self, integrator: str, size: float) -> RunSpecification:
        """A run of `size` steps, or of an adaptive method with the tolerance `size`. Raises InputError: the method does
        not run from this start."""
        options = self.options(integrator)
        if not method(integrator).adaptive:
            finer = next(k for k in FINER if size % (k*INTERVALS) == 0 or k == 1)
            return specify(self.problem, integrator, start=self.start, steps=int(size), t_end=self.t_end,
                           samples=finer*INTERVALS + 1, statistics_every=int(size), options=options)
        samples = FINER[0]*INTERVALS + 1
        return specify(self.problem, integrator, start=self.start, tolerance=size, t_end=self.t_end, outputs=samples,
                       samples=samples, options=options)

    def canonical(self) -> dict[str, str | float | Parameters]:
        """Problem and start as JSON."""
        return {"problem": self.problem, "t_end": self.t_end, "error": self.error,
                "parameters": {name: getattr(value, "tolist", lambda value=value: value)()
                               for name, value in self.start.parameters.items()},
                "initial": {name: value.tolist() for name, value in self.start.initial.items()}}


def named(keep: str) -> str:
    """A word for keep in a sentence."""
    return "symplectic form" if keep == "symplectic" else keep


def request(problem: str, *, error: float, preset: str | None = None, parameters: Parameters | None = None,
            initial: Fields | None = None, t_end: float | None = None, keep: str | None = None,
            budget: float = BUDGET) -> Demand:
    """A request, checked. Raises InputError: one sentence: what is wrong, and what is allowed."""
    if keep is not None and keep not in KEEP:
        raise InputError(unknown("word for keep", keep, KEEP))
    wanted = positive("error", error)
    if wanted > LOOSEST:
        raise InputError(f"error {wanted!r} says nothing of a motion: errors are relative, allowed are numbers up to"
                         f" {LOOSEST:g}")
    if wanted < TIGHTEST:
        raise InputError(f"error {wanted!r} is below round-off; the least that can be asked for is {TIGHTEST:g}")
    start = start_of(problem, preset=preset, parameters=parameters, initial=initial)
    end = start.t_end if t_end is None else positive("t_end", t_end)
    demand = Demand(problem, start, wanted, end, keep or "", positive("budget", budget))
    seen = formulate_standard(demand.facts, start.parameters, start.initial).observables
    lacks = ""
    if keep == "momentum" and not any(any(quantity.conserved) for quantity in seen if quantity.name == "momentum_map"):
        lacks = "conserves no component of the momentum with these parameters"
    if keep == "energy" and not any(all(quantity.conserved) for quantity in seen if quantity.name == "energy"):
        lacks = "has no energy that is kept: it is not known, changes or depends on t"
    if lacks:
        raise InputError(f"{problem} {lacks}; keep is {', '.join(word for word in KEEP if word != keep)} or nothing")
    return demand


SHORT = 200      # steps of the run by which the cost of a step is measured
LEAST = 0.1      # s that a run may always take
MARGIN = 3.0     # of errors that a power law predicts
QUARTER = 4      # pilots cover this part of the horizon


class Try(NamedTuple):
    """One run: its number of steps or its tolerance, its error (infinite if it stopped) and its seconds."""

    size: float
    error: float
    seconds: float


@dataclass
class Trials:
    """Runs of one request beside a reference: values of each counted field at FINER[0] times in each interval. pilot:
    the horizon is a quarter of what was asked for, and errors are those that a power law predicts at its end."""

    request: Demand
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
        trial = self.run(spec, min(PATIENCE*self.request.limit, 0.5*(self.request.budget - self.spent)))
        steps = _tried_steps(trial)
        if integrator not in self.rates:
            if trial.status != Status.OK:
                return trial, inf
            self.calls[integrator], self.rates[integrator] = self._costs(spec, steps)
            self.work[integrator] = float(evaluations_of({**trial.counters, "steps": steps}))/steps
        return trial, self.counted(integrator, trial)

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
        error = distances(self.fields, values, {name: states[::stride] for name, states in self.reference.items()})
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
        seconds, repeats = time_run(spec)
        self.spent += repeats*seconds
        return seconds


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
        found: np.ndarray = np.max([field.distance(values[field.name], reference[field.name])
                                    / field.measure.scale(reference[field.name]) for field in fields], axis=0)
    return np.where(np.isfinite(found), found, inf)


def order_of(request: Demand, integrator: str, size: float) -> int:
    """Order of an integrator on the problem, with the options of a run."""
    spec = request.run(integrator, size)
    return method(integrator).on(request.facts).order_of(spec.options, request.facts, request.start.parameters)


TOLERANCE = 1e-13
AIMED, NEEDED = 10.0, 3.0    # the gap that is aimed at, and the one that is needed, are the error divided by these
MOST_WAITED, DOUBLINGS = 2, 20


def engines(request: Demand, able: tuple[str, ...]) -> tuple[str, str]:
    """The two methods: the first adaptive one of `Places.reference`, and the first with fixed steps. Raises InputError
    where there are not two."""
    chosen = []
    for adaptive in (True, False):
        known = [name for name in ranked("reference") if method(name).adaptive == adaptive]
        chosen += [name for name in known if name in able][:1]
        if len(chosen) < 2 - adaptive:
            missing = known[0] if len(known) == 1 else f"any of {', '.join(known)}"
            raise InputError(f"{request.problem} has no reference: it needs two methods of different classes, and"
                             f" {missing} cannot run on it")
    return chosen[0], chosen[1]


def agree(trials: Trials, first: str, second: str) -> np.ndarray:
    """Compute the reference of the trials with a first method and compare it with a second one, whose steps are halved
    until both agree or no longer approach each other; returns the gap, the largest in each interval. Raises InputError:
    an engine stopped, or the gap is too wide for the error that is asked for; names the time."""
    try:
        outcome, _ = trials.outcome(first, TOLERANCE)
    except RunTooLong as error:
        raise InputError(f"{trials.request.problem} has no reference: {first}: {error}") from None
    if outcome.status != Status.OK:
        raise InputError(f"{trials.request.problem} has no reference: {first} {stopped(outcome)}")
    trials.fields = tuple(field for field in outcome.formulated.error_fields if field.counted)
    trials.reference, trials.reference_steps = values_of(outcome), outcome.steps
    wanted = trials.request.error
    steps = INTERVALS*max(1, outcome.steps//(4*INTERVALS))
    order, best, waited, failed = order_of(trials.request, second, steps), np.full(INTERVALS + 1, inf), 0, ""
    for _ in range(DOUBLINGS):
        try:
            other, seconds = trials.outcome(second, steps)
        except RunTooLong as error:
            failed = "" if np.isfinite(best.max()) else f": {error}"
            break
        gap = trials.history(other)
        failed = f" {stopped(other)}" if other.status != Status.OK else ""
        if gap.max() <= wanted/AIMED:
            return gap
        gained = _agreed(gap, wanted) > _agreed(best, wanted) or gap.max() < 0.5*best.max() or failed
        waited = 0 if gained else waited + 1
        best = gap if gap.max() < best.max() or _agreed(gap, wanted) > _agreed(best, wanted) else best
        factor = 2.0 if not gap.max() < 0.1 else min(8.0, max(1.5, (2.0*AIMED*gap.max()/wanted)**(1.0/order)))
        if waited >= MOST_WAITED or (np.isfinite(seconds) and factor*seconds > trials.request.limit):
            break
        steps = INTERVALS*int(np.ceil(factor*steps/INTERVALS))
    if best.max() <= wanted/NEEDED:
        return best
    if failed:
        raise InputError(f"{trials.request.problem} has no reference: {second}{failed}")
    early = _agreed(best, wanted)
    time, before = (k*trials.request.t_end/INTERVALS for k in (early, early - 1))
    shorter = f"t_end up to {before:.4g} s," if early > 1 else "a shorter t_end"
    raise InputError(f"the error {wanted:g} cannot be judged: two references, {first} and {second}, differ by more"
                     f" than a third of it from t = {time:.4g} s on, by {best.max():.1e} up to t ="
                     f" {trials.request.t_end:g} s; ask for {shorter} or for an error above {NEEDED*best.max():.1e}")


def _agreed(gap: np.ndarray, wanted: float) -> int:
    """Number of the first interval at whose end the gap is too wide."""
    return int(np.argmax(np.append(gap > wanted/NEEDED, True)))
