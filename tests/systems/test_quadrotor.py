"""Two quadrotors with a load: the equations of motion against Newton's with constraint forces, the controller against
its definition with derivatives by differences, balances of energy, and the numbers of the paper's run."""
import functools
import math

import numpy as np
import pytest

from liestep import InputError, IntegrationError, simulate
from liestep.catalogue import sheet
from liestep.core.cache import loop_for
from liestep.core.driver import evaluate
from liestep.core.status import Status
from liestep.core.tracing import Functions, plain_component
from liestep.formulations import formulate
from liestep.runs.specification import specify, start_of
from liestep.systems._quadrotor_control import WORK
from liestep.systems.quadrotor_payload import desired_directions, desired_path

NAME = "quadrotor_payload"
PRESETS = tuple(sheet(NAME).presets)
DOWN = np.array([0.0, 0.0, 1.0])
ROOT3 = 3.0**0.5


def rotation(seed):
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q*np.sign(np.diag(r))
    return q*np.linalg.det(q)


def random_state(seed):
    """Anywhere on the manifold, at speeds of a few units."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(2, 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    return {"load_position": rng.normal(size=3), "load_velocity": 2.0*rng.normal(size=3),
            "body_rate": 3.0*rng.normal(size=(2, 3)), "attitude": np.stack([rotation(seed + 1), rotation(seed + 2)]),
            "q": q, "omega": np.cross(q, 2.0*rng.normal(size=(2, 3)))}


def parameters_of(preset="paper", **changes):
    return start_of(NAME, preset=preset, parameters=changes).parameters


# quadrotors that differ
UNLIKE = {"mass": [0.5, 1.3], "inertia": [[0.08, 0.09, 0.14], [0.05, 0.11, 0.07]], "moment": [0.3, -1.0, 2.0]}


class Instant:
    """Everything at one state and time: rates by the formulation under test, forces and moments as
    its controller gives them."""

    def __init__(self, parameters, state, t):
        self.parameters, self.state, self.t = parameters, state, t
        formulated = formulate(sheet(NAME), parameters, state, "vector_field", {})
        problem, rows = formulated.problem, formulated.start
        self.rows = np.full_like(rows, np.nan)
        assert loop_for(evaluate, problem)(problem, t, rows, self.rows)
        self.rates = formulated.to_fields(self.rows)
        self.force, self.moment = problem.system.force, problem.system.moment

    @property
    def velocities(self):
        """Of the quadrotors, (2, 3)."""
        p, s = self.parameters, self.state
        return s["load_velocity"] - p["length"][:, None]*np.cross(s["omega"], s["q"])


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


STEP = 5e-4
STENCIL = np.array([1/280, -4/105, 1/5, -4/5, 0, 4/5, -1/5, 4/105, -1/280])  # central difference of order 8


@functools.cache
def run(preset="paper", integrator="rkmk4", step=STEP):
    data = simulate(NAME, integrator, preset=preset, step=step,
                    samples=round(sheet(NAME).presets[preset].t_end/step) + 1)
    return data, {name: data[name].values for name in sheet(NAME).state_shapes({})}


def differences(values, k, step=STEP):
    return np.tensordot(STENCIL, values[k - 4:k + 5], axes=1)/step


@pytest.mark.parametrize("t", [0.1, 0.5, 1.0, 1.17, 1.5, 2.0, 4.0])
def test_links_turn_as_the_control_law_says(t):
    """omega_i' = X_i with q_id' and q_id'' by differences along the motion: the controller's own
    come from the chain rule."""
    p, (data, fields), k = parameters_of("paper"), run(), round(t/STEP)
    window = slice(k - 8, k + 9)
    goals = desired_directions(p, data.time.values[window],
                               {name: fields[name][window] for name in ("load_position", "load_velocity")})
    rates = np.array([np.cross(goals[j], differences(goals, j)) for j in range(4, 13)])   # w_id = q_id x q_id'
    # and its derivative q_id x q_id''
    goal, rate, change = goals[8], rates[4], differences(rates, 4)
    state = {name: values[k] for name, values in fields.items()}
    q, w = state["q"], state["omega"]
    rate_error = w + np.cross(q, np.cross(q, rate))
    law = (-16.0*np.cross(goal, q) - 5.0*rate_error - np.sum(q*rate, axis=1)[:, None]*np.cross(w, q)
           - np.cross(q, np.cross(q, change)))
    assert np.abs(Instant(p, state, t).rates["omega"] - law).max() <= 1e-8*max(1.0, np.abs(change).max())


@pytest.mark.parametrize("preset", PRESETS)
def test_power_balance(preset):
    """dE/dt by differences of kinetic and potential energy of the fields is sum u.x' + M.Omega; E
    less the work is constant."""
    p, (data, fields) = parameters_of(preset), run(preset)
    heights = fields["load_position"][:, None, 2] - p["length"]*fields["q"][:, :, 2]
    energy = (sheet(NAME).kinetic_energy(p, fields)
              - p["gravity"]*(p["load_mass"]*fields["load_position"][:, 2] + heights @ p["mass"]))
    for k in (200, 1000, 3000, 8000):
        now = Instant(p, {name: values[k] for name, values in fields.items()}, k*STEP)
        power = np.sum(now.force*now.velocities) + np.sum(now.moment*now.state["body_rate"])
        assert abs(differences(energy, k) - power) <= 1e-8*max(1.0, np.abs(energy).max())
    assert np.allclose(energy - data["work"].values, data["energy"].values, rtol=0, atol=1e-12*np.abs(energy).max())
    assert data.attrs["energy_error_max"] <= 1e-8*np.abs(energy).max()
    assert "energy=energy" in data.attrs["invariants"].split()
    assert data.attrs["momentum_conserved"] == ("z" if preset == "uncontrolled" else "none")


def test_free_fall_keeps_energy_and_vertical_momentum():
    data = simulate(NAME, "dop853", preset="uncontrolled", tolerance=1e-13, samples=51)
    energy, momentum = data["energy"].values, data["momentum_map"].values
    kinetic = sheet(NAME).kinetic_energy(parameters_of("uncontrolled"),
                                         {name: data[name].values for name in sheet(NAME).state_shapes({})})
    assert np.abs(energy - energy[0]).max() <= 1e-13*kinetic.max()
    assert np.abs(momentum[:, 2] - momentum[0, 2]).max() <= 1e-12*np.abs(momentum).max()
    assert np.abs(momentum[:, :2] - momentum[0, :2]).max() > 1.0
    assert not np.any(data["work"])
    weightless = simulate(NAME, "rkmk4", preset="uncontrolled", step=1e-3, parameters={"gravity": 0.0})
    assert weightless.attrs["momentum_conserved"] == "xyz"
    assert weightless.attrs["momentum_error_max"] <= 1e-8


def test_start_values_of_energy_and_momentum():
    """By hand: a load at 3 m/s along e2, 2 m along e1; the quadrotors above it, one body
    turning about its third axis."""
    initial = {"load_position": [2, 0, 1], "load_velocity": [0, 3, 0],
               "attitude": [np.eye(3), [[0, 0, 1], [1, 0, 0], [0, 1, 0]]], "body_rate": [[0, 0, 0], [0, 0, 2]],
               "q": [[0, 0, 1], [1, 0, 0]], "omega": [[0, 0, 0], [0, 0, 1]]}
    data = simulate(NAME, "rk4", preset="uncontrolled", step=0.1, t_end=0.1, initial=initial)
    m, j = 0.755, 0.1377
    kinetic = 0.5*0.4*9 + 0.5*m*9 + 0.5*m*(3 - 0.8)**2 + 0.5*j*4
    potential = -9.81*(0.4*1 + m*(1 - 0.6) + m*1)
    assert data["energy"].values[0] == pytest.approx(kinetic + potential, rel=1e-14)
    # Masses at (2, 0, 1), (2, 0, 0.4), (1.2, 0, 1) move along e2; the second body's third axis is e1.
    momentum = 0.4*3*np.array([-1, 0, 2]) + m*3*np.array([-0.4, 0, 2]) + m*2.2*np.array([-1, 0, 1.2]) + [2*j, 0, 0]
    assert data["momentum_map"].values[0] == pytest.approx(momentum, rel=1e-14, abs=1e-15)


def test_paper_run():
    """Numbers of an independent code with the parameters of the authors' public one."""
    p, (data, fields) = parameters_of("paper"), run()
    time = data.time.values
    wanted = np.stack([time - 2.5, 0*time, (time - 2.5)**2 - 7], axis=1)
    assert np.allclose(desired_path(p, time), wanted, rtol=0, atol=1e-14)
    error = np.linalg.norm(fields["load_position"] - wanted, axis=1)
    assert error[0] == pytest.approx(math.sqrt(0.8125), rel=1e-14)
    assert round(error.max(), 2) == 2.93
    assert time[error.argmax()] == pytest.approx(0.505, abs=1e-3)
    assert float(f"{error[-1]:.1g}") == 5e-5
    turned = np.linalg.norm(np.cross(desired_directions(p, time, fields), fields["q"]), axis=2)
    assert np.allclose(turned[0], 0.99, atol=0.005)
    assert float(f"{turned[-1].max():.1g}") == 3e-6
    assert np.allclose(fields["q"][-1], [[0, -0.5, ROOT3/2], [0, 0.5, ROOT3/2]], rtol=0, atol=1e-5)
    assert round(fields["load_position"][:, 1].min(), 3) == -0.071
    acceleration = np.array([[0.0, 0.0, 2.0]])
    velocity_error = fields["load_velocity"] - np.stack([0*time + 1, 0*time, 2*(time - 2.5)], axis=1)
    force = 0.4*np.linalg.norm(-12*(fields["load_position"] - wanted) - 5*velocity_error + acceleration - 9.81*DOWN,
                               axis=1)
    assert round(force.min(), 3) == 0.328
    assert time[force.argmin()] == pytest.approx(1.17, abs=0.005)
    assert round(np.linalg.norm(fields["body_rate"], axis=2).max()) == 38


def test_error_of_the_load_after_1_5_seconds():
    """It falls below 0.1 m, and swings back over it once, to 0.109 m."""
    data, fields = run()
    time = data.time.values
    error = np.linalg.norm(fields["load_position"] - desired_path(parameters_of("paper"), time), axis=1)
    assert round(error[time >= 1.5].max(), 3) == 0.109
    assert error[time >= 2.0].max() < 0.1


def test_moments_do_not_act_on_load_and_links():
    with_moment, without = run()[1], run("no_moment")[1]
    for name in ("load_position", "load_velocity", "q", "omega"):
        assert np.array_equal(with_moment[name], without[name])
    assert np.array_equal(without["attitude"], np.tile(np.eye(3), (*without["attitude"].shape[:2], 1, 1)))


def test_attitude_is_body_to_space():
    """A body that turns about its third axis from a given attitude: R exp(t hat(Omega)), exactly known."""
    start = np.stack([rotation(5), rotation(6)])
    initial = {**sheet(NAME).presets["uncontrolled"].initial({}), "attitude": start,
               "body_rate": [[0, 0, 1.5], [0, 0, -2]]}
    data = simulate(NAME, "rkmk4", preset="uncontrolled", step=0.01, t_end=1.0, initial=initial)
    assert np.array_equal(data["attitude"].values[0], start)
    for i, rate in enumerate((1.5, -2.0)):
        c, s = math.cos(rate), math.sin(rate)
        assert np.allclose(data["attitude"].values[-1, i], start[i] @ [[c, -s, 0], [s, c, 0], [0, 0, 1]],
                           rtol=0, atol=1e-13)


def test_attitude_control_brings_the_load_to_its_path():
    p, (data, fields) = parameters_of("attitude_control"), run("attitude_control")
    error = np.linalg.norm(fields["load_position"] - desired_path(p, data.time.values), axis=1)
    assert error[-1] < 1e-3 < 0.1*error.max()
    now = Instant(p, {name: values[-1] for name, values in fields.items()}, 5.0)
    # thrusts along the third axes
    assert np.allclose(np.cross(now.force, fields["attitude"][-1, :, :, 2]), 0.0, rtol=0, atol=1e-13)
    # and upwards in the body
    assert np.all(np.sum(now.force*fields["attitude"][-1, :, :, 2], axis=1) < 0.0)
    assert np.abs(fields["body_rate"][-1]).max() < 1e-2


@pytest.mark.parametrize("preset", ["paper", "attitude_control", "uncontrolled"])
def test_two_formulations_and_an_independent_integrator_agree(preset):
    """Both fourth-order runs differ from accurate ones by their error, which falls 16-fold:
    time enters at every stage."""
    true = simulate(NAME, "dop853", preset=preset, tolerance=1e-13, t_end=2.0, samples=11)
    for integrator in ("rk4", "rkmk4"):
        errors = []
        for step in (2e-3, 1e-3):
            data = simulate(NAME, integrator, preset=preset, step=step, t_end=2.0, samples=11)
            errors.append(max(float(np.abs(data[name] - true[name]).max())
                              for name in ("load_position", "load_velocity", "q", "omega")))
        assert errors[1] <= 1e-6
        assert 3.7 < math.log2(errors[0]/errors[1]) < 4.4, integrator


def test_lie_methods_stay_on_the_manifold():
    lie, embedded = run()[0].attrs, simulate(NAME, "rk4", step=STEP).attrs
    omega = np.abs(run()[1]["omega"]).max()
    for name, limit in (("unit_length_error_max", 2e-14), ("tangency_error_max", 1e-14*omega),
                        ("orthogonality_error_max", 1e-13)):
        assert lie[name] <= limit < 10*limit < embedded[name]


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
    from liestep.references.taylor import taylor_series

    spec = specify(NAME, "rk4", steps=1, t_end=1.0)
    rows = taylor_series(spec).trajectory(np.array([0.0, 0.5, 1.0]))
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
@pytest.mark.parametrize("integrator", ["rk4", "rkmk4"])
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
    "attitude[1] is not a rotation": {"initial": {"attitude": [np.eye(3), -np.eye(3)]}},
    "of shape (2, 3)": {"parameters": {"inertia": [1.0, 1.0, 1.0]}},
}


@pytest.mark.parametrize(("sentence", "request_"), REFUSED.items())
def test_wrong_input_is_refused(sentence, request_):
    with pytest.raises(InputError) as caught:
        simulate(NAME, "rk4", step=0.1, **request_)
    assert sentence in str(caught.value)
