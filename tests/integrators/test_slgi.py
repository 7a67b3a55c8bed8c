"""Symplectic Lie group integrators on rigid bodies: the paper's equations, symplecticity, adjoint pairs,
invariants, orders, limits."""
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rigid_cases import Map, derivative, formulated, random_rows, theta_step, turned
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import liestep
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.so3 import coefficients, dexp_coefficients, dexp_slope, quadratic
from liestep.simulation.catalogue import sheet
from liestep.simulation.runs.execution import build, run_once
from liestep.simulation.runs.specification import specify
from liestep.study.tables.order import observed_order, order_verdict

PRINTED, GENERIC = ("heavy_top", "printed"), ("heavy_top", "asymmetric")
FREE = ("free_rigid_body", "asymmetric")
THETAS = (0.0, 0.2, 0.5, 1.0)
EACH_THETA = pytest.mark.parametrize("theta", THETAS)


def flow(problem, theta, formulation="cotangent_rotation"):
    return Map(formulated(*problem, formulation), theta_step(theta))


def hat(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def tangent(a):
    """Matrix of dexp_a: the upper right block of exp [[hat a, 1], [0, 0]]."""
    block = np.zeros((6, 6))
    block[:3, :3], block[:3, 3:] = hat(a), np.eye(3)
    return expm(block)[:3, 3:]


@pytest.mark.parametrize("size", [1e-9, 1e-3, 9.9e-3, 1.01e-2, 0.3, 0.6, 2.0, 6.0])
def test_slope_of_dexp_is_its_derivative(size):
    rng = np.random.default_rng(4)
    a, u, v = size*rng.normal(size=3)/2.0, rng.normal(size=3), rng.normal(size=3)
    difference = derivative(lambda s: np.array(quadratic(
        *coefficients(float((a + s*u) @ (a + s*u)))[1:], tuple(a + s*u), tuple(v))))
    slope = dexp_slope(dexp_coefficients(a @ a), tuple(a), tuple(v), tuple(u))
    assert np.abs(np.array(slope) - difference).max() <= 2e-13


@EACH_THETA
@pytest.mark.parametrize("problem", [PRINTED, GENERIC], ids=lambda item: item[1])
def test_a_step_solves_the_equations_of_the_paper(problem, theta):
    """liegroup2021 eqs. (15)-(17) as printed, with n and M, by matrix exponentials."""
    parameters = sheet(problem[0]).check(sheet(problem[0]).presets[problem[1]].parameters)
    lever = parameters["mass"]*parameters["length"]*parameters["axis"]
    for seed, h in ((1, 0.01), (2, -0.02), (3, 0.03)):
        y = random_rows(seed)
        q0, p0 = y[:3].T, y[3]
        new = flow(problem, theta)(y, h)
        q1, p1 = new[:3].T, new[3]
        xi = Rotation.from_matrix(q1 @ q0.T).as_rotvec()
        mid = expm(theta*hat(xi)) @ q0
        torque = np.cross(mid @ lever, parameters["gravity"])
        n = expm(-(1.0 - theta)*hat(xi)) @ (p1 - expm(hat(xi)) @ p0)
        back = expm(-theta*hat(xi)) @ n
        m = tangent(xi) @ (p0 + back) - theta*tangent(theta*xi) @ back
        omega = mid @ ((mid.T @ m)/parameters["inertia"])
        scale = 1.0 + np.linalg.norm(p0)
        assert np.linalg.norm(xi - h*omega) <= 1e-13*scale
        assert np.linalg.norm(n - (h*torque - np.cross(xi, m))) <= 1e-13*scale


def form(momentum, one, two):
    """The symplectic form of T*SO(3) on (u, dpi), right trivialised, pi spatial."""
    (u, a), (v, b) = (one[:3], one[3:]), (two[:3], two[3:])
    return b @ u - a @ v - momentum @ np.cross(u, v)


def tangent_map(step, y, h, size=3e-3):
    """Right-trivialised derivative (6, 6) of a step at y."""
    new = step(y, h)

    def moved(direction, s):
        other = step(np.concatenate([turned(y, s*direction[:3])[:3], y[3:4] + s*direction[3:]]), h)
        return np.concatenate([Rotation.from_matrix((new[:3].T @ other[:3]).T).as_rotvec(), other[3] - new[3]])

    return new, np.array([derivative(lambda s, d=direction: moved(d, s), size) for direction in np.eye(6)]).T


def symplectic_defect(step, y, h):
    new, jacobian = tangent_map(step, y, h)
    return max(abs(form(new[3], jacobian[:, i], jacobian[:, j]) - form(y[3], *np.eye(6)[[i, j]])) for i in range(6)
               for j in range(i))


@EACH_THETA
@pytest.mark.parametrize("problem", [GENERIC, FREE], ids=lambda item: item[0])
def test_symplectic(problem, theta):
    assert symplectic_defect(flow(problem, theta), random_rows(5), 0.1) <= 1e-10


def test_explicit_methods_are_not_symplectic():
    case, component = build(specify(GENERIC[0], "rkmk", preset=GENERIC[1], steps=1))
    assert symplectic_defect(Map(case, component), random_rows(5), 0.1) >= 1e-6


@EACH_THETA
@pytest.mark.parametrize("problem", [PRINTED, GENERIC], ids=lambda item: item[1])
def test_the_step_back_with_the_other_theta_returns(problem, theta):
    y, h = random_rows(6), 0.02
    there = flow(problem, theta)(y, h)
    assert np.abs(flow(problem, 1.0 - theta)(there, -h) - y).max() <= 4e-15*(1.0 + np.abs(y).max())


@pytest.mark.parametrize("theta", [0.0, 0.2, 1.0])
def test_only_theta_one_half_is_symmetric(theta):
    y, h = random_rows(6), 0.05
    assert np.abs(flow(GENERIC, theta)(flow(GENERIC, theta)(y, h), -h) - y).max() >= 1e-4


@pytest.mark.parametrize(("theta", "energy"), [(0.5, 9.22e-3), (0.0, 22.0), (1.0, 22.0)])
def test_long_run_of_the_printed_top(theta, energy):
    """6000 steps of 0.01, 1.5 rad each."""
    case = formulated(*PRINTED, "cotangent_rotation")
    step = Map(case, theta_step(theta))
    step(case.start, 0.01, 6000)
    assert step.largest["energy"][0] == pytest.approx(energy, rel=5e-3)
    assert step.largest["momentum_map"][2] == 0.0
    assert step.largest["axial_momentum"][0] <= 1e-11
    assert step.largest["orthogonality_error"][0] <= 5e-14


def test_axial_momentum_of_an_asymmetric_top_is_not_kept():
    case = formulated(*GENERIC, "cotangent_rotation")
    step = Map(case, theta_step(0.5))
    step(case.start, 0.01, 200)
    assert step.largest["momentum_map"][2] == 0.0
    assert step.largest["axial_momentum"][0] >= 1.0


def test_quadratic_hamiltonian_gives_the_same_motion():
    """On SO(3) x R^3 the extra position only follows: it is summed from the attitudes in the middle of the steps."""
    one, other = formulated(*PRINTED, "cotangent_rotation"), formulated(*PRINTED, "quadratic_rotation")
    a, b = one.start, other.start
    total = np.zeros(3)
    for _ in range(200):
        y = Map(one, theta_step(0.5))(a, 0.001)
        xi = Rotation.from_matrix(y[:3].T @ a[:3]).as_rotvec()
        mid = Rotation.from_rotvec(0.5*xi).as_matrix() @ a[:3].T
        total += 0.001*(mid.T @ [0.0, 0.0, 9.81] - [0.0, 30.0, 0.0])
        a, b = y, Map(other, theta_step(0.5))(b, 0.001)
    assert np.abs(a - b[:4]).max() <= 3e-13
    assert np.array_equal(b[5], [0.0, -30.0, 0.0])
    assert np.abs(b[4] - total).max() <= 1e-13
    assert other.to_fields(b[None])["auxiliary"].shape == (1, 3)


@pytest.mark.parametrize("problem", [FREE, ("free_rigid_body", "turning_over")], ids=lambda item: item[1])
def test_without_torque_theta_does_not_matter(problem):
    case = formulated(*problem, "cotangent_rotation")
    ends = [Map(case, theta_step(theta))(case.start, 0.2, 50) for theta in THETAS]
    assert max(np.abs(end - ends[0]).max() for end in ends) <= 2e-13
    assert all(np.array_equal(end[3], case.start[3]) for end in ends)


@cache
def true_states(problem, samples, t_end):
    return run_once(specify(problem[0], "rkmk tableau=dormand_prince5", preset=problem[1], steps=20_000,
                            samples=samples, t_end=t_end)).outputs.states


def observed(problem, counts, t_end=2.0, **options):
    """Observed order from the largest error of the attitude and of the scaled momentum at 11 times."""
    true = true_states(problem, 11, t_end)
    errors = []
    for steps in counts:
        rows = run_once(specify(problem[0], "slgi", preset=problem[1], steps=steps, samples=11, t_end=t_end,
                                options=options)).outputs.states
        gap = rows - true
        errors.append(max(np.abs(gap[:, :3]).max(), np.abs(gap[:, 3]).max()/np.abs(true[:, 3]).max()))
    theory = 2 if options["theta"] == 0.5 or problem[0] == "free_rigid_body" else 1
    found = observed_order([t_end/steps for steps in counts], errors, floor=1e-12, theory=theory, symmetric=theory == 2)
    return order_verdict(found, theory)


@EACH_THETA
@pytest.mark.parametrize("problem", [GENERIC, ("heavy_top", "slow_symmetric"), FREE], ids=lambda item: item[1])
def test_observed_order(problem, theta):
    counts = [100*2**k for k in range(6 if theta == 0.5 else 9)]
    passed, sentence = observed(problem, counts, theta=theta)
    assert passed, sentence


@pytest.mark.parametrize("theta", [0.0, 0.5, 1.0])
def test_observed_order_on_the_fast_top(theta):
    """150 rad/s: asymptotic below h = 5e-4 only."""
    passed, sentence = observed(PRINTED, [1000*2**k for k in range(6)]
                                if theta == 0.5 else [4000*2**k for k in range(7)], t_end=1.0, theta=theta)
    assert passed, sentence


@pytest.mark.parametrize(("angle", "status"), [(6.2, Status.OK), (6.3, Status.CHART_LIMIT)])
def test_a_step_may_turn_by_less_than_two_pi(angle, status):
    case = formulated("free_rigid_body", "symmetric", "cotangent_rotation", {"inertia": [1.0, 1.0, 1.0]})
    step = Map(case, theta_step(0.5))
    step(case.start, angle, expected=status)


def test_a_step_without_solution_says_so():
    """The printed top spins with 150 rad/s: 5.25 rad a step."""
    case = formulated(*PRINTED, "cotangent_rotation")
    Map(case, theta_step(0.5))(case.start, 0.035, 200, expected=Status.NOT_CONVERGED)


def test_few_iterations_and_what_is_counted():
    case = formulated(*PRINTED, "cotangent_rotation")
    found = run_once(specify(PRINTED[0], "slgi", preset=PRINTED[1], step=0.001, t_end=0.1)).counters
    assert found["iterations"] == found["linear_solves"] <= 4*100
    assert found["force_evaluations"] == found["iterations"] + 100
    assert found["exponentials"] == found["iterations"] + 200
    Map(case, theta_step(0.5)._replace(iterations=1))(case.start, 0.01, expected=Status.NOT_CONVERGED)


@pytest.mark.parametrize("theta", [-0.1, 1.1, "half", True, float("nan")])
def test_theta_lies_between_0_and_1(theta):
    with pytest.raises(InputError, match="theta must be a number from 0 to 1"):
        specify("heavy_top", "slgi", steps=10, options={"theta": theta})


def fingerprint():
    """Bits of a few steps of both integrators."""
    ends = [Map(case := formulated(*PRINTED, formulation), theta_step(0.3))(case.start, 0.01, 5)
            for formulation in ("cotangent_rotation", "quadratic_rotation")]
    return "".join(end.tobytes().hex() for end in ends)


def test_plain_python_gives_the_same_bits():
    paths = os.pathsep.join((str(Path(liestep.__file__).parents[1]), str(Path(__file__).parents[1]),
                             str(Path(__file__).parent)))
    found = subprocess.run([sys.executable, "-c", "import test_slgi; print(test_slgi.fingerprint())"],
                           capture_output=True, text=True, check=True,
                           env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths})
    assert found.stdout.split()[-1] == fingerprint()
