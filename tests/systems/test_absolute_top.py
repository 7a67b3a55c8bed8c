"""heavy_top in absolute coordinates: the same motion as jointed_body, and as its own fixed-point forms."""
import numpy as np
import pytest

from liestep import simulate
from liestep.errors import InputError
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.specification import applicable, specify, specify_problem, start_of
from liestep.tools.inspect.check_system import SLOPE_LIMIT, torque_slopes

CENTRES = {"joint": [0.0, 1.0, 0.0], "center_of_mass": [0.0, 0.0, 0.0]}
END = {"t_end": 0.5, "steps": 500, "samples": 2}


@pytest.mark.parametrize("point", CENTRES)
@pytest.mark.parametrize(("integrator", "options"), [
    ("rkmk", {"action": "se3", "twist": "body"}), ("rkmk", {"action": "so3_r3", "chart": "cayley"}),
    ("rkmk", {"action": "se3", "twist": "spatial", "attitude": "rotation_vector"}),
    ("rkmk", {"action": "so3_r3", "stabilisation": "projection"}),
    ("generalized_alpha", {"action": "se3"}), ("generalized_alpha", {"action": "so3_r3"})])
def test_the_top_is_a_jointed_body(integrator, options, point):
    """To the last bit: both make the same mechanism."""
    own = simulate("heavy_top", integrator, preset="classical", options=options | {"reference_point": point}, **END)
    other = simulate("jointed_body", integrator, preset="bruels_cardona", options=options,
                     parameters={"center_of_mass": CENTRES[point]}, **END)
    for name in ("attitude", "position", "velocity", "body_rate"):
        assert np.array_equal(own[name].values, other[name].values[:, 0]), name
    assert np.array_equal(own["multiplier"].values, other["multiplier"].values)
    for name in ("energy_error_max", "joint_error_max", "momentum_error_max_z"):
        assert own.attrs[name] == other.attrs[name]


@pytest.mark.parametrize("action", ["se3", "so3_r3"])
def test_the_motion_is_that_about_the_fixed_point(action):
    """Centre of mass off the principal axes; the reference is a run of the fixed-point form."""
    request = {"preset": "asymmetric", "t_end": 1.0, "samples": 2}
    fixed = simulate("heavy_top", "rkmk tableau=dormand_prince5", steps=2000, **request)
    for name in ("attitude", "angular_momentum", "body_momentum", "gravity_body"):
        assert np.abs(fixed[name].values[-1] - fixed[name].values[0]).max() > 0.1
        ends = [simulate("heavy_top", "rkmk", steps=steps, options={"action": action}, **request)[name].values[-1]
                for steps in (100, 200)]
        gaps = [np.abs(end - fixed[name].values[-1]).max() for end in ends]
        assert np.log2(gaps[0]/gaps[1]) == pytest.approx(4.0, abs=0.25)
        assert gaps[1] < 1e-6


def test_a_start_of_the_fixed_point_form_fits_the_joint():
    data = simulate("heavy_top", "rkmk", preset="asymmetric", steps=10, t_end=0.01, samples=2,
                    options={"action": "se3", "reference_point": "center_of_mass"})
    start = start_of("heavy_top", preset="asymmetric")
    assert np.abs(data["angular_momentum"].values[0] - start.initial["angular_momentum"]).max() < 4e-15
    assert np.abs(data["position"].values[0] - start.initial["attitude"] @ start.parameters["axis"]*0.5).max() < 1e-16
    assert data.attrs["joint_rate_error_max"] < 1e-14


@pytest.mark.parametrize("action", ["se3", "so3_r3"])
def test_an_inertia_that_no_centre_of_mass_has_is_refused(action):
    """As printed in liegroup2021: about the centre of mass one moment would be negative."""
    said = f"option action is '{action}': absolute coordinates need an inertia about the centre of mass that is"
    with pytest.raises(InputError, match=said):
        specify("heavy_top", "rkmk", preset="printed", steps=10, options={"action": action})
    printed, classical = (start_of("heavy_top", preset=name).parameters for name in ("printed", "classical"))
    for integrator in ("generalized_alpha", "bliedf order=2", "lie_ab"):
        assert not applicable("heavy_top", integrator, printed)
        assert applicable("heavy_top", integrator, classical)
        with pytest.raises(InputError, match=r"cannot run on heavy_top: absolute coordinates need .* integrators that"):
            specify("heavy_top", integrator, preset="printed", steps=10)


def test_options_of_poses_exist_with_actions_on_poses_alone():
    assert set(specify("heavy_top", "rkmk", steps=10).options) == {"action", "dexpinv", "chart", "tableau"}
    assert set(specify("heavy_top", "rkmk", preset="classical", steps=10, options={"action": "se3"}).options) == {
        "action", "dexpinv", "tableau", "chart", "attitude", "twist", "stabilisation", "stabilisation_rate",
        "reference_point"}
    for name, value in (("twist", "body"), ("reference_point", "joint"), ("stabilisation_rate", 3.0)):
        with pytest.raises(InputError, match=f"option {name} exists with action se3 or so3_r3, not semidirect"):
            specify("heavy_top", "rkmk", steps=10, options={name: value})
    with pytest.raises(InputError, match="option reference_point does not exist for lie_action of Rigid body on a"):
        specify("jointed_body", "rkmk", steps=10, options={"reference_point": "joint"})


@pytest.mark.parametrize("preset", ["printed", "classical"])
def test_checks_of_the_system_pass_over_forms_that_it_lacks(preset):
    found = dict(torque_slopes(sheet("heavy_top"), specify_problem("heavy_top", preset=preset)))
    assert "cotangent_rotation" in found
    assert max(found.values()) < SLOPE_LIMIT
