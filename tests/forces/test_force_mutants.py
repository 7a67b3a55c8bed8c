"""Wrong steps with forces lose their order, in plain Python: the step as it is keeps 2, composed 4."""
import itertools
import sys

import numpy as np
import pytest
from force_cases import changed
from place import TOP
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.compile.status import Status
from liestep.integrators import vi_sphere
from liestep.integrators.one_step import Composition
from liestep.integrators.weights import composition_weights
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import start_of

T, COUNTS = 1.0, (20, 40, 80)
HALF, ITERATE = "problem.add_work(0.5*h, y)", "problem.force(t, y[:n], y[n:2*n], work.push)"
MUTANTS = {
    "the last velocity instead of the one after the kick":
        ("one", "state", 2, ((ITERATE, ITERATE.replace(" y[n:2*n],", " work.base,")),)),
    "force of the wrong end of the step":
        ("one", "state", 2, (("settle(self, problem, t + h, y, h, work)", "settle(self, problem, t, y, h, work)"),)),
    "one iteration": ("y4", "state", 4, (("settled(change, 1e-4*small*size, change, previous, small*size)", "True"),)),
    "work by one end's power":
        ("one", "work", 2, ((f"push, y)\n        {HALF}\n", "push, y)\n"), (HALF, "problem.add_work(h, y)"))),
}


def observed(module, weights, part):
    """Order by three runs whose steps are halved, of the state or of the work."""
    if "drag_and_clock" not in liestep.list_systems():
        liestep.load_plugin(TOP/"tests"/"plugins"/"drag_and_clock.py")
    start, facts, ends = start_of("drag_and_clock"), sheet("drag_and_clock"), []
    for steps in COUNTS:
        form = formulate(facts, start.parameters, start.initial, "sphere_lagrangian", {})
        step = plain(Composition(module.ExplicitStep(True, 1e-12), composition_weights(weights)))
        problem, y, h = plain(form.problem), form.start.copy(), T/steps
        work = step.workspace(problem, y)
        assert step.start(problem, 0.0, y, h, work) == Status.OK
        for k in range(steps):
            assert step.step(problem, k*h, y, h, work) == Status.OK
        ends.append(y[-1, :1].copy() if part == "work" else y[:-1].copy())
    one, two = (np.abs(a - b).max() for a, b in itertools.pairwise(ends))
    return np.log2(one/two)


@pytest.mark.parametrize(("weights", "part", "theory"), [("one", "state", 2), ("one", "work", 2), ("y4", "state", 4),
                                                         ("y4", "work", 4)])
def test_step_as_it_is(weights, part, theory):
    assert abs(observed(vi_sphere, weights, part) - theory) < 0.2


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_dies(name):
    weights, part, theory, replacements = MUTANTS[name]
    module = changed(vi_sphere, name, replacements)
    try:
        assert observed(module, weights, part) < theory - 0.5
    finally:
        del sys.modules[module.__name__]
