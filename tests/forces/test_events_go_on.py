"""Runs that go on at events: bouncing ball and rod, Newton's cradle, billiards, against closed forms."""
import json
from types import SimpleNamespace

import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep import Event, Impact
from liestep.errors import InputError
from liestep.extend import GROUND, Body, revolute
from liestep.simulation.endings.legs import Journey
from liestep.simulation.endings.search import Occurrence
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify

pytestmark = pytest.mark.slow

FLOOR = ("q", (0,), 0.0)
G = 9.81


def ball(name="bouncing", **more):
    return liestep.system(name, lagrangian=lambda q, v: 0.5*(v @ v) - G*q[0], start={"q": [1.0], "v": [0.0]}, **more)


def bounces(restitution, t_end):
    """Times at which a ball that falls from 1 m bounces."""
    time, flight = np.sqrt(2.0/G), 2.0*np.sqrt(2.0/G)
    while time < t_end:
        yield time
        flight *= restitution
        time += flight


SIZES = {"dop853": {"tolerance": 1e-12}, "taylor": {"tolerance": 1e-12}, "gauss": {"step": 0.025},
         "verlet": {"step": 0.05}}
BOUNCE = Event(FLOOR, direction=-1, reset=lambda state: {"momentum": -0.8*state["momentum"]})


@pytest.mark.parametrize("integrator", SIZES)
@pytest.mark.parametrize("event", [BOUNCE, Impact(FLOOR, restitution=0.8)])
def test_a_ball_bounces_at_the_closed_form(integrator, event):
    data = ball().simulate(integrator, events=event, t_end=3.0, **SIZES[integrator])
    expected = list(bounces(0.8, 3.0))
    assert data.attrs["events"] == len(expected) == 6
    assert np.abs(data["event_times"].values - expected).max() < 1e-11
    assert data["event_numbers"].values.tolist() == [0]*6
    last = 3.0 - expected[-1]
    assert data["q"].values[-1, 0] == pytest.approx(0.8**6*np.sqrt(2.0*G)*last - 0.5*G*last**2, abs=1e-10)
    # books: each impact takes 1 - e^2 of the kinetic energy
    assert data["impact_work"].values[-1] == pytest.approx(-G*(1.0 - 0.64**6), abs=1e-10)
    assert np.abs(data["mechanical_energy"].values - data["energy"].values - data["impact_work"].values).max() < 1e-12
    assert data.attrs["energy_error_max"] < 1e-11
    assert data.attrs["status"] == "ok"
    assert data["time"].values[-1] == data.attrs["time_reached"] == 3.0


@pytest.mark.parametrize("integrator", ["dop853", "gauss"])
def test_bounces_that_accumulate_end_the_run(integrator):
    with pytest.warns(UserWarning, match="its times accumulate at t = 1.3545"):
        data = ball().simulate(integrator, events=Impact(FLOOR, restitution=0.5), t_end=2.0, **SIZES[integrator])
    assert data.attrs["status"] == "accumulated"
    assert data.attrs["accumulation_time"] == pytest.approx(3.0*np.sqrt(2.0/G), abs=1e-10)
    assert data["time"].values[-1] < data.attrs["accumulation_time"]
    assert data.attrs["events"] > 25
    with pytest.warns(UserWarning, match="restitution 0"):
        data = ball().simulate(integrator, events=Impact(FLOOR, restitution=0.0), t_end=2.0, **SIZES[integrator])
    assert data.attrs["time_reached"] == pytest.approx(np.sqrt(2.0/G), abs=1e-12)


@pytest.mark.parametrize("law", [Impact, Event])
@pytest.mark.parametrize(("floor", "restitution"), [(0.1, 0.5), (-3.0, 0.2), (-1e3, 0.02), (0.999, 0.9)])
def test_bounces_accumulate_on_a_floor_that_is_not_at_zero(floor, restitution, law):
    """Where the height of bounces is less than the rounding of places, a run does not fall through, nor fails."""
    place = ("q", (0,), floor)
    event = Impact(place, restitution=restitution) if law is Impact else Event(
        place, direction=-1, reset=lambda state: {"momentum": -restitution*state["momentum"]})
    end = np.sqrt(2.0*(1.0 - floor)/G)*(1.0 + 2.0*restitution/(1.0 - restitution))
    with pytest.warns(UserWarning, match="its times accumulate"):
        data = ball().simulate("dop853", tolerance=1e-10, t_end=1.5*end, events=event)
    assert data.attrs["status"] == "accumulated"
    assert data.attrs["accumulation_time"] == pytest.approx(end, rel=1e-9)
    assert 0.0 < end - data["time"].values[-1] < 1e-3*end
    assert data["q"].values[:, 0].min() > floor - 1e-15*abs(floor)


def test_a_pendulum_comes_to_rest_on_its_stop():
    """The law of a hinge between bodies: intervals shrink by the restitution, as the ones of a ball do."""
    body = Body(1.0, [0.1, 0.1, 0.1], x=[0.5, 0.0, 0.0])
    arm = liestep.system("stopped", bodies=[body], gravity=[0.0, -G, 0.0], joints=[
        revolute(GROUND, np.zeros(3), [0.0, 0.0, 1.0], 0, [-0.5, 0.0, 0.0], [0.0, 0.0, 1.0])])
    for gap in (("joint_coordinate", (0,), -0.9), lambda state: state["position"][0, 1] + 0.5*np.sin(0.9)):
        with pytest.warns(UserWarning, match="its times accumulate"):
            data = arm.simulate("dop853", tolerance=1e-10, t_end=2.0, events=Impact(gap, restitution=0.5))
        intervals = np.diff(data["event_times"].values)
        assert np.abs(intervals[-3:]/intervals[-4:-1] - 0.5).max() < 1e-3
        turn = data["attitude"].values[-1, 0]
        assert np.arctan2(turn[1, 0], turn[0, 0]) == pytest.approx(-0.9, abs=1e-9)
        assert data.attrs["energy_error_max"] < 1e-8


def test_the_order_between_impacts_is_that_of_the_method():
    """On a string of stiffness x + x^3, whose first return is a period of an elliptic function; the error after three
    impacts falls by 4 where the step is halved."""
    quartic = liestep.system("quartic", lagrangian=lambda q, v: 0.5*(v @ v) - 0.5*q[0]**2 - 0.25*q[0]**4,
                             start={"q": [1.0], "v": [0.0]})
    wall = Impact(("q", (0,), 0.0), restitution=0.9)
    exact = quartic.simulate("dop853", tolerance=1e-13, events=wall, t_end=7.5)
    errors = [np.abs(quartic.simulate("verlet", step=step, events=wall, t_end=7.5)["q"].values[-1]
                     - exact["q"].values[-1]).max() for step in (0.02, 0.01, 0.005)]
    assert exact.attrs["events"] >= 3
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx(2.0, abs=0.15)


def test_impacts_that_follow_at_once_go_through_a_cradle():
    """Five equal beads that touch: the last one goes on with the velocity of the first."""
    beads = liestep.system("beads", lagrangian=lambda q, v: 0.5*(v @ v),
                           start={"q": [-1.0, 0.0, 0.0, 0.0, 0.0], "v": [1.0, 0.0, 0.0, 0.0, 0.0]})
    gaps = [Impact(lambda state, k=k: state["q"][k + 1] - state["q"][k]) for k in range(4)]
    data = beads.simulate("verlet", step=0.1, events=gaps, t_end=3.0)
    assert data["event_numbers"].values.tolist() == [0, 1, 2, 3]
    assert np.abs(data["event_times"].values - 1.0).max() < 1e-14
    assert np.abs(data["q"].values[-1] - [0.0, 0.0, 0.0, 0.0, 2.0]).max() < 1e-13
    assert data.attrs["energy_error_max"] < 1e-14


def test_billiards_in_a_circle():
    disc = liestep.system("disc", lagrangian=lambda q, v: 0.5*(v @ v), start={"q": [0.3, 0.1], "v": [0.6, 0.8]})
    wall = Impact(lambda state: 1.0 - np.sqrt(state["q"] @ state["q"]))
    data = disc.simulate("verlet", step=0.25, events=wall, t_end=20.0, times=[5.0, 20.0])
    x, v, time, times = np.array([0.3, 0.1]), np.array([0.6, 0.8]), 0.0, []
    while True:
        along = x @ v
        flight = -along + np.sqrt(along**2 + 1.0 - x @ x)
        if time + flight > 20.0:
            break
        time, x = time + flight, x + flight*v
        x /= np.sqrt(x @ x)
        times.append(time)
        v = v - 2.0*(v @ x)*x
    assert len(times) > 8
    assert np.abs(data["event_times"].values - times).max() < 1e-10
    assert np.abs(data["q"].values[-1] - x - (20.0 - time)*v).max() < 1e-10
    q, p = data["q"].values, data["momentum"].values
    spin = q[:, 0]*p[:, 1] - q[:, 1]*p[:, 0]
    assert np.abs(spin - (0.3*0.8 - 0.1*0.6)).max() < 1e-12


def test_a_rod_falls_on_its_end():
    """The impulse at the end of a rod (mass 2, length 1), and the motion behind it; work -(1 - e^2) v^2 m_eff/2."""
    rod = liestep.system("rod", lagrangian=lambda q, v: v[0]**2 + v[1]**2 + v[2]**2/12.0 - 2.0*G*q[1],
                         start={"q": [0.0, 1.0, 0.3], "v": [0.0, 0.0, 0.0]})
    ends = [Impact(lambda state, s=s: state["q"][1] + 0.5*s*np.sin(state["q"][2]), restitution=0.5) for s in (1, -1)]
    first = np.sqrt(2.0*(1.0 - 0.5*np.sin(0.3))/G)
    data = rod.simulate("dop853", tolerance=1e-12, events=ends, t_end=first + 0.01, samples=2)
    assert data["event_numbers"].values.tolist() == [1]
    assert data["event_times"].values[0] == pytest.approx(first, abs=1e-12)
    arm, speed = -0.5*np.cos(0.3), -G*first
    effective = 1.0/(1.0/2.0 + arm**2/(1.0/6.0))
    impulse = -1.5*speed*effective
    spin = arm*impulse*6.0
    up = speed + 0.5*impulse
    end = [0.0, 0.5*np.sin(0.3) + 0.01*up - 0.5*G*1e-4, 0.3 + 0.01*spin]
    assert np.abs(data["q"].values[-1] - end).max() < 1e-11
    assert data["impact_work"].values[-1] == pytest.approx(-0.75*0.5*effective*speed**2, abs=1e-10)


def test_spheres_and_free_bodies_have_the_law_too():
    """A pendulum that meets a wall below its pivot turns back with half of its rate; a body that turns falls on the
    floor with its centre and keeps its spin."""
    start = {"q": [[0.6, 0.0, -0.8]], "omega": [[0.0, 0.0, 0.0]]}
    request = {"parameters": {"mass": [2.0], "length": [1.5], "gravity": [0.0, 0.0, -G]}, "initial": start}
    wall = Impact(("q", (0, 0), 0.0), restitution=0.5, count=2)
    data = liestep.simulate("spherical_pendulum_chain", "dop853", tolerance=1e-12, t_end=9.0, events=wall, **request)
    assert data.attrs["message"].startswith("ended at the event")
    loss = 2.0*G*1.5*0.2
    assert data["impact_work"].values[-1] == pytest.approx(-0.75*loss, rel=1e-10)
    body = liestep.system("falling", potential=lambda x: G*x[2], mass=1.0, inertia=[1.0, 2.0, 3.0],
                          start={"x": [0.0, 0.0, 1.0], "v": [1.0, 0.0, 0.0], "R": np.eye(3), "rate": [0.3, 2.0, 0.1]})
    floor = Impact(("position", (0, 2), 0.0))
    data = body.simulate("dop853", tolerance=1e-12, events=floor, t_end=1.0)
    free = body.simulate("dop853", tolerance=1e-12, t_end=1.0)
    assert data.attrs["events"] == 1
    height = 2.0*np.sqrt(2.0*G)*(1.0 - np.sqrt(2.0/G)) + free["position"].values[-1, 0, 2]
    assert data["position"].values[-1, 0] == pytest.approx([1.0, 0.0, height], abs=1e-11)
    assert np.abs(data["attitude"].values[-1] - free["attitude"].values[-1]).max() < 1e-10


@pytest.mark.parametrize(("integrator", "size"), [("rk4", {"step": 0.1}), ("dop853", {"tolerance": 1e-9})])
def test_a_jump_of_a_wrapped_angle_is_an_event_of_its_own_direction(integrator, size):
    turning = liestep.system("turning", rhs=lambda y: np.array([1.0 + 0.0*y[0]]), start={"y": [0.0]}, t_end=4.0)
    wrapped = [liestep.Event(lambda state: (state["y"][0] + 0.5) % 2.0 - 1.0, direction=sign, count=None)
               for sign in (0, 1, -1)]
    times = [turning.simulate(integrator, until=event, **size)["event_times"].values for event in wrapped]
    for found, known in zip(times, ([0.5, 1.5, 2.5, 3.5], [0.5, 2.5], [1.5, 3.5]), strict=True):
        assert found == pytest.approx(known, abs=1e-12)


def test_several_events_with_counts():
    """A ball between two walls: the run ends at the fourth hit of the left one; the middle is counted."""
    bead = liestep.system("bead", lagrangian=lambda q, v: 0.5*(v @ v), start={"q": [0.25], "v": [1.0]})
    walls = [Impact(("q", (0,), 0.0), count=4), Impact(lambda state: 1.0 - state["q"][0]),
             Event(("q", (0,), 0.5), count=None)]
    data = bead.simulate("rk4", step=0.1, events=walls, t_end=100.0)
    assert data.attrs["event_counts"] == "4 4 8"
    assert data.attrs["time_reached"] == pytest.approx(7.75, abs=1e-12)
    assert np.abs(np.diff(data["event_times"].values) - 0.5).max() < 1e-12
    kick = Event(("q", (0,), 0.5), reset=lambda state: {"momentum": 2.0*state["momentum"]})
    data = bead.simulate("rk4", step=0.1, events=kick, t_end=1.0)
    assert data["q"].values[-1, 0] == pytest.approx(2.0, abs=1e-12)
    assert data["impact_work"].values[-1] == pytest.approx(1.5, abs=1e-12)


def test_a_kicked_rotor_makes_the_standard_map():
    """Chirikov 1979: a coordinate of rate 1 is the clock; behind a kick its function is zero but for round-off."""
    rotor = liestep.system("rotor", hamiltonian=lambda q, momentum: 0.5*momentum[0]**2 + momentum[1],
                           start={"q": [0.5, 0.0], "momentum": [0.3, 0.0]})
    kick = Event(lambda state: np.sin(np.pi*(state["q"][1] - 0.5)), reset=lambda state: {
        "momentum": state["momentum"] + [0.6*np.sin(state["q"][0]), 0.0]})
    data = rotor.simulate("verlet", step=0.1, t_end=50.0, samples=2, events=[kick])
    q, p = 0.5 + 0.15, 0.3
    for n in range(50):
        p += 0.6*np.sin(q)
        q += p if n < 49 else 0.5*p
    assert np.allclose(data["event_times"], np.arange(50) + 0.5, rtol=0.0, atol=1e-11)
    assert np.allclose([data["q"][-1, 0], data["momentum"][-1, 0]], [q, p], rtol=0.0, atol=1e-10)


def test_the_identity_holds_what_a_reset_reads():
    def spec(e, **more):
        event = Event(FLOOR, -1, reset=lambda state: {"momentum": -e*state["momentum"]})
        return specify(ball(), "verlet", step=0.05, t_end=1.0, events=event, **more)

    assert spec(0.5).sha256 == spec(0.5).sha256 != spec(0.6).sha256
    plain = specify(ball(), "verlet", step=0.05, t_end=1.0)
    assert not {"events", "control"} & set(plain.canonical())
    content = [carry_out(spec(0.5)) for _ in range(2)]
    assert all(np.array_equal(content[0].variables[name][1], content[1].variables[name][1])
               for name in content[0].variables)
    assert "reproducible" not in content[0].attributes
    assert json.loads(content[0].attributes["specification"])["events"][0]["direction"] == -1
    random = np.random.default_rng(0)
    event = Event(FLOOR, -1, reset=lambda state: {"momentum": -random.random()*state["momentum"]})
    data = ball().simulate("verlet", step=0.05, t_end=1.0, events=event)
    assert data.attrs["reproducible"].startswith("not reproducible: event 0: ")


@pytest.mark.parametrize(("events", "words"), [
    (Event(FLOOR, -1, reset=lambda state: {"momentum": 0.0*state["momentum"]}), "leaves the state on its surface"),
    (Event(FLOOR, -1, reset=lambda state: {"speed": 1.0}), "state field 'speed'"),
    (Event(FLOOR, -1, reset=lambda state: {"momentum": [np.nan]}), "must be finite"),
    (Event(FLOOR, -1, reset=lambda state: {"momentum": [1.0, 2.0]}), "must be of shape (1,)"),
    (Event(FLOOR, -1, reset=lambda state: 1.0), "must give a mapping of state fields"),
    (Event(FLOOR, -1, reset=lambda state: state["speed"]), "unknown field 'speed' (allowed: energy, momentum, q, v)"),
    (Impact(("z", (0,), 0.0)), "field or observable 'z'")])
def test_wrong_resets_are_one_sentence(events, words):
    with pytest.raises(InputError) as caught:
        ball().simulate("dop853", tolerance=1e-9, t_end=1.0, events=events)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("made", "words"), [
    (lambda: Impact(FLOOR, restitution=1.5), "restitution of an impact is 1.5; it must be a number from 0"),
    (lambda: Impact(FLOOR, restitution=-0.1), "restitution of an impact is -0.1"),
    (lambda: Impact(FLOOR, restitution=np.nan), "restitution of an impact is nan"),
    (lambda: Impact(FLOOR, restitution="high"), "restitution of an impact is 'high'"),
    (lambda: Impact(FLOOR, direction=0), "from one side (direction -1 or 1)"),
    (lambda: Event(FLOOR, reset=2.0), "reset of an event must be a function")])
def test_wrong_events_are_one_sentence(made, words):
    with pytest.raises(InputError) as caught:
        made()
    assert words in str(caught.value)


def test_what_such_runs_do_not_have():
    for more, words in (({"until": FLOOR}, "leave out until"),
                        ({"dense": True}, "give dense or events"),
                        ({"t_end": -1.0, "events": Impact(FLOOR)}, "an impact has no way back: give t_end after")):
        with pytest.raises(InputError, match=words):
            ball().simulate("verlet", **{"step": 0.05, "t_end": 1.0, "events": BOUNCE, **more})
    first = liestep.system("first", rhs=lambda y: [-1.0], start={"y": [1.0]})
    with pytest.raises(InputError, match="an impact needs velocities or momenta"):
        first.simulate("rk4", step=0.1, t_end=2.0, events=Impact(("y", (0,), 0.0)))


def test_a_body_that_tumbles_keeps_its_energy_in_impacts_of_its_corners():
    body = liestep.system("tumbling", potential=lambda x: 19.62*x[2], mass=2.0, inertia=[0.1, 0.2, 0.25], start={
        "x": [0.0, 0.0, 1.0], "v": [1.0, 0.0, 0.0], "R": np.eye(3), "rate": [0.3, 2.0, 0.1]})
    corners = [np.array([x, y, 0.5*y]) for x in (0.3, -0.3) for y in (0.2, -0.2)]
    data = body.simulate("dop853", tolerance=1e-11, t_end=1.5, events=[
        Impact(lambda state, c=c: state["position"][0, 2] + state["attitude"][0, 2] @ c) for c in corners])
    assert data.attrs["events"] >= 3
    assert data.attrs["energy_error_max"] < 1e-9
    assert np.abs(data["impact_work"].values).max() < 1e-12
    heights = [data["position"].values[:, 0, 2] + data["attitude"].values[:, 0, 2] @ c for c in corners]
    assert np.min(heights) > -1e-9
    assert np.abs(data["velocity"].values[:, 0, :2] - [1.0, 0.0]).max() < 1e-12  # the floor is smooth


def test_a_run_that_stops_between_events_says_so():
    """1/q blows up before the second event."""
    falling = liestep.system("falling_in", rhs=lambda y: [-1.0/y[0], 1.0], start={"y": [1.0, 0.0]})
    mark = Event(("y", (1,), 0.25), reset=lambda state: {"y": [0.5*state["y"][0], 1.0]})
    data = falling.simulate("dop853", tolerance=1e-9, t_end=3.0, events=mark, on_failure="return")
    assert data.attrs["status"] != "ok"
    assert data.attrs["message"].startswith("stopped after t = 0.")
    assert data.attrs["time_reached"] == pytest.approx(0.25 + 0.5*0.25*0.5, abs=1e-3)
    assert data["time"].values[-1] == data.attrs["time_reached"]
    assert data.attrs["events"] == 1


@pytest.mark.parametrize(("speed", "first"), [(2.0, 2.0*2.0/9.81), (-2.0, 2.0*1.6/9.81)])
def test_a_ball_that_starts_on_the_floor_bounces(speed, first):
    """Thrown up from it, or against it: then the first impact is at the start."""
    ball = liestep.system("thrown", lagrangian=lambda q, v: 0.5*v @ v - 9.81*q[0], start={"q": [0.0], "v": [speed]},
                          t_end=1.0)
    found = ball.simulate("dop853", tolerance=1e-11, events=[liestep.Impact(("q", (0,), 0.0), restitution=0.8)])
    times = [time for time in found["event_times"].values if time > 0.0]
    assert times[0] == pytest.approx(first, abs=1e-10)
    assert times[1] - times[0] == pytest.approx(0.8*first, abs=1e-10)


@pytest.mark.parametrize(("start", "said"), [(-1.0, r"at t = 0 the gap of event 0 is -1"),
                                             (0.0, r"at t = .* the gap of event 0 is -\d")])
def test_a_start_inside_or_at_rest_on_the_floor_is_refused(start, said):
    ball = liestep.system("sunk", lagrangian=lambda q, v: 0.5*v @ v - 9.81*q[0], start={"q": [start], "v": [0.0]},
                          t_end=1.0)
    with pytest.raises(liestep.InputError, match=said):
        ball.simulate("dop853", tolerance=1e-9, events=[liestep.Impact(("q", (0,), 0.0), restitution=0.8)])


@pytest.mark.parametrize(("gap", "said"), [
    (("momentum", (0,), -1.0), "the gap of event 0 is no function of places alone: an impact needs a gap of q"),
    (lambda state: state["q"][0] + state["momentum"][0], "an impact needs a gap of q"),
    (("energy", None, 1.0), "an impact needs a gap of q"),
    (("place", (0,), 0.0), "an event: unknown field or observable 'place'"),
    (lambda state: state["v"][0], "an impact needs a gap of q"),
    (lambda state: state["speed"], "an event: unknown field 'speed' (allowed: ")])
def test_a_gap_is_a_function_of_places(gap, said):
    """An impulse along the gradient by velocities would be none of Newton's law."""
    with pytest.raises(InputError) as caught:
        ball().simulate("verlet", events=Impact(gap), t_end=1.0, step=0.01)
    assert said in str(caught.value)


def at_once(kinds, how):
    """Three balls that reach the floor at one time; what comes of them by resets (R), impacts (I) and a counter (C)."""
    fall = liestep.system("falling_balls", lagrangian=lambda q, v: 0.5*(v @ v) - G*(q[0] + q[1] + q[2]),
                          start={"q": [1.0, 1.0, 1.0], "v": [0.0, 0.0, 0.0]})
    made = {"R": lambda k: Event(("q", (k,), 0.0), reset=lambda state: {
                "momentum": state["momentum"]*(1.0 - 1.8*np.eye(3)[k])}),
            "I": lambda k: Impact(("q", (k,), 0.0), restitution=0.8),
            "C": lambda k: Event(("q", (k,), 0.0), count=None)}
    return fall.simulate(t_end=1.0, events=[made[kind](k) for k, kind in enumerate(kinds)], **how)


@pytest.mark.parametrize("kinds", ["RRR", "IRC", "CRI", "RIR"])
@pytest.mark.parametrize("how", [{"integrator": "dop853", "tolerance": 1e-10}, {"integrator": "rk4", "step": 0.0125}])
def test_all_events_of_one_time_happen(kinds, how):
    data = at_once(kinds, how)
    t = np.sqrt(2.0/G)
    bounced, free = 0.8*G*t*(1.0 - t) - 0.5*G*(1.0 - t)**2, 1.0 - 0.5*G
    assert data["event_numbers"].values.tolist() == [0, 1, 2]
    assert np.abs(data["q"].values[-1] - [free if kind == "C" else bounced for kind in kinds]).max() < 1e-8


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_clocks_and_resets_that_leave_the_surfaces_of_others(order):
    """y0 starts again at each second, and leaves the surfaces of the other two with it."""
    clock = liestep.system("restarting", rhs=lambda y: [1.0 + 0*y[0], 0*y[0], 1.0 + 0*y[0]], start={"y": [0.0]*3})
    events = [Event(("y", (0,), 1.0), 1, reset=lambda state: {"y": state["y"]*[0.0, 1.0, 1.0]}),
              Event(lambda state: 3.0*state["y"][0] - 3.0, 1, reset=lambda state: {"y": state["y"] + [0.0, 1.0, 0.0]}),
              Event(lambda state: np.sin(0.5*np.pi*state["y"][2]), count=None)]
    data = clock.simulate("rk4", step=0.125, t_end=12.5, events=[events[k] for k in order])
    assert data["y"].values[-1] == pytest.approx([0.5, 12.0, 12.5], abs=1e-12)
    assert data.attrs["event_counts"].split() == [("12", "12", "6")[k] for k in order]


@pytest.mark.parametrize("integrator", ["dop853", "ode45"])
def test_a_number_that_is_round_off_behind_a_reset_is_no_event(integrator):
    """Its first steps are shorter than the time can show: y0 = (cos t, -sin t), then 0.9 (sin, cos)(t - pi/2)."""
    swing = liestep.system("swung_on", rhs=lambda y: [y[1], -y[0]], start={"y": [1.0, 0.0]})
    data = swing.simulate(integrator, t_end=6.0, tolerance=1e-10, events=liestep.Event(
        lambda state: state["y"][0], reset=lambda state: {"y": -0.9*state["y"]}))
    assert data["event_times"].values == pytest.approx([np.pi/2.0, 1.5*np.pi], abs=1e-8)
    assert np.isfinite(data["y"].values).all()


def test_impacts_at_one_time_shrink_no_interval():
    """The interval before the last one may be zero: nothing is divided by it."""
    search = SimpleNamespace(noise=lambda *_: 1e-3, height=lambda _: 1.0)
    journey = SimpleNamespace(events=[BOUNCE], searches=[search])
    for times, hides in ([0.0, 1.0, 1.0, 1.01], False), ([0.0, 0.0, 1.0, 1.01], True):
        with np.errstate(all="raise"):
            assert Journey._hidden(journey, 0, Occurrence(0, 0.5, False, 1.01, 1), np.array(times)) is hides
