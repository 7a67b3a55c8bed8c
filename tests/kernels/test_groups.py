"""Every action of `liestep.geometry.groups` against the axioms of a group action and of its algebra: at the identity,
at 1e-8 and at random elements. What is found in the folder is tested."""
import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

import liestep.geometry.groups
from liestep.geometry.groups.actions import Charted, Product, product
from liestep.simulation.plugins.trial import plain

SIZES = ("identity", "tiny", "random")


def found():
    """One instance of every action of the folder, those with a size for two, and their product."""
    actions = []
    for path in sorted(Path(liestep.geometry.groups.__file__).parent.glob("*.py")):
        module = importlib.import_module(f"liestep.geometry.groups.{path.stem}".removesuffix(".__init__"))
        actions += [cls(2) for _, cls in inspect.getmembers(module, inspect.isclass)
                    if cls.__module__ == module.__name__ and issubclass(cls, tuple) and hasattr(cls, "act")
                    and cls not in (Product, Charted)]
    sizes = [plain(action).state_rows() for action in actions]
    return [plain(action) for action in (*actions, product(*zip(actions, sizes, strict=True)))]


ACTIONS = found()
NAMES = [type(action).__name__ for action in ACTIONS]


def element(action, size, seed):
    xi = np.random.default_rng(seed).standard_normal((action.algebra_rows(), 3))
    return {"identity": 0.0, "tiny": 1e-8, "random": 0.7}[size]*xi


def state(action, seed=3):
    return np.random.default_rng(seed).standard_normal((action.state_rows(), 3))


def act(action, xi, y):
    out = np.full_like(y, np.nan)
    action.act(xi, y, out)
    assert np.isfinite(out).all()
    again = y.copy()
    action.act(xi, again, again)  # out may be y
    assert np.array_equal(again, out)
    return out


def dexpinv(action, sigma, v):
    out = np.full_like(v, np.nan)
    assert action.dexpinv(sigma, v, out)
    return out


def bracket(action, a, b):
    out = np.full_like(a, np.nan)
    action.bracket(a, b, out)
    return out


def test_the_folder_is_found():
    assert {"Translation", "Poses", "SphereRotations", "Attitudes", "TangentSpheres", "CoadjointMotions",
            "CotangentRotations", "Product"} == set(NAMES)


@pytest.mark.parametrize("action", ACTIONS, ids=NAMES)
@pytest.mark.parametrize("size", SIZES)
class TestAction:
    def test_identity_and_inverse(self, action, size):
        y, xi = state(action), element(action, size, 1)
        assert np.array_equal(act(action, 0.0*xi, y), y)
        assert np.abs(act(action, -xi, act(action, xi, y)) - y).max() < 2e-14

    def test_one_parameter_subgroups(self, action, size):
        y, xi = state(action), element(action, size, 2)
        assert np.abs(act(action, 0.3*xi, act(action, 0.7*xi, y)) - act(action, xi, y)).max() < 2e-14

    def test_bracket_is_that_of_an_algebra(self, action, size):
        a, b, c = (element(action, size, seed) for seed in (4, 5, 6))
        assert np.array_equal(bracket(action, a, b), -bracket(action, b, a))
        jacobi = sum(bracket(action, x, bracket(action, y, z)) for x, y, z in ((a, b, c), (b, c, a), (c, a, b)))
        assert np.abs(jacobi).max() <= 1e-15*max(np.abs(a).max(), 1e-300)**3*100.0

    def test_dexpinv_is_the_inverse_derivative_of_exp(self, action, size):
        y, sigma, v, step = state(action), element(action, size, 7), element(action, "random", 8), 1e-5
        assert np.abs(dexpinv(action, sigma, sigma) - sigma).max() < 1e-15
        change = dexpinv(action, sigma, v)
        ahead, behind = (act(action, sigma + s*change, y) for s in (step, -step))
        moved, back = (act(action, s*v, act(action, sigma, y)) for s in (step, -step))
        assert np.abs((ahead - behind) - (moved - back)).max() < 1e-13

    def test_chart_ends_where_dexpinv_does(self, action, size):
        for stretch in (0.0, 1.0, 5.0, 20.0):
            sigma = stretch*element(action, "random", 9)
            assert action.in_chart(sigma) == action.dexpinv(sigma, sigma, np.zeros_like(sigma))


@pytest.mark.parametrize("action", ACTIONS, ids=NAMES)
def test_bracket_is_that_of_the_action(action):
    """exp(a) exp(b) exp(-a) exp(-b) = exp([a, b]) to third order."""
    y, s = state(action), 1e-4
    a, b = (s*element(action, "random", seed) for seed in (4, 5))
    there = act(action, -b, y)
    for xi in (-a, b, a):
        there = act(action, xi, there)
    assert np.abs(there - act(action, bracket(action, a, b), y)).max() < 30.0*s**3
