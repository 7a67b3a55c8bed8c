"""Unit quaternions Q = (p0, p) as tuples of four, scalar part first, with Hamilton's product.

R(Q) = I + 2 (p0 hat p + hat p hat p) turns body components into spatial ones, and R(Q1 Q2) = R(Q1) R(Q2): lgt2022,
section 5.2.
"""
from liestep.core.dispatch import kernel
from liestep.core.rows import Vector, atan2, axpy, cross, dot, scale, sqrt
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
    """The rotation vector of length at most pi; any sign and length of Q. The arctangent of both parts keeps all digits
    at every angle, unlike the arccosine of (77) in lgt2022, and needs no special case at zero but the quotient."""
    p0, p = q[0], (q[1], q[2], q[3])
    if p0 < 0.0:
        p0, p = -p0, (-p[0], -p[1], -p[2])
    length = sqrt(dot(p, p))
    if length < 1e-3*p0:  # 2 arctan(t)/length with t = length/p0
        t2 = length*length/(p0*p0)
        return scale(2.0/p0*(1.0 - t2*(1.0/3.0 - t2*(1.0/5.0 - t2/7.0))), p)
    return scale(2.0*atan2(length, p0)/length, p)
