"""Time loops of runs that do not simply end: parameters set at given instants (`simulation.endings.control`), and
states within steps for dense output, own output times and events (`simulation.endings.between`).

A file of its own: an edit puts no other run out of date."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import kernel
from liestep.compile.roles import Adaptive, Component, Reader, Recorder, Stepper, Work
from liestep.compile.rows import copy
from liestep.compile.separate import call_address
from liestep.compile.status import Status


class Unread(NamedTuple):
    """Of states that Python reads by itself."""

    nothing: int = 0

    def read(self, t: float, y: np.ndarray) -> None:
        return


@kernel
def renew(recorder: Any, problem: Component, y: np.ndarray) -> None:
    """Integrands at a state whose parameters are new."""
    if recorder.integrals.present():
        problem.observe(y, recorder.scratch)
        for j in range(recorder.integrals.columns.shape[0]):
            recorder.integrals.last[1, j] = recorder.scratch[recorder.integrals.columns[j]]


def advance_held(integrator: Stepper, problem: Component, recorder: Recorder, y: np.ndarray, h: float, first: int,
                 last: int, every: int, ask: int, seen: Reader, work: Work, t_start: float,
                 gone: int) -> tuple[Status, int]:
    """As `liestep.compile.driver.advance`, with a call of the address `ask` at each `every`-th point, from which the
    method starts anew, when `seen` has read the state; the one at the start has been made. Point 0 is number `gone`
    from t_start."""
    for point in range(first + 1 if first > 0 else 0, last + 1):
        status, t = Status.OK, t_start + (gone + point - 1)*h
        if point > 0:
            if (point - 1) % every == 0:
                if point > 1:
                    seen.read(t, y)
                    if call_address(ask, t) != 0:
                        return Status.NOT_EVALUABLE, point - 1
                    renew(recorder, problem, y)
                status = integrator.start(problem, t, y, h, work)
            if status == Status.OK:
                status = integrator.step(problem, t, y, h, work)
        if status == Status.OK:
            status = recorder.record(problem, y, point, point*h)
        if status != Status.OK:
            return status, max(point - 1, 0)
    return Status.OK, last


def advance_held_adaptive(pair: Adaptive, problem: Component, outputs: Recorder, accepted: Recorder, y: np.ndarray,
                          interval: float, first: int, last: int, ask: int, seen: Reader, work: Work, t_start: float,
                          sign: float) -> tuple[Status, int, float]:
    """Intervals from number `first` to `last` by adaptive steps that end with each of them; outputs are its ends.
    Returns (status, number of completed intervals, time since the start)."""
    if first == 0:
        outputs.record(problem, y, 0, 0.0)
        accepted.record(problem, y, 0, 0.0)
    for point in range(first, last):
        begin, done, rejected = point*interval, 0.0, 0.0
        if point > 0:
            seen.read(t_start + sign*begin, y)
            if call_address(ask, t_start + sign*begin) != 0:
                return Status.NOT_EVALUABLE, point, begin
            renew(accepted, problem, y)
        h = pair.start(problem, t_start + sign*begin, y, interval, work)
        while done < interval:
            t, final = t_start + sign*(begin + done), pair.control.reaches(h, interval - done)
            if final:
                h = interval - done
            if not begin + done + 0.0625*h > begin + done:
                return Status.STEP_TOO_SMALL, point, begin + done
            status, error = pair.attempt(problem, t, y, sign*h, work)
            if status == Status.OK and pair.control.accepts(error):
                problem.counters[Counter.STEPS_ACCEPTED] += 1
                pair.accept(problem, y, work)
                done = interval if final else done + h
                if final:
                    status = outputs.record(problem, y, point + 1, sign*(begin + done))
                if status == Status.OK:
                    status = accepted.record(problem, y, problem.counters[Counter.STEPS_ACCEPTED], sign*(begin + done))
                if status != Status.OK:
                    return status, point, begin + done
                h, rejected = pair.control.after_success(h, error, rejected), 0.0
            else:
                problem.counters[Counter.STEPS_REJECTED] += 1
                h = pair.control.after_failure(h, error, rejected)
                rejected += 1.0
    return Status.OK, last, last*interval


def partial_steps(integrator: Stepper, problem: Component, times: np.ndarray, nodes: np.ndarray, lengths: np.ndarray,
                  shares: np.ndarray, states: np.ndarray, values: np.ndarray, work: Work) -> Status:
    """Steps of fixed-step methods: states (n, k, m, d) after the shares (k,) of steps of these lengths (n,) from nodes
    (n, m, d) at their times, each one step of the method, and their observables (n, k, K). A share of 0 is the node."""
    for n in range(times.shape[0]):
        for j in range(shares.shape[0]):
            y, h = states[n, j], shares[j]*lengths[n]
            copy(nodes[n], y)
            if h != 0.0:
                status = integrator.start(problem, times[n], y, h, work)
                if status == Status.OK:
                    status = integrator.step(problem, times[n], y, h, work)
                if status != Status.OK:
                    return status
            problem.observe(y, values[n, j])
    return Status.OK


def interpolated_steps(pair: Adaptive, problem: Component, times: np.ndarray, nodes: np.ndarray, lengths: np.ndarray,
                       shares: np.ndarray, states: np.ndarray, values: np.ndarray, work: Work, whole: bool,
                       span: float) -> Status:
    """The same of adaptive methods, by their interpolant; `whole`: by a step of the method that ends there. span:
    length of the run."""
    pair.control.reaches(1.0, 1.0)  # no step follows
    for n in range(times.shape[0]):
        made = 0.0
        for j in range(shares.shape[0]):
            y, h = states[n, j], (shares[j] if whole else 1.0)*lengths[n]
            copy(nodes[n], y)
            if shares[j] > 0.0 and made != h:
                pair.start(problem, times[n], nodes[n], span, work)
                status, _ = pair.attempt(problem, times[n], nodes[n], h, work)
                if status != Status.OK:
                    return status
                made = h
            if shares[j] > 0.0 and whole:
                pair.accept(problem, y, work)
            elif shares[j] > 0.0:
                pair.interpolate(problem, times[n], nodes[n], h, shares[j], y, work)
            problem.observe(y, values[n, j])
    return Status.OK
