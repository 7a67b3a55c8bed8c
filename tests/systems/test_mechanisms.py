"""Mechanisms: range space against a dense solve, starts and joints that are refused, exactness of lower pairs."""
import re

import joint_rows
import numpy as np
import pytest
from mechanism_cases import dense, mixed_rates

import liestep
from liestep.compile.status import IntegrationError
from liestep.errors import InputError
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly, spherical
from liestep.mechanics.formulations.multibody.family import jacobian, residuals
from liestep.mechanics.formulations.multibody.force_elements import Spring, Torque
from liestep.mechanics.systems.four_bar import assembled
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify, start_of

CASES = [("jointed_body", "asymmetric_top"), ("jointed_body", "revolute"), ("jointed_body", "universal"),
         ("jointed_body", "cylindrical"), ("jointed_body", "prismatic"), ("jointed_body", "screw"),
         ("jointed_body", "spring_offset"), ("four_bar", "tilted"), ("four_bar", "unequal")]


@pytest.mark.parametrize(("system", "preset"), CASES)
@pytest.mark.parametrize("twist", ["mixed", "body", "spatial"])
def test_accelerations_are_those_of_a_dense_solve(system, preset, twist):
    start = start_of(system, preset=preset)
    assembly = sheet(system).build(start.parameters)
    rates, multipliers = dense(assembly, start.initial)
    form = formulate(sheet(system), start.parameters, start.initial, "lie_action", {"twist": twist})
    problem, out = plain(form.problem), np.zeros((form.problem.algebra_rows(), 3))
    assert problem.algebra(0.0, form.start, out)
    scale = max(1.0, np.abs(rates).max(), np.abs(multipliers).max() if len(multipliers) else 0.0)
    assert np.abs(mixed_rates(start.initial, twist, out) - rates).max() < 2e-8*scale
    if len(multipliers):
        found = form.to_fields(form.start[None])["multiplier"][0]
        assert np.abs(found - multipliers).max() < 2e-8*scale


@pytest.mark.parametrize("kind", ["spherical", "revolute", "cylindrical", "prismatic", "screw", "universal"])
def test_which_joints_of_one_body_are_exact(kind):
    """With body velocities SE(3) keeps joints that make a group: a Cayley step those without a screw, and a universal
    joint is no group. Mixed velocities keep none that turns."""
    def worst(**options):
        data = liestep.simulate("jointed_body", "rkmk", preset=kind, steps=200, samples=2, options=options)
        return max(data.attrs["joint_error_max"], data.attrs["joint_rate_error_max"])

    exponential, cayley, direct = worst(), worst(chart="cayley"), worst(action="so3_r3", twist="body")
    if kind == "universal":
        assert min(exponential, cayley, direct) > 1e-9
    else:
        assert exponential < 1e-11
        assert (cayley > 1e-8) if kind == "screw" else (cayley < 1e-11)
        assert (direct < 1e-11) if kind == "prismatic" else (direct > 1e-9)
        assert kind == "prismatic" or worst(twist="mixed") > 1e-9


def test_a_start_off_a_joint_is_refused_and_the_nearest_one_offered():
    start = start_of("jointed_body")
    off = {**start.initial, "position": start.initial["position"] + np.array([[0.0, 1e-3, 0.0]])}
    with pytest.raises(InputError, match=r"the start is off joint 0 \(spherical, body 0 to the ground\) by 0.001"):
        specify("jointed_body", "rkmk", steps=10, initial=off)
    fit = liestep.consistent_start("jointed_body", initial=off)
    assert specify("jointed_body", "rkmk", steps=10, initial=fit).initial["position"] is not None
    assert 0.0 < np.abs(fit["position"] - off["position"]).max() < 2e-3
    slip = {**start.initial, "velocity": start.initial["velocity"] + np.array([[0.1, 0.0, 0.0]])}
    with pytest.raises(InputError, match=r"the velocity of the start breaks joint 0 \(spherical"):
        specify("jointed_body", "rkmk", steps=10, initial=slip)
    assembly = sheet("jointed_body").build(start.parameters)
    assert max(np.abs(part).max() for part in residuals(assembly, liestep.consistent_start(
        "jointed_body", initial=slip))) < 1e-13
    with pytest.raises(InputError, match="has no joints that a start could miss; systems with joints: four_bar"):
        liestep.consistent_start("heavy_top")


@pytest.mark.parametrize(("system", "request_", "said"), [
    ("jointed_body", {"parameters": {"inertia": np.diag([1.0, 1.0, 3.0]).tolist()}}, "is of no body"),
    ("jointed_body", {"parameters": {"inertia": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}}, "must be a symmetric matrix"),
    ("jointed_body", {"preset": "revolute", "parameters": {"joint_axis": [0, 0, 2.0]}},
     "parameter joint_axis is not a unit vector"),
    ("jointed_body", {"preset": "revolute", "parameters": {"space_axis": [0.0, 0.0, 1.0]}},
     "the start is off joint 0 (revolute"),
    ("jointed_body", {"preset": "screw", "parameters": {"screw_lead": 0.0}}, "a screw without lead"),
    ("four_bar", {"parameters": {"length": [1.0, 9.0, 1.5, 2.0]}}, "coupler and rocker do not meet"),
    ("four_bar", {"parameters": {"plane": np.ones((3, 3)).tolist()}}, "plane is not a rotation"),
    ("jointed_body", {"preset": "revolute", "parameters": {"joint_axis": [0, 0, 0]}},
     "parameter joint_axis is not a unit vector"),
    ("jointed_body", {"parameters": {"inertia": np.diag([1.0, 2.0, -1.0]).tolist()}}, "must be positive definite"),
    ("four_bar", {"initial": {"position": np.zeros((2, 3))}}, "initial position must be of shape (3, 3), not (2, 3)"),
    ("jointed_body", {"initial": {"body_rate": [[1, 2, 3, 4]]}},
     "initial body_rate must be of shape (1, 3), not (1, 4)"),
    ("heavy_top", {"preset": "printed", "options": {"action": "so3_r3"}},
     "need an inertia about the centre of mass that is positive definite; its smallest moment is -59.8 kg m2")])
def test_what_makes_no_mechanism_is_refused(system, request_, said):
    with pytest.raises(InputError, match=re.escape(said)):
        specify(system, "rkmk", steps=10, **request_)


def pitched(angle, rate):
    """A free body without force that turns about its second axis."""
    c, s = np.cos(angle), np.sin(angle)
    return {"preset": "free", "options": {"form": "euler"}, "steps": 100, "t_end": 0.1, "initial": {
        "attitude": [[[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]], "body_rate": [[0.0, rate, 0.0]]}}


@pytest.mark.parametrize(("angle", "rate", "until"), [
    (np.pi/2, 0.0, 0.0), (np.pi/2 - 1e-7, 0.0, 0.0), (np.pi/2 - 0.05, 1.0, 0.049)])
def test_euler_angles_stop_at_their_pole(angle, rate, until):
    with pytest.raises(IntegrationError, match=f"stopped after t = {until:g}: the right-hand side cannot be evaluated"):
        liestep.simulate("jointed_body", "rk4", **pitched(angle, rate))


def test_euler_angles_beside_their_pole_are_right():
    data = liestep.simulate("jointed_body", "rk4", **pitched(np.pi/2 - 0.05025, 1.0))  # no stage meets it
    assert data["attitude"].values[-1, 0, 0, 0] == pytest.approx(np.cos(np.pi/2 + 0.04975), abs=1e-10)


@pytest.mark.parametrize(("options", "said"), [
    ({"action": "se4"}, "allowed are se3, so3_r3"), ({"chart": "log"}, "allowed are exp, cayley, cayley2"),
    ({"form": "euler"}, "option form does not exist for lie_action")])
def test_options_of_the_action_are_checked(options, said):
    with pytest.raises(InputError, match=said):
        specify("jointed_body", "rkmk", steps=10, options=options)


@pytest.mark.parametrize(("system", "preset"), [
    ("jointed_body", "universal"), ("jointed_body", "cylindrical"), ("jointed_body", "screw"),
    ("jointed_body", "rolling_disc"), ("jointed_body", "sleigh"), ("four_bar", "unequal"), ("four_bar", "driven")])
def test_rows_and_residuals_of_joints_are_those_written_down_anew(system, preset):
    """Off the joints too; of the drive the rate that it asks for at t = 0 is taken off A V."""
    start, random = start_of(system, preset=preset), np.random.default_rng(3)
    assembly = sheet(system).build(start.parameters)
    state = {name: value + (0.0 if name == "attitude" else 0.1*random.standard_normal(value.shape))
             for name, value in start.initial.items()}
    wanted = np.zeros(assembly.row_count)
    if preset == "driven":
        _, speed, swing, frequency = start.parameters["drive"]
        wanted[-1] = speed + swing*frequency
    gaps, rates = joint_rows.residuals(assembly, state)
    np.testing.assert_allclose(residuals(assembly, state), (gaps, rates - wanted), atol=1e-13)
    np.testing.assert_allclose(jacobian(assembly, state), joint_rows.jacobian(assembly, state), atol=1e-13)


def test_screws_wind_modulo_one_lead():
    start = start_of("jointed_body", preset="screw")
    assembly = sheet("jointed_body").build(start.parameters)
    axis, lead = start.parameters["space_axis"], start.parameters["screw_lead"]
    for turns, expected in ((1.0, 0.0), (-3.0, 0.0), (0.25, 0.25*lead), (0.75, -0.25*lead)):
        moved = {**start.initial, "position": start.initial["position"] + turns*lead*axis}
        assert residuals(assembly, moved)[0][-1] == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("system", "preset", "t_end"), [("jointed_body", "free_offset", 2.0),
                                                         ("four_bar", "tilted", 0.4)])
def test_references_of_two_engines_agree(system, preset, t_end):
    """Exact motion against a Taylor series; DOP853 against it where the reactions are large beside the motion."""
    found = liestep.reference(system, preset=preset, samples=51, t_end=t_end).attrs
    assert max(value for name, value in found.items() if name.startswith("disagreement_")) < 1e-12


@pytest.mark.parametrize(("chart", "rate", "said"), [
    ("exp", 6.3, "2 pi"), ("cayley", 6.3, "pi (used up to 174 degrees)"),
    ("cayley2", 12.6, "2 pi (used up to 348 degrees)")])
def test_a_turn_beyond_a_chart_names_the_chart(chart, rate, said):
    """Within a step of one second. Coordinates of Cayley maps grow without limit there, those of a step of order 4 only
    later: a step by little less than pi stays inside and is wrong by 0.2."""
    request = {"preset": "free", "steps": 1, "t_end": 1.0, "options": {"chart": chart},
               "initial": {"body_rate": [[0.0, 0.0, rate]]}}
    with pytest.raises(liestep.IntegrationError, match=f"rkmk on jointed_body in the chart {chart}, which ends at a"):
        liestep.simulate("jointed_body", "rkmk", **request)
    data = liestep.simulate("jointed_body", "rkmk", on_failure="return", **request)
    assert data.attrs["status"] == "chart_limit"
    assert f"it ran in the chart {chart}, which ends at a turn of {said}" in data.attrs["message"]


@pytest.mark.parametrize(("parts", "said"), [
    ({"joints": (spherical(2, np.zeros(3), GROUND, np.zeros(3)),)}, r"joint 0 \(spherical\) is at body 2; bodies are"
     " numbered from 0 to 1, and GROUND is allowed"),
    ({"joints": (spherical(0, np.zeros(3), -2, np.zeros(3)),)}, "at body -2"),
    ({"elements": (Spring(GROUND, np.zeros(3), np.zeros(3), 1.0),)}, r"element 0 \(spring_damper\) is between the"
     " ground and itself"),
    ({"elements": (Torque(0, np.eye(3)[0], b=5),)}, r"element 0 \(torque\) is at body 5")])
def test_a_part_at_a_body_that_there_is_not_is_refused(parts, said):
    """Numbers that are taken modulo the number of bodies would join others without a word."""
    with pytest.raises(InputError, match=said):
        Assembly(np.ones(2), np.stack([np.eye(3)]*2), np.zeros((2, 3)), np.zeros(3), **parts)


def in_one_line(integrator, ground=2.5, rate=2.0, **request):
    """Run of bars of 1, 2, 1.5 m that lie in one line where the crank is at 180 degrees if the pivots are 2.5 m apart:
    there the last row of the joints depends on the others. No gravity: nothing but the joints changes the energy."""
    given = sheet("four_bar").presets["tilted"].parameters | {"length": [1.0, 2.0, 1.5, ground], "gravity": [0.0]*3}
    start = assembled(sheet("four_bar").check(given), 1.0, rate)
    return liestep.simulate("four_bar", integrator, parameters=given, initial=start, t_end=2.0, on_failure="return",
                            **request)


@pytest.mark.parametrize(("integrator", "request_"), [
    ("rk4", {"steps": 1000}), ("rk4", {"steps": 1000, "options": {"form": "euler"}}), ("rkmk", {"steps": 1000}),
    ("rkmk", {"steps": 1000, "options": {"stabilisation": "projection"}}),
    ("rkmk_pair", {"tolerance": 1e-10}), ("taylor", {"tolerance": 1e-8})])
def test_joints_that_lose_rank_end_a_run(integrator, request_):
    """rk4 went through and came out with 350 times the energy, the joints 0.3 m apart, and the status ok. The position
    is where the bars are in one line: |P_0 - P_3| of coupler and rocker is the sum of their lengths. A step that leaps
    over it sees nothing, as those of rkmk_pair at 1e-8 do (energy to 2e-5)."""
    data = in_one_line(integrator, **request_)
    assert data.attrs["status"] == "rank_lost"
    assert "stop before this position" in data.attrs["message"]
    crank = data["attitude"].values[-1, 0] @ np.eye(3)[0]
    ground = np.array(sheet("four_bar").presets["tilted"].parameters["plane"]) @ np.eye(3)[0]
    assert crank @ ground < -0.99
    assert data.attrs["energy_error_max"] <= 1e-6*data["energy"].values[0]


@pytest.mark.parametrize(("integrator", "ground", "request_"), [
    ("rk4", 2.49, {"steps": 1000}), ("generalized_alpha", 2.5, {"steps": 1000})])
def test_runs_beside_the_position_and_without_that_matrix_go_on(integrator, ground, request_):
    data = in_one_line(integrator, ground, **request_)
    assert data.attrs["status"] == "ok"
    assert data.attrs["energy_error_max"] <= 1e-4*data["energy"].values[0]


@pytest.mark.parametrize("name", ["rkmk_pair", "rkmk853", "cf_pair", "lie_taylor"])
def test_adaptive_methods_return_to_the_joints_after_each_step(name):
    """States between steps too; the error is no larger than without."""
    request = {"preset": "universal", "tolerance": 1e-6, "t_end": 1.0, "samples": 11}
    exact = liestep.simulate("jointed_body", "dop853", **request | {"tolerance": 1e-12})
    found = {}
    for choice in ("none", "projection"):
        data = liestep.simulate("jointed_body", name, options={"stabilisation": choice}, **request)
        found[choice] = max(data["joint_error"].values.max(), data["joint_rate_error"].values.max())
        assert np.abs(data["position"] - exact["position"]).max() < 2e-5
    assert found["projection"] < 1e-13 < 1e-9 < found["none"]


LENGTHS = {"kg": 0, "1": 0, "kg m2": 2, "m": 1, "m s-2": 1, "N m-1": 0, "rad s-1": 0, "m s-1": 1, "kg m s-1": 1,
           "kg m2 s-1": 2}  # powers of m in units


@pytest.mark.parametrize("power", [-40, 40])
@pytest.mark.parametrize("name", ["four_bar", "jointed_body"])
def test_mechanisms_of_any_size_start_and_keep_their_bits(name, power):
    """Checks of joints compare lengths with the mechanism's own, not with 1 m; rank is that in a metric without units.
    Powers of two change no digit."""
    spec = specify(name, "rk4", steps=3, t_end=0.01)
    units = {part.name: part.units for part in formulate(sheet(name), spec.parameters, spec.initial, "vector_field",
                                                         dict(spec.options)).fields}
    scaled = {key: value if isinstance(value, str) else (np.array(value)*2.0**(power*LENGTHS[unit])).tolist()
              for key, value in spec.parameters.items() for unit in [sheet(name).parameters[key].units]}
    start = {key: np.array(value)*2.0**(power*LENGTHS[units[key]]) for key, value in spec.initial.items()}
    own = liestep.simulate(name, "rk4", steps=3, t_end=0.01)
    other = liestep.simulate(name, "rk4", parameters=scaled, initial=start, steps=3, t_end=0.01)
    for key in spec.initial:
        assert np.array_equal(other[key], own[key]*2.0**(power*LENGTHS[units[key]])), key


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_a_mechanism_of_any_size_may_be_open_by_a_share_of_it(size):
    """The same share of an arm is refused in all units, and the nearest start closes the joint to round-off."""
    own = specify("jointed_body", "rk4", preset="asymmetric_top", steps=1, t_end=0.01)
    given = {key: value if isinstance(value, str)
             else (np.array(value)*size**LENGTHS[sheet("jointed_body").parameters[key].units]).tolist()
             for key, value in own.parameters.items()}
    start = {key: np.array(value) for key, value in own.initial.items()}
    arm = float(np.abs(given["center_of_mass"]).max() + np.abs(given["joint_point"]).max())
    start["position"] = start["position"]*size + [1e-6*arm, 0.0, 0.0]
    start["velocity"] = start["velocity"]*size
    with pytest.raises(InputError, match="the start is off joint 0"):
        specify("jointed_body", "rk4", parameters=given, initial=start, steps=1, t_end=0.01)
    found = liestep.consistent_start("jointed_body", parameters=given, initial=start)
    specify("jointed_body", "rk4", parameters=given, initial=found, steps=1, t_end=0.01)
