"""lgt2022, section 2: rows of velocities alone, drives, dampers and torques of time, against closed forms."""
import numpy as np
import pytest

from liestep import simulate
from liestep.errors import InputError
from liestep.figures.scenes.looks import body_points
from liestep.mechanics.contracts.formulated import quaternion_matrix
from liestep.mechanics.formulations import formulate
from liestep.mechanics.formulations.multibody.assembly import GROUND, Assembly, revolute, spherical
from liestep.mechanics.formulations.multibody.force_elements import Torque
from liestep.mechanics.formulations.multibody.forms import MechanismForms
from liestep.mechanics.systems.four_bar import assembled
from liestep.mechanics.systems.jointed_body import steady_spin
from liestep.simulation.catalogue import sheet
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify, start_of

PROJECTED = {"stabilisation": "projection"}


def run(system, preset, steps, **options):
    return simulate(system, "rkmk", preset=preset, steps=steps, samples=2, options=options)


def last(data, name):
    return data[name].values[-1]


def orders(errors):
    return np.log2(np.array(errors[:-1])/np.array(errors[1:]))


def test_the_driven_crank_follows_its_law():
    """All bodies, by the closed form of the linkage at the angle and rate of the law; the work is what the energy
    gains."""
    parameters = start_of("four_bar", preset="driven").parameters
    first, second, size, frequency = parameters["drive"]
    wanted = assembled(parameters, first + second + size*np.sin(frequency), second + size*frequency*np.cos(frequency))
    runs = [run("four_bar", "driven", steps) for steps in (200, 400, 800)]
    for name, value in wanted.items():
        assert orders([np.abs(last(data, name) - value).max() for data in runs])[-1] == pytest.approx(4.0, abs=0.25)
    gains = [abs(last(data, "mechanical_energy") - data["mechanical_energy"].values[0] - last(data, "work"))
             for data in runs]
    assert orders(gains)[-1] > 3.7
    assert gains[-1] < 1e-6 < abs(last(runs[-1], "work"))
    kept = run("four_bar", "driven", 200, **PROJECTED)
    assert kept.attrs["joint_error_max"] < 1e-13
    assert kept.attrs["joint_rate_error_max"] < 1e-12
    assert np.abs(last(kept, "attitude") - wanted["attitude"]).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["driven", "loaded"])
@pytest.mark.parametrize(("method", "options", "order"), [
    ("generalized_alpha", {}, 2.0), ("generalized_alpha", {"action": "so3_r3"}, 2.0),
    ("generalized_alpha", {"index": 2}, 2.0), ("bliedf", {}, 3.0)])
def test_drives_dampers_and_motors_of_index_three(preset, method, options, order):
    """Multipliers and work against a projected run of order 5; where the crank is driven all attitudes follow
    the law at Newton's tolerance, whatever the step."""
    exact = simulate("four_bar", "rkmk tableau=dormand_prince5", preset=preset, steps=1600, samples=2,
                     options=PROJECTED)
    errors = []
    for steps in (400, 800):
        data = simulate("four_bar", method, preset=preset, steps=steps, samples=2, options=options)
        assert data.attrs["joint_error_max"] < 1e-13
        assert data.attrs["iterations"] <= 3.1*steps
        errors.append([np.abs(last(data, key) - last(exact, key)).max() for key in ("multiplier", "work")])
        if preset == "driven":
            parameters = start_of("four_bar", preset="driven").parameters
            first, second, size, frequency = parameters["drive"]
            wanted = assembled(parameters, first + second + size*np.sin(frequency), 0.0)
            assert np.abs(last(data, "attitude") - wanted["attitude"]).max() < 1e-11
    assert np.log2(np.divide(*errors)) == pytest.approx([order]*2, abs=0.3)


@pytest.mark.slow
def test_energy_less_work_of_dampers_and_motor_is_kept():
    runs = [run("four_bar", "loaded", steps) for steps in (400, 800)]
    drifts = [abs(last(data, "energy") - data["energy"].values[0]) for data in runs]
    assert drifts[1] < 1e-5
    assert np.log2(drifts[0]/drifts[1]) > 3.5
    assert abs(last(runs[1], "work")) > 10.0


def field(assembly, state):
    """Start and right-hand side as a vector field, in plain Python."""
    declared = MechanismForms(lambda parameters: assembly, lambda parameters: (False,)*3)
    options = {"form": "quaternion", "projection": "none", "twist": "mixed", "stabilisation": "none",
               "stabilisation_rate": 20.0}
    form = declared.vector_field({}, state, options)
    problem = plain(form.problem)

    def slope(t, y):
        out = np.zeros_like(y)
        assert problem.rhs(t, y, out)
        return out

    return form, slope


@pytest.mark.slow
def test_damper_and_motor_on_a_hinge():
    """J dw/dt = T cos(f t + p) - c w, a linear equation."""
    axis, moment, c, size, f, p = np.array([0.0, 0.0, 1.0]), 0.7, 0.9, 2.0, 3.0, 0.4
    assembly = Assembly(np.array([1.3]), np.diag([0.5, 0.6, moment])[None], np.zeros((1, 3)), np.zeros(3),
                        [revolute(0, np.zeros(3), axis, GROUND, np.zeros(3), axis)],
                        [Torque(0, axis, GROUND, c, size, f, p)])
    state = {"attitude": np.eye(3)[None], "position": np.zeros((1, 3)), "velocity": np.zeros((1, 3)),
             "body_rate": np.array([[0.0, 0.0, 1.1]])}
    form, slope = field(assembly, state)
    y, h, steps = form.start.copy(), 0.01, 100
    for k in range(steps):
        one = slope(k*h, y)
        two = slope(k*h, y + 0.5*h*one)
        three = slope(k*h, y + 0.5*h*two)
        y = y + h/6.0*(one + 2.0*two + 2.0*three + slope(k*h, y + h*three))
    damp = c/moment
    particular = lambda t: size/moment*(damp*np.cos(f*t + p) + f*np.sin(f*t + p))/(damp*damp + f*f)  # noqa: E731
    expected = particular(1.0) + (1.1 - particular(0.0))*np.exp(-damp)
    assert form.to_fields(y[None])["body_rate"][0, 0, 2] == pytest.approx(expected, abs=1e-8)
    assert y[-1, 0] == pytest.approx(1.0, abs=1e-14)


@pytest.mark.slow
def test_a_torque_pushes_back_on_the_other_body():
    """The angular momentum of two bodies on one joint does not change by what they do to each other."""
    random = np.random.default_rng(5)
    axis = np.array([0.6, 0.0, 0.8])
    inertia = np.array([np.diag([1.0, 2.0, 2.5]), np.diag([0.8, 0.7, 1.1])])
    assembly = Assembly(np.array([1.0, 2.0]), inertia, np.zeros((2, 3)), np.zeros(3),
                        [spherical(0, np.zeros(3), 1, np.zeros(3))], [Torque(0, axis, 1, 0.5, 2.0, 3.0, 0.4)])
    turns = quaternion_matrix(np.array([[0.5, 0.5, 0.5, 0.5], [0.1, 0.7, 0.7, 0.1]]))
    rates = random.normal(size=(2, 3))
    form, slope = field(assembly, {"attitude": turns, "position": np.zeros((2, 3)), "velocity": np.zeros((2, 3)),
                                   "body_rate": rates})
    found = slope(0.0, form.start)
    moments = [turns[i] @ (inertia[i] @ found[4*i + 2, :3] + np.cross(rates[i], inertia[i] @ rates[i]))
               for i in range(2)]
    speed = (turns[0] @ rates[0] - turns[1] @ rates[1]) @ turns[0] @ axis
    torque = 2.0*np.cos(0.4) - 0.5*speed
    assert np.abs(moments[0] - torque*turns[0] @ axis).max() < 1e-13
    assert np.abs(moments[0] + moments[1]).max() < 1e-13
    assert found[-1, :2] == pytest.approx([1.0, torque*speed], abs=1e-13)


@pytest.mark.slow
def test_the_rolling_disc_precesses_as_it_should():
    """Steady motion: the axis goes round at constant tilt, the centre on a circle; the plane carries the weight."""
    parameters, tilt, turn = start_of("jointed_body", preset="rolling_disc").parameters, 1.2, 1.5
    spin, radius = steady_spin(parameters, tilt, turn), 0.5
    runs = [run("jointed_body", "rolling_disc", steps) for steps in (400, 800)]
    angle = turn*5.0
    side = -np.array([np.cos(angle), np.sin(angle), 0.0])  # direction of the centre's velocity
    axis = np.array([np.sin(tilt)*np.sin(angle), -np.sin(tilt)*np.cos(angle), np.cos(tilt)])
    errors = [np.abs(last(data, "attitude")[0][:, 2] - axis).max() for data in runs]
    assert errors[1] < 1e-7
    assert np.log2(errors[0]/errors[1]) == pytest.approx(4.0, abs=0.3)
    assert np.abs(last(runs[1], "velocity")[0] - radius*spin*side).max() < 1e-6
    weight = parameters["mass"]*9.81
    assert last(runs[1], "multiplier")[2] == pytest.approx(-weight, rel=1e-6)


@pytest.mark.slow
def test_rolling_keeps_the_energy_and_its_rows():
    free, kept = run("jointed_body", "wobbling_disc", 400), run("jointed_body", "wobbling_disc", 400, **PROJECTED)
    assert abs(last(free, "energy") - free["energy"].values[0]) < 1e-6
    assert 1e-13 < free.attrs["joint_rate_error_max"] < 1e-6
    assert kept.attrs["joint_error_max"] < 1e-13
    assert kept.attrs["joint_rate_error_max"] < 1e-12
    assert np.abs(last(free, "attitude") - last(kept, "attitude")).max() < 1e-6


@pytest.mark.slow
def test_chaplygins_sleigh():
    """v = V tanh(k t), w = V sqrt(m/I) / cosh(k t), k = a V m/I, I = J + m a^2: the blade's speed and the rate."""
    a, m, moment = 0.4, 2.0, 0.4
    whole = moment + m*a*a
    speed = 3.0*np.sqrt(whole/m)
    grow = a*speed*m/whole
    for steps, limit in ((100, 1e-6), (400, 4e-9)):
        data = run("jointed_body", "sleigh", steps)
        turn, rate = last(data, "attitude")[0], last(data, "body_rate")[0]
        point = turn.T @ last(data, "velocity")[0] + np.cross(rate, [-a, 0.0, 0.0])
        assert np.abs(rate - [0.0, 0.0, 3.0/np.cosh(2.0*grow)]).max() < limit
        assert np.abs(point - [speed*np.tanh(2.0*grow), 0.0, 0.0]).max() < limit
        assert data.attrs["joint_error_max"] < 1e-12  # the plane; a blade has no place that it must not leave


@pytest.mark.parametrize(("system", "method", "given", "said"), [
    ("four_bar", "rkmk", {"preset": "tilted", "parameters": {"drive": [1.0, 8.0, 0.0, 0.0]}},
     "parameter drive exists with joints driven, not independent"),
    ("four_bar", "rkmk", {"preset": "tilted", "parameters": {"joints": "driven"}}, "parameter drive is missing"),
    ("four_bar", "rkmk", {"preset": "driven", "parameters": {"drive": [1.1, 8.0, 0.3, 5.0]}},
     r"the start is off joint 4 \(drive, the ground to body 0\) by 0.1"),
    ("four_bar", "rkmk", {"preset": "driven", "parameters": {"drive": [1.0, 8.0, 0.3, 4.0]}},
     r"the velocity of the start breaks joint 4 \(drive, the ground to body 0\) by 0.3"),
    ("jointed_body", "rkmk", {"preset": "rolling_disc", "parameters": {"joint_point": [0.0, 0.0, 0.5]}},
     "joint_point is on joint_axis, which leaves no radius of the disc"),
    ("jointed_body", "rkmk", {"preset": "sleigh", "parameters": {"joint_point": [0.0, 0.0, 0.5]}},
     "joint_point is on joint_axis, which leaves no direction of the blade")])
def test_what_does_not_fit_is_refused(system, method, given, said):
    with pytest.raises(InputError, match=said):
        specify(system, method, steps=10, **given)


def test_other_runs_do_not_list_drives_and_motors():
    assert not {"drive", "motor", "damping"} & set(specify("four_bar", "rkmk", steps=10).parameters)


@pytest.mark.slow
def test_a_consistent_start_gives_the_drive_its_rate():
    """Angle and rate of the crank are moved to those of the law, of which the linkage follows."""
    parameters = start_of("four_bar", preset="driven").parameters
    found = sheet("four_bar").nearest_start(parameters, assembled(parameters, 1.05, 9.0))
    sheet("four_bar").check_initial(parameters, found)
    assert np.abs(found["body_rate"][0, 2] - 9.5) < 1e-12
    assert formulate(sheet("four_bar"), parameters, found, "lie_action", {}).start.shape == (13, 4)


def test_films_do_not_show_the_law_of_a_drive():
    """Its numbers are no points of a body."""
    facts = sheet("four_bar")
    driven, plain_one = (facts.build(start_of("four_bar", preset=name).parameters) for name in ("driven", "tilted"))
    for body in range(3):
        assert np.array_equal(body_points(driven, body), body_points(plain_one, body))
