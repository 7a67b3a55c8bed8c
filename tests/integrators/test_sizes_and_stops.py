"""Sizes of numbers in units of their own and of what is pushed from rest; stops of runs. Right: closed forms."""
import numpy as np
import pytest

import liestep
from liestep.extend import Body
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.stops import stops_in

ADAPTIVE = ("dop853", "ode45", "taylor")


@pytest.fixture(scope="module")
def mixed():
    return liestep.system("mixed_units", rhs=lambda t, y: [0.0*y[0], -y[2], y[1]], start={"y": [1e7, 1e-9, 0.0]})


@pytest.mark.parametrize("method", ADAPTIVE)
def test_numbers_of_a_plain_rhs_have_sizes_of_their_own(mixed, method):
    found = mixed.simulate(method, tolerance=1e-8, t_end=20.0, samples=2)["y"].values[-1]
    assert np.abs(found[1:]/1e-9 - [np.cos(20.0), np.sin(20.0)]).max() < 1e-6


def pushed(t):
    return 2.0*np.where(t > 0.3, 1.0, 0.0)


@pytest.mark.parametrize("method", ["dop853", "ode45"])
def test_what_is_at_rest_is_pushed_at_a_place_that_no_function_of_time_names(method):
    """What moves with 3 m/s pushes the other one from x = 1 on, with 2 m/s2."""
    system = liestep.system("hit_later", rhs=lambda t, y: [3.0, np.where(y[0] > 1.0, 2.0, 0.0), y[1]],
                            start={"y": [0.0, 0.0, 0.0]})
    found = system.simulate(method, tolerance=1e-8, t_end=1.0, samples=2)["y"].values[-1]
    assert found[1:] == pytest.approx([4.0/3.0, 4.0/9.0], rel=1e-5)


@pytest.mark.parametrize("method", ["dop853", "rkmk853", "rkmk_pair"])
def test_bodies_at_rest_are_pushed_at_a_time(method):
    body = liestep.system("pushed_body", bodies=[Body(2.0, [1, 2, 2.5], x=[3, 0, 0])],
                          force=lambda t, x: np.array([[0.0, 1.0, 0]])*pushed(t))
    assert body.simulate(method, tolerance=1e-6, t_end=1.0, samples=2)["position"].values[-1, 0] == pytest.approx(
        [3.0, 0.5*0.49, 0.0], abs=1e-9)


def test_forces_of_mechanisms_are_at_the_time_of_the_run():
    """A run that starts later sees the force of that time; right: 0.8 s of the push."""
    body = liestep.system("pushed_body", bodies=[Body(2.0, [1, 2, 2.5], x=[3, 0, 0])],
                          force=lambda t, x: np.array([[0.0, 1.0, 0]])*pushed(t))
    found = body.simulate("dop853", tolerance=1e-6, t_start=0.2, t_end=1.1, samples=2)["position"].values[-1, 0, 1]
    assert found == pytest.approx(0.5*0.64, abs=1e-9)


def test_steps_end_where_functions_of_time_jump():
    table = ([0.0, 0.25, 0.5, 2.0], [0.0, 0.0, 4.0, 4.0])
    system = liestep.system("ramp", rhs=lambda t, y, p: [np.interp(t, *table) + np.where(t < p.off, 1.0, 0.0)],
                            start={"y": [0.0]}, parameters={"off": 0.7})
    assert set(specify(system, "dop853", tolerance=1e-6, t_end=1.0).stops) == {0.25, 0.5, 0.7}
    moved = specify(system, "ode45", tolerance=1e-6, t_end=1.0, parameters={"off": 0.9}, stops=[0.125])
    assert set(moved.stops) == {0.125, 0.25, 0.5, 0.9}
    assert specify(system, "rk4", step=0.125, t_end=1.0, stops=[0.125]).stops == ()
    data = system.simulate("dop853", tolerance=1e-6, t_end=1.0, log_steps=True, samples=5)
    assert {0.25, 0.5, 0.7} <= set(data["accepted_time"].values)
    assert data["y"].values[:, 0] == pytest.approx([0.0, 0.25, 1.0, 2.2, 3.2], abs=1e-9)
    back = system.simulate("dop853", tolerance=1e-6, t_start=1.0, t_end=0.0, samples=5)["y"].values[:, 0]
    assert back == pytest.approx(np.array([3.2, 2.2, 1.0, 0.25, 0.0]) - 3.2, abs=1e-9)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("width", [3.0, 1e-2, 1e-6])
def test_short_pulses_are_seen(method, width):
    """Right: the area of the bell."""
    system = liestep.system("bells", rhs=lambda t, y, p: [np.exp(-0.5*((t - 31.7)/p.w)**2)/p.w/np.sqrt(2*np.pi)],
                            start={"y": [0.0]}, parameters={"w": 1.0}, t_end=70.0)
    found = system.simulate(method, tolerance=1e-8, parameters={"w": width}, samples=2)["y"].values[-1, 0]
    assert found == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("method", ["dop853", "ode45"])  # taylor takes no choices
def test_a_single_pulse_beside_a_periodic_force_is_seen(method):
    """Right: the sine integrates to nothing, the pulse, which the sine's period does not repeat, to its height by its
    width."""
    system = liestep.system("kicked", rhs=lambda t, y: [np.sin(2.0*np.pi*t) + np.where((t > 7.3) & (t < 7.301), 1e3,
                                                                                      0.0)],
                            start={"y": [0.0]}, t_end=20.0)
    assert system.simulate(method, tolerance=1e-8, samples=2)["y"].values[-1, 0] == pytest.approx(1.0, rel=1e-5)


def test_stops_of_functions():
    def clock(p, t):
        return [("choice", abs(t - 5.0) - p["w"]), ("choice", np.sin(t)), ("inverse", 1.0 + (t - 7.0)**2),
                ("exp", -0.1*t)]

    found = sorted(stops_in(clock, {"w": 1e-9}, 0.0, 10.0))
    assert found == pytest.approx([np.pi, 5.0 - 1e-9, 5.0 + 1e-9, 2.0*np.pi, 7.0, 3.0*np.pi], abs=1e-7)
    assert found[1:3] == pytest.approx([5.0 - 1e-9, 5.0 + 1e-9], abs=1e-15)


def test_texts_of_runs_without_limits_are_as_before(mixed):
    text = specify(mixed, "dop853", tolerance=1e-6).canonical()
    assert not {"stops", "max_step"} & {*text}
    assert specify(mixed, "dop853", tolerance=1e-6, max_step=0.5).canonical()["max_step"] == 0.5


def test_events_and_dense_output_beside_stops():
    """Right: the ball is pushed at 0.3 with 2 m/s2, x = (t - 0.3)^2 = 0.16 at t = 0.7."""
    system = liestep.system("pushed_point", lagrangian=lambda q, v: 0.5*v[0]**2, start={"q": [0.0], "v": [0.0]},
                            force=lambda t: [pushed(t)])
    data = system.simulate("dop853", tolerance=1e-8, t_end=2.0, until=("q", 0, 0.16))
    assert data.attrs["t_end"] == pytest.approx(0.7, abs=1e-9)
    found = system.simulate("dop853", tolerance=1e-8, t_end=2.0, times=[0.2, 0.3, 0.31, 1.3])["q"].values[:, 0]
    assert found == pytest.approx([0.0, 0.0, 1e-4, 1.0], abs=1e-9)


def test_step_below_round_off_names_what_is_zero():
    system = liestep.system("blows_up", rhs=lambda t, y: [y[0]**2, 0.0*y[0]], start={"y": [1.0, 0.0]})
    with pytest.raises(liestep.IntegrationError, match=r"with y\[1\] at zero, which has no size for errors"):
        system.simulate("dop853", tolerance=1e-8, t_end=2.0)
