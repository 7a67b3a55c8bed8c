"""The constrained equations of motion for index-3 methods: their residual, its tangent and the linear solve.

Unknowns of a step are U (local coordinates of every body, the step times a mean velocity) and scaled multipliers l = s
lambda. With q = q_n psi(U), V and dV/dt at the new time as the method makes them from U:

    s (M(q) dV/dt - f(q, V)) + A(q)^T l = 0,   g(q) = 0      (scaled as by Bottasso: the matrix stays of order one)

(of rows of velocities alone, blades and rolling discs, A V = 0).

Newton's unknowns are body increments dC = C hat eta, so that dU = dpsi^-1_(-U) eta. The matrix is banded in the order
of reverse Cuthill-McKee over bodies and joints: O(n) for chains.

A group of rows pulls on body i, A(q)^T l, with a force F at its reference point and a moment M about it. The kernels
give their derivatives by the increments of its bodies to `IndexThree.column`: the moment in body axes, the force in the
components of the group. With a row p >= 0 of the band l is one there and zero elsewhere: then the power of these
derivatives in V is the derivative of (A V)_p.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import hands_on, kernel, outlined, separate
from liestep.compile.rows import Vector, add, add_to, axpy, cross, dot, put, row, scale, sqrt, sub, unit
from liestep.geometry.bands import solve_banded
from liestep.geometry.charts import rate, rotation_rate
from liestep.geometry.groups.poses import attitude_rows
from liestep.mechanics.contracts.formulations import LieChart
from liestep.mechanics.formulations.action import ActionForm
from liestep.mechanics.formulations.multibody.components import ProjectedPoses
from liestep.mechanics.formulations.multibody.mechanism import (
    BODY,
    GROUP,
    LOAD,
    MOVING,
    PLACE,
    RATE,
    SPRING,
    TURN,
    Kind,
    across,
    times,
)

Pair = tuple[Vector, Vector]


@kernel
@outlined
def add_column(a: np.ndarray, twists: np.ndarray, i: int, at: int, to: int, m: Vector, f: Vector, p: int) -> None:
    """`IndexThree.column` without its component: a call would pass all fields of it, which took a third of a step."""
    width = (a.shape[1] - 1)//3
    if p >= 0:
        a[at, to - at + width] += dot(row(twists, 2*i), m) + dot(row(twists, 2*i + 1), f)
        return
    for r in range(3):
        a[at + r, to - at - r + width] += m[r]
        a[at + 3 + r, to - at - 3 - r + width] += f[r]


@hands_on("poses", LieChart)
class IndexThree(NamedTuple):
    """State rows as in `ActionForm`, in velocities native to the group, then the multipliers, filling rows. The clock's
    row, if any, is moved by the methods: time by `advance`, work by `add_work`."""

    poses: ActionForm
    seats: np.ndarray   # (n + m,) first unknown of each body, then that of each row in the mechanism's band
    order: np.ndarray   # (m,) row in the band of each multiplier
    slides: np.ndarray  # (m,) 1 for rows of velocities alone, in the order of the band
    matrix: np.ndarray  # (6n + m, 3 width + 1)
    right: np.ndarray   # (6n + m,)
    loads: np.ndarray   # (2n, 3) forces of the residual
    twists: np.ndarray  # (2n, 3) V over its derivative by U, the scale of rows of velocities
    home: ProjectedPoses  # of index 2, which returns to the joints after a step
    counters: np.ndarray
    addresses: np.ndarray   # (2,) addresses of the machine code of `power` and `newton`

    def bodies(self) -> int:
        return self.poses.action.n

    def per_length(self) -> float:
        return self.home.per_length

    def joint_rows(self) -> int:
        return self.order.shape[0]

    def holds_velocities(self) -> bool:
        found = False
        for p in range(self.slides.shape[0]):
            found = found or self.slides[p] == 1
        return found

    def close(self, y: np.ndarray) -> bool:
        return self.home.project(y)

    def commutator(self, a: np.ndarray, b: np.ndarray, i: int) -> Pair:
        return self.poses.action.bracket_of_body(row(a, 2*i), row(a, 2*i + 1), row(b, 2*i), row(b, 2*i + 1))

    def chart_defect(self, v: np.ndarray, i: int) -> Pair:
        w, u, chart = row(v, 2*i), row(v, 2*i + 1), self.poses.action.chart
        share = 0.0 if chart == 0 else (1.0/12.0 if chart == 1 else 1.0/48.0)
        far = cross(w, cross(w, u)) if self.poses.action.se3 == 1 else (0.0, 0.0, 0.0)
        return scale(share*dot(w, w), w), scale(-share, far)

    def velocity(self, y: np.ndarray, out: np.ndarray) -> None:
        a = attitude_rows(self.poses.action.attitude)
        for i in range(self.poses.action.n):
            put(out, 2*i, row(y, i*(a + 3) + a + 1))
            put(out, 2*i + 1, row(y, i*(a + 3) + a + 2))

    def put_velocity(self, v: np.ndarray, y: np.ndarray) -> None:
        a = attitude_rows(self.poses.action.attitude)
        for i in range(self.poses.action.n):
            put(y, i*(a + 3) + a + 1, row(v, 2*i))
            put(y, i*(a + 3) + a + 2, row(v, 2*i + 1))

    def multipliers(self, factor: float, out: np.ndarray) -> None:
        for p in range(self.order.shape[0]):
            out[p] = factor*self.poses.generator.motion.mechanism.vectors[0, p]

    def put_multipliers(self, factor: float, found: np.ndarray, y: np.ndarray) -> None:
        first = self.poses.action.state_rows()
        for k in range(self.order.shape[0]):
            y[first + k//y.shape[1], k % y.shape[1]] = factor*found[self.order[k]]

    def advance(self, h: float, xi: np.ndarray) -> None:
        if self.poses.action.clock == 1:
            put(xi, 4*self.poses.action.n, (h, 0.0, 0.0))

    def work(self, y: np.ndarray) -> float:
        return y[self.poses.action.state_rows() - 1, 1] if self.poses.action.clock == 1 else 0.0

    def put_work(self, work: float, y: np.ndarray) -> None:
        if self.poses.action.clock == 1:
            y[self.poses.action.state_rows() - 1, 1] = work

    @separate(2, float, 1)
    def power(self, y: np.ndarray, factor: float, found: np.ndarray) -> float:
        mechanism, total = self.poses.generator.motion.mechanism, 0.0
        if mechanism.clock == 1:
            self.counters[Counter.RHS_EVALUATIONS] += 1
            self.poses.generator.motion.evaluate(y, 1)
            for k in range(mechanism.loads):
                value, speed, _ = mechanism.torque(k)
                total += value*speed
            for j in range(mechanism.groups):
                if mechanism.drives(j):
                    total += mechanism.drive_power(j, factor*found[mechanism.table[j, 3]])
            scratch = mechanism.scratch
            total += mechanism.elements.forces(scratch, scratch[scratch.shape[0] - 1, 0])
        return total

    @separate(2, 2, 2, 2, 2, 1, float, float, float, float, int)
    def newton(self, y: np.ndarray, u: np.ndarray, v: np.ndarray, dv: np.ndarray, past: np.ndarray,
               found: np.ndarray, s: float, cv: float, cc: float, ca: float, index: int) -> float:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.counters[Counter.ITERATIONS] += 1
        self.counters[Counter.LINEAR_SOLVES] += 1
        mechanism, n = self.poses.generator.motion.mechanism, self.poses.action.n
        for k in range(self.right.shape[0]):
            for j in range(self.matrix.shape[1]):
                self.matrix[k, j] = 0.0
        self.poses.generator.motion.evaluate(y, 1)
        for i in range(2*n):
            put(self.loads, i, (0.0, 0.0, 0.0))
            put(self.twists, i, scale(1.0/cv, row(v, i)))
        for i in range(n):
            self.inertia(i, u, v, dv, past, s, cv, cc, ca)
        for k in range(mechanism.springs):
            self.spring(k, s)
        for k in range(mechanism.loads):
            torque_tangent(self, k, u, past, s, cv, cc)
        mechanism.elements.tangents(self, u, v, past, s, cv, cc)
        for j in range(mechanism.groups):
            kind, start = mechanism.table[j, 0], mechanism.table[j, 3]
            stiffness(self, j, found, -1)
            if index == 2 or kind >= Kind.BLADE:
                for p in range(start, start + (3 if kind in (Kind.POINT, Kind.ROLL) else 1)):
                    stiffness(self, j, found, p)
        for i in range(n):
            self.rows(i, u, past, found, cc/cv, index)
        for p in range(mechanism.rows):
            moving = index == 2 or self.slides[p] == 1
            self.right[self.seats[n + p]] = -mechanism.vectors[2, p]/cv if moving else -mechanism.vectors[1, p]
        width = (self.matrix.shape[1] - 1)//3
        for r in range(mechanism.idle.shape[0]):
            at = self.seats[n + mechanism.idle[r]]
            for j in range(self.matrix.shape[1]):
                self.matrix[at, j] = 1.0 if j == width else 0.0
            self.right[at] = 0.0
        if not solve_banded(self.matrix, self.right, self.right.shape[0], width):
            return np.inf
        worst = 0.0
        for i in range(n):
            at = self.seats[i]
            theta = (self.right[at], self.right[at + 1], self.right[at + 2])
            delta = (self.right[at + 3], self.right[at + 4], self.right[at + 5])
            turned, moved = self.local(u, i, theta, delta)
            add_to(u, 2*i, turned)
            add_to(u, 2*i + 1, moved)
            for k in range(3):
                worst = max(worst, abs(turned[k]), abs(moved[k])*self.home.per_length)
        for p in range(mechanism.rows):
            found[p] += self.right[self.seats[n + p]]
        return worst

    def local(self, u: np.ndarray, i: int, theta: Vector, delta: Vector) -> Pair:
        """dU of a body increment; delta is spatial for SO(3) x R^3."""
        if self.poses.action.se3 == 1:
            return rate(self.poses.action.chart, row(u, 2*i), row(u, 2*i + 1), theta, delta)
        return rotation_rate(self.poses.action.chart, row(u, 2*i), theta), delta

    def inertia(self, i: int, u: np.ndarray, v: np.ndarray, dv: np.ndarray, past: np.ndarray, s: float, cv: float,
                cc: float, ca: float) -> None:
        """Residual s (M dV/dt - f) of body i without springs and its derivatives, column by column."""
        mechanism, se3 = self.poses.generator.motion.mechanism, self.poses.action.se3
        c, x, m, b = mechanism.constants, mechanism.scratch, MOVING*i, BODY*i
        mass, centre, g = s*c[b, 0], row(c, b + 7), row(c, BODY*mechanism.bodies)
        w, p, dw, dp = row(v, 2*i), row(v, 2*i + 1), row(dv, 2*i), row(dv, 2*i + 1)
        turn = cross(w, centre)
        bent = add(cross(dw, centre), cross(w, turn))
        weight, spin = times(x, m, g), times(c, b + 1, w)
        moment = scale(s, add(times(c, b + 1, dw), cross(w, spin)))
        if se3 == 1:
            force = scale(mass, sub(add(add(dp, cross(w, p)), bent), weight))
            inside = force
        else:
            force = scale(mass, sub(add(dp, across(x, m, bent)), g))
            inside = times(x, m, force)
        self.load(i, add(moment, cross(centre, inside)), force)
        for j in range(6):
            theta, delta = unit(j), unit(j - 3)
            ew, ep = self.local(u, i, theta, delta)
            kw, kp = self.poses.action.bracket_of_body(ew, ep, row(past, 2*i), row(past, 2*i + 1))
            vw, vp = axpy(cc, kw, scale(cv, ew)), axpy(cc, kp, scale(cv, ep))
            aw, ap = scale(ca, vw), scale(ca, vp)
            curl = add(cross(aw, centre), add(cross(vw, turn), cross(w, cross(vw, centre))))
            if se3 == 1:
                change = add(add(ap, add(cross(vw, p), cross(w, vp))), add(curl, cross(theta, weight)))
                change = scale(mass, change)
                within = change
            else:
                change = scale(mass, add(ap, across(x, m, add(curl, cross(theta, bent)))))
                within = sub(times(x, m, change), cross(theta, inside))
            change_of_moment = scale(s, add(times(c, b + 1, aw),
                                            add(cross(vw, spin), cross(w, times(c, b + 1, vw)))))
            self.column(i, i, j, add(change_of_moment, cross(centre, within)), change, -1)

    def load(self, i: int, moment: Vector, force: Vector) -> None:
        """Add to the residual of body i."""
        add_to(self.loads, 2*i, moment)
        add_to(self.loads, 2*i + 1, force)

    def column(self, i: int, k: int, j: int, moment: Vector, force: Vector, p: int) -> None:
        """Add to the derivative of body i's residual by unknown j of body k; for p >= 0 its power to that of row p."""
        add_column(self.matrix, self.twists, i, self.seats[i] if p < 0 else self.seats[self.poses.action.n + p],
                   self.seats[k] + j, moment, force, p)

    @outlined
    def pull(self, i: int, arm: Vector, force: Vector, stiff: float, p: int) -> None:
        """Derivatives of a spatial force (s times it) that acts at `arm` from the reference point of body i; stiff: s
        times the stiffness of a spring that pulls there; p as in `column`."""
        x, m, se3 = self.poses.generator.motion.mechanism.scratch, MOVING*i, self.poses.action.se3
        inside = times(x, m, force)
        for j in range(6):
            theta, delta = unit(j), unit(j - 3)
            shift = cross(theta, arm)
            shift = add(shift, delta if se3 == 1 else times(x, m, delta))
            within = axpy(stiff, shift, scale(-1.0, cross(theta, inside)))
            self.column(i, i, j, cross(arm, within), within if se3 == 1 else scale(stiff, across(x, m, shift)), p)

    def spring(self, k: int, s: float) -> None:
        """Residual and derivatives of spring k."""
        mechanism = self.poses.generator.motion.mechanism
        c, x, b = mechanism.constants, mechanism.scratch, BODY*mechanism.bodies + 1 + SPRING*k
        i = mechanism.table[mechanism.groups + k, 1]
        m, arm = MOVING*i, row(c, b + 1)
        gap = sub(add(row(x, m + PLACE), across(x, m, arm)), row(c, b + 2))
        force, arm = scale(s*c[b, 0], gap), add(arm, row(c, BODY*i + 7))
        inside = times(x, m, force)
        self.load(i, cross(arm, inside), inside if self.poses.action.se3 == 1 else force)
        self.pull(i, arm, force, s*c[b, 0], -1)

    def rows(self, i: int, u: np.ndarray, past: np.ndarray, found: np.ndarray, share: float, index: int) -> None:
        """A and A^T of body i in the matrix, A^T l in its residual, and the residual's place in the right-hand side. Of
        index 2 rows of A act on dV/cv = dU + share [dU, past] of the unknowns."""
        mechanism, n = self.poses.generator.motion.mechanism, self.poses.action.n
        width, at = (self.matrix.shape[1] - 1)//3, self.seats[i]
        x, base, m = mechanism.scratch, MOVING*(mechanism.bodies + 1), MOVING*i
        centre = row(mechanism.constants, BODY*i + 7)
        for k in range(mechanism.first[i], mechanism.first[i + 1]):
            p = mechanism.place[k]
            force = row(x, base + 3*k)
            inside = times(x, m, force)
            moment = add(row(x, base + 3*k + 1), cross(centre, inside))
            if self.poses.action.se3 == 1:
                force = inside
            self.load(i, scale(found[p], moment), scale(found[p], force))
            to, moving = self.seats[n + p], index == 2 or self.slides[p] == 1
            for r in range(3):
                self.matrix[at + r, to - at - r + width] += moment[r]
                self.matrix[at + 3 + r, to - at - 3 - r + width] += force[r]
                if not moving:
                    self.matrix[to, at + r - to + width] += moment[r]
                    self.matrix[to, at + 3 + r - to + width] += force[r]
            if moving:
                for j in range(6):
                    ew, ep = self.local(u, i, unit(j), unit(j - 3))
                    kw, kp = self.poses.action.bracket_of_body(ew, ep, row(past, 2*i), row(past, 2*i + 1))
                    self.matrix[to, at + j - to + width] += (dot(moment, axpy(share, kw, ew))
                                                             + dot(force, axpy(share, kp, ep)))
        for r in range(3):
            self.right[at + r] = -self.loads[2*i, r]
            self.right[at + 3 + r] = -self.loads[2*i + 1, r]


@kernel
@outlined
def stiffness(problem: Any, j: int, found: np.ndarray, p: int) -> None:
    """Group j, with the multipliers `found` or with row p alone."""
    mechanism = problem.poses.generator.motion.mechanism
    c, b = mechanism.constants, BODY*mechanism.bodies + 1 + SPRING*mechanism.springs + GROUP*j
    kind, start = mechanism.table[j, 0], mechanism.table[j, 3]
    value = 1.0 if p >= 0 else found[start]
    if kind == Kind.POINT:
        force = unit(p - start) if p >= 0 else (found[start], found[start + 1], found[start + 2])
        for side in range(2):
            i = mechanism.table[j, 1 + side]
            if i < mechanism.bodies:
                problem.pull(i, add(row(c, b + side), row(c, BODY*i + 7)), scale(1.0 - 2.0*side, force), 0.0, p)
    elif kind == Kind.DIRECTION:
        direction(problem, j, b + 2, b + 3, value, p)
    elif kind == Kind.EVEN:
        direction(problem, j, b + 4, b + 3, value, p)
        direction(problem, j, b + 2, b + 5, -value, p)
    elif kind == Kind.DISTANCE:
        link(problem, j, b, value, p)
    elif kind == Kind.GEAR:
        for side in range(2):
            i = mechanism.table[j, 1 + side]
            if i < mechanism.bodies:
                problem.pull(i, row(c, BODY*i + 7), scale(value, row(c, b + 2 + side)), 0.0, p)
    elif kind == Kind.DRIVE:
        driven(problem, j, b, value, p)
    elif kind == Kind.BLADE:
        if problem.poses.action.se3 == 0:  # the body carries the force along: only its spatial components change
            i = mechanism.table[j, 1]
            for r in range(3):
                turned = cross(unit(r), scale(value, row(c, b + 2)))
                problem.column(i, i, r, (0.0, 0.0, 0.0), across(mechanism.scratch, MOVING*i, turned), p)
    elif kind == Kind.ROLL:
        roll(problem, j, b, unit(p - start) if p >= 0 else (found[start], found[start + 1], found[start + 2]), p)
    else:
        line(problem, j, b, value, p)


@kernel
def direction(problem: Any, j: int, first: int, second: int, value: float, p: int) -> None:
    """Moments u x v and -u x v of the vectors in these rows, u of the first body."""
    mechanism = problem.poses.generator.motion.mechanism
    c, x = mechanism.constants, mechanism.scratch
    for side in range(2):
        i, k = mechanism.table[j, 1 + side], mechanism.table[j, 2 - side]
        own, other = row(c, first if side == 0 else second), row(c, second if side == 0 else first)
        if i < mechanism.bodies:
            facing = times(x, MOVING*i, across(x, MOVING*k, other))
            for r in range(3):
                theta = unit(r)
                problem.column(i, i, r, scale(-value, cross(own, cross(theta, facing))), (0.0, 0.0, 0.0), p)
                if k < mechanism.bodies:
                    moved = times(x, MOVING*i, across(x, MOVING*k, cross(theta, other)))
                    problem.column(i, k, r, scale(value, cross(own, moved)), (0.0, 0.0, 0.0), p)


@kernel
@outlined
def link(problem: Any, j: int, b: int, value: float, p: int) -> None:
    """Forces -d/L and d/L of the gap d between the points of a distance."""
    mechanism, se3 = problem.poses.generator.motion.mechanism, problem.poses.action.se3
    c, x, share = mechanism.constants, mechanism.scratch, value/mechanism.constants[b + 6, 0]
    m, n = MOVING*mechanism.table[j, 1], MOVING*mechanism.table[j, 2]
    gap = sub(add(row(x, n + PLACE), across(x, n, row(c, b + 1))), add(row(x, m + PLACE), across(x, m, row(c, b))))
    for side in range(2):
        k, sign = mechanism.table[j, 1 + side], 2.0*side - 1.0
        if k >= mechanism.bodies:
            continue
        arm = add(row(c, b + side), row(c, BODY*k + 7))
        problem.pull(k, arm, scale(sign*share, gap), 0.0, p)
        for r in range(6):
            shift = add(cross(unit(r), arm), unit(r - 3) if se3 == 1 else times(x, MOVING*k, unit(r - 3)))
            change = across(x, MOVING*k, shift)
            for end in range(2):
                i = mechanism.table[j, 1 + end]
                if i < mechanism.bodies:
                    force = scale(share if end == side else -share, change)
                    inside = times(x, MOVING*i, force)
                    moment = cross(add(row(c, b + end), row(c, BODY*i + 7)), inside)
                    problem.column(i, k, r, moment, inside if se3 == 1 else force, p)


@kernel
def driven(problem: Any, j: int, b: int, value: float, p: int) -> None:
    """Moments -u of the first body, which carries u along, and u of the second."""
    mechanism = problem.poses.generator.motion.mechanism
    x, one, two = mechanism.scratch, mechanism.table[j, 1], mechanism.table[j, 2]
    axis = row(mechanism.constants, b + 2)
    facing = times(x, MOVING*two, across(x, MOVING*one, axis))
    for r in range(3):
        if two < mechanism.bodies:
            problem.column(two, two, r, scale(value, cross(facing, unit(r))), (0.0, 0.0, 0.0), p)
            if one < mechanism.bodies:
                turned = times(x, MOVING*two, across(x, MOVING*one, cross(unit(r), axis)))
                problem.column(two, one, r, scale(value, turned), (0.0, 0.0, 0.0), p)


@kernel
@outlined
def roll(problem: Any, j: int, b: int, force: Vector, p: int) -> None:
    """A force in space at the contact, whose arm turns with the disc and in it."""
    mechanism = problem.poses.generator.motion.mechanism
    c, x, i = mechanism.constants, mechanism.scratch, mechanism.table[j, 1]
    m, normal, u = MOVING*i, row(c, b + 3), across(x, MOVING*i, row(c, b + 2))
    tilt = dot(normal, u)
    down = axpy(tilt, u, scale(-1.0, normal))
    size = sqrt(dot(down, down))
    share, fixed = c[b + 6, 0]/size, across(x, m, add(row(c, b), row(c, BODY*i + 7)))
    inside, moment = times(x, m, force), times(x, m, cross(axpy(share, down, fixed), force))
    for r in range(3):
        turn = across(x, m, unit(r))
        change = cross(turn, u)
        rise = dot(normal, change)
        slope = axpy(tilt*rise/(size*size), down, axpy(rise, u, scale(tilt, change)))
        arm = axpy(share, slope, cross(turn, fixed))
        moved = sub(times(x, m, cross(arm, force)), cross(unit(r), moment))
        pushed = cross(inside, unit(r)) if problem.poses.action.se3 == 1 else (0.0, 0.0, 0.0)
        problem.column(i, i, r, moved, pushed, p)


@kernel
@outlined
def line(problem: Any, j: int, b: int, value: float, p: int) -> None:
    """Forces -u and u at the point P_b; of a screw also moments, pitch u and -pitch u; of a curve u is the gradient
    there."""
    mechanism, se3 = problem.poses.generator.motion.mechanism, problem.poses.action.se3
    c, x, one, two = mechanism.constants, mechanism.scratch, mechanism.table[j, 1], mechanism.table[j, 2]
    m, n = MOVING*one, MOVING*two
    pitch = c[b + 6, 0] if mechanism.table[j, 0] == Kind.SCREW else 0.0
    u, far = across(x, m, row(c, b + 2)), across(x, n, row(c, b + 1))
    point = add(row(x, n + PLACE), far)
    place = times(x, m, sub(sub(point, row(x, m + PLACE)), across(x, m, row(c, b))))
    curved = mechanism.table[j, 0] == Kind.CURVE
    if curved:
        u = across(x, m, mechanism.elements.hold(c, b, place, place)[1])
    for side in range(2):
        k = mechanism.table[j, 1 + side]
        if k >= mechanism.bodies:
            continue
        for r in range(6):
            turn, shift = across(x, MOVING*k, unit(r)), unit(r - 3)
            if se3 == 1:
                shift = across(x, MOVING*k, shift)
            tilt = cross(turn, u) if side == 0 else (0.0, 0.0, 0.0)
            moved = (0.0, 0.0, 0.0)  # of P_b
            if side == 1:
                moved = add(shift, cross(turn, sub(point, reference(problem, two))))
            if curved:
                seen = moved if side == 1 else scale(-1.0, add(shift, cross(turn, sub(point, reference(problem, one)))))
                tilt = add(tilt, across(x, m, mechanism.elements.hold(c, b, place, times(x, m, seen))[2]))
            for end in range(2):
                i, sign = mechanism.table[j, 1 + end], value*(2.0*end - 1.0)
                if i >= mechanism.bodies:
                    continue
                arm = sub(point, reference(problem, i))
                change = moved if end != side else sub(moved, shift)
                force, moment = u, axpy(-pitch, u, cross(arm, u))
                pushed, turned = tilt, add(axpy(-pitch, tilt, cross(arm, tilt)), cross(change, u))
                if end == side:  # its axes turn
                    turned = sub(turned, cross(turn, moment))
                    if se3 == 1:
                        pushed = sub(pushed, cross(turn, force))
                if se3 == 1:
                    pushed = times(x, MOVING*i, pushed)
                problem.column(i, k, r, scale(sign, times(x, MOVING*i, turned)), scale(sign, pushed), p)


@kernel
def reference(problem: Any, i: int) -> Vector:
    """Place of the reference point of body i."""
    mechanism = problem.poses.generator.motion.mechanism
    return sub(row(mechanism.scratch, MOVING*i + PLACE),
               across(mechanism.scratch, MOVING*i, row(mechanism.constants, BODY*i + 7)))


@kernel
@outlined
def torque_tangent(problem: Any, k: int, u: np.ndarray, past: np.ndarray, s: float, cv: float, cc: float) -> None:
    """Torque k in the residual, s times it, and its derivatives at dV = cv dU + cc [dU, past]. T = T cos(f t + p) - c
    (omega_a - omega_b).u about an axis u that body a carries acts on a, and against b."""
    mechanism, still = problem.poses.generator.motion.mechanism, (0.0, 0.0, 0.0)
    c, x, number = mechanism.constants, mechanism.scratch, mechanism.groups + mechanism.springs + k
    at = BODY*mechanism.bodies + 1 + SPRING*mechanism.springs + GROUP*mechanism.groups + LOAD*k
    a, b = mechanism.table[number, 1], mechanism.table[number, 2]
    damping, axis = c[at + 1, 0], row(c, at)
    value, _, turn = mechanism.torque(k)
    facing = times(x, MOVING*b, turn)
    problem.load(a, scale(-s*value, axis), still)
    if b < mechanism.bodies:
        problem.load(b, scale(s*value, facing), still)
    for side in range(2):
        i = a if side == 0 else b
        if i >= mechanism.bodies:
            continue
        for r in range(3):
            theta = unit(r)
            ew, ep = problem.local(u, i, theta, still)
            kw, _ = problem.poses.action.bracket_of_body(ew, ep, row(past, 2*i), row(past, 2*i + 1))
            vw = axpy(cc, kw, scale(cv, ew))
            if side == 0:
                tilt = across(x, MOVING*a, cross(theta, axis))
                change = damping*(dot(row(x, MOVING*b + TURN), tilt) - dot(vw, axis))
                moved = times(x, MOVING*b, tilt)
            else:
                change = damping*dot(add(cross(theta, row(x, MOVING*b + RATE)), vw), facing)
                moved = cross(facing, theta)
            problem.column(a, i, r, scale(-s*change, axis), still, -1)
            if b < mechanism.bodies:
                problem.column(b, i, r, scale(s, axpy(change, facing, scale(value, moved))), still, -1)
