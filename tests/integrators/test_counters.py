"""Evaluations in a step: every method counts its own, and those of index-3 methods are the calls of the mechanism."""
import re
from pathlib import Path

import numpy as np
import pandas
import pytest

import liestep
from liestep.compile.counters import EVALUATIONS, evaluations, evaluations_of, new_counters
from liestep.compile.status import Status
from liestep.simulation.catalogue import integrator_calls, method
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import applicable, specify, start_of

GENERAL = ("rkmk", "runge_kutta")
H, STEPS = 1e-3, 4   # the last step is counted: multi-step methods have begun


class Watched:
    """A component that counts calls of its method `evaluate`."""

    def __init__(self, watched):
        self.watched, self.calls = watched, 0

    def __getattr__(self, name):
        return getattr(self.watched, name)

    def evaluate(self, *given):
        self.calls += 1
        return self.watched.evaluate(*given)


def steps_of(spec, watch=lambda problem: (problem, None)):
    """Counts of the last of some steps in plain Python, and calls that a watched component saw in it."""
    formulated, integrator = build(spec)
    problem, watched = watch(plain(formulated.problem))
    component, y = plain(integrator), formulated.start.copy()
    work = plain(component.workspace(problem, y))
    assert component.start(problem, 0.0, y, H, work) == Status.OK
    for k in range(STEPS):
        before, calls = problem.counters.copy(), watched.calls if watched else 0
        assert component.step(problem, k*H, y, H, work) == Status.OK
    return problem.counters - before, watched.calls - calls if watched else None


def names(system):
    parameters = start_of(system).parameters
    return [name for name in integrator_calls()
            if name not in GENERAL and not method(name).adaptive and applicable(system, name, parameters)]


@pytest.mark.parametrize(("system", "name"), [(system, name) for system in ("heavy_top", "sphere_nbody", "jointed_body")
                                              for name in names(system)])
def test_every_step_counts_what_it_evaluates(system, name):
    counted, _ = steps_of(specify(system, name, steps=STEPS, t_end=STEPS*H))
    assert evaluations(counted) >= 1


def watched_mechanism(problem):
    form = problem.poses
    motion = Watched(form.generator.motion)
    return problem._replace(poses=form._replace(generator=form.generator._replace(motion=motion))), motion


@pytest.mark.parametrize(("name", "options"), [
    ("generalized_alpha", {}), ("generalized_alpha", {"newmark_beta": 0.0, "newmark_gamma": 0.5}),
    ("bliedf order=1", {}), ("bliedf order=2", {}), ("bliedf", {})])
def test_index_three_methods_count_every_residual(name, options):
    preset = "spring_offset" if options else None
    spec = specify("jointed_body", name, preset=preset, steps=STEPS, t_end=STEPS*H, options=options)
    counted, calls = steps_of(spec, watched_mechanism)
    assert calls >= 2
    assert evaluations(counted) == calls


def test_evaluations_are_the_larger_of_forces_and_right_hand_sides():
    counters = new_counters()
    counters[:] = np.arange(1, len(counters) + 1)
    assert evaluations(counters) == 2
    assert EVALUATIONS == ("force_evaluations", "rhs_evaluations")


def test_evaluations_of_runs_have_one_definition():
    """The same of a run and of a table, in every table and figure; steps that need no evaluation count as one."""
    runs = [{"force_evaluations": 17, "rhs_evaluations": 20, "steps": 5, "cost": 99},
            {"force_evaluations": 0, "rhs_evaluations": 0, "steps": 5, "cost": 99}]
    assert [evaluations_of(run) for run in runs] == [20, 5]
    assert list(evaluations_of(pandas.DataFrame(runs))) == [20, 5]
    others = [path.name for path in Path(liestep.__file__).parent.rglob("*.py")
              if re.search(r"\bEVALUATIONS\b.*\bmax\(|max\(.*\bEVALUATIONS\b", path.read_text())]
    assert others == []
