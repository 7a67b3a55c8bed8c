"""Charts of SO(3) and SE(3), and quaternions: against matrix exponentials and series of 50 digits, on both sides of the
switches of the series; inverse, differential, limits."""
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.linalg import expm

from liestep.geometry import charts, quaternion
from liestep.geometry.attitude import about_axis
from liestep.geometry.charts import CAYLEY, CAYLEY2, EXPONENTIAL, SECOND_KIND

ANGLES = (0.0, 1e-9, 1e-3, 0.2, 0.4999, 0.5, 0.5001, 0.9999, 1.0001, 2.0, 3.0, 6.2)
LENGTH = {EXPONENTIAL: lambda z: z, CAYLEY: lambda z: 2.0*math.tan(0.5*z), CAYLEY2: lambda z: 4.0*math.tan(0.25*z)}
CASES = [(chart, angle) for chart in LENGTH for angle in ANGLES if chart != CAYLEY or angle <= 3.0]


def hat4(x, y):
    return np.array([[0.0, -x[2], x[1], y[0]], [x[2], 0.0, -x[0], y[1]], [-x[1], x[0], 0.0, y[2]], [0.0]*4])


def psi(chart, x, y):
    """Group element (4, 4) by matrix functions."""
    if chart == EXPONENTIAL:
        return expm(hat4(x, y))
    part = 0.5 if chart == CAYLEY else 0.25
    once = np.linalg.solve(np.eye(4) - part*hat4(x, y), np.eye(4) + part*hat4(x, y))
    return once if chart == CAYLEY else once @ once


def element(chart, angle, seed=0):
    x, y, w, u = np.random.default_rng(seed).normal(size=(4, 3))
    return tuple(LENGTH[chart](angle)*x/np.linalg.norm(x)), tuple(y), tuple(w), tuple(u)


def matrix(q):
    return np.array([quaternion.rotate(q, tuple(e)) for e in np.eye(3)]).T


@pytest.mark.parametrize(("chart", "angle"), CASES)
def test_charts_are_those_of_matrix_functions(chart, angle):
    x, y, _, _ = element(chart, angle)
    q = charts.rotation(chart, x)
    assert abs(math.hypot(*q) - 1.0) < 5e-16
    assert np.abs(matrix(q) - psi(chart, x, y)[:3, :3]).max() < 5e-15
    assert np.abs(charts.translation(chart, q, x, y) - psi(chart, x, y)[:3, 3]).max() < 5e-15


@pytest.mark.parametrize(("chart", "angle"), CASES)
def test_rates_invert_the_differential(chart, angle):
    """C^-1 dC/dt of C = psi(X(t)) in 50 digits, with dX/dt from the closed forms."""
    x, y, w, u = element(chart, angle)
    turned, moved = charts.rate(chart, x, y, w, u)
    assert np.array_equal(turned, charts.rotation_rate(chart, x, w))
    with mp.workdps(60):
        def group(s):
            matrix = mp.matrix(hat4([mp.mpf(a) + s*mp.mpf(b) for a, b in zip(x, turned, strict=True)],
                                    [mp.mpf(a) + s*mp.mpf(b) for a, b in zip(y, moved, strict=True)]).tolist())
            if chart == EXPONENTIAL:
                return mp.expm(matrix, method="taylor")
            part = mp.mpf(1)/(2 if chart == CAYLEY else 4)
            once = (mp.eye(4) - part*matrix)**-1*(mp.eye(4) + part*matrix)
            return once if chart == CAYLEY else once*once

        step = mp.mpf(10)**-20
        found = group(0)**-1*(group(step) - group(-step))/(2*step)
        wanted = hat4(w, u)
        gap = max(abs(found[i, j] - mp.mpf(float(wanted[i, j]))) for i in range(4) for j in range(4))
    assert gap < 4e-15*max(1.0, LENGTH[chart](angle))**3


@pytest.mark.parametrize(("chart", "angle"), CASES)
def test_logarithm_inverts_a_chart(chart, angle):
    x, y, _, _ = element(chart, angle)
    q = charts.rotation(chart, x)
    p = charts.translation(chart, q, x, y)
    size = max(1.0, float(np.linalg.norm(x)))
    if angle <= math.pi:  # else the shorter way round is found
        assert np.abs(np.subtract(charts.logarithm(chart, q), x)).max() < 4e-15*size**2
        assert np.array_equal(charts.logarithm(chart, tuple(-a for a in q)), charts.logarithm(chart, q))
    assert np.abs(np.subtract(charts.translation_log(chart, x, p), y)).max() < 4e-15*size**2


@pytest.mark.parametrize("chart", LENGTH)
def test_charts_end(chart):
    end = {EXPONENTIAL: 2.0*math.pi, CAYLEY: 2.0*math.atan(20.0), CAYLEY2: 4.0*math.atan(20.0)}[chart]
    assert charts.reaches(chart, (0.0, LENGTH[chart](0.999*end), 0.0))
    assert not charts.reaches(chart, (0.0, LENGTH[chart](min(1.001*end, 6.283185307179587)), 0.0))
    assert not charts.reaches(chart, (0.0, math.nan, 0.0))


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-160, 1e-12, 1e-8, 9.9e-4, 1.1e-3, 0.5, 3.0, math.pi])
def test_rotation_vector_of_a_quaternion(size):
    """Also at exactly zero, where (77) of lgt2022 as printed divides zero by zero, and for sizes near the end."""
    for sign in (1.0, -1.0):
        x = (0.6*size, 0.0, -0.8*size)
        q = tuple(sign*part for part in quaternion.from_rotation_vector(x))
        found = quaternion.to_rotation_vector(q)
        if size < 3.0:
            assert np.abs(np.subtract(found, x)).max() <= 4e-16*max(size, 1e-300)
        else:
            assert np.abs(matrix(quaternion.from_rotation_vector(found)) - matrix(q)).max() < 2e-15


@pytest.mark.parametrize("size", [1e-12, 9.9e-4, 1.1e-3, 0.5, 3.0])
def test_a_rotation_vector_does_not_depend_on_the_length_of_the_quaternion(size):
    """To the ends of the domain that it states."""
    x = (0.6*size, 0.0, -0.8*size)
    for length in (1e-150, 1e150):
        q = tuple(length*part for part in quaternion.from_rotation_vector(x))
        assert np.abs(np.subtract(quaternion.to_rotation_vector(q), x)).max() <= 1e-15*size


@pytest.mark.parametrize("x", [(0.4, -0.7, 0.9), (-2.0, 1.3, 2.5), (1e-9, -1e-9, 1e-9), (0.0, 0.0, 0.0)])
def test_chart_of_the_second_kind(x):
    """Products of turns and a translation; rates by differences of the matrices; log by the chart itself."""
    y, w, u = (0.3, -1.1, 0.6), (0.8, 0.5, -1.2), (-0.4, 0.9, 0.2)

    def whole(x, y):
        found = np.eye(4)
        found[:3, :3] = about_axis(x[0], 0) @ about_axis(x[1], 1) @ about_axis(x[2], 2)
        found[:3, 3] = y
        return found

    q = charts.rotation(SECOND_KIND, x)
    assert np.abs(matrix(q) - whole(x, y)[:3, :3]).max() < 1e-15
    assert charts.translation(SECOND_KIND, q, x, y) == y
    turned, moved = (np.array(part) for part in charts.rate(SECOND_KIND, x, y, w, u))
    e = 1e-6
    slope = (whole(x + e*turned, y + e*moved) - whole(x - e*turned, y - e*moved))/(2.0*e)
    velocity = np.linalg.solve(whole(x, y), slope)
    assert velocity[:3, 3] == pytest.approx(u, abs=1e-9)
    assert (velocity[2, 1], velocity[0, 2], velocity[1, 0]) == pytest.approx(w, abs=1e-9)
    assert np.array_equal(charts.rotation_rate(SECOND_KIND, x, w), turned)
    found = charts.logarithm(SECOND_KIND, tuple(-part for part in q))
    assert np.abs(np.subtract(found, x)).max() < 1e-14
    assert charts.translation_log(SECOND_KIND, x, y) == y
