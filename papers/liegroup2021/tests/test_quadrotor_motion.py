"""Two quadrotors with a load along their runs: the control law with derivatives by differences, balances of energy, and
the numbers of the paper's run."""
import math

import numpy as np
import pytest
from liestep_papers.liegroup2021.studies.quadrotor_payload import desired_directions, desired_path
from quadrotor_runs import (
    DOWN,
    NAME,
    PRESETS,
    ROOT3,
    STEP,
    Instant,
    _loaded,  # noqa: F401
    differences,
    parameters_of,
    rotation,
    run,
)

from liestep import simulate
from liestep.simulation.catalogue import sheet


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
    weightless = simulate(NAME, "rkmk", preset="uncontrolled", step=1e-3, parameters={"gravity": 0.0})
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
    data = simulate(NAME, "rkmk", preset="uncontrolled", step=0.01, t_end=1.0, initial=initial)
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
    for integrator in ("rk4", "rkmk"):
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
