"""Limits of joints as impacts with restitution, in a run that goes on: scipy with events on equations of angles and
lengths written anew, and energy books."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liestep
from liestep import Event, Impact
from liestep.errors import InputError
from liestep.extend import GROUND, Body, drive, prismatic, revolute, slide_drive, spherical

pytestmark = pytest.mark.slow

X, Y, Z = np.eye(3)
ZERO = np.zeros(3)
DOWN = [0, -9.81, 0]
TIGHT = {"tolerance": 1e-12}


def limits(joint, lower, upper, restitution):
    """Of a joint's coordinate."""
    return [Impact(("joint_coordinate", (joint,), lower), restitution=restitution),
            Impact(("joint_coordinate", (joint,), upper), direction=1, restitution=restitution)]


def bounced(rhs, start, t_end, place, stops, struck):
    """State at t_end, times of impacts, by scipy: y[place] stays between the stops, struck(y) is the state behind."""
    def event(level, sign):
        def gap(t, y):
            return sign*(y[place] - level)

        gap.terminal, gap.direction = True, -1
        return gap

    t, y, times = 0.0, np.array(start), []
    while True:
        found = solve_ivp(rhs, (t, t_end), y, "DOP853", rtol=1e-12, atol=1e-13,
                          events=[event(stops[0], 1.0), event(stops[1], -1.0)])
        t, y = found.t[-1], found.y[:, -1]
        if found.status != 1:
            return y, times
        times.append(t)
        y = struck(y)


def test_a_pendulum_bounces_off_its_stop_and_its_books_close():
    """J q'' = -m g l cos q about a pin."""
    system = liestep.system("stopped", bodies=[Body(2.0, [0.1, 0.3, 0.4], x=[0.5, 0, 0])], gravity=DOWN,
                            joints=[revolute(GROUND, ZERO, Z, 0, [-0.5, 0, 0], Z)])
    found = system.simulate("dop853", events=limits(0, -2.0, -0.8, 0.9), t_end=3.0, samples=4, **TIGHT,
                            initial=turned(system, -1.0))

    def rhs(t, y):
        return [y[1], -2.0*9.81*0.5*np.cos(y[0])/(0.4 + 2.0*0.25)]

    end, times = bounced(rhs, [-1.0, 4.0], 3.0, 0, (-2.0, -0.8), lambda y: y*[1.0, -0.9])
    assert len(times) >= 5
    assert np.abs(found["event_times"].values - times).max() < 1e-9
    assert found["joint_coordinate"].values[-1, 0] == pytest.approx(end[0], abs=1e-9)
    assert found["joint_rate"].values[-1, 0] == pytest.approx(end[1], abs=1e-8)
    mechanical = 0.45*(end[1]**2 - 16.0) + 9.81*(np.sin(end[0]) - np.sin(-1.0))
    assert found["impact_work"].values[-1] == pytest.approx(mechanical, abs=1e-8)
    assert found.attrs["energy_error_max"] < 1e-9
    assert found.attrs["joint_error_max"] < 1e-9


def turned(system, angle):
    """The rod at an angle, at 4 rad/s."""
    c, s = np.cos(angle), np.sin(angle)
    return {"attitude": [[[c, -s, 0], [s, c, 0], [0, 0, 1]]], "position": [[0.5*c, 0.5*s, 0]],
            "body_rate": [4.0*Z], "velocity": [[-2.0*s, 2.0*c, 0]]}


def test_an_elbow_strikes_through_the_whole_arm():
    """Two rods of 1 m; the impulse about the elbow, e_2, changes both rates by M^-1 e_2."""
    inertia = [1e-3, 1/12, 1/12]
    system = liestep.system("elbow", bodies=[Body(1.0, inertia, x=[0.5, 0, 0]), Body(0.7, inertia, x=[1.5, 0, 0])],
                            joints=[revolute(GROUND, ZERO, Z, 0, [-0.5, 0, 0], Z),
                                    revolute(0, [0.5, 0, 0], Z, 1, [-0.5, 0, 0], Z)], gravity=DOWN)
    found = system.simulate("dop853", events=limits(1, -0.3, 0.3, 0.5), t_end=1.2, samples=2, **TIGHT)

    def mass(q):
        c = 0.7*0.5*np.cos(q)
        both = 1/12 + 0.7*0.25
        return np.array([[1/12 + 0.25 + 0.7 + both + 2*c, both + c], [both + c, both]])

    def rhs(t, y):
        q, v = y[:2], y[2:]
        s, a, b = 0.35*np.sin(q[1]), np.cos(q[0]), np.cos(q[0] + q[1])
        bias = np.array([-s*v[1]*(2*v[0] + v[1]), s*v[0]**2])
        weight = 9.81*np.array([0.5*a + 0.7*(a + 0.5*b), 0.35*b])
        return [*v, *np.linalg.solve(mass(q[1]), -bias - weight)]

    def struck(y):
        push = np.linalg.inv(mass(y[1]))[:, 1]
        return np.array([*y[:2], *(y[2:] - 1.5*y[3]/push[1]*push)])

    end, times = bounced(rhs, np.zeros(4), 1.2, 1, (-0.3, 0.3), struck)
    assert len(times) >= 2
    assert np.abs(found["event_times"].values - times).max() < 1e-9
    assert np.abs(found["joint_coordinate"].values[-1] - end[:2]).max() < 1e-9
    assert np.abs(found["joint_rate"].values[-1] - end[2:]).max() < 1e-8
    assert found.attrs["joint_rate_error_max"] < 1e-9


def test_a_slide_between_buffers_on_a_driven_arm():
    """A drive turns the arm at 2 rad/s whatever strikes: r'' = r w^2 between 0.3 and 0.8 m, and the impulse is along
    the slide alone."""
    system = liestep.system("buffers", bodies=[
        Body(1.0, [1.0, 1.0, 1.0], rate=2.0*Z), Body(0.5, [0.1]*3, x=[0.5, 0, 0], v=[0.4, 1.0, 0], rate=2.0*Z)],
        joints=[revolute(GROUND, ZERO, Z, 0, ZERO, Z), drive(GROUND, Z, X, 0, X, (0.0, 2.0, 0.0, 0.0)),
                prismatic(0, ZERO, X, 1, ZERO, X, Y, Z)])
    found = system.simulate("dop853", events=limits(1, 0.3, 0.8, 0.9), t_end=1.6, samples=9, **TIGHT)
    end, times = bounced(lambda t, y: [y[1], 4.0*y[0]], [0.5, 0.4], 1.6, 0, (0.3, 0.8), lambda y: y*[1.0, -0.9])
    assert len(times) >= 2
    assert np.abs(found["event_times"].values - times).max() < 1e-9
    assert found["joint_coordinate"].values[-1] == pytest.approx([3.2, end[0]], abs=1e-9)
    # the drive's work, and that of the impacts, of the kinetic energy of the slide
    gained = 0.25*(end[1]**2 + 4.0*end[0]**2 - 0.4**2 - 1.0)
    assert found["work"].values[-1] + found["impact_work"].values[-1] == pytest.approx(gained, abs=1e-8)
    assert found.attrs["energy_error_max"] < 1e-9


def test_a_driven_piston_pushes_a_slide_away():
    """The piston keeps its 0.5 m/s: behind the impact the slide moves at (1 + e) 0.5 - e v, here v = -0.3 m/s."""
    line = [prismatic(GROUND, ZERO, X, k, ZERO, X, Y, Z) for k in (0, 1)]
    system = liestep.system("piston", bodies=[
        Body(1.0, [0.1]*3, v=0.5*X), Body(0.4, [0.1]*3, x=X, v=-0.3*X)],
        joints=[*line, slide_drive(GROUND, ZERO, X, 0, ZERO, (0.0, 0.5, 0.0, 0.0))])
    struck = Impact(lambda s: s["position"][1, 0] - s["position"][0, 0], restitution=0.6)
    found = system.simulate("dop853", tolerance=1e-12, events=struck, t_end=2.0, samples=2)
    assert found["event_times"].values == pytest.approx([1.25], abs=1e-9)
    assert found["velocity"].values[-1, :, 0] == pytest.approx([0.5, 1.6*0.5 + 0.6*0.3], abs=1e-9)


def test_turns_are_counted_on_the_way_to_a_limit():
    """A free wheel comes to a stop after more than one turn, and back; `until` sees the same angle."""
    system = liestep.system("wheel", bodies=[Body(1.0, [0.1, 0.2, 0.3], rate=3.0*Z)],
                            joints=[revolute(GROUND, ZERO, Z, 0, ZERO, Z)])
    found = system.simulate("dop853", tolerance=1e-13, events=limits(0, -9.0, 7.5, 0.5), t_end=12.0, samples=2)
    assert found["event_times"].values == pytest.approx([2.5], abs=1e-9)
    assert found["joint_coordinate"].values[-1, 0] == pytest.approx(7.5 - 1.5*9.5, abs=1e-9)
    at = system.simulate("dop853", tolerance=1e-11, until=Event(("joint_coordinate", (0,), 10.0)), t_end=12.0)
    assert at.attrs["event_time"] == pytest.approx(10.0/3.0, abs=1e-9)


def test_what_is_no_limit_is_refused_in_a_sentence():
    system = liestep.system("wheel", bodies=[Body(1.0, [0.1, 0.2, 0.3], rate=3.0*Z)],
                            joints=[revolute(GROUND, ZERO, Z, 0, ZERO, Z)])
    for events, said in ((Impact(("joint_rate", (0,), 1.0)), "no function of places alone"),
                         (Impact(("joint_coordinate", (1,), 1.0), direction=1), "index"),
                         (Impact(("joint_coordinate", (0,), 0.5)), "must not be negative")):
        with pytest.raises(InputError, match=said):
            system.simulate("dop853", tolerance=1e-6, events=events, t_end=1.0)
    with pytest.raises(InputError, match="field or observable"):
        liestep.system("free", bodies=[Body(1.0, [0.1, 0.2, 0.3])], joints=[spherical(GROUND, ZERO, 0, ZERO)]).simulate(
            "dop853", tolerance=1e-6, events=Impact(("joint_coordinate", (0,), 0.5)), t_end=1.0)
