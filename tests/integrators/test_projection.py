"""Options that act after each step: a method lets them act at every step, or refuses them."""
import numpy as np
import pytest

from liestep import simulate
from liestep.compile.dispatch import Kernel
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.simulation.catalogue import integrator_calls, method, sheet
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import applicable, specify, start_of

# formulations with such options, each on a system and with a choice that acts
ON = {"vector_field": ("sphere_nbody", {"projection": "state"}),
      "lie_action": ("jointed_body", {"stabilisation": "projection"}),
      "lie_chart": ("jointed_body", {"stabilisation": "projection"})}
NAMES = [name for name in integrator_calls() if method(name).formulation in ON
         and applicable(ON[method(name).formulation][0], name,
                        start_of(ON[method(name).formulation][0]).parameters)]
STEPS = 5


def given(name, options):
    size = {"tolerance": 1e-6} if method(name).adaptive else {"steps": STEPS}
    return specify(ON[method(name).formulation][0], name, t_end=0.05, options=options, **size)


def test_every_formulation_with_such_options_is_here():
    found = {key for system in ("sphere_nbody", "jointed_body", "heavy_top", "bonded_ring")
             for key, form in sheet(system).forms.items()
             if any(option.after_steps for option in form.options.values())}
    assert found == set(ON)


@pytest.mark.parametrize("name", NAMES)
def test_a_method_projects_after_each_step_or_refuses(name, monkeypatch):
    options = ON[method(name).formulation][1]
    if not method(name).projects:
        with pytest.raises(InputError) as caught:
            given(name, options)
        (key, value), = options.items()
        assert str(caught.value).startswith(f"{name}: option {key} is {value!r}, which acts after each step, and this"
                                            " method does not let it; allowed with this method")
        assert given(name, dict.fromkeys(options, "none")).options[key] == "none"
        return
    formulated, component = build(given(name, options))
    monkeypatch.setattr(Kernel, "__call__", lambda kernel, *args: kernel.py_func(*args))
    calls = []

    class Counted(type(formulated.problem)):
        def project(self, y):
            calls.append(1)
            return super().project(y)

    problem, y = Counted(*formulated.problem), formulated.start.copy()
    work = component.workspace(formulated.problem, y)  # neither traced nor compiled: Counted inherits its methods
    if method(name).adaptive:
        assert component.start(problem, 0.0, y, 0.05, work) > 0.0
    else:
        assert component.start(problem, 0.0, y, 0.01, work) == Status.OK
    for step in range(STEPS):
        if method(name).adaptive:
            assert component.attempt(problem, 0.01*step, y, 0.01, work)[0] == Status.OK
            component.accept(problem, y, work)
        else:
            assert component.step(problem, 0.01*step, y, 0.01, work) == Status.OK
        assert len(calls) == step + 1


@pytest.mark.parametrize(("problem", "name", "options", "allowed"), [
    ("sphere_nbody", "ode45", {"projection": "position"}, "is none"),
    ("spherical_pendulum_chain", "ode45", {"form": "velocity", "projection": "state"}, "is none"),
    ("jointed_body", "ode45", {"projection": "stages"}, "are none, multiplier")])
def test_adaptive_methods_say_what_is_allowed(problem, name, options, allowed):
    with pytest.raises(InputError, match=f"allowed with this method {allowed}$"):
        simulate(problem, name, tolerance=1e-6, t_end=0.1, options=options)


@pytest.mark.parametrize(("name", "options"), [
    ("rk4", {}), ("rkmk", {"stabilisation": "projection"}), ("lie_ab order=2", {"stabilisation": "none"})])
def test_a_rate_without_its_stabilisation_is_refused(name, options):
    with pytest.raises(InputError, match=r"stabilisation_rate is 3.0, which is for Baumgarte's stabilisation, but"
                                         r" stabilisation is (none|projection); allowed is baumgarte"):
        specify("jointed_body", name, steps=2, options=options | {"stabilisation_rate": 3.0})
    assert specify("jointed_body", name, steps=2, options={"stabilisation": "baumgarte", "stabilisation_rate": 3.0})


def test_the_method_of_two_commutators_keeps_joints_by_projection():
    gaps = {choice: simulate("jointed_body", "rkmk4_2comm", steps=100, t_end=1.0, options={
        "action": "so3_r3", "stabilisation": choice}).attrs["joint_error_max"] for choice in ("none", "projection")}
    assert gaps["projection"] < 1e-14 < 1e-9 < gaps["none"]
    assert np.isfinite(gaps["none"])
