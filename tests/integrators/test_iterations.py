"""Newton iterations of one step of each implicit method: a wrong first guess or matrix leaves the answer as it is and
costs iterations, which no test of answers sees."""
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from liestep.compile.counters import Counter
from liestep.compile.status import Status
from liestep.integrators import vi_sphere
from liestep.simulation.catalogue import integrator_calls, method
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import applicable, specify, start_of

H, SHORT, STEPS = 0.1, {"heavy_top": 0.02}, 4  # so long that the first guess decides
COUNTS = {  # method -> a system, and iterations of the first steps together
    "bliedf": ("jointed_body", 8), "bliedf order=1": ("jointed_body", 16), "bliedf order=2": ("jointed_body", 11),
    "body_midpoint": ("free_rigid_body", 12), "discrete_gradient": ("henon_heiles", 48),
    "dmv": ("free_rigid_body", 124), "em_rotation": ("free_rigid_body", 43), "emh": ("free_rigid_body", 12),
    "eml": ("spherical_pendulum_chain", 16),
    "eml_p": ("spherical_pendulum_chain", 16),
    "gauss": ("spherical_pendulum_chain", 48), "generalized_alpha": ("jointed_body", 16),
    "lgvi": ("free_rigid_body", 12), "lie_midpoint": ("free_rigid_body", 47), "lobatto": ("henon_heiles", 40),
    "mph": ("free_rigid_body", 12), "mpl": ("spherical_pendulum_chain", 16), "rattle": ("spherical_pendulum_chain", 16),
    "slgi": ("free_rigid_body", 12), "spherical_midpoint": ("free_rigid_body", 53),
    "vi_livens": ("spherical_pendulum_chain", 16), "vi_sphere": ("spherical_pendulum_chain", 15),
    "slgi_kk": ("heavy_top", 18),
}


def counted(name, system, h=None, changed=lambda component: component):
    """Iterations of some steps in plain Python."""
    h = h or SHORT.get(system, H)
    formulated, integrator = build(specify(system, name, steps=STEPS, t_end=STEPS*h))
    problem, component, y = plain(formulated.problem), plain(changed(integrator)), formulated.start.copy()
    work = plain(component.workspace(problem, y))
    assert component.start(problem, 0.0, y, h, work) == Status.OK
    for k in range(STEPS):
        assert component.step(problem, k*h, y, h, work) == Status.OK
    return int(problem.counters[Counter.ITERATIONS])


@pytest.mark.parametrize("name", COUNTS)
def test_steps_take_as_many_iterations_as_before(name):
    system, iterations = COUNTS[name]
    assert counted(name, system) == iterations


@pytest.mark.parametrize("name", [name for name in integrator_calls() if name not in COUNTS and "=" not in name])
def test_other_methods_iterate_on_no_system(name):
    """So that an implicit method that is new gets its count; of options that repeat a step, such as weights, none."""
    for system in {system for system, _ in COUNTS.values()}:
        if not method(name).adaptive and applicable(system, name, start_of(system).parameters):
            assert counted(name, system, 1e-4) == 0


def test_a_wrong_sign_in_the_guess_of_multipliers_is_seen(tmp_path, monkeypatch):
    with open(vi_sphere.__file__, encoding="utf-8") as file:
        text = file.read()
    guess = "work.multiplier[i] = -0.5*h*h*dot(u, u)"
    assert text.count(guess) == 1
    path = tmp_path/"wrong_guess.py"
    path.write_text(text.replace(guess, guess.replace("-0.5", "0.5")))
    spec = spec_from_file_location("wrong_guess", path)
    wrong = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "wrong_guess", wrong)
    spec.loader.exec_module(wrong)
    system, iterations = COUNTS["vi_sphere"]
    assert counted("vi_sphere", system, changed=lambda right: right._replace(
        inner=wrong.MultiplierStep(*right.inner))) > iterations
