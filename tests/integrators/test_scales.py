"""Adaptive methods take the same steps in all units of mass, length and time."""
import numpy as np
import pytest

import liestep
from liestep.mechanics.formulations import formulate_standard
from liestep.simulation.catalogue import sheet

METHODS = ("taylor", "dop853", "ode45")
PAIRS = ("rkmk_pair", "cf_pair", "rkmk853")  # all pairs of one id have one norm and machine code
INERTIA = np.array([1.5, 1.1, 0.6])  # machine code leaves out products with 1
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
