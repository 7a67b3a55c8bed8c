"""Engines of reference solutions: each gives the rows of the state (time, m, d), as in the first form of the vector
field, at times that start at zero and are equally spaced."""
import itertools
from collections.abc import Callable

import numpy as np

from liestep.catalogue import sheet
from liestep.contracts.sheet import SphereSheet
from liestep.core.cache import loop_for
from liestep.core.driver import evaluate
from liestep.core.status import Status
from liestep.formulations import formulate
from liestep.references.taylor import taylor_series
from liestep.runs.execution import run_once
from liestep.runs.specification import RunSpecification, specify

FALLBACK = "vi_sphere_kl8"      # where no Taylor series can be made
RTOL, ATOL = 3e-14, 1e-15       # scipy takes no rtol below 2.3e-14
MOST_STEPS = 10_000             # between two times: more means a singularity
CLOSE_ENOUGH, SETTLED, DOUBLINGS = 1e-13, 1e-10, 14


class EngineError(RuntimeError):
    """An engine did not reach the last time."""


def state_shape(run: RunSpecification) -> tuple[int, ...]:
    """(m, d) of the state of the vector field in its first form."""
    return formulate(sheet(run.problem), run.parameters, run.initial, "vector_field", {}).start.shape


def right_hand_side(run: RunSpecification) -> tuple[Callable[[float, np.ndarray], np.ndarray], np.ndarray]:
    """(f(t, y), y(0)) of the vector field in its first form for solvers outside the core, y the rows
    of the state in one (m d,)."""
    formulated = formulate(sheet(run.problem), run.parameters, run.initial, "vector_field", {})
    problem, loop = formulated.problem, loop_for(evaluate, formulated.problem)

    def f(t, y):
        out = np.empty_like(formulated.start)
        # scipy would repeat a NaN step for ever
        if not loop(problem, t, y.reshape(out.shape), out) or not np.isfinite(out).all():
            raise EngineError(f"the right-hand side cannot be evaluated at t = {t:.6g}")
        return out.ravel()

    return f, formulated.start.ravel().copy()


def absolute_tolerance(run: RunSpecification, f: Callable, y: np.ndarray, atol: float) -> np.ndarray:
    """`atol` for directions and attitudes. On spheres: for omega times the larger of its size and the root of its rate
    of change at the start; elsewhere: times the length of each row of the state if that is above 1."""
    if isinstance(sheet(run.problem), SphereSheet):
        n = y.size//2
        rate = max(np.abs(y[n:]).max(), np.sqrt(np.abs(f(0.0, y)[n:]).max())) or 1.0
        return np.concatenate([np.full(n, atol), np.full(n, atol*rate)])
    shape = state_shape(run)
    return np.repeat(atol*np.maximum(1.0, np.linalg.norm(y.reshape(shape), axis=1)), shape[1])


def dop853(run: RunSpecification, times: np.ndarray) -> np.ndarray:
    """scipy's DOP853 on the omega form. It steps to each time exactly: its dense output is of
    lower order than its steps."""
    from scipy.integrate import DOP853

    f, y = right_hand_side(run)
    atol = absolute_tolerance(run, f, y, ATOL)
    states, h = [y], None
    for t, end in itertools.pairwise(times):
        solver = DOP853(f, t, y, end, rtol=RTOL, atol=atol, first_step=None if h is None else min(h, end - t))
        for _ in range(MOST_STEPS):
            h = solver.h_abs
            problem = solver.step()
            if solver.status != "running":
                break
        if solver.status != "finished":
            raise EngineError(f"DOP853 stopped at t = {solver.t:.6g}:"
                              f" {problem or f'more than {MOST_STEPS} steps between two times'}")
        y, h = solver.y, max(h or 0.0, solver.h_abs)
        states.append(y)
    return np.array(states).reshape(len(times), *state_shape(run))


def taylor(run: RunSpecification, times: np.ndarray) -> np.ndarray:
    """heyoka's Taylor series: on spheres of the multiplier formulation, elsewhere of the traced vector
    field. Raises NotSymbolic."""
    try:
        return taylor_series(run).trajectory(times)
    except RuntimeError as error:
        raise EngineError(str(error)) from None


def composition(run: RunSpecification, times: np.ndarray) -> np.ndarray:
    """A composition of order 8, its step halved until the solution changes by less than 1e-13, or no longer
    by half as much as before.

    The late part of a chaotic motion changes by as much at every step size, while its beginning still gains digits: the
    step is halved as well while more of the first times change by less than 1e-10, or, as long as there are none, the
    first of all by half as much.
    """
    previous, before, settled_before = None, np.full(len(times), np.inf), 0
    for doubling in range(DOUBLINGS + 1):
        steps = (len(times) - 1) << doubling
        spec = specify(run.problem, FALLBACK, steps=steps, samples=len(times), t_end=run.t_end,
                       parameters=run.parameters, initial=run.initial, statistics_every=steps)
        outcome = run_once(spec)
        if outcome.status != Status.OK:
            continue
        this = outcome.outputs.states
        if previous is not None:
            changes = np.abs(this - previous).reshape(len(times), -1).max(axis=1)
            settled = int(np.argmax(np.append(changes[1:], np.inf) > SETTLED))
            gained = settled > settled_before or (settled == 0 and changes[1] <= 0.5*before[1])
            stuck = np.isfinite(before).all() and changes.max() > 0.5*before.max() and not gained
            if changes.max() < CLOSE_ENOUGH or stuck:
                return this
            before, settled_before = changes, settled
        previous = this
    if previous is None:
        raise EngineError(f"{FALLBACK} failed at every step down to {run.t_end/steps:.3g}: {outcome.status.sentence}")
    return previous


def exact(run: RunSpecification, times: np.ndarray) -> np.ndarray:
    """The solution in Jacobi's elliptic functions, of systems that have one."""
    solution = sheet(run.problem).exact
    if solution is None:
        raise EngineError("it has no exact solution")
    return solution(run.parameters, run.initial, times)


ENGINES = {"dop853": dop853, "taylor": taylor, "composition": composition, "exact": exact}
DESCRIPTIONS = {"dop853": f"scipy DOP853, rtol {RTOL:g}, vector field",
                "taylor": "heyoka Taylor series to round-off, on spheres in the multiplier form",
                "exact": "exact solution", "composition": f"{FALLBACK}, step halved to convergence"}
