"""Parameters that a function sets at given instants, against the maps of sampled systems; measured forces."""
import json
from itertools import pairwise

import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401
from scipy.integrate import solve_ivp

import liestep
from liestep import open_run
from liestep.errors import InputError
from liestep.extend import GROUND, Body, revolute
from liestep.simulation.runs.specification import specify
from liestep.study.plan.plan import Study
from liestep.study.plan.sweep import run_cells

SIZES = {"rk4": {"step": 0.02}, "dop853": {"tolerance": 1e-9}, "ode45": {"tolerance": 1e-9}, "gauss": {"step": 0.05},
         "verlet": {"step": 0.1}, "lobatto": {"step": 0.1}}


def cart():
    return liestep.system("cart", lagrangian=lambda q, v: 0.5*(v @ v), force=lambda p: p.u,
                          parameters={"u": [0.0, 0.0]}, start={"q": [1.0, -2.0], "v": [0.0, 0.5]})


def pd(t, state):
    return {"u": -4.0*state["q"] - 2.0*state["momentum"]}


@pytest.mark.parametrize("integrator", SIZES)
def test_a_sampled_controller_is_the_map_of_its_hold(integrator):
    """x'' = u with u held for T: x + T v + T^2 u/2 and v + T u."""
    data = cart().simulate(integrator, control=pd, sample=0.1, t_end=3.0, samples=31, **SIZES[integrator])
    q, v = np.array([1.0, -2.0]), np.array([0.0, 0.5])
    for k in range(31):
        assert np.abs(data["q"].values[k] - q).max() < 1e-12
        assert np.abs(data["momentum"].values[k] - v).max() < 1e-12
        u = -4.0*q - 2.0*v
        q, v = q + 0.1*v + 0.005*u, v + 0.1*u
    assert data.attrs["status"] == "ok"
    assert data["time"].values[-1] == pytest.approx(3.0, abs=1e-14)


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_it_is_called_once_at_each_instant_and_may_remember(integrator):
    times, total = [], [0.0]

    def integral(t, state):
        times.append(t)
        total[0] += 0.25*state["q"][0]
        return {"u": [-total[0], 0.0]}

    data = cart().simulate(integrator, control=integral, sample=0.25, t_start=1.0, t_end=3.0, **{
        "rk4": {"step": 0.05}, "dop853": {"tolerance": 1e-9}}[integrator])
    assert np.abs(np.array(times) - np.arange(1.0, 2.99, 0.25)).max() < 1e-14
    q, v, held = 1.0, 0.0, 0.0
    for _ in range(8):
        held += 0.25*q
        q, v = q + 0.25*v - 0.03125*held, v - 0.25*held
    assert data["q"].values[-1, 0] == pytest.approx(q, abs=1e-13)


def by_hand(control, until=np.inf, wall=None, t_end=3.0, sample=0.1):
    """Flights of the first coordinate of the cart from one instant to the next, each with its start, by closed forms;
    they are reflected at the wall, and end where q = `until`."""
    t, q, v, found = 0.0, 1.0, 0.0, []
    while t < t_end - 1e-12:
        u, end = control(q, v), min((round(t/sample) + 1)*sample, t_end)
        while t < end - 1e-12:
            hits = [(s.real, kind) for kind, level in (("until", until), ("wall", wall)) if level is not None
                    and np.isfinite(level) for s in np.roots([0.5*u, v, q - level]) if abs(s.imag) < 1e-12
                    and 1e-9 < s.real <= end - t]
            s, kind = min(hits, default=(end - t, ""))
            found.append((t, q, v, u))
            t, q, v = t + s, q + v*s + 0.5*u*s*s, (v + u*s)*(-1.0 if kind == "wall" else 1.0)
            if kind == "until":
                return [*found, (t, q, v, u)]
    return [*found, (t, q, v, u)]


@pytest.mark.parametrize("integrator", ["rk4", "dop853", "verlet"])
def test_a_controlled_run_ends_at_an_event_goes_on_at_others_and_has_own_times(integrator):
    called = []

    def noted(t, state):
        called.append(t)
        return pd(t, state)

    how = {"control": noted, "sample": 0.1, "t_end": 3.0, **SIZES[integrator]}
    (*_, last) = by_hand(lambda q, v: -4.0*q - 2.0*v, until=0.37)
    data = cart().simulate(integrator, until=("q", (0,), 0.37), **how)
    assert data.attrs["event"] == "reached"
    assert data.attrs["event_time"] == data["time"].values[-1] == pytest.approx(last[0], abs=1e-12)
    assert data["momentum"].values[-1, 0] == pytest.approx(last[2], abs=1e-11)
    assert data["u"].values[-1, 0] == pytest.approx(last[3], abs=1e-11)
    assert called == pytest.approx(0.1*np.arange(np.ceil(last[0]/0.1)), abs=1e-12)  # and not behind the event
    rest = data.liestep.go_on(t_end=2.0, control=lambda t, state: {"u": [0.5, 0.0]})  # no whole number of samples
    assert rest["q"].values[-1, 0] == pytest.approx(0.37 + last[2]*(2.0 - last[0]) + 0.25*(2.0 - last[0])**2, abs=1e-11)
    flights = by_hand(lambda q, v: -4.0*q - 2.0*v, wall=0.2)
    bounce = liestep.Event(("q", (0,), 0.2), direction=-1, reset=lambda state: {
        "momentum": state["momentum"]*[-1.0, 1.0]})
    data = cart().simulate(integrator, events=bounce, **how)
    assert data.attrs["events"] >= 2
    assert data["q"].values[-1, 0] == pytest.approx(flights[-1][1], abs=1e-9)
    assert np.abs(data["mechanical_energy"] - data["energy"] - data["work"] - data["impact_work"]).max() < 1e-12
    times = [0.05, 0.1, 1.234, 2.5]
    data = cart().simulate(integrator, times=times, **how)
    assert data["time"].values.tolist() == times
    for t, q in zip(times, data["q"].values[:, 0], strict=True):
        began, x, v, u = max(one for one in by_hand(lambda q, v: -4.0*q - 2.0*v) if one[0] < t + 1e-12)
        assert q == pytest.approx(x + v*(t - began) + 0.5*u*(t - began)**2, abs=1e-12)


def test_a_satellite_stops_when_it_is_detumbled():
    """Against scipy's integration of Euler's equations from one instant to the next."""
    inertia = np.array([2.0, 3.0, 5.0])
    satellite = liestep.system("satellite", torque=lambda p: p.u, inertia=inertia.tolist(),
                               parameters={"u": [0.0]*3}, start={"R": np.eye(3), "rate": [0.3, -0.2, 0.1]})
    data = satellite.simulate("rkmk", step=0.05, t_end=100.0, sample=0.5, control=lambda t, state: {
        "u": -0.2*state["angular_momentum"]}, until=lambda state: np.sqrt(state["rate"] @ state["rate"]) - 0.02)

    def rates(t, y, u):
        R, rate = y[:9].reshape(3, 3), y[9:]
        return np.concatenate([(R @ np.cross(rate, np.eye(3)).T).ravel(),
                               (R.T @ u - np.cross(rate, inertia*rate))/inertia])

    def slow(t, y, u):
        return np.linalg.norm(y[9:]) - 0.02

    slow.terminal = True
    t, y = 0.0, np.append(np.eye(3).ravel(), [0.3, -0.2, 0.1])
    while True:
        momentum = y[:9].reshape(3, 3) @ (inertia*y[9:])
        found = solve_ivp(rates, (t, t + 0.5), y, "DOP853", args=(-0.2*momentum,), rtol=1e-11, atol=1e-13, events=slow)
        t, y = found.t[-1], found.y[:, -1]
        if found.status == 1:
            break
    assert data.attrs["event_time"] == pytest.approx(t, abs=1e-8)
    assert np.abs(data["rate"].values[-1] - y[9:]).max() < 1e-9


class Integral:
    """A controller with a memory."""

    def __init__(self, gain):
        self.gain = gain

    def start(self):
        self.sum = 0.0

    def __call__(self, t, state):
        self.sum += 0.1*state["q"][0]
        return {"u": [-self.gain*self.sum - state["q"][0] - state["momentum"][0], 0.0]}


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_a_controller_with_a_memory_starts_anew_and_goes_on(integrator):
    control, size = Integral(0.5), SIZES[integrator]
    how = {"control": control, "sample": 0.1, **size}
    one, two = (cart().simulate(integrator, t_end=2.0, **how) for _ in range(2))
    assert one.attrs["run_sha256"] == two.attrs["run_sha256"]
    assert np.array_equal(one["q"], two["q"])
    assert "reproducible" not in one.attrs
    half = cart().simulate(integrator, t_end=1.0, **how)
    cart().simulate(integrator, t_end=0.5, **how)  # which changes the memory
    for _ in range(2):
        assert np.abs(half.liestep.go_on(t_end=2.0)["q"].values[-1] - one["q"].values[-1]).max() < 1e-14
    starts = np.array([[1.0, -2.0], [0.4, 0.1]])
    many = liestep.ensemble(cart(), integrator, starts={"q": starts}, t_end=2.0, keep="samples",
                            times=[0.55, 2.0], **how)
    for k, q in enumerate(starts):
        alone = cart().simulate(integrator, t_end=2.0, initial={"q": q}, **how)
        assert np.abs(many["q"].values[k, -1] - alone["q"].values[-1]).max() < 1e-13


def test_torques_of_bodies_and_forces_on_spheres():
    """A body that spins about its first axis under a held torque; a bead on a sphere without one moves freely."""
    body = liestep.system("reel", torque=lambda p: p.u, inertia=[2.0, 2.0, 3.0], parameters={"u": [0.0, 0.0, 0.0]},
                          start={"R": np.eye(3), "rate": [1.0, 0.0, 0.0]})
    for integrator, size in {"rkmk": {"step": 0.05}, "dop853": {"tolerance": 1e-11}, "cg3": {"step": 0.05}}.items():
        data = body.simulate(integrator, control=lambda t, state: {"u": -0.5*state["angular_momentum"]}, sample=0.1,
                             t_end=1.0, **size)
        assert data["angular_momentum"].values[-1] == pytest.approx([2.0*0.95**10, 0.0, 0.0], abs=1e-12)
        work = np.sum(data["work"].values[-1])
        assert work == pytest.approx(0.25*(4.0*0.95**20 - 4.0), rel=1e-3)
    bead = liestep.system("bead", potential=lambda q: 0.0, force=lambda q, p: np.outer([1.0], p.u), mass=[1.0],
                          parameters={"u": [0.0, 0.0, 0.0]}, start={"q": [[1.0, 0, 0]], "v": [[0, 1.0, 0]]})
    data = bead.simulate("vi_sphere", step=0.01, t_end=1.0, sample=0.1,
                         control=lambda t, state: {"u": 0.3*np.cross(state["omega"][0], state["q"][0])})
    free = bead.simulate("dop853", tolerance=1e-12, t_end=1.0, sample=0.1,
                         control=lambda t, state: {"u": 0.3*np.cross(state["omega"][0], state["q"][0])})
    assert np.abs(data["q"].values[-1] - free["q"].values[-1]).max() < 1e-4
    assert np.linalg.norm(free["omega"].values[-1]) > 1.2


def test_a_mechanism_takes_a_torque_between_its_bodies():
    """The motor of a four-bar linkage with a sampled rule, against runs by hand from one instant to the next."""
    def motor(t, state):
        return {"motor": [0.3 - 0.2*state["body_rate"][0, 2], 0.0, 0.0]}

    size = {"options": {"stabilisation": "projection"}, "preset": "loaded"}
    data = liestep.simulate("four_bar", "rkmk", step=0.01, t_end=0.3, control=motor, sample=0.1, **size)
    state, work = {}, 0.0
    for k in range(3):
        initial = state or liestep.simulate("four_bar", "rkmk", step=0.01, t_end=0.01, samples=2, **size).isel(time=0)
        state = {name: initial[name] if state else initial[name].values for name in
                 ("attitude", "position", "body_rate", "velocity")}
        by_hand = liestep.simulate("four_bar", "rkmk", step=0.01, t_start=0.1*k, t_end=0.1*(k + 1), initial=state,
                                   parameters=motor(0.0, state), **size)
        state = {name: by_hand[name].values[-1] for name in state}
        work += by_hand["work"].values[-1]
    for name, values in state.items():
        assert np.abs(data[name].values[-1] - values).max() < 1e-12
    assert data["work"].values[-1] == pytest.approx(work, abs=1e-12)


def test_a_measured_torque_runs_in_compiled_code():
    """x'' = the straight lines between measured values; steps that end at these are exact with order 4."""
    at, measured = np.linspace(0.0, 2.0, 5), np.array([0.0, 1.0, -1.0, 0.5, 0.2])
    bench = liestep.system("bench", lagrangian=lambda q, v: 0.5*(v @ v), start={"q": [0.0], "v": [0.0]},
                           force=lambda t: [np.interp(t, at, measured)])
    q = v = 0.0
    for a, b in pairwise(measured):
        q, v = q + 0.5*v + 0.125*(2.0*a + b)/3.0, v + 0.25*(a + b)
    for integrator, step in {"rk4": 0.25, "gauss": 0.5}.items():
        data = bench.simulate(integrator, t_end=2.0, step=step)
        assert data["q"].values[-1, 0] == pytest.approx(q, abs=1e-13)
        assert data["momentum"].values[-1, 0] == pytest.approx(v, abs=1e-13)
    data = bench.simulate("dop853", tolerance=1e-10, t_end=2.0)
    assert data["q"].values[-1, 0] == pytest.approx(q, abs=1e-8)


def test_the_identity_holds_what_a_controller_reads():
    def spec(gain):
        return specify(cart(), "rk4", step=0.1, t_end=1.0, sample=0.1,
                       control=lambda t, state: {"u": -gain*state["q"]})

    assert spec(1.0).sha256 == spec(1.0).sha256 != spec(2.0).sha256
    assert json.loads(json.dumps(spec(1.0).canonical()))["control"]["sample"] == 0.1
    random = np.random.default_rng(1)
    data = cart().simulate("rk4", step=0.1, t_end=1.0, sample=0.1, control=lambda t, s: {"u": random.normal(size=2)})
    assert data.attrs["reproducible"].startswith("not reproducible: control: ")
    assert "reproducible" not in cart().simulate("rk4", step=0.1, t_end=1.0, sample=0.1, control=pd).attrs


STUDY = """title: "a cart"
plugins: [{name}.py]
steps: {{counts: [20]}}{more}
problems:
  cart: {{system: {name}_cart, t_end: 1.0, control: {{function: {function}, sample: 0.1}}}}
integrators:
  rk4: {{}}
"""
PLUGIN = """import numpy as np
import liestep

GAIN = {gain}
source = np.random.default_rng(1)


def pull(t, state):
    return {{"u": -GAIN*state["q"]}}


def shake(t, state):
    return {{"u": source.normal(size=1)}}


SHEETS = {{"{name}_cart": liestep.system("{name}_made", lagrangian=lambda q, v: 0.5*(v @ v), force=lambda p: p.u,
                                       parameters={{"u": [0.0]}}, start={{"q": [1.0], "v": [0.0]}}).sheet}}
"""


def study_of(folder, name, function="pull", more="", gain=3.0):
    (folder/f"{name}.py").write_text(PLUGIN.format(name=name, gain=gain), "utf-8")
    (folder/"study.yaml").write_text(STUDY.format(name=name, function=function, more=more), "utf-8")
    return Study(folder/"study.yaml", "study", folder/"results")


def test_a_study_holds_a_controller(tmp_path):
    """x'' = -3 x held for 0.1 s: q = q + v h - 1.5 q h^2 and v = v - 3 q h are exact."""
    study = study_of(tmp_path, "held_cart")
    assert run_cells(study.cells).made == 1
    q, v = 1.0, 0.0
    for _ in range(10):
        q, v = q + 0.1*v - 0.015*q, v - 0.3*q
    assert open_run(study.cells[0].path)["q"].values[-1, 0] == pytest.approx(q, abs=1e-13)
    assert run_cells(study.cells).kept == 1
    assert study.cells[0].spec.sha256 != study_of(tmp_path, "held_cart_too", gain=4.0).cells[0].spec.sha256


@pytest.mark.parametrize(("given", "words"), [
    ({"function": "shake"}, "line 5: problems.cart.control: rk4 on cart: control shake is not reproducible, and studies"
                            " take what is"),
    ({"function": "push"}, "unknown function of plugins 'push'; did you mean pull? (allowed: pull, shake)"),
    ({"more": "\nreference: true"}, "references know no control; leave out reference")])
def test_a_study_refuses_controllers(tmp_path, given, words):
    with pytest.raises(InputError) as caught:
        _ = study_of(tmp_path, f"refused_cart_{len(words)}", **given).cells
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_black_box_is_not_reproducible():
    box = liestep.system("box", rhs=lambda y: [-y[0]], start={"y": [1.0]}, blackbox=True)
    assert box.simulate("rk4", step=0.1, t_end=1.0).attrs["reproducible"].startswith("not reproducible: black box: ")


def late(answer):
    return lambda t, state: {"u": [0.0, 0.0]} if t < 0.45 else answer(state)


@pytest.mark.parametrize(("control", "words"), [
    (late(lambda state: state["w"]), "control at t = 0.5: unknown field 'w'"),
    (late(lambda state: 1/0), "control at t = 0.5: ZeroDivisionError"),
    (late(lambda state: {"u": [np.nan, 0.0]}), "control at t = 0.5: u is not finite: [nan, 0.0]"),
    (late(lambda state: {"u": [0.0]}), "control at t = 0.5: u has the shape (1,); it must have (2,)"),
    (late(lambda state: {"u": "much"}), "control at t = 0.5: u is 'much', which is no number"),
    (late(lambda state: {"u": ["1", "2"]}), "control at t = 0.5: u is ['1', '2'], which is no number"),
    (lambda t, state: {}, "control at t = 0.0 gives {}; it must give a mapping of parameters to values"),
    (late(lambda state: {}), "control at t = 0.5 gives nothing; it must give u"),
    (late(lambda state: None), "control at t = 0.5 gives None; it must give a mapping"),
    (lambda t, state: {"w": 0.0}, "parameter 'w'"), (2.0, "control must be a function of (t, state)"),
    (None, "control must be a function")])
@pytest.mark.parametrize(("integrator", "size"), [("rk4", {"step": 0.05}), ("dop853", {"tolerance": 1e-6})])
def test_wrong_controllers_are_one_sentence(control, words, integrator, size):
    with pytest.raises(InputError) as caught:
        cart().simulate(integrator, t_end=1.0, control=control, sample=0.1, **size)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("request_", "words"), [
    ({"sample": None}, "control needs sample="), ({"sample": -1.0}, "sample must be a positive number"),
    ({"sample": 0.12},
     "sample 0.12 is no whole number of steps of 0.05; the nearest is 0.1"),
    ({"dense": True}, "give dense or control"),
    ({"until": ("q", (0,), 0.0), "events": liestep.Event(("q", (0,), 0.0), count=None)}, "leave out until beside")])
def test_wrong_requests_are_one_sentence(request_, words):
    with pytest.raises(InputError) as caught:
        cart().simulate("rk4", **{"step": 0.05, "t_end": 1.0, "control": pd, "sample": 0.1, **request_})
    assert words in str(caught.value)


def test_what_cannot_be_held_is_refused():
    one = liestep.system("one", rhs=lambda y, p: [-p.k*y[0]], parameters={"k": 1.0}, start={"y": [1.0]})
    with pytest.raises(InputError, match=r"give it as an array, k=\[...\], and read p.k\[0\]"):
        one.simulate("rk4", step=0.1, t_end=1.0, sample=0.1, control=lambda t, state: {"k": 2.0})
    with pytest.raises(InputError, match="taylor makes a series of the equations"):
        cart().simulate("taylor", tolerance=1e-9, t_end=1.0, sample=0.1, control=pd)
    with pytest.raises(InputError, match="the code holds numbers that are computed from it"):
        liestep.simulate("spherical_pendulum_chain", "rk4", step=0.01, t_end=1.0, sample=0.1,
                         control=lambda t, state: {"mass": np.ones(len(state["q"]))})


def test_a_parameter_that_nothing_reads_is_refused():
    """There is no spring."""
    with pytest.raises(InputError, match="control sets spring_anchor, which no equation of jointed_body reads"):
        liestep.simulate("jointed_body", "rk4", preset="free", step=0.1, t_end=1.0, sample=0.1,
                         control=lambda t, state: {"spring_anchor": [0.0, 0.0, t]})


def test_all_runs_of_a_mechanism_show_its_joints():
    """A rotor in the ground under a constant torque: angle t^2/2 - 2 t, by samples, times, to an event and past one."""
    axis, zero = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    wheel = liestep.system("wheel", bodies=[Body(1.0, [1.0, 1.0, 2.0], rate=[0, 0, -2.0])], parameters={"u": [2.0]},
                           torque=lambda R, p: [[0, 0, p.u[0]]], joints=[revolute(GROUND, zero, axis, 0, zero, axis)])
    size = {"step": 0.05, "t_end": 8.0, "options": {"stabilisation": "projection"}}
    stop = liestep.Event(("body_rate", (0, 2), 5.0), count=1)
    ends = {"samples": ({}, 8.0), "times": ({"times": [0.5, 1.5, 2.5, 8.0]}, 8.0), "until": ({"until": stop}, 7.0),
            "events": ({"events": [liestep.Event(("body_rate", (0, 2), 5.0), count=None)]}, 8.0)}
    for name, (how, end) in ends.items():
        data = wheel.simulate("rkmk", **size, **how)
        t = data["time"].values
        assert t[-1] == pytest.approx(end, abs=1e-9), name
        assert np.abs(data["joint_coordinate"].values[:, 0] - (0.5*t*t - 2.0*t)).max() < 1e-8, name
        assert np.abs(data["joint_rate"].values[:, 0] - (t - 2.0)).max() < 1e-8, name


def test_adaptive_methods_take_a_control_of_a_mechanism():
    """Their scratch is no number that is computed of the parameter which is set."""
    inertia, end = [0.01, 0.1, 0.1], np.array([0.5, 0.0, 0.0])
    arm = liestep.system("driven_arm", bodies=[Body(2.0, inertia, x=[0.5, 0, 0])], parameters={"u": [0.0]},
                         torque=lambda R, p: [[0.0, 0.0, p.u[0]]],
                         joints=[revolute(GROUND, np.zeros(3), [0, 0, 1.0], 0, -end, [0, 0, 1.0])])

    def motor(t, state):
        return {"u": [3.0*(1.0 - t)]}

    # at the pivot 0.1 + 2/4 = 0.6 kg m2; the torque is held over each of ten samples
    rate = sum(3.0*(1.0 - 0.1*k)*0.1/0.6 for k in range(10))
    for integrator, size in (("dop853", {"tolerance": 1e-10}), ("rkmk", {"step": 0.01}),
                             ("rkmk853", {"tolerance": 1e-10})):
        data = arm.simulate(integrator, t_end=1.0, control=motor, sample=0.1, samples=2, **size)
        assert data["joint_rate"].values[-1, 0] == pytest.approx(rate, rel=1e-8)


@pytest.mark.parametrize("stride", [1, 5])
def test_forces_of_joints_are_those_of_the_torque_that_is_held(stride):
    """m r dw/dt and m r w^2 in the pivot of a rod of 0.6 kg m2, with what was held until each sample and each call."""
    inertia, end, kept = [0.01, 0.1, 0.1], np.array([0.5, 0.0, 0.0]), []
    arm = liestep.system("driven_arm", bodies=[Body(2.0, inertia, x=[0.5, 0, 0])], parameters={"u": [0.0]},
                         torque=lambda R, p: [[0.0, 0.0, p.u[0]]],
                         joints=[revolute(GROUND, np.zeros(3), [0, 0, 1.0], 0, -end, [0, 0, 1.0])])

    def motor(t, state):
        kept.append(state)
        if t > 0.55:
            assert np.linalg.norm(state["multiplier"][:3]) > 1.0
        return {"u": [1.0 + t]}

    data = arm.simulate("rkmk", step=0.01, t_end=1.0, control=motor, sample=0.1, samples=10//stride + 1)
    for k, force in enumerate(data["multiplier"].values[:, :3]):
        held, rate = 1.0 + 0.1*max(k*stride - 1, 0), data["joint_rate"].values[k, 0]
        assert np.linalg.norm(force) == pytest.approx(np.hypot(held/0.6, rate**2), rel=1e-8)
        for name in set(kept[0]) - {"multiplier"} if k*stride < len(kept) else ():
            assert np.abs(data[name].values[k] - kept[k*stride][name]).max() < 1e-14, name
    for k, state in enumerate(kept):
        held = (1.0 + 0.1*(k - 1))*(k > 0)
        assert np.linalg.norm(state["multiplier"][:3]) == pytest.approx(
            np.hypot(held/0.6, state["joint_rate"][0]**2), rel=1e-8, abs=1e-12)
        assert sorted(state) == sorted(dict(state))
        assert len(state) == len(dict(state))
