"""L1: kernels of SO(3) and SE(3) against 50-digit power series over 16 decades of angle, and
the axioms of the groups."""
import json
import math
import os
import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from liestep.compile.rows import add, cross, dot, scale
from liestep.geometry import se3, so3
from liestep.geometry.attitude import towards_rotation

EPS = np.finfo(float).eps
ANGLES = [10.0**-k for k in range(15, 0, -1)] + [
    0.499, 0.5, 0.501, 0.707, 0.708, 1.0, 2.0, 3.0, math.pi - 1e-8, math.pi, 4.0, 5.0, 6.0, 2.0*math.pi - 0.1,
    2.0*math.pi - 0.01]


def vectors(seed, count):
    """Tuples of three standard normal numbers."""
    return [tuple(map(float, row)) for row in np.random.default_rng(seed).normal(size=(count, 3))]


def with_angle(u, z):
    return scale(z/math.sqrt(dot(u, u)), u)


def dexp(a, v):
    """dexp_a v."""
    return so3.quadratic(*so3.coefficients(dot(a, a))[1:], a, v)


def moved_by(A, a, q, w):
    """exp(A, a).(q, w)."""
    s, c, r = se3.exponential(A, a)
    return se3.apply(s, c, A, r, q, w)


def hat(u):
    """Matrix of v -> u x v, of any number type."""
    return [[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]]


def adjoint(A, a):
    """Matrix (6 x 6, mpmath) of the bracket with (A, a)."""
    with mp.workdps(50):
        matrix = mp.zeros(6)
        for i in range(3):
            for j in range(3):
                matrix[i, j] = matrix[3 + i, 3 + j] = mp.mpf(hat(A)[i][j])
                matrix[3 + i, j] = mp.mpf(hat(a)[i][j])
        return matrix


def series(matrix, shift):
    """sum_k matrix^k/(k + shift)! to 50 digits: exp for shift 0, dexp for shift 1."""
    term = mp.eye(matrix.rows)/math.factorial(shift)
    total, k = term.copy(), 0
    while mp.mnorm(term, 1) > mp.mpf(10)**-50:
        k += 1
        term = term*matrix/(k + shift)
        total += term
    return total


def error(value, exact):
    """|value - exact|/|exact| of two sequences, evaluated in 50 digits."""
    with mp.workdps(50):
        return float(mp.norm(mp.matrix(list(value)) - mp.matrix(list(exact)))/mp.norm(mp.matrix(list(exact))))


@pytest.mark.parametrize("z", ANGLES)
def test_kernels_against_50_digits(z):
    A, a, B, b = vectors(int(1000*z), 4)
    A = with_angle(A, z)
    with mp.workdps(50):
        ad = adjoint(A, a)
        exp, of_dexp = series(ad[:3, :3], 0), series(ad, 1)
        B_exact, b_exact = mp.matrix(B), mp.matrix(b)
        r = of_dexp[:3, :3]*mp.matrix(a)
        turned = exp*mp.matrix(B)
        moved = exp*b_exact + mp.matrix(hat(r))*turned
        tangent = of_dexp[:3, :3]*B_exact
        inverse = mp.lu_solve(of_dexp, mp.matrix([*B, *b]))
    assert error(so3.exp_apply(A, B), turned) < 1e-14
    assert error(dexp(A, B), tangent) < 1e-14
    q, w = moved_by(A, a, B, b)
    assert error(q, turned) < 1e-14
    assert error(w, moved) < 1e-14
    # dexpinv has a pole at 2 pi, of second order in the translation: rounding |A| once (2 eps) is
    # amplified by the distance to it
    limit = 1e-14 + 4.0*EPS*2.0*math.pi/(2.0*math.pi - z)
    assert error(so3.dexpinv(A, B), inverse[:3]) < limit
    C, c = se3.dexpinv(A, a, B, b)
    assert error(C, inverse[:3]) < limit
    assert error(c, inverse[3:]) < limit


@pytest.mark.parametrize("z", [1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.49999])
def test_coefficients_of_the_series_against_50_digits(z):
    """In the vectors of the other tests an error of d or of the slope is damped by z^2: here it is not."""
    with mp.workdps(100):
        z2 = mp.mpf(z*z)
        x = mp.sqrt(z2)
        cotangent, ratio = x/2*mp.cot(x/2), x/2/mp.sin(x/2)
        exact = (mp.sin(x)/x, (1 - mp.cos(x))/z2, (x - mp.sin(x))/x**3, (1 - cotangent)/z2,
                 (ratio**2 + cotangent - 2)/z2**2)
        for value, reference in zip((*so3.coefficients(z*z), *so3.dexpinv_coefficients(z*z)), exact, strict=True):
            assert abs(value/reference - 1) < 2*EPS


def test_tiny_and_zero_rotations():
    A, v = vectors(1, 2)
    for z in (0.0, 1e-320, 1e-200, 1e-30):
        tiny = scale(z, A)
        for kernel in (so3.exp_apply, dexp, so3.dexpinv):
            assert error(kernel(tiny, v), v) <= EPS


def test_large_angles_turn_by_the_remainder():
    axis, v = vectors(2, 2)
    for turns in (1, 2, 10):
        a, b = with_angle(axis, 2.0*math.pi*turns + 0.3), with_angle(axis, 0.3)
        assert error(so3.exp_apply(a, v), so3.exp_apply(b, v)) < 4.0*EPS*2.0*math.pi*turns


def test_chart_ends_at_two_pi():
    for axis in vectors(3, 5):
        assert so3.in_chart(with_angle(axis, 2.0*math.pi - 1e-12))
        assert not so3.in_chart(with_angle(axis, 2.0*math.pi + 1e-12))
    assert so3.in_chart((0.0, 0.0, 0.0))
    assert not so3.in_chart((0.0, math.nan, 0.0))
    assert not so3.in_chart((math.inf, 0.0, 0.0))


def test_input_that_is_not_finite_gives_nan_and_does_not_raise():
    v = (1.0, 2.0, 3.0)
    for bad in (math.inf, -math.inf, math.nan):
        a = (bad, 0.0, 0.0)
        for kernel in (so3.exp_apply, dexp, so3.dexpinv):
            assert math.isnan(sum(kernel(a, v)))


def test_se3_action_is_the_exponential_of_its_4_by_4_matrix():
    for A, a, q, w in zip(*(vectors(seed, 10) for seed in (4, 5, 6, 7)), strict=True):
        motion = expm(np.block([[np.array(hat(A)), np.array(a)[:, None]], [np.zeros((1, 4))]]))
        turned = motion[:3, :3] @ q
        new_q, new_w = moved_by(A, a, q, w)
        assert np.allclose(new_q, turned, rtol=0, atol=1e-14)
        assert np.allclose(new_w, motion[:3, :3] @ w + np.cross(motion[:3, 3], turned), rtol=0, atol=4e-14)


def test_se3_bracket_is_the_commutator_of_4_by_4_matrices():
    for A, a, B, b in zip(*(vectors(seed, 10) for seed in (4, 5, 6, 7)), strict=True):
        x, y = (np.block([[np.array(hat(u)), np.array(v)[:, None]], [np.zeros((1, 4))]]) for u, v in ((A, a), (B, b)))
        commutator = x @ y - y @ x
        C, c = se3.bracket(A, a, B, b)
        assert np.allclose(commutator[:3, :3], hat(C), rtol=0, atol=1e-14)
        assert np.allclose(commutator[:3, 3], c, rtol=0, atol=1e-14)


component = st.floats(-2.0, 2.0, allow_subnormal=False)
vector = st.tuples(component, component, component)
axioms = settings(derandomize=True, deadline=None, max_examples=100)


def close(u, v, size=1.0):
    """Equal to 1e-14 of a size that bounds the terms of both."""
    return max(abs(x - y) for x, y in zip(u, v, strict=True)) <= 1e-14*max(1.0, size)


def norm(u):
    return math.sqrt(dot(u, u))


@axioms
@given(vector, vector, vector)
def test_rotations_form_a_group(a, b, v):
    def turn(u, x):
        return so3.exp_apply(u, x)

    size = norm(v)
    assert close(turn(scale(-1.0, a), turn(a, v)), v, size)
    assert close(turn(scale(0.75, a), turn(scale(0.25, a), v)), turn(a, v), size)
    assert abs(norm(turn(a, v)) - size) <= 1e-14*max(1.0, size)
    assert close(turn(a, cross(b, v)), cross(turn(a, b), turn(a, v)), norm(b)*size)
    # conjugation: exp(a) exp(b) exp(-a) = exp(exp(a) b)
    assert close(turn(a, turn(b, turn(scale(-1.0, a), v))), turn(turn(a, b), v), size)


@axioms
@given(vector, vector)
def test_dexp_and_dexpinv(a, v):
    # |a| <= 2 sqrt(3): the condition number of dexp_a stays below 2 z/(2 sin(z/2)) ~ 4
    size = 4.0*norm(v)
    assert close(dexp(a, so3.dexpinv(a, v)), v, size)
    assert close(so3.dexpinv(a, dexp(a, v)), v, size)
    # derivative at the other side of the group element: dexp_a = exp(a) dexp_-a
    assert close(so3.exp_apply(a, dexp(scale(-1.0, a), v)), dexp(a, v), size)
    # exp(hat a) - 1 = hat a dexp_a
    assert close(add(so3.exp_apply(a, v), scale(-1.0, v)), cross(a, dexp(a, v)), size*max(1.0, norm(a)))


@axioms
@given(vector, vector, vector, vector, vector, vector)
def test_se3_bracket_is_a_lie_bracket(A, a, B, b, C, c):
    def bracket(x, y):
        return se3.bracket(*x, *y)

    def cyclic(x, y, z):
        return bracket(x, bracket(y, z))

    x, y, z = (A, a), (B, b), (C, c)
    assert bracket(x, x) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    for u, v in zip(bracket(x, y), bracket(y, x), strict=True):
        assert close(u, scale(-1.0, v), 24.0)
    for u, v, w in zip(cyclic(x, y, z), cyclic(y, z, x), cyclic(z, x, y), strict=True):
        assert close(add(u, add(v, w)), (0.0, 0.0, 0.0), 200.0)


@axioms
@given(vector, vector, vector, vector)
def test_rigid_motions_act_on_tangent_vectors_of_the_sphere(A, a, q, w):
    size = 4.0*(norm(w) + 4.0*norm(a)*norm(q))
    new_q, new_w = moved_by(A, a, q, w)
    assert abs(dot(new_q, new_q) - dot(q, q)) <= 1e-14*max(1.0, dot(q, q))
    assert abs(dot(new_q, new_w) - dot(q, w)) <= 1e-14*max(1.0, size*norm(q))
    back_q, back_w = moved_by(scale(-1.0, A), scale(-1.0, a), new_q, new_w)
    assert close(back_q, q, norm(q))
    assert close(back_w, w, size)
    part = moved_by(scale(0.25, A), scale(0.25, a), q, w)
    whole_q, whole_w = moved_by(scale(0.75, A), scale(0.75, a), *part)
    assert close(whole_q, new_q, norm(q))
    assert close(whole_w, new_w, size)


@axioms
@given(vector, vector)
def test_se3_dexpinv_leaves_its_own_element_fixed(A, a):
    C, c = se3.dexpinv(A, a, A, a)
    assert close(C, A, norm(A))
    assert close(c, a, norm(a)*(1.0 + norm(A)))


SAMPLE = """
import json
from liestep.geometry import se3, so3
from liestep.geometry.attitude import towards_rotation
A, a, B, b = (0.3, -0.7, 0.2), (1.1, 0.4, -0.9), (-0.6, 0.5, 0.8), (0.2, 1.3, -0.4)
out = []
for k in range(-12, 8):
    X = tuple(1.4**k*x for x in A)
    (s, c, r), d = se3.exponential(X, a), so3.coefficients(sum(x*x for x in X))[1:]
    for value in (so3.exp_apply(X, B), so3.quadratic(*d, X, B), so3.dexpinv(X, B), *se3.apply(s, c, X, r, B, b),
                  *se3.dexpinv(X, a, B, b)):
        out += [x.hex() for x in value]
print(json.dumps(out))
"""


def test_plain_python_gives_the_same_bits():
    outputs = [
        json.loads(subprocess.run(
            [sys.executable, "-c", SAMPLE], capture_output=True, text=True, check=True,
            env=os.environ | {"NUMBA_DISABLE_JIT": flag, "PYTHONPATH": os.pathsep.join(sys.path)}).stdout)
        for flag in ("0", "1")]
    assert len(outputs[0]) == 20*7*3
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("size", [1e-2, 1e-5])
def test_steps_towards_a_rotation_square_the_defect(size):
    """Two steps: each takes the singular values s of the matrix to s (3 - s^2)/2."""
    rng = np.random.default_rng(4)
    start = expm(np.array(hat((0.3, -1.1, 0.7)))) + size*rng.uniform(-1.0, 1.0, (3, 3))
    y = np.vstack((np.ones((1, 3)), start.T, np.ones((1, 3))))  # rows: the columns of Q, between others
    towards_rotation(y, 1)
    left, s, right = np.linalg.svd(start)
    for _ in range(2):
        s = 0.5*s*(3.0 - s*s)
    assert np.abs(y[1:4].T - left*s @ right).max() <= 8.0*EPS
    assert (y[[0, 4]] == 1.0).all()
    assert np.abs(y[1:4] @ y[1:4].T - np.eye(3)).max() <= max(100.0*size**4, 8.0*EPS)
