"""Free motion of a rigid body over a step in closed form, for compiled code.

As in `mechanics.systems._free_motion`: in renumbered axes Pi = (A_1 cn u, A_2 sn u, A_3 dn u), and the frame of the
polar angles of Pi about axis 3 turns in space about pi at a rate that is a function of sn^2. A step adds to u: the
functions of the sum follow from those of the start, which are known from Pi, by the addition theorem, and those of the
step. The angle of precession is a quadrature (Celledoni, Fasso, Saefstroem and Zanna 2008, SIAM J. Sci. Comput. 30,
2084; van Zon and Schofield 2007, J. Comput. Phys. 225, 145).
"""
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import kernel
from liestep.compile.precision import above_round_off, chosen_digits, coefficients
from liestep.compile.rows import Vector, axpy, cos, dot, put, row, scale, sin, sqrt
from liestep.compile.status import Status
from liestep.geometry.attitude import to_body
from liestep.mechanics.contracts.formulations import RigidBodies

LEVELS = 16   # of the arithmetic-geometric mean; 1 - m = 1e-32 takes 9
NODES = 8     # of a panel of the quadrature of the precession, at most half a radian long


@kernel
def pick(u: Vector, k: int) -> float:
    """u_k"""
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


class ExactFlow(NamedTuple):
    """The exact motion up to round-off, for steps of any length: symplectic, keeps energy and momentum."""

    nodes: np.ndarray    # (NODES,) on (0, 1)
    weights: np.ndarray  # (NODES,) add up to 1
    closeness: float     # relative difference of two means whose mean is their limit to round-off
    least: float         # 1 - m below it counts as this: far below the round-off of m

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Any:
        return np.zeros((2, LEVELS), y.dtype)

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, work: Any) -> Status:
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
    nodes, weights = gauss_legendre(NODES)
    digits = chosen_digits()
    return ExactFlow(coefficients(nodes), coefficients(weights), above_round_off(digits//2 - 1),
                     float(f"1e-{2*digits}"))


def gauss_legendre(count: int) -> tuple[list[Fraction], list[Fraction]]:
    """Nodes in (0, 1) and weights of Gauss quadrature, ten digits beyond the number type of the run: roots of the
    Legendre polynomial by Newton's method."""
    nodes, weights = [], []
    with localcontext(prec=chosen_digits() + 20):
        for start in np.polynomial.legendre.leggauss(count)[0]:
            x = Decimal(float(start))
            for _ in range(chosen_digits().bit_length() + 1):
                low, value = Decimal(1), x
                for n in range(2, count + 1):
                    low, value = value, ((2*n - 1)*x*value - (n - 1)*low)/n
                slope = count*(x*value - low)/(x*x - 1)
                x -= value/slope
            nodes.append(Fraction((1 + x)/2))
            weights.append(Fraction(1/((1 - x*x)*slope*slope)))
    return nodes, weights
