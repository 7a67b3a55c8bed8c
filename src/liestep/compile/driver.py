"""The time loops. Each is compiled once per (integrator, formulation, system) class;
`liestep.compile.cache` keeps the machine code.

Loops can be called again to go on where they stopped: callers run them in pieces to show
progress and to store step logs."""

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import kernel, outlined
from liestep.compile.roles import Adaptive, Component, Problem, Recorder, Stepper, Work
from liestep.compile.status import Status


def advance(integrator: Stepper, problem: Component, recorder: Recorder, y: np.ndarray, h: float, first: int, last: int,
            work: Work, t_start: float, gone: int) -> tuple[Status, int]:
    """Fixed steps from number `first` to `last`, h < 0 for a run backward; y (m, d) is advanced in place. Time is
    t_start + (gone + k) h, never accumulated; the recorder sees k h. gone: steps of the run that this one goes on.
    Returns (status, number of completed steps)."""
    # one call of each method: each is inlined where it is called
    for point in range(first + 1 if first > 0 else 0, last + 1):
        status = Status.OK
        if point > 0:
            status = integrator.step(problem, t_start + (gone + point - 1)*h, y, h, work)
        else:
            status = integrator.start(problem, t_start + gone*h, y, h, work)
        if status == Status.OK:
            status = recorder.record(problem, y, point, point*h)
        if status != Status.OK:
            return status, max(point - 1, 0)
    return Status.OK, last


@kernel
@outlined
def record(recorder: Recorder, problem: Component, y: np.ndarray, k: int, t: float) -> Status:
    """The recorder's method, for calls of the adaptive loop outside its outputs: inlined, they would
    double the compile time."""
    return recorder.record(problem, y, k, t)


@kernel
def record_before(time: float, pair: Adaptive, problem: Component, outputs: Recorder, y: np.ndarray, h: float,
                  out: np.ndarray, memory: np.ndarray, interval: float, work: Work, t_start: float,
                  sign: float) -> Status:
    """Record the outputs that are due before `time`, by dense output of the step from y; memory as in
    `advance_adaptive`."""
    t, k, status = memory[0], int(memory[3]), Status.OK
    while status == Status.OK and k <= outputs.points and k*interval < time:
        pair.interpolate(problem, t_start + sign*t, y, sign*h, (k*interval - t)/h, out, work)
        status = outputs.record(problem, out, k, sign*(k*interval))
        k += 1
    memory[3] = k if status == Status.OK else k - 1  # the one that failed is still due
    return status


NEARLY = 1.0 + 2.0**-40  # a time up to this one is the end; a longest step may be longer, so that it divides a run


def new_memory(longest: float = np.inf) -> np.ndarray:
    """Of the adaptive loop: [t, next step size (0: the method starts at t), rejections since the last accepted step,
    next output, longest step]."""
    return np.array([0.0, 0.0, 0.0, 0.0, longest*NEARLY])


def advance_adaptive(pair: Adaptive, problem: Component, outputs: Recorder, accepted: Recorder, y: np.ndarray,
                     out: np.ndarray, memory: np.ndarray, log: np.ndarray, interval: float, t_end: float, work: Work,
                     t_start: float, sign: float) -> tuple[Status, int]:
    """Adaptive steps up to `t_end` from time t_start, forward (sign = 1) or backward (-1), with output k at k*interval
    by dense output; stops early when `log` is full (RUNNING). Times here count from the start and are positive, as step
    size control sees them; method and system see their own, recorders that from the start with its sign. memory: see
    `new_memory`. log: (steps, 2) accepted time and step. Returns (status, number of entries in log)."""
    if memory[1] == 0.0:
        memory[1] = pair.start(problem, t_start + sign*memory[0], y, t_end - memory[0], work)
    if memory[3] == 0.0:
        status = record(outputs, problem, y, 0, 0.0)
        if status == Status.OK:
            status = record(accepted, problem, y, 0, 0.0)
        memory[3] = 1.0
        if status != Status.OK:
            return status, 0
    entries = 0
    while memory[0] < t_end:
        if entries == log.shape[0]:
            return Status.RUNNING, entries
        t, remaining = memory[0], t_end - memory[0]
        h = memory[1]
        if h > memory[4]:
            h = memory[4]
        final = pair.control.reaches(h, remaining) and remaining <= memory[4]
        if final:
            h = remaining
        if not t + 0.0625*h > t:
            return Status.STEP_TOO_SMALL, entries
        status, error = pair.attempt(problem, t_start + sign*t, y, sign*h, work)
        if status == Status.OK and pair.control.accepts(error):
            time = t_end if final else t + h
            problem.counters[Counter.STEPS_ACCEPTED] += 1
            status = record_before(time, pair, problem, outputs, y, h, out, memory, interval, work, t_start, sign)
            if status != Status.OK:
                return status, entries
            pair.accept(problem, y, work)
            k = int(memory[3])
            if k <= outputs.points and (k*interval == time or (final and k*interval <= time*NEARLY)):
                status = record(outputs, problem, y, k, sign*time)
                k += 1
            if status == Status.OK:
                status = record(accepted, problem, y, problem.counters[Counter.STEPS_ACCEPTED], sign*time)
            if status != Status.OK:
                return status, entries
            log[entries, 0], log[entries, 1] = time, h
            entries += 1
            memory[3] = k
            memory[1] = pair.control.after_success(h, error, memory[2])
            memory[0], memory[2] = time, 0.0
        else:
            problem.counters[Counter.STEPS_REJECTED] += 1
            pair.rejected(h)
            memory[1] = pair.control.after_failure(h, error, memory[2])
            memory[2] += 1.0
    return Status.OK, entries


def evaluate(problem: Problem, t: float, y: np.ndarray, out: np.ndarray) -> bool:
    """One right-hand side, for solvers outside the core (references)."""
    return problem.rhs(t, y, out)


def observe(problem: Component, y: np.ndarray, out: np.ndarray) -> None:
    """Observables of one state."""
    problem.observe(y, out)
