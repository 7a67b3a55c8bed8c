"""Kicks and great circles on spheres: exact flows, momenta, identities with tops and other steps, refusals; in plain
Python but for one run. Orders, symmetry and symplectic form: `test_certificates`."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_runs import stepped
from rigid_cases import formulated
from scipy.spatial.transform import Rotation

from liestep import simulate
from liestep.errors import InputError
from liestep.integrators.sphere_split import SphereSplit
from liestep.integrators.weights import NYSTROEM_SCHEMES, SPLITTING_ORDERS, drifts_and_kicks
from liestep.simulation.catalogue import method
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify

BODIES = ("sphere_nbody", "four_bodies")


def split(name):
    return SphereSplit(*drifts_and_kicks(name))


def bodies():
    case = formulated(*BODIES, "sphere_lagrangian", mass="diagonal")
    return plain(case.problem), case.start


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(list(SPLITTING_ORDERS)))
def test_momentum_length_reversal_and_rotations_of_space(seed, name):
    problem, y = bodies()
    turn = Rotation.random(random_state=seed).as_matrix()
    new = stepped(split(name), problem, y, 0.05, 3)
    assert np.abs(stepped(split(name), problem, new, -0.05, 3) - y).max() <= 1e-13
    assert np.abs(stepped(split(name), problem, y @ turn.T, 0.05, 3) - new @ turn.T).max() <= 1e-12
    assert np.abs((new[:4]**2).sum(axis=1) - 1.0).max() <= 1e-14
    assert np.abs((new[:4]*new[4:]).sum(axis=1)).max() <= 1e-14
    assert np.abs((new - y)[4:].sum(axis=0)).max() <= 1e-14  # four unit masses


def test_one_body_without_force_moves_on_its_great_circle():
    """Whatever the angle of a step: no limit of 90 degrees as for vi_sphere."""
    data = simulate("sphere_nbody", "sphere_split", preset="paper", step=3.0, t_end=9.0, samples=4,
                    parameters={"mass": [1.0, 1.0], "gamma": 0.0}, options={"splitting": "strang"},
                    initial={"q": [[1, 0, 0], [0, 1, 0]], "omega": [[0, 0, 2.0], [0.1, 0, 0]]})
    angle = 18.0
    assert np.abs(data["q"].values[-1, 0] - [np.cos(angle), np.sin(angle), 0.0]).max() <= 1e-14


@pytest.mark.parametrize("name", list(NYSTROEM_SCHEMES))
def test_a_pendulum_on_a_sphere_is_a_top_without_spin_about_its_lever(name):
    """A spherical pendulum as a body on the sphere, and as a top with equal moments: the same q = Q e_3."""
    sphere = formulated("spring_pendula", "column",
                        "sphere_lagrangian", {"mass": [1.3]*2, "length": [0.7]*2, "gravity": [0.0, 0.0, -9.81],
                                              "stiffness": [0.0], "pairs": [[0, 1]],
                                              "pivots": [[0.0]*3, [2.0, 0.0, 0.0]]},
                        {"q": np.array([[0.6, 0.0, -0.8]]*2), "omega": np.array([[0.8, 1.5, 0.6]]*2)}, mass="diagonal")
    moment = 1.3*0.7**2
    attitude = np.stack([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]], axis=1)
    top = formulated("heavy_top", "rodrigues2021", "rigid_bodies",
                     {"inertia": [moment]*3, "mass": 1.3, "length": 0.7, "axis": [0.0, 0.0, -1.0],
                      "gravity": [0.0, 0.0, -9.81]},
                     {"attitude": attitude, "angular_momentum": moment*np.array([0.8, 1.5, 0.6])})
    one = stepped(split(name), plain(sphere.problem), sphere.start, 0.1, 5)
    body = method("exact_split").build({"splitting": name}, None, 1.0)
    other = stepped(body, plain(top.problem), top.start, 0.1, 5)
    assert np.abs(one[0] + other[2]).max() <= 1e-13


def test_coupled_masses_are_refused_by_name():
    with pytest.raises(InputError, match=r"diagonal mass matrix, and the masses .* coupled \(vi_sphere takes any\)"):
        specify("spherical_pendulum_chain", "sphere_split", preset="orders", steps=10)
    with pytest.raises(InputError, match=r"option mass is dense, .* allowed is diagonal"):
        specify(*BODIES[:1], "sphere_split", preset=BODIES[1], steps=10, options={"mass": "dense"})


def test_two_bodies_at_one_point_are_refused_before_a_step():
    start = {"q": [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]], "omega": [[0, 0, 0]]*4}
    with pytest.raises(InputError, match="bodies 1 and 2 are at one point, where the potential is infinite; allowed"):
        specify(*BODIES[:1], "sphere_split", preset=BODIES[1], steps=10, initial=start)


@pytest.mark.parametrize("wrong", ["swapped kicks", "sign of a kick"])
def test_wrong_coefficients_lose_the_order(wrong):
    problem, y = bodies()
    drifts, kicks = drifts_and_kicks("rkn6")
    if wrong == "swapped kicks":
        kicks[[0, 1, -2, -1]] = kicks[[1, 0, -1, -2]]
    else:
        kicks[4] = -kicks[4]
    errors = [np.abs(stepped(SphereSplit(drifts, kicks), problem, y, h)
                     - stepped(split("kl8"), problem, y, h/4, 4)).max() for h in (0.1, 0.05)]
    assert np.log2(errors[0]/errors[1]) - 1.0 <= 2.5


def test_evaluations_of_a_step():
    """The last gradient of a step is the first of the next."""
    for name, count in (("strang", 1), ("y4", 3), ("rkn4", 6), ("rkn6", 11), ("rkn6a", 14), ("kl8", 17)):
        problem, y = bodies()
        stepped(split(name), problem, y, 0.01, 3)
        assert problem.counters[0] == 3*count + (name != "rkn6a")
