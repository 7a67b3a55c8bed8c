"""One name for one thing: a system's own names and those of its fields stand everywhere; what people bring: matrices of
inertia, rotations of scipy, quaternions, series of pandas."""
import random
import time

import numpy as np
import pandas
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import liestep
from liestep.errors import InputError

TURN = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix()
INERTIA = 0.5*(TURN @ np.diag([1, 2, 2.5]) @ TURN.T + (TURN @ np.diag([1, 2, 2.5]) @ TURN.T).T)
START, RATE = Rotation.from_rotvec([0.1, 0.2, -0.4]), np.array([0.3, 1.0, -0.2])
LEVER, GRAVITY = np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, -1.0])


def by_scipy(inertia, damping=0.0, t_end=1.0):
    """Attitude and body rate of a heavy body at t_end, by quaternions of scipy."""
    def rhs(t, y):
        q, w = y[:4], y[4:]
        turn = Rotation.from_quat(q).as_matrix()
        torque = turn.T @ (np.cross(turn @ LEVER, GRAVITY) - damping*(turn @ w))
        return [*0.5*(q[3]*w + np.cross(q[:3], w)), -0.5*q[:3] @ w, *np.linalg.solve(
            inertia, torque - np.cross(w, inertia @ w))]

    y = solve_ivp(rhs, (0, t_end), [*START.as_quat(), *RATE], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return Rotation.from_quat(y[:4]).as_matrix(), y[4:]


def V(R):
    return -(R @ LEVER) @ GRAVITY


@pytest.fixture(scope="module")
def body():
    return liestep.system("unaligned", inertia=INERTIA, potential=V, start={"R": START, "rate": RATE}, t_end=1.0)


@pytest.mark.parametrize(("method", "size", "most"), [("taylor", {"tolerance": 1e-11}, 1e-10), ("rkmk", {"step": 0.01},
                         1e-8), ("lgvi", {"step": 0.002}, 3e-6), ("vi_livens", {"step": 0.01}, 1e-4)])
def test_a_matrix_of_inertia_gives_results_in_the_axes_in_which_it_was_given(body, method, size, most):
    data, (turn, rate) = body.simulate(method, **size), by_scipy(INERTIA)
    assert np.abs(data["attitude"].values[-1] - turn).max() < most
    assert np.abs(data["rate"].values[-1] - rate).max() < 3*most
    if "quaternion" in data:
        w, *xyz = data["quaternion"].values[-1]
        assert np.abs(Rotation.from_quat([*xyz, w]).as_matrix() - turn).max() < most


def test_a_matrix_of_inertia_with_a_torque_and_of_one_body_of_two():
    damped = liestep.system("unaligned_damped", inertia=INERTIA, potential=V, torque=lambda omega: -0.1*omega,
                            start={"attitude": START, "body_rate": RATE}, t_end=1.0)
    turn, rate = by_scipy(INERTIA, 0.1)
    data = damped.simulate("rk4", step=0.01)
    assert np.abs(data["R"].values[-1] - turn).max() < 1e-8
    assert np.abs(data["omega"].values[-1] - turn @ rate).max() < 1e-8
    pair = liestep.system("unaligned_pair", inertia=[INERTIA, np.diag([1, 2, 2.0])], mass=[1, 2.0], start={
        "x": np.eye(3)[:2], "R": Rotation.concatenate([START, START]), "rate": [RATE, RATE]})
    free = solve_ivp(lambda t, w: np.linalg.solve(INERTIA, -np.cross(w, INERTIA @ w)), (0, 1), RATE, method="DOP853",
                     rtol=1e-12, atol=1e-13).y[:, -1]
    assert np.abs(pair.simulate("rkmk", step=0.01, t_end=1.0)["rate"].values[-1, 0] - free).max() < 1e-8


def test_attitudes_as_rotations_and_named_quaternions_and_series_of_parameters(body):
    x, y, z, w = 3.0*START.as_quat()
    found = [body.simulate("rkmk", step=0.1, initial={"R": one})["R"].values[0]
             for one in (START, START.as_matrix(), {"w": w, "x": x, "y": y, "z": z})]
    assert np.abs(np.array(found) - found[0]).max() < 1e-15
    decay = liestep.system("decay", rhs=lambda y, p: -p.k*y, parameters=pandas.Series({"k": 2.0}), start={"y": [1.0]})
    data = decay.simulate("gauss", step=0.05, t_end=1.0, parameters=pandas.Series({"k": 1.0}), options={"stages": 3})
    assert abs(data["y"].values[-1, 0] - np.exp(-1.0)) < 1e-9


def test_own_names_and_those_of_fields_stand_in_starts_events_controllers_and_data(body):
    inverse = np.linalg.inv(INERTIA)
    data = body.simulate("rkmk", step=0.01, initial={"R": np.eye(3), "body_rate": [0, 1.0, 0.1]})
    assert np.abs(data["angular_momentum"].values[0] - INERTIA @ [0, 1.0, 0.1]).max() < 1e-15
    turn, momentum = data["attitude"].values[-1], data["angular_momentum"].values[-1]
    assert np.abs(data["rate"].values[-1] - inverse @ turn.T @ momentum).max() < 1e-14
    level = float(body.simulate("rkmk", step=0.01)["rate"].values[45, 0])
    ended = [body.simulate("rkmk", step=0.01, until=until).attrs["event_time"] for until in (
        ("rate", (0,), level), lambda state: state["rate"][0] - level, lambda state: (
            inverse @ state["attitude"].T @ state["angular_momentum"])[0] - level)]
    assert max(abs(end - 0.45) for end in ended) < 1e-12
    seen = []
    spun = liestep.system("spun", inertia=[1, 2, 2.0], torque=lambda p: p.u, parameters={"u": np.zeros(3)},
                          start={"R": np.eye(3), "rate": RATE})
    spun.simulate("rkmk", step=0.05, t_end=0.1, sample=0.05, control=lambda t, state: seen.append(
        [state["rate"], state["body_rate"], state["omega"]]) or {"u": -state["omega"]})
    assert np.abs(np.array(seen[0]) - RATE).max() < 1e-15


def test_velocities_of_a_lagrangian_stand_in_starts_resets_and_data():
    """p = (1 + q^2) v; with a moving pivot p = v + cos(2 t) cos(q)."""
    bead = liestep.system("bead", lagrangian=lambda q, v: 0.5*v[0]**2*(1 + q[0]**2) - 9.81*q[0],
                          start={"q": [1.0], "v": [0.5]})
    data = bead.simulate("gauss", step=0.01, t_end=0.5, initial={"v": [1.0]})
    assert data["momentum"].values[0, 0] == 2.0
    assert np.abs(data["v"].values - data["momentum"].values/(1 + data["q"].values**2)).max() < 1e-15
    kicked = bead.simulate("rk4", step=0.01, t_end=0.4, events=liestep.Event(
        lambda state: state["v"][0], reset=lambda state: {"v": [1.0]}))
    after = np.searchsorted(kicked["time"].values, kicked["event_times"].values[0])
    assert abs(kicked["v"].values[after, 0] - 1.0) < 0.1
    pivot = liestep.system("pivot", lagrangian=lambda t, q, v: 0.5*v[0]**2 + v[0]*np.cos(2*t)*np.cos(q[0]),
                           start={"q": [0.3], "v": [0.5]})
    data = pivot.simulate("gauss", step=0.01, t_start=0.7, t_end=1.0, initial={"v": [0.5]})
    assert np.abs(data["v"].values - data["momentum"].values + np.cos(2*data["time"].values[:, None])*np.cos(
        data["q"].values)).max() < 1e-15
    assert data["v"].values[0, 0] == pytest.approx(0.5, rel=1e-15)
    with pytest.raises(InputError, match="v follows from momentum and the time here"):
        pivot.simulate("gauss", step=0.01, t_end=1.0, until=("v", (0,), 0.0))


def test_functions_take_the_names_of_fields():
    one, two = (liestep.system("named", inertia=[1, 2, 2.0], potential=function, start={"R": np.eye(3)})
                for function in (V, lambda attitude: V(attitude)))
    assert one.source == two.source


def drawn(y):
    rate = -y
    return rate*random.random()


def ticking(y):
    return -y*clock()


def clock():
    return time.perf_counter()


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda body: body.simulate("rkmk", dt=0.1), "the argument dt is called step here"),
    (lambda body: body.simulate("dop853", rtol=0.1), "the argument rtol is called tolerance here"),
    (lambda body: body.simulate("rkmk"), "rkmk has fixed steps: give a step"),
    (lambda body: body.simulate("dop853"), "dop853 is adaptive: give a tolerance"),
    (lambda body: body.simulate("rkmk", step=0.1, initial={"R": START, "attitude": START}),
     "initial has attitude and R, of which one follows from the other: give one of them"),
    (lambda body: body.simulate("rkmk", step=0.1, initial={"rates": RATE}), "unknown initial state field 'rates'; did"
     " you mean rate?"),
    (lambda body: body.simulate("rkmk", step=0.1, initial={"R": Rotation.concatenate([START, START])}),
     "initial R must be finite numbers of shape (3, 3), not of (2, 3, 3)"),
    (lambda body: body.simulate("rkmk", step=0.1, initial={"R": dict.fromkeys("wxyz", 0.0)}),
     "initial R is a quaternion of length 0: it turns nothing"),
    (lambda body: body.simulate("rkmk", step=0.1, initial={"R": {"w": 1.0, "x": 0.0}}), "initial R must be numbers, a"
     " Rotation of scipy, or a quaternion by the names of its parts, w, x, y and z, not w, x"),
    (lambda body: liestep.system("off", inertia=np.diag([1, 1, 3.0]), start={"R": START}),
     "its largest principal moment 3 is above the sum of the other two, 1 + 1"),
    (lambda body: liestep.system("off", inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]], start={"R": START}),
     "inertia must be a symmetric matrix; two entries differ by 2"),
    (lambda body: liestep.system("off", mass=1.0, potential=lambda q: q[0][2], start={"q": [0, 0, -1.0]}),
     "q is of shape (3,), as it was given"),
    (lambda body: liestep.system("off", rhs=drawn, start={"y": [1.0]}), "return rate*random.random())"),
    (lambda body: liestep.system("off", rhs=ticking, start={"y": [1.0]}), "return time.perf_counter())"),
    (lambda body: liestep.solve(lambda t, y, s: -s*y, (0, 1), [1.0]), "fun is a function of (t, y, s) and is called"
     " with t, y and 0 further arguments: give the others as args=(...)")])
def test_what_is_wrong_is_one_sentence_with_the_name_that_is_meant(body, call, sentence):
    with pytest.raises(InputError) as caught:
        call(body)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_method_of_fixed_steps_asks_for_a_step_only():
    with pytest.raises(InputError) as caught:
        liestep.solve(lambda t, y: -y, (0.0, 1.0), [1.0], "rk4")
    assert str(caught.value) == "rk4 has fixed steps: give a step"


def test_absolute_tolerances_of_each_number_on_a_group():
    def top(t, y):
        turn, momentum = y[:9].reshape(3, 3), y[9:]
        w = turn @ ((turn.T @ momentum)/np.array([1, 2, 3.0]))
        return np.concatenate([np.cross(w, turn.T).T.ravel(), np.cross(turn[:, 2], [0, 0, -3.0])])

    y0 = np.concatenate([np.eye(3).ravel(), [1, 2, -1.5]])
    exact = solve_ivp(top, (0, 2), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    loose, tight = (liestep.solve(top, (0, 2), y0, "RKMK853", rtol=1e-9, atol=np.full(12, atol))
                    for atol in (1e-3, 1e-9))
    assert loose.nfev < tight.nfev
    assert np.abs(tight.y[:, -1] - exact).max() < 1e-6
