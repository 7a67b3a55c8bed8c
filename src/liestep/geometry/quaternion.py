"""Unit quaternions Q = (p0, p) as tuples of four, scalar part first, with Hamilton's product.

R(Q) = I + 2 (p0 hat p + hat p hat p) turns body components into spatial ones, and R(Q1 Q2) = R(Q1) R(Q2): lgt2022,
section 5.2.

Where a quaternion is a coordinate, off the unit sphere too, livens2025 takes R(q) x = q x q* = E(q) G(q)^T x instead,
|q|^2 times a rotation (eq. (50)), with the matrices (3, 4) of its eq. (35)

    G(a) = [-a_vec, a_0 I - hat a],  E(b) = [-b_vec, b_0 I + hat b],  a b = [a, G(a)^T] b

so that the velocity v of a unit quaternion q belongs to the body rate 2 G(q) v and to the spatial one 2 E(q) v (eq.
(43))."""

import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, atan2, axpy, cross, dot, scale, sqrt
from liestep.geometry.so3 import coefficients, quadratic

Quaternion = tuple[float, float, float, float]


@kernel
def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """Hamilton's product p q."""
    u, v = (p[1], p[2], p[3]), (q[1], q[2], q[3])
    w = axpy(p[0], v, axpy(q[0], u, cross(u, v)))
    return p[0]*q[0] - dot(u, v), w[0], w[1], w[2]


@kernel
def rotate(q: Quaternion, v: Vector) -> Vector:
    """R(Q) v."""
    return quadratic(2.0*q[0], 2.0, (q[1], q[2], q[3]), v)


@kernel
def from_rotation_vector(x: Vector) -> Quaternion:
    """(cos(z/2), sin(z/2)/z x), z = |x|."""
    quarter = 0.25*dot(x, x)
    s, c, _ = coefficients(quarter)
    return 1.0 - quarter*c, 0.5*s*x[0], 0.5*s*x[1], 0.5*s*x[2]


@kernel
def to_rotation_vector(q: Quaternion) -> Vector:
    """The rotation vector of length at most pi; any sign of Q and any length from 1e-150 to 1e150, whose square is a
    number. The arctangent of both parts keeps all digits at every angle, unlike the arccosine of (77) in lgt2022, and
    needs no special case at zero but the quotient."""
    p0, p = q[0], (q[1], q[2], q[3])
    if p0 < 0.0:
        p0, p = -p0, (-p[0], -p[1], -p[2])
    length = sqrt(dot(p, p))
    if length < 1e-3*p0:  # 2 arctan(t)/length with t = length/p0
        t2 = length*length/(p0*p0)
        return scale(2.0/p0*(1.0 - t2*(1.0/3.0 - t2*(1.0/5.0 - t2/7.0))), p)
    return scale(2.0*atan2(length, p0)/length, p)


@kernel
def quaternion(a: np.ndarray, i: int) -> Quaternion:
    """Four numbers of an array (n,) from place i on."""
    return a[i], a[i + 1], a[i + 2], a[i + 3]


@kernel
def put_quaternion(a: np.ndarray, i: int, q: Quaternion) -> None:
    """Write four numbers into an array (n,) from place i on."""
    a[i] = q[0]
    a[i + 1] = q[1]
    a[i + 2] = q[2]
    a[i + 3] = q[3]


@kernel
def inner(a: Quaternion, b: Quaternion) -> float:
    """a.b in R^4."""
    return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3]


@kernel
def middle(a: Quaternion, b: Quaternion) -> Quaternion:
    """(a + b)/2."""
    return 0.5*(a[0] + b[0]), 0.5*(a[1] + b[1]), 0.5*(a[2] + b[2]), 0.5*(a[3] + b[3])


@kernel
def combine(s: float, a: Quaternion, t: float, b: Quaternion) -> Quaternion:
    """s a + t b."""
    return s*a[0] + t*b[0], s*a[1] + t*b[1], s*a[2] + t*b[2], s*a[3] + t*b[3]


@kernel
def unit(k: int) -> Quaternion:
    """The k-th basis vector of R^4."""
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, 1.0 if k == 3 else 0.0)


@kernel
def body_part(a: Quaternion, b: Quaternion) -> Vector:
    """G(a) b = -G(b) a: the vector part of a* b."""
    return (-a[1]*b[0] + a[0]*b[1] + a[3]*b[2] - a[2]*b[3], -a[2]*b[0] - a[3]*b[1] + a[0]*b[2] + a[1]*b[3],
            -a[3]*b[0] + a[2]*b[1] - a[1]*b[2] + a[0]*b[3])


@kernel
def from_body(a: Quaternion, w: Vector) -> Quaternion:
    """G(a)^T w = a (0, w)."""
    return (-a[1]*w[0] - a[2]*w[1] - a[3]*w[2], a[0]*w[0] - a[3]*w[1] + a[2]*w[2], a[3]*w[0] + a[0]*w[1] - a[1]*w[2],
            -a[2]*w[0] + a[1]*w[1] + a[0]*w[2])


@kernel
def space_part(a: Quaternion, b: Quaternion) -> Vector:
    """E(a) b = -E(b) a: the vector part of b a*."""
    return (-a[1]*b[0] + a[0]*b[1] - a[3]*b[2] + a[2]*b[3], -a[2]*b[0] + a[3]*b[1] + a[0]*b[2] - a[1]*b[3],
            -a[3]*b[0] - a[2]*b[1] + a[1]*b[2] + a[0]*b[3])


@kernel
def from_space(a: Quaternion, w: Vector) -> Quaternion:
    """E(a)^T w = (0, w) a."""
    return (-a[1]*w[0] - a[2]*w[1] - a[3]*w[2], a[0]*w[0] + a[3]*w[1] - a[2]*w[2], -a[3]*w[0] + a[0]*w[1] + a[1]*w[2],
            a[2]*w[0] - a[1]*w[1] + a[0]*w[2])


@kernel
def spin_quadratic(q: Quaternion, x: Vector) -> Vector:
    """R(q) x = E(q) G(q)^T x, homogeneous and quadratic in q."""
    return space_part(q, from_body(q, x))


@kernel
def exponential(a: Vector) -> Quaternion:
    """(cos z - 1, sin(z) a/|a|), z = |a|/2: the quaternion of the rotation vector a less one, without cancellation."""
    z2 = 0.25*dot(a, a)
    s, c, _ = coefficients(z2)
    return -c*z2, 0.5*s*a[0], 0.5*s*a[1], 0.5*s*a[2]


@kernel
def exponential_slope(a: Vector, u: Vector) -> Quaternion:
    """d/de exponential(a + e u) at e = 0."""
    s, c, d = coefficients(0.25*dot(a, a))
    along = 0.25*dot(a, u)
    bend = 0.5*(d - c)*along  # half the derivative of sin(z)/z by z^2, (d - c)/2, times that of z^2
    return -s*along, 0.5*s*u[0] + bend*a[0], 0.5*s*u[1] + bend*a[1], 0.5*s*u[2] + bend*a[2]


@kernel
def columns(q: Quaternion) -> tuple[Vector, Vector, Vector]:
    """R(q) e_1, R(q) e_2, R(q) e_3."""
    return spin_quadratic(q, (1.0, 0.0, 0.0)), spin_quadratic(q, (0.0, 1.0, 0.0)), spin_quadratic(q, (0.0, 0.0, 1.0))


@kernel
def left_transposed(q: Quaternion, p: Quaternion) -> Quaternion:
    """Q_l(q)^T p = (q.p, G(q) p), Q_l(q) y = q y."""
    g = body_part(q, p)
    return inner(q, p), g[0], g[1], g[2]


@kernel
def right_transposed(y: Quaternion, p: Quaternion) -> Quaternion:
    """Q_r(y)^T p = p y*: the derivative of y.(Q_l(q)^T p) by q."""
    x = from_body(p, (y[1], y[2], y[3]))
    return y[0]*p[0] - x[0], y[0]*p[1] - x[1], y[0]*p[2] - x[2], y[0]*p[3] - x[3]


def plus(a: np.ndarray | Vector) -> np.ndarray:
    """a^+ (4, 4) of livens2025 eq. (34): a^+ q = (0, a) q."""
    return np.array([[0, -a[0], -a[1], -a[2]], [a[0], 0, -a[2], a[1]], [a[1], a[2], 0, -a[0]], [a[2], -a[1], a[0], 0]])


def minus(a: np.ndarray | Vector) -> np.ndarray:
    """a^- (4, 4) of livens2025 eq. (34): a^- q = q (0, a)."""
    return np.array([[0, -a[0], -a[1], -a[2]], [a[0], 0, a[2], -a[1]], [a[1], -a[2], 0, a[0]], [a[2], a[1], -a[0], 0]])


def body_matrix(a: np.ndarray | Quaternion) -> np.ndarray:
    """G(a) (3, 4)."""
    return np.array([[-a[1], a[0], a[3], -a[2]], [-a[2], -a[3], a[0], a[1]], [-a[3], a[2], -a[1], a[0]]])


def of_matrix(matrix: np.ndarray) -> np.ndarray:
    """Unit quaternions (..., 4) of rotation matrices (..., 3, 3), from the largest of their four squares, so that
    nothing cancels; q_0 >= 0. The numbers may be of any type with a method `sqrt`."""
    r = np.moveaxis(matrix, (-2, -1), (0, 1))
    four = np.array([  # 4 q q^T
        [1 + r[0, 0] + r[1, 1] + r[2, 2], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
        [r[2, 1] - r[1, 2], 1 + r[0, 0] - r[1, 1] - r[2, 2], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
        [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], 1 - r[0, 0] + r[1, 1] - r[2, 2], r[1, 2] + r[2, 1]],
        [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], 1 - r[0, 0] - r[1, 1] + r[2, 2]]])
    best = np.argmax(np.diagonal(four), axis=-1)
    q = np.take_along_axis(np.moveaxis(four, (0, 1), (-2, -1)), np.asarray(best)[..., None, None], axis=-2)[..., 0, :]
    q = q/np.sqrt(np.sum(q*q, axis=-1, keepdims=True))
    return np.where(q[..., :1] >= 0, q, -q)


def matrices(q: np.ndarray) -> np.ndarray:
    """R(q) (..., 3, 3) of quaternions (..., 4), homogeneous and quadratic (livens2025 eqs. (50)-(51))."""
    a, b, c, d = np.moveaxis(q, -1, 0)
    aa, bb, cc, dd = a*a, b*b, c*c, d*d
    found = np.empty((*q.shape[:-1], 3, 3), dtype=q.dtype)
    found[..., 0, 0], found[..., 1, 1], found[..., 2, 2] = aa + bb - cc - dd, aa - bb + cc - dd, aa - bb - cc + dd
    for i, j, even, odd in ((0, 1, b*c, a*d), (1, 2, c*d, a*b), (2, 0, b*d, a*c)):
        found[..., i, j], found[..., j, i] = 2*(even - odd), 2*(even + odd)
    return found


def space_parts(q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """E(q) p (..., 3) of arrays (..., 4)."""
    u, x = q[..., 1:], p[..., 1:]
    return q[..., :1]*x - p[..., :1]*u + np.cross(u, x)
