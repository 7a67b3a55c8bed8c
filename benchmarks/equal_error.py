"""Seconds to reach the same error: integrators of the core, and scipy's solve_ivp on numpy and on
compiled right-hand sides."""
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks import arrays
from liestep.compile.cache import loop_for
from liestep.compile.driver import evaluate
from liestep.compile.status import Status
from liestep.simulation.runs.execution import build, run_once
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.specified import RunSpecification

TARGETS = (1e-5, 1e-8)
TOLERANCES = tuple(10.0**-k for k in range(3, 13))
REFERENCE_TOLERANCE = 1e-13
ENOUGH = 0.1  # seconds after which a measurement is not repeated
METHODS = ("vi_sphere", "vi_sphere weights=y4", "vi_sphere weights=kl6", "rkmk", "rk4", "dop853")

Curve = list[tuple[float, float]]  # (largest error of a component at the end, seconds), finer and finer


@dataclass(frozen=True)
class Problem:
    """A short horizon of a problem; fixed-step methods are tried at `steps` 2^k steps."""

    label: str
    system: str
    t_end: float
    steps: int
    preset: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def specify(self, integrator: str, **size) -> RunSpecification:
        """Specification with the start and the end as only outputs, no statistics between."""
        more = ({"statistics_every": size["steps"]}
                if "steps" in size else {"outputs": 2, "options": {"atol": size["tolerance"]}})
        return specify(self.system, integrator, t_end=self.t_end, preset=self.preset, parameters=self.parameters,
                       samples=2, **size, **more)


PROBLEMS = (
    Problem("double pendulum, T = 10", "spherical_pendulum_chain", 10.0, 50, "paper_scaled"),
    Problem("three bodies, T = 3", "sphere_nbody", 3.0, 50),
    Problem("elastic rod n = 10, T = 0.05", "elastic_rod", 0.05, 100),
    Problem("elastic rod n = 100, T = 0.001", "elastic_rod", 0.001, 10, parameters={"elements": 100}),
    Problem("molecules n = 162, T = 0.25", "lennard_jones_sphere", 0.25, 20, "level2"),
)


def compare(problems: Iterable[Problem] = PROBLEMS) -> Iterator[dict[str, Any]]:
    """One row per problem and error: the fastest of each group, and how many times slower it is
    than the core's fastest."""
    for problem in problems:
        end = run_once(problem.specify("dop853", tolerance=REFERENCE_TOLERANCE)).outputs.states[-1]
        curves = {name: _curve(_core_runs(problem, name), end) for name in METHODS}
        spec = problem.specify("dop853", tolerance=1e-8)
        for kind, rhs in (("numpy", _numpy_rhs(spec)), ("compiled", _compiled_rhs(spec))):
            curves |= {f"{name}, {kind}": _curve(_scipy_runs(spec, rhs, name), end) for name in ("RK45", "DOP853")}
        for target in TARGETS:
            row: dict[str, Any] = {"problem": problem.label, "error": target}
            groups = {"core": METHODS, "solve_ivp, numpy": ("RK45, numpy", "DOP853, numpy"),
                      "solve_ivp, compiled": ("RK45, compiled", "DOP853, compiled")}
            for group, names in groups.items():
                seconds, name = min((_seconds_at(curves[name], target), name) for name in names)
                row |= {group: name.split(",")[0], f"{group} ms": 1e3*seconds}
            yield row | {f"{group}/core": row[f"{group} ms"]/row["core ms"] for group in list(groups)[1:]}


def _curve(runs: Iterable[Callable[[], np.ndarray | None]], end: np.ndarray) -> Curve:
    """Errors and times of runs, finer and finer, until the smallest target is met."""
    curve: Curve = []
    for run in runs:
        rows = run()
        if rows is not None:
            curve.append((float(np.max(np.abs(rows - end))), _seconds(run)))
            if curve[-1][0] < TARGETS[-1]:
                break
    return curve


def _seconds(call: Callable[[], Any]) -> float:
    """Processor time, the shortest of some repetitions."""
    best, total = np.inf, 0.0
    for _ in range(20):
        start = time.thread_time()
        call()
        best = min(best, time.thread_time() - start)
        total += best
        if total > ENOUGH:
            break
    return best


def _seconds_at(curve: Curve, target: float) -> float:
    """Between two neighbours on logarithmic scales, else of the first run with a smaller error;
    infinite if there is none."""
    for (e, s), (f, t) in pairwise(curve):
        if e >= target > f:
            return float(np.exp(np.interp(np.log(e/target)/np.log(e/f), [0.0, 1.0], np.log([s, t]))))
    return next((s for e, s in curve if e < target), np.inf)


def _core_runs(problem: Problem, name: str) -> Iterator[Callable[[], np.ndarray | None]]:
    sizes = ([{"tolerance": value} for value in TOLERANCES]
             if name == "dop853" else [{"steps": problem.steps*2**k} for k in range(12)])
    for size in sizes:
        spec = problem.specify(name, **size)

        def run(spec=spec):
            outcome = run_once(spec)
            return outcome.outputs.states[-1] if outcome.status == Status.OK else None
        yield run


def _scipy_runs(spec: RunSpecification, rhs: Callable, name: str) -> Iterator[Callable[[], np.ndarray]]:
    start = build(spec)[0].start
    for tolerance in TOLERANCES:
        def run(tolerance=tolerance):
            solution = solve_ivp(rhs, (0.0, spec.t_end), start.ravel(), method=name, rtol=tolerance, atol=tolerance)
            return solution.y[:, -1].reshape(start.shape)
        yield run


def _numpy_rhs(spec: RunSpecification) -> Callable:
    formulated = build(spec)[0]
    lagrangian, shape = formulated.problem.lagrangian, formulated.start.shape
    rhs = arrays.right_hand_side(arrays.potential_gradient(spec.problem, lagrangian.system), lagrangian.mass)
    return lambda t, y: rhs(y.reshape(shape)).ravel()


def _compiled_rhs(spec: RunSpecification) -> Callable:
    formulated = build(spec)[0]
    loop, out = loop_for(evaluate, formulated.problem), np.zeros_like(formulated.start)

    def rhs(t, y):
        loop(formulated.problem, t, y.reshape(out.shape), out)
        return out.flatten()

    return rhs
