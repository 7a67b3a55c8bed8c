"""timings.csv: seconds of every run of a study, compilation and statistics excluded. It is processor time of the
thread, so that other work on the machine counts less. Times are products of their own: no run's file holds any, so that
runs repeat byte for byte."""
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import nan
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING

import numpy as np

from liestep.compile.cache import loop_for
from liestep.compile.driver import advance, advance_adaptive, new_memory
from liestep.compile.status import Status
from liestep.errors import PluginError
from liestep.files.textfiles import TableRow, write_text_atomically
from liestep.mechanics.formulations import formulate_standard
from liestep.mechanics.formulations.symbolic import NotSymbolic
from liestep.simulation.machine_code.straight import for_loop
from liestep.simulation.references import engines
from liestep.simulation.references.reference import study_reference
from liestep.simulation.runs.execution import STEP_LOG, build, new_integrals, new_recorder
from liestep.simulation.runs.files import require_current
from liestep.simulation.runs.specified import RunSpecification
from liestep.study.tables.errors import error_history
from liestep.study.tables.liestep_tables import csv_text

if TYPE_CHECKING:  # recommendations time runs without any study
    from liestep.study.plan.plan import Study

COLUMNS = ("study", "problem", "integrator", "resolution", "runtime", "tolerance", "seconds", "repeats", "error",
           "run_sha256")
REPEATS, MOST_REPEATS, ENOUGH = 3, 50, 0.02  # fewest and most repetitions; seconds after which no more are made
LONG = 0.1             # seconds; a call that takes longer is repeated twice only
PIECE = 0.03           # seconds; a longer run of fixed steps is timed by its first steps
NO_STATISTICS = 2**62
SCIPY_TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
TAYLOR_TOLERANCES = (1e-6, 1e-15)


def time_study(study: "Study") -> tuple[Path, int]:
    """Time all runs and write timings.csv; returns its path and the number of rows. Rows with runtime "core" are the
    study's runs. With references there are rows of other runtimes for each problem: scipy's DOP853 on the same compiled
    right-hand side, and heyoka's Taylor series, with their errors; their overhead is not that of the core. Raises
    InputError: a reference is missing or stale."""
    rows = [{"study": study.name, **row}
            for row in (*_core_rows(study), *(_other_rows(study) if study.config.reference else ()))]
    path = study.folder/"timings.csv"
    write_text_atomically(path, csv_text(COLUMNS, rows))
    return path, len(rows)


def _core_rows(study: "Study") -> Iterator[TableRow]:
    """Steps of a method without iterations all cost the same: of such a sweep only the run of most steps is timed."""
    found: dict[str, tuple[float, int]] = {}
    for sweep in study.sweeps:
        longest = max(sweep.cells, key=lambda cell: cell.spec.steps or 0)
        most = longest.spec.steps
        if most and not require_current(longest.path, longest.spec, names=()).attributes["iterations"]:
            seconds, repeats = time_run(longest.spec)
            if seconds == seconds:
                found |= {cell.spec.sha256: (seconds*(cell.spec.steps or 0)/most, repeats) for cell in sweep.cells}
    for cell in study.cells:
        seconds, repeats = found.get(cell.spec.sha256) or time_run(cell.spec)
        yield {"problem": cell.problem, "integrator": cell.integrator, "resolution": cell.resolution, "runtime": "core",
               "tolerance": cell.spec.tolerance, "seconds": seconds, "repeats": repeats, "run_sha256": cell.spec.sha256}


def time_run(spec: RunSpecification) -> tuple[float, int]:
    """Seconds of one trajectory (the shortest of several repetitions) and their number; NaN for a run that stops early.
    The clock runs during the call of the compiled loop. Of a run of fixed steps that takes longer than PIECE only the
    first steps are made, and the time is scaled: every step does the same work, up to the number of iterations."""
    try:
        once, share = timer(spec)
    except PluginError:
        return nan, 0
    seconds, repeats = shortest(once)
    return seconds/share, repeats


def timer(spec: RunSpecification) -> tuple[Callable[[], float], float]:
    """(function that makes a run, or its first steps, and returns the seconds they took, NaN if it stopped early; the
    share of the run that it makes). Raises PluginError for code that cannot be compiled."""
    spec = replace(spec, statistics_every=NO_STATISTICS, samples=2, outputs=2, replicas=1, ensemble=None)
    if spec.steps is None:
        whole = _adaptive(spec)
        return lambda: whole(spec.t_end), 1.0
    once = _fixed(spec)
    once(1)  # compiles
    total = steps = spec.steps
    trial = min(steps, 50)
    estimate = once(trial)*steps/trial
    if estimate > PIECE:
        steps = max(trial, int(steps*PIECE/estimate))
    return lambda: once(steps), steps/total


def shortest(once: Callable[[], float]) -> tuple[float, int]:
    """Shortest of REPEATS repetitions, more for short ones, two for those longer than LONG; their number."""
    times: list[float] = []
    while (len(times) < (2 if times and times[0] > LONG else REPEATS)
           or (sum(times) < ENOUGH and len(times) < MOST_REPEATS)):
        times.append(once())
        if times[-1] != times[-1]:
            return nan, len(times)
    return min(times), len(times)


def _fixed(spec: RunSpecification) -> Callable[[int], float]:
    """Function that makes the first steps of the run and returns the seconds they took, NaN if one failed."""
    formulated, integrator = build(spec)
    assert spec.steps is not None
    recorder = new_recorder(formulated.start.shape, np.zeros(formulated.width), spec.steps, 2, NO_STATISTICS,
                            integrals=new_integrals(formulated.observables, integrate=False))
    work = integrator.workspace(formulated.problem, formulated.start)
    problem, integrator = for_loop(formulated, integrator)
    loop = loop_for(advance, integrator, problem, recorder, work)

    def once(steps: int) -> float:
        y = formulated.start.copy()
        begin = thread_time()
        status, _ = loop(integrator, problem, recorder, y, spec.step, 0, steps, work, 0.0, 0)
        return thread_time() - begin if status == Status.OK else nan

    return once


def _adaptive(spec: RunSpecification) -> Callable[[float], float]:
    """The same for an adaptive run up to t_end; the first call compiles."""
    formulated, pair = build(spec)
    work, width = pair.workspace(formulated.problem, formulated.start), formulated.width
    problem, pair = for_loop(formulated, pair)

    def once(t_end: float) -> float:
        y, out, memory, log = (formulated.start.copy(), np.zeros_like(formulated.start), new_memory(spec.longest),
                               np.zeros((STEP_LOG, 2)))
        none = new_integrals(formulated.observables, integrate=False)
        outputs = new_recorder(y.shape, np.zeros(width), 1, 2, NO_STATISTICS, integrals=none)
        accepted = new_recorder(y.shape, np.zeros(width), 1, 0, NO_STATISTICS, integrals=none)
        loop = loop_for(advance_adaptive, pair, problem, outputs, accepted, work)
        begin, status = thread_time(), Status.RUNNING
        while status == Status.RUNNING:
            status, _ = loop(pair, problem, outputs, accepted, y, out, memory, log, t_end, t_end, work, 0.0, 1.0)
        return thread_time() - begin if status == Status.OK else nan

    once(1e-3*spec.t_end)
    return once


def _other_rows(study: "Study") -> Iterator[TableRow]:
    """scipy and heyoka on each problem."""
    for problem in study.config.problems:
        path, spec = study_reference(study, problem)
        reference = require_current(path, spec)
        formulated, kept = formulate_standard(spec.run.sheet, spec.run.parameters, spec.run.initial), list[np.ndarray]()
        for name, tolerances, make in (("scipy_dop853", SCIPY_TOLERANCES, _scipy),
                                       ("heyoka_taylor", TAYLOR_TOLERANCES, _taylor)):
            for tolerance in tolerances:
                try:
                    solve = make(spec.run, tolerance, reference["time"])
                    seconds, repeats = shortest(partial(_clocked, solve, kept))
                    fields = formulated.to_fields(kept[0])
                except (NotSymbolic, engines.EngineError):
                    continue
                error = float(error_history(list(formulated.error_fields), fields, reference).max())
                yield {"problem": problem, "integrator": name, "resolution": f"tol{tolerance:.6g}",
                       "runtime": "other runtime", "tolerance": tolerance, "seconds": seconds, "repeats": repeats,
                       "error": error}


def _scipy(run: RunSpecification, tolerance: float, times: np.ndarray) -> Callable[[], np.ndarray]:
    from scipy.integrate import solve_ivp

    f, y = engines.right_hand_side(run)
    atol, shape = engines.absolute_tolerance(run, f, 0.1*tolerance), engines.state_shape(run)

    def solve():
        return solve_ivp(f, (0.0, run.t_end), y, method="DOP853", rtol=tolerance, atol=atol,
                         t_eval=times).y.T.reshape(len(times), *shape)

    return solve


def _taylor(run: RunSpecification, tolerance: float, times: np.ndarray) -> Callable[[], np.ndarray]:
    series = engines.taylor_series(run, engines.right_hand_side(run)[0], tolerance)
    return lambda: series.trajectory(times)


def _clocked(solve: Callable[[], np.ndarray], kept: list[np.ndarray]) -> float:
    """Seconds that `solve` takes, whose last result is kept."""
    begin = thread_time()
    kept[:] = [solve()]
    return thread_time() - begin
