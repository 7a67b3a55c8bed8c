"""Engines of reference solutions: each gives the rows of the state (time, m, d), as in the standard form, at times that
start at zero and are equally spaced. They measure errors against the sizes of fields, so that units do not matter."""
import itertools
from collections.abc import Callable

import numpy as np

from liestep.compile.cache import loop_for
from liestep.compile.driver import evaluate
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.integrators.sizes import NUDGE, NumberGroups, any_at_zero, note_rates, nudge, sizes_of
from liestep.mechanics.contracts.formulated import Formulated
from liestep.mechanics.formulations import formulate, formulate_standard
from liestep.mechanics.formulations.symbolic import NotSymbolic, SeriesEquations, traced_field
from liestep.simulation.catalogue import method, own_integrators, ranked
from liestep.simulation.runs.execution import Outcome, run_once
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.specified import RunSpecification

Field = Callable[[float, np.ndarray], np.ndarray]  # f(t, y), y the rows of a state in one array
INCREMENT = 1e-6                                   # of the time in which the state changes, for a difference of rates
MOVE = 2.0**-10                                    # of a state's numbers, to see forces that vanish with their slopes


def largest(groups: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Largest number of each group; further dimensions of rows are others of the same groups."""
    sizes = np.zeros(int(groups.max(initial=0)) + 1)
    np.maximum.at(sizes, groups, np.abs(rows).reshape(*groups.shape, -1).max(axis=-1))
    return sizes


def characteristic_time(f: Field, formulated: Formulated, most: float) -> float:
    """Time in which a field changes by its own size, from its rate and, so that a start from rest has one, from the
    rate of this rate; at most `most`."""
    start, (groups, _) = formulated.start, sizes_of(formulated)
    rates, size = f(0.0, start.ravel()), largest(groups, start)

    def shortest(change: np.ndarray, power: float) -> float:
        change = largest(groups, change.reshape(start.shape))
        moves = (size > 0.0) & (change > 0.0)
        return float(((size[moves]/change[moves])**power).min(initial=most))

    time = shortest(rates, 1.0)
    later = INCREMENT*time
    return min(time, shortest((f(0.0, start.ravel() + later*rates) - rates)/later, 0.5))


def start_sizes(f: Field, formulated: Formulated, time: float) -> np.ndarray:
    """Size of each group of rows: its largest number, or that of its rate times `time` where it starts at zero."""
    start, (places, sizes) = formulated.start, sizes_of(formulated)
    groups = NumberGroups(places)
    rates, nudged = f(0.0, start.ravel()).reshape(start.shape), np.zeros_like(start)
    if any_at_zero(groups, sizes, start):
        note_rates(groups, sizes, rates, 1.0)
        for _ in range(2):  # as `rates_from_zero`
            nudge(groups, sizes, start, time, nudged)
            note_rates(groups, sizes, f(0.0, nudged.ravel()).reshape(start.shape) - rates, 1.0/NUDGE)
        # bonds that are straight at the start have neither torques nor slopes of them, and some later
        moved = start*(1.0 + MOVE*(-1.0)**np.add(*np.indices(start.shape)))
        note_rates(groups, sizes, f(0.0, moved.ravel()).reshape(start.shape) - rates, 1.0)
    return np.maximum(largest(places, start), time*sizes[2])


RTOL, ATOL = 3e-14, 1e-15       # scipy takes no rtol below 2.3e-14
MOST_STEPS = 10_000             # most steps between two times; more of them mean a singularity
TAYLOR_TOLERANCE = 2.3e-16      # of the step size control of `taylor_core`
CLOSE_ENOUGH, SETTLED, DOUBLINGS = 1e-13, 1e-10, 14
# where the convergence is irregular: halvings without half the change, and most steps times rows of the state
PATIENCE, MOST_ROWS = 2, 32_000_000
LARGEST_RATIO = 64.0  # of the size of a field to the unit of its variables; above, the step's control sees little else


class EngineError(RuntimeError):
    """An engine did not reach the last time."""


def state_shape(run: RunSpecification) -> tuple[int, ...]:
    """(m, d) of the state of the standard form."""
    return formulate_standard(run.sheet, run.parameters, run.initial).start.shape


def right_hand_side(run: RunSpecification) -> tuple[Field, np.ndarray]:
    """(f(t, y), y(0)) of the vector field with default options for solvers outside the core, y the rows of the state
    in one array."""
    formulated = formulate(run.sheet, run.parameters, run.initial, "vector_field", {})
    problem, loop = formulated.problem, loop_for(evaluate, formulated.problem)
    call: Callable = loop

    def f(t, y):
        nonlocal call
        out = np.zeros_like(formulated.start)  # rows narrower than the state's width leave their last numbers unwritten
        # scipy would repeat a NaN step for ever
        if not call(problem, t, y.reshape(out.shape), out) or not np.isfinite(out).all():
            raise EngineError(f"the right-hand side cannot be evaluated at t = {t:.6g}")
        call = loop.call  # what the first call prepares takes longer than the equations
        return out.ravel()

    return f, formulated.start.ravel().copy()


def absolute_tolerance(run: RunSpecification, f: Callable, atol: float) -> np.ndarray:
    """`atol` times the size of each number's field at the start, for each number of a state."""
    formulated = formulate_standard(run.sheet, run.parameters, run.initial)
    sizes = start_sizes(f, formulated, characteristic_time(f, formulated, run.t_end))
    sizes[sizes == 0.0] = 1.0  # nothing moves it
    return np.ravel(atol*sizes[sizes_of(formulated)[0]])


def dop853(run: RunSpecification, times: np.ndarray) -> np.ndarray:
    """scipy's DOP853 on the vector field. It steps to each time exactly: its dense output is of
    lower order than its steps."""
    from scipy.integrate import DOP853

    f, y = right_hand_side(run)
    atol = absolute_tolerance(run, f, ATOL)
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


class TaylorSeries:
    """A compiled series of differential equations, by heyoka. heyoka's control of the step looks at the largest number
    of all: each field is counted in its own unit, a power of two near its size, unless all sizes are near one."""

    def __init__(self, equations: SeriesEquations, tolerance: float | None, groups: np.ndarray, sizes: np.ndarray):
        """tolerance is that of the step size control; None: round-off. groups: which field each variable belongs to;
        sizes: of these at the start."""
        self.equations, self.tolerance, self.groups = equations, tolerance, groups
        self._compile(sizes)

    def _compile(self, sizes: np.ndarray) -> None:
        import heyoka

        self.sizes, moves = sizes, sizes > 0.0
        units = np.ones(len(sizes))
        if not ((sizes[moves] < LARGEST_RATIO) & (sizes[moves] > 1.0/LARGEST_RATIO)).all():
            units[moves] = 2.0**np.round(np.log2(sizes[moves]))
        self.units = units[self.groups]
        scaled = {str(name): unit*name for (name, _), unit in zip(self.equations.equations, self.units, strict=True)
                  if unit != 1.0}
        equations = [(name, heyoka.subs(rate, scaled)/unit if scaled else rate)
                     for (name, rate), unit in zip(self.equations.equations, self.units, strict=True)]
        # Compact mode and light optimisation: the rod of 10 elements compiles in 4 s, with the
        # defaults in 10 s and more.
        self.series = heyoka.taylor_adaptive(
            equations, (self.equations.start/self.units).tolist(), compact_mode=True, opt_level=1, high_accuracy=True,
            **({} if self.tolerance is None else {"tol": self.tolerance}))

    def trajectory(self, times: np.ndarray) -> np.ndarray:
        """Rows of the standard form at `times` (the first one is the start), (time, m, d). Raises RuntimeError: the
        integration stopped before the last time."""
        import heyoka

        while True:
            self.series.time, self.series.state[:] = 0.0, self.equations.start/self.units
            outcome, *_, states = self.series.propagate_grid(np.ascontiguousarray(times))
            if outcome != heyoka.taylor_outcome.time_limit:
                raise RuntimeError(f"the Taylor series stopped at t = {self.series.time:.6g}")
            values = states.reshape(len(times), -1)*self.units
            sizes = np.maximum(self.sizes, largest(self.groups, values.T))
            if (largest(self.groups, states.reshape(len(times), -1).T) <= LARGEST_RATIO).all():
                return self.equations.to_rows(values)
            self._compile(sizes)  # of the whole motion


def taylor_series(run: RunSpecification, f: Field, tolerance: float | None = None) -> TaylorSeries:
    """The series of a system from one start; f: its vector field. Raises NotSymbolic: the equations cannot be written
    as expressions, or they would be too large."""
    facts = run.sheet
    formulated = formulate(facts, run.parameters, run.initial, "vector_field", {})
    equations = (traced_field(formulated) if facts.series is None else facts.series(run.parameters, run.initial))
    sizes = start_sizes(f, formulated, characteristic_time(f, formulated, run.t_end))
    # variables of a system's own series are those of the rows, or their rates
    return TaylorSeries(equations, tolerance, sizes_of(formulated)[0].ravel()[:len(equations.start)], sizes)


def taylor(run: RunSpecification, times: np.ndarray) -> np.ndarray:
    """heyoka's Taylor series of the equations that the system declares, else of the traced vector field. Raises
    NotSymbolic."""
    try:
        return taylor_series(run, right_hand_side(run)[0]).trajectory(times)
    except RuntimeError as error:
        raise EngineError(str(error)) from None


def core_series() -> str:
    """The integrator of this package that makes Taylor series of vector fields."""
    return next(name for name in own_integrators()
                if method(name).traced is not None and method(name).formulation == "vector_field")


def taylor_core(run: RunSpecification, times: np.ndarray) -> np.ndarray:
    """The integrator `core_series`, jets of order 15 with steps for round-off; its dense output is as accurate as its
    steps. Raises NotSymbolic."""
    try:
        spec = specify(run.problem, core_series(), tolerance=TAYLOR_TOLERANCE, outputs=len(times), samples=len(times),
                       t_end=run.t_end, parameters=run.parameters, initial=run.initial)
        outcome = run_once(spec)
    except InputError as error:
        raise NotSymbolic(str(error)) from None
    if outcome.status != Status.OK:
        raise EngineError(f"{spec.integrator} stopped at t = {outcome.time_reached:.6g}: {outcome.status.sentence}")
    return _standard_rows(run, outcome)


def stand_in(run: RunSpecification) -> str | None:
    """The integrator that stands in for an engine that cannot treat the system, if it declares a fallback. Raises
    EngineError: none can run on it."""
    formulation = run.sheet.fallback_for(run.parameters)
    if formulation is None:
        return None
    for name in ranked("stands_in", formulation):
        if method(name).lacks(run.sheet, run.parameters) is None:
            return name
    raise EngineError(f"no integrator of the fallback {formulation!r} that the system declares runs on it")


def composition(run: RunSpecification, times: np.ndarray) -> np.ndarray:
    """The system's fallback, an integrator of high order, its step halved until each field changes by less than 1e-13
    of its size, or no longer by half as much as before.

    The late part of a chaotic motion changes by as much at every step size, while its beginning still gains digits: the
    step is halved as well while more of the first times change by less than 1e-10, or, as long as there are none, the
    first of all by half as much. Where a system declares an irregular convergence, only two halvings in a row without
    half the change end it, or MOST_ROWS rows of states."""
    facts = run.sheet
    integrator = stand_in(run)
    if integrator is None:
        raise EngineError("no Taylor series can be made, and the system declares no fallback engine")
    previous, before, settled_before, failed = None, np.full(len(times), np.inf), 0, 0
    groups = formulate_standard(facts, run.parameters, run.initial).groups
    irregular, rows = facts.irregular(run.parameters), len(groups)
    for doubling in range(DOUBLINGS + 1):
        steps = (len(times) - 1) << doubling
        spec = specify(run.problem, integrator, steps=steps, samples=len(times), t_end=run.t_end,
                       parameters=run.parameters, initial=run.initial, statistics_every=steps)
        outcome = run_once(spec)
        if outcome.status != Status.OK:
            continue
        this = _standard_rows(run, outcome)
        if previous is not None:
            sizes = largest(groups, np.abs(this).max(axis=0))[groups]  # of fields, along the motion
            sizes[sizes == 0.0] = 1.0
            changes = (np.abs(this - previous).max(axis=2)/sizes).max(axis=1)
            settled = int(np.argmax(np.append(changes[1:], np.inf) > SETTLED))
            gained = settled > settled_before or (settled == 0 and changes[1] <= 0.5*before[1])
            stuck = np.isfinite(before).all() and changes.max() > 0.5*before.max() and not gained
            failed = failed + 1 if stuck else 0
            if changes.max() < CLOSE_ENOUGH or failed >= (PATIENCE if irregular else 1):
                return this
            if irregular and 2*steps*rows > MOST_ROWS:
                return this
            before, settled_before = changes, settled
        previous = this
    if previous is None:
        raise EngineError(f"{integrator} failed at every step down to {run.t_end/steps:.3g}: {outcome.status.sentence}")
    return previous


def _standard_rows(run: RunSpecification, outcome: Outcome) -> np.ndarray:
    """Rows of a run's states in the standard form of its problem, (time, m, d)."""
    facts, rows = run.sheet, outcome.outputs.states
    standard = formulate_standard(facts, run.parameters, run.initial)
    if np.array_equal(standard.start, outcome.formulated.start):
        return rows
    fields = outcome.formulated.to_fields(rows)
    return np.array([formulate_standard(facts, run.parameters, {name: fields[name][k] for name in run.initial}).start
                     for k in range(len(rows))])


def exact(run: RunSpecification, times: np.ndarray) -> np.ndarray:
    """The exact solution, of systems that have one."""
    solution = run.sheet.exact
    if solution is None:
        raise EngineError("it has no exact solution")
    return solution(run.parameters, run.initial, times)


Engine = Callable[[RunSpecification, np.ndarray], np.ndarray]
DESCRIPTIONS: dict[Engine, str] = {
    dop853: f"scipy DOP853, rtol {RTOL:g}, vector field",
    taylor: "heyoka Taylor series to round-off, on spheres in the multiplier form",
    taylor_core: f"liestep Taylor series of order 15, tolerance {TAYLOR_TOLERANCE:g}",
    composition: "step halved to convergence", exact: "exact solution"}
ENGINES = {engine.__name__: engine for engine in DESCRIPTIONS}
USUAL = dop853.__name__, taylor.__name__
FIELD_ENGINES = dop853.__name__, taylor_core.__name__   # integrate the vector field, as a traced Taylor series does


def description(engine: str, run: RunSpecification) -> str:
    """An engine in words."""
    words = DESCRIPTIONS[ENGINES[engine]]
    return f"{stand_in(run)}, {words}" if ENGINES[engine] is composition else words
