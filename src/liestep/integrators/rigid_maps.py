"""Maps of rigid bodies with kicks by forces, one family each: lgvi, dlm, richardson and campello."""
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import borrows, kernel
from liestep.compile.roles import Arrays
from liestep.compile.rows import Vector, copy, dot, put, row, scale, sqrt
from liestep.compile.status import Status
from liestep.geometry.attitude import in_space, put_axes, to_body, to_quaternion
from liestep.geometry.quaternion import Quaternion, put_quaternion, quaternion
from liestep.geometry.rodrigues import NEWMARK, increment
from liestep.geometry.so3 import coefficients, quadratic
from liestep.integrators._newton import iterate, settled
from liestep.integrators.kicks import FreeMotion, have_equal_moments, kick, kicked, move, needs_equal_moments
from liestep.integrators.one_step import WEIGHTS, composed, weighted
from liestep.integrators.rigid_split import DiscreteTurn, discrete_turn, turn_by_cayley
from liestep.mechanics.contracts.formulations import RigidBodies
from liestep.mechanics.contracts.method import SMOOTH, Certified, Keeps, Method, Places, Where, each
from liestep.mechanics.contracts.sheet import Option, number_in
from liestep.mechanics.formulations.rigid_bodies.components import spatial_velocity


@borrows(FreeMotion, improve=DiscreteTurn.improve)
class LieGroupVariational(NamedTuple):
    """Order 2, symmetric, implicit in the attitude of each body alone; one evaluation of the forces per step. Lee, Leok
    and McClamroch's integrator for any moments of inertia.

    In body axes, with F = R_k^T R_(k+1) and the momentum P after the half kick, h hat(P) = F J_d - J_d F^T. For F =
    R(f) of a rescaled Rodrigues vector f this is

        4/(4 + |f|^2) (J f + (f x J f)/2) = h P

    which is solved by Newton's method; the spatial momentum does not change in the drift. For equal moments f is the
    closed form of rodrigues2021 eq. (23), after which the equation has no solution near f = 0.

    Symplectic, keeps momenta. Returns NOT_CONVERGED where Newton's method fails or meets a fold of the equation."""

    tolerance: float  # on the error left in f, relative to its size
    iterations: int   # at most

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, room: np.ndarray) -> Status:
        q, g = y[3*i:3*i + 3], scale(h, row(y, 3*problem.bodies() + i))
        body = to_body(q, g)
        status, f = discrete_turn(self, problem.moments(i), body, problem.counters)
        if status == Status.OK:
            turn_by_cayley(in_space(q, f, body, g), q)
        return status


@kernel
def advanced(h: float, w: Vector, q: Quaternion, base: Quaternion) -> Quaternion:
    """(base + h/2 (0, w) q) divided by its length."""
    k = 0.5*h
    a = base[0] - k*(w[0]*q[1] + w[1]*q[2] + w[2]*q[3])
    b = base[1] + k*(w[0]*q[0] + w[1]*q[3] - w[2]*q[2])
    c = base[2] + k*(w[1]*q[0] + w[2]*q[1] - w[0]*q[3])
    d = base[3] + k*(w[2]*q[0] + w[0]*q[2] - w[1]*q[1])
    size = sqrt(a*a + b*b + c*c + d*d)
    return a/size, b/size, c/size, d/size


@borrows(FreeMotion)
class Richardson(NamedTuple):
    """The quaternion update of molecular dynamics codes. Order 2, explicit, one evaluation of the forces per step: half
    kicks, and q <- 2 q_half - q_full from one step and two half steps of Euler's method for the quaternion, normalised
    after each.

    Keeps momenta of kicks; symplectic and symmetric only for equal moments, where it is a drift by the angle z + z^3/24
    + ... The quaternions live in the workspace."""

    weight: float  # 2, of the two half steps; that of the full one is 1 - weight

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Arrays:
        return np.zeros((problem.bodies(), 4), y.dtype), np.zeros((3, 3), y.dtype)

    def enter(self, problem: RigidBodies, y: np.ndarray, room: Arrays) -> Status:
        for i in range(problem.bodies()):
            put_quaternion(room[0][i], 0, to_quaternion(y[3*i:3*i + 3]))
        return Status.OK

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, room: Arrays) -> Status:
        quaternions, frame = room
        p, j = row(y, 3*problem.bodies() + i), problem.moments(i)
        q = quaternion(quaternions[i], 0)
        w = spatial_velocity(y, i, p, j)
        full, middle = advanced(h, w, q, q), advanced(0.5*h, w, q, q)
        put_axes(middle, frame, 0)
        half = advanced(0.5*h, spatial_velocity(frame, 0, p, j), middle, middle)
        a, b = self.weight, 1.0 - self.weight
        q = (a*half[0] + b*full[0], a*half[1] + b*full[1], a*half[2] + b*full[2], a*half[3] + b*full[3])
        q = advanced(0.0, w, q, q)
        put_quaternion(quaternions[i], 0, q)
        put_axes(q, y, 3*i)
        return Status.OK


@borrows(FreeMotion)
class AxisSplitting(NamedTuple):
    """Dullweber, Leimkuhler and McLachlan's splitting for any moments of inertia. Order 2, symmetric, explicit, one
    evaluation of the forces per step: between two half kicks, five turns about the body axes 1 2 3 2 1, each the exact
    flow of one term of the kinetic energy. Symplectic, keeps momenta of symmetries of space; a symmetry of the body
    about one of its axes is broken by the turns about the others."""

    turns: int  # 5

    def flow(self, problem: RigidBodies, i: int, h: float, y: np.ndarray, room: np.ndarray) -> Status:
        for turn in range(self.turns):
            axis = min(turn, self.turns - 1 - turn)
            part = h if axis == 2 else 0.5*h
            e = row(y, 3*i + axis)
            angle = part*dot(e, row(y, 3*problem.bodies() + i))/problem.moments(i)[axis]
            s, c, _ = coefficients(angle*angle)
            for k in range(3):
                if k != axis:
                    put(y, 3*i + k, quadratic(angle*s, angle*angle*c, e, row(y, 3*i + k)))
        problem.counters[Counter.EXPONENTIALS] += self.turns
        return Status.OK


class Campello(NamedTuple):
    """Order 1, for spherical bodies (rodrigues2021 eqs. (26), (27)); the kick takes phi of the old and 1 - phi of the
    new forces, then the drift of rodrigues2021 eq. (25): explicit for phi = 1, else a fixed-point iteration on the new
    velocities.

    Keeps momenta; symplectic for phi = 1 only, else it dissipates. Returns NOT_CONVERGED."""

    phi: float
    tolerance: float  # on the change of the new velocities, relative to the largest, and of rotations in radians
    iterations: int   # at most

    def workspace(self, problem: RigidBodies, y: np.ndarray) -> Arrays:
        n = problem.bodies()
        forces = np.zeros((2*n, 3), y.dtype)
        return forces, forces.copy(), np.zeros_like(y), np.zeros_like(y)

    def start(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Arrays) -> Status:
        return Status.OK if problem.forces(y, work[0]) else Status.NOT_EVALUABLE

    def step(self, problem: RigidBodies, t: float, y: np.ndarray, h: float, work: Arrays) -> Status:
        old, new, first, last = work
        kick(problem, self.phi*h, old, y)
        copy(y, first)
        copy(y, last)
        copy(old, new)
        status, _ = iterate(self, (problem, h, y, work), 0, np.inf, self.iterations)
        if status == Status.OK:
            copy(new, old)
        return status

    def improve(self, given: tuple, sweep: int, previous: float) -> tuple[Status, int, float, bool]:
        problem, h, y, work = given
        _, new, first, last = work
        copy(first, y)
        if self.phi != 1.0:
            kick(problem, (1.0 - self.phi)*h, new, y)
        change = self.change(problem, h, y, last)
        self.drift(problem, h, y)
        if not problem.forces(y, new):
            return Status.NOT_EVALUABLE, sweep, change, False
        problem.counters[Counter.ITERATIONS] += 1
        done = self.phi == 1.0 or (sweep > 0 and settled(change, self.tolerance, change, previous, 1e-13))
        if not done:
            copy(y, last)
        return Status.OK, sweep + 1, change, done

    def change(self, problem: RigidBodies, h: float, y: np.ndarray, last: np.ndarray) -> float:
        """Largest change of the velocities, relative to the largest, and of the rotations of a step in radians,
        relative to the largest where that is above one: angular momenta of bodies that do not turn are all rounding."""
        n, worst = problem.bodies(), 0.0
        for kind in range(2 if problem.translates() else 1):
            size, gap = (1.0 if kind == 0 else 0.0), 0.0
            for i in range(n):
                share = abs(h)/problem.moments(i)[0] if kind == 0 else 1.0
                for k in range(3):
                    value = y[(3 + 2*kind)*n + i, k]
                    size = max(size, share*abs(value))
                    gap = max(gap, share*abs(value - last[(3 + 2*kind)*n + i, k]))
            if gap > 0.0:
                worst = max(worst, gap/size)
        return worst

    def drift(self, problem: RigidBodies, h: float, y: np.ndarray) -> None:
        n = problem.bodies()
        for i in range(n):
            w = scale(1.0/problem.moments(i)[0], row(y, 3*n + i))
            s, c = increment(NEWMARK, h, w)
            for k in range(3):
                put(y, 3*i + k, quadratic(s, c, w, row(y, 3*i + k)))
        move(problem, h, y)


METHODS = {
    "lgvi": composed(
        lambda options: kicked(LieGroupVariational(options["tolerance"], options["iterations"])),
        summary="order 2, 4, 6 or 8 by weights, symmetric, implicit in each attitude", formulation="rigid_bodies",
        citation="Lee, Leok and McClamroch 2007", conserves=SMOOTH,
        calls=weighted("y4", kl8={"places": Places(reference=3, stands_in=2)}), places=Places(shown=10),
        certified=Certified(same=(({}, "rodrigues", {"drift": "exact"}),)),
        options={"weights": WEIGHTS,
                 "tolerance": Option(1e-15, "error left in the rotation of a step, relative to its size"),
                 "iterations": Option(50, "Newton iterations of a body in a step, at most")}),
    "richardson": Method(
        summary="order 2, explicit, quaternions by Richardson extrapolation, one evaluation of the forces", order=2,
        formulation="rigid_bodies", symmetric=False, symmetric_for=have_equal_moments,
        conserves=(Keeps.MANIFOLD, Keeps.MOMENTUM, Where(
            Keeps.SYMPLECTIC, "where the moments are equal, and only there", have_equal_moments)),
        citation="LAMMPS, math_extra: fix nve/asphere, fix nve/bpm/sphere",
        build=lambda options, tolerance, t_end: kicked(Richardson(2.0))),
    "dlm": Method(
        summary="order 2, explicit, symmetric, five turns about body axes, one evaluation of the forces", order=2,
        formulation="rigid_bodies", symmetric=True,
        conserves=SMOOTH,
        citation="Dullweber, Leimkuhler and McLachlan 1997; Miller et al. 2002",
        build=lambda options, tolerance, t_end: kicked(AxisSplitting(5))),
    "campello": Method(
        summary="order 1, explicit for phi = 1, else a fixed-point iteration; for equal moments", order=1,
        formulation="rigid_bodies", citation="rodrigues2021 eq. (26); Campello 2015", requires=needs_equal_moments,
        conserves=(Keeps.MANIFOLD, Keeps.MOMENTUM, Where(
            Keeps.SYMPLECTIC, "for phi = 1 only", lambda options, sheet, parameters: options["phi"] == 1.0)),
        options={"phi": number_in("phi", 1.0, "share of the forces at the start of the step", "number from 0 to 1",
                                  lambda phi: 0.0 <= phi <= 1.0),
                 "tolerance": Option(1e-15, "change of the new velocities, relative to the largest, and of the"
                                     " rotations of a step in radians"),
                 "iterations": Option(200, "sweeps of the fixed-point iteration, at most")},
        build=lambda options, tolerance, t_end: Campello(options["phi"], options["tolerance"], options["iterations"]),
        certified=Certified(each("phi", 0.5), same=(({}, "rodrigues", {"kick": "whole"}),))),
}
