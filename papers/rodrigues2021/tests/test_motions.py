"""Motions of the paper against closed forms, another system of the package, and numbers of an independent trial."""
import numpy as np
import pytest
from liestep_papers.rodrigues2021.quantities import energy_error
from scipy.spatial.transform import Rotation

from liestep import simulate
from liestep.mechanics.presets.rodrigues2021 import RATE, TILT
from liestep.simulation.runs.files import read, write
from liestep.simulation.runs.outcomes import carry_out
from liestep.simulation.runs.specification import specify


def precession(t):
    """R(t) = exp(p t e3) exp(s t u0) R0 with s = -m g/(p J), u0 = R0 rho0; Omega = p e3 + s R rho0."""
    start = Rotation.from_rotvec([0.0, TILT, 0.0])
    spin, lever = -1.0/RATE, start.apply([0.0, 0.0, 1.0])
    turn = (Rotation.from_rotvec(np.outer(RATE*t, [0.0, 0.0, 1.0]))*Rotation.from_rotvec(np.outer(spin*t, lever))*start)
    attitude = turn.as_matrix()
    return attitude, RATE*np.array([0.0, 0.0, 1.0]) + spin*attitude[:, :, 2]


def test_steady_precession_is_the_closed_form():
    data = simulate("heavy_top", "rodrigues weights=kl8", preset="rodrigues2021_precession", steps=800, samples=21)
    attitude, rate = precession(data.time.values)
    assert np.abs(data["attitude"].values - attitude).max() <= 1e-12
    assert np.abs(data["angular_momentum"].values - rate).max() <= 1e-12


@pytest.mark.parametrize("rule", ["exact", "newmark", "exp"])
def test_energy_error_in_precession_is_of_order_four(rule):
    """Of all three drift rules: the precession is a relative equilibrium."""
    errors = [simulate("heavy_top", "rodrigues", preset="rodrigues2021_precession", steps=steps, t_end=10.0,
                       options={"drift": rule}).attrs["energy_error_max"] for steps in (100, 200)]
    assert np.log2(errors[0]/errors[1]) == pytest.approx(4.0, abs=0.1)


def test_the_pendulum_is_the_spherical_one_as_far_as_its_lever_goes():
    """R rho0 of a body with J = m l^2 moves like a point on the sphere: gravity acts on it alone. A spherical pendulum
    of one link with q = -R rho0 and the same gravity."""
    body = simulate("heavy_top", "rodrigues weights=kl8", preset="rodrigues2021", steps=1000, samples=21)
    lever = body["attitude"].values[:, :, 2]
    start, omega = lever[0], body["angular_momentum"].values[0]
    point = simulate("spherical_pendulum_chain", "vi_sphere weights=kl8", parameters={
        "mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, -1.0]}, steps=1000, t_end=10.0, samples=21,
        initial={"q": [-start], "omega": [omega - (omega @ start)*start]})
    up = simulate("spherical_pendulum_chain", "vi_sphere weights=kl8", parameters={
        "mass": [1.0], "length": [1.0], "gravity": [0.0, 0.0, 1.0]}, steps=1000, t_end=10.0, samples=21,
        initial={"q": [-start], "omega": [omega - (omega @ start)*start]})
    gaps = [np.abs(-data["q"].values[:, 0] - lever).max() for data in (point, up)]
    assert min(gaps) <= 1e-12
    assert max(gaps) >= 0.1


RING = {"rodrigues": 2.192e-4, "rodrigues drift=exact": 2.202e-4}


@pytest.mark.parametrize("name", RING)
def test_energy_of_the_ring(name, tmp_path):
    """(38) of the rescaled ring at h = 0.01, T = 10, and the momenta that the printed law keeps."""
    write(carry_out(specify("bonded_ring", name, step=0.01, samples=2)), tmp_path/"ring.nc")
    file = read(tmp_path/"ring.nc")
    assert energy_error(file) == pytest.approx(RING[name], rel=5e-3)
    for key in ("linear_momentum_error_max_y", "linear_momentum_error_max_z", "spin_momentum_error_max_x",
                "spin_momentum_error_max_y", "spin_momentum_error_max_z"):
        assert file.attributes[key] <= 1e-12, key
    assert file.attributes["linear_momentum_error_max_x"] >= 10.0


def test_a_flat_ring_stays_exactly_flat():
    data = simulate("bonded_ring", "rodrigues", step=0.01, t_end=5.0, samples=6)
    assert np.array_equal(data["position"].values[..., 2], np.zeros((6, 80)))
    assert np.abs(data["angular_momentum"].values[..., :2]).max() == 0.0


def test_the_translation_is_free_until_the_ring_meets_the_wall():
    """Figure 4: at t = gap/v0 = 1 s."""
    data = simulate("bonded_ring", "rodrigues", step=0.01, t_end=2.0, samples=201)
    energy = data["translation_energy"].values
    assert energy[:100] == pytest.approx(40.0, abs=1e-9)
    assert energy[150] <= 39.0


@pytest.mark.slow
def test_long_runs_keep_momenta_and_bounds():
    """Largest energy errors at h = 0.01 over 500 s, of an independent trial: the same over 5000 s."""
    for name, bound in (("rodrigues drift=exact", 1.0959e-4), ("rodrigues", 8.366e-6),
                        ("rodrigues drift=exp", 4.198e-5), ("rodrigues kick=whole", 9.226e-3)):
        for t_end in (500.0, 5000.0):
            data = simulate("heavy_top", name, preset="rodrigues2021", step=0.01, t_end=t_end, samples=2)
            energy = float(data["energy"][0])
            assert data.attrs["energy_error_max"]/abs(energy) == pytest.approx(bound, rel=2e-3)
            assert data.attrs["momentum_error_max_z"] <= 1e-13
            assert data.attrs["axial_momentum_error_max"] <= 1e-12
