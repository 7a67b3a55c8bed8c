"""SO(3)^n on vectors and attitudes; SE(3)^n, whose algebra has rows A_1..A_n, a_1..a_n, on tangent spheres, coadjoint
orbits and attitudes with momenta; R^3n on itself; direct products; and actions in other local coordinates than the
exponential (liegroup2021, section 2.3). Squared Riemannian distances of states that are near each other have radians
beside the numbers of the state."""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import borrows, hands_on, kernel
from liestep.compile.rows import Vector, add, atan2, cross, dot, put, row, sqrt, sub
from liestep.geometry import groups
from liestep.geometry.charts import left_rate, left_rotation_rate, reaches, rotation, translation
from liestep.geometry.se3 import apply, bracket, exponential
from liestep.geometry.se3 import dexpinv as dexpinv_of_motion
from liestep.geometry.so3 import coefficients, dexpinv, in_chart, quadratic


@kernel
def angle(s: float) -> float:
    """2 asin s, to all digits for small s; NaN beyond 1."""
    return 2.0*atan2(s, sqrt(1.0 - s*s))


@kernel
def directions(q: Vector, p: Vector) -> float:
    """Of unit vectors: the angle between them."""
    gap = sub(q, p)
    turn = angle(0.5*sqrt(dot(gap, gap)))
    return turn*turn


@kernel
def tangent_vectors(q: Vector, w: Vector, p: Vector, u: Vector) -> float:
    """Of (q, w) and (p, u) on the tangent bundle of the sphere: angle between q and p, and what w and u differ by after
    u has been carried along the great circle from p to q (an approximation of Sasaki's metric to third order)."""
    gap, axis = sub(q, p), cross(p, q)
    turned = quadratic(1.0, 1.0/(1.0 + dot(p, q)), axis, u)
    z, rest = angle(0.5*sqrt(dot(gap, gap))), sub(w, turned)
    return z*z + dot(rest, rest)


@kernel
def attitudes(y: np.ndarray, z: np.ndarray, first: int) -> float:
    """Of attitudes in rows first to first + 2 of y and z: the angle of the turn between them."""
    chord = 0.0
    for k in range(first, first + 3):
        gap = sub(row(y, k), row(z, k))
        chord += dot(gap, gap)
    turn = angle(sqrt(0.125*chord))
    return turn*turn


@kernel
def vectors(y: np.ndarray, z: np.ndarray, first: int, end: int) -> float:
    """Of vectors in rows first to end - 1."""
    total = 0.0
    for k in range(first, end):
        gap = sub(row(y, k), row(z, k))
        total += dot(gap, gap)
    return total


class SphereRotations(NamedTuple):
    """exp(u_1, ..., u_n).(v_1, ..., v_n) = (exp(u_1) v_1, ..., exp(u_n) v_n): each vector, a direction or a momentum on
    so(3)*, has a rotation of its own."""

    n: int

    def state_rows(self) -> int:
        return self.n

    def algebra_rows(self) -> int:
        return self.n

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        for i in range(xi.shape[0]):
            u = row(xi, i)
            s, c, _ = coefficients(dot(u, u))
            self.move(i, s, c, u, u, y, out)

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        put(out, i, quadratic(s, c, a, row(y, i)))

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        for i in range(sigma.shape[0]):
            put(out, i, dexpinv(row(sigma, i), row(v, i)))
        return self.in_chart(sigma)

    def in_chart(self, sigma: np.ndarray) -> bool:
        ok = True
        for i in range(sigma.shape[0]):
            ok = in_chart(row(sigma, i)) and ok
        return ok

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        for i in range(a.shape[0]):
            put(out, i, cross(row(a, i), row(b, i)))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        total = 0.0
        for i in range(y.shape[0]):
            total += directions(row(y, i), row(z, i))
        return total


@borrows(SphereRotations)
class Attitudes(NamedTuple):
    """exp(u_1, ..., u_n).(Q_1, ..., Q_n) = (exp(u_1) Q_1, ..., exp(u_n) Q_n) on attitudes, body to space. State rows
    Q_i e_1, Q_i e_2, Q_i e_3 of all bodies."""

    n: int

    def state_rows(self) -> int:
        return 3*self.n

    def move(self, i: int, s: float, c: float, a: Vector, r: Vector, y: np.ndarray, out: np.ndarray) -> None:
        for k in range(3*i, 3*i + 3):
            put(out, k, quadratic(s, c, a, row(y, k)))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        total = 0.0
        for i in range(self.n):
            total += attitudes(y, z, 3*i)
        return total


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
            turned, moved = dexpinv_of_motion(row(sigma, i), row(sigma, n + i), row(v, i), row(v, n + i))
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


@borrows(state_rows=SphereRotations.state_rows, algebra_rows=SphereRotations.algebra_rows)
class Translation(NamedTuple):
    """exp(a).y = y + a: commutative, so that brackets vanish and dexpinv is the identity."""

    n: int

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        for i in range(y.shape[0]):
            put(out, i, add(row(y, i), row(xi, i)))

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        for i in range(v.shape[0]):
            put(out, i, row(v, i))
        return True

    def in_chart(self, sigma: np.ndarray) -> bool:
        return True

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        for i in range(a.shape[0]):
            put(out, i, (0.0, 0.0, 0.0))

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        return vectors(y, z, 0, y.shape[0])


class Product(NamedTuple):
    """(g, h).(x, y) = (g.x, h.y): the rows of the first factor, then those of the second. Products nest."""

    first: Any    # an action
    second: Any
    state: int    # rows of the first factor's state
    algebra: int  # rows of the first factor's algebra

    def state_rows(self) -> int:
        return self.first.state_rows() + self.second.state_rows()

    def algebra_rows(self) -> int:
        return self.first.algebra_rows() + self.second.algebra_rows()

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        self.first.act(xi[:self.algebra], y[:self.state], out[:self.state])
        self.second.act(xi[self.algebra:], y[self.state:], out[self.state:])

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        k = self.algebra
        first_good = self.first.dexpinv(sigma[:k], v[:k], out[:k])
        other = self.second.dexpinv(sigma[k:], v[k:], out[k:])
        return first_good and other

    def in_chart(self, sigma: np.ndarray) -> bool:
        return self.first.in_chart(sigma[:self.algebra]) and self.second.in_chart(sigma[self.algebra:])

    def bracket(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        k = self.algebra
        self.first.bracket(a[:k], b[:k], out[:k])
        self.second.bracket(a[k:], b[k:], out[k:])

    def distance2(self, y: np.ndarray, z: np.ndarray) -> float:
        return (self.first.distance2(y[:self.state], z[:self.state])
                + self.second.distance2(y[self.state:], z[self.state:]))


def product(*factors: tuple[Any, int]) -> Any:
    """Product of actions given as (action, rows of its state)."""
    (first, rows), *others = factors
    if not others:
        return first
    return Product(first, product(*others), rows, first.algebra_rows())


CHARTS = {name: number for number, name in enumerate(groups.CHARTS)}  # those of `geometry.charts`, in its order


@hands_on("action", SphereRotations, "state_rows", "algebra_rows", "bracket", "distance2")
class Charted(NamedTuple):
    """psi(X).y for an action of rotations (one row of algebra) or of n rigid motions (rows A_1..A_n, a_1..a_n).
    `dexpinv` is the inverse differential of psi, so that Munthe-Kaas methods with the exact one keep their order;
    methods that use psi for exp have the order to which the two agree."""

    action: Any
    chart: int

    def act(self, xi: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        n = xi.shape[0]//2
        for i in range(max(n, 1)):
            q = rotation(self.chart, row(xi, i))
            a = (q[1], q[2], q[3])
            r = translation(self.chart, q, row(xi, i), row(xi, n + i)) if n > 0 else a
            self.action.move(i, 2.0*q[0], 2.0, a, r, y, out)

    def dexpinv(self, sigma: np.ndarray, v: np.ndarray, out: np.ndarray) -> bool:
        n = sigma.shape[0]//2
        if n == 0:
            put(out, 0, left_rotation_rate(self.chart, row(sigma, 0), row(v, 0)))
        for i in range(n):
            turned, moved = left_rate(self.chart, row(sigma, i), row(sigma, n + i), row(v, i), row(v, n + i))
            put(out, i, turned)
            put(out, n + i, moved)
        return self.in_chart(sigma)

    def in_chart(self, sigma: np.ndarray) -> bool:
        ok = True
        for i in range(max(sigma.shape[0]//2, 1)):
            ok = ok and reaches(self.chart, row(sigma, i))
        return ok


def in_coordinates(action: Any, chart: str) -> Any:
    """An action in the coordinates that an option names."""
    return action if chart == "exp" else Charted(action, CHARTS[chart])
