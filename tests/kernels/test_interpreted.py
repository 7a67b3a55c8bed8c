"""Short first runs in plain Python: the bits of compiled code, and the limits within which they are made."""
import numpy as np
import pytest

import liestep
from liestep.compile import cache, interpreted
from liestep.compile.driver import advance
from liestep.compile.status import Status
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

PAIRS = (("heavy_top", "rkmk", {"steps": 6, "t_end": 0.05}),
         ("spherical_pendulum_chain", "vi_sphere", {"steps": 6, "t_end": 0.05}),
         ("sphere_nbody", "dop853", {"tolerance": 1e-7, "t_end": 0.15}),
         ("free_rigid_body", "gauss", {"steps": 6, "t_end": 0.05}))


@pytest.fixture
def nothing_compiled(monkeypatch):
    """No code is there, and all loops may run in plain Python; the loops that were compiled."""
    compiled = []
    monkeypatch.setattr(interpreted, "PAYS", 2.0)
    monkeypatch.setattr(interpreted, "_spent", interpreted.defaultdict(float))
    monkeypatch.setattr(interpreted, "has_code", lambda *components: False)
    monkeypatch.setattr(interpreted, "loop_for", lambda *components: compiled.append(components))
    return compiled


@pytest.mark.parametrize(("problem", "integrator", "size"), PAIRS)
def test_bits_are_those_of_machine_code(nothing_compiled, problem, integrator, size):
    spec = specify(problem, integrator, **size)
    short, compiled = carry_out(spec, interpreted=True), carry_out(spec)
    assert not nothing_compiled
    assert short.attributes == compiled.attributes
    for name, (_, values, _) in compiled.variables.items():
        assert short.variables[name][1].tobytes() == values.tobytes(), name


def test_a_long_run_is_given_up_soon(nothing_compiled, monkeypatch):
    clock = iter(np.arange(0.0, 1e4, 0.3))
    monkeypatch.setattr(interpreted, "thread_time", lambda: next(clock))
    first = interpreted.FirstLoop(None)
    first.loop_for(advance, ())
    first.progress(0.01)  # after 0.3 s
    with pytest.raises(interpreted.NotWorthIt):
        first.progress(0.02)


def test_loops_that_have_run_for_long_are_compiled(nothing_compiled):
    first = interpreted.FirstLoop(None)
    first.loop_for(advance, ())
    assert first.interpreted
    interpreted._spent[advance, cache.class_names(())] = 2.5
    first.loop_for(advance, ())
    assert not first.interpreted
    assert nothing_compiled == [(advance, ())]


def test_a_run_that_fails_is_made_by_compiled_code(nothing_compiled, monkeypatch):
    """Plain Python raises where compiled code has an infinite number."""
    runs = []

    def run(spec, formulated, integrator, finds, *more):
        runs.append(finds)
        if len(runs) == 1:
            finds(lambda: 1/0)()
        return "compiled"

    monkeypatch.setattr("liestep.simulation.runs.execution._run_fixed", run)
    assert run_once(specify("heavy_top", "rk4", steps=2), interpreted=True) == "compiled"
    assert runs[1] is cache.loop_for


def test_simulate_needs_no_compiled_code(nothing_compiled):
    data = liestep.simulate("free_rigid_body", "rk4", steps=3, t_end=0.01)
    assert data.attrs["status"] == Status.OK.name.lower()
    assert not nothing_compiled
