"""Applied torques on a body about a fixed point: orders of state, work and energy, bits without torque, sentences."""
import numpy as np
import pytest
from force_cases import EXAMPLES, load, order
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.integrators.cotangent_rotation import SymplecticTheta
from liestep.integrators.one_step import Composition
from liestep.integrators.weights import composition_weights
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import start_of
from liestep.tools.inspect.check_system import check_system

T = 1.0
FIELDS = ("attitude", "angular_momentum")


@pytest.fixture(scope="module")
def accurate():
    """State and work by two methods of high order."""
    load("satellite")
    reference = liestep.reference("satellite", t_end=T, samples=11)
    fine = liestep.simulate("satellite", "rkmk tableau=dormand_prince5", steps=400, t_end=T, samples=11)
    assert max(float(np.abs(fine[name].values - reference[name].values).max()) for name in FIELDS) < 1e-12
    assert reference.attrs["disagreement_attitude_max"] < 1e-13
    return fine


@pytest.mark.parametrize(("integrator", "options", "theory"), [
    ("slgi", {}, 2), ("rk4", {}, 4), ("rkmk", {}, 4), ("rkmk", {"action": "direct"}, 4), ("slgi", {"theta": 0.3}, 1)])
def test_orders_of_state_work_and_energy(integrator, options, theory, accurate):
    load("satellite")
    counts, gaps = (80, 160) if theory == 4 else (40, 80), {"state": [], "work": [], "energy": []}
    for steps in counts:
        data = liestep.simulate("satellite", integrator, steps=steps, t_end=T, samples=11, options=options)
        gaps["state"].append(max(float(np.abs(data[name].values - accurate[name].values).max()) for name in FIELDS))
        gaps["work"].append(float(np.abs(data["work"].values - accurate["work"].values).max()))
        gaps["energy"].append(data.attrs["energy_error_max"])
    for name, found in gaps.items():
        assert order(counts, found) > theory - 0.15, name
    assert abs(order(counts, gaps["state"]) - theory) < 0.15


def test_composition_of_the_symplectic_step_has_order_4(accurate):
    load("satellite")
    start, facts = start_of("satellite"), sheet("satellite")
    counts, found = (10, 20), []
    for steps in counts:
        form = formulate(facts, start.parameters, start.initial, "cotangent_rotation", {})
        step = plain(Composition(SymplecticTheta(0.5, 1e-13, 50), composition_weights("s4")))
        problem, y = plain(form.problem), form.start.copy()
        work = step.workspace(problem, y)
        for k in range(steps):
            assert step.step(problem, k*T/steps, y, T/steps, work) == Status.OK
        fields = form.to_fields(y[None])
        found.append(max(float(np.abs(fields[name][0] - accurate[name].values[-1]).max()) for name in FIELDS))
    assert abs(order(counts, found) - 4.0) < 0.1


@pytest.mark.parametrize("integrator", ["slgi", "rkmk"])
def test_zero_torque_has_the_bits_of_no_torque(integrator, tmp_path):
    load("satellite")
    path = tmp_path/"plain_satellite.py"
    path.write_text((EXAMPLES/"satellite.py").read_text().replace("def applied(", "def unused("))
    # without torques of time and velocity the coadjoint motion would be asked for, which this system does not offer
    text = path.read_text().replace("    def observe(", '''    def dual(self, y, out):
        out[0, 0] = 0.0

    def dual_observe(self, y, out):
        out[0] = 0.0

    def observe(''')
    path.write_text(text)
    liestep.load_plugin(path)
    one, other = (liestep.simulate(name, integrator, preset="free", steps=40, t_end=T)
                  for name in ("satellite", "plain_satellite"))
    for name in (*FIELDS, "energy", "momentum_map"):
        assert np.array_equal(one[name].values, other[name].values), name
    assert not one["work"].values.any()


def test_energy_less_work_stays_while_the_body_slows_down():
    load("satellite")
    data = liestep.simulate("satellite", "rkmk tableau=dormand_prince5", steps=200, t_end=4.0)
    assert data.attrs["energy_error_max"] < 1e-8
    assert data["mechanical_energy"].values[-1] - data["mechanical_energy"].values[0] < -0.4
    assert "less the work" in data["energy"].attrs["long_name"]


def test_newton_needs_few_iterations_without_the_slope_of_the_torque():
    load("satellite")
    data = liestep.simulate("satellite", "slgi", step=0.025, t_end=T)
    assert 3.0 <= data.attrs["iterations"]/40 <= 7.0


@pytest.mark.parametrize("integrator", ["em_rotation", "lgvi"])
def test_methods_without_such_torques_say_which_have_them(integrator):
    load("satellite")
    assert not method(integrator).forces
    with pytest.raises(InputError, match=r"torques that depend on time and velocity.*integrators that can: .*slgi"):
        liestep.simulate("satellite", integrator, step=0.1, t_end=T)


@pytest.mark.parametrize(("integrator", "option"), [("rk4", "form"), ("rkmk", "action")])
def test_coadjoint_motion_refuses_applied_torques(integrator, option):
    load("satellite")
    with pytest.raises(InputError, match=f"option {option} is coadjoint, which has no torques of time"):
        liestep.simulate("satellite", integrator, step=0.1, t_end=T, options={option: "coadjoint"})


@pytest.mark.parametrize(("body", "words"), [
    ("return float('nan'), 0.0, 0.0", "applied must return a tuple of three finite numbers"),
    ("return 0.0, 0.0", "IndexError: tuple index out of range"),
    ("q[0, 0] = 2.0\n        return 0.0, 0.0, 0.0", "applied changes the attitude")])
def test_wrong_torques_are_one_sentence_when_the_file_is_loaded(body, words, tmp_path):
    path = tmp_path/f"wrong_{abs(hash(body))}.py"
    path.write_text((EXAMPLES/"satellite.py").read_text().replace("return scale(-self.drag, omega)", body))
    with pytest.raises(InputError, match=words) as caught:
        liestep.load_plugin(path)
    assert "\n" not in str(caught.value)


def test_check_system_passes_on_the_example_and_shows_the_power():
    rows = check_system(load("satellite"))
    assert all(row.ok is not False for row in rows), [row for row in rows if row.ok is False]
    assert not any(row.check == "rigid_bodies" for row in rows)  # lgvi has no such torques
    assert any("power" in row.found for row in rows)
    assert any(row.check.startswith("torque_slope") for row in rows)


def test_momentum_flags_are_tested_with_both_torques(tmp_path):
    path = tmp_path/"flagged_satellite.py"
    path.write_text((EXAMPLES/"satellite.py").read_text().replace('p["drag"] == 0.0),', "True),"))
    liestep.load_plugin(path)
    rows = {row.check: row for row in check_system("flagged_satellite")}
    assert rows["momentum about z"].ok is False
