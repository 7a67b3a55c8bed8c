"""Splitting of rigid bodies into kicks by torques and forces and free motion; the free motion is a component.

The kinetic energy is quadratic in the momenta and the potential depends on attitudes and positions only, so that
coefficients of Runge-Kutta-Nystroem kind keep their order with a free motion of at least that order. Compositions of
the symmetric step kick, free motion, kick have their order with any symmetric free motion.

`MoserVeselov` of order 2 is the step of `lgvi` without forces. For a higher order its moments are modified: with x =
h^2 |Pi|^2/2 and z = h^2 T, which the map keeps, 1/I_j becomes s/I_j + d with polynomials s = 1 + ... and d in x and z
(Hairer and Vilmart 2006, J. Phys. A 39, 13225, theorem 3 and its appendix)."""
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import frexp
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.precision import above_round_off, chosen_digits, coefficients
from liestep.compile.rows import Vector, add, axpy, cos, cross, dot, put, row, scale, sin, sqrt, sub
from liestep.compile.status import Status
from liestep.errors import InputError
from liestep.geometry.attitude import in_space, to_body, to_space, turn
from liestep.geometry.rodrigues import cayley
from liestep.geometry.so3 import exp_apply, quadratic
from liestep.integrators._newton import iterate, settled, solve_columns
from liestep.integrators.gauss import fractions, nodes_of
from liestep.integrators.kicks import FreeMotion, RigidSplit
from liestep.integrators.weights import NYSTROEM_SCHEMES, SPLITTING_ORDERS, drifts_and_kicks
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.method import FREE, VARIATIONAL, Certified, Facts, Keeps, Method, Places, Where, each
from liestep.mechanics.contracts.sheet import Option, Options, Parameters, Sheet, whole_number

UNIT = 5  # place of an inverse unit in rows of coefficients, which use fewer


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

    def improve(self, given: tuple, f: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        j, g, counters = given
        jf = (j[0]*f[0], j[1]*f[1], j[2]*f[2])
        residual = sub(axpy(0.5, cross(f, jf), jf), scale(1.0 + 0.25*dot(f, f), g))
        # columns of the derivative: J e + (e x J f + f x J e)/2 - (f.e)/2 g
        one = axpy(-0.5*f[0], g, axpy(0.5, add((0.0, -jf[2], jf[1]), (0.0, j[0]*f[2], -j[0]*f[1])), (j[0], 0.0, 0.0)))
        two = axpy(-0.5*f[1], g, axpy(0.5, add((jf[2], 0.0, -jf[0]), (-j[1]*f[2], 0.0, j[1]*f[0])), (0.0, j[1], 0.0)))
        three = axpy(-0.5*f[2], g, axpy(0.5, add((-jf[1], jf[0], 0.0), (j[2]*f[1], -j[2]*f[0], 0.0)), (0.0, 0.0, j[2])))
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


@borrows(FreeMotion, improve=DiscreteTurn.improve)
class MoserVeselov(NamedTuple):
    """Discrete Moser-Veselov map of order 2, or 4 to 10 with modified moments: symmetric, keeps energy and momentum of
    the free body; symplectic for order 2 only."""

    order: int        # 2, 4, 6, 8 or 10
    tolerance: float  # on the error left in the rotation of a step, relative to its size
    iterations: int   # at most

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> np.ndarray:
        """`moser_veselov_series` of all bodies (n, order/2 - 1, 2, 6), float64 unless y is exact."""
        rows = [moser_veselov_series([x.real if isinstance(x, complex) else x for x in problem.moments(i)], self.order)
                for i in range(problem.bodies())]
        return np.array(rows, object if y.dtype == object else np.float64)

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, work: np.ndarray) -> Status:
        q, j = y[3*i:3*i + 3], problem.moments(i)
        g = row(y, 3*problem.bodies() + i)
        p = to_body(q, g)
        if work.shape[1] > 0:
            unit = work[i, 0, 0, UNIT]
            x = 0.5*h*h*dot(p, p)*unit*unit
            z = 0.5*h*h*(p[0]*p[0]/j[0] + p[1]*p[1]/j[1] + p[2]*p[2]/j[2])*unit
            s, d = series_sums(work[i], x, z)
            d = d*unit
            j = (1.0/(s/j[0] + d), 1.0/(s/j[1] + d), 1.0/(s/j[2] + d))
        status, f = discrete_turn(self, j, scale(h, p), problem.counters)
        if status != Status.OK:
            return Status.TURN_TOO_LARGE
        turn_by_cayley(in_space(q, f, p, g), q)
        return Status.OK


class ByMiddleMomentum(FreeMotion):
    """Free motions that turn a body by the angular velocity of a momentum in the middle of the step."""

    def flow(self: Any, problem: RigidBodies, i: int, h: float, y: np.ndarray, work: Any) -> Status:
        q, j = y[3*i:3*i + 3], problem.moments(i)
        p = to_body(q, row(y, 3*problem.bodies() + i))
        status, m = iterate(self, (h, j, p, problem.counters), p, np.inf, self.iterations)
        if status != Status.OK:
            return Status.TURN_TOO_LARGE
        self.apply((h*m[0]/j[0], h*m[1]/j[1], h*m[2]/j[2]), q, problem.counters)
        return Status.OK


@borrows(ByMiddleMomentum)
class BodyMidpoint(NamedTuple):
    """Order 2: midpoint rule on the body momentum with the Cayley map of its angular velocity (Austin, Krishnaprasad
    and Wang 1993); symmetric, keeps energy and momentum of the free body."""

    tolerance: float  # on the error left in the middle momentum, relative to its size
    iterations: int   # at most

    def apply(self, u: Vector, q: np.ndarray, counters: np.ndarray) -> None:
        turn_by_cayley(to_space(q, u), q)

    def improve(self, given: tuple, m: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        """m - (h/2) m x J^-1 m = p, columns of the derivative along the axes."""
        h, j, p, counters = given
        w = (m[0]/j[0], m[1]/j[1], m[2]/j[2])
        residual = sub(axpy(-0.5*h, cross(m, w), m), p)
        column = axpy(-0.5*h, add((0.0, -w[2], w[1]), (0.0, m[2]/j[0], -m[1]/j[0])), (1.0, 0.0, 0.0))
        two = axpy(-0.5*h, add((w[2], 0.0, -w[0]), (-m[2]/j[1], 0.0, m[0]/j[1])), (0.0, 1.0, 0.0))
        three = axpy(-0.5*h, add((-w[1], w[0], 0.0), (m[1]/j[2], -m[0]/j[2], 0.0)), (0.0, 0.0, 1.0))
        return corrected(m, (column, two, three), residual, self.tolerance, counters)


@borrows(ByMiddleMomentum)
class LieMidpoint(NamedTuple):
    """Order 2: I w = exp(-h w/2) Pi by a checked fixed point, attitude by exp(h w) (Krysl 2005); symmetric, keeps the
    momentum, not the energy."""

    tolerance: float   # on the error left in the middle momentum, relative to its size
    iterations: int    # at most
    stagnation: float  # relative update below which an iteration that no longer converges has ended

    def apply(self, u: Vector, q: np.ndarray, counters: np.ndarray) -> None:
        turn(to_space(q, u), q, q)
        counters[Counter.EXPONENTIALS] += 1

    def improve(self, given: tuple, m: Vector, previous: float) -> tuple[Status, Vector, float, bool]:
        h, j, p, counters = given
        new = exp_apply(scale(-0.5*h, (m[0]/j[0], m[1]/j[1], m[2]/j[2])), p)
        counters[Counter.EXPONENTIALS] += 1
        counters[Counter.ITERATIONS] += 1
        move, size = sub(new, m), dot(p, p)
        change, tight, loose = dot(move, move), self.tolerance*self.tolerance, self.stagnation*self.stagnation
        return Status.OK, new, change, settled(change, tight*size, change, 0.5*previous, loose*size)


def moser_veselov_series(moments: Sequence[float], order: int) -> np.ndarray:
    """Coefficients of s and d, (order/2 - 1, 2, 6) of objects, row k for the k + 2 products of k + 1 factors x and z:
    exact fractions where the moments are float64, else their own numbers. They are those of moments in a unit near the
    largest, or their powers are too large for numbers; the first row has its inverse at UNIT, a power of two."""
    unit = Fraction(2)**-frexp(max(moments))[1] if isinstance(moments[0], float) else 1
    i1, i2, i3 = (Fraction(float(x))*unit if isinstance(x, float) else x for x in moments)
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
    coefficients = np.zeros((order//2 - 1, 2, 6), dtype=object)
    for k in range(order//2 - 1):
        for r in range(2):
            coefficients[k, r, :k + 2] = rows[k][r]
    coefficients[:1, 0, UNIT] = unit
    return coefficients


LEVELS = 16   # of the arithmetic-geometric mean; 1 - m = 1e-32 takes 9
NODES = 8     # of a panel of the quadrature of the precession, at most half a radian long


@kernel
def pick(u: Vector, k: int) -> float:
    return u[0] if k == 0 else (u[1] if k == 1 else u[2])


@kernel
def polar_frame(third: float, amplitude: float, root: float, sn: float, cn: float) -> tuple[Vector, Vector, Vector]:
    """Frame of the polar angles of Pi about axis 3, in body axes; the last vector is Pi/|Pi|."""
    across, along = cn, root*sn
    width = sqrt(across*across + along*along)
    wide = amplitude*width
    size = sqrt(third*third + wide*wide)
    cosine, sine = third/size, wide/size
    x, y = across/width, along/width
    return (cosine*x, cosine*y, -sine), (-y, x, 0.0), (sine*x, sine*y, cosine)


@kernel
def means(complement: float, closeness: float, work: np.ndarray) -> tuple[float, int]:
    """Arithmetic-geometric means of 1 and the root of 1 - m into the rows of `work` (2, LEVELS): the limit, and the
    number of the last level."""
    u, v, level = 1.0, sqrt(complement), 0
    work[0, 0], work[1, 0] = u, v
    while abs(u - v) > closeness*u and level < LEVELS - 1:
        u, v = 0.5*(u + v), sqrt(u*v)
        level += 1
        work[0, level], work[1, level] = u, v
    return 0.5*(u + v), level


@kernel
def jacobi(u: float, mean: float, last: int, work: np.ndarray) -> Vector:
    """sn, cn, dn of u by descending Gauss transformations (Bulirsch 1965) with the levels of `means`."""
    sine, cosine = sin(mean*u), cos(mean*u)
    if sine == 0.0:
        return 0.0, 1.0, 1.0
    x = cosine/sine
    c, dn = mean*x, 1.0
    for k in range(last, -1, -1):
        a, b = work[0, k], work[1, k]
        x = x*c
        c = c*dn
        dn = (b + x)/(a + x)
        x = c/a
    sn = 1.0/sqrt(c*c + 1.0)
    if sine < 0.0:
        sn = -sn
    return sn, c*sn, dn


@kernel
def sum_functions(one: Vector, two: Vector, complement: float) -> Vector:
    """(sn, cn, dn) of the sum of two arguments. The denominator 1 - m sn^2 sn^2 is a sum of two squares, which keeps
    its digits where it nearly vanishes: beside the separatrix."""
    s0, c0, d0 = one
    s1, c1, d1 = two
    f = 1.0/(c0*c0 + s0*s0*d1*d1)
    m = 1.0 - complement
    return f*(s0*c1*d1 + s1*c0*d0), f*(c0*c1 - s0*s1*d0*d1), f*(d0*d1 - m*s0*s1*c0*c1)


@borrows(FreeMotion)
class ExactFlow(NamedTuple):
    """The exact motion up to round-off, for steps of any length: symplectic, keeps energy and momentum.

    As in `mechanics.systems.free_rigid_body`: in renumbered axes Pi = (A_1 cn u, A_2 sn u, A_3 dn u), and the frame of
    the polar angles of Pi about axis 3 turns in space about pi at a rate that is a function of sn^2. A step adds to u:
    the functions of the sum follow from those of the start, which are known from Pi, by the addition theorem, and those
    of the step. The angle of precession is a quadrature (Celledoni, Fasso, Saefstroem and Zanna 2008, SIAM J. Sci.
    Comput. 30, 2084; van Zon and Schofield 2007, J. Comput. Phys. 225, 145)."""

    nodes: np.ndarray    # (NODES,) on (0, 1)
    weights: np.ndarray  # (NODES,) add up to 1
    closeness: float     # relative difference of two means whose mean is their limit to round-off
    least: float         # 1 - m below it counts as this: far below the round-off of m

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> np.ndarray:
        return np.zeros((2, LEVELS), y.dtype)

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, work: np.ndarray) -> Status:
        j, q = problem.moments(i), y[3*i:3*i + 3]
        momentum = row(y, 3*problem.bodies() + i)
        p, size = to_body(q, momentum), sqrt(dot(momentum, momentum))
        if size == 0.0:
            return Status.OK
        k1, k2, k3, sign, fastest = self.axes(j, p)
        one, two, three = pick(j, k1), pick(j, k2), pick(j, k3)
        p1, p2, p3 = sign*pick(p, k1), pick(p, k2), pick(p, k3)
        # squared ratio A_2/A_1, and what A_2^2 takes from A_3^2; equal moments: any number will do
        ratio = 1.0 if two == three else (1.0 - three/one)/(1.0 - three/two)
        flat = 0.0 if one == two else (1.0 - one/two)/(1.0 - one/three)
        root = sqrt(ratio)
        amplitude, axial = sqrt(p1*p1 + p2*p2/ratio), sqrt(p3*p3 + p2*p2*flat)
        complement, start = 1.0 + 0.0*size, (0.0*size, 1.0 + 0.0*size, 1.0 + 0.0*size)  # in the type of the numbers
        if axial > 0.0:
            if p3 < 0.0:
                axial = -axial
            complement = (p3*p3 - p1*p1*ratio*flat)/(axial*axial)
            if complement < self.least:
                complement = self.least + 0.0*size
            start = (start[0], start[1], p3/axial)
        if amplitude > 0.0:
            start = (p2/(root*amplitude), p1/amplitude, start[2])
        rate = axial*(1.0/one - 1.0/three)/root
        if start[1] == 0.0 and start[2] == 0.0:  # steady about the middle axis: it stays there, unstable as it is
            rate = 0.0*size
        mean, last = means(complement, self.closeness, work)
        turned = 0.0*size
        if one != two:
            turned = self.weight(start, h, rate, ratio, complement, 2.0*abs(h)*size/fastest, mean, last, work)
        angle = h*size*(1.0/one + (1.0/two - 1.0/one)*turned)
        end = sum_functions(start, jacobi(h*rate, mean, last, work), complement)
        self.place(q, (k1, k2, k3), sign, polar_frame(axial*start[2], amplitude, root, start[0], start[1]),
                   polar_frame(axial*end[2], amplitude, root, end[0], end[1]), angle)
        problem.counters[Counter.EXPONENTIALS] += 1
        return Status.OK

    def axes(self, j: Vector, p: Vector) -> tuple[int, int, int, float, float]:
        """Renumbered axes: Pi circulates about the third, the second has the middle moment; the sign that makes them
        right-handed, and the smallest moment."""
        a, b, c = 0, 1, 2
        if j[0] > j[1]:
            a, b = b, a
        if pick(j, b) > pick(j, c):
            b, c = c, b
        if pick(j, a) > pick(j, b):
            a, b = b, a
        small, middle, large = pick(j, a), pick(j, b), pick(j, c)
        pa, pc = pick(p, a), pick(p, c)
        # sign of |Pi|^2 - 2 T I_b; equal moments leave only the axis of the other one
        excess = pc*pc*(1.0 - middle/large) - pa*pa*(middle/small - 1.0)
        if excess > 0.0 or (excess == 0.0 and middle == small):
            k1, k2, k3 = a, b, c
        else:
            k1, k2, k3 = c, b, a
        right = (k2 - k1 + 3) % 3 == 1
        return k1, k2, k3, 1.0 if right else -1.0, small

    def weight(self, start: Vector, h: float, rate: float, ratio: float, complement: float, panels: float,
               mean: float, last: int, work: np.ndarray) -> float:
        """Mean over the step of ratio sn^2/(cn^2 + ratio sn^2), by Gauss quadrature over panels."""
        count = 1
        while count < panels:
            count += 1
        total = 0.0*h
        for k in range(count):
            for n in range(self.nodes.shape[0]):
                u = (k + self.nodes[n])/count*h*rate
                sn, cn, _ = sum_functions(start, jacobi(u, mean, last, work), complement)
                total += self.weights[n]*ratio*sn*sn/(cn*cn + ratio*sn*sn)
        return total/count

    def place(self, q: np.ndarray, axes: tuple[int, int, int], sign: float, before: tuple[Vector, Vector, Vector],
              after: tuple[Vector, Vector, Vector], angle: float) -> None:
        """Q <- Q F R(angle about the third axis) G^T with the frames F before and G after, in the renumbered axes."""
        e1, e2, e3 = scale(sign, row(q, axes[0])), row(q, axes[1]), row(q, axes[2])
        f1, f2, f3 = before
        t1 = axpy(f1[0], e1, axpy(f1[1], e2, scale(f1[2], e3)))
        t2 = axpy(f2[0], e1, axpy(f2[1], e2, scale(f2[2], e3)))
        t3 = axpy(f3[0], e1, axpy(f3[1], e2, scale(f3[2], e3)))
        cosine, sine = cos(angle), sin(angle)
        r1 = axpy(cosine, t1, scale(sine, t2))
        r2 = axpy(-sine, t1, scale(cosine, t2))
        g1, g2, g3 = after
        put(q, axes[0], scale(sign, axpy(g1[0], r1, axpy(g2[0], r2, scale(g3[0], t3)))))
        put(q, axes[1], axpy(g1[1], r1, axpy(g2[1], r2, scale(g3[1], t3))))
        put(q, axes[2], axpy(g1[2], r1, axpy(g2[2], r2, scale(g3[2], t3))))


def exact_flow() -> ExactFlow:
    """The flow in the number type of the run."""
    digits = chosen_digits()
    nodes, weights = panel()
    return ExactFlow(coefficients(nodes), coefficients(weights), above_round_off(digits//2 - 1),
                     float(f"1e-{2*digits}"))


@cache
def panel() -> tuple[list[Fraction], list[Fraction]]:
    """Nodes in (0, 1) and weights of Gauss quadrature."""
    nodes = nodes_of("gauss", NODES)
    return nodes, fractions(nodes)[1]


ORDERS = (2, 4, 6, 8, 10)
SOLVER = {"tolerance": Option(1e-15, "error left in the free motion of a step, relative to its size"),
          "iterations": Option(60, "iterations of a body in a free motion, at most")}


def splitting(default: str) -> dict[str, Option]:
    """The option that names drifts and kicks."""
    return {"splitting": Option(default, "coefficients: compositions of kick, drift, kick, or of Runge-Kutta-Nystroem"
                                " kind with 6 (rkn4), 11 (rkn6) or 14 (rkn6a) kicks", tuple(SPLITTING_ORDERS))}


SPLITTINGS = each("splitting", *list(SPLITTING_ORDERS)[:-1])  # rkn6a is the default


def order_of_splitting(options: Options, *_: Sheet | Parameters) -> int:
    """`Method.order_for`: the order of the option `splitting`."""
    return SPLITTING_ORDERS[options["splitting"]]


def _fitting(order: Callable[[Options], int], remedy: str) -> Callable[[Options], dict[str, Any]]:
    """`Method.resolve`: refuses coefficients of Runge-Kutta-Nystroem kind for a free motion of lower order."""
    def resolve(options: Options) -> dict[str, Any]:
        chosen, have = options["splitting"], order(options)
        if chosen in NYSTROEM_SCHEMES and SPLITTING_ORDERS[chosen] > have:
            allowed = ", ".join(name for name, own in SPLITTING_ORDERS.items()
                                if name not in NYSTROEM_SCHEMES or own <= have)
            raise InputError(f"option splitting is {chosen}, which needs a free motion of order"
                             f" {SPLITTING_ORDERS[chosen]}, and here it has order {have}; allowed are"
                             f" {allowed}{remedy}")
        return dict(options)

    return resolve


def _method(summary: str, default: str, free: Callable[[Options], Any], order: Callable[[Options], int],
            conserves: Facts, citation: str, options: Mapping[str, Option], remedy: str = "",
            **declared: Any) -> Method:
    def build(chosen: Options, tolerance: float | None, t_end: float) -> RigidSplit:
        return RigidSplit(free(chosen), *drifts_and_kicks(chosen["splitting"]))

    return Method(summary=summary, order=SPLITTING_ORDERS[default], formulation="rigid_bodies", symmetric=True,
                  options={**splitting(default), **options}, resolve=_fitting(order, remedy), conserves=conserves,
                  order_for=order_of_splitting, citation=citation, build=build, **declared)


EVERY = max(SPLITTING_ORDERS.values())


METHODS = {
    "exact_split": _method(
        "order 6, or 2 to 8 by splitting; explicit, exact free motion by elliptic functions for steps of any angle",
        "rkn6a", lambda options: exact_flow(), lambda options: EVERY,
        (*VARIATIONAL, FREE),
        "Celledoni, Fasso, Saefstroem and Zanna 2008; Blanes and Moan 2002", {},
        mark=((6, 0, 30), "solid", "exact splitting"), places=Places(won_from=0.0), certified=Certified(SPLITTINGS)),
    "dmv": _method(
        "order 6, or 2 to 8 by splitting; free motion by the discrete Moser-Veselov map, preprocessed to order 10",
        "rkn6a", lambda options: MoserVeselov(options["order"], options["tolerance"], options["iterations"]),
        lambda options: options["order"],
        (Keeps.MANIFOLD, Keeps.MOMENTUM, FREE, *(
            Where(fact, "for order 2 (then strang is lgvi) only", lambda options, *_: options["order"] == 2)
            for fact in (Keeps.SYMPLECTIC, Keeps.BOUNDED))),
        "Hairer and Vilmart 2006; Blanes and Moan 2002",
        {"order": whole_number("order", 10, ORDERS, "order of the free motion"), **SOLVER},
        ", or a higher order of the free motion", mark=((6, 0, 0), "solid", "DMV"), places=Places(won_from=0.0),
        certified=Certified(
            ({}, *({"order": order, "splitting": name} for order, name in ((2, "kl6"), (4, "rkn4"), (6, "rkn6")))),
            same=(({"order": 2, "splitting": "strang"}, "lgvi", {}),
                  ({"order": 2, "splitting": "y4"}, "lgvi", {"weights": "y4"})))),
    "body_midpoint": _method(
        "order 2, or 4 to 8 by splitting; free motion by the midpoint rule for the body momentum and the Cayley map",
        "strang", lambda options: BodyMidpoint(options["tolerance"], options["iterations"]), lambda options: 2,
        (Keeps.MANIFOLD, Keeps.MOMENTUM, FREE),
        "Austin, Krishnaprasad and Wang 1993", SOLVER, mark=((4, 0, 0), "dashdot", "body midpoint"),
        certified=Certified(each("splitting", "s4"))),
    "lie_midpoint": _method(
        "order 2, or 4 to 8 by splitting; free motion by the Lie midpoint rule",
        "strang", lambda options: LieMidpoint(options["tolerance"], options["iterations"], above_round_off(3)),
        lambda options: 2, (Keeps.MANIFOLD, Keeps.MOMENTUM), "Krysl 2005", SOLVER,
        mark=((4, 0, 45), "dashed", "Lie midpoint"), certified=Certified(each("splitting", "y4"))),
}
