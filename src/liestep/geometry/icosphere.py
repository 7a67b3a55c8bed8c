"""Icosahedron subdivided by edge midpoints that are pushed out to the unit sphere: nearly
uniform points and triangles."""
from functools import cache

import numpy as np


@cache
def icosphere(level: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (10*4**level + 2, 3), unit vectors, and faces (20*4**level, 3), vertex numbers counter-clockwise from
    outside. The vertices of a level are the first vertices of the next one; the new ones follow in the order of their
    edges (i, j), i < j. Both arrays are read-only, because they are shared."""
    if level == 0:
        vertices, faces = _icosahedron()
    else:
        coarse, coarse_faces = icosphere(level - 1)
        ends = edges(coarse_faces)
        vertices = np.concatenate([coarse, _unit(coarse[ends[:, 0]] + coarse[ends[:, 1]])])
        faces = _divide(coarse_faces, ends, len(coarse))
    vertices.setflags(write=False)
    faces.setflags(write=False)
    return vertices, faces


def edges(faces: np.ndarray) -> np.ndarray:
    """Edges (m, 2) of triangles as pairs i < j in lexicographic order, each once."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return np.unique(np.sort(sides, axis=1), axis=0)


def edge_lengths(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Chord lengths (m,) in the order of `edges`."""
    ends = edges(faces)
    return _norm(vertices[ends[:, 0]] - vertices[ends[:, 1]])


def level_of(vertices: int) -> int | None:
    """Level of the icosphere with so many vertices, None if there is none."""
    level = 0
    while 10*4**level + 2 < vertices:
        level += 1
    return level if 10*4**level + 2 == vertices else None


def _icosahedron() -> tuple[np.ndarray, np.ndarray]:
    """Vertices (0, +-1, +-phi) and their cyclic permutations, normalised; faces are the triples
    of mutual neighbours."""
    phi = (1.0 + 5.0**0.5)/2.0
    corners = np.array([(0.0, s, t*phi) for s in (-1.0, 1.0) for t in (-1.0, 1.0)])
    vertices = _unit(np.concatenate([corners, corners[:, [2, 0, 1]], corners[:, [1, 2, 0]]]))
    distance = _norm(vertices[:, None, :] - vertices[None, :, :])
    near = (distance > 0.0) & (distance < 1.2)  # neighbours are 1.051 apart, the next ones 1.701
    faces = [(i, j, k) for i in range(12) for j in range(i + 1, 12)
             for k in range(j + 1, 12) if near[i, j] and near[j, k] and near[k, i]]
    return vertices, np.array([_outward(face, vertices) for face in faces])


def _outward(face: tuple[int, int, int], vertices: np.ndarray) -> tuple[int, int, int]:
    a, b, c = vertices[list(face)]
    return face if np.sum(np.cross(a, b)*c) > 0.0 else (face[0], face[2], face[1])


def _divide(faces: np.ndarray, ends: np.ndarray, first: int) -> np.ndarray:
    """Four triangles for each one, the corners first and the middle one last; vertex `first + e`
    is the midpoint of edge e."""
    keys = ends[:, 0]*first + ends[:, 1]
    a, b, c = faces.T

    def midpoint(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return first + np.searchsorted(keys, np.minimum(i, j)*first + np.maximum(i, j))

    ab, bc, ca = midpoint(a, b), midpoint(b, c), midpoint(c, a)
    small = [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    return np.stack([np.stack(corners, axis=1) for corners in small], axis=1).reshape(-1, 3)


def _norm(x: np.ndarray) -> np.ndarray:
    return np.sqrt(x[..., 0]*x[..., 0] + x[..., 1]*x[..., 1] + x[..., 2]*x[..., 2])


def _unit(x: np.ndarray) -> np.ndarray:
    return x/_norm(x)[..., None]
