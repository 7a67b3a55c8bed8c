"""Parameters and starts that make no system are refused in one sentence."""
import numpy as np
import pytest
from system_cases import case

from liestep.errors import InputError
from liestep.simulation.catalogue import sheet, system_entry

PRINTED_DECIMALS = {
    "spherical_pendulum_chain": ({"q": (0, [0.8660, 0.0, 0.5]), "omega": (0, [-0.4330, 0.0, 0.75])}, "q[0]"),
    "spring_pendula": ({"q": (2, [0.4698, 0.1710, 0.8660])}, "q[2]"),
    "dipole_array": ({"q": (15, [0.3536, 0.3536, -0.8660])}, "q[15]"),
}


@pytest.mark.parametrize("name", PRINTED_DECIMALS)
def test_printed_four_digit_starts_are_refused(name):
    c = case(name, "paper")
    changes, where = PRINTED_DECIMALS[name]
    state = {key: value.copy() for key, value in c.start.items()}
    for key, (body, digits) in changes.items():
        assert np.abs(state[key][body] - digits).max() <= 5.1e-5  # the roots are what the paper rounded
        state[key][body] = digits
    with pytest.raises(InputError, match="not a unit vector") as error:
        c.sheet.check_initial(c.parameters, state)
    assert where in str(error.value)


def test_rounded_angular_velocity_is_refused():
    c = case("spherical_pendulum_chain", "paper")
    omega = c.start["omega"].copy()
    omega[0] = [-0.4330, 0.0, 0.75]
    with pytest.raises(InputError, match=r"omega\[0\] is not orthogonal to q\[0\]"):
        c.sheet.check_initial(c.parameters, {"q": c.start["q"], "omega": omega})


@pytest.mark.parametrize(("changes", "sentence"), [
    ({"extra": [[0.0]]}, "unknown initial state field 'extra'"),
    ({"q": None}, "initial state field q is missing"),
    ({"q": [[0.0, 0.0, 1.0]]}, r"initial q must be of shape \(2, 3\), not \(1, 3\)"),
    ({"omega": [["a", 0.0, 1.0]]*2}, "initial omega must be numbers"),
    ({"omega": [[np.nan, 0.0, 0.0]]*2}, "initial omega must be finite numbers"),
])
def test_wrong_starts_are_refused(changes, sentence):
    c = case("spherical_pendulum_chain", "paper")
    state = {key: value for key, value in {**c.start, **changes}.items() if value is not None}
    with pytest.raises(InputError, match=sentence):
        c.sheet.check_initial(c.parameters, state)


@pytest.mark.parametrize(("name", "changes", "sentence"), [
    ("spherical_pendulum_chain", {"mass": [1.0, 1.0, 1.0]},
     r"parameter length must be of shape \(n\) with size 3, not of shape \(2,\)"),
    ("spherical_pendulum_chain", {"mass": 1.0}, r"parameter mass must be of shape \(n\), not of shape \(\)"),
    ("spherical_pendulum_chain", {"mass": [1.0, -1.0]}, "parameter mass must be positive"),
    ("spherical_pendulum_chain", {"mass": [], "length": []}, "parameter mass must not be empty"),
    ("spherical_pendulum_chain", {"length": [1.0, np.nan]}, "parameter length must be finite numbers"),
    ("spherical_pendulum_chain", {"gravity": 9.81}, r"parameter gravity must be of shape \(3\), not of shape \(\)"),
    ("spherical_pendulum_chain", {"gravity": [0.0, 9.81]},
     r"parameter gravity must be of shape \(3\) with size 3, not of shape \(2,\)"),
    ("spherical_pendulum_chain", {"gravtiy": [0.0, 0.0, 1.0]}, "unknown parameter 'gravtiy'; did you mean gravity\\?"),
    ("spherical_pendulum_chain", {"gravity": None}, "parameter gravity is missing"),
    ("spherical_pendulum_chain", {"mass": [[1.0], [1.0, 2.0]]}, "parameter mass must be numbers"),
    ("sphere_nbody", {"gamma": np.inf}, "parameter gamma must be finite numbers"),
    ("sphere_nbody", {"gamma": "strong"}, "parameter gamma must be numbers, not 'strong'"),
    ("sphere_nbody", {"gamma": [1.0]}, r"parameter gamma must be a scalar, not of shape \(1,\)"),
    ("spring_pendula", {"pairs": [[0, 1], [1, 2], [2, 3], [3, 4]]}, "two different pendula with numbers from 0 to 3"),
    ("spring_pendula", {"pairs": [[0, 1], [1, 2], [2, 3], [3, 3]]}, r"parameter pairs contains \(3, 3\)"),
    ("spring_pendula", {"pairs": [[0, 1], [1, 2], [2, 3], [3, 0.5]]}, "parameter pairs must be integers"),
    ("spring_pendula", {"pairs": [[0, 1], [1, 2], [2, 3], [3, -1]]}, "parameter pairs must not be negative"),
    ("spring_pendula", {"stiffness": [1.0, 1.0, 1.0, -1.0]}, "parameter stiffness must not be negative"),
    ("spring_pendula", {"stiffness": [1.0]},
     r"parameter pairs must be of shape \(m, 2\) with size 1, not of shape \(4, 2\)"),
    ("elastic_rod", {"elements": 0}, "parameter elements must be at least 1"),
    ("elastic_rod", {"elements": 2.5}, "parameter elements must be integers"),
    ("elastic_rod", {"inertia": "corrected"}, "parameter inertia is 'corrected'; allowed are printed, consistent"),
    ("elastic_rod", {"inertia": ["printed"]}, "allowed are printed, consistent"),
    ("elastic_rod", {"clamp": [0.8660, 0.0, 0.5]}, "parameter clamp is not a unit vector"),
    ("elastic_rod", {"clamp": [0.0, 0.0, 0.0]}, "parameter clamp is not a unit vector"),
    ("dipole_array", {"positions": [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]},
     "puts dipoles 0 and 2 at the same place"),
    ("dipole_array", {"moment": 0.0}, "parameter moment must be positive"),
    ("lennard_jones_sphere", {"sigma": -1.0}, "parameter sigma must be positive"),
])
def test_wrong_parameters_are_refused_in_one_sentence(name, changes, sentence):
    facts = sheet(name)
    parameters = {key: value
                  for key, value in {**facts.presets["paper"].parameters, **changes}.items() if value is not None}
    with pytest.raises(InputError, match=sentence) as error:
        facts.check(parameters)
    assert "\n" not in str(error.value)


def test_molecules_without_icosphere_need_a_start():
    facts = sheet("lennard_jones_sphere")
    parameters = facts.check({"mass": np.ones(100), "epsilon": 0.01, "sigma": 0.1})
    with pytest.raises(InputError, match="no icosphere with 100 vertices"):
        facts.presets["paper"].initial(parameters)


@pytest.mark.parametrize(("i", "j"), [(0, 1), (7, 41), (40, 2)])
def test_two_molecules_at_one_point_are_named(i, j):
    """Molecules that are as far along the direction in which they are ordered, but elsewhere, are no complaint."""
    facts = sheet("lennard_jones_sphere")
    parameters = facts.check(facts.presets["level1"].parameters)
    start = facts.presets["level1"].initial(parameters)
    facts.check_initial(parameters, start)
    level = np.array([0.0, 3.0, -2.0])/np.sqrt(13.0)
    start["q"][3:5], start["omega"][:] = (level, -level), 0.0
    facts.check_initial(parameters, start)
    start["q"][i] = start["q"][j] + [1e-13, 0.0, 0.0]
    with pytest.raises(InputError, match=rf"molecules {min(i, j)} and {max(i, j)} are at one point, where the poten"):
        facts.check_initial(parameters, start)
    facts.check_initial({**parameters, "epsilon": 0.0}, start)


def test_unknown_system_names_the_closest():
    with pytest.raises(InputError, match=r"did you mean elastic_rod\?"):
        system_entry("elastic_rot")
