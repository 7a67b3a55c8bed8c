"""How states look: parts where they belong, in figures and films alike."""
from dataclasses import replace

import numpy as np
import pytest

from liestep.errors import InputError
from liestep.extend import Assembly, Shape, spring_damper
from liestep.figures.scenes import looks
from liestep.figures.scenes.space import Scene, View
from liestep.figures.style import new_figure
from liestep.simulation.catalogue import sheet


@pytest.fixture
def scene():
    return Scene(new_figure(40.0, 40.0).subplots(), View(30.0, 20.0))


@pytest.mark.parametrize("end", [(0.0, 0.0, 0.2), (0.0, 0.0, -0.2), (0.1, 0.0, 0.0), (0.1, 0.2, 0.3)])
def test_a_coil_joins_its_ends_in_every_direction(end):
    """A spring along e3, as in the preset column of spring_pendula, has no direction across by e3."""
    a, b = np.array([0.0, 0.0, 0.1]), np.array([0.0, 0.0, 0.1]) + end
    points = looks.coil(a, b)
    assert np.array_equal(points[[0, -1]], [a, b])
    along = (b - a)/np.linalg.norm(b - a)
    across = points - a - np.outer((points - a) @ along, along)
    assert np.linalg.norm(across, axis=1).max() == pytest.approx(0.06*np.linalg.norm(b - a))


def test_joints_are_sums_of_links():
    q = np.random.default_rng(1).standard_normal((5, 2, 3))
    joints = looks.chain_joints({"length": [2.0, 0.5]}, q)
    assert joints.shape == (5, 3, 3)
    assert np.allclose(joints[:, 2], 2.0*q[:, 0] + 0.5*q[:, 1])
    assert np.array_equal(looks.chain_joints({"length": [2.0, 0.5]}, q[3]), joints[3])
    rod = looks.rod_joints({"clamp": [1.0, 0.0, 0.0], "elements": 2, "length": 3.0}, q)
    assert rod.shape == (5, 4, 3)
    assert np.allclose(rod[:, 3], [1.0, 0.0, 0.0] + q[:, 0] + q[:, 1])


@pytest.mark.parametrize("preset", ["paper", "column"])
def test_springs_can_be_drawn_from_a_specification_and_from_checked_parameters(preset, scene):
    """A run's file holds lists, the catalogue arrays."""
    facts = sheet("spring_pendula")
    checked = facts.check(facts.presets[preset].parameters)
    q = facts.presets[preset].initial(checked)["q"]
    looks.springs(scene, facts.presets[preset].parameters, q)
    count = len(scene.items)
    looks.springs(scene, checked, q)
    assert len(scene.items) == 2*count
    assert all(np.all(np.isfinite(item[3][0])) for item in scene.items)


def test_a_trail_of_one_point_draws_nothing(scene):
    looks.trail(scene, np.zeros((1, 3)), "#000000", 1.0)
    assert not scene.items
    looks.trail(scene, np.eye(3), "#000000", 1.0)
    assert len(scene.items) == 2


def test_a_spring_between_two_bodies_is_a_line_more(scene):
    bodies = np.ones(2), np.stack([np.eye(3)]*2), np.zeros((2, 3)), np.zeros(3)
    centres = np.array([[0, 0, 0], [1.0, 0, 0]])
    counts = []
    for elements in ((), (spring_damper(0, np.zeros(3), 1, np.zeros(3), stiffness=1.0),)):
        before = len(scene.items)
        looks.mechanism(scene, Assembly(*bodies, elements=elements), centres, np.stack([np.eye(3)]*2), 1.0)
        counts.append(len(scene.items) - before)
    assert counts[1] > counts[0]


def volume(parts):
    """Of a closed body by its faces, which run to the left as seen from outside: sums of tetrahedra at the origin."""
    return sum(float(np.linalg.det(np.stack([part[:, 0], part[:, k], part[:, k + 1]], axis=1)).sum())/6.0
               for part in parts for k in range(1, part.shape[1] - 1))


def test_shapes_are_closed_and_face_outward():
    turn, sides = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), looks.ROUND
    polygon = 0.5*sides*np.sin(2.0*np.pi/sides)  # area of the regular polygon in the unit circle
    assert abs(volume(looks.faces(Shape("box", (1.0, 2.0, 3.0), at=(5, 6, 7), R=turn))) - 6.0) < 1e-12
    assert abs(volume(looks.faces(Shape("cylinder", (0.5, 2.0)))) - 0.5*polygon) < 1e-12
    ball = volume(looks.faces(Shape("ball", (1.0, 2.0, 0.5))))
    assert 0.93*4.0/3.0*np.pi < ball < 4.0/3.0*np.pi
    corners = looks.faces(Shape("box", (1.0, 2.0, 3.0), R=turn))[0].reshape(-1, 3)
    assert np.allclose(np.ptp(corners, axis=0), (2.0, 1.0, 3.0))


def test_a_body_without_a_shape_is_the_box_of_its_inertia():
    rod = Assembly(np.array([3.0]), np.diag([0.05, 0.26, 0.29])[None], np.zeros((1, 3)), np.zeros(3))
    assert np.allclose(np.ptp(looks.body_faces(rod, 0)[0].reshape(-1, 3), axis=0), (1.0, 0.4, 0.2))
    shown = replace(rod, shapes=(Shape("ball", (0.1, 0.1, 0.1)),))
    assert np.abs(looks.body_faces(shown, 0)[0]).max() < 0.1 + 1e-12


def test_the_far_side_of_a_solid_is_not_drawn(scene):
    scene.polygons(looks.faces(Shape("box", (1.0, 1.0, 1.0)))[0], ["#000000"]*6, solid=True)
    assert len(scene.items) == 3


@pytest.mark.parametrize(("kind", "size", "said"), [
    ("cone", (1, 1, 1), "unknown shape 'cone'"), ("box", (1, 1), "a box has 3 positive lengths"),
    ("ball", (1, 1, 0), "a ball has 3 positive lengths"), ("mesh", (1, 1, 1), r"a mesh has triangles \(m, 3, 3\)"),
    ("cylinder", (1, np.nan), "a cylinder has 2 positive lengths|size of a cylinder")])
def test_shapes_that_are_none_are_refused(kind, size, said):
    with pytest.raises(InputError, match=said):
        Shape(kind, size)
