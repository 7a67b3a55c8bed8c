"""Actions in Cayley coordinates and in those of the second kind, against matrix functions and differences."""
import math

import numpy as np
import pytest
from scipy.linalg import expm
from test_groups import ACTIONS, Product, act, dexpinv, element, state

from liestep import InputError, simulate
from liestep.geometry.groups.actions import CHARTS, Attitudes, Charted, SphereRotations, Translation
from liestep.geometry.groups.poses import Poses
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify

# `Charted` takes one rotation or n rigid motions, not n rotations; poses have charts of their own
WITHOUT = {part.__name__ for part in (Attitudes, Poses, SphereRotations, Translation)}
PLAIN = [*(action for action in ACTIONS if not isinstance(action, Product) and type(action).__name__ not in WITHOUT),
         plain(Attitudes(1))]
CASES = [pytest.param(action, chart, id=f"{type(action).__name__}-{chart}") for action in PLAIN for chart in CHARTS
         if chart != "exp"]


def hat4(x, y):
    return np.array([[0.0, -x[2], x[1], y[0]], [x[2], 0.0, -x[0], y[1]], [-x[1], x[0], 0.0, y[2]], [0.0]*4])


def psi(chart, x, y):
    """Group element (4, 4) by matrix functions."""
    if chart == "second_kind":
        found = expm(hat4(np.zeros(3), y))
        for k in range(3):
            found = found @ expm(hat4(x[k]*np.eye(3)[k], np.zeros(3)))
        return found
    part = 0.5 if chart == "cayley" else 0.25
    once = np.linalg.solve(np.eye(4) - part*hat4(x, y), np.eye(4) + part*hat4(x, y))
    return once if chart == "cayley" else once @ once


def logarithm(matrix):
    """(A, a) with exp(A, a) = matrix, for turns below pi."""
    turn = matrix[:3, :3]
    axis = 0.5*np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    size = np.linalg.norm(axis)
    angle = math.atan2(size, 0.5*(np.trace(turn) - 1.0))
    x = axis*angle/size
    k = hat4(x, np.zeros(3))[:3, :3]
    dexp = np.eye(3) + (1.0 - math.cos(angle))/angle**2*k + (angle - math.sin(angle))/angle**3*(k @ k)
    return x, np.linalg.solve(dexp, matrix[:3, 3])


@pytest.mark.parametrize(("action", "chart"), CASES)
def test_acts_as_the_matrix_of_its_chart(action, chart):
    charted, xi, y = plain(Charted(action, CHARTS[chart])), element(action, "random", 1), state(action)
    n = len(xi)//2
    same = np.empty_like(xi)  # in exponential coordinates
    for i in range(max(n, 1)):
        x, a = logarithm(psi(chart, xi[i], xi[n + i] if n else np.zeros(3)))
        same[i] = x
        if n:
            same[n + i] = a
    assert np.abs(act(charted, xi, y) - act(action, same, y)).max() < 2e-14
    assert np.array_equal(act(charted, 0.0*xi, y), y)


@pytest.mark.parametrize(("action", "chart"), CASES)
def test_dexpinv_is_the_inverse_differential_of_the_chart(action, chart):
    charted, step = plain(Charted(action, CHARTS[chart])), 1e-5
    y, sigma, v = state(action), element(action, "random", 7), element(action, "random", 8)
    change = dexpinv(charted, sigma, v)
    ahead, behind = (act(charted, sigma + s*change, y) for s in (step, -step))
    moved, back = (act(action, s*v, act(charted, sigma, y)) for s in (step, -step))
    assert np.abs((ahead - behind) - (moved - back)).max() < 3e-13
    assert np.abs(dexpinv(charted, 0.0*sigma, v) - v).max() < 1e-15


@pytest.mark.parametrize(("chart", "end"), [("cayley", 40.0), ("cayley2", 80.0), ("second_kind", math.atan(20.0))])
def test_charts_end(chart, end):
    charted = plain(Charted(PLAIN[0], CHARTS[chart]))
    sigma = np.zeros((charted.algebra_rows(), 3))
    for stretch, inside in ((0.999, True), (1.001, False), (math.nan, False)):
        sigma[0, 1] = stretch*end
        assert charted.in_chart(sigma) == inside
        assert charted.dexpinv(sigma, sigma, np.zeros_like(sigma)) == inside


@pytest.mark.parametrize(("problem", "options", "said"), [
    ("spherical_pendulum_chain", {"chart": "log"}, "option chart is 'log'; allowed are exp, cayley, cayley2, second_k"),
    ("heavy_top", {"action": "se3", "chart": "log"}, "option chart is 'log'; allowed are exp, cayley, cayley2"),
])
def test_charts_that_do_not_exist_are_refused(problem, options, said):
    with pytest.raises(InputError, match=said):
        specify(problem, "rkmk", preset={"heavy_top": "bruels_cardona"}.get(problem), steps=10, options=options)


def test_a_step_that_leaves_its_chart_says_which():
    with pytest.raises(Exception, match="chart cayley, which ends at a turn of pi"):
        simulate("heavy_top", "rkmk", preset="asymmetric", steps=1, t_end=40.0, options={"chart": "cayley"}, samples=2)
