"""Mechanisms: the core beside C counterparts of the same formulas and of dense elimination, and time of the maps beside
quaternions as state vectors."""
import ctypes
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.counterparts import FLAGS, SOURCES
from benchmarks.timing import interleaved, median, ratio
from liestep.compile.cache import loop_for
from liestep.compile.driver import advance
from liestep.compile.status import Status
from liestep.simulation.machine_code.straight import for_loop
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.execution import build, new_recorder
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.specified import RunSpecification

PROBLEMS = (("free body", "jointed_body", "free", 4000, 1e-3),
            ("fast top", "jointed_body", "bruels_cardona", 4000, 1e-4),
            ("double pendulum", "body_chain", "double_pendulum", 2000, 1e-4),
            ("four-bar", "four_bar", "tilted", 1000, 1e-4))
ALPHA = (("free body", "jointed_body", "free", 4000, 1e-3), ("fast top", "jointed_body", "bruels_cardona", 4000, 1e-4),
         ("double pendulum", "body_chain", "double_pendulum", 2000, 1e-4),
         ("chain of 10", "body_chain", "chain_10", 400, 1e-4), ("chain of 100", "body_chain", "chain_100", 40, 1e-4))
CHAIN = Path(__file__).parents[1]/"papers"/"lgt2022"/"studies"/"body_chain.py"
MAPS = {"1a": {}, "1b": {"action": "so3_r3"}, "2b": {"action": "so3_r3", "attitude": "rotation_vector"}}
SAME = 1e-9  # largest difference of the states of core and counterpart, relative
NO_STATISTICS = 2**62
_folder = tempfile.TemporaryDirectory(prefix="liestep-mechanisms-")


@cache
def counterpart(se3: bool, dense: bool, alpha: bool = False) -> ctypes.CDLL:
    """The compiled counterpart; `alpha`: the generalized-alpha method instead of the Runge-Kutta one."""
    target = Path(_folder.name)/f"mechanism-{int(se3)}-{int(dense)}-{int(alpha)}.so"
    subprocess.run(["gcc", *FLAGS, f"-DSE3={int(se3)}", f"-DDENSE={int(dense)}", f"-DALPHA={int(alpha)}", "-o",
                    str(target), str(SOURCES/"mechanism.c"), "-lm"], check=True)
    return ctypes.CDLL(str(target))


def core_call(spec: RunSpecification) -> tuple[Any, np.ndarray]:
    """Function that makes all steps of a run without statistics, and the state on which it works."""
    formulated, integrator = build(spec)
    y = formulated.start.copy()
    assert spec.steps is not None
    recorder = new_recorder(y.shape, np.zeros(formulated.width), spec.steps, 2, NO_STATISTICS)
    work = integrator.workspace(formulated.problem, y)
    problem, integrator = for_loop(formulated, integrator)
    loop = loop_for(advance, integrator, problem, recorder, work)

    def call() -> None:
        status, _ = loop(integrator, problem, recorder, y, spec.step, 0, spec.steps, work, 0.0, 0)
        if status != Status.OK:
            raise RuntimeError(f"the core stopped with status {status}")

    return call, y


def counterpart_call(spec: RunSpecification, dense: bool) -> tuple[Any, np.ndarray]:
    """The same of the counterpart; quaternions and the exponential chart only."""
    formulated, _ = build(spec)
    m, y = formulated.problem.generator.motion.mechanism, formulated.start.copy()
    size = 6*m.bodies + m.rows
    scratch = np.zeros(size*(size + 1) if dense else 1)
    kept = [np.ascontiguousarray(field) for field in (m.constants, np.asarray(m.table, np.int64), np.asarray(
        m.first, np.int64), np.asarray(m.place, np.int64), m.scratch.copy(), m.band.copy(), m.vectors.copy(),
        m.column.copy(), scratch)]
    code = counterpart(spec.options["action"] == "se3", dense)
    whole = [ctypes.c_int64(int(value)) for value in (m.bodies, m.groups, m.rows, m.width)]

    def call() -> None:
        status = code.run(*whole, *(ctypes.c_void_p(part.ctypes.data) for part in kept), ctypes.c_void_p(y.ctypes.data),
                          ctypes.c_double(spec.step), ctypes.c_int64(spec.steps))
        if status:
            raise RuntimeError("the C counterpart stopped: a singular matrix or the end of a chart")

    return call, y


def alpha_call(spec: RunSpecification) -> tuple[Any, np.ndarray]:
    """The same of generalized_alpha on SE(3)^n with joints of points, whose accelerations and velocities at the start
    are those of the core."""
    formulated, integrator = build(spec)
    problem, y = plain(formulated.problem), formulated.start.copy()
    m, work = formulated.problem.poses.generator.motion.mechanism, integrator.workspace(formulated.problem, y)
    if plain(integrator).start(problem, 0.0, y, spec.step, work) != Status.OK:
        raise RuntimeError("the method did not start")
    newton = integrator.newton
    method = np.array([integrator.alpha_m, integrator.alpha_f, integrator.beta, integrator.gamma, newton.tolerance,
                       newton.iterations], dtype=np.float64)
    whole = [ctypes.c_int64(int(value)) for value in (m.bodies, m.groups, m.rows, (problem.matrix.shape[1] - 1)//3)]
    tables = [np.asarray(part, np.int64) for part in (m.table, m.first, m.place, problem.seats, problem.order)]
    kept = [np.ascontiguousarray(m.constants), *tables, m.scratch.copy(), method,
            *(part.copy() for part in (work.v[0], work.a[0], work.a[1], work.found)), y]
    code = counterpart(True, False, True)

    def call() -> None:
        if code.run(*whole, *(ctypes.c_void_p(part.ctypes.data) for part in kept), ctypes.c_double(spec.step),
                    ctypes.c_int64(spec.steps)):
            raise RuntimeError("the C counterpart stopped: Newton's method failed or a chart ended")

    return call, y


def alpha_beside_c(repeats: int) -> Iterator[dict[str, Any]]:
    """Rows: microseconds of a step of generalized_alpha, its start included, and core over C; last states are compared
    first."""
    load_plugin(CHAIN)
    for label, system, preset, steps, h in ALPHA:
        spec = specify(system, "generalized_alpha", preset=preset, steps=steps, t_end=steps*h, samples=2,
                       statistics_every=steps, options={"action": "se3"})
        makers = {"core": lambda spec=spec: core_call(spec), "C": lambda spec=spec: alpha_call(spec)}
        ends = []
        for make in makers.values():
            call, y = make()
            call()
            ends.append(y)
        seconds = interleaved(makers, repeats)
        yield {"problem": label, "core us": 1e6*median(seconds, "core")/steps, "core/C": ratio(seconds, "core", "C"),
               "difference": float(np.abs(ends[0] - ends[1]).max()/np.abs(ends[0]).max())}


def compared(spec: RunSpecification) -> tuple[dict[str, Any], float]:
    """Makers of the calls of core, counterpart and counterpart with dense elimination, and the largest relative
    difference of their last states."""
    makers = {"core": lambda: core_call(spec), "C": lambda: counterpart_call(spec, False),
              "dense": lambda: counterpart_call(spec, True)}
    ends = {}
    for key, make in makers.items():
        call, y = make()
        call()
        ends[key] = y
    return makers, max(float(np.abs(end - ends["core"]).max()) for end in ends.values())/float(np.abs(
        ends["core"]).max())


def against_counterparts(repeats: int) -> Iterator[dict[str, Any]]:
    """Rows: microseconds of a step of rkmk, core over C, and C with dense elimination over the core. The states of
    core and counterparts are compared first."""
    load_plugin(CHAIN)
    for label, system, preset, steps, h in PROBLEMS:
        for name in ("1a", "1b"):
            spec = specify(system, "rkmk", preset=preset, steps=steps, t_end=steps*h, samples=2,
                           statistics_every=steps, options=MAPS[name])
            alternatives, gap = compared(spec)
            if not gap < SAME:
                raise RuntimeError(f"{label}, {name}: core and counterparts differ by {gap:.1e}")
            seconds = interleaved(alternatives, repeats)
            yield {"problem": label, "map": name, "core us": 1e6*median(seconds, "core")/steps, "core/C": ratio(
                seconds, "core", "C"), "dense C/core": ratio(seconds, "dense", "core"), "difference": gap}


def maps_over_quaternions(repeats: int) -> Iterator[dict[str, Any]]:
    """Rows: time of a Runge-Kutta step through a map over one on quaternions that are normalised at the stages."""
    load_plugin(CHAIN)
    for label, system, preset, steps, h in PROBLEMS:
        entries = {"quaternion": ("rk4", {"projection": "stages"}),
                   **{name: ("rkmk", options) for name, options in MAPS.items()}}
        specs = {key: specify(system, method, preset=preset, steps=steps, t_end=steps*h, samples=2,
                              statistics_every=steps, options=options) for key, (method, options) in entries.items()}
        seconds = interleaved({key: lambda one=one: core_call(one) for key, one in specs.items()}, repeats)
        yield {"problem": label, "quaternion us": 1e6*median(seconds, "quaternion")/steps,
               **{f"{name}/quaternion": ratio(seconds, name, "quaternion") for name in MAPS}}
