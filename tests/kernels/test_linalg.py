"""In-place Cholesky and LU against numpy, their refusals, and equal bits with and without compilation."""
import numpy as np
import pytest

from liestep.compile.tracing import plain_loop
from liestep.geometry.linalg import cholesky, cholesky_solve, lu, lu_solve

EPS = np.finfo(float).eps
SIZES = (1, 2, 3, 6, 7, 12, 30, 63)


def spd(n, seed, spread=1.0):
    """Symmetric positive definite matrix with eigenvalues from 1 to 10^spread."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    matrix = (q*np.logspace(0, spread, n)) @ q.T
    return np.ascontiguousarray(0.5*(matrix + matrix.T))


def backward_error(matrix, x, b):
    """max |b - A x| relative to |A| |x| + |b|"""
    return np.abs(b - matrix @ x).max()/(np.abs(matrix) @ np.abs(x) + np.abs(b)).max()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_cholesky_factor_and_solution(n, spread):
    matrix = spd(n, n, spread)
    a = matrix.copy()
    assert cholesky(a, n)
    lower = np.tril(a)
    assert np.array_equal(a, lower + np.tril(a, -1).T)  # both triangles hold the factor
    assert np.abs(lower.T @ lower - matrix).max() <= n*EPS*np.abs(matrix).max()
    b = np.random.default_rng(n + 1).normal(size=n)
    x = b.copy()
    cholesky_solve(a, x, n)
    assert backward_error(matrix, x, b) <= 2*n*EPS
    assert np.allclose(x, np.linalg.solve(matrix, b), rtol=0, atol=4*n*EPS*np.linalg.cond(matrix)*np.abs(x).max())


def test_cholesky_reads_only_the_lower_triangle():
    matrix = spd(7, 3)
    full, half = matrix.copy(), np.tril(matrix) + np.triu(np.full((7, 7), np.nan), 1)
    assert cholesky(full, 7)
    assert cholesky(half, 7)
    assert np.array_equal(full, half)


@pytest.mark.parametrize("n", SIZES)
def test_lu_solution(n):
    matrix = np.random.default_rng(n).normal(size=(n, n))
    a, pivots = matrix.copy(), np.full(n, -1, dtype=np.int64)
    assert lu(a, pivots, n)
    upper, lower = np.triu(a, 1) + np.eye(n), np.tril(a)
    assert np.abs(upper).max() == 1.0  # partial pivoting
    exchanged = matrix.copy()
    for k in range(n - 1, -1, -1):
        exchanged[[k, pivots[k]]] = exchanged[[pivots[k], k]]
    assert np.abs(upper @ lower - exchanged).max() <= 4*n*EPS*np.abs(lower).max()
    b = np.random.default_rng(n + 1).normal(size=n)
    x = b.copy()
    lu_solve(a, pivots, x, n)
    assert backward_error(matrix, x, b) <= 4*n*EPS
    assert np.allclose(x, np.linalg.solve(matrix, b), rtol=0, atol=4*n*EPS*np.linalg.cond(matrix)*np.abs(x).max())


@pytest.mark.parametrize("matrix", [[[1e-20, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1e-20]], [[0.0, 1.0], [1.0, 0.0]]])
def test_lu_exchanges_rows_where_a_pivot_is_small(matrix):
    a, pivots, x = np.array(matrix), np.zeros(2, dtype=np.int64), np.array([1.0, 2.0])
    assert lu(a, pivots, 2)
    lu_solve(a, pivots, x, 2)
    assert np.allclose(x, np.linalg.solve(matrix, [1.0, 2.0]), rtol=4*EPS, atol=0)


def test_right_hand_sides_in_rows_are_read_in_order():
    n = 12
    matrix = spd(n, 5)
    flat = np.random.default_rng(6).normal(size=n)
    for rows in (flat.reshape(4, 3).copy(), np.vstack([np.ones((2, 3)), flat.reshape(4, 3)])[2:]):
        a, x, y = matrix.copy(), flat.copy(), rows.copy()
        assert cholesky(a, n)
        cholesky_solve(a, x, n)
        cholesky_solve(a, y, n)
        assert np.array_equal(x, y.ravel())
        a, pivots, x, y = matrix + np.triu(matrix), np.zeros(n, dtype=np.int64), flat.copy(), rows.copy()
        assert lu(a, pivots, n)
        lu_solve(a, pivots, x, n)
        lu_solve(a, pivots, y, n)
        assert np.array_equal(x, y.ravel())


def test_only_the_leading_block_is_used():
    a, pivots, x = np.full((6, 6), np.nan), np.full(6, 77, dtype=np.int64), np.full(6, np.nan)
    a[:4, :4], x[:4] = spd(4, 1), 1.0
    outside = np.ones((6, 6), dtype=bool)
    outside[:4, :4] = False
    b = a.copy()
    assert cholesky(a, 4)
    cholesky_solve(a, x, 4)
    assert np.isnan(a[outside]).all()
    assert np.isfinite(x[:4]).all()
    assert np.isnan(x[4:]).all()
    assert lu(b, pivots, 4)
    assert np.isnan(b[outside]).all()
    assert (pivots[4:] == 77).all()


INDEFINITE = [
    np.zeros((3, 3)), -np.eye(3), np.diag([1.0, 0.0, 1.0]), np.ones((2, 2)), np.array([[1.0, 2.0], [2.0, 1.0]]),
    np.diag([1.0, np.inf]), np.array([[np.nan]]),
]


@pytest.mark.parametrize("matrix", INDEFINITE)
def test_cholesky_refuses(matrix):
    assert not cholesky(matrix.copy(), len(matrix))


SINGULAR = [
    np.zeros((3, 3)), np.diag([1.0, 0.0, 1.0]), np.ones((4, 4)), np.array([[1.0, 2.0], [2.0, 4.0]]),
    np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [5.0, 6.0, 0.0]]), np.array([[1.0, 2.0], [0.0, 0.0]]),
    np.array([[np.inf]]),
]


@pytest.mark.parametrize("matrix", SINGULAR)
def test_lu_refuses(matrix):
    assert not lu(matrix.copy(), np.zeros(len(matrix), dtype=np.int64), len(matrix))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_one_entry_that_is_not_finite_is_refused_wherever_it_is(value):
    n = 6
    matrix, pivots = spd(n, 9), np.zeros(n, dtype=np.int64)
    for i in range(n):
        for j in range(n):
            a = matrix.copy()
            a[i, j] = value
            assert not lu(a.copy(), pivots, n)
            if j <= i:
                assert not cholesky(a, n)


@pytest.mark.parametrize("n", [3, 30, 37])
def test_plain_python_gives_the_same_bits(n):
    matrix, b = spd(n, n), np.random.default_rng(n).normal(size=n)
    results = []
    kernels = (cholesky, cholesky_solve, lu, lu_solve)
    for factor, factor_solve, eliminate, eliminate_solve in (kernels, map(plain_loop, kernels)):
        a, x, c, y, pivots = matrix.copy(), b.copy(), matrix + np.triu(matrix), b.copy(), np.zeros(n, dtype=np.int64)
        assert factor(a, n)
        factor_solve(a, x, n)
        assert eliminate(c, pivots, n)
        eliminate_solve(c, pivots, y, n)
        results.append(np.concatenate([a.ravel(), x, c.ravel(), y, pivots]))
    assert np.array_equal(*results)
