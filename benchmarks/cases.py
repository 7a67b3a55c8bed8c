"""What is timed: (system, integrator) pairs, each as a loop of the core, as its C counterpart, and in numpy where
that is straightforward."""
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import arrays
from benchmarks.counterparts import counterpart
from liestep.compile.cache import loop_for
from liestep.compile.driver import advance
from liestep.simulation.machine_code.straight import for_loop
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.execution import build, new_recorder
from liestep.simulation.runs.specification import specify

STUDIES = Path(__file__).parents[1]/"papers"/"livens2025"/"studies"
PLUGINS = {"mass_spring": STUDIES/"mass_spring.py",
           **dict.fromkeys(("rigid_chain", "rigid_loop"), STUDIES/"jointed_bars.py")}


@dataclass(frozen=True)
class Case:
    """One triple. `target` is the largest allowed ratio of the core's time to the counterpart's."""

    label: str
    system: str
    integrator: str
    header: str                     # counterparts/step_<header>.h
    step: float
    steps: int
    target: float
    preset: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    small: bool = True              # small systems must be NUMPY_TARGET times faster than numpy


STATISTICS_TARGET, NUMPY_TARGET = 1.7, 100.0

PENDULUM, BODIES, ROD, TOP = "double pendulum", "three bodies", "elastic rod", "heavy top"
BODY = "free body in a quaternion"
DENSE = {"mass": "dense"}  # what the C counterparts have
CASES = (
    Case(f"{PENDULUM}, vi_sphere (multipliers)", "spherical_pendulum_chain", "vi_sphere", "multipliers", 0.01, 20_000,
         1.25),
    Case(f"{PENDULUM}, vi_sphere (Newton)", "spherical_pendulum_chain", "vi_sphere", "newton", 0.01, 10_000, 1.25,
         options={"solver": "newton"}),
    Case(f"{PENDULUM}, rkmk4", "spherical_pendulum_chain", "rkmk", "munthe_kaas", 0.01, 10_000, 1.25,
         options=DENSE),
    Case(f"{PENDULUM}, cf4", "spherical_pendulum_chain", "cf4", "commutator_free", 0.01, 10_000, 1.3,
         options=DENSE),
    Case(f"{TOP}, rkmk4", "heavy_top", "rkmk", "munthe_kaas", 1e-3, 30_000, 1.3, preset="printed",
         options={"action": "semidirect"}),
    Case(f"{TOP}, cf4", "heavy_top", "cf4", "commutator_free", 1e-3, 30_000, 1.3, preset="printed",
         options={"action": "semidirect"}),
    Case(f"{BODY}, eml", "free_rigid_body", "eml", "livens", 1e-3, 30_000, 1.15, preset="livens2025"),
    Case(f"{BODY}, mpl", "free_rigid_body", "mpl", "livens", 1e-3, 30_000, 1.15, preset="livens2025"),
    Case(f"{BODY}, eml for all unknowns", "free_rigid_body", "eml", "livens_full", 1e-3, 10_000, 1.25,
         preset="livens2025", options={"solver": "full"}),
    Case(f"{BODY}, emh", "free_rigid_body", "emh", "hamilton", 1e-3, 20_000, 1.25, preset="livens2025"),
    Case("closed loop of four bars, eml", "rigid_loop", "eml", "livens_bodies", 0.05, 80, 1.25, small=False),
    Case(f"{TOP}, em_rotation", "heavy_top", "em_rotation", "cayley", 1e-3, 60_000, 1.15, preset="printed"),
    Case(f"{PENDULUM}, rk4", "spherical_pendulum_chain", "rk4", "runge_kutta", 0.01, 10_000, 1.25,
         options=DENSE),
    Case(f"{BODIES}, vi_sphere (explicit)", "sphere_nbody", "vi_sphere", "explicit", 1e-4, 80_000, 1.25),
    Case(f"{BODIES}, rk4", "sphere_nbody", "rk4", "runge_kutta", 1e-4, 30_000, 1.6),
    Case(f"{BODIES}, rkmk4", "sphere_nbody", "rkmk", "munthe_kaas", 1e-4, 15_000, 1.25),
    Case("two masses on springs, verlet", "mass_spring", "verlet", "verlet", 1e-3, 400_000, 1.1),
    Case("Penning trap, boris", "penning_trap", "boris", "boris", 1e-3, 400_000, 1.1),
    Case(f"{ROD} n = 10, vi_sphere (multipliers)", "elastic_rod", "vi_sphere", "multipliers", 1e-4, 3000, 1.25,
         small=False),
    Case(f"{ROD} n = 100, vi_sphere (multipliers)", "elastic_rod", "vi_sphere", "multipliers", 1e-5, 30, 1.25,
         parameters={"elements": 100}, small=False),
)


class CoreRun:
    """A loop of the core that can be timed from its start again and again."""

    def __init__(self, case: Case, *, statistics: bool, system: type | None = None):
        """`system`: a class that replaces that of the system, with the same fields."""
        if case.system in PLUGINS:
            load_plugin(PLUGINS[case.system])
        self.spec = specify(case.system, case.integrator, steps=case.steps, t_end=case.step*case.steps,
                            preset=case.preset, parameters=case.parameters, options=case.options, samples=2)
        self.formulated, self.integrator = build(self.spec)
        if system is not None:
            problem = self.formulated.problem
            self.formulated = replace(self.formulated, problem=problem._replace(system=system(*problem.system)))
        self.every = 1 if statistics else case.steps + 1
        self.baseline = np.zeros(self.formulated.width)

    def prepare(self) -> tuple[Callable[[], None], np.ndarray]:
        """Everything but the loop: the call to be timed, and the state that it advances."""
        y, steps = self.formulated.start.copy(), self.spec.steps
        recorder = new_recorder(y.shape, self.baseline, steps, 0, self.every)
        work = self.integrator.workspace(self.formulated.problem, y)
        problem, integrator = for_loop(self.formulated, self.integrator)
        loop = loop_for(advance, integrator, problem, recorder, work)

        def call():
            status, done = loop(integrator, problem, recorder, y, self.spec.step, 0, steps, work, 0.0, 0)
            if status:
                raise RuntimeError(f"the core stopped at step {done} with status {status}")

        return call, y


class CounterpartRun:
    """The C counterpart of a core run: same components, same start."""

    def __init__(self, case: Case, core: CoreRun, *, statistics: bool, order: int = 0):
        inner = getattr(core.integrator, "inner", core.integrator)
        arrays_only = hasattr(inner, "a") or hasattr(inner, "weights")
        data = inner if arrays_only else (inner.tolerance, inner.iterations) if hasattr(inner, "tolerance") else ()
        if hasattr(inner, "rule"):
            data = (inner.rule, *data)
        if hasattr(inner, "polar"):
            data = (inner.polar, *data)
        self.core = core
        self.counterpart = counterpart(case.system, case.header, core.formulated.problem, data, statistics=statistics,
                                       order=order)

    def prepare(self) -> tuple[Callable[[], Any], np.ndarray]:
        y, spec = self.core.formulated.start.copy(), self.core.spec
        return lambda: self.counterpart.run(y, spec.step, spec.steps), y


class ArrayRun:
    """The same method in vectorised numpy, some steps of it."""

    def __init__(self, core: CoreRun, steps: int):
        self.core, self.steps = core, min(steps, core.spec.steps)
        self.step = arrays.method(core.spec, core.formulated.problem)

    def prepare(self) -> tuple[Callable[[], Any], np.ndarray]:
        y = self.core.formulated.start.copy()
        state = self.step.start(y)

        def call():
            nonlocal state
            for _ in range(self.steps):
                state = self.step(y, self.core.spec.step, state)

        return call, y
