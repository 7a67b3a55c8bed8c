"""What a start gives in a person's words stays so where a run replaces other parts of it, or begins at another time:
against scipy on equations written by hand."""
import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401
from scipy.integrate import solve_ivp

import liestep

INERTIA = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.0], [0.1, 0.0, 1.2]])
TURNED = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def moving_pivot(t, q, v, p):  # its momentum depends on the time
    return 0.5*((np.cos(q[0])*v[0])**2 + (np.sin(q[0])*v[0] - p.w*np.sin(p.w*t))**2) + np.cos(q[0])


def pivoted(begin, end, start):
    return solve_ivp(lambda t, y: [y[1], (4.0*np.cos(2.0*t) - 1.0)*np.sin(y[0])], (begin, end), start, method="DOP853",
                     rtol=1e-12, atol=1e-13).y[0, -1]


def turned(R, rate):
    def rates(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        return np.concatenate([np.cross(R, w).ravel(), np.linalg.solve(INERTIA, np.cross(INERTIA @ w, w))])

    return solve_ivp(rates, (0.0, 2.0), [*np.ravel(R), *rate], method="DOP853", rtol=1e-12, atol=1e-13).y[:9, -1]


@pytest.mark.parametrize("begin", [0.0, 0.7, -2.0])
def test_velocity_of_a_start_at_any_time(begin):
    pendulum = liestep.system("pendulum", lagrangian=moving_pivot, parameters={"w": 2.0},
                              start={"q": [1.0], "v": [0.3]})
    how = {"tolerance": 1e-11, "t_start": begin, "t_end": 3.0}
    data = pendulum.simulate("dop853", **how)
    assert abs(data["q"].values[-1, 0] - pivoted(begin, 3.0, [1.0, 0.3])) < 1e-9
    assert abs(data["v"].values[0, 0] - 0.3) < 1e-15
    data = pendulum.simulate("dop853", **how, initial={"q": [0.5]})
    assert abs(data["q"].values[-1, 0] - pivoted(begin, 3.0, [0.5, 0.3])) < 1e-9
    ends = liestep.ensemble(pendulum, "dop853", starts={"v": [[0.1], [0.2]]}, **how)
    for k in range(2):
        assert abs(ends["q"].values[k, 0] - pivoted(begin, 3.0, [1.0, 0.1*(k + 1)])) < 1e-9
    ends = liestep.ensemble(pendulum, "dop853", starts={"q": [[0.5], [1.0]]}, **how)
    assert abs(ends["q"].values[0, 0] - pivoted(begin, 3.0, [0.5, 0.3])) < 1e-9


def test_rate_of_a_start_at_any_attitude():
    body = liestep.system("body", inertia=INERTIA, start={"R": np.eye(3), "rate": [1.0, 2.0, 3.0]})
    data = body.simulate("rkmk853", tolerance=1e-11, t_end=2.0, initial={"R": TURNED})
    assert np.abs(data["R"].values[-1].ravel() - turned(TURNED, [1.0, 2.0, 3.0])).max() < 1e-9
    ends = liestep.ensemble(body, "rkmk853", starts={"R": [np.eye(3), TURNED]}, tolerance=1e-11, t_end=2.0)
    assert np.abs(ends["attitude"].values[1] - data["R"].values[-1]).max() == 0.0
    ends = liestep.ensemble(body, "rkmk853", starts={"rate": [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]}, tolerance=1e-11,
                            t_end=2.0)
    assert np.abs(ends["attitude"].values[1].ravel() - turned(np.eye(3), [3.0, 1.0, 2.0])).max() < 1e-9
    given = body.simulate("rkmk", step=0.1, t_end=1.0, initial={"R": TURNED, "angular_momentum": [1.0, 0.0, 0.0]})
    assert (given["angular_momentum"].values[0] == [1.0, 0.0, 0.0]).all()  # an explicit momentum decides
