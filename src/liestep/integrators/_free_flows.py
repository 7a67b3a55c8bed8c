"""Free motion of a rigid body over a step by discrete maps: the spatial momentum stays, the attitude is turned.

A map is a component with `workspace(problem, y)` and `flow(problem, i, h, y, work)`, which turns body i of the
formulation `rigid_bodies` (rows 3i to 3i + 2 of y) during h; its momentum is row 3n + i.

`MoserVeselov` of order 2 is the step of `lgvi` without forces. For a higher order its moments are modified: with x =
h^2 |Pi|^2/2 and z = h^2 T, which the map keeps, 1/I_j becomes s/I_j + d with polynomials s = 1 + ... and d in x and z
(Hairer and Vilmart 2006, J. Phys. A 39, 13225, theorem 3 and its appendix).
"""
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.rows import Vector, add, axpy, cross, dot, put, row, scale, sub
from liestep.compile.status import Status
from liestep.geometry.attitude import in_space, to_body, to_space, turn
from liestep.geometry.rodrigues import cayley
from liestep.geometry.so3 import exp_apply, quadratic
from liestep.integrators._newton import iterate, settled, solve_columns
from liestep.mechanics.contracts.formulations import RigidBodies


@kernel
def corrected(x: Vector, columns: tuple[Vector, Vector, Vector], residual: Vector, tolerance: float,
              counters: np.ndarray) -> tuple[Status, Vector, float, bool]:
    """A step of Newton's method with these columns of the derivative."""
    volume, step = solve_columns(columns[0], columns[1], columns[2], residual)
    if not volume > 0.0:
        return Status.NOT_CONVERGED, x, volume, False
    counters[Counter.LINEAR_SOLVES] += 1
    counters[Counter.ITERATIONS] += 1
    x = sub(x, step)
    # the error left is of the size of the square of the update
    change, size = dot(step, step), dot(x, x)
    return Status.OK, x, change, settled(change*change, tolerance*tolerance*size*size, change, np.inf, 0.0)


@kernel
def discrete_turn(part: Any, j: Vector, g: Vector, counters: np.ndarray) -> tuple[Status, Vector]:
    """f with J f + (f x J f)/2 = (1 + |f|^2/4) g, for moments j, by Newton's method of `DiscreteTurn` from J^-1 g;
    NOT_CONVERGED where that fails or meets a fold of the equation."""
    return iterate(part, (j, g, counters), (g[0]/j[0], g[1]/j[1], g[2]/j[2]), np.inf, part.iterations)


class DiscreteTurn(NamedTuple):
    tolerance: float  # on the error left in f, relative to its size
    iterations: int   # at most

    def improve(self, given: Any, f: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        j, g, counters = given
        jf = (j[0]*f[0], j[1]*f[1], j[2]*f[2])
        residual = sub(axpy(0.5, cross(f, jf), jf), scale(1.0 + 0.25*dot(f, f), g))
        # columns of the derivative: J e + (e x J f + f x J e)/2 - (f.e)/2 g
        one = axpy(-0.5*f[0], g, axpy(0.5, add((0.0, -jf[2], jf[1]), (0.0, j[0]*f[2], -j[0]*f[1])),
                                      (j[0], 0.0, 0.0)))
        two = axpy(-0.5*f[1], g, axpy(0.5, add((jf[2], 0.0, -jf[0]), (-j[1]*f[2], 0.0, j[1]*f[0])),
                                      (0.0, j[1], 0.0)))
        three = axpy(-0.5*f[2], g, axpy(0.5, add((-jf[1], jf[0], 0.0), (j[2]*f[1], -j[2]*f[0], 0.0)),
                                        (0.0, 0.0, j[2])))
        return corrected(f, (one, two, three), residual, self.tolerance, counters)


@kernel
def turn_by_cayley(u: Vector, q: np.ndarray) -> None:
    """Q <- cay(u) Q, three rows: about u by the angle 2 atan(|u|/2)."""
    s, c = cayley(u)
    for k in range(3):
        put(q, k, quadratic(s, c, u, row(q, k)))


@kernel
def series_sums(c: np.ndarray, x: float, z: float) -> tuple[float, float]:
    """s and d from their coefficients (n, 2, 6): row k adds the sum of c_j x^(k + 1 - j) z^j for j up to k + 1."""
    s, d = 1.0, 0.0
    for k in range(c.shape[0]):
        left, right, power = c[k, 0, 0], c[k, 1, 0], 1.0
        for j in range(1, k + 2):
            power = power*z
            left = left*x + c[k, 0, j]*power
            right = right*x + c[k, 1, j]*power
        s += left
        d += right
    return s, d


@borrows(improve=DiscreteTurn.improve)
class MoserVeselov(NamedTuple):
    """Discrete Moser-Veselov map of order 2, or 4 to 10 with modified moments: symmetric, keeps energy and momentum of
    the free body; symplectic for order 2 only."""

    order: int        # 2, 4, 6, 8 or 10
    tolerance: float  # on the error left in the rotation of a step, relative to its size
    iterations: int   # at most

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return series_of_bodies(problem, self.order, y.dtype == object)

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, work: Any) -> Status:
        q, j = y[3*i:3*i + 3], problem.moments(i)
        g = row(y, 3*problem.bodies() + i)
        p = to_body(q, g)
        if work.shape[1] > 0:
            x = 0.5*h*h*dot(p, p)
            z = 0.5*h*h*(p[0]*p[0]/j[0] + p[1]*p[1]/j[1] + p[2]*p[2]/j[2])
            s, d = series_sums(work[i], x, z)
            j = (1.0/(s/j[0] + d), 1.0/(s/j[1] + d), 1.0/(s/j[2] + d))
        status, f = discrete_turn(self, j, scale(h, p), problem.counters)
        if status != Status.OK:
            return Status.TURN_TOO_LARGE
        turn_by_cayley(in_space(q, f, p, g), q)
        return Status.OK


class BodyMidpoint(NamedTuple):
    """Order 2: midpoint rule on the body momentum with the Cayley map of its angular velocity (Austin, Krishnaprasad
    and Wang 1993); symmetric, keeps energy and momentum of the free body."""

    tolerance: float  # on the error left in the middle momentum, relative to its size
    iterations: int   # at most

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return np.zeros((problem.bodies(), 0, 2, 1), y.dtype)

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, work: Any) -> Status:
        q, j = y[3*i:3*i + 3], problem.moments(i)
        p = to_body(q, row(y, 3*problem.bodies() + i))
        status, m = iterate(self, (h, j, p, problem.counters), p, np.inf, self.iterations)
        if status != Status.OK:
            return Status.TURN_TOO_LARGE
        turn_by_cayley(to_space(q, (h*m[0]/j[0], h*m[1]/j[1], h*m[2]/j[2])), q)
        return Status.OK

    def improve(self, given: Any, m: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        """m - (h/2) m x J^-1 m = p, columns of the derivative along the axes."""
        h, j, p, counters = given
        w = (m[0]/j[0], m[1]/j[1], m[2]/j[2])
        residual = sub(axpy(-0.5*h, cross(m, w), m), p)
        one = axpy(-0.5*h, add((0.0, -w[2], w[1]), (0.0, m[2]/j[0], -m[1]/j[0])), (1.0, 0.0, 0.0))
        two = axpy(-0.5*h, add((w[2], 0.0, -w[0]), (-m[2]/j[1], 0.0, m[0]/j[1])), (0.0, 1.0, 0.0))
        three = axpy(-0.5*h, add((-w[1], w[0], 0.0), (m[1]/j[2], -m[0]/j[2], 0.0)), (0.0, 0.0, 1.0))
        return corrected(m, (one, two, three), residual, self.tolerance, counters)


class LieMidpoint(NamedTuple):
    """Order 2: I w = exp(-h w/2) Pi by a checked fixed point, attitude by exp(h w) (Krysl 2005); symmetric, keeps the
    momentum, not the energy."""

    tolerance: float   # on the error left in the middle momentum, relative to its size
    iterations: int    # at most
    stagnation: float  # relative update below which an iteration that no longer converges has ended

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return np.zeros((problem.bodies(), 0, 2, 1), y.dtype)

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, work: Any) -> Status:
        q, j = y[3*i:3*i + 3], problem.moments(i)
        p = to_body(q, row(y, 3*problem.bodies() + i))
        status, m = iterate(self, (h, j, p, problem.counters), p, np.inf, self.iterations)
        if status != Status.OK:
            return Status.TURN_TOO_LARGE
        turn(to_space(q, (h*m[0]/j[0], h*m[1]/j[1], h*m[2]/j[2])), q, q)
        problem.counters[Counter.EXPONENTIALS] += 1
        return Status.OK

    def improve(self, given: Any, m: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        h, j, p, counters = given
        new = exp_apply(scale(-0.5*h, (m[0]/j[0], m[1]/j[1], m[2]/j[2])), p)
        counters[Counter.EXPONENTIALS] += 1
        counters[Counter.ITERATIONS] += 1
        move, size = sub(new, m), dot(p, p)
        change, tight, loose = dot(move, move), self.tolerance*self.tolerance, self.stagnation*self.stagnation
        return Status.OK, new, change, settled(change, tight*size, change, 0.5*previous, loose*size)


def series_of_bodies(problem: RigidBodies, order: int, exact: bool) -> np.ndarray:
    """`moser_veselov_series` of all bodies (n, order/2 - 1, 2, 6), float64 unless `exact`."""
    rows = [moser_veselov_series([x.real if isinstance(x, complex) else x for x in problem.moments(i)], order)
            for i in range(problem.bodies())]
    return np.array(rows, object if exact else np.float64)


def moser_veselov_series(moments: Any, order: int) -> np.ndarray:
    """Coefficients of s and d, (order/2 - 1, 2, 6) of objects, row k for the k + 2 products of k + 1 factors x and z:
    exact fractions where the moments are float64, else their own numbers."""
    i1, i2, i3 = (Fraction(float(x)) if isinstance(x, float) else x for x in moments)
    e = i1*i2*i3
    x1, x2, x3, x4 = (1/i1**k + 1/i2**k + 1/i3**k for k in range(1, 5))   # sums of inverse powers
    s1, s2, s3, s4 = (i1**k + i2**k + i3**k for k in range(1, 5))         # sums of powers

    def y(k: int, n: int) -> Any:
        return (i1**k + i2**k)/i3**n + (i2**k + i3**k)/i1**n + (i3**k + i1**k)/i2**n

    c = y(1, 1)
    rows = [
        ((s1/(6*e), -x1/3), (-1/(3*e), s1/(6*e))),
        (((s2/e - x1)/(30*e), (1 - c)/(30*e), (3*s1/e + 2*x2)/60),
         (-s1/e**2/60, x1/e/10 - s2/e**2/60, -(9 + c)/e/60)),
        (((4*e + 17*s3 - 15*e*c)/(2520*e**3), (9*s1 + 10*e*x2 - 6*y(2, 1))/(420*e**2),
          ((6*y(1, 2) - 100*x1)*e + 53*s2)/(2520*e**2), (15 - e*x3 - 2*c)/(630*e)),
         ((34*e*x1 - 19*s2)/(2520*e**3), (s3 + 2*e*c - 85*e)/(1260*e**3),
          (47*s1 + 13*y(2, 1) - 38*e*x2)/(2520*e**2), (9*e*x1 + e*y(1, 2) - 11*s2)/(1260*e**2))),
        (((62*s4 - 94*e*y(2, 1) + 66*e**2*x2 + 81*e*s1)/(45360*e**4),
          (-77*y(3, 1) + 75*e*y(1, 2) + 214*s2 - 240*e*x1)/(22680*e**3),
          (26*e*y(2, 2) + 55*s3 + 204*e - 50*e**2*x3 - 59*e*c)/(7560*e**3),
          (137*e*x2 - e*y(1, 3) + 3*s1 - 69*y(2, 1))/(11340*e**2),
          (2*e**2*x4 + 5*e*y(1, 2) - 171*e*x1 + 159*s2)/(45360*e**2)),
         ((60*c*e - 61*s3 - 247*e)/(45360*e**4),
          (54*e*s1 - s4 + 218*e*y(2, 1) - 426*e**2*x2)/(45360*e**4),
          (125*e*x1 - 5*y(3, 1) - 130*s2 + 4*e*y(1, 2))/(7560*e**3),
          (67*s3 - 735*e - 15*e*y(2, 2) + 87*e*c + 34*e**2*x3)/(22680*e**3),
          (165*s1 - e*y(1, 3) - 9*y(2, 1) - 145*e*x2)/(45360*e**2))),
    ]
    found = np.zeros((order//2 - 1, 2, 6), dtype=object)
    for k in range(order//2 - 1):
        for r in range(2):
            found[k, r, :k + 2] = rows[k][r]
    return found
