"""How the kinetic energy of the molecules lies on the sphere: numbers by hand."""
import json

import numpy as np
import pytest
from liestep_papers.twospheres2009 import quantities
from liestep_papers.twospheres2009.quantities import NAMES, TIMES, gini, kinetic_energy_on_the_sphere

from liestep.simulation.runs.files import RunFile


def made(omega, time=TIMES, **more):
    """A run of two molecules, at e1 and e3, with angular speeds (times, 2)."""
    q = np.tile([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], (len(time), 1, 1))
    spec = {"problem": "lennard_jones_sphere", "parameters": {"mass": [1.0, 3.0]}, **more}
    return RunFile(None, {"specification": json.dumps(spec)},
                   {"time": np.array(time), "q": q, "omega": np.array(omega)[..., None]*[0.0, 1.0, 0.0]})


@pytest.mark.parametrize(("values", "expected"), [
    ([1.0, 1.0, 1.0, 1.0], 0.0), ([0.0, 0.0, 0.0, 7.0], 0.75), ([1.0, 3.0], 0.25), ([3.0, 1.0], 0.25)])
def test_gini_coefficients_by_hand(values, expected):
    assert gini(np.array(values)) == pytest.approx(expected, abs=1e-15)


def test_shares_by_hand():
    """Energies 1/2 m omega^2 of 2 and 6 (share 1/4), then others."""
    found = kinetic_energy_on_the_sphere(made([[2.0, 2.0], [4.0, 2.0], [2.0, 2.0], [2.0, 2.0], [2.0, 4.0]]), None)
    assert tuple(found) == NAMES
    assert found["kinetic_share_rise_largest"] == pytest.approx(8.0/14.0 - 0.25, rel=1e-14)
    assert found["kinetic_share_kept"] == pytest.approx((2.0/26.0)/0.25, rel=1e-14)
    assert found["kinetic_gini_kept"] == pytest.approx((24.0/26.0 - 0.5)/0.25, rel=1e-12)


@pytest.mark.parametrize("file", [
    made(np.ones((5, 2)), problem="sphere_nbody"), made(np.ones((5, 2)), time=(0.0, 0.2, 0.5, 0.75, 5.0))])
def test_other_runs_have_none(file):
    assert kinetic_energy_on_the_sphere(file, None) == {}


def test_the_cap_is_that_of_45_degrees():
    assert pytest.approx(0.5**0.5) == quantities.CAP
