"""Constrained formulations: every Jacobian against differences, and the properties of their discrete derivatives, at
random states off the manifold, in plain Python."""
import numpy as np
import pytest
from constrained_cases import plain_problem, slope
from livens_systems import systems

_loaded = systems("jointed_bars", "mass_spring", "spring_pendulum")
CASES = {
    "body": ("free_rigid_body", "livens2025", {}),
    "augmented": ("free_rigid_body", "livens2025", {"mass_matrix": "augmented"}),
    "top": ("heavy_top", "asymmetric", {}),
    "mass_spring": ("mass_spring", "printed", {}),
    "spherical": ("spring_pendulum", "spatial", {}),
    "drag": ("spring_pendulum", "drag", {}),
    "directors": ("heavy_top", "asymmetric", {"coordinates": "directors"}),
    "loop": ("rigid_loop", "livens2025", {}),
    "loop_directors": ("rigid_loop", "livens2025", {"coordinates": "directors"}),
    "chain": ("rigid_chain", "four_bars", {}),
    "spheres": ("sphere_nbody", "four_bodies", {}),
    "cartesian": ("spring_pendulum", "drag", {"coordinates": "cartesian"}),
}
EACH = pytest.mark.parametrize("case", CASES)
RULES = (0, 1, 2, 3)
H, T = 0.05, 0.3
NO_HESSIAN = ("spheres",)  # the derivative of their forces is left out


def states(case):
    """(component, q0, v0, q1, v1) moved at random."""
    system, preset, options = CASES[case]
    problem, found = plain_problem(system, preset, **options)
    random, n = np.random.default_rng(3), problem.size()
    q0 = found.start[0] + 0.1*random.normal(size=n)
    q1 = q0 + 0.2*random.normal(size=n)
    v0, v1 = (found.start[1] + random.normal(size=n) for _ in range(2))
    return problem, q0, v0, q1, v1, found


def summed(call, *sizes):
    """r and a that a method adds to, from zero."""
    r, a = np.zeros(sizes[0]), np.zeros((sizes[0], sizes[-1]))
    call(r, a)
    return r, a


def energy(problem, found, q, v):
    """T + V of q and v."""
    rows, p, names = found.start.copy(), np.zeros(len(q)), [item.name for item in found.observables]
    problem.momentum(0, q, v, q, v, p)
    rows[0], rows[1], rows[2] = q, v, 0.5*p
    out = np.zeros(found.width)
    problem.observe(rows, out)
    wanted = "total_energy" if "total_energy" in names else "energy"
    return out[found.observables[names.index(wanted)].columns][0]


@EACH
@pytest.mark.parametrize("rule", RULES)
def test_slopes_of_the_kinetic_part(case, rule):
    problem, q0, v0, q1, v1, _ = states(case)
    n = problem.size()

    def residual(end, velocity, alpha=0.0, beta=0.0):
        return summed(lambda r, a: problem.kinetic(rule, H, q0, v0, end, velocity, alpha, beta, r, a), n)

    by_q, by_v = slope(lambda x: residual(x, v1)[0], q1), slope(lambda x: residual(q1, x)[0], v1)
    scale = np.abs(by_v).max()
    for alpha, beta in ((1.0, 0.0), (0.0, 1.0), (1.0, 2.0/H)):
        assert np.abs(residual(q1, v1, alpha, beta)[1] - alpha*by_q - beta*by_v).max() <= 1e-9*scale*(1.0 + beta)


@EACH
@pytest.mark.parametrize("rule", RULES)
def test_slopes_of_forces_and_constraints(case, rule):
    problem, q0, _, q1, _, _ = states(case)
    n, m = problem.size(), problem.bonds()

    def forces(end):
        return summed(lambda r, a: problem.forces(rule, T, H, q0, end, r, a), n)

    def written(method, *shape):
        def call(x):
            out = np.full(shape, np.nan)
            method(x, out)
            return out
        return call

    bends = slope(lambda x: forces(x)[0], q1)
    if case not in NO_HESSIAN:
        assert np.abs(forces(q1)[1] - bends).max() <= 1e-9*max(1.0, np.abs(bends).max())
    constraints, slopes = written(problem.constraints, m), written(problem.slopes, m, n)
    if m:
        assert np.abs(slopes(q1) - slope(constraints, q1)).max() <= 1e-10
        weights, bend = np.random.default_rng(5).normal(size=m), np.zeros((n, n))
        problem.bend(0.7, weights, bend)
        assert np.abs(bend - 0.7*slope(lambda x: slopes(x).T @ weights, q1)).max() <= 1e-10
        quadratic = constraints(q1) - constraints(q0) - slopes(0.5*(q0 + q1)) @ (q1 - q0)
        assert np.abs(quadratic).max() <= 1e-14


@EACH
@pytest.mark.parametrize("rule", RULES[1:])
def test_discrete_derivatives_give_back_differences(case, rule):
    """dT.(q1 - q0) + pbar.(v1 - v0) = T_1 - T_0 and DV.(q1 - q0) = V_1 - V_0 less the work; mean values to their
    quadrature. The midpoint rule does not."""
    problem, q0, v0, q1, v1, found = states(case)
    n, d = problem.size(), q1 - q0

    def kinetic(which, h):
        return summed(lambda r, a: problem.kinetic(which, h, q0, v0, q1, v1, 0.0, 0.0, r, a), n)[0]

    def potential(q):
        return energy(problem, found, q, np.zeros(n))

    def gap(which):
        twice = kinetic(which, 0.0)
        change = (twice - kinetic(which, H)) @ d/H + 0.5*twice @ (v1 - v0)
        motion = [energy(problem, found, q, v) - potential(q) for q, v in ((q0, v0), (q1, v1))]
        force = summed(lambda r, a: problem.forces(which, T, H, q0, q1, r, a), n)[0] @ d/H
        rise = potential(q1) - potential(q0) - problem.work(T, H, q0, q1)
        return abs(change - motion[1] + motion[0]), abs(force - rise), max(map(abs, motion))

    moving, lifting, size = gap(rule)
    rough = rule == 3 and case in ("spherical", "drag", "spheres")
    assert moving <= (1e-6 if rough else 1e-13)*size
    assert lifting <= (1e-5 if rough else 1e-12)*max(size, 1.0)
    out = np.zeros(n)
    problem.momentum(rule, q0, v0, q1, v1, out)
    assert np.abs(out - kinetic(rule, 0.0)).max() <= 1e-13*np.abs(out).max()
    if case in ("body", "top", "spherical"):
        assert gap(0)[0] >= 1e-4*size


@pytest.mark.parametrize("kind", [0, 1, 2, 3])
@pytest.mark.parametrize("case", ["top", "chain"])
def test_slopes_of_the_hamiltonian_flow(case, kind):
    problem, q0, p0, q1, p1, _ = states(case)
    n, x = problem.size(), np.concatenate([q1, p1])

    def flow(z):
        return summed(lambda r, a: problem.flow(kind, 0.7, H, q0, p0, z[:n], z[n:], r, a), 2*n)

    bends = slope(lambda z: flow(z)[0], x)
    assert np.abs(flow(x)[1] - bends).max() <= 1e-9*np.abs(bends).max()
