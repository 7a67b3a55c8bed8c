"""Short first runs in plain Python: the bits of compiled code, and the limits within which they are made."""
import numpy as np
import pytest

import liestep
from liestep import InputError
from liestep.compile import cache, interpreted
from liestep.compile.driver import advance
from liestep.compile.status import Status
from liestep.simulation.runs.execution import build, run_once
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

pytestmark = pytest.mark.slow

PAIRS = (("heavy_top", "rkmk", {"steps": 6, "t_end": 0.05}),
         ("spherical_pendulum_chain", "vi_sphere", {"steps": 6, "t_end": 0.05}),
         ("sphere_nbody", "dop853", {"tolerance": 1e-7, "t_end": 0.15}),
         ("free_rigid_body", "gauss", {"steps": 6, "t_end": 0.05}))


@pytest.fixture
def nothing_compiled(monkeypatch, tmp_path):
    """No code is there, no earlier process ran, and all loops may run in plain Python; the loops that were compiled."""
    compiled = []
    monkeypatch.setattr(interpreted, "PAYS", 2.0)
    monkeypatch.setattr(interpreted, "_spent", interpreted.defaultdict(float))
    monkeypatch.setattr(interpreted, "has_code", lambda *components: False)
    monkeypatch.setattr(interpreted, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(interpreted, "_loops", {})
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


def test_a_run_without_a_compiler_says_so(monkeypatch):
    monkeypatch.setattr(interpreted, "compiles", lambda: False)
    for wanted in True, "auto", False:
        with interpreted.deciding(wanted) as code:
            assert str(code) == "interpreted: NUMBA_DISABLE_JIT is set"


def test_a_start_with_multipliers_compiles_nothing(nothing_compiled):
    """The linear system of a mechanism's start is solved once: compiling it took 8 s, a plugin's first trial 25."""
    spec = specify("four_bar", "generalized_alpha", steps=1, t_end=1e-3)
    for wanted in "auto", True:
        with interpreted.deciding(wanted):
            assert np.isfinite(build(spec)[0].start).all()
    assert not nothing_compiled


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
    first = interpreted.FirstLoop(None)
    first.loop_for(advance, ())
    assert not first.interpreted
    assert nothing_compiled == [(advance, ())]


def test_what_earlier_processes_have_run_counts(nothing_compiled, monkeypatch, tmp_path):
    monkeypatch.setattr(interpreted, "cache_root", lambda: tmp_path)
    monkeypatch.setattr(interpreted, "plain_loop", lambda function: lambda: next(clock))
    monkeypatch.setattr(interpreted, "seconds", lambda *loop: 1.0)
    clock = iter(np.arange(0.0, 15.0, 0.7).tolist())
    monkeypatch.setattr(interpreted, "thread_time", lambda: next(clock))
    for compiled in (False, False, True):  # 2 s pay for a loop that compiles in one
        interpreted._spent.clear()  # as a new process has it
        first = interpreted.FirstLoop(None)
        loop = first.loop_for(advance, ())
        assert first.interpreted != compiled
        if not compiled:
            loop()
    (mark,) = tmp_path.iterdir()
    mark.write_bytes(b"torn")
    interpreted._spent.clear()
    first.loop_for(advance, ())
    assert first.interpreted


def test_who_calls_decides_and_is_told(nothing_compiled, monkeypatch):
    called = {"step": 0.01, "t_end": 0.05}
    run = liestep.simulate("heavy_top", "rkmk", **called, compile=False)
    assert run.liestep.code.startswith("interpreted: ")
    assert run.liestep.code.endswith(" s")
    again = liestep.simulate("heavy_top", "rkmk", **called)
    assert again.liestep.code.endswith("and is worth it after as many seconds of such runs")
    assert not nothing_compiled
    monkeypatch.setattr(interpreted, "loop_for", cache.loop_for)
    compiled = liestep.simulate("heavy_top", "rkmk", **called, compile=True)
    assert compiled.liestep.code == "compiled"
    assert compiled.identical(run)
    with pytest.raises(InputError, match="compile is 'yes'; allowed are True, False and"):
        liestep.simulate("heavy_top", "rkmk", **called, compile="yes")


def test_a_mechanism_takes_longer_to_compile_than_a_point():
    made = {}
    for problem, integrator in (("henon_heiles", "verlet"), ("four_bar", "generalized_alpha")):
        formulated, component = build(specify(problem, integrator, steps=2, t_end=1e-3))
        made[problem] = interpreted.seconds(advance, component, formulated.problem)
    assert interpreted.LEAST <= made["henon_heiles"] < 3.0
    assert 10.0 < made["four_bar"] <= interpreted.MOST


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
