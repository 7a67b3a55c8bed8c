"""Dense output has the order of the method on spheres up to order 8, on bodies, and on a system of each later family;
in plain Python, by the states at many times between the nodes."""
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from force_cases import load
from place import TOP
from plain_runs import nodes_of
from plugin_room import _nothing_stays  # noqa: F401

from liestep.compile.endings import partial_steps
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, plugin_entries, sheet
from liestep.simulation.endings.between import Between
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import complete_options, start_of

SHARE = 0.37  # states are asked for at this share of each of the longest steps
# system, method, end time, numbers of steps
CASES = [
    ("drag_and_clock", "vi_sphere weights=kl8", 1.2, (4, 6, 9)),
    ("drag_and_clock", "vi_sphere weights=kl6", 1.6, (4, 8, 16)),
    ("satellite", "slgi", 0.5, (8, 16, 32)),
    ("satellite", "rkmk", 0.5, (8, 16, 32)),
    ("heavy_top", "slgi weights=y4", 0.02, (8, 16, 32)),
    ("bonded_particles", "rodrigues weights=s4", 0.2, (8, 16, 32)),
    pytest.param("four_bar", "rkmk", 0.2, (8, 16, 32), marks=pytest.mark.slow),
    ("sphere_nbody", "rk4", 0.4, (8, 16, 32)),
    ("sphere_nbody", "rattle", 0.2, (8, 16, 32)),
]


def available(name):
    if name == "satellite":
        load(name)
    if name == "drag_and_clock" and name not in plugin_entries():
        load_plugin(TOP/"tests"/"plugins"/f"{name}.py")
    return sheet(name), start_of(name)


def between(name, integrator, t_end, count):
    """A run that keeps its nodes, uncompiled."""
    facts, begin = available(name)
    declared = method(integrator).on(facts)
    chosen = complete_options(declared, facts, begin.parameters, {})
    form = formulate(facts, begin.parameters, begin.initial, declared.formulation, chosen)
    form = replace(form, problem=plain(form.problem))
    h = t_end/count
    nodes, step, work = nodes_of(declared.build(chosen, None, t_end), form.problem, form.start, h, count)
    run = object.__new__(Between)
    one = SimpleNamespace(integrator=integrator, method=declared, t_start=0.0, step=h, direction=1.0, stops=())
    run.spec, run.adaptive, run._made = one, False, (form, (step, form.problem), work, partial_steps)
    run._every = h*np.arange(count + 1)
    run.extend(nodes, None)
    return run


def states(run, times):
    """Counted fields at the times, in one row each."""
    fields = run.formulated.to_fields(run.at(times)[0])
    counted = [part.name for part in run.formulated.error_fields if part.counted]
    return np.concatenate([fields[name].reshape(len(times), -1) for name in counted], axis=1)


@pytest.mark.parametrize(("name", "integrator", "t_end", "counts"), CASES, ids=lambda value: str(value))
def test_dense_output_has_the_order_of_the_method(name, integrator, t_end, counts):
    times = (np.arange(1, counts[0] - 1) + SHARE)*t_end/counts[0]
    found = [states(between(name, integrator, t_end, count), times) for count in counts]
    one, two = (float(np.abs(found[k] - found[k + 1]).max()) for k in range(2))
    observed = np.log(one/two)/np.log(counts[1]/counts[0])
    facts, begin = available(name)
    declared = method(integrator).on(facts)
    theory = declared.order_of(complete_options(declared, facts, begin.parameters, {}), facts, begin.parameters)
    assert abs(observed - theory) < 0.35, observed
