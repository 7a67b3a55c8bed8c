"""Three bodies that the mass matrix couples, with drag and a shaking pivot: orders of methods and solvers, in plain
Python."""
import itertools

import numpy as np
import pytest
from place import TOP
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.compile.status import Status
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import complete_options, start_of

T = 0.4


def end(name, options, steps):
    """The state at T, and the work."""
    facts, begin, declared = sheet("dragged_chain"), start_of("dragged_chain"), method(name)
    chosen = complete_options(declared, facts, begin.parameters, options)
    form = formulate(facts, begin.parameters, begin.initial, declared.formulation, chosen)
    problem, y, h = plain(form.problem), form.start.copy(), T/steps
    step = plain(declared.build(chosen, None, T))
    work = step.workspace(problem, y)
    assert step.start(problem, 0.0, y, h, work) == Status.OK
    for k in range(steps):
        assert step.step(problem, k*h, y, h, work) == Status.OK
    fields = form.to_fields(y[None])
    return np.concatenate([fields["q"].ravel(), fields["omega"].ravel(), y[-1, :1]])


@pytest.mark.parametrize(("name", "options", "counts"), [
    ("vi_sphere", {}, (16, 32, 64)), ("vi_sphere", {"solver": "newton"}, (16, 32, 64)),
    ("vi_sphere", {"solver": "fixed_point"}, (16, 32, 64)), ("vi_sphere", {"form": "paper"}, (16, 32, 64)),
    ("vi_sphere weights=s4", {}, (8, 16, 32)), ("vi_sphere weights=kl6", {}, (8, 12, 18)),
    ("rk4", {}, (16, 32, 64)), ("rkmk", {}, (16, 32, 64)), ("cf4", {}, (16, 32, 64))])
def test_order_on_three_coupled_bodies_of_state_and_work(name, options, counts):
    liestep.load_plugin(TOP/"tests"/"plugins"/"dragged_chain.py")
    theory, (a, b, c) = method(name).order, (end(name, options, steps) for steps in counts)
    for part in (slice(0, -1), slice(-1, None)):
        one, two = (np.abs(x[part] - y[part]).max() for x, y in itertools.pairwise((a, b, c)))
        assert abs(np.log(one/two)/np.log(counts[2]/counts[1]) - theory) < 0.3


def test_all_methods_come_to_the_same_state():
    liestep.load_plugin(TOP/"tests"/"plugins"/"dragged_chain.py")
    one, other = end("vi_sphere weights=kl6", {}, 24), end("rkmk tableau=dormand_prince5", {}, 64)
    assert np.abs(one - other).max() < 1e-6
