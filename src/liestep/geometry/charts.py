"""Charts psi of SO(3) and SE(3) about the identity, for steps from the right: C(t) = C_k psi(X(t)), X(0) = 0.

X = (x, y), rotation part first. Each chart is scaled so that its differential at zero is the identity, which
Munthe-Kaas methods take for granted: EXPONENTIAL exp(X), CAYLEY cay(X/2), CAYLEY2 (cay(X/4))^2, in the vectors c = x/2
= n tan(z/2) and c = x/4 = n tan(z/4) of Rodrigues (lgt2022, sections 5.1 to 5.3; its Cayley map has no factor 1/2).

    C^-1 dC/dt = V  <=>  dX/dt = dpsi^-1_(-X) V        V = (w, u): body velocities, for SE(3) of the reference point

All functions take the number of the chart; a rotation reaches the end of its chart at 2 pi, pi and 2 pi.

SECOND_KIND is exp(y) exp(x_1 e_1) exp(x_2 e_2) exp(x_3 e_3), canonical coordinates of the second kind (Owren and
Marthinsen 2001), which end at x_2 = pi/2. It agrees with exp to first order only, and psi(-X) is not the inverse of
psi(X), so that rates of steps from the left (`left_rate`) have formulas of their own."""
import math

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import Vector, add, atan2, axpy, cos, cross, dot, scale, sin, sqrt
from liestep.geometry.quaternion import Quaternion, rotate, to_rotation_vector
from liestep.geometry.se3 import dexpinv as se3_dexpinv
from liestep.geometry.so3 import FOUR_PI_SQUARED, dexpinv

EXPONENTIAL, CAYLEY, CAYLEY2, SECOND_KIND = 0, 1, 2, 3
LARGEST_RODRIGUES = 400.0  # |c|^2: 174 degrees of the Cayley map, 348 of the second-order one
LARGEST_SECOND = math.atan(20.0)  # of |x_2| in the chart of the second kind


@kernel
def reaches(chart: int, x: Vector) -> bool:
    """Whether the rotation x lies inside the chart; False for NaN."""
    if chart == 3:
        return abs(x[1]) < LARGEST_SECOND
    size = dot(x, x)
    if chart == 0:
        return size < FOUR_PI_SQUARED
    return size < (4.0 if chart == 1 else 16.0)*LARGEST_RODRIGUES


@kernel
def half_angle(z2: float) -> tuple[float, float]:
    """(cos(z/2), sin(z/2)/z) from the squared angle."""
    if z2 < 0.25:
        q = 0.25*z2
        return (1.0 + q*(-0.5 + q*(1.0/24.0 + q*(-1.0/720.0 + q*(1.0/40320.0 + q*(-1.0/3628800.0 + q/479001600.0))))),
                0.5 + q*(-1.0/12.0 + q*(1.0/240.0 + q*(-1.0/10080.0 + q*(1.0/725760.0 - q/79833600.0)))))
    z = sqrt(z2)
    return cos(0.5*z), sin(0.5*z)/z


@kernel
@outlined
def three_turns(x: Vector) -> Quaternion:
    """The unit quaternion of turns about the axes 1, 2 and 3, the last one first."""
    c, s = cos(0.5*x[0]), sin(0.5*x[0])
    d, t = cos(0.5*x[1]), sin(0.5*x[1])
    e, u = cos(0.5*x[2]), sin(0.5*x[2])
    return c*d*e - s*t*u, s*d*e + c*t*u, c*t*e - s*d*u, c*d*u + s*t*e


@kernel
def mean_turn(z2: float, first: float, along: float) -> tuple[float, float]:
    """((1 - cos z)/z^2, (z - sin z)/z^3) from the squared angle, cos(z/2) and z sin(z/2)."""
    if z2 < 0.25:
        return (0.5 + z2*(-1.0/24.0 + z2*(1.0/720.0 + z2*(-1.0/40320.0 + z2*(1.0/3628800.0 + z2*(
                    -1.0/479001600.0 + z2/87178291200.0))))),
                1.0/6.0 + z2*(-1.0/120.0 + z2*(1.0/5040.0 + z2*(-1.0/362880.0 + z2*(1.0/39916800.0 + z2*(
                    -1.0/6227020800.0 + z2/1307674368000.0))))))
    s = along/z2
    return 2.0*s*s, (1.0 - 2.0*first*s)/z2


@kernel
def rotation(chart: int, x: Vector) -> Quaternion:
    """The unit quaternion of psi(x)."""
    if chart == 0:
        first, s = half_angle(dot(x, x))
    elif chart == 1:
        first = 1.0/sqrt(1.0 + 0.25*dot(x, x))
        s = 0.5*first
    elif chart == 3:
        return three_turns(x)
    else:
        size = 0.0625*dot(x, x)
        s = 0.5/(1.0 + size)
        first = (1.0 - size)/(1.0 + size)
    return first, s*x[0], s*x[1], s*x[2]


@kernel
def translation(chart: int, q: Quaternion, x: Vector, y: Vector) -> Vector:
    """Translation of psi(x, y) on SE(3), in the axes before the step; q = rotation(chart, x)."""
    if chart == 3:
        return y
    first = cross(x, y)
    if chart == 0:  # dexp_x y, its coefficients from those of the half angle
        c, d = mean_turn(dot(x, x), q[0], dot((q[1], q[2], q[3]), x))
        return add(axpy(c, first, y), scale(d, cross(x, first)))
    if chart == 1:  # (1 + cay c) y/2, c = x/2
        return scale(q[0]*q[0], axpy(0.25*dot(x, y), x, axpy(0.5, first, y)))
    s = 1.0/(1.0 + 0.0625*dot(x, x))
    once = scale(s, axpy(0.0625*dot(x, y), x, axpy(0.25, first, y)))
    return scale(s, axpy(0.0625*dot(x, once), x, axpy(0.25, cross(x, once), once)))


@kernel
@outlined
def second_rate(x: Vector, w: Vector) -> Vector:
    """dx/dt of the body rate w in the chart of the second kind."""
    c, s = cos(x[2]), sin(x[2])
    first = (c*w[0] - s*w[1])/cos(x[1])
    return first, s*w[0] + c*w[1], w[2] - sin(x[1])*first


@kernel
def rotation_rate(chart: int, x: Vector, w: Vector) -> Vector:
    """dx/dt of the body rate w on SO(3)."""
    if chart == 0:
        return dexpinv((-x[0], -x[1], -x[2]), w)
    if chart == 1:
        return axpy(0.25*dot(x, w), x, axpy(0.5, cross(x, w), w))
    if chart == 3:
        return second_rate(x, w)
    return axpy(0.125*dot(x, w), x, add(scale(1.0 - 0.0625*dot(x, x), w), scale(0.5, cross(x, w))))


@kernel
@outlined
def rate(chart: int, x: Vector, y: Vector, w: Vector, u: Vector) -> tuple[Vector, Vector]:
    """(dx/dt, dy/dt) of the body velocity (w, u) on SE(3)."""
    if chart == 0:
        return se3_dexpinv((-x[0], -x[1], -x[2]), (-y[0], -y[1], -y[2]), w, u)
    if chart == 1:
        inner = axpy(0.5, cross(y, w), u)
        return rotation_rate(chart, x, w), axpy(0.5, cross(x, inner), inner)
    if chart == 3:
        return second_rate(x, w), rotate(three_turns(x), u)
    # C = A^2 with A = cay(X/4): the velocity of A is (1 + Ad_(A^-1))^-1 V
    c, d = scale(0.25, x), scale(0.25, y)
    s = 2.0/(1.0 + dot(c, c))
    far = scale(s, axpy(dot(c, d), c, add(d, cross(c, d))))
    half = scale(0.5, add(w, cross(c, w)))
    turned = cross(far, half)
    back = cross(turned, c)  # R^T = 1 - s hat c + s hat c hat c
    turned = axpy(s, add(back, cross(back, c)), turned)
    moved = add(u, turned)
    moved = scale(0.5, add(moved, cross(c, moved)))
    moved = add(moved, cross(d, half))
    return rotation_rate(chart, x, w), scale(2.0, add(moved, cross(c, moved)))


@kernel
def left_rotation_rate(chart: int, x: Vector, w: Vector) -> Vector:
    """dx/dt of the spatial rate w on SO(3): d/dt psi(x) = hat(w) psi(x)."""
    if chart != 3:
        return rotation_rate(chart, scale(-1.0, x), w)
    c, s = cos(x[0]), sin(x[0])
    third = (c*w[2] - s*w[1])/cos(x[1])
    return w[0] - sin(x[1])*third, c*w[1] + s*w[2], third


@kernel
def left_rate(chart: int, x: Vector, y: Vector, w: Vector, u: Vector) -> tuple[Vector, Vector]:
    """(dx/dt, dy/dt) of the spatial velocity (w, u) on SE(3): d/dt psi(x, y) = (w, u) psi(x, y)."""
    if chart != 3:
        return rate(chart, scale(-1.0, x), scale(-1.0, y), w, u)
    return left_rotation_rate(chart, x, w), add(u, cross(w, y))


@kernel
def logarithm(chart: int, q: Quaternion) -> Vector:
    """x with rotation(chart, x) = +-q; for the exponential the one of length at most pi."""
    if chart == 0:
        return to_rotation_vector(q)
    if chart == 3:
        one, two, three = rotate(q, (1.0, 0.0, 0.0)), rotate(q, (0.0, 1.0, 0.0)), rotate(q, (0.0, 0.0, 1.0))
        return atan2(-three[1], three[2]), atan2(three[0], sqrt(one[0]*one[0] + two[0]*two[0])), atan2(-two[0], one[0])
    if q[0] < 0.0:
        q = (-q[0], -q[1], -q[2], -q[3])
    s = 2.0/q[0] if chart == 1 else 4.0/(1.0 + q[0])
    return s*q[1], s*q[2], s*q[3]


@kernel
def translation_log(chart: int, x: Vector, p: Vector) -> Vector:
    """y with translation(chart, rotation(chart, x), x, y) = p."""
    if chart == 0:
        return dexpinv(x, p)
    if chart == 1:
        return axpy(-0.5, cross(x, p), p)
    if chart == 3:
        return p
    once = axpy(-0.25, cross(x, p), p)
    return axpy(-0.25, cross(x, once), once)
