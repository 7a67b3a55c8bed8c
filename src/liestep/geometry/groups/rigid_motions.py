"""SE(3)^n on tangent spheres, coadjoint orbits and attitudes with momenta; its algebra has rows A_1..A_n, a_1..a_n."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows
from liestep.compile.rows import Vector, add, put, row
from liestep.geometry.distances import attitudes, tangent_vectors, vectors
from liestep.geometry.se3 import apply, bracket, dexpinv, exponential, in_chart
from liestep.geometry.so3 import quadratic


class RigidMotions:
    """Methods of actions of n rigid motions that have `move`."""

    n: int
    move: Any  # (i, s, c, a, r, y, out)

    def state_rows(self) -> int:
        return 2*self.n

    def algebra_rows(self) -> int:
        return 2*self.n

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        n = xi.shape[0]//2
        for i in range(n):
            s, c, r = exponential(row(xi, i), row(xi, n + i))
            self.move(i, s, c, row(xi, i), r, y, out)

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        n = v.shape[0]//2
        for i in range(n):
            turned, moved = dexpinv(row(sigma, i), row(sigma, n + i), row(v, i), row(v, n + i))
            put(out, i, turned)
            put(out, n + i, moved)
        return self.in_chart(sigma)

    def in_chart(self, sigma: np.ndarray) -> bool:
        ok = True
        for i in range(sigma.shape[0]//2):
            ok = ok and in_chart(row(sigma, i))
        return ok

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        n = a.shape[0]//2
        for i in range(n):
            turned, moved = bracket(row(a, i), row(a, n + i), row(b, i), row(b, n + i))
            put(out, i, turned)
            put(out, n + i, moved)


@borrows(RigidMotions)
class TangentSpheres(NamedTuple):
    """exp(A, a).(q, w) = (exp(A) q, exp(A) w + dexp_A(a) x exp(A) q) on each of n spheres: liegroup2021, section 4.
    State rows q_1..q_n, w_1..w_n."""

    n: int

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        n = y.shape[0]//2
        q, w = apply(s, c, a, r, row(y, i), row(y, n + i))
        put(out, i, q)
        put(out, n + i, w)

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        n, total = y.shape[0]//2, 0.0
        for i in range(n):
            total += tangent_vectors(row(y, i), row(y, n + i), row(z, i), row(z, n + i))
        return total


@borrows(RigidMotions)
class CoadjointMotions(NamedTuple):
    """Ad*_{g^-1} of g = (R, r) = exp(A, a) on each of n copies of se(3)*: (Pi, Gamma) -> (R Pi + r x R Gamma, R Gamma),
    liegroup2021, section 2: the action on tangent spheres with (q, w) = (Gamma, Pi). State rows Pi_1..Pi_n,
    Gamma_1..Gamma_n. Conserves |Gamma| and Pi.Gamma, the coadjoint orbit."""

    n: int

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        n = y.shape[0]//2
        gamma, pi = apply(s, c, a, r, row(y, n + i), row(y, i))
        put(out, i, pi)
        put(out, n + i, gamma)


@borrows(RigidMotions)
class CotangentRotations(NamedTuple):
    """exp(u, m).(Q, pi) = (exp(u) Q, exp(u) pi + dexp_u m) on T*SO(3) of each of n bodies, right trivialised (pi
    spatial): the group product (g1, m1)(g2, m2) = (g1 g2, m1 + g1 m2) of SO(3) x so(3)*, whose algebra is that of SE(3)
    (liegroup2021, section 3). State rows Q_i e_1, Q_i e_2, Q_i e_3 of all bodies, then all pi_i."""

    n: int

    def state_rows(self) -> int:
        return 4*self.n

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        put(out, 3*self.n + i, add(quadratic(s, c, a, row(y, 3*self.n + i)), r))
        for k in range(3*i, 3*i + 3):
            put(out, k, quadratic(s, c, a, row(y, k)))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        total = vectors(y, z, 3*self.n, 4*self.n)
        for i in range(self.n):
            total += attitudes(y, z, 3*i)
        return total
