"""Fact sheets: gradients, symmetries and conserved momenta, presets and their printed numbers, refused input."""
import functools

import numpy as np
import pytest
from numba import njit

import liestep
from liestep.formulations import formulate
from liestep.systems import sheet, system_ids, system_module
from liestep.systems.lennard_jones_sphere import equilibrium_sigma
from liestep.systems.sheet import InputError

PRESETS = [(name, preset) for name in system_ids() for preset in sheet(name).presets]
SMALL = [(name, preset) for name, preset in PRESETS if not (name == "lennard_jones_sphere" and preset not in ("level1", "level2"))]
VECTORS = ("gravity", "clamp", "pivots", "positions")  # parameters that turn with the system
ROOT3 = 3.0**0.5


@njit(error_model="numpy")
def compiled_potential(system, q):
    return system.potential(q)


@njit(error_model="numpy")
def compiled_gradient(system, q, out):
    system.gradient(q, out)


class Case:
    """A preset, or a variation of it, ready to be evaluated."""

    def __init__(self, name, preset, **changes):
        self.sheet = sheet(name)
        declared = self.sheet.presets[preset]
        self.parameters = self.sheet.check({**declared.parameters, **changes})
        self.start = self.sheet.check_initial(self.parameters, declared.initial(self.parameters))
        self.system = self.sheet.build(self.parameters)

    def potential(self, q):
        return compiled_potential(self.system, q)

    def gradient(self, q):
        out = np.full_like(q, np.nan)
        compiled_gradient(self.system, q, out)
        return out

    def random_q(self, seed):
        """Unit vectors anywhere; molecules only near their start, where the forces are not astronomic."""
        noise = np.random.default_rng(seed).normal(size=self.start["q"].shape)
        q = self.start["q"] + 0.07*self.parameters["sigma"]*noise if "sigma" in self.parameters else noise
        return q/np.linalg.norm(q, axis=1)[:, None]

    def turned(self, rotation):
        return {name: value @ rotation.T if name in VECTORS else value for name, value in self.parameters.items()}


@functools.cache
def case(name, preset):
    return Case(name, preset)


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


@pytest.mark.parametrize(("name", "preset"), SMALL)
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


@pytest.mark.parametrize(("name", "preset", "companion"), [("sphere_nbody", "four_bodies", None), ("lennard_jones_sphere", "level1", None),
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
    ("spring_pendula", "paper", {"gravity": [0.0, 0.0, 0.0], "stiffness": [10.0, 0.0, 30.0, 0.0]}),  # only springs along e1 are left
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
    """dJ/dt = -sum q_i x G_i for any mass: its component vanishes for all q exactly where flagged. (T has full symmetry.)"""
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
    mass = sheet(name).mass(case(name, preset).parameters)
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


@pytest.mark.parametrize(("preset", "energy", "force"), [("paper_sigma_min", -17.2485, 0.165), ("paper", -18.3786, 1.22),
                                                         ("paper_sigma_max", -0.2040, 4.96)])
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


def test_pair_force_vanishes_at_the_equilibrium_distance():
    c = case("lennard_jones_sphere", "level1")
    distance = 2.0**(1.0/6.0)*c.parameters["sigma"]
    parameters = c.sheet.check({"mass": [1.0, 1.0], "epsilon": 0.01, "sigma": c.parameters["sigma"]})
    half = np.arcsin(distance/2.0)
    out = np.zeros((2, 3))
    c.sheet.build(parameters).gradient(np.array([[np.sin(half), 0.0, np.cos(half)], [-np.sin(half), 0.0, np.cos(half)]]), out)
    assert np.abs(out).max() <= 1e-14
    assert c.sheet.build(parameters).potential(np.array([[np.sin(half), 0.0, np.cos(half)], [-np.sin(half), 0.0, np.cos(half)]])) \
        == pytest.approx(-0.01, rel=1e-13)


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


@pytest.mark.parametrize("clamp", [[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [0.0, -0.96, 0.28], [-1.0, 0.0, 0.0], [1/ROOT3, -1/ROOT3, 1/ROOT3]])
@pytest.mark.parametrize("preset", ["paper", "clamp_vertical"])
def test_rod_starts_along_any_clamp(preset, clamp):
    c = Case("elastic_rod", preset, clamp=clamp)
    q, omega = c.start["q"], c.start["omega"]
    assert np.abs(np.linalg.norm(q, axis=1) - 1.0).max() <= 1e-15
    assert np.abs(np.sum(q*omega, axis=1)).max() <= 1e-15*np.linalg.norm(omega, axis=1).max()
    assert np.linalg.norm(omega, axis=1).max() == pytest.approx(10.0 if preset == "paper" else 10.0*np.sin(0.5), rel=1e-14)


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


PRINTED_DECIMALS = {
    "spherical_pendulum_chain": ({"q": (0, [0.8660, 0.0, 0.5]), "omega": (0, [-0.4330, 0.0, 0.75])}, "q[0]"),
    "spring_pendula": ({"q": (2, [0.4698, 0.1710, 0.8660])}, "q[2]"),
    "dipole_array": ({"q": (15, [0.3536, 0.3536, -0.8660])}, "q[15]"),
}


@pytest.mark.parametrize("name", PRINTED_DECIMALS)
def test_printed_four_digit_starts_are_refused(name):
    c = case(name, "paper")
    changes, where = PRINTED_DECIMALS[name]
    state = {key: value.copy() for key, value in c.start.items()}
    for key, (body, digits) in changes.items():
        assert np.abs(state[key][body] - digits).max() <= 5.1e-5  # the roots are what the paper rounded
        state[key][body] = digits
    with pytest.raises(InputError, match="not a unit vector") as error:
        c.sheet.check_initial(c.parameters, state)
    assert where in str(error.value)


def test_rounded_angular_velocity_is_refused():
    c = case("spherical_pendulum_chain", "paper")
    omega = c.start["omega"].copy()
    omega[0] = [-0.4330, 0.0, 0.75]
    with pytest.raises(InputError, match=r"omega\[0\] is not orthogonal to q\[0\]"):
        c.sheet.check_initial(c.parameters, {"q": c.start["q"], "omega": omega})


@pytest.mark.parametrize(("changes", "sentence"), [
    ({"extra": [[0.0]]}, "unknown initial state field 'extra'"),
    ({"q": None}, "initial state field q is missing"),
    ({"q": [[0.0, 0.0, 1.0]]}, r"initial q must be of shape \(2, 3\), not \(1, 3\)"),
    ({"omega": [["a", 0.0, 1.0]]*2}, "initial omega must be numbers"),
    ({"omega": [[np.nan, 0.0, 0.0]]*2}, "initial omega must be finite numbers"),
])
def test_wrong_starts_are_refused(changes, sentence):
    c = case("spherical_pendulum_chain", "paper")
    state = {key: value for key, value in {**c.start, **changes}.items() if value is not None}
    with pytest.raises(InputError, match=sentence):
        c.sheet.check_initial(c.parameters, state)


@pytest.mark.parametrize(("name", "changes", "sentence"), [
    ("spherical_pendulum_chain", {"mass": [1.0, 1.0, 1.0]}, r"parameter length must be of shape \(n\) with size 3, not of shape \(2,\)"),
    ("spherical_pendulum_chain", {"mass": 1.0}, r"parameter mass must be of shape \(n\), not of shape \(\)"),
    ("spherical_pendulum_chain", {"mass": [1.0, -1.0]}, "parameter mass must be positive"),
    ("spherical_pendulum_chain", {"mass": [], "length": []}, "parameter mass must not be empty"),
    ("spherical_pendulum_chain", {"length": [1.0, np.nan]}, "parameter length must be finite numbers"),
    ("spherical_pendulum_chain", {"gravity": 9.81}, r"parameter gravity must be of shape \(3\), not of shape \(\)"),
    ("spherical_pendulum_chain", {"gravity": [0.0, 9.81]}, r"parameter gravity must be of shape \(3\) with size 3, not of shape \(2,\)"),
    ("spherical_pendulum_chain", {"gravtiy": [0.0, 0.0, 1.0]}, "unknown parameter 'gravtiy'; did you mean gravity\\?"),
    ("spherical_pendulum_chain", {"gravity": None}, "parameter gravity is missing"),
    ("spherical_pendulum_chain", {"mass": [[1.0], [1.0, 2.0]]}, "parameter mass must be numbers"),
    ("sphere_nbody", {"gamma": np.inf}, "parameter gamma must be finite numbers"),
    ("sphere_nbody", {"gamma": "strong"}, "parameter gamma must be numbers, not 'strong'"),
    ("sphere_nbody", {"gamma": [1.0]}, r"parameter gamma must be a scalar, not of shape \(1,\)"),
    ("spring_pendula", {"pairs": [[0, 1], [1, 2], [2, 3], [3, 4]]}, "two different pendula with numbers from 0 to 3"),
    ("spring_pendula", {"pairs": [[0, 1], [1, 2], [2, 3], [3, 3]]}, r"parameter pairs contains \(3, 3\)"),
    ("spring_pendula", {"pairs": [[0, 1], [1, 2], [2, 3], [3, 0.5]]}, "parameter pairs must be integers"),
    ("spring_pendula", {"pairs": [[0, 1], [1, 2], [2, 3], [3, -1]]}, "parameter pairs must not be negative"),
    ("spring_pendula", {"stiffness": [1.0, 1.0, 1.0, -1.0]}, "parameter stiffness must not be negative"),
    ("spring_pendula", {"stiffness": [1.0]}, r"parameter pairs must be of shape \(m, 2\) with size 1, not of shape \(4, 2\)"),
    ("elastic_rod", {"elements": 0}, "parameter elements must be at least 1"),
    ("elastic_rod", {"elements": 2.5}, "parameter elements must be integers"),
    ("elastic_rod", {"inertia": "corrected"}, "parameter inertia is 'corrected'; allowed are printed, consistent"),
    ("elastic_rod", {"inertia": ["printed"]}, "allowed are printed, consistent"),
    ("elastic_rod", {"clamp": [0.8660, 0.0, 0.5]}, "parameter clamp is not a unit vector"),
    ("elastic_rod", {"clamp": [0.0, 0.0, 0.0]}, "parameter clamp is not a unit vector"),
    ("dipole_array", {"positions": [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]}, "puts dipoles 0 and 2 at the same place"),
    ("dipole_array", {"moment": 0.0}, "parameter moment must be positive"),
    ("lennard_jones_sphere", {"sigma": -1.0}, "parameter sigma must be positive"),
])
def test_wrong_parameters_are_refused_in_one_sentence(name, changes, sentence):
    facts = sheet(name)
    parameters = {key: value for key, value in {**facts.presets["paper"].parameters, **changes}.items() if value is not None}
    with pytest.raises(InputError, match=sentence) as error:
        facts.check(parameters)
    assert "\n" not in str(error.value)


def test_molecules_without_icosphere_need_a_start():
    facts = sheet("lennard_jones_sphere")
    parameters = facts.check({"mass": np.ones(100), "epsilon": 0.01, "sigma": 0.1})
    with pytest.raises(InputError, match="no icosphere with 100 vertices"):
        facts.presets["paper"].initial(parameters)


def test_unknown_system_names_the_closest():
    with pytest.raises(InputError, match=r"did you mean elastic_rod\?"):
        system_module("elastic_rot")


@pytest.mark.parametrize("name", system_ids())
def test_sheets_are_complete(name):
    facts = sheet(name)
    assert facts.title
    assert facts.equations
    assert "twospheres2009" in facts.citation
    assert "paper" in facts.presets
    assert all(rule.doc and rule.units for rule in facts.parameters.values())
