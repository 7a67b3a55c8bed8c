"""Icosphere: sizes, unit vertices, nested numbering, closed and outward surface, edge lengths
of the molecules' start."""
import numpy as np
import pytest

from liestep.geometry.icosphere import edge_lengths, edges, icosphere, level_of

LEVELS = (0, 1, 2, 3, 4)


@pytest.mark.parametrize("level", LEVELS)
def test_surface_is_closed_convex_and_of_unit_radius(level):
    vertices, faces = icosphere(level)
    assert vertices.shape == (10*4**level + 2, 3)
    assert faces.shape == (20*4**level, 3)
    assert np.abs(np.linalg.norm(vertices, axis=1) - 1.0).max() <= 4e-16
    directed = {(int(f[i]), int(f[(i + 1) % 3])) for f in faces for i in range(3)}
    assert len(directed) == 3*len(faces)  # each directed side belongs to one face ...
    assert {(j, i) for i, j in directed} == directed  # ... and its neighbour runs along it in the opposite direction
    assert len(vertices) - len(edges(faces)) + len(faces) == 2
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    assert np.all(np.sum(np.cross(a, b)*c, axis=1) > 0.0)


@pytest.mark.parametrize("level", LEVELS[1:])
def test_vertices_of_a_level_come_first_in_the_next(level):
    coarse, fine = icosphere(level - 1), icosphere(level)
    assert np.array_equal(coarse[0], fine[0][:len(coarse[0])])
    for parent, children in zip(coarse[1], fine[1].reshape(-1, 4, 3), strict=True):
        # one small triangle at each corner, the fourth one in the middle
        assert np.array_equal(children[:3, 0], parent)
        assert not set(children[3].tolist()) & set(parent.tolist())


def test_edge_lengths_of_642_vertices():
    lengths = edge_lengths(*icosphere(3))
    assert lengths.shape == (1920,)
    assert [round(float(d), 6) for d in (lengths.min(), lengths.mean(), lengths.max())] == [0.138283,
                                                                                            0.150730, 0.164647]


def test_five_neighbours_at_the_first_twelve_vertices_and_six_elsewhere():
    neighbours = np.bincount(edges(icosphere(3)[1]).ravel())
    assert np.all(neighbours[:12] == 5)
    assert np.all(neighbours[12:] == 6)


def test_level_of():
    assert [level_of(n) for n in (12, 42, 162, 642, 2562)] == list(LEVELS)
    assert [level_of(n) for n in (0, 1, 11, 13, 641)] == [None]*5


def test_shared_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        icosphere(0)[0][0, 0] = 2.0
