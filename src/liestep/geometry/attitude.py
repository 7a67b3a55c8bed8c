"""Attitudes Q (body to space), kept as rows: row j of an array is the body axis Q e_j in space; and directions q on the
unit sphere with their tangents."""
import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, add, atan2, axpy, dot, larger, put, row, scale, sqrt
from liestep.geometry.so3 import coefficients, quadratic


@kernel
def to_body(q: np.ndarray, u: Vector) -> Vector:
    """Q^T u: body components of a spatial vector."""
    return dot(row(q, 0), u), dot(row(q, 1), u), dot(row(q, 2), u)


@kernel
def to_space(q: np.ndarray, v: Vector) -> Vector:
    """Q v: spatial vector of body components."""
    return axpy(v[0], row(q, 0), axpy(v[1], row(q, 1), scale(v[2], row(q, 2))))


@kernel
def in_space(q: np.ndarray, f: Vector, body: Vector, g: Vector) -> Vector:
    """Q f for body = Q^T g: the part of f along `body` as a part of g itself, which no rounding of Q tilts. What is
    turned about the part of f across `body` is all that can change Q^T g."""
    size = dot(body, body)
    if not size > 0.0:
        return to_space(q, f)
    k = dot(f, body)/size
    return add(scale(k, g), to_space(q, axpy(-k, body, f)))


@kernel
def turn(u: Vector, q: np.ndarray, out: np.ndarray) -> None:
    """out = exp(hat u) Q, three rows; out may be q."""
    s, c, _ = coefficients(dot(u, u))
    for i in range(3):
        put(out, i, quadratic(s, c, u, row(q, i)))


@kernel
def orthogonality_error(q: np.ndarray) -> float:
    """Largest entry of |Q^T Q - 1|."""
    worst = 0.0
    for i in range(3):
        for j in range(i + 1):
            worst = larger(worst, abs(dot(row(q, i), row(q, j)) - (1.0 if i == j else 0.0)))
    return worst


@kernel
def towards_rotation(y: np.ndarray, i: int) -> None:
    """Rows i to i + 2 as the axes of Q: twice Q <- Q (3 - Q^T Q)/2, Newton's step towards the nearest rotation
    (Bjorck and Bowie 1971, SIAM J. Numer. Anal. 8, 358), which squares the defect."""
    for _ in range(2):
        one, two, three = row(y, i), row(y, i + 1), row(y, i + 2)
        a, b, c = dot(one, two), dot(two, three), dot(three, one)
        put(y, i, axpy(-0.5*c, three, axpy(-0.5*a, two, scale(1.5 - 0.5*dot(one, one), one))))
        put(y, i + 1, axpy(-0.5*b, three, axpy(-0.5*a, one, scale(1.5 - 0.5*dot(two, two), two))))
        put(y, i + 2, axpy(-0.5*c, one, axpy(-0.5*b, two, scale(1.5 - 0.5*dot(three, three), three))))


@kernel
def principal_angle(q: np.ndarray) -> float:
    """Angle of the rotation Q in [0, pi], from its sine and cosine: an arccos of the trace would lose half of the
    digits near 0 and pi. Angles below 1e-150, whose squares are no numbers with all digits, lose theirs; below
    1e-162 they are 0."""
    sine = (q[1, 2] - q[2, 1], q[2, 0] - q[0, 2], q[0, 1] - q[1, 0])
    return atan2(sqrt(dot(sine, sine)), q[0, 0] + q[1, 1] + q[2, 2] - 1.0)


@kernel
def to_quaternion(q: np.ndarray) -> tuple[float, float, float, float]:
    """Unit quaternion of Q, scalar part first, from its largest component: no digits are lost at any angle."""
    xx, yy, zz = q[0, 0], q[1, 1], q[2, 2]
    x, y, z = q[1, 2] - q[2, 1], q[2, 0] - q[0, 2], q[0, 1] - q[1, 0]
    if xx + yy + zz > 0.0:
        twice = sqrt(1.0 + xx + yy + zz)
        k = 0.5/twice
        return 0.5*twice, k*x, k*y, k*z
    if xx >= yy and xx >= zz:
        twice = sqrt(1.0 + xx - yy - zz)
        k = 0.5/twice
        return k*x, 0.5*twice, k*(q[0, 1] + q[1, 0]), k*(q[0, 2] + q[2, 0])
    if yy >= zz:
        twice = sqrt(1.0 - xx + yy - zz)
        k = 0.5/twice
        return k*y, k*(q[0, 1] + q[1, 0]), 0.5*twice, k*(q[1, 2] + q[2, 1])
    twice = sqrt(1.0 - xx - yy + zz)
    k = 0.5/twice
    return k*z, k*(q[0, 2] + q[2, 0]), k*(q[1, 2] + q[2, 1]), 0.5*twice


@kernel
def put_axes(q: tuple[float, float, float, float], out: np.ndarray, i: int) -> None:
    """Write the axes of the rotation of a unit quaternion, scalar part first, to rows i, i + 1, i + 2. Not homogeneous
    in Q: of length one it must be."""
    w, x, y, z = q
    put(out, i, (1.0 - 2.0*(y*y + z*z), 2.0*(x*y + w*z), 2.0*(x*z - w*y)))
    put(out, i + 1, (2.0*(x*y - w*z), 1.0 - 2.0*(x*x + z*z), 2.0*(y*z + w*x)))
    put(out, i + 2, (2.0*(x*z + w*y), 2.0*(y*z - w*x), 1.0 - 2.0*(x*x + y*y)))


def about_axis(angle: float, axis: int) -> np.ndarray:
    """Rotation by an angle about a coordinate axis (3, 3), for starts."""
    matrix = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[i, i] = matrix[j, j] = np.cos(angle)
    matrix[j, i] = np.sin(angle)
    matrix[i, j] = -matrix[j, i]
    return matrix


@kernel
def normalise(y: np.ndarray, i: int) -> None:
    """Give row i the length 1."""
    q = row(y, i)
    put(y, i, scale(1.0/sqrt(dot(q, q)), q))


@kernel
def make_tangent(y: np.ndarray, i: int, k: int) -> None:
    """Take from row k its part along the unit vector in row i."""
    q, u = row(y, i), row(y, k)
    put(y, k, axpy(-dot(q, u), q, u))
