"""Bodies, joints, gravity for compiled code: accelerations and multipliers of the index-1 equations.

    M dV/dt + A^T lambda = f,   A dV/dt + gamma = 0        (lgt2022, section 3.2)

are solved in range space: (A M^-1 A^T) lambda = A M^-1 f + gamma. About the centre of mass and in the body's axes M^-1
is constant, so that neither the reference points nor the kind of velocity enter. The matrix is positive definite unless
joints are redundant, and banded in the order that `assembly` finds, so that chains cost O(n).

Rows of joints, each for bodies a and b (number n is the ground; P_a, P_b points, u_a, u_b unit vectors of the bodies):

    POINT       P_a - P_b                          three rows, spatial
    DIRECTION   u_a.u_b
    LINE        u_a.(P_b - P_a)                    P_b stays in the plane through P_a with normal u_a
    SCREW       u_a.(P_b - P_a) - pitch angle      modulo 2 pi pitch; the angle turns e_a to e_b about u_a
    DRIVE       angle - p(t)                       that angle, modulo 2 pi; p(t) = p_0 + p_1 t + p_2 sin(p_3 t)
    SLIDE_DRIVE u_a.(P_b - P_a) - p(t)             the same p
    DISTANCE    (|P_b - P_a|^2 - L^2)/(2 L)        of length L
    EVEN        e_a.u_b - u_a.e_b                  no turn of b against a about the axis that halves those of two shafts
                                                   orthogonal to u and e: a joint of constant velocity
    CURVE       f(P_b - P_a in the axes of a)      of a function that `elements` holds

Rows of velocities alone:

    BLADE       u_a.dP_a/dt                        P_a does not move along u_a
    ROLL        velocity of the contact            three rows, spatial: a disc about u_a, its centre P_a, rolls on the
                                                   plane through P_b with normal u_b; its height is a residual too
    GEAR        e_a.omega_a + e_b.omega_b          and u_a.v_a + u_b.v_b of the centres of mass: e of the bodies in
                                                   their axes, u in space: gears in a housing, rack and pinion

Rows that hold nothing, of the rate dx/dt of a joint that is free (`inertia` J of it, `damping` c):

    ROTOR          u - c v, c = u.v, on omega_b - omega_a, over 1 - c^2: of turns in sequence about u_a, ..., v_b the
                   rate of the first; for v_b = 0 the rate about u_a
    ROTOR_BETWEEN  u x v on it, over its length: the rate of the turn between those two
    SLIDER         d/dt u_a.(P_b - P_a)

Their multiplier is J d2x/dt2 + c dx/dt, so that 1/J is added to their pivot: M + J G^T G, without a matrix that couples
bodies. Without inertia the damping is a force on both bodies, and the row is empty.

Forces are those of `elements`. Mechanisms where forces or drives do work have a clock, the last row of their states:
time, and this work."""
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.dispatch import kernel, outlined
from liestep.compile.rows import (
    Vector,
    add,
    add_to,
    atan2,
    axpy,
    below,
    cos,
    cross,
    dot,
    put,
    row,
    scale,
    sin,
    sqrt,
    sub,
    unit,
    wipe,
)
from liestep.geometry.bands import SMALLEST, factor_band, solve_band

# from BLADE on rows of velocities alone, from SLIDER on rows that hold nothing
Kind = IntEnum("Kind", "POINT DIRECTION LINE SCREW DRIVE SLIDE_DRIVE DISTANCE EVEN CURVE BLADE ROLL GEAR SLIDER ROTOR"
               " ROTOR_BETWEEN", start=0)
BODY = 8     # rows of `constants` of a body: (mass, 1/mass, 0), inertia (3), its inverse (3), centre of mass
GROUP = 7    # P_a and P_b (of a DRIVE p_0, p_1 and p_2, p_3), u_a, u_b, e_a, e_b (of a SLIDE_DRIVE that p),
#              (pitch, radius or length, J, c); of a CURVE u_a and the last two as `elements.Elements.hold` says
POOR = 1e-5  # pivot relative to the diagonal below which rows count as nearly dependent, where that is looked at
SOFT, ROUNDS, UNSOLVED = 1e-6, 4, 1e-3  # of `solve_softly`: the last is of a residual that is no error of joints
MOVING = 9   # rows of `scratch` of a body: axes (3), then those below
PLACE, RATE, TURN, VELOCITY, SPIN, PUSH = 3, 4, 5, 6, 7, 8  # its last row: time, power, kinetic energy of rates


@kernel
def times(a: np.ndarray, i: int, v: Vector) -> Vector:
    """The matrix in rows i, i + 1, i + 2 times v; of rows that are axes in space: spatial components to body ones."""
    return dot(row(a, i), v), dot(row(a, i + 1), v), dot(row(a, i + 2), v)


@kernel
def across(a: np.ndarray, i: int, v: Vector) -> Vector:
    """The transposed matrix times v; of axes in space: body components to spatial ones."""
    return axpy(v[0], row(a, i), axpy(v[1], row(a, i + 1), scale(v[2], row(a, i + 2))))


class Mechanism(NamedTuple):
    """Data and scratch in few arrays, because compiled calls pass a component field by field. Made by `assembly`."""

    bodies: int            # n
    groups: int
    clock: int             # 1: states have a row of time and work
    rows: int              # scalar rows of all joints
    width: int             # of the band
    constants: np.ndarray  # BODY rows of each body, gravity, GROUP rows of each group
    table: np.ndarray      # (groups, 6) kind, a, b, first row in the band, first incident of a and b
    first: np.ndarray      # (n + 1,) first incident of each body: a row of a joint, seen from one of its bodies
    place: np.ndarray      # (K,) row in the band of each incident
    scratch: np.ndarray    # MOVING rows of each body and the ground; force, torque, J^-1 torque of each incident; last
    band: np.ndarray       # (rows, width + 1)
    vectors: np.ndarray    # (3, rows) multipliers, residuals, residuals of the velocity
    column: np.ndarray     # (2 rows,) scratch of the factorisation
    rate: float            # of Baumgarte's stabilisation, 1/s; 0: none
    elements: Any          # `elements.Elements`, or none
    idle: np.ndarray       # rows in the band that follow from others at the start: their multipliers are zero
    soft: np.ndarray       # (3, rows) scratch of `solve_softly`, whose first entry says whether it is used; or (0, 0)
    loose: int             # 1: a loss of rank is passed
    tree: Any              # `articulated.Articulated`, or none

    @outlined
    def evaluate(self, task: int) -> bool:
        """From places, rates and velocities in scratch. Task 0: accelerations; -1: those and multipliers, of a tree
        too; 1: residuals of joints, with their rows in scratch; 2: those and the factor of the matrix. False when the
        matrix is singular."""
        size = self.rows
        if task <= 0:
            self.free()
            if task == 0 and self.tree.accelerate(self.scratch, self.constants):
                return True
            for k in range(size):
                self.vectors[0, k] = 0.0
        if size == 0:
            return True
        self.scratch[self.scratch.shape[0] - 1, 2] = 0.0
        for k in range(size):
            self.vectors[2, k] = 0.0
        for j in range(self.groups):
            self.group_rows(j, task)
        for i in range(self.bodies):
            self.couple(i, task)
        if task == 1:
            return True
        if not self.factor():
            return False
        if task <= 0:
            if self.rate != 0.0:
                for k in range(size):
                    self.vectors[0, k] += self.rate*(2.0*self.vectors[2, k] + self.rate*self.vectors[1, k])
            if not self.solve(0):
                return False
            for i in range(self.bodies):
                spin, push = self.pulled(i, 0)
                add_to(self.scratch, MOVING*i + SPIN, spin)
                add_to(self.scratch, MOVING*i + PUSH, push)
            if self.clock == 1:
                self.add_power()
        return True

    def group_rows(self, j: int, task: int) -> None:
        """Rows, residuals and gamma of group j."""
        if self.table[j, 0] == Kind.POINT:
            self.point_rows(j, task > 0 or self.rate != 0.0)
        elif self.table[j, 0] == Kind.DRIVE:
            self.drive_row(j)
        elif self.table[j, 0] >= Kind.SLIDER:
            self.rate_row(j, task)
        elif self.table[j, 0] == Kind.DISTANCE:
            self.distance_row(j)
        elif self.table[j, 0] == Kind.GEAR:
            self.gear_row(j)
        elif self.table[j, 0] >= Kind.BLADE:
            self.rolling_rows(j)
        else:
            self.scalar_row(j, task > 0 or self.rate != 0.0)

    def assemble(self) -> None:
        """The matrix, after `couple`."""
        s, c, base, b = self.scratch, self.constants, MOVING*(self.bodies + 1), BODY*self.bodies + 1
        wipe(self.band)
        for j in range(self.groups):
            if self.table[j, 0] >= Kind.SLIDER:
                inertia = c[b + GROUP*j + 6, 1]
                self.band[self.table[j, 3], self.width] += 1.0/inertia if inertia > 0.0 else 1.0
        for i in range(self.bodies):
            for k in range(self.first[i], self.first[i + 1]):
                at, p = base + 3*k, self.place[k]
                turned, weighed = row(s, at + 2), scale(c[BODY*i, 1], row(s, at))
                for q in range(self.first[i], self.first[i + 1]):
                    o = self.place[q]
                    if o <= p:
                        to = base + 3*q
                        self.band[p, o - p + self.width] += dot(turned, row(s, to + 1)) + dot(weighed, row(s, to))

    def factor(self) -> bool:
        """The factor of the matrix without the rows that rest or, where the others come to depend on each other, of all
        rows with SOFT of its diagonal added."""
        self.assemble()
        for r in range(self.idle.shape[0]):
            self.rest(self.idle[r])
        regular = factor_band(self.band, self.column, self.rows, self.width)
        if self.soft.shape[0] == 0:
            return regular
        self.soft[0, 0] = 0.0
        for k in range(self.rows):
            regular = regular and not below(self.band[k, self.width], POOR/SMALLEST*self.column[self.rows + k])
        if regular:
            return True
        self.soft[0, 0] = 1.0
        self.assemble()
        for k in range(self.rows):
            self.band[k, self.width] *= 1.0 + SOFT
        return factor_band(self.band, self.column, self.rows, self.width)

    def rest(self, p: int) -> None:
        """Take row p out of the matrix."""
        for k in range(p, min(self.rows, p + self.width + 1)):
            self.band[k, p - k + self.width] = 0.0
        for c in range(self.width):
            self.band[p, c] = 0.0
        self.band[p, self.width] = 1.0

    def solve(self, which: int) -> bool:
        """Vector `which` overwritten by the solution with the factor of the matrix. False where there is none."""
        if self.soft.shape[0] > 0 and self.soft[0, 0] == 1.0:
            return self.solve_softly(which)
        for r in range(self.idle.shape[0]):
            self.vectors[which, self.idle[r]] = 0.0
        solve_band(self.band, self.vectors[which], self.rows, self.width)
        return True

    @outlined
    def solve_softly(self, which: int) -> bool:
        """K x = b by (K + D) x_k+1 = b + D x_k with D = SOFT diag K: what b has along the range of K converges as
        D/(K + D) does, and the rest is a multiplier without a force."""
        size, x, share = self.rows, self.vectors[which], SOFT/(1.0 + SOFT)/SMALLEST
        left, most = 0.0, 0.0
        for k in range(size):
            self.soft[1, k], self.soft[2, k] = x[k], 0.0
            most = max(most, abs(x[k]))
        for _ in range(ROUNDS):
            for k in range(size):
                x[k] = self.soft[1, k] + share*self.column[size + k]*self.soft[2, k]
            solve_band(self.band, x, size, self.width)
            left = 0.0
            for k in range(size):
                left = max(left, abs(share*self.column[size + k]*(x[k] - self.soft[2, k])))
                self.soft[2, k] = x[k]
        return self.loose == 1 or left <= UNSOLVED*most

    def free(self) -> None:
        """Accelerations without joints: SPIN in the body's axes, PUSH of the centre of mass in space."""
        s, c, end = self.scratch, self.constants, BODY*self.bodies
        for i in range(self.bodies):
            w = row(s, MOVING*i + RATE)
            put(s, MOVING*i + SPIN, times(c, BODY*i + 4, cross(times(c, BODY*i + 1, w), w)))
            put(s, MOVING*i + PUSH, row(c, end))
        s[s.shape[0] - 1, 1] = 0.0
        self.elements.accelerate(s, c, self.clock)

    def drive(self, j: int) -> Vector:
        """p(t) of drive j and its first two derivatives."""
        c, at = self.constants, BODY*self.bodies + 1 + GROUP*j
        at += 4 if self.table[j, 0] == Kind.SLIDE_DRIVE else 0
        t, size, f = self.scratch[self.scratch.shape[0] - 1, 0], c[at + 1, 0], c[at + 1, 1]
        return (c[at, 0] + c[at, 1]*t + size*sin(f*t), c[at, 1] + size*f*cos(f*t), -size*f*f*sin(f*t))

    @outlined
    def add_power(self) -> None:
        """Power of the drives to that of the elements."""
        for j in range(self.groups):
            if self.drives(j):
                self.scratch[self.scratch.shape[0] - 1, 1] += self.drive_power(j, self.vectors[0, self.table[j, 3]])

    def drives(self, j: int) -> bool:
        """Whether group j is a drive."""
        return self.table[j, 0] == Kind.DRIVE or self.table[j, 0] == Kind.SLIDE_DRIVE

    def drive_power(self, j: int, multiplier: float) -> float:
        """Of the reaction -lambda on the rate of its angle."""
        return -multiplier*self.drive(j)[1]

    @outlined
    def drive_row(self, j: int) -> None:
        """Row, residuals and gamma of a drive."""
        s, c, b = self.scratch, self.constants, BODY*self.bodies + 1 + GROUP*j
        start, base = self.table[j, 3], MOVING*(self.bodies + 1)
        m, n = MOVING*self.table[j, 1], MOVING*self.table[j, 2]
        u, turn, other = across(s, m, row(c, b + 2)), row(s, m + TURN), row(s, n + TURN)
        angle, speed, change = self.drive(j)
        e, f = across(s, m, row(c, b + 4)), across(s, n, row(c, b + 5))
        first, second = dot(e, f), dot(cross(e, f), u)
        for side in range(2):
            at, k, sign = base + 3*self.table[j, 4 + side], m if side == 0 else n, 2.0*side - 1.0
            put(s, at, (0.0, 0.0, 0.0))
            put(s, at + 1, scale(sign, times(s, k, u)))
        self.vectors[0, start] = dot(other, cross(turn, u)) - change
        self.vectors[1, start] = atan2(cos(angle)*second - sin(angle)*first, cos(angle)*first + sin(angle)*second)
        self.vectors[2, start] -= speed

    @outlined
    def rolling_rows(self, j: int) -> None:
        """Rows, residuals and gamma of a BLADE or ROLL group."""
        s, c, b = self.scratch, self.constants, BODY*self.bodies + 1 + GROUP*j
        start, m, at = self.table[j, 3], MOVING*self.table[j, 1], MOVING*(self.bodies + 1) + 3*self.table[j, 4]
        u, arm, w = across(s, m, row(c, b + 2)), across(s, m, row(c, b)), row(s, m + TURN)
        if self.table[j, 0] == Kind.BLADE:
            put(s, at, u)
            put(s, at + 1, times(s, m, cross(arm, u)))
            self.vectors[0, start] = dot(u, cross(w, cross(w, arm))) + dot(
                cross(w, u), add(row(s, m + VELOCITY), cross(w, arm)))
            self.vectors[1, start] = 0.0
            return
        normal, radius = row(c, b + 3), c[b + 6, 0]
        tilt, change = dot(normal, u), cross(w, u)
        down = axpy(tilt, u, scale(-1.0, normal))
        size = sqrt(dot(down, down))
        slope = axpy(dot(normal, change), u, scale(tilt, change))
        turned = scale(radius/size, axpy(tilt*dot(normal, change)/(size*size), down, slope))  # of the contact's arm
        height = dot(normal, sub(add(row(s, m + PLACE), arm), row(c, b + 1))) - radius*size
        bent = cross(w, add(cross(w, arm), turned))
        arm = axpy(radius/size, down, arm)
        for k in range(3):
            put(s, at + 3*k, unit(k))
            put(s, at + 3*k + 1, times(s, m, cross(arm, unit(k))))
            self.vectors[0, start + k] = bent[k]
            self.vectors[1, start + k] = height*normal[k]

    @outlined
    def distance_row(self, j: int) -> None:
        """Row, residual and gamma of a DISTANCE."""
        s, c, b = self.scratch, self.constants, BODY*self.bodies + 1 + GROUP*j
        start, base, gap, speed, bent = self.table[j, 3], MOVING*(self.bodies + 1), (0.0,)*3, (0.0,)*3, (0.0,)*3
        for side in range(2):
            m, sign = MOVING*self.table[j, 1 + side], 2.0*side - 1.0
            arm, w = across(s, m, row(c, b + side)), row(s, m + TURN)
            gap = axpy(sign, add(row(s, m + PLACE), arm), gap)
            speed = axpy(sign, add(row(s, m + VELOCITY), cross(w, arm)), speed)
            bent = axpy(sign, cross(w, cross(w, arm)), bent)
        size = c[b + 6, 0]
        for side in range(2):
            m, at = MOVING*self.table[j, 1 + side], base + 3*self.table[j, 4 + side]
            force = scale((2.0*side - 1.0)/size, gap)
            put(s, at, force)
            put(s, at + 1, times(s, m, cross(across(s, m, row(c, b + side)), force)))
        self.vectors[0, start] = (dot(speed, speed) + dot(gap, bent))/size
        self.vectors[1, start] = 0.5*(dot(gap, gap)/size - size)

    @outlined
    def gear_row(self, j: int) -> None:
        """Row of a GEAR; it has neither residual nor gamma."""
        s, c, b = self.scratch, self.constants, BODY*self.bodies + 1 + GROUP*j
        for side in range(2):
            at = MOVING*(self.bodies + 1) + 3*self.table[j, 4 + side]
            put(s, at, row(c, b + 2 + side))
            put(s, at + 1, row(c, b + 4 + side))
        self.vectors[0, self.table[j, 3]] = 0.0
        self.vectors[1, self.table[j, 3]] = 0.0

    def point_rows(self, j: int, residual: bool) -> None:
        """Rows, residuals and gamma of a POINT group."""
        s, c, b = self.scratch, self.constants, BODY*self.bodies + 1 + GROUP*j
        start, gap, bent = self.table[j, 3], (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for side in range(2):
            m, sign, arm = MOVING*self.table[j, 1 + side], 1.0 - 2.0*side, row(c, b + side)
            at = MOVING*(self.bodies + 1) + 3*self.table[j, 4 + side]
            w = row(s, m + RATE)
            bent = axpy(sign, across(s, m, cross(w, cross(w, arm))), bent)
            for k in range(3):
                axis = (s[m, k], s[m + 1, k], s[m + 2, k])
                put(s, at + 3*k, (sign if k == 0 else 0.0, sign if k == 1 else 0.0, sign if k == 2 else 0.0))
                put(s, at + 3*k + 1, scale(sign, cross(arm, axis)))
            if residual:
                gap = axpy(sign, add(row(s, m + PLACE), across(s, m, arm)), gap)
        for k in range(3):
            self.vectors[0, start + k] = bent[k]
            self.vectors[1, start + k] = gap[k]

    def scalar_row(self, j: int, residual: bool) -> None:
        """Row, residual and gamma of a group of one row."""
        s, c, b = self.scratch, self.constants, BODY*self.bodies + 1 + GROUP*j
        kind, start, base = self.table[j, 0], self.table[j, 3], MOVING*(self.bodies + 1)
        m, n = MOVING*self.table[j, 1], MOVING*self.table[j, 2]
        here, there = base + 3*self.table[j, 4], base + 3*self.table[j, 5]
        u, turn, other = across(s, m, row(c, b + 2)), row(s, m + TURN), row(s, n + TURN)
        gap = 0.0
        if kind == Kind.DIRECTION:
            v = across(s, n, row(c, b + 3))
            normal, between = cross(u, v), sub(turn, other)
            bent = dot(between, add(cross(cross(turn, u), v), cross(u, cross(other, v))))
            force, moment, back = (0.0, 0.0, 0.0), normal, scale(-1.0, normal)
            gap = dot(u, v)
        elif kind == Kind.EVEN:
            v, e, f = across(s, n, row(c, b + 3)), across(s, m, row(c, b + 4)), across(s, n, row(c, b + 5))
            normal, between = sub(cross(e, v), cross(u, f)), sub(turn, other)
            bent = dot(between, sub(add(cross(cross(turn, e), v), cross(e, cross(other, v))),
                                    add(cross(cross(turn, u), f), cross(u, cross(other, f)))))
            force, moment, back = (0.0, 0.0, 0.0), normal, scale(-1.0, normal)
            gap = dot(e, v) - dot(u, f)
        else:
            arm, far = across(s, m, row(c, b)), across(s, n, row(c, b + 1))
            point = add(row(s, n + PLACE), far)
            reach = sub(point, row(s, m + PLACE))
            speed = add(row(s, n + VELOCITY), cross(other, far))
            moving = sub(speed, row(s, m + VELOCITY))
            slide = sub(moving, cross(turn, reach))
            gap = dot(u, sub(reach, arm))
            if kind == Kind.CURVE:
                seen = times(s, m, slide)
                gap, normal, bend = self.elements.hold(c, b, times(s, m, sub(reach, arm)), seen)
                u = across(s, m, normal)
            tilt = cross(turn, u)
            bent = dot(tilt, slide) + dot(u, sub(cross(other, cross(other, far)), cross(turn, moving)))
            force, moment, back = scale(-1.0, u), scale(-1.0, cross(reach, u)), cross(far, u)
            if kind == Kind.CURVE:
                bent += dot(seen, bend)
            if kind == Kind.SCREW:
                pitch = c[b + 6, 0]
                bent -= pitch*dot(tilt, other)
                moment, back = axpy(pitch, u, moment), axpy(-pitch, u, back)
                if residual:
                    e, f = across(s, m, row(c, b + 4)), across(s, n, row(c, b + 5))
                    first, second = dot(e, f), dot(cross(e, f), u)
                    wound = gap/pitch
                    gap = pitch*atan2(sin(wound)*first - cos(wound)*second, cos(wound)*first + sin(wound)*second)
        if kind == Kind.SLIDE_DRIVE:
            value, rate, change = self.drive(j)
            gap -= value
            bent -= change
            self.vectors[2, start] -= rate
        put(s, here, force)
        put(s, here + 1, times(s, m, moment))
        put(s, there, scale(-1.0, force))
        put(s, there + 1, times(s, n, back))
        self.vectors[0, start] = bent
        self.vectors[1, start] = gap

    @outlined
    def rate_row(self, j: int, task: int) -> None:
        """Row and gamma of the rate of a joint with its damping."""
        s, c, b = self.scratch, self.constants, BODY*self.bodies + 1 + GROUP*j
        start, base, m, n = self.table[j, 3], MOVING*(self.bodies + 1), MOVING*self.table[j, 1], MOVING*self.table[j, 2]
        if self.table[j, 0] == Kind.SLIDER:
            self.scalar_row(j, False)
        else:
            u, v = across(s, m, row(c, b + 2)), across(s, n, row(c, b + 3))
            turn, other = row(s, m + TURN), row(s, n + TURN)
            du, dv = cross(turn, u), cross(other, v)
            if self.table[j, 0] == Kind.ROTOR:
                near, dnear = dot(u, v), dot(du, v) + dot(u, dv)
                size = 1.0 - near*near
                axis = scale(1.0/size, axpy(-near, v, u))
                change = axpy(2.0*near*dnear/size, axis, scale(1.0/size, sub(axpy(-dnear, v, du), scale(near, dv))))
            else:
                normal, dnormal = cross(u, v), add(cross(du, v), cross(u, dv))
                size = sqrt(dot(normal, normal))
                axis = scale(1.0/size, normal)
                change = scale(1.0/size, axpy(-dot(axis, dnormal), axis, dnormal))
            for side in range(2):
                at, sign = base + 3*self.table[j, 4 + side], 2.0*side - 1.0
                put(s, at, (0.0, 0.0, 0.0))
                put(s, at + 1, scale(sign, times(s, m if side == 0 else n, axis)))
            self.vectors[0, start] = dot(sub(other, turn), change)
        inertia, speed = c[b + 6, 1], 0.0
        for side in range(2):
            k, at = m if side == 0 else n, base + 3*self.table[j, 4 + side]
            speed += dot(row(s, at), row(s, k + VELOCITY)) + dot(row(s, at + 1), row(s, k + RATE))
        pull, last = c[b + 6, 2]*speed, s.shape[0] - 1
        s[last, 1] -= pull*speed
        s[last, 2] += 0.5*inertia*speed*speed
        self.vectors[1, start] = 0.0
        if inertia > 0.0:
            self.vectors[0, start] += pull/inertia
            self.vectors[2, start] -= speed
            return
        for side in range(2):
            i, at = self.table[j, 1 + side], base + 3*self.table[j, 4 + side]
            if task <= 0 and i < self.bodies:
                add_to(s, MOVING*i + PUSH, scale(-pull*c[BODY*i, 1], row(s, at)))
                add_to(s, MOVING*i + SPIN, scale(-pull, times(c, BODY*i + 4, row(s, at + 1))))
            put(s, at, (0.0, 0.0, 0.0))
            put(s, at + 1, (0.0, 0.0, 0.0))
        self.vectors[0, start] = 0.0

    def couple(self, i: int, task: int) -> None:
        """Add what body i contributes to A M^-1 f (task <= 0) and to A V."""
        s, base, m = self.scratch, MOVING*(self.bodies + 1), MOVING*i
        for k in range(self.first[i], self.first[i + 1]):
            at, p = base + 3*k, self.place[k]
            force, torque = row(s, at), row(s, at + 1)
            if task <= 0:
                self.vectors[0, p] += dot(torque, row(s, m + SPIN)) + dot(force, row(s, m + PUSH))
            if task > 0 or self.rate != 0.0:
                self.vectors[2, p] += dot(torque, row(s, m + RATE)) + dot(force, row(s, m + VELOCITY))
            if task != 1:
                put(s, at + 2, times(self.constants, BODY*i + 4, torque))

    def pulled(self, i: int, which: int) -> tuple[Vector, Vector]:
        """-M^-1 A^T of vector `which` at body i: about its centre of mass, body axes; and of that point, spatial."""
        s, base = self.scratch, MOVING*(self.bodies + 1)
        spin, push = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(self.first[i], self.first[i + 1]):
            value = -self.vectors[which, self.place[k]]
            spin = axpy(value, row(s, base + 3*k + 2), spin)
            push = axpy(value, row(s, base + 3*k), push)
        return spin, scale(self.constants[BODY*i, 1], push)

    def energy(self) -> float:
        """Kinetic and potential energy in J."""
        s, c, end, total = self.scratch, self.constants, BODY*self.bodies, 0.0
        for i in range(self.bodies):
            w, v = row(s, MOVING*i + RATE), row(s, MOVING*i + VELOCITY)
            total += (0.5*dot(w, times(c, BODY*i + 1, w))
                      + c[BODY*i, 0]*(0.5*dot(v, v) - dot(row(c, end), row(s, MOVING*i + PLACE))))
        return total + self.elements.energy(s) + s[s.shape[0] - 1, 2]

    def momentum(self) -> Vector:
        """Angular momentum about the origin, spatial, kg m2/s."""
        s, c, total = self.scratch, self.constants, (0.0, 0.0, 0.0)
        for i in range(self.bodies):
            m = MOVING*i
            total = add(total, across(s, m, times(c, BODY*i + 1, row(s, m + RATE))))
            total = axpy(c[BODY*i, 0], cross(row(s, m + PLACE), row(s, m + VELOCITY)), total)
        return total
