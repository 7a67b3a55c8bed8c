"""Kernels of the Hamiltonian rotation of one rigid body in a unit quaternion with the augmented mass matrix
4 Q_l(q) J_4 Q_l(q)^T, J_4 = diag(J_00, J) (livens2025 eq. (140)).

T = 1/8 om.J_4^-1 om with om = Q_l(q)^T p = (q.p, G(q) p), bilinear in (q, p). Kinds of discretisation, K = J_4^-1/4:

    0  y = K (om_0 + om_1)/2: energy exact (emh)
    1  y = K Q_l(q_m)^T p_m: midpoint rule of T (mph, variant a)
    2  as 1 with the factor |q_m|^-4 of the inverse of the mass matrix at q_m in the equation for q only (variant x)
    3  with this factor in both equations (variant b)

q_1 - q_0 = h Q_l(q_m) y, p_1 - p_0 = -h Q_r(y)^T p_m + ...
"""
import numpy as np

from liestep.compile.dispatch import kernel
from liestep.compile.rows import Vector
from liestep.geometry.quaternion import (
    Quaternion,
    inner,
    left,
    left_transposed,
    middle,
    put_quaternion,
    quaternion,
    right_transposed,
    unit,
)


@kernel
def mobility(polar: float, moments: Vector) -> Quaternion:
    """Diagonal of K = J_4^-1/4, J_00 = polar tr J/2."""
    return (0.25/(0.5*polar*(moments[0] + moments[1] + moments[2])), 0.25/moments[0], 0.25/moments[1],
            0.25/moments[2])


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
    move, pull = left(qm, y), right_transposed(y, pm)
    i, j = place, size + place
    for c in range(4):
        r[i + c] -= h*first*move[c]
        r[j + c] += h*second*pull[c]
    for b in range(4):
        e = unit(b)
        by_q, by_p = times(k, left_transposed(e, ap)), times(k, left_transposed(aq, e))
        move_q, move_p = left(qm, by_q), left(qm, by_p)
        pull_q, pull_p = right_transposed(by_q, pm), right_transposed(by_p, pm)
        turn, slant = left(e, y), right_transposed(y, e)
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
    put_quaternion(out, place, left(a, times(k, left_transposed(a, b))))
