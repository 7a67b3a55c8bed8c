"""`liestep.ensemble`: members have the bits of `simulate`, and what is wrong is said in one sentence."""
import _thread
import signal
import threading
from typing import Any

import numpy as np
import pytest
import xarray
from commands import main, refused

import liestep
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.simulation.many import blocks
from liestep.simulation.runs.specification import start_of

BODY = "free_rigid_body"


def momenta(members: int, spread: float = 0.1) -> np.ndarray:
    return np.random.default_rng(2).normal([0.3, 0.0, 1.0], spread, (members, 3))


def alone(method: str, momentum: np.ndarray, **more: Any) -> Any:
    initial = {"angular_momentum": momentum}
    return liestep.simulate(BODY, method, initial=initial, t_end=1.0, on_failure="return", **more)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "size"), [("rk4", {"step": 0.05}), ("lgvi", {"step": 0.05}),
                                              ("dop853", {"tolerance": 1e-7}), ("taylor", {"tolerance": 1e-7})])
@pytest.mark.parametrize("threads", [1, 2])
def test_ends_and_statistics_are_those_of_single_runs(method, size, threads):
    start = momenta(40)
    data = liestep.ensemble(BODY, method, starts={"angular_momentum": start}, t_end=1.0, keep="statistics",
                            threads=threads, **size)
    assert data.sizes["member"] == 40
    for k in (0, 7, 39):
        run = alone(method, start[k], **size)
        assert np.array_equal(data["attitude"][k], run["attitude"][-1])
        assert data["energy_error_max"][k] == run.attrs["energy_error_max"]
        assert (data["steps"][k], data["time_reached"][k]) == (run.attrs["steps"], run.attrs["time_reached"])


def test_members_with_parameters_of_their_own_share_registers_and_threads(monkeypatch):
    """A plain number of the component is a register too."""
    seen, work = set(), blocks.Runs.work
    monkeypatch.setattr(blocks.Runs, "work", lambda runs, call, place: (seen.add(threading.get_ident()),
                                                                        work(runs, call, place)))
    given = np.linspace(0.5, 1.0, 40)
    made = [liestep.ensemble("henon_heiles", "verlet", parameters={"strength": given}, step=0.05, t_end=1.0,
                             threads=threads) for threads in (1, 2)]
    assert made[0].identical(made[1])
    assert len(seen) == 2
    for k in (0, 17, 39):
        run = liestep.simulate("henon_heiles", "verlet", parameters={"strength": given[k]}, step=0.05, t_end=1.0)
        assert np.array_equal(made[1]["q"][k], run["q"][-1])


@pytest.mark.parametrize("keep", ["end", "statistics", "energy"])
def test_members_of_an_adaptive_method_share_registers_and_threads(keep, monkeypatch):
    """Those that part from the others too, here because one moves a thousand times faster."""
    monkeypatch.setattr(blocks, "MANY", 2)
    start = momenta(40, 0.3)
    start[5] *= 1000.0
    made = [liestep.ensemble(BODY, "taylor", starts={"angular_momentum": start}, t_end=0.5, tolerance=1e-7, keep=keep,
                             threads=threads) for threads in (1, 2)]
    assert made[0].identical(made[1])
    for k in (0, 5, 39):
        run = liestep.simulate(BODY, "taylor", initial={"angular_momentum": start[k]}, t_end=0.5, tolerance=1e-7)
        assert np.array_equal(made[0]["attitude"][k], run["attitude"][-1])
        assert (made[0]["steps"][k], made[0]["time_reached"][k]) == (run.attrs["steps"], run.attrs["time_reached"])
        if keep == "statistics":
            assert made[0]["energy_error_max"][k] == run.attrs["energy_error_max"]
            assert made[0]["energy_error_max_accepted"][k] == run.attrs["energy_error_max_accepted"]


def test_samples_and_observables_are_those_of_single_runs():
    start, asked = momenta(5), {"starts": {"angular_momentum": momenta(5)}, "step": 0.05, "t_end": 1.0}
    samples = liestep.ensemble(BODY, "rk4", keep="samples", **asked)
    named = liestep.ensemble(BODY, "rk4", keep=["energy"], **asked)
    for k in range(5):
        run = alone("rk4", start[k], step=0.05)
        assert np.array_equal(samples["time"], run["time"])
        assert np.array_equal(samples["attitude"][k], run["attitude"])
        assert np.array_equal(samples["energy"][k], run["energy"])
        energy = run["energy"].values
        for name, value in (("least", energy.min()), ("largest", energy.max()), ("mean", energy.mean())):
            assert named[f"energy_{name}"][k] == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(("method", "size"), [("rk4", {"step": 0.05}), ("dop853", {"tolerance": 1e-7})])
def test_parameters_may_have_a_value_for_each_member(method, size):
    mass = np.linspace(1.0, 2.0, 40)
    more: dict[str, Any] = {"preset": "asymmetric", "t_end": 0.5, **size}
    data = liestep.ensemble("heavy_top", method, parameters={"mass": mass}, **more)
    for k in (0, 20, 39):
        run = liestep.simulate("heavy_top", method, parameters={"mass": mass[k]}, **more)
        assert np.array_equal(data["angular_momentum"][k], run["angular_momentum"][-1])
    assert np.array_equal(data["parameter_mass"], mass)


def test_events_and_times_are_those_of_single_runs():
    start, event = momenta(3), liestep.Event(("attitude", (0, 0), 0.9), count=1)
    asked: dict[str, Any] = {"starts": {"angular_momentum": start}, "step": 0.05}
    until = liestep.ensemble(BODY, "rk4", t_end=20.0, until=event, **asked)
    timed = liestep.ensemble(BODY, "rk4", t_end=1.0, times=[0.05, 0.123], keep="samples", **asked)
    for k in range(3):
        more = {"initial": {"angular_momentum": start[k]}, "step": 0.05}
        run = liestep.simulate(BODY, "rk4", t_end=20.0, until=event, **more)
        assert np.array_equal(until["event_time"][k], run.attrs["event_time"], equal_nan=True)
        assert np.array_equal(until["attitude"][k], run["attitude"][-1])
        run = liestep.simulate(BODY, "rk4", t_end=1.0, times=[0.05, 0.123], **more)
        assert np.array_equal(timed["attitude"][k], run["attitude"])


def test_members_that_stop_are_nan_with_a_status():
    chain = liestep.simulate("spherical_pendulum_chain", "vi_sphere", step=0.25, t_end=0.25)
    omega = chain["omega"][0].values*np.array([1.0, 60.0, 1.0, 80.0]).reshape(-1, 1, 1)
    data = liestep.ensemble("spherical_pendulum_chain", "vi_sphere", starts={"omega": omega}, step=0.25, t_end=5.0)
    failed = data["status"].values != Status.OK
    assert failed.tolist() == np.isnan(data["q"].values).any(axis=(1, 2)).tolist()
    assert failed.sum() > 0
    assert (data["time_reached"].values[failed] < 5.0).all()
    assert data.attrs["members_failed"] == failed.sum()
    assert len(data["status"].attrs["flag_meanings"].split()) == len(data["status"].attrs["flag_values"]) == len(Status)


@pytest.mark.parametrize("members", [2, 40], ids=["alone", "lanes"])
def test_a_member_reaches_what_its_run_reaches_whatever_is_kept(members):
    """The last state alone would say that it came to the step before the end."""
    start = momenta(members)
    start[1] *= 1e3/np.linalg.norm(start[1])
    ends, seen = (liestep.ensemble(BODY, "rk4", starts={"angular_momentum": start}, step=0.1, t_end=10.0, keep=keep)
                  for keep in ("end", "statistics"))
    with pytest.raises(liestep.IntegrationError, match=rf"stopped after t = {ends['time_reached'][1]:.1f}: "):
        liestep.simulate(BODY, "rk4", initial={"angular_momentum": start[1]}, step=0.1, t_end=10.0)
    for name in ("status", "time_reached", "steps"):
        assert np.array_equal(ends[name], seen[name])


@pytest.mark.parametrize(("given", "words"), [
    ({"starts": {"angular_momentum": momenta(3), "attitude": np.repeat(np.eye(3)[None], 2, 0)}},
     "different numbers of members: angular_momentum 3, attitude 2"),
    ({"starts": {"angular_momentum": momenta(3)[:0]}}, "angular_momentum has no member"),
    ({"starts": {"angular_momentum": np.ones(3)}}, "nothing differs between members"),
    ({"starts": {"attitude": np.stack([np.eye(3), np.eye(3), 1.1*np.eye(3)])}},
     "member 2: initial attitude is not a rotation"),
    ({"starts": {"momentum": momenta(3)}}, "unknown initial state field"),
    ({"parameters": {"inertia": np.array([[1.0, 2.0, 2.5], [1.0, 2.0, 9.0]])}}, "member 1: "),
    ({"parameters": {"inertia": [[1.0, 2.0, 2.5], [1.0, 2.0]]}}, "parameter inertia: rows of different lengths"),
    ({"starts": {"angular_momentum": momenta(3)}, "keep": "energi"}, "did you mean energy?"),
    ({"starts": {"angular_momentum": momenta(3)}, "keep": ["end"]}, "unknown keep 'end' (allowed: energy"),
    ({"starts": {"angular_momentum": momenta(3)}, "memory": 10}, "keep='end' of 3 members needs"),
    ({"starts": {"angular_momentum": np.broadcast_to(np.ones(3), (10**7, 3))}, "keep": "samples"},
     "of 10000000 members needs"),
    ({"starts": {"angular_momentum": momenta(3)}, "threads": 0}, "threads must be a positive number"),
    ({"starts": {"angular_momentum": momenta(3)}, "times": [0.5]}, "give keep='samples'"),
    ({"starts": {"angular_momentum": momenta(3)}, "until": ("attitude", (0, 0), 0.0), "keep": "samples"},
     "members end at different times"),
    ({"starts": [1.0]}, "starts must be a mapping"),
    ({"parameters": {"inertia": np.ma.array(np.ones((2, 3)), mask=np.eye(2, 3))}},
     "parameter inertia must be numbers, not a masked array"),
    ({"parameters": {"inertia": np.ones((2, 3)) + 0.1j}}, "parameter inertia must be real numbers"),
    ({"starts": {"angular_momentum": momenta(3)}, "dense": True}, "unknown argument")])
def test_what_is_wrong_is_said_in_one_sentence(given, words):
    with pytest.raises(InputError) as caught:
        liestep.ensemble(BODY, "rk4", **{"step": 0.05, "t_end": 1.0, **given})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_member_off_the_manifold_is_named_by_its_own_scale():
    """A slow member beside fast ones must be as tangent as if it were alone."""
    start = start_of("spherical_pendulum_chain").initial
    q, omega = (np.repeat(start[name][None], 4, axis=0) for name in ("q", "omega"))
    omega[:] = np.cross(q, [0.3, 0.4, 0.5])
    omega[1] *= 1e6
    omega[2] += 1e-8*q[2]
    with pytest.raises(InputError, match=r"^member 2: initial omega\[0\] is not orthogonal to q\[0\]"):
        liestep.ensemble("spherical_pendulum_chain", "vi_sphere", starts={"omega": omega}, step=0.01, t_end=0.1)
    q[3] *= 1.0 + 1e-6
    with pytest.raises(InputError, match=r"^member 3: initial q\[0\] is not a unit vector"):
        liestep.ensemble("spherical_pendulum_chain", "vi_sphere", starts={"q": q}, step=0.01, t_end=0.1)


@pytest.mark.parametrize("keep", ["end", "samples"])
def test_members_have_a_plain_systems_own_names(keep):
    """Angular velocities are those of each member's own inertia."""
    own = liestep.system("own", torque=lambda p: [0.0, 0.0, 0.0], inertia=[1.0, 2.0, 3.0],
                         start={"R": np.eye(3), "rate": [0.1, 2.0, 0.1]})
    moments = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])
    data = own.ensemble("rkmk", step=0.1, t_end=1.0, parameters={"inertia": moments}, keep=keep)
    spin = np.einsum("m...ji,m...j->m...i", data["R"].values, data["angular_momentum"].values)
    rate = spin/(moments[:, None] if keep == "samples" else moments)
    assert np.abs(data["rate"].values - rate).max() < 1e-14
    assert np.abs(data["omega"].values - np.einsum("m...ij,m...j->m...i", data["R"].values, rate)).max() < 1e-14
    spring = liestep.system("spring", lagrangian=lambda q, v: 0.5*2.0*(v @ v) - q @ q, start={"q": [1.0], "v": [0.0]})
    data = spring.ensemble("verlet", step=0.1, t_end=1.0, starts={"q": [[1.0], [2.0]]}, keep=keep)
    assert np.abs(data["v"].values - 0.5*data["momentum"].values).max() < 1e-15


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_loses_all_in_one_sentence(threads, monkeypatch):
    work = blocks.Runs.work

    def pressed(self, call, place):
        if threading.current_thread() is threading.main_thread():
            threading.Timer(0.2, _thread.interrupt_main).start()
        work(self, call, place)

    monkeypatch.setattr(blocks.Runs, "work", pressed)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        with pytest.raises(KeyboardInterrupt, match="interrupted: the 64 members are lost"):
            liestep.ensemble(BODY, "rk4", starts={"angular_momentum": momenta(64)}, step=1e-7, t_end=100.0,
                             threads=threads)
    finally:
        signal.signal(signal.SIGINT, before)


def test_samples_of_members_with_control():
    """Between instants the held force moves an oscillator on a circle about its place of rest."""
    spring = liestep.system("own", lagrangian=lambda q, v: 0.5*v[0]**2 - 0.5*q[0]**2, force=lambda p: p.u,
                            parameters={"u": [0.0]}, start={"q": [1.0], "v": [0.0]})
    how: dict[str, Any] = {"step": 0.05, "t_end": 2.0, "control": lambda t, state: {"u": -state["q"]}, "sample": 0.5}
    data = spring.ensemble("rk4", starts={"q": [[1.0], [2.0]]}, keep="samples", **how)
    for k, q in enumerate((1.0, 2.0)):
        y, places = np.array([q, 0.0]), [q]
        for _ in range(4):
            rest, turn = -y[0], np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]])
            y = turn @ (y - [rest, 0.0]) + [rest, 0.0]
            places.append(y[0])
        assert np.abs(data["q"].sel(time=[0.0, 0.5, 1.0, 1.5, 2.0]).values[k, :, 0] - places).max() < 1e-6


@pytest.mark.slow
def test_members_from_a_shell(tmp_path, capsys, monkeypatch):
    """Values between two ends or in a file are those of single runs; what is given twice is refused."""
    monkeypatch.chdir(tmp_path)
    told = ["run", "penning_trap", "boris", "--step", "0.01", "--t-end", "1"]
    name, value = "axial", 2.0
    values = np.linspace(value, 1.5*value, 3)
    assert main([*told, "--members", f"{name}={value}:{1.5*value}:3", "-o", "many.nc"]) == 0
    np.savez("given.npz", **{name: values})
    assert main([*told, "--members", "given.npz", "-o", "same.nc"]) == 0
    with xarray.open_dataset("many.nc") as many, xarray.open_dataset("same.nc") as same:
        assert many.identical(same)
        for k in range(3):
            alone = liestep.simulate("penning_trap", "boris", step=0.01, t_end=1.0, parameters={name: values[k]})
            assert all(np.array_equal(many[field][k], alone[field][-1]) for field in many if field in alone)
    capsys.readouterr()
    assert f"{name} is given twice" in refused([*told, "--members", "given.npz", "--parameter", f"{name}=1", "-o",
                                                "third.nc"], capsys)
    assert not (tmp_path/"third.nc").exists()
