"""Quaternion kernels against the identities of livens2025 and 50-digit values."""
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.spatial.transform import Rotation

from liestep.geometry import quaternion as kernels

RANDOM = np.random.default_rng(7)
A, B = (tuple(RANDOM.normal(size=4)) for _ in range(2))
W, X = (tuple(RANDOM.normal(size=3)) for _ in range(2))


def matrix(function, first, count):
    """Matrix of a kernel that is linear in its second argument."""
    plain = getattr(function, "py_func", function)  # two are made while tests are collected, which compiles nothing
    return np.array([plain(first, tuple(map(float, row))) for row in np.eye(count)]).T


G, E = matrix(kernels.body_part, A, 4), matrix(kernels.space_part, A, 4)


def test_matrices_of_products():
    """livens2025 eqs. (33)-(35)."""
    left = np.column_stack([A, matrix(kernels.from_body, A, 3)])
    assert np.allclose(left @ B, kernels.multiply(A, B), atol=1e-15)
    right = np.column_stack([B, matrix(kernels.from_space, B, 3)])
    assert np.allclose(right @ A, kernels.multiply(A, B), atol=1e-15)
    assert np.allclose(kernels.plus(W) @ A, kernels.multiply((0.0, *W), A), atol=1e-15)
    assert np.allclose(kernels.minus(W) @ A, kernels.multiply(A, (0.0, *W)), atol=1e-15)
    assert np.allclose(kernels.body_matrix(A), G, atol=0)
    assert np.allclose(left.T @ B, kernels.left_transposed(A, B), atol=1e-15)
    again = np.column_stack([A, matrix(kernels.from_space, A, 3)])
    assert np.allclose(again.T @ B, kernels.right_transposed(A, B), atol=1e-15)


@pytest.mark.parametrize("half", [G, E], ids=["G", "E"])
def test_the_halves_are_orthogonal_up_to_length(half):
    """livens2025 eq. (135)."""
    square = np.dot(A, A)
    assert np.abs(half @ A).max() <= 1e-15
    assert np.allclose(half @ half.T, square*np.eye(3), atol=2e-15)
    assert np.allclose(half.T @ half, square*np.eye(4) - np.outer(A, A), atol=2e-15)


def test_halves_are_skew_and_transposed():
    for part, back in ((kernels.body_part, kernels.from_body), (kernels.space_part, kernels.from_space)):
        assert np.allclose(part(A, B), -np.array(part(B, A)), atol=1e-15)
        assert np.dot(part(A, B), W) == pytest.approx(np.dot(B, back(A, W)), abs=1e-14)


def test_rotation_is_quadratic_and_agrees_with_scipy():
    """livens2025 eqs. (50)-(51), (137)."""
    unit = np.array(A)/np.linalg.norm(A)
    expected = Rotation.from_quat(np.roll(unit, -1)).as_matrix()
    assert np.allclose(np.column_stack(kernels.columns(tuple(unit))), expected, atol=4e-16)
    assert np.allclose(kernels.matrices(unit), expected, atol=4e-16)
    assert np.allclose(E @ G.T, np.dot(A, A)*expected, atol=2e-15)
    assert np.allclose(kernels.spin_quadratic(A, X), np.dot(A, A)*(expected @ X), atol=2e-15)
    value = np.dot(A, kernels.minus(X).T @ kernels.plus(W) @ np.array(A))
    assert np.dot(W, kernels.spin_quadratic(A, X)) == pytest.approx(value, abs=1e-14)


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("size", [0.0, 1e-12, 0.3])
def test_quaternion_of_a_matrix_from_its_largest_square(axis, size):
    """Each part the largest one in turn, also for half turns, where the trace cancels."""
    q = np.roll([1.0, size, -0.5*size, 0.3*size], axis)
    q /= np.linalg.norm(q)
    found = kernels.of_matrix(Rotation.from_quat(np.roll(q, -1)).as_matrix())
    assert found[0] >= 0.0
    assert min(np.abs(found - q).max(), np.abs(found + q).max()) <= 3e-16


@pytest.mark.parametrize("angle", [1e-12, 1e-8, 1e-4, 0.3, 0.99, 1.01, 2.0, 3.1415, 6.0])
def test_exponential_and_its_slope_to_round_off(angle):
    with mp.workdps(50):
        a = [mpf(x)*mpf(angle)/mp.sqrt(sum(mpf(y)**2 for y in W)) for x in W]
        u = [mpf(x) for x in X]

        def exact(e):
            z = [x + e*y for x, y in zip(a, u, strict=True)]
            size = mp.sqrt(sum(x*x for x in z))
            return [-2*mp.sin(size/4)**2, *(mp.sin(size/2)/size*x for x in z)]

        step = mpf(10)**-15
        slope = [(p - m)/(2*step) for p, m in zip(exact(step), exact(-step), strict=True)]
        given, along = tuple(map(float, a)), tuple(map(float, u))
        value = kernels.exponential(given)
        assert abs(value[0]/float(exact(0)[0]) - 1.0) <= 1e-15
        assert np.allclose(value[1:], np.array(exact(0)[1:], dtype=float), rtol=1e-15, atol=0)
        assert np.allclose(kernels.exponential_slope(given, along), np.array(slope, dtype=float), rtol=0, atol=1e-14)


def test_spatial_momenta_of_arrays():
    q, p = RANDOM.normal(size=(5, 4)), RANDOM.normal(size=(5, 4))
    expected = [kernels.space_part(tuple(x), tuple(y)) for x, y in zip(q, p, strict=True)]
    assert np.allclose(kernels.space_parts(q, p), expected, atol=1e-15)


def rates(q, v):
    """Body and spatial angular velocity of a unit quaternion by differences of its matrix, hat(W) = R^T R'."""
    h = 1e-6
    turned = kernels.matrices(q)
    slope = (kernels.matrices(q + h*v) - kernels.matrices(q - h*v))/(2.0*h)  # exact: quadratic
    body, space = turned.T @ slope, slope @ turned.T
    return tuple(np.array([w[2, 1], w[0, 2], w[1, 0]]) for w in (body, space))


def test_velocities_and_momenta_of_a_unit_quaternion():
    """livens2025 eqs. (43)-(48), (64), (65), rates, their inverse, mass matrix, slopes of T, momenta."""
    q = np.array(A)/np.linalg.norm(A)
    v = np.array(B) - (q @ B)*q
    g, e, inertia = kernels.body_matrix(q), matrix(kernels.space_part, tuple(q), 4), np.diag([6.0, 8.0, 3.0])
    body, space = rates(q, v)
    assert np.allclose(2.0*g @ v, body, atol=1e-9)
    assert np.allclose(2.0*e @ v, space, atol=1e-9)
    assert np.allclose(kernels.matrices(q) @ (g @ v), e @ v, atol=2e-15)
    assert np.allclose(g.T @ (g @ v), v, atol=1e-15)
    assert np.allclose(e.T @ (e @ v), v, atol=1e-15)
    mass = 4.0*g.T @ inertia @ g
    assert np.linalg.matrix_rank(mass) == 3
    assert np.abs(mass @ q).max() <= 1e-14
    swapped = kernels.body_matrix(v)
    assert v @ mass @ v == pytest.approx(q @ (4.0*swapped.T @ inertia @ swapped) @ q, rel=1e-14)  # T is also that of q

    def kinetic(x):
        w = 2.0*kernels.body_matrix(x) @ v
        return 0.5*w @ inertia @ w

    slope = np.array([(kinetic(q + d) - kinetic(q - d))/2.0 for d in np.eye(4)])  # exact: quadratic
    assert np.allclose(slope, 4.0*swapped.T @ inertia @ swapped @ q, atol=1e-12)
    p = mass @ v
    momentum = kernels.matrices(q) @ (inertia @ (2.0*g @ v))
    assert np.allclose(0.5*e @ p, momentum, atol=2e-14)
    assert W @ momentum == pytest.approx(0.5*p @ kernels.plus(W) @ q, rel=1e-13)


def test_inverse_of_products_and_of_the_augmented_mass_matrix():
    """livens2025 eqs. (134), (137), (140), off the unit sphere too."""
    left = np.column_stack([A, kernels.body_matrix(A).T])
    square = np.dot(A, A)
    assert np.allclose(np.linalg.inv(left), left.T/square, atol=1e-14)
    moments = np.array([6.0, 8.0, 3.0])
    augmented = np.diag([0.5*moments.sum(), *moments])
    mass = 4.0*G.T @ np.diag(moments) @ G + 4.0*augmented[0, 0]*np.outer(A, A)
    assert np.allclose(mass, 4.0*left @ augmented @ left.T, atol=1e-13)
    inverse = 0.25*left @ np.linalg.inv(augmented) @ left.T/square**2
    assert np.allclose(inverse @ mass, np.eye(4), atol=1e-13)
    bend = np.array([(np.array(kernels.spin_quadratic(tuple(A + d), X)) - kernels.spin_quadratic(tuple(A - d), X))/2.0
                     for d in np.eye(4)]).T  # exact: quadratic
    assert np.allclose(bend, 2.0*E @ kernels.minus(X), atol=1e-13)
    assert np.allclose(W @ bend, 2.0*kernels.minus(X).T @ kernels.plus(W) @ A, atol=1e-13)
