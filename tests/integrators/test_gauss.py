"""Gauss collocation: order conditions of its coefficients, what it keeps, refusals."""
import numpy as np
import pytest

from liestep import simulate, system
from liestep.errors import InputError
from liestep.integrators.gauss import nodes_of, tableau


@pytest.mark.parametrize("stages", range(1, 7))
def test_coefficients_are_those_of_collocation(stages):
    a, b, c = map(np.array, tableau(nodes_of("gauss", stages)))
    nodes, weights = np.polynomial.legendre.leggauss(stages)
    assert np.abs(c - 0.5*(1 + nodes)).max() <= 1e-15
    assert np.abs(b - 0.5*weights).max() <= 1e-15
    for k in range(1, stages + 1):
        assert np.abs(a @ c**(k - 1) - c**k/k).max() <= 1e-15
    symplectic = b[:, None]*a + (b[:, None]*a).T - np.outer(b, b)
    assert np.abs(symplectic).max() <= 1e-15


@pytest.mark.parametrize("stages", [2, 3])
def test_quadratic_invariants_are_kept_and_others_are_not(stages):
    options = {"stages": stages}
    bodies = simulate("sphere_nbody", "gauss", preset="paper", step=5e-3, t_end=1.0, options=options)
    assert bodies.attrs["unit_length_error_max"] <= 1e-13
    assert bodies.attrs["momentum_error_max"] <= 1e-13
    chain = simulate("spherical_pendulum_chain", "gauss", preset="paper_scaled", step=0.1, t_end=5.0, options=options)
    assert chain.attrs["unit_length_error_max"] <= 1e-13
    assert chain.attrs["momentum_error_max"] >= 1e-11


@pytest.fixture(scope="module")
def magnetic():
    """A bob with a magnetic force, which does no work: the row of its work is round-off."""
    def force(v):
        return np.cross(v, [0.3, 0.0, 1.0])

    bob = system("bob_in_a_field", potential=lambda q: 9.81*q[0, 2], mass=[1.0], force=force, t_end=1.0,
                 start={"q": [[0.6, 0.0, -0.8]], "v": [[0.0, 0.9, 0.0]]})
    bob.simulate("dop853", tolerance=1e-8, t_end=1e-3, samples=2)  # where that row counts it fails at once, not never
    return bob


@pytest.fixture(scope="module")
def exact(magnetic):
    return magnetic.simulate("dop853", tolerance=1e-12, samples=2)


@pytest.mark.slow
def test_a_row_of_round_off_does_not_stop_the_iteration(magnetic, exact):
    errors = [np.abs(magnetic.simulate("gauss", step=step, samples=2)["q"].values[-1] - exact["q"].values[-1]).max()
              for step in (0.02, 0.01)]
    assert np.log2(errors[0]/errors[1]) == pytest.approx(4.0, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["ode45", "ode45_norm", "cf_pair", "rkmk_pair", "rkmk853", "lie_taylor",
                                        "taylor"])
def test_nor_does_it_shorten_steps(magnetic, exact, integrator):
    assert exact.attrs["steps"] < 200
    own = magnetic.simulate(integrator, tolerance=1e-9, samples=2)
    assert own.attrs["steps"] < 1000
    assert np.abs(own["q"].values[-1] - exact["q"].values[-1]).max() < 1e-6


def test_a_step_without_convergence_says_so():
    run = simulate("spherical_pendulum_chain", "gauss", preset="paper_scaled", step=0.1, t_end=1.0,
                   options={"iterations": 2}, on_failure="return")
    assert run.attrs["status"] != "ok"


@pytest.mark.parametrize("stages", [0, 7, 2.5, True, "two"])
def test_other_stages_are_refused(stages):
    with pytest.raises(InputError, match="allowed are 1, 2, 3, 4, 5, 6"):
        simulate("sphere_nbody", "gauss", preset="paper", step=5e-3, t_end=1.0, options={"stages": stages})


@pytest.mark.parametrize(("integrator", "options", "digits"), [
    ("gauss", {}, 2e-14), ("discrete_gradient", {"rule": "itoh_abe"}, 1e-12)])
def test_units_of_a_row_do_not_change_its_digits(integrator, options, digits):
    """Coordinates in units that make them 1e-9 of the momenta: the same motion to round-off. (Gonzalez' gradient is
    another one in other units: its correction goes along the change of all coordinates. Quotients of H over short
    changes have the fewer digits the shorter these are.)"""
    ends = []
    for unit in (1.0, 1e-9):
        def energy(q, momentum, unit=unit):
            return 0.5*momentum[0]**2 - np.cos(q[0]/unit)

        swing = system(f"swing_of_units_{len(ends)}", hamiltonian=energy, start={"q": [2.0*unit], "momentum": [0.1]})
        end = swing.simulate(integrator, step=0.05*unit, t_end=2.0*unit, samples=2, options=options)
        ends.append([end["q"].values[-1, 0]/unit, end["momentum"].values[-1, 0]])
    np.testing.assert_allclose(ends[0], ends[1], rtol=digits)
