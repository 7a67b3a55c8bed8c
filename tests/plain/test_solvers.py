"""`liestep.solve` and the classes for `scipy.integrate.solve_ivp` against scipy and analytic solutions."""
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liestep
from liestep.compile import interpreted
from liestep.plain import solvers

pytestmark = pytest.mark.slow

MOMENTS = np.array([1.0, 2.0, 3.0])
TOP = np.concatenate([np.eye(3).ravel(), [1.0, 2.0, -1.5]])


@pytest.fixture(autouse=True)
def _short_runs_in_plain_python(monkeypatch):
    monkeypatch.setattr(interpreted, "PAYS", 1e9)
    monkeypatch.setattr(interpreted, "_spent", interpreted.defaultdict(float))


def lorenz(t, y, s):
    return [s*(y[1] - y[0]), y[0]*(28 - y[2]) - y[1], y[0]*y[1] - 8/3*y[2]]


def top(t, y):
    R, x = y[:9].reshape(3, 3), y[9:]
    w = R @ ((R.T @ x)/MOMENTS)
    W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.concatenate([(W @ R).ravel(), np.cross(R[:, 2], np.array([0, 0, -3.0]))])


def swing(t, y):
    return [y[1], -y[0]]


def branching(t, y):
    return [y[1], -y[0]] if y[0] > -10 else [0.0, 0.0]


@pytest.mark.parametrize("more", [{}, {"blackbox": True}])
def test_lorenz_is_that_of_scipy(more):
    at = [0.5, 1.0, 2.0]
    found = liestep.solve(lorenz, (0, 2), [1, 1, 1], args=(10.0,), rtol=1e-11, t_eval=at, **more)
    exact = solve_ivp(lorenz, (0, 2), [1, 1, 1], "DOP853", args=(10.0,), rtol=1e-13, atol=1e-13, t_eval=at)
    assert found.success
    assert found.compiled == (not more)
    assert np.abs(found.y - exact.y).max() < 1e-8
    assert 100 < found.nfev < 3000


@pytest.mark.parametrize("method", [{"method": "RK4", "step": 1e-3}, {"method": "DOP853", "rtol": 1e-12},
                                    {"method": "RK45", "rtol": 1e-10}, {"method": "Gauss", "step": 0.01},
                                    {"method": "Taylor", "rtol": 1e-13}])
def test_a_swing_both_ways_with_dense_output(method):
    for end in (3.0, -3.0):
        found = liestep.solve(swing, (0, end), [1.0, 0.0], dense_output=True, **method)
        times = np.linspace(0, end, 50)
        assert found.t[-1] == end
        assert np.abs(found.sol(times) - [np.cos(times), -np.sin(times)]).max() < 1e-8


@pytest.mark.parametrize("more", [{}, {"blackbox": True}])
@pytest.mark.parametrize("method", [{"method": "RKMK4", "step": 0.002}, {"method": "RKMK853", "rtol": 1e-11}])
def test_a_top_keeps_its_rotation_and_ends_at_an_event(method, more):
    def low(t, y):
        return y[8] - 0.5

    low.terminal = True
    found = liestep.solve(top, (0, 1), TOP, events=low, **method, **more)
    exact = solve_ivp(top, (0, 1), TOP, "DOP853", events=low, rtol=1e-13, atol=1e-13)
    assert found.status == 1
    assert abs(found.t_events[0][0] - exact.t_events[0][0]) < 1e-8
    assert np.abs(found.y[:, -1] - exact.y[:, -1]).max() < 1e-8
    R = found.y[:9, -1].reshape(3, 3)
    assert np.abs(R.T @ R - np.eye(3)).max() < 1e-14


def test_the_classes_stand_in_solve_ivp():
    found = solve_ivp(top, (0, 0.5), TOP, method=liestep.scipy.RKMK4, step=0.005, t_eval=[0.1, 0.3])
    exact = solve_ivp(top, (0, 0.5), TOP, "DOP853", rtol=1e-12, atol=1e-12, t_eval=[0.1, 0.3])
    assert np.abs(found.y - exact.y).max() < 1e-7
    assert liestep.scipy.RKMK4 is liestep.scipy.RKMK4


def test_rotations_alone():
    def turn(t, y):
        return (np.array([[0, -1.0, 0], [1.0, 0, 0], [0, 0, 0]]) @ y.reshape(3, 3)).ravel()

    found = liestep.solve(turn, (0, 1), np.eye(3).ravel(), "RKMK4", step=0.1, group="SO3")
    assert found.compiled
    assert np.allclose(found.y[:4, -1], [np.cos(1), -np.sin(1), 0, np.sin(1)], atol=1e-14)


@pytest.mark.parametrize("more", [{"step": 0.002}, {"step": 0.01, "blackbox": True}])
def test_products_of_rotations_spheres_and_vectors(more):
    def rates(t, y):
        R, q, x = y[:18].reshape(2, 3, 3), y[18:24].reshape(2, 3), y[24:].reshape(-1, 3)
        w = [R[i].T @ x[i] + [0, 0, 0.3] for i in range(2)]
        return np.concatenate([*(np.cross(w[i], R[i].T).T.ravel() for i in range(2)), np.cross(q[1] + x[0], q[0]),
                               np.cross(R[1][:, 0], q[1]), np.cross(q[0], x[1]), np.sin(t)*q[1]])

    y0 = np.concatenate([np.eye(3).ravel(), [0, -1, 0, 1, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0.6, 0.8],
                         [0.2, 0.3, 1, 0, -1, 0]])
    found = liestep.solve(rates, (0, 1), y0, "RKMK4", group="SO3^2xS2^2xR3", **more)
    exact = solve_ivp(rates, (0, 1), y0, "DOP853", rtol=1e-12, atol=1e-12)
    assert np.abs(found.y[:, -1] - exact.y[:, -1]).max() < 1e-8
    assert np.abs(np.linalg.norm(found.y[18:24].reshape(2, 3, -1), axis=1) - 1.0).max() < 1e-13


SCALE, TABLE = [1.0], np.array([1.0, 2.0])


def scaled(t, y, rate, count=2):
    return [sum([rate*SCALE[0]*TABLE[0] for _ in range(count)])*y[0]]


def test_arguments_are_parameters_of_one_system(monkeypatch):
    """Traced once for all their values; what else the function reads is seen when it changes."""
    calls, traced = [], solvers._traced
    monkeypatch.setattr(solvers, "_traced", lambda *given: calls.append(1) or traced(*given))

    def end(*args):
        calls.clear()
        found = liestep.solve(scaled, (0, 1), [1.0], rtol=1e-12, args=args).y[0, -1]
        return found, len(calls)

    assert end(0.5) == (pytest.approx(np.exp(1.0), rel=1e-11), 1)
    assert end(0.25) == (pytest.approx(np.exp(0.5), rel=1e-11), 0)
    assert end(0.25, 3) == (pytest.approx(np.exp(0.75), rel=1e-11), 1)
    assert end(-0.25, 3) == (pytest.approx(np.exp(-0.75), rel=1e-11), 0)
    for place, value in ((SCALE, 2.0), (TABLE, 3.0)):
        before, place[0] = place[0], value
        try:
            assert end(0.25) == (pytest.approx(np.exp(0.5*value), rel=1e-11), 1)
        finally:
            place[0] = before
    assert end(0.25) == (pytest.approx(np.exp(0.5), rel=1e-11), 0)


@pytest.mark.parametrize(("function", "expected"), [
    (lambda t, y, s: [sum([y[0] for _ in range(int(s))])], {1.0: np.e, 2.0: np.e**2}),
    (lambda t, y, s: [y[0] if s > 1.5 else -y[0]], {1.0: 1/np.e, 2.0: np.e}),
    (lambda t, y, s: [s[1]*y[0]], {(1.0, 2.0): np.e**2, (1.0, -1.0): 1/np.e}),
    (lambda t, y, s: [__import__("math").sqrt(s)*y[0]], {1.0: np.e, 4.0: np.e**2})])
def test_arguments_that_no_parameter_stands_for(function, expected):
    for value, end in expected.items():
        found = liestep.solve(function, (0, 1), [1.0], rtol=1e-11, args=(np.array(value) if np.ndim(value) else value,))
        assert found.compiled
        assert found.y[0, -1] == pytest.approx(end, rel=1e-10)


def test_what_cannot_be_traced_is_called_and_says_why():
    found = liestep.solve(branching, (0, np.pi), [1.0, 0.0], rtol=1e-11)
    assert not found.compiled
    assert "branches on a value of the state" in found.reason
    assert np.abs(found.y[:, -1] - [-1.0, 0.0]).max() < 1e-9


def test_other_starts_are_the_same_system():
    from liestep.simulation.catalogue import plugin_entries

    liestep.solve(swing, (0, 1), [1.0, 0.0])
    known = set(plugin_entries())
    assert liestep.solve(swing, (0, 2), [0.3, 0.1]).success
    assert set(plugin_entries()) == known


def test_a_run_that_fails_says_so():
    found = liestep.solve(lambda t, y: y*y, (0, 2), [1.0], rtol=1e-9, blackbox=True)
    assert found.status == -1
    assert "step too small" in found.message
    assert abs(found.t[-1] - 1.0) < 1e-6


@pytest.mark.parametrize(("arguments", "more", "words"), [
    ((swing, (0, 1), [1.0, 0.0], "RKMK4"), {"step": 0.1}, "y0 has 2 numbers, which are none of the group SO3xR3"),
    ((swing, (0, 1), [1.0, 0.0]), {"max_stpe": 0.1}, "unknown option 'max_stpe'"),
    ((swing, (0, 1), [1.0, 0.0], "RK4"), {}, "step"),
    ((swing, (0, 1), [1.0, 0.0], "RK5"), {}, "unknown method 'RK5'; did you mean RK4.*DOP853, Gauss, LieTaylor"),
    ((swing, (0, 1), [1.0, 0.0], ["RK4"]), {}, "unknown method"),
    ((swing, (0, 1), [1.0, 0.0], None), {}, "method 'None'"),
    *(((swing, (0, 1), [1.0, 0.0], "RK4"), {"step": step}, "step must be a positive number, not")
      for step in (0, -0.1, np.nan, "0.1")),
    ((swing, (0, 1), [1.0, 0.0], "Taylor"), {"atol": -1e-9}, "^taylor: option atol must be scale"),
    ((top, (0, 1), TOP, "RKMK4"), {"atol": 1e-9}, "RKMK4 takes no atol, as its steps are fixed"),
    ((top, (0, 1), TOP, "RKMK4"), {"rtol": 1e-9}, "RKMK4 takes no rtol, as its steps are fixed"),
    ((lambda t, y: top(t, y) + 0.1*y, (0, 1), TOP, "RKMK4"), {"step": 0.1}, "dR/dt R.T must be antisymmetric"),
    ((lambda t, y: y, (0, 1), [0.0, 0.6, 0.8], "RKMK4"), {"step": 0.1, "group": "S2"}, "it must be orthogonal to q"),
    ((swing, (0, 1), [1.0, 0.0]), {"group": "SO4"}, "SO4"), ((swing, (0, 1), [1.0, 0.0]), {"group": 3}, "group '3'"),
    ((swing, (0, 1), [1.0, 0.0]), {"group": []}, "unknown group"),
    ((lambda t, y, *, k: k*y, (0, 1), [1.0]), {}, r"function of \(t, y, \*, k\)"),
    ((lambda t, y, k: k*y, (0, 1), [1.0]), {"args": (1.0, 2.0)}, "2 further arguments"),
    ((top, (0, 1), TOP), {"group": "SE3"}, "rigid motions are option action: se3"),
    ((top, (0, 1), TOP), {"group": "SO3^xR3"}, "unknown group"),
    ((swing, (0, 1), [1.0, 0.0], "RKMK4"), {"group": "S2^0", "step": 0.1}, "unknown group"),
    ((top, (0, 1), 2.0*TOP, "RKMK4"), {"step": 0.1}, "attitude"),
    ((swing, (0, 1), [1.0, 0.0], "Taylor"), {"blackbox": True}, "a black box has no derivatives and no series"),
    ((lambda t, y: y[:1], (0, 1), [1.0, 0.0]), {"blackbox": True}, "returns shape")])
def test_wrong_arguments_are_one_sentence(arguments, more, words):
    with pytest.raises(liestep.InputError, match=words):
        liestep.solve(*arguments, **more)


def test_longest_steps_and_stops():
    """A pulse that steps would jump over, of a function that is called; right: closed form."""
    def pulse(t, y):
        return [(100.0 if abs(t - 5.0) < 0.005 else 0.0) - y[0]]

    right = np.exp(-10.0) + 100.0*(np.exp(-4.995) - np.exp(-5.005))
    for limits in ({"max_step": 0.004}, {"stops": [4.995, 5.005]}):
        found = liestep.solve(pulse, (0, 10), [1.0], rtol=1e-8, blackbox=True, **limits)
        assert found.y[0, -1] == pytest.approx(right, rel=1e-6)
    assert {4.995, 5.005} <= {*found.t}
    assert np.diff(liestep.solve(pulse, (0, 10), [1.0], max_step=0.5, blackbox=True).t).max() <= 0.5*(1.0 + 1e-9)
    assert liestep.solve(pulse, (0, 10), [1.0], max_step=np.inf, blackbox=True).y[0, -1] < 1e-4


@pytest.mark.parametrize(("limits", "words"), [
    ({"max_step": 0}, "^max_step must be a positive number, not 0$"),
    ({"max_step": -0.1}, "^max_step must be a positive number, not -0.1$"),
    ({"stops": [0.5, 1.5]}, "^t = 1.5 of stops is outside of the run, which is from 0.0 to 1.0$"),
    ({"stops": [0.5, 0.4]}, "^stops must grow: 0.5 stands before 0.4$"),
    ({"method": "RK4", "step": 0.1, "max_step": 0.1}, "^rk4 has fixed steps: give a shorter step; max_step is for"),
    ({"method": "RK4", "step": 0.1, "stops": [0.25]}, r"^t = 0.25 of stops is no end of a step of 0.1: with fixed"),
])
def test_wrong_limits_of_steps_are_one_sentence(limits, words):
    with pytest.raises(liestep.InputError, match=words):
        liestep.solve(lambda t, y: -y, (0, 1), [1.0], **limits)


def marked(function, **how):
    for name, value in how.items():
        setattr(function, name, value)
    return function


@pytest.mark.parametrize("method", [{"method": "DOP853", "rtol": 1e-3}, {"method": "RK45", "rtol": 1e-3},
                                    {"method": "Taylor", "rtol": 1e-3}, {"method": "Gauss", "step": 8.0}])
def test_all_zeros_within_one_step_are_events(method):
    """y = (t + 5)(t + 1)(t - 4), both ways."""
    for ends in ((-6.0, 10.0), (10.0, -6.0)):
        start = [(ends[0] + 5.0)*(ends[0] + 1.0)*(ends[0] - 4.0)]
        found = liestep.solve(lambda t, y: [3.0*t*t + 4.0*t - 19.0], ends, start, events=[
            marked(lambda t, y, sign=sign: y[0], direction=sign) for sign in (0, 2.5, -1)], **method)
        assert np.allclose(found.t_events[0], sorted([-5.0, -1.0, 4.0], reverse=ends[0] > 0.0), rtol=1e-12)
        assert [len(times) for times in found.t_events[1:]] == ([2, 1] if ends[0] < 0.0 else [1, 2])
        assert all(np.abs(states).max() < 1e-9 for states in found.y_events)


@pytest.mark.parametrize("second", [1e-15, 1e-9, 1e6])
def test_times_of_events_have_no_unit(second):
    found = liestep.solve(lambda t, y: [y[1]/second, -y[0]/second], (0, 8*second), [1e-12, 0.0], rtol=1e-12,
                          events=lambda t, y: y[0])
    assert np.allclose(found.t_events[0], second*np.pi*np.array([0.5, 1.5, 2.5]), rtol=1e-11, atol=0.0)


@pytest.mark.parametrize("method", [{"method": "DOP853"}, {"method": "RK4", "step": 0.03}])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_all_events_of_the_time_that_ends_a_run(method, place):
    others = [lambda t, y, k: 7.0*y[0] - 7.0*k, lambda t, y, k: np.exp(t) - np.exp(k)]
    others.insert(place, marked(lambda t, y, k: y[0] - k, terminal=True))
    found = liestep.solve(lambda t, y, k: [1.0 + 0.0*y[0]], (0, 3), [0.0], args=(1.0,), dense_output=True, events=[
        *others, lambda t, y, k: y[0] - 1.0001], **method)
    assert (found.status, found.message) == (1, "A termination event occurred.")
    assert [len(times) for times in found.t_events] == [1, 1, 1, 0]
    assert np.ptp(np.concatenate(found.t_events)) == 0.0
    assert np.abs([found.t[-1] - 1.0, found.y[0, -1] - 1.0, found.sol(0.7)[0] - 0.7]).max() < 1e-14
    with pytest.raises(liestep.InputError, match=r"t = 1.01 is outside of the run, which is from 0 to "):
        found.sol([0.5, 1.01])


@pytest.mark.parametrize("t", [-0.5, 1.5, np.nan, [0.1, 10.0]])
@pytest.mark.parametrize("method", [{"method": "DOP853"}, {"method": "RK4", "step": 0.1}])
def test_dense_output_ends_with_the_run(t, method):
    for run in (liestep.solve(swing, (0, 1), [1.0, 0.0], dense_output=True, **method),
                liestep.solve(swing, (1, 0), [1.0, 0.0], dense_output=True, **method)):
        with pytest.raises(liestep.InputError, match="is outside of the run, which is from"):
            run.sol(t)


@pytest.mark.parametrize("events", [3, [3], marked(lambda t, y: y[0], terminal=-1),
                                    marked(lambda t, y: y[0], terminal=1.5), marked(lambda t, y: y[0], direction="up")])
def test_wrong_events_of_scipy_are_one_sentence(events):
    with pytest.raises(liestep.InputError, match=r"events must be functions of \(t, y\) whose attribute terminal is"):
        liestep.solve(swing, (0, 1), [1.0, 0.0], events=events)


def test_functions_of_math_and_arrays_that_are_filled_are_compiled():
    """By `liestep.solve` and by scipy, which makes another function of one with arguments."""
    def rates(t, y, rate):
        out = np.zeros(2)
        out[0] = y[1]
        out[1] = -rate*math.sin(y[0])
        return out

    right = solve_ivp(rates, (0, 3), [1.0, 0.0], "DOP853", rtol=1e-12, atol=1e-12, args=(2.0,)).y[:, -1]
    found = liestep.solve(rates, (0, 3), [1.0, 0.0], rtol=1e-11, args=(2.0,))
    assert found.compiled
    assert found.y[:, -1] == pytest.approx(right, abs=1e-9)
    made = []

    class Noted(liestep.scipy.DOP853):
        def __init__(self, *args, **options):
            made.append(self)
            super().__init__(*args, **options)

    found = solve_ivp(rates, (0, 3), [1.0, 0.0], Noted, rtol=1e-11, args=(2.0,))
    assert made[0].compiled
    assert found.y[:, -1] == pytest.approx(right, abs=1e-9)
    assert "test_solvers.py" in liestep.solve(lambda t, y: [math.erf(y[0])], (0, 1), [1.0]).reason
