"""Chains of more links than their mass matrix is written out for."""
import tracemalloc

import numpy as np
import pytest

from liestep import simulate
from liestep.errors import InputError
from liestep.mechanics.formulations.spheres.mass import FAR, ChainMatrix, exact_inverse, mass_component
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import specify


def chains(n):
    """Masses and lengths whose products have few binary digits, and any."""
    rng = np.random.default_rng(n)
    return [(2.0**(np.arange(n) % 3), 2.0**-(np.arange(n) % 2)), (rng.uniform(0.5, 2.0, n), rng.uniform(0.5, 2.0, n))]


@pytest.mark.parametrize("n", [100, 300])
def test_the_inverse_is_that_of_the_full_matrix(n):
    for (mass, length), bound in zip(chains(n), (1e-13, 1e-14*n), strict=True):  # elimination loses digits
        matrix = ChainMatrix(mass, length)
        diagonal, before = matrix.inverse()
        banded, full = np.diag(diagonal) + np.diag(before[1:], -1) + np.diag(before[1:], 1), np.asarray(matrix)
        expected = exact_inverse(full)
        assert before[0] == 0.0
        assert np.abs(banded - expected).max() <= bound*np.abs(expected).max()
        assert full[3, 7] == pytest.approx(length[3]*length[7]*mass[7:].sum(), rel=1e-14)


def test_energy_and_momentum_are_those_of_the_full_matrix():
    mass, length = chains(100)[1]
    matrix = ChainMatrix(mass, length)
    q, v = np.random.default_rng(0).normal(size=(2, 100, 3))
    chain, full = mass_component(matrix, "banded"), mass_component(np.asarray(matrix), "banded")
    assert type(chain) is not type(full)
    assert chain.kinetic_energy(v) == pytest.approx(full.kinetic_energy(v), rel=1e-13)
    assert chain.momentum(q, v) == pytest.approx(full.momentum(q, v), rel=1e-12)
    assert np.allclose(matrix.momenta(v), np.asarray(matrix) @ v, rtol=0.0, atol=1e-13*np.abs(matrix.momenta(v)).max())


@pytest.mark.parametrize("integrator", ["vi_sphere", "rkmk"])
def test_a_far_chain_moves_as_by_the_full_matrix(integrator):
    n = FAR + 1
    parameters = {"mass": 1.0 + 0.1*np.arange(n), "length": 1.0 - 0.01*np.arange(n)}
    banded, dense = (simulate("spherical_pendulum_chain", integrator, preset="chain3", parameters=parameters, samples=2,
                              step=1e-3, t_end=0.01, options=options) for options in ({}, {"mass": "dense"}))
    for name in ("q", "omega", "energy", "momentum_map"):
        scale = max(1.0, np.abs(dense[name]).max())
        assert np.abs(banded[name] - dense[name]).max() <= 1e-11*scale, name
    assert np.abs(banded["q"][-1] - banded["q"][0]).max() > 1e-3


def test_shorter_chains_keep_the_bits_of_the_full_matrix():
    for n, name in ((FAR, "BandedMass"), (FAR + 1, "ChainMass")):
        mass, length = 1.0 + np.arange(n)/n, 2.0 - np.arange(n)/n
        spec = specify("spherical_pendulum_chain", "vi_sphere", preset="chain3", steps=1, t_end=0.01,
                       parameters={"mass": mass, "length": length})
        component = build(spec)[0].problem.mass
        assert type(component).__name__ == name
    inverse = exact_inverse(np.asarray(ChainMatrix(mass[:FAR], length[:FAR])))
    first = mass_component(np.asarray(ChainMatrix(mass[:FAR], length[:FAR])), "banded")
    assert np.array_equal(first.diagonal, np.diag(inverse))


def test_ten_thousand_links_swing_and_return():
    n, h, steps = 10_000, 1e-3, 20
    bent = np.linspace(0.0, 0.3, n)
    q = np.stack([np.sin(bent), np.zeros(n), -np.cos(bent)], axis=1)
    omega = np.stack([np.zeros(n), 0.02*np.cos(3.0*bent), np.zeros(n)], axis=1)
    parameters = {"mass": np.ones(n), "length": np.ones(n), "gravity": [0.0, 0.0, -9.81]}

    def run(q, omega):
        return simulate("spherical_pendulum_chain", "vi_sphere", parameters=parameters, samples=2, steps=steps,
                        t_end=steps*h, initial={"q": q, "omega": omega})

    tracemalloc.start()
    there = run(q, omega)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    back = run(there["q"][-1].values, -there["omega"][-1].values)
    assert peak < 8*n*n/4
    assert there.attrs["energy_error_max"] <= 1e-11*abs(float(there["energy"][0]))
    assert np.abs(there["q"][-1].values - q).max() > 1e-4
    assert np.abs(back["q"][-1].values - q).max() <= 1e-13
    assert np.abs(back["omega"][-1].values + omega).max() <= 1e-11


@pytest.mark.parametrize(("name", "place", "value"), [("mass", -1, 1e-30), ("length", 0, 1e-12), ("mass", 5, 1e308)])
def test_a_far_chain_that_is_singular_to_working_precision_is_refused(name, place, value):
    numbers = {"mass": np.ones(FAR + 1), "length": np.ones(FAR + 1)}
    numbers[name][place] = value
    with pytest.raises(InputError, match="not symmetric and positive definite to working precision"):
        specify("spherical_pendulum_chain", "vi_sphere", preset="chain3", parameters=numbers, steps=1, t_end=0.01)
