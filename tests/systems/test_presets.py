"""Presets: starts on the manifold, masses, printed numbers, and how starts scale with the number of bodies."""
import numpy as np
import pytest
from system_cases import PRESETS, Case, case

import liestep
from liestep.mechanics.formulations import formulate
from liestep.mechanics.systems.lennard_jones_sphere import equilibrium_sigma
from liestep.simulation.catalogue import sheet

ROOT3 = 3.0**0.5


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_presets_start_on_the_manifold(name, preset):
    """On it to round-off: the start values are roots, not their printed decimals."""
    c = case(name, preset)
    q, omega = c.start["q"], c.start["omega"]
    declared = c.sheet.presets[preset]
    assert np.abs(np.linalg.norm(q, axis=1) - 1.0).max() <= 1e-15
    assert np.abs(np.sum(q*omega, axis=1)).max() <= 1e-16*max(1.0, np.linalg.norm(omega, axis=1).max())
    assert declared.kind in ("printed", "scaled", "inferred", "guess", "own")
    assert declared.citation
    assert declared.doc
    assert declared.t_end > 0.0
    again = declared.initial(c.parameters)
    assert all(np.array_equal(again[key], c.start[key]) for key in ("q", "omega"))
    assert again["q"] is not c.start["q"]


def smallest_eigenvalue(mass):
    """Of a mass given as diagonal (n,) or matrix (n, n)."""
    return mass.min() if mass.ndim == 1 else np.linalg.eigvalsh(mass)[0]


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_mass_is_symmetric_positive_definite(name, preset):
    mass = np.asarray(sheet(name).mass(case(name, preset).parameters))
    assert len(mass) == len(case(name, preset).start["q"])
    assert np.array_equal(mass, mass.T)
    assert smallest_eigenvalue(mass) > 0.0


def observed(name, preset):
    c = case(name, preset)
    formulated = formulate(c.sheet, c.parameters, c.start, "sphere_lagrangian", {})
    out = np.zeros(7)
    formulated.problem.observe(formulated.start, out)
    return out[0], out[1:4]


def test_double_pendulum_energy_and_momentum():
    energy, momentum = observed("spherical_pendulum_chain", "paper_scaled")
    assert energy == pytest.approx(-0.75, abs=1e-15)
    assert momentum == pytest.approx([-ROOT3, 1.5, 1.5], abs=1e-15)
    printed_energy, printed_momentum = observed("spherical_pendulum_chain", "paper")
    assert printed_energy == pytest.approx(9.81**2*energy, rel=1e-14)
    assert printed_momentum == pytest.approx(9.81**2*momentum, rel=1e-14)


def test_scaled_pendulum_moves_as_the_printed_one():
    accelerations = []
    for preset in ("paper", "paper_scaled"):
        c = case("spherical_pendulum_chain", preset)
        problem = formulate(c.sheet, c.parameters, c.start, "vector_field", {}).problem
        q = c.random_q(4)
        out = np.zeros((4, 3))
        problem.rhs(0.0, np.concatenate([q, np.cross(q, c.random_q(5))]), out)
        accelerations.append(out)
    assert np.allclose(*accelerations, rtol=0, atol=1e-14*np.abs(accelerations[0]).max())


def test_three_bodies_momentum():
    assert observed("sphere_nbody", "paper")[1] == pytest.approx([1.0, 1.0, -1.1], abs=1e-15)


def test_four_bodies_stay_apart():
    data = liestep.simulate("sphere_nbody", "dop853", preset="four_bodies", tolerance=1e-10, samples=2001)
    q = data["q"].values
    cosines = np.einsum("tik,tjk->tij", q, q)[:, *np.triu_indices(4, 1)]
    angles = np.degrees(np.arccos(cosines))
    assert round(float(angles.min()), 1) == 17.8
    assert round(float(angles.max()), 1) == 163.5


@pytest.mark.parametrize(("preset", "energy", "force"), [("paper_sigma_min", -17.2485, 0.165),
                                                         ("paper", -18.3786, 1.22), ("paper_sigma_max", -0.2040, 4.96)])
def test_molecules_at_the_start(preset, energy, force):
    """Potential energy, and the largest force along the sphere, of the three readings of sigma."""
    c = case("lennard_jones_sphere", preset)
    q = c.start["q"]
    assert round(c.potential(q), 4) == energy
    tangential = np.linalg.norm(np.cross(q, c.gradient(q)), axis=1).max()
    assert float(f"{tangential:.3g}") == force


def test_vortices_of_the_molecules():
    omega, q = case("lennard_jones_sphere", "paper").start["omega"], case("lennard_jones_sphere", "paper").start["q"]
    assert round(0.5*float(np.sum(omega*omega)), 3) == 7.518
    speed = np.linalg.norm(omega, axis=1)
    assert np.all(speed[q[:, 0] < -0.5] < 1e-10)  # none on the far side
    assert equilibrium_sigma(3) == pytest.approx(0.134284901, abs=5e-10)


def test_narrower_vortices_carry_the_same_energy_closer_to_their_centres():
    wide, narrow = (case("lennard_jones_sphere", name).start for name in ("paper", "paper_narrow"))
    assert 0.5*np.sum(narrow["omega"]**2) == pytest.approx(0.5*np.sum(wide["omega"]**2), rel=2e-3)
    far = wide["q"][:, 0] < 0.5
    assert np.linalg.norm(narrow["omega"][far], axis=1).max() < 0.1*np.linalg.norm(wide["omega"][far], axis=1).max()


def test_pair_force_vanishes_at_the_equilibrium_distance():
    c = case("lennard_jones_sphere", "level1")
    distance = 2.0**(1.0/6.0)*c.parameters["sigma"]
    parameters = c.sheet.check({"mass": [1.0, 1.0], "epsilon": 0.01, "sigma": c.parameters["sigma"]})
    half = np.arcsin(distance/2.0)
    out = np.zeros((2, 3))
    c.sheet.build(parameters).gradient(
        np.array([[np.sin(half), 0.0, np.cos(half)], [-np.sin(half), 0.0, np.cos(half)]]), out)
    assert np.abs(out).max() <= 1e-14
    assert (c.sheet.build(parameters)
            .potential(np.array([[np.sin(half), 0.0, np.cos(half)], [-np.sin(half), 0.0, np.cos(half)]]))
        == pytest.approx(-0.01, rel=1e-13))


def chain_of_uniform_rods(parameters, v):
    """Kinetic energy by Gauss quadrature along each element, the clamped one at rest."""
    n = parameters["elements"]
    mass, length = parameters["mass"]/(n + 1), parameters["length"]/(n + 1)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    joint, total = np.zeros(3), 0.0
    for i in range(n):
        for s, weight in zip((nodes + 1.0)/2.0, weights/2.0, strict=True):
            velocity = joint + s*length*v[i]
            total += 0.5*mass*weight*np.sum(velocity*velocity)
        joint = joint + length*v[i]
    return total


@pytest.mark.parametrize("elements", [1, 2, 5, 10, 40])
def test_consistent_inertia_is_that_of_uniform_rods_and_the_printed_one_is_not(elements):
    """Erratum 7."""
    rng = np.random.default_rng(elements)
    v = rng.normal(size=(elements, 3))
    energies = {}
    for inertia in ("printed", "consistent"):
        c = Case("elastic_rod", "paper", elements=elements, inertia=inertia)
        mass = c.sheet.mass(c.parameters)
        matrix = np.diag(mass) if mass.ndim == 1 else mass
        energies[inertia] = 0.5*np.sum(matrix*(v @ v.T))
    exact = chain_of_uniform_rods(c.parameters, v)
    assert energies["consistent"] == pytest.approx(exact, rel=1e-13)
    if elements > 2:  # up to there both couplings are the same
        assert abs(energies["printed"]/exact - 1.0) > 1e-3


@pytest.mark.parametrize("inertia", ["printed", "consistent"])
@pytest.mark.parametrize("elements", [1, 3, 20, 50, 100, 200])
def test_rod_of_any_number_of_elements(elements, inertia):
    c = Case("elastic_rod", "paper", elements=elements, inertia=inertia)
    q, omega = c.start["q"], c.start["omega"]
    assert np.array_equal(q, np.tile([1.0, 0.0, 0.0], (elements, 1)))
    turning = np.flatnonzero(np.any(omega != 0.0, axis=1))
    assert turning.tolist() == [(elements - 1)//2]
    assert omega[turning[0]].tolist() == [0.0, 0.0, 10.0]
    assert smallest_eigenvalue(c.sheet.mass(c.parameters)) > 0.0


@pytest.mark.parametrize("clamp", [[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [0.0, -0.96, 0.28], [-1.0, 0.0, 0.0],
                                   [1/ROOT3, -1/ROOT3, 1/ROOT3]])
@pytest.mark.parametrize("preset", ["paper", "clamp_vertical"])
def test_rod_starts_along_any_clamp(preset, clamp):
    c = Case("elastic_rod", preset, clamp=clamp)
    q, omega = c.start["q"], c.start["omega"]
    assert np.abs(np.linalg.norm(q, axis=1) - 1.0).max() <= 1e-15
    assert np.abs(np.sum(q*omega, axis=1)).max() <= 1e-15*np.linalg.norm(omega, axis=1).max()
    assert np.linalg.norm(omega,
                          axis=1).max() == pytest.approx(10.0 if preset == "paper" else 10.0*np.sin(0.5), rel=1e-14)


@pytest.mark.parametrize("count", [12, 42, 162])
def test_molecules_start_on_the_icosphere_with_as_many_vertices(count):
    c = Case("lennard_jones_sphere", "paper", mass=np.ones(count))
    assert c.start["q"].shape == (count, 3)


def test_pendula_of_any_number_start():
    for count in (1, 2, 7):
        c = Case("spherical_pendulum_chain", "paper", mass=np.ones(count), length=np.ones(count))
        assert c.start["q"].shape == (count, 3)


def test_one_body_has_a_diagonal_mass():
    """So that the explicit variational step applies."""
    pendulum = Case("spherical_pendulum_chain", "paper", mass=[2.0], length=[3.0])
    assert pendulum.sheet.mass(pendulum.parameters).tolist() == [18.0]
    rod = Case("elastic_rod", "paper", elements=1)
    assert rod.sheet.mass(rod.parameters) == pytest.approx([0.055/2*0.55**2/3], rel=1e-15)
