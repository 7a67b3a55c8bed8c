"""Which integrators share machine code, what a class could cost at best, and compiling in two processes."""
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from liestep.compile import counters
from liestep.compile.cache import class_names, has_code, prepare
from liestep.compile.driver import advance, advance_adaptive
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.files import own_process
from liestep.mechanics.formulations.probed import plain
from liestep.simulation.catalogue import method, plugin_entries
from liestep.simulation.machine_code.straight import for_loop
from liestep.simulation.plugins.loading import PREFIX, load_plugin
from liestep.simulation.runs.execution import build, new_recorder
from liestep.tools.recommend.search import Candidate
from liestep.tools.recommend.trials import Demand, Trials, request

COUNTED = ("vector_field", "lie_action", "sphere_lagrangian")  # formulations whose steps run as plain Python at once
MOST_ROWS = 100         # of a state with which a step is made in plain Python
FEW = 20                # steps of the run that compiles a class
SLACK = 0.7             # a class that is not opened could be better than its bound says by this factor


class MethodGroup(NamedTuple):
    """Integrators of one compiled class, by falling order."""

    names: tuple[str, ...]
    compiled: bool  # when it was asked


def groups(request: Demand, names: Iterable[str]) -> list[MethodGroup]:
    """The compiled classes of integrators; raises nothing: a class that cannot be built is a group of its own."""
    found: dict[tuple[str, ...], list[str]] = {}
    ready: dict[tuple[str, ...], bool] = {}
    for name in names:
        try:
            components = _components(request, name)
            key = class_names(*components)
            ready.setdefault(key, has_code(advance_adaptive if method(name).adaptive else advance, *components))
        except InputError:
            key = (name,)
            ready[key] = True
        found.setdefault(key, []).append(name)
    return [MethodGroup(tuple(sorted(members, key=lambda name: -method(name).order)), ready[key])
            for key, members in found.items()]


def _components(request: Demand, name: str) -> tuple[Any, ...]:
    spec = request.run(name, 1e-3 if method(name).adaptive else FEW)
    formulated, integrator = build(spec)
    recorder = new_recorder(formulated.start.shape, np.zeros(formulated.width), 1, 2,
                            observables=formulated.observables)
    work = integrator.workspace(formulated.problem, formulated.start)
    problem, integrator = for_loop(formulated, integrator)
    recorders = (recorder, recorder) if method(name).adaptive else (recorder,)
    return integrator, problem, *recorders, work


def compile_classes(asked: Demand, waiting: Sequence[MethodGroup]) -> None:
    """Compile the classes that have no machine code yet, half of them in a second process, which keeps it on disk."""
    names = [group.names[0] for group in waiting if not group.compiled]
    if len(names) > 1:
        with suppress(InputError):
            prepare(*_components(asked, names[0]))  # what both processes would compile
    with _beside(asked, names[1::2]):
        for name in names[::2]:
            compile_one(asked, name)


@contextmanager
def _beside(asked: Demand, names: Sequence[str]) -> Iterator[None]:
    """Have classes compiled by another process meanwhile; those that it cannot compile are when they run."""
    child = None
    plugins = {str(sys.modules[entry.module].__file__) for entry in plugin_entries().values()
               if entry.module.startswith(PREFIX)}
    if names:
        with suppress(OSError):
            child = subprocess.Popen(stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     text=True, **own_process("liestep.tools.recommend.classes"))
            assert child.stdin is not None
            with child.stdin as told:
                json.dump({"names": names, "plugins": sorted(plugins), **asked.canonical()}, told)
    try:
        yield
    finally:
        if child is not None:
            child.wait()


def compile_one(request: Demand, name: str) -> None:
    """Make a few steps of an integrator; what fails will be seen in its runs."""
    short = replace(request, t_end=request.t_end*1e-3)
    try:
        Trials(short, spent=request.budget).outcome(name, 1e-3 if method(name).adaptive else FEW)  # only compiles
    except InputError:
        return


def evaluations(request: Demand, name: str) -> float:
    """Least number of evaluations of right-hand side or force in one step: counted in one step of plain Python, the
    order where that says nothing: no plain Python, a step that fails, or bodies so many that it would take long."""
    spec = request.run(name, 1e-3 if method(name).adaptive else 50*FEW)
    formulated, integrator = build(spec)
    least = float(max(method(name).order, 1))
    if len(formulated.start) > MOST_ROWS or request.declared(name).formulation not in COUNTED:
        return least
    component, problem, y = plain(integrator), plain(formulated.problem), formulated.start.copy()
    with np.errstate(all="ignore"):
        try:
            work = component.workspace(problem, y)
            begun = component.start(problem, 0.0, y, spec.t_end if spec.steps is None else spec.step, work)
            problem.counters[:] = 0
            if spec.steps is None:
                status, _ = component.attempt(problem, 0.0, y, begun, work)
            else:
                status = component.step(problem, 0.0, y, spec.step, work) if begun == Status.OK else begun
        except (ArithmeticError, ValueError):
            return least
    counted = counters.evaluations(problem.counters) or problem.counters.max()  # without forces: solves or exponentials
    return float(counted) if status == Status.OK and counted else least


def bound(trials: Trials, name: str, measured: Sequence[Candidate]) -> float:
    """Seconds that a method of a class that is not compiled takes at least: as many steps as the best of the measured
    methods of the nearest order would need, times the evaluations of a step, at the least cost of an evaluation that
    was measured, times SLACK. An error that is not the one asked for is scaled by the order."""
    order = max(method(name).order, 1)
    near = min((abs(candidate.order - order) for candidate in measured), default=None)
    if near is None:
        return 0.0
    steps: list[float] = []
    units: dict[str, float] = {}
    for candidate in measured:
        unit = trials.rates[candidate.integrator]/trials.work[candidate.integrator]
        kind = trials.request.declared(candidate.integrator).formulation
        units[kind] = min(unit, units.get(kind, inf))
        if abs(candidate.order - order) == near:
            last = candidate.tried[-1]
            made = (last.seconds - trials.calls[candidate.integrator])/trials.rates[candidate.integrator]
            steps.append(made*last.error**(1.0/candidate.order))
    unit = units.get(trials.request.declared(name).formulation, min(units.values()))
    try:
        return SLACK*unit*evaluations(trials.request, name)*min(steps)*trials.request.error**(-1.0/order)
    except InputError:
        return 0.0  # its row will say why


def compile_told(text: str) -> None:
    """Compile the classes that another process names, for a request as JSON."""
    told = json.loads(text)
    for path in told["plugins"]:
        load_plugin(path)
    asked = request(told["problem"], error=told["error"], parameters=told["parameters"], initial=told["initial"],
                    t_end=told["t_end"])
    for name in told["names"]:
        compile_one(asked, name)


if __name__ == "__main__":
    compile_told(sys.stdin.read())
