"""docs/nonholonomic.md and the section of docs/classics.md: their examples, against closed forms."""
import re
from pathlib import Path

import numpy as np
import pytest
from plugin_room import _nothing_stays  # noqa: F401
from scipy.integrate import solve_ivp

import liestep
from liestep.mechanics.systems.jointed_body import steady_spin
from liestep.simulation.plugins.loading import load_plugin
from liestep.simulation.runs.specification import start_of

pytestmark = pytest.mark.slow

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


def steps_of(problem, y, rhs, t_end):
    """Largest difference of dop853 from scipy on equations of other variables, whose end `y` translates; the energy
    error of a discrete gradient."""
    load_plugin(DOCS.parent/"papers"/"classics"/"studies"/"textbook_problems.py")
    data = liestep.simulate(problem, "dop853", tolerance=1e-13, t_end=t_end, samples=2)
    kept = liestep.simulate(problem, "discrete_gradient", step=0.005, t_end=t_end, samples=2)
    end = solve_ivp(rhs[0], (0.0, t_end), rhs[1], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return np.abs(data["y"].values[-1] - y(end)).max(), kept.attrs["energy_error_max"]


def test_the_snakeboard_beside_its_multipliers():
    """Bloch et al. 1996, section 8: d'Alembert's principle for x, y, heading, rotor and steering, two wheels."""
    m, r, moment, rotor, steering = 2.0, 0.5, 0.6, 0.2, 0.05
    mass = np.diag([m, m, moment, rotor, 2.0*steering])
    mass[2, 3] = mass[3, 2] = rotor

    def rates(t, s):
        a, f, v = s[2], s[4], s[5:]
        rows = [[-np.sin(a + g), np.cos(a + g), e*r*np.cos(f), 0.0, 0.0] for e, g in ((1, f), (-1, -f))]
        change = [[-np.cos(a + e*f)*w, -np.sin(a + e*f)*w, -e*r*np.sin(f)*v[4], 0.0, 0.0]
                  for e, w in ((1, v[2] + v[4]), (-1, v[2] - v[4]))]
        whole = np.block([[mass, np.transpose(rows)], [np.array(rows), np.zeros((2, 2))]])
        return [*v, *np.linalg.solve(whole, [0.0]*5 + (-np.array(change) @ v).tolist())[:5]]

    turn = np.tan(0.2)/r
    start = [0.0, 0.0, 0.0, 0.0, 0.2, 1.0, 0.0, turn, 2.0 - turn, 0.5]
    gap, lost = steps_of("classic_snakeboard", lambda s: np.array([
        s[5]*np.cos(s[2]) + s[6]*np.sin(s[2]), s[9], s[7] + s[8], s[4], s[2], s[3], s[0], s[1]]), (rates, start), 2.0)
    assert gap < 1e-10
    assert lost < 1e-11


def test_the_rattleback_beside_newton_and_euler():
    """With the force of contact eliminated, in the rate and the vertical; the spin of -1 rad/s is reversed."""
    square, c, s = np.array([9.0, 0.64, 0.25]), np.cos(0.2), np.sin(0.2)
    axes = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    inertia = axes.T @ np.diag([0.3, 1.6, 1.7]) @ axes

    def contact(up):
        return -square*up/np.sqrt(up @ (square*up))

    def rates(t, y):
        w, up = y[:3], y[3:]
        r, turned = contact(up), np.cross(up, w)
        moved = -square*turned/np.sqrt(up @ (square*up)) + square*up*(up @ (square*turned))/(up @ (square*up))**1.5
        force = np.cross(moved, w) + np.cross(w, np.cross(r, w)) + 9.81*up
        cross = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
        return [*np.linalg.solve(inertia - cross @ cross, np.cross(r, force) - np.cross(w, inertia @ w)), *turned]

    def moments(y):
        assert y[2] > 0.9
        r = contact(y[3:])
        return np.concatenate([inertia @ y[:3] + np.cross(r, np.cross(y[:3], r)), y[3:]])

    gap, lost = steps_of("classic_rattleback", moments, (rates, [0.01, -0.02, -1.0, 0.0, 0.0, 1.0]), 8.0)
    assert gap < 1e-10
    assert lost < 1e-11
