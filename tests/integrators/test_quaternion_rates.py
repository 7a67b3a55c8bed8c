"""The form `quaternion` of bodies about a fixed point: beside the matrix form, an exact motion and scipy; the group's
defect at every tolerance, torques of time, and sentences where there is no such form."""
import json

import numpy as np
import pytest
from force_cases import load
from plugin_room import _nothing_stays  # noqa: F401
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import liestep
from liestep import simulate
from liestep.errors import InputError
from liestep.geometry.attitude import to_body
from liestep.mechanics.systems._free_motion import free_motion
from liestep.mechanics.systems.heavy_top import HeavyTop
from liestep.simulation.catalogue import method, sheet
from liestep.simulation.runs.specification import complete_options, specify, start_of
from liestep.tools.recommend.trials import request

pytestmark = pytest.mark.slow

QUATERNION = {"form": "quaternion"}
TOLERANCES = (1e-2, 1e-4, 1e-8, 1e-12)


def defect(run):
    axes = run["attitude"].values
    return np.abs(np.swapaxes(axes, 1, 2) @ axes - np.eye(3)).max()


def gap(one, other):
    """Largest difference of the attitudes, and of the momenta relative to the largest."""
    size = np.abs(other["angular_momentum"].values).max()
    return max(np.abs(one["attitude"].values - other["attitude"].values).max(),
               np.abs(one["angular_momentum"].values - other["angular_momentum"].values).max()/size)


@pytest.mark.parametrize(("system", "preset", "t_end", "worst"), [
    ("free_rigid_body", "asymmetric", 10.0, 1e-11), ("free_rigid_body", "turning_over", 10.0, 1e-10),
    ("heavy_top", "asymmetric", 2.0, 1e-11), ("heavy_top", "classical", 2.0, 1e-9)])
def test_the_motion_is_that_of_the_matrix_form(system, preset, t_end, worst):
    found, matrix = (simulate(system, "taylor", preset=preset, tolerance=1e-13, t_end=t_end, samples=7, options=options)
                     for options in (QUATERNION, {}))
    assert 0.0 < gap(found, matrix) <= worst
    assert found["attitude"].shape == (7, 3, 3)
    assert set(found) == set(matrix)
    assert {**matrix.attrs, **found.attrs}.keys() == matrix.attrs.keys()
    specification = [json.loads(run.attrs["specification"]) for run in (found, matrix)]
    assert [run["options"]["form"] for run in specification] == ["quaternion", "orthonormal"]
    for name in ("energy", "momentum_casimir"):
        assert np.abs(found[name].values/matrix[name].values - 1.0).max() <= worst


@pytest.mark.parametrize(("system", "preset", "t_end"), [
    ("free_rigid_body", "asymmetric", 10.0), ("heavy_top", "asymmetric", 2.0), ("heavy_top", "classical", 2.0)])
def test_samples_are_rotations_at_every_tolerance(system, preset, t_end):
    """Between steps too."""
    runs = [simulate(system, "taylor", preset=preset, tolerance=tolerance, t_end=t_end, samples=101, options=QUATERNION)
            for tolerance in TOLERANCES]
    assert max(map(defect, runs)) <= 2e-15
    assert max(run.attrs["orthogonality_error_max"] for run in runs) <= 2e-15
    errors = [gap(run.isel(time=[-1]), runs[-1].isel(time=[-1])) for run in runs[:-1]]
    assert errors[0] > errors[1] > errors[2] > 0.0


def test_a_free_symmetric_body_precesses():
    """Q(t) = exp(t hat(pi/I_1)) Q_0 exp(t (1/I_3 - 1/I_1) Pi_3 hat(e_3)): two uniform rotations."""
    moments, turn = np.array([1.0, 1.0, 0.4]), Rotation.from_rotvec([0.3, -0.5, 0.8])
    momentum = np.array([0.7, -0.2, 1.1])
    run = simulate("free_rigid_body", "taylor", parameters={"inertia": moments}, tolerance=1e-14, t_end=12.0,
                   initial={"attitude": turn.as_matrix(), "angular_momentum": momentum}, options=QUATERNION)
    spin = (1.0/moments[2] - 1.0/moments[0])*(turn.as_matrix().T @ momentum)[2]
    exact = [(Rotation.from_rotvec(t*momentum/moments[0])*turn*Rotation.from_rotvec([0.0, 0.0, t*spin])).as_matrix()
             for t in run["time"].values]
    assert np.abs(run["attitude"].values - exact).max() <= 1e-12
    assert np.abs(run["angular_momentum"].values - momentum).max() <= 1e-12


@pytest.mark.parametrize("preset", ["default", "free"])
def test_torques_of_velocity_do_the_same_work(preset):
    load("satellite")
    found, matrix = (simulate("satellite", "taylor", preset=preset, tolerance=1e-13, t_end=3.0, samples=7,
                              options=options) for options in (QUATERNION, {}))
    assert gap(found, matrix) <= 1e-12
    assert np.abs(found["work"].values - matrix["work"].values).max() <= 1e-12
    assert (found["work"].values[-1] < -0.1) == (preset == "default")
    assert found.attrs["energy_error_max"] <= 1e-12


def potential(R, p):
    return 1.5*p.rate**2*(R[2] @ (p.inertia*R[2])) + 0.2*R[0, 1]*R[1, 2]


def test_plain_functions_have_the_form():
    body = liestep.system("gradient", potential=potential, inertia=[1.0, 2.0, 2.5], parameters={"rate": 1.0},
                          start={"R": np.eye(3), "rate": [0.1, 0.2, 0.3]})
    found, matrix = (body.simulate("taylor", tolerance=1e-13, t_end=4.0, options=options)
                     for options in (QUATERNION, {}))
    assert gap(found, matrix) <= 1e-12
    assert abs(np.trace(found["attitude"].values[-1]) - 3.0) > 0.5  # it has turned
    assert found.attrs["energy_error_max"] <= 1e-12


def test_torques_in_the_body_are_those_in_space():
    load("satellite")
    body = liestep.system("gradient", potential=potential, inertia=[1.0, 2.0, 2.5], parameters={"rate": 1.0},
                          start={"R": np.eye(3), "rate": [0.1, 0.2, 0.3]})
    tops = [sheet(name).build(start_of(name).parameters) for name in ("heavy_top", "satellite", body)]
    assert isinstance(tops[0], HeavyTop)
    for turn in Rotation.random(5, np.random.default_rng(2)).as_matrix():
        for top in tops:
            rows = np.ascontiguousarray(turn.T)
            wanted = to_body(rows, top.torque(rows))
            assert np.abs(wanted).max() > 1e-3
            assert np.allclose(top.body_torque(rows), wanted, rtol=0.0, atol=1e-13*np.abs(wanted).max() + 1e-15)
    rate, top = (0.3, -0.7, 1.1), tops[1]
    wanted = to_body(rows, top.applied(0.0, rows, tuple(turn @ rate)))
    assert np.allclose(top.body_applied(0.0, rows, rate), wanted, rtol=0.0, atol=1e-15)
    assert np.abs(wanted).max() > 0.1


def test_methods_with_fixed_steps_keep_the_length():
    runs = [simulate("heavy_top", "rk4", preset="asymmetric", steps=steps, t_end=1.0, samples=2, options=QUATERNION)
            for steps in (100, 200, 800)]
    errors = [gap(run, runs[2]) for run in runs[:2]]
    assert errors[0]/errors[1] == pytest.approx(16.0, rel=0.25)
    assert max(map(defect, runs)) <= 2e-15


def test_the_matrix_form_stays_what_is_taken():
    for system in ("free_rigid_body", "heavy_top"):
        parameters = start_of(system).parameters
        assert complete_options(method("taylor"), sheet(system), parameters, {})["form"] == "orthonormal"
        assert complete_options(method("rk4"), sheet(system), parameters, {})["form"] == "attitude"


def test_series_of_quaternions_are_longer_unless_told_otherwise():
    parameters = start_of("heavy_top").parameters
    orders = [complete_options(method("taylor"), sheet("heavy_top"), parameters, given)["order"]
              for given in ({}, QUATERNION, {**QUATERNION, "order": "tolerance"}, {**QUATERNION, "order": 9})]
    assert orders == ["tolerance", "raised", "tolerance", 9]
    runs = [simulate("heavy_top", "taylor", preset="asymmetric", tolerance=1e-6, t_end=2.0, samples=2,
                     options={**QUATERNION, "order": order}) for order in ("raised", 12, "tolerance", 8)]
    same = [run.attrs["steps_accepted"] for run in runs]
    assert same[0] == same[1] < 0.8*same[2]
    assert same[2] == same[3]
    assert np.array_equal(runs[0]["attitude"], runs[1]["attitude"])
    assert gap(runs[0], runs[2]) <= 1e-6



LONG, INERTIA, RATE = 2000.0, np.array([1.0, 2.0, 2.5]), np.array([0.2, -0.1, 0.4])


def by_scipy(tolerance, rates, start, rotation_of):
    """Attitude error of scipy's DOP853 for a free body at the end, and its evaluations."""
    found = solve_ivp(lambda t, y: rates(y), (0.0, LONG), start, "DOP853", rtol=tolerance, atol=tolerance)
    exact, _ = free_motion(INERTIA, np.eye(3), INERTIA*RATE, np.array([LONG]))
    return np.linalg.norm(rotation_of(found.y[:, -1]) - exact[0])/np.sqrt(2.0), found.nfev


def by_liestep(tolerance, form):
    run = simulate("free_rigid_body", "dop853", parameters={"inertia": INERTIA}, tolerance=tolerance, t_end=LONG,
                   initial={"attitude": np.eye(3), "angular_momentum": INERTIA*RATE}, samples=2,
                   options={"form": form, "atol": tolerance})
    exact, _ = free_motion(INERTIA, np.eye(3), INERTIA*RATE, np.array([LONG]))
    return np.linalg.norm(run["attitude"].values[-1] - exact[0])/np.sqrt(2.0), run.attrs["rhs_evaluations"]


def test_dop853_is_that_of_scipy_on_the_same_equations():
    """Of (Q, pi), whose errors of the attitude enter the rate, with the same norm; beside quaternions and Euler's
    equations, whose rate has none of them."""
    def matrix_rates(y):
        axes = y[:9].reshape(3, 3)  # columns of Q in rows
        w = axes.T @ ((axes @ y[9:])/INERTIA)
        return np.concatenate([np.cross(w, axes).ravel(), np.zeros(3)])

    def quaternion_rates(y):
        w = y[4:]
        return np.concatenate([[-0.5*y[1:4] @ w], 0.5*(y[0]*w + np.cross(y[1:4], w)), np.cross(INERTIA*w, w)/INERTIA])

    theirs = by_scipy(1e-9, matrix_rates, [*np.eye(3).ravel(), *INERTIA*RATE], lambda y: y[:9].reshape(3, 3).T)
    ours = by_liestep(1e-9, "attitude")
    assert ours[0] == pytest.approx(theirs[0], rel=1e-5)
    assert ours[1] == pytest.approx(theirs[1], rel=1e-3)
    fewer = by_scipy(1e-9, quaternion_rates, [1.0, 0.0, 0.0, 0.0, *RATE],
                     lambda y: Rotation.from_quat(y[:4], scalar_first=True).as_matrix())
    ours_fewer = by_liestep(1e-9, "quaternion")
    assert ours_fewer[0] < 1.5*fewer[0] < 0.5*ours[0]
    assert ours_fewer[1] < 1.1*fewer[1] < 0.8*ours[1]


@pytest.mark.parametrize(("preset", "tolerance"), [("printed", 1e-9), ("asymmetric", 1e-9), ("bruels_cardona", 1e-11)])
def test_dop853_on_quaternions_needs_less_for_an_error(preset, tolerance):
    """Error times the eighth power of the evaluations, which does not depend on the tolerance."""
    exact = simulate("heavy_top", "taylor", preset=preset, tolerance=1e-15, t_end=2.0, samples=11, options=QUATERNION)
    effort = []
    for form in ("attitude", "quaternion"):
        run = simulate("heavy_top", "dop853", preset=preset, tolerance=tolerance, t_end=2.0, samples=11,
                       options={"form": form})
        effort.append(gap(run, exact)*run.attrs["rhs_evaluations"]**8)
        assert (defect(run) <= 2e-15) == (form == "quaternion")
    assert effort[1] < effort[0]


def test_recommendations_try_quaternions():
    demand = request("heavy_top", error=1e-6)
    assert demand.options("dop853") == QUATERNION
    assert demand.run("dop853", 1e-9).options["form"] == "quaternion"
    assert demand.options("taylor") == demand.options("rk4") == {}
    assert request("henon_heiles", error=1e-6).options("dop853") == {}


@pytest.mark.parametrize(("system", "integrator", "said"), [
    ("heavy_top", "ode45", "which acts after each step, and this method does not let it; allowed with this method are"
     " attitude, coadjoint"),
    ("spherical_pendulum_chain", "taylor", "option form is 'quaternion'; allowed are omega, velocity"),
    ("henon_heiles", "taylor", "option form does not exist for vector_field of"),
    ("heavy_top", "lie_taylor", "option form does not exist for lie_action of Heavy top: it is one of vector_field")])
def test_where_there_is_no_such_form(system, integrator, said):
    with pytest.raises(InputError) as caught:
        specify(system, integrator, tolerance=1e-6, t_end=1.0, options=QUATERNION)
    assert said in str(caught.value)
