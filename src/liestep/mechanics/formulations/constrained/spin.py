"""Kernels of the rotation of one rigid body in a unit quaternion, at four places of a row of coordinates.

T = 1/2 Omega.J Omega with Omega = 2 G(q) v is quadratic in Omega, which is bilinear in (q, v): its exact discrete
derivatives are (livens2025 eqs. (86)-(88))

    2 pbar = 4 G(q_m)^T J Ob,  dT = -2 G(v_m)^T J Ob,  Ob = (Omega_0 + Omega_1)/2

and Ob = 2 G(q_m) v_m makes them those of the midpoint rule.

The Hamiltonian form has the augmented mass matrix 4 Q_l(q) J_4 Q_l(q)^T, J_4 = diag(J_00, J) (livens2025 eq. (140)): T
= 1/8 om.J_4^-1 om with om = Q_l(q)^T p = (q.p, G(q) p), bilinear in (q, p). Kinds of discretisation, K = J_4^-1/4:

    0  y = K (om_0 + om_1)/2: energy exact (emh)
    1  y = K Q_l(q_m)^T p_m: midpoint rule of T (mph, variant a)
    2  as 1 with the factor |q_m|^-4 of the inverse of the mass matrix at q_m in the equation for q only (variant x)
    3  with this factor in both equations (variant b)

q_1 - q_0 = h Q_l(q_m) y, p_1 - p_0 = -h Q_r(y)^T p_m + ..."""
import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector
from liestep.geometry.quaternion import (
    Quaternion,
    body_part,
    combine,
    from_body,
    inner,
    left_transposed,
    middle,
    multiply,
    put_quaternion,
    quaternion,
    right_transposed,
    unit,
)

SMALLEST = 0.05  # |q_m|^2 = cos^2(angle/4) of the rotation of a step: the angle stays below 309 degrees


@kernel
def mean_spin(energetic: bool, moments: Vector, q0: Quaternion, v0: Quaternion, q1: Quaternion,
              v1: Quaternion) -> Vector:
    """J Ob."""
    if energetic:
        x, y = body_part(q0, v0), body_part(q1, v1)
        return moments[0]*(x[0] + y[0]), moments[1]*(x[1] + y[1]), moments[2]*(x[2] + y[2])
    x = body_part(middle(q0, q1), middle(v0, v1))
    return 2.0*moments[0]*x[0], 2.0*moments[1]*x[1], 2.0*moments[2]*x[2]


@kernel
def spin_momentum(energetic: bool, moments: Vector, q0: Quaternion, v0: Quaternion, q1: Quaternion,
                  v1: Quaternion) -> Quaternion:
    """2 pbar."""
    x = from_body(middle(q0, q1), mean_spin(energetic, moments, q0, v0, q1, v1))
    return 4.0*x[0], 4.0*x[1], 4.0*x[2], 4.0*x[3]


@kernel
def spin_residual(energetic: bool, moments: Vector, h: float, place: int, q0: np.ndarray, v0: np.ndarray,
                  q1: np.ndarray, v1: np.ndarray, alpha: float, beta: float, r: np.ndarray, a: np.ndarray) -> None:
    """r += 2 pbar - h dT from `place` on; a += its derivative, alpha d/dq_1 + beta d/dv_1."""
    a0, b0, a1, b1 = quaternion(q0, place), quaternion(v0, place), quaternion(q1, place), quaternion(v1, place)
    qm, vm = middle(a0, a1), middle(b0, b1)
    w = mean_spin(energetic, moments, a0, b0, a1, b1)
    c = combine(4.0, qm, 2.0*h, vm)
    x = from_body(c, w)
    for i in range(4):
        r[place + i] += x[i]
    # change of J Ob = J G(d) (direction), d from the derivatives of G(q) v = -G(v) q; half that of the midpoint
    d = combine(beta, a1, -alpha, b1) if energetic else combine(beta, qm, -alpha, vm)
    half = 2.0*alpha + beta*h
    w0, w1, w2 = half*w[0], half*w[1], half*w[2]
    x0 = from_body(c, (-moments[0]*d[1], -moments[1]*d[2], -moments[2]*d[3]))
    x1 = from_body(c, (moments[0]*d[0], -moments[1]*d[3], moments[2]*d[2]))
    x2 = from_body(c, (moments[0]*d[3], moments[1]*d[0], -moments[2]*d[1]))
    x3 = from_body(c, (-moments[0]*d[2], moments[1]*d[1], moments[2]*d[0]))
    o = 0.0*moments[0]  # of the type of the others
    y0, y1, y2, y3 = (o, w0, w1, w2), (-w0, o, -w2, w1), (-w1, w2, o, -w0), (-w2, -w1, w0, o)
    for i in range(4):
        a[place + i, place] += x0[i] + y0[i]
        a[place + i, place + 1] += x1[i] + y1[i]
        a[place + i, place + 2] += x2[i] + y2[i]
        a[place + i, place + 3] += x3[i] + y3[i]


@kernel
def radial_strain(energetic: bool, q0: Quaternion, v0: Quaternion, q1: Quaternion, v1: Quaternion) -> float:
    """Twice the mean of q.v, at the ends or of the means."""
    return inner(q0, v0) + inner(q1, v1) if energetic else 2.0*inner(middle(q0, q1), middle(v0, v1))


@kernel
def radial_residual(energetic: bool, polar: float, h: float, q0: Quaternion, v0: Quaternion, q1: Quaternion,
                    v1: Quaternion, alpha: float, beta: float, r: np.ndarray, a: np.ndarray) -> None:
    """The same of 2 J_00 (q.v)^2, which makes the mass matrix of (140) of the singular one; for a single body."""
    qm, vm = middle(q0, q1), middle(v0, v1)
    s = polar*radial_strain(energetic, q0, v0, q1, v1)
    x = combine(4.0, qm, -2.0*h, vm)
    bend = combine(alpha, v1, beta, q1) if energetic else combine(alpha, vm, beta, qm)
    own = s*(2.0*alpha - beta*h)
    for i in range(4):
        r[i] += s*x[i]
        a[i, i] += own
        for j in range(4):
            a[i, j] += polar*x[i]*bend[j]


@kernel
def length_defect(q: Quaternion) -> float:
    """(q.q - 1)/2, summed so that rounding favours neither sign."""
    return 0.5*(((q[0]*q[0] - 1.0) + q[1]*q[1]) + q[2]*q[2] + q[3]*q[3])


@kernel
def turned(q: Quaternion, e: Quaternion, place: int, d: np.ndarray) -> None:
    """d = q e, the increment of q under the rotation with the quaternion 1 + e in the body."""
    x = from_body(q, (e[1], e[2], e[3]))
    put_quaternion(d, place, (e[0]*q[0] + x[0], e[0]*q[1] + x[1], e[0]*q[2] + x[2], e[0]*q[3] + x[3]))


@kernel
def far_apart(q0: Quaternion, q1: Quaternion) -> bool:
    """Whether the rotation of a step is near 2 pi, where q_m vanishes; True for NaN."""
    qm = middle(q0, q1)
    return not inner(qm, qm) >= SMALLEST


@kernel
def mobility(polar: float, moments: Vector) -> Quaternion:
    """Diagonal of K = J_4^-1/4, J_00 = polar tr J/2."""
    return (0.25/(0.5*polar*(moments[0] + moments[1] + moments[2])), 0.25/moments[0], 0.25/moments[1], 0.25/moments[2])


@kernel
def times(k: Quaternion, x: Quaternion) -> Quaternion:
    """Entry by entry."""
    return k[0]*x[0], k[1]*x[1], k[2]*x[2], k[3]*x[3]


@kernel
def spin_flow(kind: int, k: Quaternion, h: float, place: int, size: int, q0: np.ndarray, p0: np.ndarray,
              q1: np.ndarray, p1: np.ndarray, r: np.ndarray, a: np.ndarray) -> None:
    """r -= h dT/dp from `place` on, r += h dT/dq from size + place on; a += the derivative by (q_1, p_1)."""
    a0, b0, a1, b1 = quaternion(q0, place), quaternion(p0, place), quaternion(q1, place), quaternion(p1, place)
    qm, pm = middle(a0, a1), middle(b0, b1)
    square = inner(qm, qm)
    first = 1.0/(square*square) if kind >= 2 else 1.0
    second = first if kind == 3 else 1.0
    om = middle(left_transposed(a0, b0), left_transposed(a1, b1)) if kind == 0 else left_transposed(qm, pm)
    aq, ap = (a1, b1) if kind == 0 else (qm, pm)
    y = times(k, om)
    move, pull = multiply(qm, y), right_transposed(y, pm)
    i, j = place, size + place
    for c in range(4):
        r[i + c] -= h*first*move[c]
        r[j + c] += h*second*pull[c]
    for b in range(4):
        e = unit(b)
        by_q, by_p = times(k, left_transposed(e, ap)), times(k, left_transposed(aq, e))
        move_q, move_p = multiply(qm, by_q), multiply(qm, by_p)
        pull_q, pull_p = right_transposed(by_q, pm), right_transposed(by_p, pm)
        turn, slant = multiply(e, y), right_transposed(y, e)
        bend = -2.0*qm[b]/(square*square*square)
        for c in range(4):
            a[i + c, i + b] -= 0.5*h*first*(turn[c] + move_q[c])
            a[i + c, j + b] -= 0.5*h*first*move_p[c]
            a[j + c, i + b] += 0.5*h*second*pull_q[c]
            a[j + c, j + b] += 0.5*h*second*(slant[c] + pull_p[c])
            if kind >= 2:
                a[i + c, i + b] -= h*bend*move[c]
            if kind == 3:
                a[j + c, i + b] += h*bend*pull[c]


@kernel
def spin_velocity(k: Quaternion, place: int, q: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
    """out = Q_l(q) K Q_l(q)^T p at `place`, for unit quaternions."""
    a, b = quaternion(q, place), quaternion(p, place)
    put_quaternion(out, place, multiply(a, times(k, left_transposed(a, b))))
