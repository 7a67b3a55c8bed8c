"""Systems on (S^2)^n in two angles each: the same motion away from the poles, and refusals at them."""
import numpy as np
import pytest

from liestep import simulate
from liestep.errors import InputError
from liestep.mechanics.formulations.spheres.angles import angles_of, fields_of_angles

CHAIN = "spherical_pendulum_chain"


def test_angles_and_directions_are_inverse_of_each_other():
    random = np.random.default_rng(4)
    q = random.standard_normal((5, 3))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    omega = np.cross(q, random.standard_normal((5, 3)))
    found = fields_of_angles(angles_of(q, omega))
    assert np.abs(found["q"] - q).max() <= 1e-14
    assert np.abs(found["omega"] - omega).max() <= 1e-13


def test_motion_is_that_of_the_other_forms():
    setting = {"preset": "orders", "t_end": 0.2, "samples": 5}
    exact = simulate(CHAIN, "dop853", tolerance=1e-12, options={"atol": 1e-13}, **setting)
    errors = []
    for h in (0.01, 0.005):
        run = simulate(CHAIN, "rk4", step=h, options={"form": "angles"}, **setting)
        errors.append(max(float(np.abs(run[name] - exact[name]).max()) for name in ("q", "omega")))
        assert run.attrs["unit_length_error_max"] <= 4e-16
    assert errors[1] <= 1e-6
    assert 3.5 <= np.log2(errors[0]/errors[1]) <= 4.5


def test_a_start_at_a_pole_is_refused():
    with pytest.raises(InputError, match=r"body 1 starts at a pole of the angles \(q = \+-e3\)"):
        simulate(CHAIN, "rk4", preset="paper_scaled", step=0.01, t_end=1.0, options={"form": "angles"})


def test_angles_are_not_projected():
    with pytest.raises(InputError, match="angles need none; allowed is none"):
        simulate(CHAIN, "rk4", preset="orders", step=0.01, t_end=0.1,
                 options={"form": "angles", "projection": "position"})
