"""The constrained equations of motion for index-3 methods: their residual, its tangent and the linear solve.

Unknowns of a step are U (local coordinates of every body, the step times a mean velocity) and scaled multipliers l = s
lambda. With q = q_n psi(U), V and dV/dt at the new time as the method makes them from U:

    s (M(q) dV/dt - f(q, V)) + A(q)^T l = 0,   g(q) = 0      (scaled as by Bottasso: the matrix stays of order one)

(of rows of velocities alone, blades and rolling discs, A V = 0).

Newton's unknowns are body increments dC = C hat eta, so that dU = dpsi^-1_(-U) eta. The matrix is banded in the order
of reverse Cuthill-McKee over bodies and joints: O(n) for chains.

A group of rows pulls on body i, A(q)^T l, with a force F at its reference point and a moment M about it. Derivatives of
these and of further forces are differences, since Newton's iterations need no exact ones, and an author's functions
have none: each unknown of a body moves its pose and its velocity by 2^-18 of an angle, or of a length."""
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import hands_on, kernel, outlined, separate
from liestep.compile.rows import Vector, add, add_to, axpy, copy, cross, dot, put, row, scale, sub, unit, wipe
from liestep.geometry.bands import solve_banded
from liestep.geometry.charts import rate, rotation_rate
from liestep.geometry.groups.poses import attitude_rows
from liestep.mechanics.contracts.formulations import LieChart
from liestep.mechanics.formulations.action import ActionForm
from liestep.mechanics.formulations.multibody.components import ProjectedPoses
from liestep.mechanics.formulations.multibody.mechanism import (
    BODY,
    MOVING,
    PLACE,
    RATE,
    SPIN,
    TURN,
    VELOCITY,
    Kind,
    across,
    times,
)

Pair = tuple[Vector, Vector]


MOVED = 2.0**-18


@kernel
@outlined
def move(x: np.ndarray, m: int, centre: Vector, theta: Vector, delta: Vector) -> None:
    """A body in rows m of scratch turned by theta (body) and moved by delta (spatial) at its reference point."""
    one, two, three = (across(x, m, add(unit(0), cross(theta, unit(0)))), across(x, m, add(unit(1), cross(
        theta, unit(1)))), across(x, m, add(unit(2), cross(theta, unit(2)))))
    put(x, m + PLACE, add(row(x, m + PLACE), add(delta, across(x, m, cross(theta, centre)))))
    put(x, m, one)
    put(x, m + 1, two)
    put(x, m + 2, three)


@kernel
@outlined
def move_velocity(x: np.ndarray, m: int, se3: int, centre: Vector, w: Vector, p: Vector) -> None:
    """The native velocities of that body."""
    put(x, m + RATE, w)
    put(x, m + TURN, across(x, m, w))
    put(x, m + VELOCITY, add(across(x, m, p) if se3 == 1 else p, across(x, m, cross(w, centre))))


@hands_on("poses", LieChart)
class IndexThree(NamedTuple):
    """State rows as in `ActionForm`, in velocities native to the group, then the multipliers, filling rows. The clock's
    row, if any, is moved by the methods: time by `advance`, work by `add_work`."""

    poses: ActionForm
    seats: np.ndarray   # (n + m,) first unknown of each body, then that of each row in the mechanism's band
    order: np.ndarray   # (m,) row in the band of each multiplier
    slides: np.ndarray  # (m,) 1 for rows of velocities alone, in the order of the band
    matrix: np.ndarray  # (6n + m, 3 width + 1)
    stiff: np.ndarray   # what `differences` adds to it
    right: np.ndarray   # (6n + m,)
    loads: np.ndarray   # (2n, 3) forces of the residual
    kept: np.ndarray    # (7, 3) rows of a body that is moved
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
        holds = False
        for p in range(self.slides.shape[0]):
            holds = holds or self.slides[p] == 1
        return holds

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
            for j in range(mechanism.groups):
                if mechanism.drives(j):
                    total += mechanism.drive_power(j, factor*found[mechanism.table[j, 3]])
            scratch = mechanism.scratch
            total += mechanism.elements.forces(scratch, scratch[scratch.shape[0] - 1, 0])
        return total

    @separate(2, 2, 2, 2, 2, 1, float, float, float, float, int, int)
    def newton(self, y: np.ndarray, u: np.ndarray, v: np.ndarray, dv: np.ndarray, past: np.ndarray,
               found: np.ndarray, s: float, cv: float, cc: float, ca: float, index: int, first: int = 1) -> float:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        self.counters[Counter.ITERATIONS] += 1
        self.counters[Counter.LINEAR_SOLVES] += 1
        mechanism, n = self.poses.generator.motion.mechanism, self.poses.action.n
        self.poses.generator.motion.evaluate(y, 1)
        if first == 1 or index == 2 or self.holds_velocities():  # rows of velocities are held to round-off
            wipe(self.matrix)
            self.differences(u, v, past, found, s, cv, cc, index)
            copy(self.matrix, self.stiff)
            mechanism.evaluate(1)  # where nothing is moved
        else:
            copy(self.stiff, self.matrix)
        for i in range(2*n):
            put(self.loads, i, (0.0, 0.0, 0.0))
        if mechanism.elements.number() > 0:
            mechanism.elements.forces(mechanism.scratch, mechanism.scratch[mechanism.scratch.shape[0] - 1, 0])
            for i in range(n):
                torque, force = self.pull(-1, i, 0, 0)
                moment, force = self.at_reference(i, torque, force)
                self.load(i, scale(-s, moment), scale(-s, force))
        for i in range(n):
            self.inertia(i, u, v, dv, past, s, cv, cc, ca)
        for i in range(n):
            self.rows(i, u, past, found, cc/cv, index)
        for p in range(mechanism.rows):
            moving = index == 2 or self.slides[p] == 1
            self.right[self.seats[n + p]] = -mechanism.vectors[2, p]/cv if moving else -mechanism.vectors[1, p]
        width = (self.matrix.shape[1] - 1)//3
        for r in range(3):
            for i in range(n):
                self.right[self.seats[i] + r] = -self.loads[2*i, r]
                self.right[self.seats[i] + 3 + r] = -self.loads[2*i + 1, r]
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
        """Residual s (M dV/dt - weight) of body i and its derivatives, column by column."""
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
            self.column(i, i, j, add(change_of_moment, cross(centre, within)), change)

    def load(self, i: int, moment: Vector, force: Vector) -> None:
        """Add to the residual of body i."""
        add_to(self.loads, 2*i, moment)
        add_to(self.loads, 2*i + 1, force)

    def column(self, i: int, k: int, j: int, moment: Vector, force: Vector) -> None:
        """Add to the derivative of body i's residual by unknown j of body k."""
        at, width = self.seats[i], (self.matrix.shape[1] - 1)//3
        to = self.seats[k] + j - at + width
        for r in range(3):
            self.matrix[at + r, to - r] += moment[r]
            self.matrix[at + 3 + r, to - 3 - r] += force[r]

    def at_reference(self, i: int, torque: Vector, force: Vector) -> Pair:
        """Moment about the reference point of body i in its axes, and the force in the components of the group, of a
        torque about the centre of mass (body) and a force (spatial)."""
        mechanism = self.poses.generator.motion.mechanism
        inside = times(mechanism.scratch, MOVING*i, force)
        moment = add(torque, cross(row(mechanism.constants, BODY*i + 7), inside))
        return moment, inside if self.poses.action.se3 == 1 else force

    def pull(self, j: int, i: int, end: int, p: int) -> Pair:
        """Torque about the centre of mass of body i (body) and force (spatial) of row p of group j at this end of it,
        or, for negative j, of the element that was evaluated."""
        mechanism = self.poses.generator.motion.mechanism
        x = mechanism.scratch
        if j < 0:
            torque, force = mechanism.elements.load(i)
            return times(x, MOVING*i, torque), force
        at = MOVING*(mechanism.bodies + 1) + 3*(mechanism.table[j, 4 + end] + p)
        return row(x, at + 1), row(x, at)

    def differences(self, u: np.ndarray, v: np.ndarray, past: np.ndarray, found: np.ndarray, s: float, cv: float,
                    cc: float, index: int) -> None:
        """Add the derivatives of -s times the forces of elements, and of A^T l, at dV = cv dU + cc [dU, past], to the
        matrix; of rows of A that act on velocities also those of A V. Rows in scratch are then of moved bodies."""
        mechanism, n, width = self.poses.generator.motion.mechanism, self.poses.action.n, (self.matrix.shape[1] - 1)//3
        x, table, elements, se3 = mechanism.scratch, mechanism.table, mechanism.elements, self.poses.action.se3
        for k in range(elements.number() + mechanism.groups):
            j = k - elements.number()
            kind, start = (table[j, 0], table[j, 3]) if j >= 0 else (0, 0)
            a, b = (table[j, 1], table[j, 2]) if j >= 0 else elements.ends(k)
            ends, count = 2 if a >= 0 else n, 3 if j >= 0 and (kind == Kind.POINT or kind == Kind.ROLL) else 1
            # rows of these kinds do not depend on places
            turns = kind <= Kind.DIRECTION or kind == Kind.DRIVE or kind == Kind.EVEN or kind >= Kind.BLADE
            places, speeds = (not turns, False) if j >= 0 else elements.reads(k)
            unknowns = 6 if places else 3
            for end in range(ends):
                o = (a if end == 0 else b) if a >= 0 else end
                if o >= n:
                    continue
                m, centre = MOVING*o, row(mechanism.constants, BODY*o + 7)
                for r in range(SPIN):
                    put(self.kept, r, row(x, m + r))
                place = row(x, m + PLACE)
                size = max(1.0/self.home.per_length, abs(place[0]), max(abs(place[1]), abs(place[2])))
                for q in range(2*unknowns):
                    c, share = q//2, MOVED if q % 2 == 0 else -MOVED
                    share *= size if c >= 3 else 1.0
                    delta = scale(share, unit(c - 3))
                    move(x, m, centre, scale(share, unit(c)), across(x, m, delta) if se3 == 1 else delta)
                    if speeds:
                        ew, ep = self.local(u, o, unit(c), unit(c - 3))
                        kw, kp = self.poses.action.bracket_of_body(ew, ep, row(past, 2*o), row(past, 2*o + 1))
                        move_velocity(x, m, se3, centre, axpy(share, axpy(cc, kw, scale(cv, ew)), row(v, 2*o)),
                                      axpy(share, axpy(cc, kp, scale(cv, ep)), row(v, 2*o + 1)))
                    if j < 0:
                        elements.alone(k, x, x[x.shape[0] - 1, 0])
                    else:
                        mechanism.group_rows(j, 1)
                    for side in range(ends):
                        i, torque, force = (a if side == 0 else b) if a >= 0 else side, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
                        if i >= n:
                            continue
                        for p in range(count):
                            turned, pushed = self.pull(j, i, side, p)
                            weight = found[start + p] if j >= 0 else -s
                            torque, force = axpy(weight, turned, torque), axpy(weight, pushed, force)
                            if j >= 0 and (index == 2 or kind >= Kind.BLADE):
                                to = self.seats[n + start + p]
                                turned, pushed = self.at_reference(i, turned, pushed)
                                self.matrix[to, self.seats[o] + c - to + width] += (
                                    dot(row(v, 2*i), turned) + dot(row(v, 2*i + 1), pushed))/(2.0*share*cv)
                        moment, force = self.at_reference(i, scale(0.5/share, torque), scale(0.5/share, force))
                        self.column(i, o, c, moment, force)
                    for r in range(SPIN):
                        put(x, m + r, row(self.kept, r))

    def rows(self, i: int, u: np.ndarray, past: np.ndarray, found: np.ndarray, share: float, index: int) -> None:
        """A and A^T of body i in the matrix, and A^T l in its residual. Of index 2 rows of A act on dV/cv = dU + share
        [dU, past] of the unknowns."""
        mechanism, n = self.poses.generator.motion.mechanism, self.poses.action.n
        width, at = (self.matrix.shape[1] - 1)//3, self.seats[i]
        x, base = mechanism.scratch, MOVING*(mechanism.bodies + 1)
        for k in range(mechanism.first[i], mechanism.first[i + 1]):
            p = mechanism.place[k]
            moment, force = self.at_reference(i, row(x, base + 3*k + 1), row(x, base + 3*k))
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
