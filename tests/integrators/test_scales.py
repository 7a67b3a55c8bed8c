"""Adaptive methods take the same steps in all units of mass, length and time."""
import warnings
from pathlib import Path

import numpy as np
import plugin_room
import pytest

import liestep
from liestep.api.command_line import main
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import sheet

METHODS = ("taylor", "dop853", "ode45")
PAIRS = ("rkmk_pair", "cf_pair", "rkmk853", "lie_taylor")  # all pairs of one id have one norm and machine code
# None is 1: traced equations hold no product with 1 (`compile.straight.symbols`), so that 1 x + b y rounds otherwise
# than its multiples, and taylor would differ by 8e-15 with the same steps
INERTIA = np.array([1.5, 1.1, 0.6])
START = sheet("free_rigid_body").presets[sheet("free_rigid_body").default].initial({"inertia": INERTIA})


def body(method, mass=1.0, time=1.0):
    """A free body with its unit of mass (times length squared) and of time scaled."""
    initial = {"attitude": START["attitude"], "angular_momentum": mass/time*np.asarray(START["angular_momentum"])}
    return liestep.simulate("free_rigid_body", method, parameters={"inertia": mass*INERTIA}, initial=initial,
                            tolerance=1e-8, t_end=20.0*time, samples=11)


@pytest.mark.parametrize("method", METHODS)
def test_a_body_of_any_mass_at_any_pace(method):
    own = body(method)
    for mass, time in ((1e8, 1.0), (1e-12, 1.0), (1e37, 1.0), (1.0, 1e12), (1e12, 1e-12)):
        scaled = body(method, mass, time)
        assert scaled.attrs["steps"] == pytest.approx(own.attrs["steps"], rel=0.1)
        # the difference of the runs is round-off, far below their common error
        assert np.abs(scaled.attitude.values - own.attitude.values).max() < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_a_power_of_two_keeps_the_bits(method):
    own, scaled = body(method), body(method, 2.0**40)
    assert np.array_equal(own.attitude.values, scaled.attitude.values)
    assert np.array_equal(2.0**40*own.angular_momentum.values, scaled.angular_momentum.values)


def test_groups_are_the_fields_of_the_rows():
    facts = sheet("free_rigid_body")
    preset = facts.presets[facts.default]
    groups = formulate_standard(facts, preset.parameters, preset.initial(preset.parameters)).groups
    assert sorted(np.unique(groups)) == list(range(groups.max() + 1))
    assert groups.max() >= 1  # attitude and momentum
    assert len(set(groups[:3])) == 1


def test_the_tolerance_of_ode45_is_reached_where_no_absolute_one_is_given():
    exact, run = (body(name) for name in ("taylor", "ode45"))
    assert np.abs(exact.attitude.values - run.attitude.values).max() < 5e-6  # 5.9e-5 with an atol of 1e-6


@pytest.mark.parametrize("method", METHODS + PAIRS)
def test_a_heavy_top_of_any_mass(method):
    facts = sheet("heavy_top")
    preset = facts.presets[facts.default]
    start = preset.initial(preset.parameters)

    def top(mass):
        heavier = {name: mass*np.asarray(preset.parameters[name]) for name in ("inertia", "mass")}
        return liestep.simulate(
            "heavy_top", method, parameters={**preset.parameters, **heavier, "mass": float(heavier["mass"])},
            initial={**start, "angular_momentum": mass*np.asarray(start["angular_momentum"])}, tolerance=1e-8,
            t_end=1.0, samples=11)

    own = top(1.0)
    for mass in (1e-12, 1e6, 1e12):
        scaled = top(mass)
        assert scaled.attrs["steps"] == pytest.approx(own.attrs["steps"], rel=0.1)
        assert np.abs(scaled.attitude.values - own.attitude.values).max() < 1e-9


def test_velocities_that_start_at_zero_have_a_size():
    facts = sheet("spherical_pendulum_chain")
    preset = facts.presets["unit_2"]
    start = preset.initial(preset.parameters)
    rest = {"q": start["q"], "omega": np.zeros_like(start["omega"])}
    runs = {name: liestep.simulate("spherical_pendulum_chain", name, preset="unit_2", initial=rest, tolerance=1e-8,
                                   t_end=1.0, samples=11) for name in METHODS}
    exact = liestep.simulate("spherical_pendulum_chain", "rkmk", preset="unit_2", initial=rest, step=1e-3, t_end=1.0,
                             samples=11)
    for run in runs.values():
        assert np.abs(run.q.values - exact.q.values).max() < 1e-6


def test_an_absolute_tolerance_below_a_field_is_refused_by_its_name():
    with pytest.raises(liestep.InputError, match=r"below round-off of angular_momentum; the least is .*, or scale"):
        liestep.simulate("free_rigid_body", "ode45", tolerance=1e-8, options={"atol": 1e-12}, t_end=1.0,
                         initial={"attitude": START["attitude"], "angular_momentum": [8e37, 0.0, 1e37]})


@pytest.mark.parametrize("method", ["dop853", "ode45", "rkmk853"])
def test_a_momentum_that_is_round_off_does_not_choose_the_steps(method):
    """Forces between the particles are central: torques are sums of round-off, and so is the momentum."""
    run = liestep.simulate("bonded_particles", method, preset="cluster", tolerance=1e-10, t_end=1e-3, samples=2)
    assert 0.0 < np.abs(run.angular_momentum.values[1]).max() < 1e-15  # of 0.5 kg m^2/s of each particle
    assert run.attrs["steps"] <= 20


ON_FIELDS = (*METHODS, "ode45_norm")
FAR = 8/3 - 64/15*(1.0 - 0.75**2.5)  # twice the integral of sqrt(1 - t/4) from 0 to 1


@pytest.fixture
def pushed():
    """A point that starts at zero in position and velocity, pushed by so much, for so long."""
    with plugin_room.nothing_stays():
        liestep.load_plugin(Path(__file__).parents[1]/"plugins"/"pushed_point.py")
        yield lambda method, push=1.0, time=1.0, last=4.0, strong=0.0, place=0.0: liestep.simulate(
            "pushed_point", method, parameters={"push": push, "last": last*time, "strong": strong}, tolerance=1e-8,
            t_end=time, samples=3, initial={"position": [place], "velocity": [0.0]})


@pytest.mark.parametrize("method", ON_FIELDS)
def test_a_start_at_zero_in_all_fields(pushed, method):
    rest = pushed(method, 0.0)  # nothing ever moves it
    assert rest.attrs["status"] == "ok"
    assert not rest.position.values.any()
    steps = []
    for push, time in ((1.0, 1.0), (1e-12, 1.0), (1e12, 1.0), (1e37, 1.0), (1.0, 1e-9), (1.0, 1e9)):
        run = pushed(method, push, time)
        steps.append(run.attrs["steps"])
        assert run.position.values[-1, 0] == pytest.approx(push*time**2*FAR, rel=1e-8)
    assert method == "ode45_norm" or max(steps) <= min(steps) + 1  # MATLAB's absolute tolerance has a unit


@pytest.mark.parametrize("method", METHODS)
def test_a_place_far_from_the_origin(pushed, method):
    """Velocities have their own size: how far away the origin is changes positions by their round-off alone."""
    near, far = (pushed(method, last=1.25, place=place) for place in (0.0, 1e6))
    exact = 5/6 - 5/12*(1.0 - 0.2**2.5)
    assert near.position.values[-1, 0] == pytest.approx(exact, abs=5e-9)
    assert far.position.values[-1, 0] - 1e6 == pytest.approx(exact, abs=5e-9)  # taylor with one size for all: 1.9e-5


@pytest.mark.parametrize("method", ON_FIELDS)
@pytest.mark.parametrize("wrong", [{"last": 0.4}, {"strong": 1e200}], ids=["NaN from 0.4 s", "infinite"])
def test_rates_that_are_not_finite_end_the_run(pushed, method, wrong):
    """`taylor` once took a single step over all of it, with status ok."""
    with pytest.raises(liestep.IntegrationError) as found:
        pushed(method, **wrong)
    assert found.value.time == pytest.approx(wrong.get("last", 0.0), abs=1e-5)


@pytest.mark.parametrize("method", ON_FIELDS)
def test_a_tolerance_below_round_off_is_refused(pushed, method):
    with pytest.raises(liestep.InputError, match=r"tolerance 1e-16 is below round-off; the least is 2\.2e-16"):
        liestep.simulate("pushed_point", method, tolerance=1e-16)


def test_one_norm_of_fields_that_differ_in_size_is_a_warning(tmp_path, capsys):
    """MATLAB's NormControl: the attitude of a heavy body is lost beside its momentum, and the run says so."""
    initial = {**START, "angular_momentum": 1e8*np.asarray(START["angular_momentum"])}
    heavy = {"parameters": {"inertia": 1e8*INERTIA}, "initial": initial, "tolerance": 1e-8, "t_end": 20.0}
    with pytest.warns(UserWarning, match=r"one norm: attitude .* is small beside angular_momentum .* ode45") as found:
        run = liestep.simulate("free_rigid_body", "ode45_norm", **heavy)
    assert found[0].filename == __file__
    error = np.abs(run.attitude.values - liestep.simulate("free_rigid_body", "taylor", **heavy).attitude.values).max()
    assert error > 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "warning" not in liestep.simulate("free_rigid_body", "ode45_norm", tolerance=1e-8, t_end=1.0).attrs
    assert main(["run", "heavy_top", "ode45_norm", "--tolerance", "1e-8", "--preset", "printed", "--t-end", "0.01",
                 "-o", str(tmp_path/"run.nc"), "--parameter", "inertia=[234.375,468.75,234.375]"]) == 0
    assert "warning: ode45_norm measures the error" in capsys.readouterr().out


def test_the_earth_with_the_absolute_tolerance_of_matlab():
    """1e-6 in a norm of 8e37 limits nothing, and is no reason to refuse."""
    initial = {**START, "angular_momentum": 8e37*np.asarray(START["angular_momentum"])}
    with pytest.warns(UserWarning, match="one norm"):
        run = liestep.simulate("free_rigid_body", "ode45_norm", parameters={"inertia": 8e37*INERTIA}, initial=initial,
                               tolerance=1e-8, t_end=1.0)
    assert run.attrs["status"] == "ok"
