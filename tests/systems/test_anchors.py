"""Anchors: accelerations from formulations derived independently of the package.

Each system is written once more as points, rods and fields in space: kinetic energy of the velocities of its
parts, potential of their places. Mass matrix and gradient come out by polarisation and complex steps, the motion
by Lagrange multipliers, M d^2q/dt^2 = -G + lambda_i q_i with |q_i| = 1. The double pendulum is also done in
spherical angles with sympy.
"""
import numpy as np
import pytest
import sympy as sp
from system_cases import Case

from liestep.mechanics.formulations import formulate

TOLERANCE = 1e-10  # relative to the largest acceleration


def norm(x):
    return np.sqrt(np.sum(x*x, axis=-1))


def pairs(x):
    """Differences x_i - x_j and numbers of all pairs i < j."""
    i, j = np.triu_indices(len(x), 1)
    return x[i] - x[j], i, j


def chain(p, q, v):
    """Point masses at the joints."""
    places, velocities = (np.cumsum(p["length"][:, None]*u, axis=0) for u in (q, v))
    kinetic = 0.5*np.sum(p["mass"][:, None]*velocities*velocities)
    return kinetic, -np.sum(p["mass"]*(places @ p["gravity"]))


def bodies(p, q, v):
    """cot of the angle between two bodies as cos/sin, the sine from the cross product: homogeneous in q, so that G
    differs from the package's by a radial part, which must not matter."""
    _, i, j = pairs(q)
    cotangent = np.sum(q[i]*q[j], axis=1)/norm(np.cross(q[i], q[j]))
    return 0.5*np.sum(p["mass"][:, None]*v*v), -p["gamma"]*np.sum(cotangent)


def springs(p, q, v):
    """Point masses at the link ends, spring ends at the link centres."""
    ends, centres = (p["pivots"] + s*p["length"][:, None]*q for s in (1.0, 0.5))
    velocities = p["length"][:, None]*v
    potential = -np.sum(p["mass"]*((ends - p["pivots"]) @ p["gravity"]))
    for k, (i, j) in zip(p["stiffness"], p["pairs"], strict=True):
        stretch = norm(centres[j] - centres[i]) - norm(p["pivots"][j] - p["pivots"][i])
        potential = potential + 0.5*k*stretch**2
    return 0.5*np.sum(p["mass"][:, None]*velocities*velocities), potential


def rod(p, q, v):
    """Uniform rods: centre of mass and rotation about it; or the kinetic energy with the coefficients of eq. (36)."""
    n = p["elements"]
    mass, length = p["mass"]/(n + 1), p["length"]/(n + 1)
    ends, tips = (np.cumsum(length*u, axis=0) for u in (q, v))
    centres, velocities = ends - 0.5*length*q, tips - 0.5*length*v
    if p["inertia"] == "consistent":
        kinetic = 0.5*mass*np.sum(velocities*velocities) + 0.5*mass*length**2/12.0*np.sum(v*v)
    else:
        scale, kinetic = p["mass"]*p["length"]**2/(n + 1)**3, 0.0
        for row in range(1, n + 1):
            kinetic = kinetic + 0.5*scale*(n - row + 1.0/3.0)*np.sum(v[row - 1]*v[row - 1])
            for column in range(row + 1, n + 1):
                kinetic = kinetic + scale*(n - column + 1)/2.0*np.sum(v[row - 1]*v[column - 1])
    directions = np.concatenate([p["clamp"][None, :], q])
    bends = 1.0 - np.sum(directions[1:]*directions[:-1], axis=1)
    return kinetic, -mass*np.sum(centres @ p["gravity"]) + 0.5*p["stiffness"]*np.sum(bends*bends)


def dipoles(p, q, v):
    """Energy of dipole j in the field of dipole i, B = mu/(4 pi) (3 u (m.u) - m)/r^3, once for each
    pair; thin rods as magnets."""
    kinetic = 0.5*p["mass"]*p["length"]**2/12.0*np.sum(v*v)
    moments = p["moment"]*q
    r, i, j = pairs(p["positions"])
    u = r/norm(r)[:, None]
    along = np.sum(moments[i]*u, axis=1)[:, None]
    field = p["permeability"]/(4.0*np.pi)*(3.0*u*along - moments[i])/norm(r)[:, None]**3
    return kinetic, -np.sum(moments[j]*field)


def molecules(p, q, v):
    d, _, _ = pairs(q)
    x = p["sigma"]/norm(d)
    return 0.5*np.sum(p["mass"][:, None]*v*v), 4.0*p["epsilon"]*np.sum(x**12 - x**6)


ANCHORS = [
    ("spherical_pendulum_chain", "paper", {}, chain),
    ("spherical_pendulum_chain", "chain5",
     {"mass": [1.0, 0.5, 2.0, 0.1, 3.0], "length": [0.5, 1.0, 2.0, 0.3, 1.1], "gravity": [1.0, -2.0, 9.0]}, chain),
    ("sphere_nbody", "paper", {"mass": [1.0, 2.0, 0.5]}, bodies),
    ("sphere_nbody", "four_bodies", {}, bodies),
    ("spring_pendula", "paper", {}, springs),
    ("spring_pendula", "paper",
     {"mass": [0.1, 0.2, 0.3, 0.4], "length": [0.1, 0.12, 0.09, 0.15], "gravity": [1.0, 2.0, -3.0]}, springs),
    ("spring_pendula", "column", {}, springs),
    ("elastic_rod", "paper", {}, rod),
    ("elastic_rod", "paper_consistent", {}, rod),
    ("elastic_rod", "clamp_vertical", {"elements": 3, "gravity": [1.0, 2.0, 3.0], "stiffness": 0.1}, rod),
    ("dipole_array", "paper", {}, dipoles),
    ("dipole_array", "paper_xz", {}, dipoles),
    ("lennard_jones_sphere", "level1", {"mass": [1.0 + 0.1*k for k in range(42)]}, molecules),
]


def mass_and_gradient(energies, parameters, q):
    """M_ij by polarisation of the kinetic energy, G by complex steps of the potential."""
    n = len(q)

    def kinetic(*directions):
        v = np.zeros((n, 3))
        for i in directions:
            v[i, 0] += 1.0
        return energies(parameters, q, v)[0]

    single = [kinetic(i) for i in range(n)]
    matrix = np.array([[kinetic(i, j) - single[i] - single[j] for j in range(n)] for i in range(n)])
    gradient = np.zeros((n, 3))
    for i, k in np.ndindex(n, 3):
        shifted = q.astype(complex)
        shifted[i, k] += 1e-30j
        gradient[i, k] = np.imag(energies(parameters, shifted, np.zeros((n, 3)))[1])/1e-30
    return matrix, gradient


def multiplier_acceleration(matrix, gradient, q, v):
    """d^2q/dt^2 = M^-1 (-G + lambda_i q_i), q_i.d^2q_i/dt^2 = -|v_i|^2."""
    inverse = np.linalg.inv(matrix)
    free = -inverse @ gradient
    multipliers = np.linalg.solve(inverse*(q @ q.T), -np.sum(v*v, axis=1) - np.sum(q*free, axis=1))
    return free + inverse @ (multipliers[:, None]*q)


def omega_form_acceleration(case, q, w):
    """Velocity and acceleration of q from the package's vector field for (q, omega)."""
    n = len(q)
    out = np.zeros((2*n, 3))
    assert formulate(case.sheet, case.parameters, case.start, "vector_field",
                     {}).problem.rhs(0.0, np.concatenate([q, w]), out)
    v, dw = out[:n], out[n:]
    assert np.abs(np.sum(q*dw, axis=1)).max() <= TOLERANCE*np.abs(dw).max()
    return v, np.cross(dw, q) + np.cross(w, v)


def random_state(case, seed):
    q = case.random_q(seed)
    w = np.cross(q, np.random.default_rng(seed + 50).normal(size=q.shape))
    return q, w


@pytest.mark.parametrize(("name", "preset", "changes", "energies"), ANCHORS)
def test_multiplier_form(name, preset, changes, energies):
    case = Case(name, preset, **changes)
    for seed in range(3):
        q, w = random_state(case, seed)
        v, acceleration = omega_form_acceleration(case, q, w)
        matrix, gradient = mass_and_gradient(energies, case.parameters, q)
        expected = multiplier_acceleration(matrix, gradient, q, v)
        assert np.abs(v - np.cross(w, q)).max() <= 1e-15*np.abs(w).max()
        assert np.abs(acceleration - expected).max() <= TOLERANCE*np.abs(expected).max()


@pytest.mark.parametrize(("name", "preset", "changes", "energies"), ANCHORS)
def test_total_energy(name, preset, changes, energies):
    case = Case(name, preset, **changes)
    problem = formulate(case.sheet, case.parameters, case.start, "sphere_lagrangian", {}).problem
    out = np.zeros(7)
    for seed in range(3):
        q, w = random_state(case, seed)
        problem.observe(np.concatenate([q, w]), out)
        kinetic, potential = energies(case.parameters, q, np.cross(w, q))
        assert abs(out[0] - kinetic - potential) <= 1e-12*(kinetic + abs(potential))


def double_pendulum_in_angles():
    """Function (angles, rates, l1, l2, m1, m2, g) -> second derivatives of the four spherical angles,
    by Lagrange's equations."""
    t = sp.Symbol("t")
    l1, l2, m1, m2, g = sp.symbols("l1 l2 m1 m2 g")
    angles = [sp.Function(f"a{k}")(t) for k in range(4)]
    x = []
    for k in (0, 2):
        polar, azimuth = angles[k:k + 2]
        x.append(sp.Matrix([sp.sin(polar)*sp.cos(azimuth), sp.sin(polar)*sp.sin(azimuth), sp.cos(polar)]))
    first, second = l1*x[0], l1*x[0] + l2*x[1]
    kinetic = m1*first.diff(t).dot(first.diff(t))/2 + m2*second.diff(t).dot(second.diff(t))/2
    lagrangian = kinetic + m1*g*first[2] + m2*g*second[2]
    rates, accelerations = [a.diff(t) for a in angles], [a.diff(t, 2) for a in angles]
    equations = [lagrangian.diff(r).diff(t) - lagrangian.diff(a) for a, r in zip(angles, rates, strict=True)]
    plain = sp.symbols("q0:4 r0:4 s0:4")
    values = dict(zip(accelerations + rates + angles, plain[8:] + plain[4:8] + plain[:4], strict=True))
    equations = [e.subs(values) for e in equations]
    matrix, rest = sp.linear_eq_to_matrix(equations, plain[8:])
    numbers = sp.lambdify((*plain[:8], l1, l2, m1, m2, g), (matrix, rest), "numpy", cse=True)

    def second_derivatives(a, r, *constants):
        matrix, rest = numbers(*a, *r, *constants)
        return np.linalg.solve(matrix, rest[:, 0])

    return second_derivatives


def test_double_pendulum_in_local_coordinates():
    solve = double_pendulum_in_angles()
    mass, length, g = [1.0, 0.7], [0.8, 1.3], 9.81
    case = Case("spherical_pendulum_chain", "paper", mass=mass, length=length, gravity=[0.0, 0.0, g])
    rng = np.random.default_rng(1)
    for _ in range(5):
        a, r = rng.uniform(0.3, 2.8, size=4), rng.normal(size=4)
        s = solve(a, r, *length, *mass, g)
        q, v, expected = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
        for i in range(2):
            (polar, azimuth), (dp, da), (ddp, dda) = (u[2*i:2*i + 2] for u in (a, r, s))
            radial = np.array([np.sin(polar)*np.cos(azimuth), np.sin(polar)*np.sin(azimuth), np.cos(polar)])
            along = np.array([np.cos(polar)*np.cos(azimuth), np.cos(polar)*np.sin(azimuth), -np.sin(polar)])
            around = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
            q[i], v[i] = radial, dp*along + da*np.sin(polar)*around
            expected[i] = (-(dp**2 + da**2*np.sin(polar)**2)*radial + (ddp - da**2*np.sin(polar)*np.cos(polar))*along
                           + (dda*np.sin(polar) + 2.0*dp*da*np.cos(polar))*around)
        _, acceleration = omega_form_acceleration(case, q, np.cross(q, v))
        assert np.abs(acceleration - expected).max() <= TOLERANCE*np.abs(expected).max()
