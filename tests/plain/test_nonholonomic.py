"""docs/nonholonomic.md and the section of docs/classics.md: their examples, against closed forms."""
import re
from pathlib import Path

import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401

import liestep
from liestep.mechanics.systems.jointed_body import steady_spin
from liestep.simulation.runs.specification import start_of

DOCS = Path(__file__).parents[2]/"docs"
WHOLE = 0.4 + 2.0*0.4**2  # moment about the blade
SPEED = 3.0*np.sqrt(WHOLE/2.0)
GROWTH = 0.4*SPEED*2.0/WHOLE


def example(page, number):
    scope: dict = {}
    exec(re.findall(r"```python\n(.*?)```", (DOCS/page).read_text("utf-8"), re.DOTALL)[number], scope)
    return scope


def test_page_is_short():
    assert len((DOCS/"nonholonomic.md").read_text("utf-8").split()) <= 500


def test_joints_keep_the_distribution():
    found = example("nonholonomic.md", 0)
    assert found["rate"] == pytest.approx(3.0/np.cosh(2.0*GROWTH), abs=1e-10)
    assert found["kept"].attrs["joint_rate_error_max"] < 1e-12
    assert found["kept"].attrs["energy_error_max"] < 1e-5


def test_reduced_equations_keep_distribution_and_energy():
    data = example("nonholonomic.md", 1)["data"]
    expected = [SPEED*np.tanh(2.0*GROWTH), 3.0/np.cosh(2.0*GROWTH)]
    assert data["y"].values[-1, :2] == pytest.approx(expected, abs=1e-10)
    assert data.attrs["energy_error_max"] < 1e-11


def test_the_rolling_disc_to_ten_digits():
    parameters = start_of("jointed_body", preset="rolling_disc").parameters
    spin = steady_spin(parameters, 1.2, 1.5)
    data = liestep.simulate("jointed_body", "rkmk853", preset="rolling_disc", tolerance=1e-13, t_end=5.0, samples=2)
    assert data["velocity"].values[-1, 0] == pytest.approx(
        [-0.5*spin*np.cos(7.5), -0.5*spin*np.sin(7.5), 0.0], abs=1e-10)
    axis = [np.sin(1.2)*np.sin(7.5), -np.sin(1.2)*np.cos(7.5), np.cos(1.2)]
    assert data["attitude"].values[-1, 0][:, 2] == pytest.approx(axis, abs=1e-10)


def test_a_section_of_henon_and_heiles():
    found = example("classics.md", 1)
    assert found["data"].attrs["events"] == 1000
    q, p = found["at"]["q"].values, found["at"]["momentum"].values
    assert np.abs(q[:, 0]).max() < 1e-12
    energy = 0.5*np.sum(p*p + q*q, axis=1) + q[:, 0]**2*q[:, 1] - q[:, 1]**3/3.0
    assert np.abs(energy - energy[0]).max() < 1e-9
    assert np.all(p[:, 0] > 0.0)
