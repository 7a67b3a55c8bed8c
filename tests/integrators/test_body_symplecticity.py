"""Maps of several rigid bodies that turn and move: symplectic form, symmetry and adjoints by differences of one step of
three bonded particles, in plain Python; n free bodies by sweeps; momenta and orders of the sweeps of slgi."""
import numpy as np
import pytest
from rigid_cases import formulated
from scipy.spatial.transform import Rotation

from liestep.compile.status import Status
from liestep.mechanics.contracts.sheet import Option
from liestep.simulation.catalogue import method
from liestep.simulation.plugins.trial import plain

H, N = 0.05, 3
FREE = {"particles": N, "ring_diameter": 2.0, "wall_law": "none", "contact_pairs": "none", "shear_law": "mean"}
UNEQUAL = {"inertia": [0.6, 0.9, 0.4]}
EQUAL = ("rodrigues drift=exact", "rodrigues", "rodrigues drift=exp", "rodrigues kick=whole", "rodrigues weights=y4",
         "rodrigues weights=s4")
ANY = ("lgvi", "dlm", "slgi", "lgvi weights=y4")
SYMPLECTIC = [(name, {}, {}) for name in (*EQUAL, "richardson", "campello")] + [
    (name, {}, UNEQUAL) for name in ANY] + [("slgi", {"theta": 0.0}, UNEQUAL), ("slgi", {"theta": 0.25}, UNEQUAL),
                                           ("rodrigues kick=whole", {"drift": "exact"}, {})]
NOT = [("campello", {"phi": 0.5}, {}), ("richardson", {}, UNEQUAL)]
SYMMETRIC = [case for case in SYMPLECTIC if case[0] not in ("rodrigues kick=whole", "campello") and not case[1]]


def step_of(name, options, changes):
    """(map of rows y by a step h, masses, a crooked start) of an integrator in plain Python."""
    case = formulated("bonded_ring", "rescaled", "rigid_bodies", FREE | changes)
    problem, declared = plain(case.problem), method(name)
    declared = declared if declared.formulation == "rigid_bodies" else method(name).on(Without())
    given = {key: option.default for key, option in declared.options.items() if isinstance(option, Option)} | options
    component = plain(declared.build(given, None, 1.0))

    def step(y, h=H):
        y = y.copy()
        work = component.workspace(problem, y)
        assert component.start(problem, 0.0, y, h, work) == Status.OK
        assert component.step(problem, 0.0, y, h, work) == Status.OK
        return y

    return step, crooked(case.start)


class Without:
    """A sheet that has the formulation of several bodies only."""

    forms = ("rigid_bodies",)


def crooked(start):
    y, random = start.copy(), np.random.default_rng(7)
    for i in range(N):
        y[3*i:3*i + 3] = y[3*i:3*i + 3] @ Rotation.from_rotvec(0.3*random.standard_normal(3)).as_matrix().T
    y[3*N:4*N] = 0.4*random.standard_normal((N, 3))
    y[4*N:] += 0.1*random.standard_normal((2*N, 3))
    return y


def moved(y, tangent, s):
    """y displaced by s times a tangent (4, n, 3): spatial turns, angular momenta, positions, velocities."""
    z = y.copy()
    for i in range(N):
        z[3*i:3*i + 3] = z[3*i:3*i + 3] @ Rotation.from_rotvec(s*tangent[0, i]).as_matrix().T
    z[3*N:] += s*tangent[1:].reshape(-1, 3)
    return z


def pushed(step, y, tangent, s=2e-4):
    """The tangent at the end of a step, by differences of fourth order."""
    total, new = np.zeros((4, N, 3)), step(y)
    for weight, k in ((8.0, 1), (-8.0, -1), (-1.0, 2), (1.0, -2)):
        z = step(moved(y, tangent, k*s))
        for i in range(N):
            turn = z[3*i:3*i + 3].T @ new[3*i:3*i + 3]
            total[0, i] += weight*Rotation.from_matrix(turn).as_rotvec()
        total[1:] += weight*(z - new)[3*N:].reshape(3, N, 3)
    return total/(12.0*s)


def form(y, a, b):
    """Symplectic form of T*SO(3)^n x T*R^3n for unit masses, momenta and turns in space."""
    spin = np.einsum("ni,ni->", y[3*N:4*N], np.cross(a[0], b[0]))
    return float(np.sum(a[0]*b[1] - b[0]*a[1] + a[2]*b[3] - b[2]*a[3]) - spin)


def defect(step, y):
    """Largest change of the form over pairs of three random tangents, relative to the largest of them."""
    tangents = np.random.default_rng(3).standard_normal((3, 4, N, 3))
    images, new = [pushed(step, y, tangent) for tangent in tangents], step(y)
    pairs = [(i, j) for i in range(3) for j in range(i)]
    before = np.array([form(y, tangents[i], tangents[j]) for i, j in pairs])
    after = np.array([form(new, images[i], images[j]) for i, j in pairs])
    return np.abs(after - before).max()/np.abs(before).max()


@pytest.mark.parametrize(("name", "options", "changes"), SYMPLECTIC)
def test_symplectic_maps_keep_the_form(name, options, changes):
    step, y = step_of(name, options, changes)
    assert defect(step, y) <= 1e-9


@pytest.mark.parametrize(("name", "options", "changes"), NOT)
def test_the_others_do_not(name, options, changes):
    step, y = step_of(name, options, changes)
    assert defect(step, y) >= 1e-7


@pytest.mark.parametrize(("name", "options", "changes"), SYMMETRIC)
def test_symmetric_maps_return(name, options, changes):
    step, y = step_of(name, options, changes)
    assert np.abs(step(step(y), -H) - y).max() <= 1e-12


@pytest.mark.parametrize("theta", [0.0, 0.25])
def test_sweeps_with_theta_are_adjoint_to_those_with_the_rest(theta):
    step, y = step_of("slgi", {"theta": theta}, UNEQUAL)
    adjoint, _ = step_of("slgi", {"theta": 1.0 - theta}, UNEQUAL)
    assert np.abs(adjoint(step(y), -H) - y).max() <= 1e-12
    assert np.abs(step(step(y), -H) - y).max() >= 1e-5


@pytest.mark.parametrize("name", [*EQUAL, "richardson", "campello", *ANY])
def test_momenta_of_free_bonded_bodies_are_kept(name):
    """Total linear and angular momentum, the latter about the origin: the shear law is frame-indifferent."""
    step, y = step_of(name, {}, UNEQUAL if name in ANY else {})

    def momenta(z):
        spin, x, v = z[3*N:4*N], z[4*N:5*N], z[5*N:]
        return np.concatenate([v.sum(axis=0), (spin + np.cross(x, v)).sum(axis=0)])

    assert np.abs(momenta(step(step(y))) - momenta(y)).max() <= 1e-13


def test_sweeps_of_bodies_without_bonds_are_single_bodies():
    free = {f"{kind}_stiffness": 0.0 for kind in ("bending", "axial", "shear")}
    step, y = step_of("slgi", {}, UNEQUAL | free)
    body = formulated("free_rigid_body", "asymmetric", "cotangent_rotation", UNEQUAL)
    options = {"theta": 0.5, "tolerance": 1e-13, "iterations": 50, "weights": "one"}
    alone, problem = plain(method("slgi").build(options, None, 1.0)), plain(body.problem)
    new = step(y)
    for i in range(N):
        z = np.concatenate([y[3*i:3*i + 3], y[3*N + i:3*N + i + 1]])
        assert alone.step(problem, 0.0, z, H, alone.workspace(problem, z)) == Status.OK
        assert np.abs(z[:3] - new[3*i:3*i + 3]).max() <= 1e-15
        assert np.abs(z[3] - new[3*N + i]).max() == 0.0
    assert np.abs(new[4*N:5*N] - y[4*N:5*N] - H*y[5*N:]).max() <= 1e-15


@pytest.mark.parametrize(("theta", "order"), [(0.5, 2.0), (0.0, 1.0)])
def test_order_of_the_sweeps(theta, order):
    """Against 40 small steps of a map of order 4, the error of one step."""
    step, y = step_of("slgi", {"theta": theta}, UNEQUAL)
    small, _ = step_of("lgvi weights=y4", {}, UNEQUAL)
    errors = []
    for h in (0.01, 0.005):
        z = y
        for _ in range(20):
            z = small(z, h/20)
        errors.append(np.abs(step(y, h) - z).max())
    assert np.log2(errors[0]/errors[1]) == pytest.approx(order + 1.0, abs=0.15)
