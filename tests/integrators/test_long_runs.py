"""L5: a million steps - unit length and momentum at round-off that grows like a random walk at
most, energy without a trend."""
from functools import cache
from math import log

import numpy as np
import pytest
from checks import PENDULUM

from liestep import simulate
from liestep.compile.status import Status
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.execution import run_once
from liestep.simulation.runs.specification import specify

MILLION = 1_000_000
MOMENTUM = 1e-12  # of sum_i |sum_j M_ij v_j|
ROOT = 0.5**0.5
# Two bodies a quarter turn apart that circle about an axis near e3, far from their collision.
PAIR = {"parameters": {"mass": [1.0, 1.0], "gamma": 1.0},
        "initial": {"q": [[ROOT, 0.0, ROOT], [-ROOT, 0.0, ROOT]], "omega": [[-0.6, -0.05, 0.6], [0.68, 0.08, 0.68]]}}


@cache
def long_run(problem, preset, integrator, step, steps=MILLION, solver=None, form=None):
    """Outcome of a run; statistics from every step."""
    request = PAIR if problem == "sphere_nbody" else {}
    options = {name: value for name, value in (("solver", solver), ("form", form)) if value}
    spec = specify(problem, integrator, preset=preset, t_end=steps*step, steps=steps, samples=2,
                   options=options, **request)
    outcome = run_once(spec)
    assert outcome.status == Status.OK
    return outcome, np.array(sheet(problem).conserved_momentum(spec.parameters))


def block_maxima(outcome, columns):
    """Largest |deviation| in each of 100 equal parts, (100, columns)."""
    recorder = outcome.outputs
    return np.maximum(np.abs(recorder.block_low[:, columns]), np.abs(recorder.block_high[:, columns]))


def unit_length(outcome):
    return block_maxima(outcome, 5).max()


def momentum_errors(outcome, kept):
    """Largest deviation of the conserved components over sum_i |sum_j M_ij v_j|, and the growth exponents
    of their running maxima."""
    maxima = block_maxima(outcome, slice(1, 4))[:, kept]/outcome.formulated.momentum_scale
    return maxima.max(axis=0), np.log(maxima.max(axis=0)/maxima[0])/log(100.0)


RUNS = {
    "multipliers": (*PENDULUM, "vi_sphere", 0.01), "multipliers, small step": (*PENDULUM, "vi_sphere", 0.003),
    "multipliers, no symmetry broken": (PENDULUM[0], "no_gravity", "vi_sphere", 0.01),
    "multipliers, three links": (PENDULUM[0], "chain3", "vi_sphere", 0.01),
    "newton": (*PENDULUM, "vi_sphere", 0.01, MILLION, "newton"),
    "fixed point": (*PENDULUM, "vi_sphere", 0.01, MILLION, "fixed_point"),
    "explicit": ("sphere_nbody", "paper", "vi_sphere", 0.01),
    "explicit, small step": ("sphere_nbody", "paper", "vi_sphere", 0.001),
    "order 4": ("sphere_nbody", "paper", "vi_sphere weights=s4", 0.02),
    "order 6": ("sphere_nbody", "paper", "vi_sphere weights=kl6", 0.05),
    "order 4, coupled": (*PENDULUM, "vi_sphere weights=y4", 0.02, 200_000),
    "order 8, coupled": (*PENDULUM, "vi_sphere weights=kl8", 0.05, 100_000),
    "rod": ("elastic_rod", "no_gravity", "vi_sphere", 1e-4, 100_000),
}


@pytest.mark.parametrize("key", RUNS)
def test_unit_length_and_momentum_stay_at_round_off(key):
    outcome, kept = long_run(*RUNS[key])
    largest, growth = momentum_errors(outcome, kept)
    assert kept.any()
    assert unit_length(outcome) <= 2e-15
    assert np.all(largest <= MOMENTUM)
    assert np.all(growth <= 0.75)


@pytest.mark.parametrize("key", ["multipliers", "newton", "explicit", "order 4"])
def test_energy_error_is_bounded(key):
    energy = block_maxima(long_run(*RUNS[key])[0], 0)
    assert energy[50:].max() <= 1.2*energy[:50].max()
    assert energy.min() >= 0.2*energy.max()


def test_energy_error_falls_with_the_square_of_the_step():
    large, small = (block_maxima(long_run(*RUNS[key])[0], 0).max() for key in ("explicit", "explicit, small step"))
    assert large/small == pytest.approx(100.0, rel=0.02)


def test_runge_kutta_methods_gain_or_lose_energy_and_length_without_end():
    outcome, _ = long_run("sphere_nbody", "paper", "rk4", 0.05, 10_000)
    energy, length = block_maxima(outcome, 0), block_maxima(outcome, 5)
    assert energy[50:].max() >= 1.5*energy[:50].max()
    assert length[50:].max() >= 1.5*length[:50].max() >= 1e-8


def test_munthe_kaas_methods_keep_the_length_but_not_the_momentum():
    outcome, kept = long_run("sphere_nbody", "paper", "rkmk", 0.05, 100_000)
    assert unit_length(outcome) <= 1e-13
    assert np.all(momentum_errors(outcome, kept)[0] >= 1000*MOMENTUM)


@pytest.mark.parametrize("solver", ["explicit", "newton"])
def test_the_paper_form_lets_round_off_of_the_length_add_up(solver):
    """What the increment form is for: the printed formulas lose digits with the number of steps."""
    problem = ("sphere_nbody", "paper") if solver == "explicit" else PENDULUM
    printed, _ = long_run(*problem, "vi_sphere", 0.01, 100_000, solver, "paper")
    increment, _ = long_run(*problem, "vi_sphere", 0.01, 100_000, solver, "increment")
    assert unit_length(printed) >= 10*unit_length(increment)
    assert unit_length(printed) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["lgvi", "slgi"])
def test_the_momentum_along_the_axis_is_kept_by_implicit_turns(integrator):
    """rodrigues2021: (R rho0).Omega of a body with equal moments. A turn that goes through the axes of the body and
    back is tilted by their rounding, which added up to 2e-13 in these 100,000 steps."""
    data = simulate("heavy_top", integrator, preset="rodrigues2021", step=0.01, t_end=1000.0, samples=2)
    assert data.attrs["axial_momentum_error_max"] <= 6e-14
    assert data.attrs["momentum_error_max_z"] <= 1e-14
