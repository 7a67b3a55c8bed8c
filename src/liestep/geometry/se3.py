"""Rigid motions: elements of se(3) as two tuples (A, a), rotation part first; their action on
tangent vectors of the sphere.

The exponential of (A, a) is the motion (R, r) with R = exp(hat A), r = dexp_A a. It acts on (q, w), a direction and its
angular velocity, both spatial, by (R, r).(q, w) = (R q, R w + r x R q); this keeps |q| and q.w. All formulas:
liegroup2021, section 2."""
from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector, add, axpy, cross, dot
from liestep.geometry.so3 import coefficients, dexpinv_coefficients, quadratic


@kernel
def exponential(A: Vector, a: Vector) -> tuple[float, float, Vector]:
    """(s, c, r) of exp(A, a) = (R, r), R v = quadratic(s, c, A, v)."""
    s, c, d = coefficients(dot(A, A))
    return s, c, quadratic(c, d, A, a)


@kernel
def apply(s: float, c: float, A: Vector, r: Vector, q: Vector, w: Vector) -> tuple[Vector, Vector]:
    """(R, r).(q, w) as two tuples, R v = quadratic(s, c, A, v)."""
    q = quadratic(s, c, A, q)
    return q, add(quadratic(s, c, A, w), cross(r, q))


@kernel
def bracket(A: Vector, a: Vector, B: Vector, b: Vector) -> tuple[Vector, Vector]:
    """[(A, a), (B, b)] = (A x B, A x b + a x B)."""
    return cross(A, B), add(cross(A, b), cross(a, B))


@kernel
def dexpinv(A: Vector, a: Vector, B: Vector, b: Vector) -> tuple[Vector, Vector]:
    """dexpinv_(A, a) (B, b) as two tuples, exact. Meaningful where `so3.in_chart(A)`."""
    g, slope = dexpinv_coefficients(dot(A, A))
    rotation, translation = bracket(A, a, B, b)
    x = cross(A, rotation)
    y = add(cross(a, rotation), cross(A, translation))
    k = dot(A, a)*slope
    return axpy(g, x, axpy(-0.5, rotation, B)), axpy(g, y, axpy(k, x, axpy(-0.5, translation, b)))
