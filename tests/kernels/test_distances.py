"""Riemannian distances of states: lengths of geodesics, symmetry, and what does not change them."""
import math

import numpy as np
import pytest
from test_groups import act, element

from liestep import InputError
from liestep.geometry.groups.actions import (
    Attitudes,
    Charted,
    CotangentRotations,
    SphereRotations,
    TangentSpheres,
    Translation,
    product,
)
from liestep.simulation.plugins.trial import plain
from liestep.simulation.runs.specification import specify

ACTIONS = [plain(action) for action in (
    TangentSpheres(2), CotangentRotations(1), CotangentRotations(2), Charted(TangentSpheres(2), 1),
    product((Attitudes(1), 3), (Translation(1), 1)))]
NAMES = ["spheres", "body", "bodies", "charted", "product"]


def test_distance_of_directions_is_the_angle():
    action, angles = plain(SphereRotations(2)), np.array([0.3, 1e-9])
    y = np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
    z = np.empty_like(y)
    action.act(np.array([[0.0, 0.0, 0.3], [1e-9, 0.0, 0.0]]), y, z)
    assert action.distance2(y, z) == pytest.approx(angles @ angles, rel=1e-13)
    action.act(np.array([[0.0, 0.0, 0.0], [1e-9, 0.0, 0.0]]), y, z)
    assert action.distance2(y, z) == pytest.approx(1e-18, rel=1e-6)


def state(action, seed):
    """On the manifold, near a state of another seed."""
    rows, axes = np.random.default_rng(3).standard_normal((action.state_rows(), 3)), np.linalg.qr(np.eye(3) + 0.1)[0]
    if "Spheres" in repr(action):
        rows[:2] = np.eye(3)[:2]
        rows[2:] -= np.sum(rows[2:]*rows[:2], axis=1)[:, None]*rows[:2]
    else:
        for first in range(0, len(rows) - len(rows)//4, 3):
            rows[first:first + 3] = axes
    return act(action, 0.1*element(action, "random", seed), rows)


@pytest.mark.parametrize("action", ACTIONS, ids=NAMES)
def test_distances_are_symmetric_and_do_not_change_when_all_is_turned(action):
    y, z = state(action, 1), state(action, 2)
    found = action.distance2(y, z)
    assert found > 1e-4
    assert action.distance2(y, y) < 1e-30
    assert action.distance2(z, y) == pytest.approx(found, rel=1e-12)
    turn = np.linalg.qr(np.arange(9.0).reshape(3, 3) + np.eye(3))[0]
    turn *= np.linalg.det(turn)
    assert action.distance2(y @ turn, z @ turn) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("angle", [1e-9, 0.01, 1.0, 3.0])
def test_distances_along_geodesics_are_angles(angle):
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    q, w = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.3, -0.7])
    sphere = plain(TangentSpheres(1)).distance2(np.stack([q, w]), np.stack([turn @ q, turn @ w]))
    body = plain(CotangentRotations(1)).distance2(np.eye(4, 3), np.concatenate([turn.T, np.zeros((1, 3))]))
    assert math.sqrt(sphere) == pytest.approx(angle, rel=1e-12)
    assert math.sqrt(body) == pytest.approx(angle, rel=1e-12)


def test_velocities_that_follow_the_sphere_are_not_apart():
    """The euclidean distance counts the normal part of w - u, which no motion on the sphere avoids."""
    q, w = np.array([1.0, 0.0, 0.0]), np.array([0.0, 100.0, 0.0])
    p, u = np.array([math.cos(0.1), math.sin(0.1), 0.0]), np.array([-100.0*math.sin(0.1), 100.0*math.cos(0.1), 0.0])
    found = math.sqrt(plain(TangentSpheres(1)).distance2(np.stack([q, w]), np.stack([p, u])))
    assert found == pytest.approx(0.1, rel=1e-10)
    assert np.linalg.norm([q - p, w - u]) > 9.0


@pytest.mark.parametrize(("problem", "options", "said"), [
    ("heavy_top", {"action": "coadjoint", "distance": "riemannian"}, "distance is riemannian, which states with action"
     " coadjoint do not have; allowed are scaled and euclidean"),
    ("heavy_top", {"distance": "sasaki"}, "option distance is 'sasaki'; allowed are scaled, euclidean, riemannian"),
    ("heavy_top", {"safety": 1.1}, "option safety must be a number above 0 and at most 1, not 1.1"),
    ("heavy_top", {"safety": "small"}, "option safety must be a number above 0 and at most 1, not 'small'")])
def test_wrong_options_are_refused(problem, options, said):
    with pytest.raises(InputError, match=said):
        specify(problem, "cf_pair", tolerance=1e-6, options=options)
