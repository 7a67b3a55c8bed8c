"""The step or tolerance with which one integrator reaches an error at the least cost."""
from dataclasses import dataclass, field
from math import ceil, inf, isfinite, log

from liestep.errors import InputError
from liestep.simulation.catalogue import method
from liestep.simulation.runs.content import stopped
from liestep.tools.recommend.request import INTERVALS
from liestep.tools.recommend.trials import Trials, Try, order_of

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
        good = [one for one in self.tried if one.error <= wanted]
        if good:
            best = min(good, key=lambda one: one.seconds)
            self.size, self.error, self.seconds, self.reason = best.size, best.error, best.seconds, "met the error"
        else:
            self.reason = reason
            if self.tried:
                self.error = self.tried[-1].error
        return self


def search(trials: Trials, integrator: str, first: float, best: float, limit: float) -> Candidate:
    """Runs of one integrator, each step or tolerance chosen from the errors of those before.

    first: number of steps to begin with, or tolerance. best: least cost so far, s; limit: of one run, s."""
    found, wanted = Candidate(integrator, ""), trials.request.error
    try:
        found.order = order_of(trials.request, integrator, first)
        size, reason = first, f"not reached in {TRIES} runs"
        for _ in range(TRIES):
            found.tried.append(_try(trials, integrator, size, found))
            last = found.tried[-1]
            if CLOSE*wanted <= last.error <= wanted:
                break
            new = _next_tolerance(found, wanted) if found.adaptive else _next_steps(found, wanted)
            if isinstance(new, str):
                reason = new
                break
            call = trials.calls.get(integrator, 0.0)  # none where no run has ended
            predicted = call + (last.seconds - call)*_growth(found, last.size, new)
            if isfinite(predicted) and predicted > last.seconds and predicted > min(DROP*best, limit):
                reason = (f"would cost {predicted/best:.2g} times the best" if predicted > DROP*best else
                          f"a run would take {predicted:.2g} s")
                break
            size = new
    except InputError as error:
        return found.settle(wanted, str(error))
    return found.settle(wanted, reason)


def _try(trials: Trials, integrator: str, size: float, found: Candidate) -> Try:
    outcome, seconds = trials.outcome(integrator, size)
    error = trials.error(outcome)
    if not isfinite(error):
        found.reason = stopped(outcome)
    return Try(size, error, seconds)


def _growth(found: Candidate, old: float, new: float) -> float:
    """How many times as many steps a run of the new size makes."""
    return (old/new)**(1.0/max(found.order, 1)) if found.adaptive else new/old


def _next_steps(found: Candidate, wanted: float) -> float | str:
    """The next number of steps, or why there is none."""
    last = found.tried[-1]
    usable = [one for one in found.tried if one.error < USABLE]
    if last.error >= USABLE:
        if len(found.tried) == TRIES:
            return found.reason or f"error {last.error:.1g} with {last.size:.0f} steps"
        new = last.size*(2.0 if len(found.tried) < 4 else 4.0)
    else:
        power = float(found.order)
        if len(usable) > 1 and usable[-1].size != usable[-2].size and min(one.error for one in usable[-2:]) > 0.0:
            power = -log(usable[-1].error/usable[-2].error)/log(usable[-1].size/usable[-2].size)
            if last.error > wanted and last.size > usable[-2].size and power < 0.3:
                return f"its error falls no further than {min(one.error for one in usable):.1e}"
            power = min(found.order + 1.5, max(0.7, power))
        ratio = (last.error/(AIM*wanted))**(1.0/power) if last.error > 0.0 else 0.25
        new = last.size*min(20.0, max(0.1, ratio))
    count = INTERVALS*max(1, ceil(new/INTERVALS*(1.0 - 1e-9)))
    return _between(found, wanted, float(count))


def _between(found: Candidate, wanted: float, count: float) -> float | str:
    """The number of steps, moved between the runs that met the error and those that did not."""
    good = min((one.size for one in found.tried if one.error <= wanted), default=inf)
    bad = max((one.size for one in found.tried if one.error > wanted and one.size < good), default=0.0)
    if good - bad <= INTERVALS:
        return "no number of steps between those that were tried"
    if bad < count < good:
        return count
    if count <= bad:
        return bad + INTERVALS if not isfinite(good) else INTERVALS*ceil(0.5*(bad + good)/INTERVALS)
    return "no number of steps between those that were tried"


def _next_tolerance(found: Candidate, wanted: float) -> float | str:
    last = found.tried[-1]
    usable = [one for one in found.tried if one.error < USABLE and one.error > 0.0]
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
    if max(new/last.size, last.size/new) < LEAST_CHANGE or any(abs(log(new/one.size)) < 0.01 for one in found.tried):
        return "no tolerance between those that were tried"
    return new
