"""A force that is in the right-hand side but not in the equations of the second engine, and partial steps from the
wrong node or at the wrong time: each is seen, in plain Python."""
import itertools
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from force_cases import changed, load
from place import TOP
from plain_runs import nodes_of
from plugin_room import _nothing_stays  # noqa: F401

from liestep.compile.endings import partial_steps
from liestep.integrators.one_step import Composition
from liestep.integrators.vi_sphere import ExplicitStep
from liestep.integrators.weights import composition_weights
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.spheres import series
from liestep.simulation.catalogue import method, plugin_entries, sheet
from liestep.simulation.endings import between as dense
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import start_of

TRACES = {
    "no force": (('if declares(system, "force"):\n        push', "if False:\n        push"),),
    "force without time": (("heyoka.time, q, np.cross", "heyoka.expression(0.0), q, np.cross"),),
    "force at rest": (("np.cross(q, v), out", "0.0*np.cross(q, v), out"),),
}
NODES = {
    "without the time of the node": (("loop(*parts, times, nodes", "loop(*parts, 0.0*times, nodes"),),
    "from the node before": (("self.nodes[steps]", "self.nodes[max(steps.start - 1, 0):][:1]"),),
    "of the whole length of the run": (("return n, (time - self.times[n])", "return n, time"),),
}
T, SHARE = 0.8, 0.37  # states are asked for at this share of each step


def gap_of_the_trace(module):
    """Largest difference of accelerations and power between the expressions and the vector field."""
    import heyoka

    name = load("damped_pendulum")
    begin, facts, t = start_of(name), sheet(name), 0.7
    equations = module.multiplier_series(facts.build(begin.parameters), facts.mass(begin.parameters),
                                         begin.initial).equations
    variables, slopes = zip(*equations, strict=True)
    form = formulate(facts, begin.parameters, begin.initial, "vector_field", {})
    y, out = form.start.copy(), np.zeros_like(form.start)
    plain(form.problem).rhs(t, y, out)
    q, w = y[:2], y[2:4]
    values = np.concatenate([q.ravel(), np.cross(w, q).ravel(), [0.0]])[:len(variables)]
    found = heyoka.cfunc(list(slopes), vars=list(variables))(values, time=t)
    acceleration = np.cross(out[2:4], q) + np.cross(w, out[:2])
    power = found[12] if len(found) > 12 else 0.0
    return max(float(np.abs(found[6:12] - acceleration.ravel()).max()), abs(power - out[4, 0]))


def test_trace_as_it_is():
    assert gap_of_the_trace(series) < 1e-13


@pytest.mark.parametrize("name", TRACES)
def test_wrong_trace_is_seen(name):
    module = changed(series, name, TRACES[name])
    try:
        assert gap_of_the_trace(module) > 1e-3
    finally:
        del sys.modules[module.__name__]


def moved(weights, count):
    """(form in plain Python, step, workspace, rows of all nodes) of a pendulum whose force depends on the time."""
    if "drag_and_clock" not in plugin_entries():
        load_plugin(TOP/"tests"/"plugins"/"drag_and_clock.py")
    begin, facts = start_of("drag_and_clock"), sheet("drag_and_clock")
    form = formulate(facts, begin.parameters, begin.initial, "sphere_lagrangian", {})
    form = replace(form, problem=plain(form.problem))
    composed = Composition(ExplicitStep(True, 1e-12), composition_weights(weights))
    nodes, step, work = nodes_of(composed, form.problem, form.start, T/count, count)
    return form, step, work, nodes


def between(module, weights, count, times):
    """States of a run at times, by the partial steps of a module."""
    form, step, work, nodes = moved(weights, count)
    run = object.__new__(module.Between)
    run.spec = SimpleNamespace(integrator="vi_sphere", method=method("vi_sphere"), t_start=0.0, step=T/count,
                               direction=1.0, stops=())
    run.adaptive, run._made = False, (form, (step, form.problem), work, partial_steps)
    run._every = T/count*np.arange(count + 1)
    run.extend(nodes, None)
    return run.at(times)[0][:, :-1]


def observed(module):
    """Order of states between nodes, from three runs whose steps are halved; their first common times are asked for."""
    counts, times = (16, 32, 64), (np.arange(1, 16) + SHARE)*T/16
    found = [between(module, "one", count, times) for count in counts]
    one, two = (np.abs(a - b).max() for a, b in itertools.pairwise(found))
    return np.log2(one/two)


def test_dense_output_as_it_is():
    assert abs(observed(dense) - 2.0) < 0.2


@pytest.mark.parametrize("name", NODES)
def test_wrong_partial_step_loses_the_order(name):
    module = changed(dense, name, NODES[name])
    try:
        assert observed(module) < 1.5
    finally:
        del sys.modules[module.__name__]
