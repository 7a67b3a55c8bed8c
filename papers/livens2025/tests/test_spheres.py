"""Livens' scheme on systems on spheres, derived from mass, potential and gradient alone."""
from pathlib import Path

import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401

from liestep import simulate
from liestep.simulation.catalogue import sheet, system_ids
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.specification import specify, start_of

SPHERES = [name for name in system_ids() if "sphere_lagrangian" in sheet(name).forms]
REQUEST = {"preset": "paper", "step": 0.005, "t_end": 5.0, "samples": 11}


def test_energy_and_momentum_of_three_bodies():
    """The equivariant derivative keeps both, Gonzalez' the energy only, the midpoint rule the momentum only."""
    runs = {name: simulate("sphere_nbody", "eml", **REQUEST, options={"gradient": name}).attrs
            for name in ("equivariant", "gonzalez", "average")}
    middle = simulate("sphere_nbody", "mpl", **REQUEST).attrs
    assert runs["equivariant"]["energy_error_max"] <= 1e-11
    assert runs["equivariant"]["momentum_error_max"] <= 1e-11
    assert runs["gonzalez"]["energy_error_max"] <= 1e-11
    assert runs["gonzalez"]["momentum_error_max"] >= 1e-5
    assert runs["average"]["energy_error_max"] <= 1e-11
    assert middle["momentum_error_max"] <= 1e-11
    assert middle["energy_error_max"] >= 1e-4


def test_cost_of_runs_in_cartesian_coordinates():
    """The table `work` counts them too: the matrix of a reduced step has 4 n unknowns, of a full one 10 n."""
    start = start_of("sphere_nbody")
    counters = {"force_evaluations": 3, "rhs_evaluations": 0, "linear_solves": 2, "exponentials": 0}
    cost = sheet("sphere_nbody").cost(start.parameters, start.initial)
    run = {name: specify("sphere_nbody", name, steps=10).options for name in ("eml", "rattle")}
    reduced, full = (cost(run["eml"] | {"solver": solver}, counters) for solver in ("reduced", "full"))
    solve = [2*size**3/3 + 2*size*size for size in (12, 30)]
    assert full - reduced == pytest.approx(2*(solve[1] - solve[0]))
    assert reduced > 2*solve[0]
    assert np.isnan(cost(run["rattle"], counters))


def test_accuracy_depends_on_the_potential_off_the_spheres():
    """Middles of steps lie inside the spheres. With V = -gamma c/sqrt(1 - c^2), c = q_i.q_j, instead of the half angle,
    the same motion has half the error; momentum by Gonzalez' derivative and energy by the midpoint rule differ too."""
    name, = load_plugin(Path(__file__).resolve().parents[3]/"tests"/"plugins"/"bodies_by_products.py")
    exact = simulate("sphere_nbody", "vi_sphere weights=kl8", **REQUEST | {"step": 0.0005})["q"].values

    def run(system, method, **options):
        data = simulate(system, method, **REQUEST, options=options)
        return float(np.linalg.norm(data["q"].values - exact, axis=-1).max()), data.attrs

    (half, _), (products, _) = (run(system, "eml") for system in ("sphere_nbody", name))
    assert (half, products) == (pytest.approx(6.17e-3, rel=2e-3), pytest.approx(2.81e-3, rel=2e-3))
    lost = [run(system, "eml", gradient="gonzalez")[1]["momentum_error_max"] for system in ("sphere_nbody", name)]
    assert lost == [pytest.approx(2.89e-4, rel=5e-3), pytest.approx(8.1e-5, rel=5e-3)]
    moved = [run(system, "mpl")[1]["energy_error_max"] for system in ("sphere_nbody", name)]
    assert moved == [pytest.approx(4.31e-3, rel=5e-3), pytest.approx(9.27e-4, rel=5e-3)]
    assert run("sphere_nbody", "vi_sphere")[0] == pytest.approx(2.66e-3, rel=2e-3)


@pytest.mark.parametrize("system", ["sphere_nbody", "spherical_pendulum_chain"])
def test_rattle_is_the_variational_integrator(system):
    one, other = (simulate(system, method, steps=200, t_end=0.5) for method in ("rattle", "vi_sphere"))
    for name in ("q", "omega"):
        assert np.abs(one[name].values - other[name].values).max() <= 1e-11


@pytest.mark.parametrize("system", [name for name in SPHERES if not name.startswith("lennard_jones")])
def test_every_sphere_system_keeps_its_invariants(system):
    """Without code of its own, over 20 steps."""
    facts = sheet(system)
    t_end = 0.01*min(facts.presets[facts.default].t_end, 1.0)
    data = simulate(system, "eml", steps=20, t_end=t_end)
    scale = abs(float(data["energy"].values[0])) + 1.0
    assert data.attrs["energy_error_max"] <= 1e-11*scale
    assert data.attrs.get("momentum_error_max", 0.0) <= 1e-11*scale
    assert data.attrs["unit_length_error_max"] <= 1e-13


def test_a_plugin_on_spheres_runs_unchanged():
    name, = load_plugin(Path(__file__).resolve().parents[3]/"docs"/"examples"/"my_pendulum.py")
    data = simulate(name, "eml", steps=100, t_end=1.0)
    assert data.attrs["energy_error_max"] <= 1e-12
