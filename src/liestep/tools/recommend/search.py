"""The step or tolerance with which one integrator reaches an error at the least cost, whether a run keeps what its
method declares to conserve (measured, for the energy over ten horizons), and what a recommendation says."""
from dataclasses import dataclass, field, replace
from html import escape
from math import ceil, inf, isfinite, log, sqrt

import numpy as np

from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.mechanics.contracts.sheet import Options
from liestep.simulation.catalogue import method
from liestep.simulation.runs.content import stopped
from liestep.simulation.runs.execution import Outcome, RunTooLong
from liestep.study.tables.choice import Choice
from liestep.tools.recommend.trials import INTERVALS, QUARTER, Demand, Trials, Try, order_of

AIM, CLOSE = 0.7, 0.4          # shares of the error: what is aimed at, and from what on a run is close enough
TRIES = 9
DROP = 3.0                     # an integrator whose predicted cost is so many times the best is dropped
USABLE = 0.3                   # errors above it follow no power of the step
SMALLEST_TOLERANCE = 3e-15     # below it a tolerance is round-off
LEAST_CHANGE = 1.05


@dataclass
class Candidate:
    """A row of the table: what was tried with one integrator, or why it was not.

    size    number of steps, or tolerance, of the cheapest run that met the error; None without one
    reason  in words
    """

    integrator: str
    reason: str
    order: int = 0
    size: float | None = None
    error: float = inf
    seconds: float = inf
    tried: list[Try] = field(default_factory=list)

    @property
    def adaptive(self) -> bool:
        return method(self.integrator).adaptive

    def settle(self, wanted: float, reason: str) -> "Candidate":
        """With the cheapest run that met the error, and otherwise with the reason and the last run."""
        good = [run for run in self.tried if run.error <= wanted]
        if good:
            best = min(good, key=lambda run: run.seconds)
            self.size, self.error, self.seconds, self.reason = best.size, best.error, best.seconds, "met the error"
        else:
            self.reason = reason
            if self.tried:
                self.error = self.tried[-1].error
        return self


def search(trials: Trials, integrator: str, first: float, best: float, limit: float) -> Candidate:
    """Runs of one integrator, each step or tolerance chosen from the errors of those before. first: number of steps to
    begin with, or tolerance. best: least cost so far, s; limit: of one run, s."""
    candidate, wanted = Candidate(integrator, ""), trials.request.error
    try:
        candidate.order = order_of(trials.request, integrator, first)
        size, reason = first, f"not reached in {TRIES} runs"
        for _ in range(TRIES):
            outcome, seconds = trials.outcome(integrator, size)
            last = Try(size, trials.error(outcome), seconds)
            candidate.tried.append(last)
            if not isfinite(last.error):
                candidate.reason = stopped(outcome)
            if CLOSE*wanted <= last.error <= wanted:
                break
            new = _next_tolerance(candidate, wanted) if candidate.adaptive else _next_steps(candidate, wanted)
            if isinstance(new, str):
                reason = new
                break
            call = trials.calls.get(integrator, 0.0)  # none where no run has ended
            # times as many steps
            growth = (last.size/new)**(1.0/max(candidate.order, 1)) if candidate.adaptive else new/last.size
            predicted = call + (last.seconds - call)*growth
            if isfinite(predicted) and predicted > last.seconds and predicted > min(DROP*best, limit):
                reason = (f"would cost {predicted/best:.2g} times the best" if predicted > DROP*best else
                          f"a run would take {predicted:.2g} s")
                break
            size = new
    except InputError as error:
        return candidate.settle(wanted, str(error))
    return candidate.settle(wanted, reason)


def _next_steps(found: Candidate, wanted: float) -> float | str:
    last = found.tried[-1]
    usable = [run for run in found.tried if run.error < USABLE]
    if last.error >= USABLE:
        if len(found.tried) == TRIES:
            return found.reason or f"error {last.error:.1g} with {last.size:.0f} steps"
        new = last.size*(2.0 if len(found.tried) < 4 else 4.0)
    else:
        power = float(found.order)
        if len(usable) > 1 and usable[-1].size != usable[-2].size and min(run.error for run in usable[-2:]) > 0.0:
            power = -log(usable[-1].error/usable[-2].error)/log(usable[-1].size/usable[-2].size)
            if last.error > wanted and last.size > usable[-2].size and power < 0.3:
                return f"its error falls no further than {min(run.error for run in usable):.1e}"
            power = min(found.order + 1.5, max(0.7, power))
        ratio = (last.error/(AIM*wanted))**(1.0/power) if last.error > 0.0 else 0.25
        new = last.size*min(20.0, max(0.1, ratio))
    return _between(found, wanted, float(INTERVALS*max(1, ceil(new/INTERVALS*(1.0 - 1e-9)))))


def _between(found: Candidate, wanted: float, count: float) -> float | str:
    """The number of steps, moved between the runs that met the error and those that did not."""
    good = min((run.size for run in found.tried if run.error <= wanted), default=inf)
    bad = max((run.size for run in found.tried if run.error > wanted and run.size < good), default=0.0)
    if good - bad > INTERVALS and count < good:
        return (count if bad < count else
                INTERVALS*ceil(0.5*(bad + good)/INTERVALS) if isfinite(good) else bad + INTERVALS)
    return "no number of steps between those that were tried"


def _next_tolerance(found: Candidate, wanted: float) -> float | str:
    last = found.tried[-1]
    usable = [run for run in found.tried if run.error < USABLE and run.error > 0.0]
    if last.error >= USABLE:
        new = 0.1*last.size
    else:
        power = 1.0
        if len(usable) > 1 and abs(log(usable[-1].size/usable[-2].size)) > 0.3:
            power = log(usable[-1].error/usable[-2].error)/log(usable[-1].size/usable[-2].size)
            power = min(2.0, max(0.3, power))
        change = (AIM*wanted/last.error)**(1.0/power) if last.error > 0.0 else 10.0
        new = last.size*min(1e3, max(1e-4, change))
    if new < SMALLEST_TOLERANCE:
        return "would need a tolerance below round-off"
    if max(new/last.size, last.size/new) < LEAST_CHANGE or any(abs(log(new/run.size)) < 0.01 for run in found.tried):
        return "no tolerance between those that were tried"
    return new


HORIZONS = 10
GROWN = 5.0             # a steady drift grows ten times over ten horizons, round-off by 3, what is bounded by 1 to 2
ROUND_OFF = 100.0       # units in the last place per square root of a step, below which growth is round-off
LOST = 1e-9             # largest relative error of what is kept to round-off


def keeps(asked: Demand, trials: Trials, row: Candidate) -> tuple[bool, str]:
    """Whether the method of a row of the table keeps what was asked, with its step or tolerance, and in words what was
    seen of it."""
    assert row.size is not None
    if asked.keep == "symplectic":  # no run of one start shows it: `liestep certify` does
        return True, "declared symplectic"
    long, parts = asked.keep == "energy", QUARTER if trials.pilot else 1
    horizons = HORIZONS if long and not trials.pilot else 1
    whole = replace(asked, t_end=asked.t_end/(1 if long else parts)*horizons)
    factor = round(whole.t_end/asked.t_end*parts) or 1
    spec = replace(whole.run(row.integrator, row.size if row.adaptive else row.size*factor), statistics_every=1)
    try:
        trial = trials.run(spec)
    except RunTooLong as error:
        return False, f"not checked whether it keeps the {asked.keep} in {horizons} horizons: {error}"
    trials.counted(row.integrator, trial)
    if trial.status != Status.OK:
        return False, f"does not keep the {asked.keep}: within {horizons} horizons it {stopped(trial)}"
    return _keeps_energy(trial, horizons, horizons*asked.t_end) if long else _keeps_exactly(trial, asked.keep)


def _keeps_energy(found: Outcome, horizons: int, t_end: float) -> tuple[bool, str]:
    """Compare the largest deviation in all horizons with that in the first one."""
    recorder = found.accepted or found.outputs
    low, high = (values.reshape(-1, values.shape[-1])[:, 0] for values in (recorder.block_low, recorder.block_high))
    sizes = np.maximum(np.abs(low), np.abs(high))[recorder.block_count.ravel() > 0]
    first, whole = float(sizes[:max(1, len(sizes)//HORIZONS)].max()), float(sizes.max())
    start = float(found.outputs.series[0, 0])  # energy in J, less the work where there is any
    if whole <= ROUND_OFF*np.finfo(float).eps*sqrt(found.steps)*max(abs(start), whole):
        return True, f"energy kept to round-off, {whole:.1e} J in {horizons} horizons"
    drifts = (whole/first if first else inf) > GROWN
    return not drifts, (f"energy error {first:.2g} J in the first tenth of {t_end:g} s, {whole:.2g} J in all:"
                        f" {'it drifts' if drifts else 'no drift'}")


def _keeps_exactly(found: Outcome, keep: str) -> tuple[bool, str]:
    """The momentum or the residuals of the manifold, relative to their size."""
    worst, recorder = 0.0, found.accepted or found.outputs
    for observable in found.formulated.observables:
        largest = np.asarray(recorder.largest)[observable.columns]
        if keep == "momentum" and observable.name == "momentum_map":
            kept = largest[list(observable.conserved)]
            worst = max(worst, float(kept.max(initial=0.0))/(found.formulated.momentum_scale or 1.0))
        if keep == "manifold" and observable.kind == "residual" and observable.units == "1":
            worst = max(worst, float(largest.max(initial=0.0)))
    return worst <= LOST, (f"{keep} kept to {worst:.1e}" if worst <= LOST else
                           f"does not keep the {keep} here: lost {worst:.1e}")


SHOWN = 5  # rows of the table: the winner and its rivals


@dataclass(frozen=True, repr=False)
class Recommendation:
    """The integrator that reaches an error at the least cost, and what else was tried.

    integrator, options  as `simulate` takes them; options are empty where the defaults are meant
    step, tolerance      one of them, the other is None; s, and relative
    error                of this run, the largest at up to ten times in each of 20 parts of the horizon, relative
    seconds              processor time of this run
    choice               winner, runner-up, their ratio, and whether it is a tie
    gap                  how far apart the two references are
    verified             whether the error was measured over the whole horizon; otherwise it is what a power law
                         predicts from the first quarter, with a margin of 3
    kept                 what was asked to be kept, and how well it was, in words
    table                a row for each candidate: what was tried, or why it was not
    """

    problem: str
    t_end: float
    integrator: str
    step: float | None
    tolerance: float | None
    options: Options
    error: float
    seconds: float
    choice: Choice
    gap: float
    verified: bool
    kept: str
    table: tuple[Candidate, ...]

    def text(self, shown: int = SHOWN) -> str:
        """The answer below the first rows of the table, so many."""
        rows = self._rows()[:shown + 1]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        more = len(self.table) - shown
        return "\n".join([*lines, *([f"{more} more: --all, or the attribute table"] if more > 0 else []), "",
                          *self._said()])  # the answer stands where a terminal ends

    __str__ = text

    def __repr__(self) -> str:
        return f"<Recommendation for {self.problem}: {'; '.join(self._said())}>"

    def _repr_html_(self) -> str:
        """For notebooks: the first rows of the table."""
        rows = self._rows()
        cells = "".join(f"<tr><td>{'</td><td>'.join(map(escape, row))}</td></tr>" for row in rows[:SHOWN + 1])
        more = f"<p>{len(rows) - SHOWN - 1} more: print it</p>" if len(rows) > SHOWN + 1 else ""
        return f"<p>{'<br>'.join(map(escape, self._said()))}</p><table>{cells}</table>{more}"

    def _said(self) -> list[str]:
        size = f"step {self.step!r}" if self.step is not None else f"tolerance {self.tolerance:.3g}"
        options = "".join(f", {name} {value}" for name, value in self.options.items())
        how = (f"error {self.error:.2g} over the whole horizon, measured (references differ by {self.gap:.1e})"
               if self.verified else f"error {self.error:.2g} predicted, NOT verified: a power law from the first"
               " quarter of the horizon with a margin of 3; it says nothing where close encounters or chaos follow")
        other = (f"; {self.choice.runner_up} costs {self.choice.ratio:.2f} times as much"
                 f"{', a tie' if self.choice.tie else ''}" if self.choice.runner_up else "")
        lines = [f"{self.integrator}, {size}{options}", how, f"{_seconds(self.seconds)} of processor time{other}"]
        return [*lines, *([self.kept] if self.kept else [])]

    def _rows(self) -> list[tuple[str, ...]]:
        head = ("integrator", "order", "step or tolerance", "error", "time", "runs", "")
        rows: list[tuple[str, ...]] = [head]
        for row in sorted(self.table, key=lambda row: (row.seconds, row.integrator)):
            size = "" if row.size is None else f"{row.size if row.adaptive else self.t_end/row.size:.4g}"
            rows.append((row.integrator, str(row.order or ""), size, f"{row.error:.2g}" if isfinite(row.error) else "",
                         _seconds(row.seconds), str(len(row.tried) or ""), row.reason))
        return rows


def _seconds(value: float) -> str:
    if value == inf:
        return ""
    return f"{value*1e3:.3g} ms" if value < 1.0 else f"{value:.3g} s"
