"""Mean of a quantity of points over the faces of a triangulated sphere and their neighbours
(figure 7 of twospheres2009)."""
import numpy as np
from scipy.sparse import csr_array

TIE = 1e-9  # a point so close to an edge or corner lies in all faces that meet there


def face_values(vertices: np.ndarray, faces: np.ndarray, points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Value of each face (m,): mean of `values` (n,) over the points (n, 3) in the face and in the faces
    that share a vertex with it.

    vertices: (v, 3) unit vectors; faces: (m, 3), counter-clockwise from outside. A point within TIE of a boundary
    counts in every face there, but once in a mean. A face without any point in its neighbourhood is NaN.
    """
    members = ((neighbours(faces, len(vertices)) @ containing(vertices, faces, points)) > 0).astype(float)
    count = np.asarray(members.sum(axis=1)).ravel()
    return np.where(count > 0.0, (members @ values)/np.maximum(count, 1.0), np.nan)


def containing(vertices: np.ndarray, faces: np.ndarray, points: np.ndarray) -> csr_array:
    """1 where a face holds a point (m, n): the point lies on the inner side of the three planes
    through the face's edges."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.stack([np.cross(a, b), np.cross(b, c), np.cross(c, a)])
    normals = normals/np.linalg.norm(normals, axis=2, keepdims=True)
    inside = [np.flatnonzero((normals @ point >= -TIE).all(axis=0)) for point in points]
    number = np.repeat(np.arange(len(points)), [len(found) for found in inside])
    return csr_array((np.ones(number.size, dtype=int), (np.concatenate(inside), number)),
                     shape=(len(faces), len(points)))


def neighbours(faces: np.ndarray, vertices: int) -> csr_array:
    """Number of vertices that two faces share (m, m); 3 on the diagonal."""
    corner = csr_array((np.ones(faces.size, dtype=int), (np.repeat(np.arange(len(faces)), 3), faces.ravel())),
                       shape=(len(faces), vertices))
    return corner @ corner.T
