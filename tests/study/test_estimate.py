"""Estimates of time grow as the work does: with the bodies of a ring, with the pairs of bodies on spheres."""
import pytest

from liestep.simulation.catalogue import integrator_ids
from liestep.simulation.runs.estimate import estimate, prices
from liestep.simulation.runs.specification import specify


@pytest.mark.parametrize(("system", "integrator", "parameters", "expected"), [
    ("bonded_ring", "rodrigues", [{"particles": 100}, {"particles": 1000}], 10.0),
    ("spherical_pendulum_chain", "rk4", [{"mass": [1.0]*n, "length": [1.0]*n} for n in (100, 1000)], 100.0)])
def test_time_of_ten_times_as_many_bodies(system, integrator, parameters, expected):
    few, many = (estimate(specify(system, integrator, parameters=values, step=0.1, t_end=1.0,
                                  initial=start(system, values))).seconds for values in parameters)
    assert many/few == pytest.approx(expected, rel=0.1)


def start(system: str, parameters: dict) -> dict | None:
    """A chain that hangs; a ring has a start of its own."""
    if system != "spherical_pendulum_chain":
        return None
    bodies = len(parameters["mass"])
    return {"q": [[0.0, 0.0, 1.0]]*bodies, "omega": [[0.0, 0.0, 0.0]]*bodies}


# seconds of a step, measured on a machine of this project (processor time, least of three, 200 steps)
MEASURED = [
    ("spherical_pendulum_chain", "rk4", 2.7e-7), ("spherical_pendulum_chain", "vi_sphere weights=kl8", 3.0e-6),
    ("spherical_pendulum_chain", "gauss", 6.8e-7), ("heavy_top", "rkmk", 2.5e-7), ("heavy_top", "slgi", 5.1e-7),
    ("heavy_top", "eml", 4.5e-7), ("heavy_top", "emh", 1.1e-6), ("free_rigid_body", "dmv", 1.4e-6),
    ("free_rigid_body", "rattle", 1.3e-6),
    ("elastic_rod", "eml", 9.4e-5), ("elastic_rod", "vi_sphere", 2.3e-6), ("jointed_body", "generalized_alpha", 3.2e-6),
    ("four_bar", "generalized_alpha", 1.57e-5), ("four_bar", "bliedf order=2", 1.77e-5),
    ("bonded_ring", "lgvi", 7.2e-6),
    ("bonded_ring", "rodrigues weights=kl8", 7.2e-5), ("sphere_nbody", "vi_sphere", 1.29e-7),
    ("lennard_jones_sphere", "rk4", 9.7e-4), ("lennard_jones_sphere", "vi_sphere", 2.5e-4)]


@pytest.mark.parametrize(("system", "integrator", "seconds"), MEASURED)
def test_time_of_a_step_is_that_of_measurements(system, integrator, seconds):
    """Within a factor of five, whatever is solved in a step."""
    found = estimate(specify(system, integrator, steps=1000, t_end=1.0))
    assert 0.2 <= found.seconds/(found.steps*seconds) <= 5.0


def test_prices_are_of_methods_that_exist():
    assert prices().keys() <= set(integrator_ids())
    assert all(0.1 < price < 10.0 for price in prices().values())
    exact, plain = (estimate(specify("free_rigid_body", name, steps=1000, t_end=1.0)).seconds
                    for name in ("exact_split", "dlm"))
    assert exact > 4.0*plain


def test_time_of_dense_equations_grows_like_the_cube_of_the_bodies():
    def per_cube(spec):
        return estimate(spec).seconds/sum(values.size for values in spec.initial.values())**3

    chains = [specify("spherical_pendulum_chain", "eml", parameters={"mass": [1.0]*n, "length": [1.0]*n}, step=0.1,
                      t_end=1.0, initial=start("spherical_pendulum_chain", {"mass": [1.0]*n})) for n in (200, 400)]
    assert per_cube(chains[1]) == pytest.approx(per_cube(chains[0]), rel=0.02)
