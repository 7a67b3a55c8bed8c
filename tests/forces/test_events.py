"""Events, output times and runs from any time in any direction, against closed forms and quadratures."""
import itertools
import re

import numpy as np
import pytest
from force_cases import load
from mpmath import mp
from place import TOP
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep import Event
from liestep.api.command_line import main
from liestep.errors import InputError

CHAIN = "spherical_pendulum_chain"
ROTOR = {"parameters": {"mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, 0.0]},
         "initial": {"q": [[0.0, 0.0, 1.0]], "omega": [[0.0, 1.0, 0.0]]}}  # q = (sin t, 0, cos t)
TAYLOR = {"integrator": "taylor", "tolerance": 1e-13}


def run(integrator="taylor", **request):
    size = {} if {"step", "steps", "tolerance"} & set(request) else {"tolerance": 1e-13}
    return liestep.simulate(CHAIN, integrator, **{**ROTOR, **size, **request})


def of_sine(level, t_end, direction=0):
    """Times in (0, t_end], by the closed form, where sin t = level."""
    with mp.workdps(30):
        rise = mp.asin(mp.mpf(level))
        found = [(float(rise + 2*k*mp.pi), 1) for k in range(-1, 10)] + [
            (float(mp.pi - rise + 2*k*mp.pi), -1) for k in range(-1, 10)]
    return sorted(time for time, sign in found if 1e-9 < time <= t_end and direction in (0, sign))


CASES = [(level, t_end, direction) for level in (1.0 - 1e-6, 1.0 - 1e-10, 0.5, 0.0, -1.0 + 1e-6)
         for t_end, direction in itertools.product((2.0, 20.0), (0, 1, -1))]


@pytest.mark.parametrize(("level", "t_end", "direction"), CASES)
def test_every_crossing_is_found_whatever_the_end(level, t_end, direction):
    data = run(t_end=t_end, until=Event(("q", (0, 0), level), direction, None))
    expected = of_sine(level, t_end, direction)
    assert data.attrs["events"] == len(expected)
    if not expected:
        assert data.attrs["event"] == "none"
        assert np.isnan(data.attrs["event_time"])
        return
    assert np.abs(data["event_times"].values - expected).max() < 1e-10
    assert data.attrs["event_time"] == data["event_times"].values[0]


@pytest.mark.parametrize(("integrator", "size"), [
    ("dop853", {"tolerance": 1e-13}), ("ode45", {"tolerance": 1e-12}), ("rkmk853", {"tolerance": 1e-12}),
    ("cf_pair", {"tolerance": 1e-10}), ("lie_taylor", {"tolerance": 1e-13}), ("rkmk", {"step": 1.0})])
def test_other_methods_find_the_same_events(integrator, size):
    """Two crossings within one step too: sin t = 1 - 1e-6 is crossed twice within 2.9e-3 s. Lie group methods turn the
    rotor exactly, with any step."""
    for level in (1.0 - 1e-6, 0.99, -0.3):
        data = run(integrator, t_end=7.0, until=Event(("q", (0, 0), level), count=None), samples=2, **size)
        expected = of_sine(level, 7.0)
        assert data["event_times"].size == len(expected)
        error = np.abs(data["event_times"].values - expected)*np.sqrt(1.0 - level**2)
        assert error.max() < (1e-10 if integrator != "cf_pair" else 1e-8)  # of the method, order 4


def test_direction_count_and_functions():
    def height(state):
        return state["q"][0, 0] - 0.5

    times = of_sine(0.5, 20.0)
    for zero in (height, ("q", (0, 0), 0.5)):
        up, third = (run(t_end=20.0, until=Event(zero, *how)) for how in ((-1,), (0, 3)))
        assert up.attrs["event_time"] == pytest.approx(times[1], abs=1e-12)
        assert third.attrs["event_time"] == third["time"].values[-1] == pytest.approx(times[2], abs=1e-12)
        assert third["event_directions"].values.tolist() == [1, -1, 1]
        assert third.attrs["time_reached"] == third.attrs["t_end"] == third.attrs["event_time"]
        assert abs(third["q"].values[-1, 0, 0] - 0.5) < 1e-14
    few = run(t_end=7.0, until=Event(height, count=4))
    assert few.attrs["event"] == "none"
    assert np.isnan(few.attrs["event_time"])
    assert few.attrs["events"] == 3
    assert few["time"].values[-1] == 7.0


def test_events_of_a_run_do_not_depend_on_its_samples_nor_on_its_end():
    found = [run("dop853", tolerance=1e-9, t_end=t_end, samples=samples, until=("q", (0, 0), 1.0 - 1e-6))
             for t_end, samples in ((2.0, 2), (3.0, 1001), (7.0, 3), (20.0, 1001))]
    times = [data.attrs["event_time"] for data in found]
    assert np.ptp(times) < 1e-6  # first steps depend on the end: of the size of the tolerance over cos t
    assert [data["time"].size for data in found] == [2, 1001, 3, 1001]


def section(problem, until, direction, **request):
    """The period from a section on which the run starts, and the same with another method."""
    return [liestep.simulate(problem, integrator, tolerance=1e-13, until=Event(until, direction), **request)
            .attrs["event_time"] for integrator in ("taylor", "dop853")]


def elliptic(roots, factor):
    """Period of u'^2 = factor (u - u1)(u2 - u)(u3 - u) between u1 and u2."""
    low, middle, high = sorted(roots)
    return float(4*mp.ellipk((middle - low)/(high - low))/mp.sqrt(factor*(high - low)))


GRAVITY = {"mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, -9.81]}


def pendulum(omega, q):
    return {"parameters": GRAVITY, "initial": {"q": [q], "omega": [omega]}, "t_end": 10.0}


def test_period_of_a_plane_pendulum():
    expected = float(4*mp.ellipk((mp.mpf(2)/2)**2/mp.mpf("9.81"))/mp.sqrt(mp.mpf("9.81")))
    for period in section(CHAIN, ("q", (0, 0), 0.0), 1, **pendulum([0.0, -2.0, 0.0], [0.0, 0.0, -1.0])):
        assert period == pytest.approx(expected, abs=1e-10)


def test_period_of_the_height_of_a_spherical_pendulum():
    """z'^2 = 2 (E - g z)(1 - z^2) - L^2, with z = -0.8 and z' > 0 at the start."""
    q, omega = np.array([0.6, 0.0, -0.8]), np.array([0.8, 1.0, 0.6])*[1.0, -1.0, 1.0]
    rate = np.cross(omega, q)
    assert omega @ q == pytest.approx(0.0, abs=1e-16)
    assert rate[2] > 0.0
    g, spin = mp.mpf("9.81"), mp.mpf(float(np.cross(q, rate)[2]))
    energy = mp.mpf(float(rate @ rate))/2 + g*mp.mpf(q[2])
    roots = mp.polyroots([2*g, -2*energy, -2*g, 2*energy - spin**2])
    for period in section(CHAIN, ("q", (0, 2), -0.8), 1, **pendulum(omega.tolist(), q.tolist())):
        assert period == pytest.approx(elliptic([mp.re(root) for root in roots], 2*g), abs=1e-10)


def test_period_of_the_momentum_of_a_free_body():
    """Landau and Lifshitz, Mechanics, section 37; the section is the zero of the momentum about the middle axis."""
    small, middle, large = (mp.mpf(number) for number in ("0.6", "1", "1.5"))
    body = np.array([1.2, 0.0, 0.5])  # about axes of the moments 1.5, 1, 0.6
    square = mp.mpf(body[0])**2 + mp.mpf(body[2])**2
    twice = mp.mpf(body[0])**2/large + mp.mpf(body[2])**2/small
    assert square > twice*middle
    rate = mp.sqrt((large - middle)*(square - twice*small)/(small*middle*large))
    modulus = (middle - small)*(twice*large - square)/((large - middle)*(square - twice*small))
    for period in section("free_rigid_body", lambda s: (s["attitude"].T @ s["angular_momentum"])[1], -1, t_end=60.0,
                          parameters={"inertia": [1.5, 1.0, 0.6]},
                          initial={"attitude": np.eye(3), "angular_momentum": body}):
        assert period == pytest.approx(float(4*mp.ellipk(modulus)/rate), abs=1e-10)


def test_period_of_the_nutation_of_a_top():
    """u'^2 = (alpha - beta u)(1 - u^2) - (b - a u)^2 of u = cos(theta) (Goldstein, section 5.7)."""
    inertia, weight = 1.0, 0.5*9.81
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.8, -0.6], [0.0, 0.6, 0.8]])
    momentum = turn @ np.array([0.7, 0.3, 2.0])
    beta, a, b = mp.mpf(2*weight/inertia), mp.mpf(2.0/inertia), mp.mpf(float(momentum[2]))/inertia
    u = mp.mpf(turn[2, 2])
    slope = (mp.mpf("0.7")**2 + mp.mpf("0.3")**2)/inertia**2  # theta'^2 + (sin(theta) phi')^2
    alpha = slope + beta*u
    roots = [mp.re(r) for r in mp.polyroots([beta, -(alpha + a**2), 2*a*b - beta, alpha - b**2])]
    start = {"attitude": turn, "angular_momentum": momentum}
    parameters = {"inertia": [inertia, inertia, 0.5], "mass": 1.0, "length": 0.5, "axis": [0.0, 0.0, 1.0],
                  "gravity": [0.0, 0.0, -9.81]}
    rising = 1 if (turn @ np.cross([0.7, 0.3, 0.0], [0.0, 0.0, 1.0]))[2] > 0.0 else -1
    for period in section("heavy_top", ("attitude", (2, 2), 0.8), rising, t_end=10.0, parameters=parameters,
                          initial=start):
        assert period == pytest.approx(elliptic(roots, beta), abs=1e-10)


def test_a_start_on_the_surface_is_no_event():
    """Also where rounding puts it beside the surface."""
    late = {**ROTOR, "initial": {"q": [[0.8, 0.0, 0.6]], "omega": [[0.0, 1.0, 0.0]]}}
    for level in (0.8, np.nextafter(0.8, 1.0), np.nextafter(0.8, 0.0)):
        data = run(**late, t_end=10.0, until=Event(("q", (0, 0), level), 1))
        assert data.attrs["event_time"] == pytest.approx(2.0*np.pi, abs=1e-12)
        back = run(**late, t_end=-10.0, until=Event(lambda state, level=level: state["q"][0, 0] - level, -1))
        assert back.attrs["event_time"] == pytest.approx(-2.0*np.pi, abs=1e-12)


@pytest.mark.parametrize(("integrator", "size"), [
    ("taylor", {"tolerance": 1e-13}), ("rkmk", {"steps": 20}), ("dop853", {"tolerance": 1e-13})])
@pytest.mark.parametrize("t_end", [5.0, -5.0])
def test_times_of_ones_own_and_backward_runs_are_the_closed_form(integrator, size, t_end):
    times = np.sign(t_end)*np.array([0.0, 1e-9, 0.25, 1.0/3.0, 3.0, 4.75, 5.0])
    data = run(integrator, t_end=t_end, times=times, **size)
    assert np.array_equal(data["time"].values, times)
    exact = np.stack((np.sin(times), 0.0*times, np.cos(times)), axis=1)
    assert np.abs(data["q"].values[:, 0] - exact).max() < 1e-12
    assert data.attrs["time_reached"] == pytest.approx(t_end, abs=1e-14)
    ended = run(integrator, t_end=t_end, times=times, until=("q", (0, 0), 0.0), **size)
    assert ended["time"].values.tolist() == [*times[:5], ended.attrs["event_time"]]
    assert ended.attrs["event_time"] == pytest.approx(np.sign(t_end)*np.pi, abs=1e-12)


def test_times_are_the_samples_where_these_are():
    for integrator, size in (("ode45", {"tolerance": 1e-6}), ("vi_sphere", {"steps": 40})):
        plain = run(integrator, t_end=4.0, samples=21, **size)
        own = run(integrator, t_end=4.0, times=plain["time"].values, **size)
        for name in ("q", "omega", "energy"):
            assert np.abs(plain[name].values - own[name].values).max() < 1e-15
        assert plain.attrs["energy_error_max"] == own.attrs["energy_error_max"]
        assert plain.attrs["run_sha256"] != own.attrs["run_sha256"]


def test_methods_with_history_have_their_nodes_only():
    linkage = {"step": 0.01, "t_end": 0.1}
    own = liestep.simulate("four_bar", "lie_ab order=2", times=[0.02, 0.05], **linkage)
    plain = liestep.simulate("four_bar", "lie_ab order=2", samples=11, **linkage)
    assert np.array_equal(own["attitude"].values, plain["attitude"].values[[2, 5]])
    with pytest.raises(InputError, match="lie_ab has no dense output"):
        liestep.simulate("four_bar", "lie_ab order=2", times=[0.015], **linkage)


SIZES = {"taylor": {"tolerance": 1e-13}, "dop853": {"tolerance": 1e-13}, "rkmk853": {"tolerance": 1e-13},
         "lie_taylor": {"tolerance": 1e-13}, "rkmk": {"steps": 4000}, "vi_sphere weights=kl8": {"steps": 300}}


@pytest.mark.parametrize("integrator", SIZES)
def test_systems_that_know_time_start_at_any_time_and_run_backward(integrator):
    """The pivot of the pendulum shakes with sin(4 t), and the drag is no drag backward."""
    load("damped_pendulum")
    whole = liestep.simulate("damped_pendulum", "dop853", tolerance=1e-13, t_end=1.1, times=[0.3, 1.1])
    first, last = ({name: whole[name].values[k] for name in ("q", "omega")} for k in (0, 1))
    later = liestep.simulate("damped_pendulum", integrator, t_start=0.3, t_end=1.1, initial=first, **SIZES[integrator])
    assert later["time"].values[0] == 0.3
    assert later["time"].values[-1] == pytest.approx(1.1, abs=1e-15)
    back = liestep.simulate("damped_pendulum", integrator, t_start=1.1, t_end=0.3, initial=last, **SIZES[integrator])
    for data, state in ((later, last), (back, first)):
        for name in ("q", "omega"):
            assert np.abs(data[name].values[-1] - state[name]).max() < 3e-10, name
    assert abs(later.attrs["time_reached"] - 1.1) < 1e-14
    at = liestep.simulate("damped_pendulum", integrator, t_start=0.3, t_end=1.1, initial=first,
                          until=("q", (0, 2), -0.95), **SIZES[integrator])
    assert 0.3 < at.attrs["event_time"] < 1.1
    here = liestep.simulate("damped_pendulum", "dop853", tolerance=1e-13, t_end=1.1, until=("q", (0, 2), -0.95))
    assert at.attrs["event_time"] == pytest.approx(here.attrs["event_time"], abs=1e-9)


def test_dense_output_of_a_run_that_starts_later_and_goes_backward():
    data = run("rkmk", t_start=1.0, t_end=-2.0, steps=6, dense=True)  # q(1) = e3: the angle is t - 1
    at = data.liestep.at([0.9, 0.0, -2.0])
    assert np.abs(at["q"].values[:, 0, 0] - np.sin([-0.1, -1.0, -3.0])).max() < 1e-14
    with pytest.raises(InputError, match=r"outside of the run, which is from 1 to -2\.0"):
        data.liestep.at([1.5])


@pytest.mark.parametrize(("request_", "words"), [
    ({"times": [0.0, 0.2, 0.1]}, "times must grow: 0.2 stands before 0.1"), ({"times": [0.1, 0.1]}, "times must grow"),
    ({"times": [0.0, 2.0]}, "t = 2.0 of times is outside of the run, which is from 0.0 to 1.0"),
    ({"times": [-0.1]}, "outside of the run"), ({"times": [0.0, np.nan]}, "number 1 is not one"),
    ({"times": []}, "times is empty"), ({"times": "0, 1"}, "must be a list of numbers"),
    ({"times": ["0.5"]}, "number 0 is not one"), ({"times": 0.5}, "must be a list of numbers"),
    ({"times": [0.5j]}, "number 0 is not one"), ({"times": [0.5], "samples": 3}, "give times or samples, not both"),
    ({"times": [-0.2, -0.1], "t_end": -1.0}, "times must fall, as the run is backward"),
    ({"times": [0.5], "dense": True}, "give dense or times, not both"),
    ({"t_start": np.inf}, "t_start must be a finite number"), ({"t_end": 0.0}, "t_end must differ from the start"),
    ({"t_start": "now"}, "t_start must be a finite number"), ({"t_end": np.nan}, "t_end must be a finite number"),
    ({"t_start": "0"}, "t_start must be a finite number, not '0'"), ({"t_end": "1"}, "t_end must be a finite number"),
    ({"t_start": 0.5, "exponents": 1}, "exponents are of runs from t = 0 forward"),
    ({"until": "q[0, 0]"}, "no text is evaluated"), ({"until": ["q", (0, 0), "high"]}, "must give a number"),
    ({"until": [("q", (0, 0), 0.0), ("q", (0, 1), 0.0)]}, "an event must be a function of the state"),
    ({"until": lambda state: "0.5"}, "must give a number"), ({"until": lambda state: 1j}, "must give a number")])
def test_wrong_requests_are_one_sentence(request_, words):
    with pytest.raises(InputError) as caught:
        run("rkmk", **{"t_end": 1.0, "steps": 10, **request_})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("how", "words"), [
    ({"direction": 2}, "direction of an event is 2"), ({"direction": True}, "direction of an event is True"),
    ({"count": 0}, "count of an event is 0"), ({"count": 1.5}, "count of an event is 1.5")])
def test_wrong_events_are_one_sentence(how, words):
    with pytest.raises(InputError, match=words):
        Event(("q", (0, 0), 0.0), **how)


def test_the_page_shows_what_happens():
    block = re.findall(r"```python\n(.*?)```", (TOP/"docs"/"events.md").read_text("utf-8"), re.DOTALL)[0]
    seen = {}
    exec(block, seen)
    assert f"{seen['period']:.10f} s" in block
    assert seen["data"].sizes["event"] == 10
    assert np.abs(seen["at"]["q"].values[:, 0, 0] - 0.1).max() < 1e-12


def test_on_the_command_line(tmp_path, capsys):
    path = tmp_path/"run.nc"
    arguments = ["run", CHAIN, "dop853", "--tolerance", "1e-10", "--t-start", "1", "--t-end", "-4", "-o", str(path)]
    event = ["--until", "q:1,0=-0.3", "--direction", "-1", "--count", "2"]
    assert main([*arguments, "--times", "1,0.5,-0.25", *event]) == 0
    assert "ended at the event" in capsys.readouterr().out
    written = liestep.open_run(path)
    same = liestep.simulate(CHAIN, "dop853", tolerance=1e-10, t_start=1.0, t_end=-4.0, times=[1.0, 0.5, -0.25],
                            until=Event(("q", (1, 0), -0.3), -1, 2))
    assert written.attrs["event_time"] == same.attrs["event_time"] == written["time"].values[-1]
    assert written.attrs["run_sha256"] == same.attrs["run_sha256"]
    assert np.array_equal(written["q"].values, same["q"].values)
    for wrong, words in ((("--until", "q"), "must be NAME:INDEX=VALUE"), (("--times", "1,x"), "must be numbers")):
        assert main([*arguments, *wrong]) == 2
        assert words in capsys.readouterr().err


def test_long_runs_are_looked_at_in_pieces():
    """Thousands of steps; with pi/8 as the step every zero is a node."""
    expected = np.pi*np.arange(1, 32)
    for integrator, size in (("rkmk", {"steps": 12000}), ("rkmk", {"steps": 256}), ("ode45", {"tolerance": 1e-13})):
        data = run(integrator, t_end=32.0*np.pi*(1.0 - 1e-9) if integrator == "ode45" else 32.0*np.pi, samples=2,
                   until=Event(("q", (0, 0), 0.0), count=None), **size)
        found = data["event_times"].values
        assert np.abs(found[:31] - expected).max() < 1e-10
        assert len(found) <= 32  # the end itself is a zero of the fixed steps, to rounding
        assert data["event_directions"].values[:31].tolist() == [(-1)**k for k in range(1, 32)]


def test_integrals_over_time_are_those_of_the_samples():
    """Integrands are summed at the nodes, by the rule of the recorder."""
    request = {"t_end": 0.05}
    plain = liestep.simulate("bonded_particles", "rkmk", steps=50, samples=51, **request)
    fine = liestep.simulate("bonded_particles", "rkmk", steps=100, samples=101, **request)
    times = np.sort([*plain["time"].values[1:], 0.0255, 0.0475])  # two of them within steps
    own = liestep.simulate("bonded_particles", "rkmk", steps=50, times=times, **request)["h1_norm_squared"].values
    inside = np.isin(times, [0.0255, 0.0475])
    assert np.allclose(own[~inside], plain["h1_norm_squared"].values[1:], rtol=1e-12, atol=0.0)
    assert np.allclose(own[inside], fine["h1_norm_squared"].values[[51, 95]], rtol=1e-5, atol=0.0)


@pytest.mark.parametrize("step", [0.05, np.pi])
@pytest.mark.parametrize("zero", [("q", (0, 0), 0.9), lambda state: state["q"][0, 0] - 0.9])
def test_steps_that_are_left_out_hold_no_event(step, zero):
    """Also where each step is half a turn, so that the function is the same at all nodes."""
    data = run("rkmk", step=step, t_end=1500*step, samples=2, until=Event(zero, count=None))
    turns = 1500*step/(2.0*np.pi)
    right = (np.arcsin(0.9)*np.array([1.0, -1.0]) + [0.0, np.pi] + 2.0*np.pi*np.arange(int(turns) + 1)[:, None]).ravel()
    right = right[right < 1500*step]
    assert data["event_times"].size == right.size
    assert np.abs(data["event_times"].values - right).max() < 1e-8


@pytest.mark.parametrize("pole", [0.375, 0.40625, 0.5])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_pole_is_found_also_where_the_search_lands_on_it(pole):
    ball = liestep.system("ball", lagrangian=lambda q, v: 0.5*(v @ v), start={"q": [0.0], "v": [1.0]})
    for inverse in (lambda state: 1.0/(state["q"][0] - pole), lambda state: 1.0/(float(state["q"][0]) - pole)):
        for size in ({"integrator": "verlet", "step": 0.3}, {"integrator": "dop853", "tolerance": 1e-8}):
            assert abs(ball.simulate(t_end=1.2, until=inverse, **size).attrs["event_time"] - pole) < 1e-15
    with pytest.raises(InputError, match=r"not np.float64\(inf\); at a pole its inverse has a zero"):
        ball.simulate("verlet", step=pole, t_end=2.0*pole, until=lambda state: 1.0/(state["q"][0] - pole))
    for unknown in (None, np.nan):  # is no pole, and its middle no zero
        with pytest.raises(InputError, match=f"an event must give a finite number, not {unknown}"):
            ball.simulate("verlet", step=0.1, t_end=1.2, until=lambda state, given=unknown:
                          given if abs(state["q"][0] - pole) < 1e-5 else state["q"][0] - pole)

    def failing(state):
        if abs(state["q"][0] - pole) < 1e-3:
            raise ValueError("no signal")
        return state["q"][0] - pole

    with pytest.raises(InputError, match="an event: ValueError: no signal"):  # it is no pole
        ball.simulate("dop853", tolerance=1e-8, t_end=1.2, until=failing)
