"""States of other shapes than rows of three, methods with a history, observables of any width: small plugins that the
contracts must carry."""
from fractions import Fraction
from math import nan
from pathlib import Path

import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401

from liestep.compile.precision import coefficients, number_type
from liestep.compile.tracing import Functions, plain_component
from liestep.errors import InputError
from liestep.integrators.runge_kutta import ExplicitRungeKutta
from liestep.integrators.tableaux import TABLEAUX
from liestep.mechanics.contracts.formulated import Observable, StateField
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.references.reference import compute_reference, specify_reference
from liestep.simulation.runs.execution import Integrals, NoIntegrals, new_integrals, run_once
from liestep.simulation.runs.files import RunFile, read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify, start_of
from liestep.study.tables.errors import error_fields, state_error
from liestep.study.tables.order import observed_order

PLUGINS = Path(__file__).parents[1]/"plugins"


@pytest.fixture(autouse=True)
def _loaded(_nothing_stays):  # noqa: F811
    for path in sorted(PLUGINS.glob("*.py")):
        load_plugin(path)


def as_file(content):
    return RunFile(Path("run"), content.attributes, {name: entry[1] for name, entry in content.variables.items()})


def reference(problem, **changes):
    return as_file(compute_reference(specify_reference(problem, samples=5, **changes)))


def run(problem, integrator, steps, **more):
    return as_file(carry_out(specify(problem, integrator, steps=steps, samples=5, **more)))


def order(problem, integrator, theory, counts=(20, 40, 80, 160, 320)):
    true = reference(problem)
    errors = [state_error(run(problem, integrator, steps), true).error for steps in counts]
    return observed_order([1.0/steps for steps in counts], errors, floor=1e-13, theory=theory).order


@pytest.mark.parametrize("integrator", ["rk4", "rkmk"])
def test_rows_of_four_have_the_order_of_the_method(integrator):
    assert order("quaternion_body", integrator, 4) == pytest.approx(4.0, abs=0.2)


def test_a_lie_action_on_rows_of_four_keeps_the_unit_length():
    kept, lost = (run("quaternion_body", name, 20).attributes["unit_length_error_max"] for name in ("rkmk", "rk4"))
    assert kept < 1e-14 < 1e-9 < lost


def test_the_fourth_number_reaches_the_file(tmp_path):
    content = carry_out(specify("quaternion_body", "rk4", steps=20, samples=5))
    write(content, tmp_path/"run.nc")
    quaternion = read(tmp_path/"run.nc")["quaternion"]
    assert quaternion.shape == (5, 4)
    assert np.abs(np.sum(quaternion**2, axis=1) - 1.0).max() < 1e-4
    assert np.ptp(quaternion[:, 3]) > 0.01


def test_the_multiplier_is_stored_and_not_counted():
    found, true = run("joint_pendulum", "rk4", 40), reference("joint_pendulum")
    error = state_error(found, true)
    assert found["multiplier"].shape == (5, 1)
    assert [part.name for part in error_fields(found) if not part.counted] == ["multiplier"]
    assert error.error == max(error.parts["position"], error.parts["velocity"])
    found.variables["multiplier"] = found["multiplier"] + 7.0
    worse = state_error(found, true)
    assert worse.parts["multiplier"] > 0.5
    assert (worse.error, worse.final) == (error.error, error.final)


def test_rows_of_two_have_the_order_of_the_method():
    assert order("joint_pendulum", "rk4", 4) == pytest.approx(4.0, abs=0.2)


def test_adaptive_methods_take_rows_of_any_width():
    for problem in ("joint_pendulum", "quaternion_body"):
        true = reference(problem)
        for name, options in (("ode45", {"atol": 1e-9}), ("dop853", {})):
            spec = specify(problem, name, tolerance=1e-8, samples=5, options=options)
            assert 0.0 < state_error(as_file(carry_out(spec)), true).error < 1e-6


def test_a_two_step_method_has_its_order_and_one_evaluation_per_step():
    assert order("joint_pendulum", "adams_bashforth2", 2, (80, 160, 320, 640, 1280)) == pytest.approx(2.0, abs=0.15)
    assert run("joint_pendulum", "adams_bashforth2", 100).attributes["rhs_evaluations"] == 101


def test_the_history_survives_the_pieces_of_a_watched_run():
    spec = specify("joint_pendulum", "adams_bashforth2", steps=400, samples=5)
    watched = run_once(spec, progress=lambda share: None)
    assert np.array_equal(watched.outputs.states, run_once(spec).outputs.states)


def test_an_observable_of_width_two_has_its_own_dimension_and_statistics():
    content = carry_out(specify("joint_pendulum", "rk4", steps=40, samples=41))
    dims, values, attributes = content.variables["joint_error"]
    assert dims == ("time", "joint_error_component")
    assert values.shape == (41, 2)
    assert attributes["long_name"].endswith("components place, rate")
    for k, name in enumerate(("place", "rate")):
        assert content.attributes[f"joint_error_max_{name}"] == np.abs(values[:, k]).max() > 0.0
        assert content.attributes[f"joint_error_mean_{name}"] == pytest.approx(np.abs(values[:, k]).mean())
        assert content.attributes[f"joint_error_mean_square_{name}"] == pytest.approx((values[:, k]**2).mean())
    assert "joint_place=joint_error:0 joint_rate=joint_error:1" in content.attributes["residuals"]


@pytest.mark.parametrize("request_", [{"steps": 400}, {"tolerance": 1e-9, "options": {"atol": 1e-10}}])
def test_an_integral_over_every_step_does_not_depend_on_the_samples(request_):
    name = "rk4" if "steps" in request_ else "ode45"
    few, many = (as_file(carry_out(specify("joint_pendulum", name, samples=samples, **request_)))["path_length"]
                 for samples in (2, 21))
    assert few[0] == many[0] == 0.0
    assert np.all(np.diff(many) > 0.0)
    assert few[-1] == pytest.approx(many[-1], rel=1e-12)
    fine = as_file(carry_out(specify("joint_pendulum", "rk4", steps=4000, samples=4001)))
    speed = np.linalg.norm(fine["velocity"], axis=1)
    path = 0.5*(speed[1:] + speed[:-1]).sum()*fine["time"][1]
    assert few[-1] == pytest.approx(path, rel=1e-3)


@pytest.mark.parametrize(("problem", "kind"), [("joint_pendulum", Integrals), ("heavy_top", NoIntegrals)])
def test_timed_steps_take_the_machine_code_of_a_run_and_integrate_nothing(problem, kind):
    start = start_of(problem)
    observables = formulate(sheet(problem), start.parameters, start.initial, "vector_field", {}).observables
    run, timed = new_integrals(observables), new_integrals(observables, integrate=False)
    assert type(run) is type(timed) is kind
    assert run.present() == (kind is Integrals)
    assert not timed.present()


def test_numbers_of_any_kind_pass_through_a_step():
    start = start_of("joint_pendulum")
    case = formulate(sheet("joint_pendulum"), start.parameters, start.initial, "vector_field", {})
    plain = Functions(None, None, None)
    with number_type(Fraction, 50):
        method = plain_component(ExplicitRungeKutta(*TABLEAUX["rk4"].arrays()), plain)
    problem = plain_component(case.problem, plain)._replace(length=Fraction(2), gravity=Fraction(981, 100))
    y = np.array([[Fraction(x).limit_denominator(10**6) for x in line] for line in case.start.tolist()])
    method.step(problem, Fraction(0), y, Fraction(1, 20), method.workspace(problem, y))
    assert all(isinstance(x, Fraction) for x in y.flat)
    rounded = run("joint_pendulum", "rk4", 40)
    assert rounded.attributes["steps"] == 40
    step = carry_out(specify("joint_pendulum", "rk4", steps=1, t_end=0.05, samples=2)).variables["position"][1][-1]
    assert np.abs(y[0].astype(float) - step).max() < 4e-16
    tangent = case.start.astype(complex)
    tangent[0, 0] += 1e-30j
    smooth = plain_component(ExplicitRungeKutta(*TABLEAUX["rk4"].arrays()), plain)
    smooth.step(plain_component(case.problem, plain), 0.0, tangent, 0.05, smooth.workspace(case.problem, tangent))
    assert tangent.dtype == complex
    assert tangent[0, 0].imag/1e-30 == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("change", "sentence"), [
    ({"kind": "constant"}, "unknown kind"), ({"components": ("a",)}, "1 names"), ({"conserved": (True,)}, "1 entries"),
    ({"statistics": ("median",)}, "unknown statistic"), ({"kind": "residual"}, "must end in _error"),
    ({"integral": True}, "must be plain")])
def test_observables_that_contradict_themselves_are_refused(change, sentence):
    with pytest.raises(InputError, match=sentence):
        Observable(**{"name": "two", "columns": slice(0, 2), "units": "1", "long_name": "", "components": ("a", "b"),
                      **change})


def test_norms_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"state field q: unknown norm 'chord'"):
        StateField("q", "1", "", norm="chord")
    with pytest.raises(InputError, match=r"state field q: the norm attitude is for rotation matrices"):
        StateField("q", "1", "", norm="attitude").distance(np.zeros((4, 2, 3)), np.full((4, 2, 3), nan))


def test_coefficients_are_those_of_a_list_at_the_time_of_the_call():
    """Of tuples alone they are kept."""
    weights = [0.25, 0.75]
    assert coefficients(weights).tolist() == [0.25, 0.75]
    weights[:] = 0.5, 0.5
    assert coefficients(weights).tolist() == [0.5, 0.5]
    kept = 0.25, 0.75
    coefficients(kept)[0] = 1.0
    assert coefficients(kept).tolist() == [0.25, 0.75]
