"""Estimates of time grow as the work does: with the bodies of a ring, with the pairs of bodies on spheres."""
import pytest

from liestep.runs.estimate import estimate
from liestep.runs.specification import specify


@pytest.mark.parametrize(("system", "integrator", "parameters", "expected"), [
    ("bonded_ring", "rodrigues_newmark", [{"particles": 100}, {"particles": 1000}], 10.0),
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
