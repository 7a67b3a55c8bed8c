"""What a start gives in a person's words stays so where a run replaces other parts of it, or begins at another time:
against scipy on equations written by hand."""
import numpy as np
import pandas
import pytest
import xarray
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


@pytest.mark.parametrize("inertia", [[1.0, 2.0, 2.5], [[2.0, 0.3, 0.1], [0.3, 3.0, -0.2], [0.1, -0.2, 2.5]]])
def test_rate_of_a_start_at_other_moments_of_inertia(inertia):
    body = liestep.system("body", inertia=inertia, start={"R": np.eye(3), "rate": [1.0, 2.0, 3.0]})
    other = {"inertia": [1.0, 2.0, 2.2]}
    data = body.simulate("rkmk853", tolerance=1e-11, t_end=2.0, parameters=other)
    assert np.abs(data["rate"].values[0] - [1.0, 2.0, 3.0]).max() < 1e-14
    ends = liestep.ensemble(body, "rkmk853", parameters={"inertia": [[1.0, 2.0, 2.5], other["inertia"]]}, t_end=2.0,
                            tolerance=1e-11)
    assert np.array_equal(ends["attitude"].values[1], data["R"].values[-1])


def test_labels_of_a_start_are_places_or_refused():
    """Numbers are taken by their places: a table in another order would be another start in silence."""
    body = liestep.system("body", inertia=INERTIA, start={"R": np.eye(3), "rate": [1.0, 2.0, 3.0]})
    right = pandas.Series([3.0, 2.0, 1.0])
    data = body.simulate("rkmk", step=0.1, t_end=0.1, initial={"rate": right}, parameters=pandas.Series(dtype=float))
    assert np.abs(data["rate"].values[0] - [3.0, 2.0, 1.0]).max() < 1e-15
    for wrong in (right[::-1], right.rename(dict(enumerate("zyx")))):
        with pytest.raises(liestep.InputError, match="initial rate has labels, and numbers are taken by their places"):
            body.simulate("rkmk", step=0.1, t_end=0.1, initial={"rate": wrong})
    rows = xarray.DataArray(np.ones((3, 3)), dims=("xyz", "member"))
    for many in (pandas.DataFrame(np.ones((3, 3)), columns=[*"zyx"]), rows):
        with pytest.raises(liestep.InputError, match="starts rate has labels"):
            body.ensemble("rkmk", starts={"rate": many}, step=0.1, t_end=0.1)
    with pytest.raises(liestep.InputError, match=r"parameters must be a mapping .* of type DataFrame$"):
        body.ensemble("rkmk", parameters=pandas.DataFrame({"inertia": np.ones(30)}), step=0.1, t_end=0.1)


def test_a_velocity_beside_places_of_a_wrong_shape():
    made = liestep.system("own", lagrangian=lambda q, v: 0.5*v @ v - q @ q, start={"q": [1.0, 0.2], "v": [0.0, 0.3]})
    with pytest.raises(liestep.InputError, match=r"^initial q must be of shape \(2,\), not \(3,\)$"):
        made.simulate("rk4", step=0.1, t_end=0.1, initial={"q": np.ones(3), "v": np.ones(2)})
