"""Runs that go on where another has ended: `data.liestep.go_on`."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liestep
from liestep.simulation.catalogue import method


@pytest.fixture(scope="module")
def driven():
    return liestep.system("driven_on", rhs=lambda t, y: [y[1], -y[0] + np.cos(1.3*t)], start={"y": [1.0, 0.0]})


@pytest.mark.parametrize("step", [0.1, 0.003])
def test_a_driven_run_goes_on_with_the_bits_of_one_without_a_break(driven, step):
    """At the times of the first one's grid: 2 + k h is another number than (200 + k) h."""
    whole, half = (driven.simulate("rk4", step=step, t_end=count*step) for count in (100, 50))
    rest = half.liestep.go_on(t_end=100*step)
    assert rest["time"].values[0] == half["time"].values[-1]
    assert np.array_equal(rest["y"].values[-1], whole["y"].values[-1])


def test_a_state_off_the_manifold_goes_on_and_a_file_as_its_data_set(tmp_path):
    """Its drift is no fault of the start; the rest is right to the tolerance."""
    whole, half = (liestep.simulate("sphere_nbody", "dop853", t_end=t, tolerance=1e-9) for t in (1.0, 0.5))
    rest = half.liestep.go_on(t_end=1.0)
    assert np.abs(rest["q"].values[-1] - whole["q"].values[-1]).max() < 1e-7
    half.liestep.save(tmp_path/"half.nc")
    assert np.allclose(liestep.open_run(tmp_path/"half.nc").liestep.go_on(t_end=1.0)["q"], rest["q"], atol=1e-10)


def test_the_work_of_forces_and_impacts_goes_on(tmp_path):
    """Behind a break, also of a file and of runs with events."""
    ball = liestep.system("dragged_on", lagrangian=lambda q, v: 0.5*(v @ v) - 9.81*q[0], force=lambda v: -0.1*v,
                          start={"q": [1.0], "v": [0.0]})
    for events in (None, liestep.Impact(("q", (0,), 0.0), restitution=0.8)):
        end, middle = (1.4, 0.8) if events else (0.4, 0.3)
        whole, half = (ball.simulate("rk4", step=0.01, t_end=t, events=events) for t in (end, middle))
        half.liestep.save(path := tmp_path/f"{bool(events)}.nc")
        for data in (half, liestep.open_run(path)):
            rest = data.liestep.go_on(t_end=end, events=events)
            for name in ("work", "energy", *["impact_work"]*bool(events)):
                assert rest[name].values[0] == pytest.approx(half[name].values[-1], abs=1e-13), name
                assert rest[name].values[-1] == pytest.approx(whole[name].values[-1], abs=1e-7), name


def test_until_is_looked_for_again_behind_its_event(driven):
    """From one crossing to the next, as scipy finds them."""
    def level(t, y):
        return y[0] - 0.5

    found = solve_ivp(lambda t, y: [y[1], -y[0] + np.cos(1.3*t)], (0.0, 9.0), [1.0, 0.0], events=level, rtol=1e-11,
                      atol=1e-13, method="DOP853").t_events[0]
    first = driven.simulate("rk4", step=0.01, t_end=9.0, until=lambda state: state["y"][0] - 0.5)
    second = first.liestep.go_on(t_end=9.0)
    assert [one.attrs["time_reached"] for one in (first, second)] == pytest.approx(found[:2], abs=1e-7)


def test_what_cannot_go_on_is_one_sentence(driven, tmp_path):
    run = driven.simulate("rk4", step=0.1, t_end=1.0, until=lambda state: state["y"][0] - 9.0)
    run.liestep.save(tmp_path/"run.nc")
    blown = liestep.system("blown_on", rhs=lambda y: y*y, start={"y": [1.0]}).simulate(
        "rk4", step=0.01, t_end=2.0, on_failure="return")
    for data, t_end, words in ((run, 0.5, "is not behind the end of the run"), (run, 1.04, "no whole number of steps"),
                               (liestep.open_run(tmp_path/"run.nc"), 2.0, "made with until, which no file holds"),
                               (blown, 3.0, "the run failed"), (run, "later", "finite number")):
        with pytest.raises(liestep.InputError, match=words):
            data.liestep.go_on(t_end=t_end)


def test_a_start_that_drifted_is_taken_with_its_time_alone():
    """Digits that were typed are refused with either."""
    end = liestep.simulate("heavy_top", "rk4", step=0.001, t_end=0.05)
    initial = {name: end[name].values[-1] for name in ("attitude", "angular_momentum")}
    initial["attitude"] = initial["attitude"]*(1.0 + 1e-7)
    assert liestep.simulate("heavy_top", "rkmk", step=0.01, t_start=0.1, t_end=0.2,
                            initial=initial).attrs["status"] == "ok"
    with pytest.raises(liestep.InputError, match="go_on"):
        liestep.simulate("heavy_top", "rkmk", step=0.01, t_end=0.1, initial=initial)
    with pytest.raises(liestep.InputError, match=r"sqrt\(3\)/2"):
        liestep.simulate("heavy_top", "rkmk", step=0.01, t_start=0.1, t_end=0.2,
                         initial={**initial, "attitude": np.round(initial["attitude"], 5)})


class Quantity:
    """What numpy sees of a pint quantity."""

    def __init__(self, magnitude, units="degree"):
        self.magnitude, self.units = np.asarray(magnitude), units

    def __array__(self, dtype=None, copy=None):
        return np.array(self.magnitude, dtype=dtype)

    def __float__(self):
        return float(self.magnitude)


@pytest.mark.parametrize("make", [
    lambda q: liestep.simulate("heavy_top", "rkmk", step=q(0.01), t_end=0.1),
    lambda q: liestep.simulate("heavy_top", "rkmk", step=0.01, t_end=0.1, times=[q(0.05)]),
    lambda q: liestep.simulate("heavy_top", "rkmk", step=0.01, t_end=0.1, parameters={"mass": q(1.0)}),
    lambda q: liestep.system("united", rhs=lambda y: [q(1.0)], start={"y": [1.0]}, blackbox=True),
    lambda q: liestep.system("united", rhs=lambda y: [q(1.0)], start={"y": [1.0]}),
    lambda q: liestep.solve(lambda t, y: -y, (0.0, 1.0), q([1.0])),
    lambda q: liestep.solve(lambda t, y: -y, (0.0, q(1.0)), [1.0])])
def test_a_quantity_with_a_unit_is_refused_by_its_unit(make):
    with pytest.raises(liestep.InputError, match=r"is a quantity in degree.*\.to\(\.\.\.\)\.magnitude"):
        make(Quantity)


@pytest.mark.parametrize("blackbox", [False, True])
def test_complex_rates_are_refused(blackbox):
    with pytest.raises(liestep.InputError, match="complex"):
        liestep.solve(lambda t, y: [y[1], -y[0] + 0.3j*y[1]], (0.0, 1.0), [1.0, 0.0], blackbox=blackbox)


def harmonic(q):
    return 0.5*(q @ q)


OFFERS = {"bent_offer": {"hamiltonian": lambda q, momentum: 0.5*(1.0 + q[0]**2)*(momentum @ momentum) + harmonic(q),
                         "start": {"q": [0.4, 0.1], "momentum": [0.3, -0.5]}},
          "turned_offer": {"lagrangian": lambda q, v: 0.5*(1.0 + q[0]**2)*v[0]**2 + 0.5*v[1]**2 - harmonic(q),
                           "start": {"q": [0.4, 0.1], "v": [0.3, -0.5]}},
          "dragged_offer": {"lagrangian": lambda q, v: 0.5*(v @ v) - harmonic(q), "force": lambda v: -0.1*v,
                            "start": {"q": [0.4, 0.1], "v": [0.3, -0.5]}}}


@pytest.mark.parametrize("name", OFFERS)
def test_what_a_system_offers_runs(name, monkeypatch):
    monkeypatch.setattr("liestep.compile.interpreted.PAYS", 60.0)  # which a few steps need no machine code for
    system = liestep.system(name, **OFFERS[name])
    offered = system.integrators()
    assert "verlet" not in {*offered, *liestep.list_integrators(system)}
    assert {"gauss", "rk4", "dop853"} <= {*offered} == {*liestep.list_integrators(system)}
    for integrator in offered:
        how = {"tolerance": 1e-6} if method(integrator).adaptive else {"step": 0.05}
        assert system.simulate(integrator, samples=2, t_end=0.2, **how).attrs["status"] == "ok"


def test_a_run_with_stops_goes_on_behind_them():
    """Those of its own and of its functions: x'' = [t < 0.5] + [t < 1.5] ends with v = 0.5 + 1.5."""
    def rates(t, y):
        return [y[1], np.where(t < 0.5, 1.0, 0.0) + np.where(t < 1.5, 1.0, 0.0)]

    kicked = liestep.system("kicked_on", rhs=rates, start={"y": [0.0, 0.0]})
    rest = kicked.simulate("dop853", t_end=1.0, tolerance=1e-10, stops=[0.2]).liestep.go_on(t_end=3.0, stops=[2.0])
    assert rest["y"].values[-1] == pytest.approx([0.125 + 0.5*2.5 + 1.125 + 1.5*1.5, 2.0], rel=1e-9)
