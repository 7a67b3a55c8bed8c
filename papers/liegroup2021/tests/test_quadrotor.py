"""Two quadrotors with a load: the equations of motion against Newton's with constraint forces, the controller against
its definition, and what is refused or ends a run."""
import math

import numpy as np
import pytest
from liestep_papers.liegroup2021.studies.quadrotor_payload import WORK, desired_directions, desired_path
from quadrotor_runs import DOWN, NAME, PRESETS, UNLIKE, Instant, _loaded, parameters_of, random_state  # noqa: F401

from liestep import InputError, IntegrationError, simulate
from liestep.compile.status import Status
from liestep.compile.tracing import Functions, plain_component
from liestep.mechanics.formulations import formulate
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.specification import specify

INSTANTS = pytest.mark.parametrize(("preset", "seed"), [(preset, seed) for preset in PRESETS for seed in range(3)])


@INSTANTS
def test_motion_is_newtons_with_forces_in_the_links(preset, seed):
    """Three point masses and two multipliers: m x'' = weight + u + lambda q, links of constant
    length; d(R J Omega)/dt = R M."""
    p = parameters_of(preset, **UNLIKE)
    now = Instant(p, random_state(seed), 0.3*seed)
    s, length = now.state, p["length"]
    masses = np.array([p["load_mass"], *p["mass"]])
    relative = np.cross(s["omega"], s["q"])                      # dq/dt
    system, right = np.zeros((11, 11)), np.zeros(11)
    system[:9, :9] = np.diag(np.repeat(masses, 3))
    right[:9] = (masses[:, None]*p["gravity"]*DOWN + np.vstack([np.zeros(3), now.force])).ravel()
    for i in range(2):
        body = slice(3*i + 3, 3*i + 6)
        system[:3, 9 + i], system[body, 9 + i] = -s["q"][i], s["q"][i]
        system[9 + i, :3], system[9 + i, body] = s["q"][i], -s["q"][i]
        right[9 + i] = -length[i]*relative[i] @ relative[i]
    load, *bodies = np.linalg.solve(system, right)[:9].reshape(3, 3)
    turn = np.cross(s["q"], (load - np.array(bodies))/length[:, None])
    assert np.abs(now.rates["load_velocity"] - load).max() <= 1e-12*np.abs(right).max()
    assert np.abs(now.rates["omega"] - turn).max() <= 1e-12*np.abs(right).max()
    assert np.array_equal(now.rates["load_position"], s["load_velocity"])
    assert np.array_equal(now.rates["q"], relative)
    for i in range(2):
        r, j, rate = s["attitude"][i], p["inertia"][i], s["body_rate"][i]
        spatial = now.rates["attitude"][i] @ (j*rate) + r @ (j*now.rates["body_rate"][i])
        assert np.abs(spatial - r @ now.moment[i]).max() <= 1e-13*max(1.0, np.abs(now.moment[i]).max())
        hat = r.T @ now.rates["attitude"][i]
        assert np.allclose(hat, [[0, -rate[2], rate[1]], [rate[2], 0, -rate[0]], [-rate[1], rate[0], 0]], rtol=0,
                           atol=1e-14*np.abs(rate).max())


@INSTANTS
def test_work_is_that_of_forces_and_moments(preset, seed):
    now = Instant(parameters_of(preset, **UNLIKE), random_state(seed), 0.3*seed)
    power = np.sum(now.force*now.velocities) + np.sum(now.moment*now.state["body_rate"])
    assert now.rows[WORK, 0] == pytest.approx(power, rel=1e-13)
    if preset == "uncontrolled":
        assert np.array_equal(now.force, np.zeros((2, 3)))
        assert np.array_equal(now.moment, np.tile(UNLIKE["moment"], (2, 1)))


@pytest.mark.parametrize("seed", range(4))
def test_load_falls_as_in_closed_loop(seed):
    """v' = g e3 + (mu_1 + mu_2)/m_y with mu_i from the definition: the pulls of F along the links."""
    p = parameters_of("paper", **UNLIKE)
    t = 0.7*seed
    now = Instant(p, random_state(seed), t)
    s, r = now.state, p["formation"]
    wanted, wanted_rate, wanted_change = (np.array([t - 2.5, 0, (t - 2.5)**2 - 7]), np.array([1, 0, 2*(t - 2.5)]),
                                          np.array([0, 0, 2]))
    force = p["load_mass"]*(-12.0*(s["load_position"] - wanted) - 5.0*(s["load_velocity"] - wanted_rate) + wanted_change
                            - 9.81*DOWN)
    pulls = [(force @ q)*q/((r[i] @ DOWN)*np.linalg.norm(r.sum(axis=0))) for i, q in enumerate(s["q"])]
    expected = 9.81*DOWN + sum(pulls)/p["load_mass"]
    assert np.abs(now.rates["load_velocity"] - expected).max() <= 1e-13*np.linalg.norm(force)/p["load_mass"]


def test_path_of_any_degree_comes_with_four_derivatives():
    coefficients = np.random.default_rng(3).normal(size=(7, 3))
    p = parameters_of("paper", path=coefficients)
    control = plain_component(sheet(NAME).build(p).control, Functions(math.sqrt, math.sin, math.cos))
    for k, values in enumerate(control.desired(1.3)):
        derivative = np.polynomial.polynomial.polyder(coefficients, k) if k else coefficients
        assert values == pytest.approx(np.polynomial.polynomial.polyval(1.3, derivative), rel=1e-13)
    time = np.array([0.0, 0.7, 2.0])
    assert np.allclose(desired_path(p, time), np.polynomial.polynomial.polyval(time, coefficients).T, rtol=1e-13)
    assert np.array_equal(desired_path(parameters_of("paper", path=[[1.0, 2.0, 3.0]]), time),
                          np.tile([1.0, 2.0, 3.0], (3, 1)))


def test_links_in_formation_share_the_force():
    """Links at r_i in the frame of F: mu_1 + mu_2 = F exactly, so that the load does what the feedback says."""
    p = parameters_of("paper")
    state = sheet(NAME).presets["paper"].initial(p)
    fields = {name: state[name][None] for name in ("load_position", "load_velocity")}
    state["q"] = desired_directions(p, np.zeros(1), fields)[0]
    now = Instant(p, state, 0.0)
    wanted = -12.0*(state["load_position"] - desired_path(p, 0.0)) + 5.0*np.array([1, 0, -5]) + 2.0*DOWN
    assert np.abs(now.rates["load_velocity"] - wanted).max() <= 1e-13*np.linalg.norm(wanted)


@pytest.mark.parametrize("preset", PRESETS)
def test_plain_python_gives_the_same_bits(preset):
    p, state = parameters_of(preset), random_state(11)
    formulated = formulate(sheet(NAME), p, state, "vector_field", {})
    plain = plain_component(formulated.problem, Functions(math.sqrt, math.sin, math.cos))
    out = np.zeros(formulated.start.shape)
    assert plain.rhs(0.4, formulated.start.astype(object), out)
    assert np.array_equal(out, Instant(p, state, 0.4).rows)


def test_taylor_series_of_the_traced_equations_agree():
    """The controller looks at no values: symbols run through it, and the series of an independent
    code gives the same motion."""
    from liestep.simulation.references.engines import right_hand_side, taylor_series

    spec = specify(NAME, "rk4", steps=1, t_end=1.0)
    rows = taylor_series(spec, right_hand_side(spec)[0]).trajectory(np.array([0.0, 0.5, 1.0]))
    fields = formulate(sheet(NAME), spec.parameters, spec.initial, "vector_field", {}).to_fields(rows)
    data = simulate(NAME, "dop853", tolerance=1e-13, t_end=1.0, samples=3)
    for name in sheet(NAME).state_shapes({}):
        assert np.abs(fields[name] - data[name].values).max() <= 1e-11*max(1.0, np.abs(fields[name]).max())
    assert np.abs(rows[:, WORK, 0] - data["work"].values).max() <= 1e-10


HOVER, NO_GAIN = [[0.0, 0.0, 0.0]], [0.0, 0.0]
SINGULAR = {  # in each the load is at rest; F = m_y (-12 y - g e3)
    "no force": {"parameters": {"path": HOVER}, "initial": {"load_position": [0.0, 0.0, -9.81/12.0]}},
    "force along the heading": {"parameters": {"path": HOVER}, "initial": {"load_position": [0.0, 0.5, -9.81/12.0]}},
    "no thrust": {"preset": "attitude_control",
                  "parameters": {"path": HOVER, "load_gain": NO_GAIN, "link_gain": NO_GAIN},
                  "initial": {"q": [[1, 0, 0], [-1, 0, 0]]}},
}


@pytest.mark.parametrize("request_", SINGULAR.values(), ids=SINGULAR)
@pytest.mark.parametrize("integrator", ["rk4", "rkmk"])
def test_singular_controller_is_not_evaluable(request_, integrator):
    with pytest.raises(IntegrationError) as caught:
        simulate(NAME, integrator, step=0.01, t_end=0.1, **request_)
    assert caught.value.status == Status.NOT_EVALUABLE
    assert caught.value.time == 0.0


def test_a_run_ends_where_its_force_vanishes():
    """Without feedback F = m_y (yd'' - g e3), and yd'' = 2 g t e3 makes it vanish at t = 0.5:
    the last stage of step 50."""
    data = simulate(NAME, "rk4", step=0.01, t_end=1.0, on_failure="return",
                    parameters={"load_gain": NO_GAIN, "path": [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 9.81/3]]})
    assert data.attrs["status"] == "not_evaluable"
    assert data.attrs["time_reached"] == pytest.approx(0.49, rel=1e-12)
    assert np.all(np.isfinite(data["energy"]))


REFUSED = {
    "unit vectors": {"parameters": {"formation": [[0.5, 0.0, 0.866], [-0.5, 0.0, 0.866]]}},
    "could not lift": {"parameters": {"formation": [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]}},
    "heading must not be zero": {"parameters": {"heading": [0.0, 0.0, 0.0]}},
    "control must be tracking": {"parameters": {"control": "none", "attitude_control": "geometric"}},
    "allowed are tracking, none": {"parameters": {"control": "off"}},
    "q[1] is not a unit vector": {"initial": {"q": [[0, 0, 1], [0, 0, 1.1]]}},
    "omega[0] is not orthogonal": {"initial": {"omega": [[0, 0, 1], [0, 0, 0]]}},
    "attitude[1] is not a rotation but a reflection: its determinant is -1": {
        "initial": {"attitude": [np.eye(3), -np.eye(3)]}},
    "attitude[0] is not a rotation: the largest entry": {"initial": {"attitude": [-2.0*np.eye(3), np.eye(3)]}},
    "option form is 'quaternion'; allowed are embedded, orthonormal": {"options": {"form": "quaternion"}},
    "of shape (2, 3)": {"parameters": {"inertia": [1.0, 1.0, 1.0]}},
}


@pytest.mark.parametrize(("sentence", "request_"), REFUSED.items())
def test_wrong_input_is_refused(sentence, request_):
    with pytest.raises(InputError) as caught:
        simulate(NAME, "rk4", step=0.1, **request_)
    assert sentence in str(caught.value)
