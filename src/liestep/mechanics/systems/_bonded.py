"""Spherical contacts and elastic bonds between rigid bodies, and a wall: rodrigues2021, section 4.

For a bond (i, j) with rest length r0 and rest direction d0 from j to i, B = R R_0^T the turn from the rest attitude,
r = |x_i - x_j| and d = (x_i - x_j)/r:

    bending   K^m theta^2/2            theta the rotation vector of B_i B_j^T
    axial     K^a (r/r0 - 1)^2/2
    shear     K^s (1 - c)^2/2          printed: c = (B_i d0).(B_j d); mean: c = d.(B_i d0 + B_j d0)/2;
                                       one_sided: half of each one-sided energy, c = d.(B_i d0) and c = d.(B_j d0)
    contact   K s^p/p                  s = 1 - r/D where positive, D = (D_i + D_j)/2, p = 5/2, 3 or 5
    wall      K s^p/p, or half of it   s = 1 - x/(D_i/2) where positive: a particle of no diameter at the foot point, or
                                       the mirror image

The printed prefactor 5/2 of the contact is 2/5 (erratum 3); the printed shear energy changes when everything is turned,
but not when the bodies are turned in their places (erratum 6), so that the sum of their own angular momenta is kept and
the total angular momentum is not.
"""
from typing import NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import Vector, add, add_to, atan2, axpy, cross, dot, put, row, scale, sqrt, sub
from liestep.geometry.attitude import to_body, to_space
from liestep.mechanics.systems._neighbours import NeighbourList

SHEAR, WALL = ("printed", "mean", "one_sided"), ("none", "point", "mirror")
PAIRS, CONTACT = ("none", "bonded", "all"), ("hertz", "cubic", "quintic")
PRINTED, MEAN, BONDED, ALL, POINT, HERTZ, CUBIC = 0, 1, 1, 2, 1, 0, 1
TORN = 10.0  # times its length by which a bond may grow; beyond, the run has blown up


@kernel
def relative_rotation(p: np.ndarray, i: int, j: int) -> Vector:
    """Rotation vector of B_i B_j^T, from the axes in rows 3i and 3j; NaN for a turn by pi, whose axis has two signs."""
    one, two, three = row(p, 3*i), row(p, 3*i + 1), row(p, 3*i + 2)
    other, second, third = row(p, 3*j), row(p, 3*j + 1), row(p, 3*j + 2)
    sine = add(cross(other, one), add(cross(second, two), cross(third, three)))
    cosine = dot(one, other) + dot(two, second) + dot(three, third) - 1.0
    size = sqrt(dot(sine, sine))
    return scale(0.5 if size < 1e-8 and cosine > 0.0 else atan2(size, cosine)/size, sine)


@kernel
def contact_terms(law: int, s: float) -> tuple[float, float]:
    """s^(p - 1) and s^p/p."""
    if law == HERTZ:
        root = s*sqrt(s)
        return root, 0.4*root*s
    square = s*s
    if law == CUBIC:
        return square, square*s/3.0
    return square*square, 0.2*square*square*s


class BondedParticles(NamedTuple):
    """Forces, torques and energies; energies in the order of POTENTIAL."""

    diameter: np.ndarray   # (n,)
    first: np.ndarray      # (b,) int64
    second: np.ndarray     # (b,) int64
    length: np.ndarray     # (b,) r0
    direction: np.ndarray  # (b, 3) d0
    bending: np.ndarray    # (b,)
    axial: np.ndarray      # (b,)
    shear: np.ndarray      # (b,)
    contact: float
    wall: float
    shear_law: int         # of SHEAR
    wall_law: int          # of WALL
    pairs: int             # of PAIRS
    contact_law: int       # of CONTACT
    neighbours: NeighbourList
    turned: bool           # whether a rest attitude is not the identity
    rest: np.ndarray       # (3n, 3) axes of the rest attitudes
    frames: np.ndarray     # (3n, 3) axes of B, where turned

    def forces(self, y: np.ndarray, out: np.ndarray, energy: np.ndarray) -> bool:
        n = self.diameter.shape[0]
        for i in range(2*n):
            put(out, i, (0.0, 0.0, 0.0))
        if self.turned:
            for i in range(n):
                for k in range(3):
                    part = (self.rest[3*i, k], self.rest[3*i + 1, k], self.rest[3*i + 2, k])
                    put(self.frames, 3*i + k, to_space(y[3*i:3*i + 3], part))
            whole = self.bonds(self.frames, y[4*n:5*n], out, energy)
        else:
            whole = self.bonds(y, y[4*n:5*n], out, energy)
        if self.pairs == ALL and not self.contacts(y[4*n:5*n], out, energy):
            return False
        energy[4] = 0.0
        if self.wall_law != 0:
            self.push(y[4*n:5*n], out, energy)
        return whole

    @outlined
    def bonds(self, p: np.ndarray, x: np.ndarray, out: np.ndarray, energy: np.ndarray) -> bool:
        """Forces of all bonds with axes of B in p and positions x; False where one is torn."""
        n, whole = self.diameter.shape[0], True
        bending, shear, axial, contact = 0.0, 0.0, 0.0, 0.0
        for b in range(self.first.shape[0]):
            i, j = self.first[b], self.second[b]
            theta = relative_rotation(p, i, j)
            bending += 0.5*self.bending[b]*dot(theta, theta)
            one = scale(-self.bending[b], theta)
            two = scale(-1.0, one)
            gap = sub(row(x, i), row(x, j))
            r = sqrt(dot(gap, gap))
            d = scale(1.0/r, gap)
            stretch = r/self.length[b] - 1.0
            whole = whole and stretch < TORN
            axial += 0.5*self.axial[b]*stretch*stretch
            pull = scale(-self.axial[b]/self.length[b]*stretch, d)
            stiffness, rest = self.shear[b], row(self.direction, b)
            if stiffness != 0.0:
                left = to_space(p[3*i:3*i + 3], rest)
                if self.shear_law == PRINTED:
                    right = to_space(p[3*j:3*j + 3], d)
                    c = dot(left, right)
                    k = stiffness*(1.0 - c)
                    shear += 0.5*k*(1.0 - c)
                    pull = axpy(k/r, axpy(-c, d, to_body(p[3*j:3*j + 3], left)), pull)
                    twist = scale(k, cross(left, right))
                    one, two = add(one, twist), sub(two, twist)
                else:
                    right = to_space(p[3*j:3*j + 3], rest)
                    a, c = dot(left, d), dot(right, d)
                    if self.shear_law == MEAN:
                        miss = 1.0 - 0.5*(a + c)
                        u = 0.5*stiffness*miss
                        v = u
                        shear += u*miss
                    else:
                        u, v = 0.5*stiffness*(1.0 - a), 0.5*stiffness*(1.0 - c)
                        shear += 0.5*(u*(1.0 - a) + v*(1.0 - c))
                    pull = axpy(u/r, axpy(-a, d, left), axpy(v/r, axpy(-c, d, right), pull))
                    one, two = axpy(u, cross(left, d), one), axpy(v, cross(right, d), two)
            if self.pairs == BONDED:
                reach = 0.5*(self.diameter[i] + self.diameter[j])
                s = 1.0 - r/reach
                if s > 0.0:
                    force, stored = contact_terms(self.contact_law, s)
                    pull = axpy(self.contact/reach*force, d, pull)
                    contact += self.contact*stored
            add_to(out, i, one)
            add_to(out, j, two)
            add_to(out, n + i, pull)
            add_to(out, n + j, scale(-1.0, pull))
        energy[0], energy[1], energy[2], energy[3] = bending, shear, axial, contact
        return whole

    def contacts(self, x: np.ndarray, out: np.ndarray, energy: np.ndarray) -> bool:
        """Forces between all particles that touch; False where the list of pairs cannot be made."""
        if not self.neighbours.update(x):
            return False
        n, total = self.diameter.shape[0], 0.0
        offset, partner = self.neighbours.offset, self.neighbours.partner
        for i in range(n):
            place, half = row(x, i), 0.5*self.diameter[i]
            for k in range(offset[i], offset[i + 1]):
                j = partner[k]
                gap = sub(place, row(x, j))
                reach = half + 0.5*self.diameter[j]
                square = dot(gap, gap)
                if square < reach*reach:
                    r = sqrt(square)
                    force, stored = contact_terms(self.contact_law, 1.0 - r/reach)
                    push = scale(self.contact/reach*force/r, gap)
                    add_to(out, n + i, push)
                    add_to(out, n + j, scale(-1.0, push))
                    total += self.contact*stored
        energy[3] = total
        return True

    def push(self, x: np.ndarray, out: np.ndarray, energy: np.ndarray) -> None:
        """Forces of the wall x = 0."""
        n, total = self.diameter.shape[0], 0.0
        share = self.wall if self.wall_law == POINT else 0.5*self.wall
        for i in range(n):
            radius = 0.5*self.diameter[i]
            s = 1.0 - x[i, 0]/radius
            if s > 0.0:
                force, stored = contact_terms(self.contact_law, s)
                out[n + i, 0] += share/radius*force
                total += share*stored
        energy[4] = total
