"""The reference of a recommendation: two methods of different classes, and how far apart they are over time."""
from math import inf

import numpy as np

from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.simulation.runs.content import stopped
from liestep.simulation.runs.execution import RunTooLong
from liestep.tools.recommend.request import INTERVALS, Request
from liestep.tools.recommend.trials import Trials, order_of, values_of

FIRST, TOLERANCE = "dop853", 1e-13
# methods of high order, each of another class than the first; the first one that runs on the problem is taken
SECOND = ("vi_sphere weights=kl8", "rodrigues weights=kl8", "lgvi weights=kl8", "rkmk tableau=dormand_prince5",
          "gauss", "vi_livens", "mpl")
AIMED, NEEDED = 10.0, 3.0    # the gap that is aimed at, and the one that is needed, are the error divided by these
MOST_WAITED, DOUBLINGS = 2, 20


def engines(request: Request, able: tuple[str, ...]) -> tuple[str, str]:
    """The two methods. Raises InputError where there are not two."""
    second = next((name for name in SECOND if name in able), None)
    if FIRST not in able or second is None:
        missing = FIRST if FIRST not in able else f"any of {', '.join(SECOND)}"
        raise InputError(f"{request.problem} has no reference: it needs two methods of different classes, and {missing}"
                         " cannot run on it")
    return FIRST, second


def agree(trials: Trials, second: str) -> np.ndarray:
    """Compute the reference of the trials and compare it with a second method, whose steps are halved until both agree
    or no longer approach each other; returns the gap, the largest in each interval. Raises InputError: an engine
    stopped, or the gap is too wide for the error that is asked for; names the time."""
    try:
        found, _ = trials.outcome(FIRST, TOLERANCE)
    except RunTooLong as error:
        raise InputError(f"{trials.request.problem} has no reference: {FIRST}: {error}") from None
    if found.status != Status.OK:
        raise InputError(f"{trials.request.problem} has no reference: {FIRST} {stopped(found)}")
    trials.fields = tuple(part for part in found.formulated.error_fields if part.counted)
    trials.reference, trials.reference_steps = values_of(found), found.steps
    wanted = trials.request.error
    steps = INTERVALS*max(1, found.steps//(4*INTERVALS))
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
    raise InputError(_refusal(trials.request, second, best))


def _agreed(gap: np.ndarray, wanted: float) -> int:
    """Number of the first interval at whose end the gap is too wide."""
    return int(np.argmax(np.append(gap > wanted/NEEDED, True)))


def _refusal(request: Request, second: str, gap: np.ndarray) -> str:
    first = _agreed(gap, request.error)
    time, before = (k*request.t_end/INTERVALS for k in (first, first - 1))
    head = (f"the error {request.error:g} cannot be judged: two references, {FIRST} and {second}, differ by more than a"
            f" third of it from t = {time:.4g} s on, by {gap.max():.1e} up to t = {request.t_end:g} s")
    shorter = f"t_end up to {before:.4g} s," if first > 1 else "a shorter t_end"
    return f"{head}; ask for {shorter} or for an error above {NEEDED*gap.max():.1e}"
