"""What deviations are measured from: the observables at the start, by the run's own loop."""
import numpy as np
import pytest

from liestep.compile.cache import loop_for
from liestep.compile.driver import observe
from liestep.simulation.runs import execution
from liestep.simulation.runs.specification import specify


@pytest.mark.parametrize(("integrator", "amount"), [("vi_sphere", {"steps": 10}), ("ode45", {"tolerance": 1e-4})])
def test_deviations_begin_at_zero_without_another_compiled_loop(monkeypatch, integrator, amount):
    loops = []

    def noted(function, *components):
        loops.append(function.__name__)
        return loop_for(function, *components)

    monkeypatch.setattr(execution, "loop_for", noted)
    outcome = execution.run_once(specify("sphere_nbody", integrator, t_end=0.01, **amount))
    assert loops == ["advance" if integrator == "vi_sphere" else "advance_adaptive"]
    problem, wanted = outcome.formulated.problem, np.zeros(outcome.formulated.width)
    loop_for(observe, problem)(problem, outcome.formulated.start, wanted)
    wanted[4:] = 0.0  # lengths and tangency are compared with zero
    for recorder in (outcome.outputs, outcome.accepted or outcome.outputs):
        assert np.array_equal(recorder.baseline, wanted)
    assert wanted[0] != 0.0


def test_looking_at_the_start_counts_no_evaluation():
    outcome = execution.run_once(specify("sphere_nbody", "vi_sphere", steps=10, t_end=0.01))
    assert outcome.counters["force_evaluations"] == 11
    adaptive = execution.run_once(specify("sphere_nbody", "ode45", tolerance=1e-4, t_end=0.01))
    assert adaptive.counters["rhs_evaluations"] <= 6*adaptive.steps + 2
