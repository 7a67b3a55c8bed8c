"""Fact sheets: gradients, symmetries, conserved momenta, singular places."""
import numpy as np
import pytest
from numba import njit
from system_cases import PRESETS, SMALL, TURNED, Case, case, compiled_gradient, compiled_potential

from liestep import simulate
from liestep.errors import InputError
from liestep.geometry.linalg import cholesky, cholesky_solve
from liestep.mechanics.formulations.spheres.mass import exact_inverse, has_tridiagonal_inverse, mass_component
from liestep.simulation.catalogue import sheet, system_ids
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify


def rotation(seed):
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q*np.sign(np.diag(r))
    return q*np.linalg.det(q)


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_gradient_is_the_derivative_of_the_potential(name, preset):
    """Central differences of order 4 along random directions of R^3n, off the spheres too: the plain gradient."""
    c = case(name, preset)
    h = 1e-3*c.parameters.get("sigma", 0.1)
    for seed in range(5):
        q = c.random_q(seed)
        direction = np.random.default_rng(seed + 100).normal(size=q.shape)
        direction /= np.abs(direction).max()

        def v(s, q=q, direction=direction):
            return c.potential(q + s*h*direction)

        difference = (8.0*(v(1) - v(-1)) - (v(2) - v(-2)))/(12.0*h)
        slope = float(np.sum(c.gradient(q)*direction))
        size = float(np.sum(np.abs(c.gradient(q)*direction)))
        assert abs(difference - slope) <= 1e-8*max(size, abs(c.potential(q)))


@pytest.mark.parametrize(("name", "preset"), SMALL)
def test_plain_python_gives_the_same_bits(name, preset):
    c = case(name, preset)
    q = c.random_q(7)
    out = np.zeros_like(q)
    c.system.gradient(q, out)
    assert np.array_equal(out, c.gradient(q))
    assert c.system.potential(q) == c.potential(q)


@pytest.mark.parametrize(("name", "preset"), TURNED)
def test_turning_everything_changes_no_energy_and_turns_the_gradient(name, preset):
    c, r = case(name, preset), rotation(3)
    turned = c.sheet.build(c.sheet.check(c.turned(r)))
    q = c.random_q(8)
    out = np.zeros_like(q)
    compiled_gradient(turned, q @ r.T, out)
    g = c.gradient(q)
    assert np.allclose(out, g @ r.T, rtol=0, atol=1e-11*np.abs(g).max())
    assert np.isclose(compiled_potential(turned, q @ r.T), c.potential(q), rtol=1e-12, atol=1e-12*np.abs(g).sum())
    assert np.array_equal(c.sheet.mass(c.sheet.check(c.turned(r))), c.sheet.mass(c.parameters))


@pytest.mark.parametrize(("name", "preset", "companion"),
                         [("sphere_nbody", "four_bodies", None), ("lennard_jones_sphere", "level1", None),
                          ("dipole_array", "paper", "positions")])
def test_numbering_of_equal_bodies_does_not_matter(name, preset, companion):
    c = case(name, preset)
    q = c.random_q(9)
    order = np.random.default_rng(10).permutation(len(q))
    changes = {companion: c.parameters[companion][order]} if companion else {}
    g = c.gradient(q)
    other = Case(name, preset, **changes)
    assert np.allclose(other.gradient(q[order]), g[order], rtol=0, atol=1e-12*np.abs(g).max())
    assert np.isclose(other.potential(q[order]), c.potential(q), rtol=1e-12)


VARIATIONS = [(name, preset, {}) for name, preset in PRESETS] + [
    ("spherical_pendulum_chain", "paper", {"gravity": [0.0, 9.81, 0.0]}),
    ("spherical_pendulum_chain", "paper", {"gravity": [0.0, 1e-3, 9.81]}),
    ("spring_pendula", "paper", {"gravity": [0.0, 0.0, 0.0]}),
    ("spring_pendula", "paper", {"stiffness": [0.0, 0.0, 0.0, 0.0]}),
    # only springs along e1 are left
    ("spring_pendula", "paper", {"gravity": [0.0, 0.0, 0.0], "stiffness": [10.0, 0.0, 30.0, 0.0]}),
    ("spring_pendula", "column", {"gravity": [9.81, 0.0, 0.0]}),
    ("spring_pendula", "column", {"gravity": [0.0, 0.0, 0.0], "pivots": [[0.0, 0.0, 0.0]]*3}),
    ("elastic_rod", "paper", {"gravity": [0.0, 0.0, 0.0]}),
    ("elastic_rod", "paper", {"gravity": [-9.81, 0.0, 0.0]}),
    ("elastic_rod", "paper", {"gravity": [0.0, 0.0, 0.0], "clamp": [0.6, 0.8, 0.0]}),
    ("elastic_rod", "paper", {"stiffness": 0.0}),
    ("dipole_array", "line", {"positions": [[0.0, 0.0, 0.024*k] for k in range(5)]}),
    ("dipole_array", "line", {"positions": [[0.024*k, 0.024*k, 0.0] for k in range(5)]}),
]


@pytest.mark.parametrize(("name", "preset", "changes"), VARIATIONS)
def test_momentum_is_conserved_about_exactly_the_flagged_axes(name, preset, changes):
    """dJ/dt = -sum q_i x G_i for any mass: its component vanishes for all q exactly where
    flagged. (T has full symmetry.)"""
    c = Case(name, preset, **changes)
    flags = c.sheet.conserved_momentum(c.parameters)
    assert all(isinstance(flag, bool) for flag in flags)
    largest = np.zeros(3)
    for seed in range(3):
        q = c.random_q(seed + 20)
        torques = np.cross(q, c.gradient(q))
        size = max(float(np.abs(torques).sum()), 1e-300)
        largest = np.maximum(largest, np.abs(torques.sum(axis=0))/size)
    assert tuple(bool(t <= 1e-13) for t in largest) == flags
    assert all(t <= 1e-13 or t >= 1e-6 for t in largest)


def test_spring_of_rest_length_zero_has_no_singularity():
    c = Case("spring_pendula", "column", gravity=[0.0, 0.0, 0.0], pivots=[[0.0, 0.0, 0.0]]*3)
    aligned = np.tile([0.0, 0.0, 1.0], (3, 1))
    assert c.potential(aligned) == 0.0
    assert np.array_equal(c.gradient(aligned), np.zeros((3, 3)))


def test_spring_shrunk_to_a_point_has_no_gradient():
    c = Case("spring_pendula", "paper")
    q = np.tile([0.0, 0.0, 1.0], (4, 1))
    q[0], q[1] = (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)
    assert np.isfinite(c.potential(q))
    assert not np.all(np.isfinite(c.gradient(q)))


@pytest.mark.parametrize("name", system_ids())
def test_sheets_are_complete(name):
    facts = sheet(name)
    assert facts.title
    assert facts.equations
    assert facts.citation
    assert facts.presets
    assert all(rule.doc and rule.units for rule in facts.parameters.values())


def test_the_inverse_mass_has_the_bits_of_the_compiled_elimination():
    @njit(error_model="numpy")
    def eliminate(factor, inverse):
        n = factor.shape[0]
        cholesky(factor, n)
        for i in range(n):
            cholesky_solve(factor, inverse[i], n)

    for n in (1, 2, 3, 10, 40):
        half = np.random.default_rng(n).normal(size=(n, n))
        matrix, inverse = half @ half.T + 0.1*np.eye(n), np.eye(n)
        matrix = 0.5*(matrix + matrix.T)
        eliminate(matrix.copy(), inverse)
        assert np.array_equal(exact_inverse(matrix), 0.5*(inverse + inverse.T)), n


@pytest.mark.parametrize(("system", "integrator", "options", "mass"), [
    ("spherical_pendulum_chain", "rk4", {}, "banded"),
    ("spherical_pendulum_chain", "rkmk", {}, "banded"),
    ("spherical_pendulum_chain", "dop853", {}, "banded"),
    ("spherical_pendulum_chain", "rk4", {"form": "velocity"}, "dense"),
    ("spherical_pendulum_chain", "rk4", {"mass": "dense"}, "dense"),
    ("elastic_rod", "rkmk", {}, "dense"),
    ("spherical_pendulum_chain", "vi_sphere", {}, "dense"),
    ("sphere_nbody", "rk4", {}, "diagonal"),
])
def test_chains_take_the_banded_solve_unless_told_otherwise(system, integrator, options, mass):
    amount = {"tolerance": 1e-6} if integrator == "dop853" else {"steps": 10}
    spec = specify(system, integrator, options=options, **amount)
    assert spec.options["mass"] == mass
    asked = specify(system, integrator, options={**options, "mass": mass}, **amount)
    assert asked.sha256 == spec.sha256  # the specification holds the solve, not how it was chosen


@pytest.mark.parametrize("preset", ["paper_scaled", "total5_20"])
def test_banded_and_dense_mass_give_the_same_motion(preset):
    """As long as all q_i are unit vectors, which rkmk keeps; the two solves round differently."""
    dense, banded = (simulate("spherical_pendulum_chain", "rkmk", preset=preset, steps=20, t_end=0.02,
                              options={"mass": mass})
                     for mass in ("dense", "banded"))
    for name in ("q", "omega", "energy"):
        assert np.abs(dense[name] - banded[name]).max() <= 1e-11*max(1.0, np.abs(dense[name]).max()), name
        assert np.abs(banded[name] - banded[name][0]).max() > 0.0, name


@pytest.mark.parametrize("form", ["omega", "velocity"])
def test_accelerations_by_multipliers_solve_the_full_equations(form):
    """Those of accelerations and multipliers at once, by NumPy, for velocities that are tangent."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 5):
        half, (q, g, w) = rng.normal(size=(n, n)), rng.normal(size=(3, n, 3))
        matrix = half @ half.T + np.eye(n)
        q /= np.linalg.norm(q, axis=1)[:, None]
        w -= np.sum(w*q, axis=1)[:, None]*q
        v = np.cross(w, q)
        full = np.zeros((4*n, 4*n))
        full[:3*n, :3*n] = np.kron(matrix, np.eye(3))
        for i in range(n):
            full[3*i:3*i + 3, 3*n + i], full[3*n + i, 3*i:3*i + 3] = -q[i], q[i]
        right = np.concatenate([-g.ravel(), -np.sum(v*v, axis=1)])
        expected = np.linalg.solve(full, right)[:3*n].reshape(n, 3)
        component, found = mass_component(matrix, "multipliers"), np.zeros((n, 3))
        if form == "omega":
            assert plain(component).angular_acceleration(q, w, g, found)
            expected = np.cross(q, expected)
        else:
            assert plain(component).acceleration(q, v, g, found)
        assert np.abs(found - expected).max() <= 1e-13*np.linalg.cond(matrix)*max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("integrator", ["rkmk", "rk4"])
def test_rods_by_multipliers_move_as_with_the_full_matrix(integrator):
    dense, multipliers = (simulate("elastic_rod", integrator, steps=20, t_end=0.002, options={"mass": mass})
                          for mass in ("dense", "multipliers"))
    for name in ("q", "omega", "energy"):
        assert np.abs(dense[name] - multipliers[name]).max() <= 1e-11*max(1.0, np.abs(dense[name]).max()), name
        assert np.abs(multipliers[name] - multipliers[name][0]).max() > 0.0, name


@pytest.mark.parametrize("form", ["increment", "paper"])
def test_a_long_chain_steps_by_a_band_as_by_the_full_matrix(form):
    def run(n, **options):
        parameters = {"mass": 1.0 + 0.1*np.arange(n), "length": 1.0 - 0.02*np.arange(n)}
        return simulate("spherical_pendulum_chain", "vi_sphere", preset="chain3", parameters=parameters, step=0.002,
                        t_end=0.1, samples=3, options={"form": form, **options})

    band, dense = run(21), run(21, mass="dense")
    assert ('"mass": "banded"' in band.attrs["specification"]) > ('"mass": "banded"' in dense.attrs["specification"])
    assert '"mass": "dense"' in run(20).attrs["specification"]
    for name in ("q", "omega", "energy"):
        assert np.abs(band[name] - dense[name]).max() <= 1e-11*max(1.0, np.abs(dense[name]).max()), name
        assert np.abs(band[name] - band[name][0]).max() > 0.0, name


def test_a_mass_that_is_not_definite_has_no_multipliers():
    component, rows = mass_component(np.eye(2), "multipliers"), np.zeros((2, 3))
    assert not plain(component).acceleration(rows, rows, rows, rows.copy())  # q = 0


def test_a_mass_without_tridiagonal_inverse_is_not_banded():
    with pytest.raises(InputError, match="of this mass matrix is not tridiagonal; allowed are dense, multipliers"):
        specify("elastic_rod", "rk4", steps=10, t_end=0.01, options={"mass": "banded"})
    general = np.array([[3.0, 1.0, 0.5], [1.0, 3.0, 1.0], [0.5, 1.0, 3.0]])
    assert not has_tridiagonal_inverse(general)
    with pytest.raises(InputError, match="not tridiagonal"):
        mass_component(general, "banded")


def _chain_mass(mass, length):
    """M_ij = l_i l_j (mass of the links from max(i, j) on)."""
    outer = np.cumsum(mass[::-1])[::-1]
    order = np.arange(len(mass))
    return np.outer(length, length)*outer[np.maximum.outer(order, order)]


@pytest.mark.parametrize("mass", [np.ones(400), np.ones(800), np.geomspace(1.0, 1e4, 50)])
def test_whether_an_inverse_is_tridiagonal_does_not_depend_on_the_condition(mass):
    """LAPACK's inverses of these show entries of 1e-12 to 1e-11 beside the diagonals, which round-off leaves there."""
    matrix = _chain_mass(mass, np.linspace(1.0, 2.0, len(mass)))
    assert has_tridiagonal_inverse(matrix)
    matrix[0, 2] = matrix[2, 0] = matrix[0, 2]*(1.0 + 1e-12)
    assert not has_tridiagonal_inverse(matrix)


def test_a_long_uniform_chain_is_solved_as_a_band():
    """Whole numbers: the inverse of M_ij = n - max(i, j) has 1 or 2 on its diagonal and -1 beside it."""
    n = 400
    request = {"mass": [1.0]*n, "length": [1.0]*n, "gravity": [0.0, 0.0, 9.81]}
    start = {"q": [[0.0, 0.0, 1.0]]*n, "omega": [[0.0, 0.0, 0.0]]*n}
    for asked in ({}, {"mass": "banded"}):
        spec = specify("spherical_pendulum_chain", "rkmk", parameters=request, initial=start, steps=1, t_end=0.01,
                       options=asked)
        assert spec.options["mass"] == "banded"
    component = mass_component(_chain_mass(np.ones(n), np.ones(n)), "banded")
    assert np.array_equal(component.diagonal, [1.0, *[2.0]*(n - 1)])
    assert np.array_equal(component.beside, [0.0, *[-1.0]*(n - 1)])
