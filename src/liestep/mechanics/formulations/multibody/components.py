"""Mechanisms as vector fields and Lie group actions, components for compiled code (`forms` makes them).

State rows of a body: attitude, position of its reference point (spatial), body rate, velocity of the reference point in
the components that the option `twist` names, see `geometry.groups.poses`."""
from typing import NamedTuple

import numpy as np

from liestep.compile.counters import Counter
from liestep.compile.dispatch import hands_on, outlined, separate
from liestep.compile.rows import (
    Vector,
    add,
    add_to,
    below,
    cos,
    cross,
    if_less,
    larger,
    put,
    row,
    sin,
    sqrt,
    stage_columns,
    sub,
)
from liestep.geometry.attitude import orthogonality_error, put_axes
from liestep.geometry.groups.poses import EULER, MATRIX, QUATERNION, attitude_rows, quaternion_at
from liestep.geometry.quaternion import Quaternion, multiply
from liestep.mechanics.contracts.formulations import Component, LieChart
from liestep.mechanics.formulations.action import ActionForm
from liestep.mechanics.formulations.multibody.mechanism import (
    BODY,
    MOVING,
    PLACE,
    PUSH,
    RATE,
    SPIN,
    TURN,
    VELOCITY,
    Mechanism,
    across,
    times,
)

MIXED, BODY_TWIST, SPATIAL = 0, 1, 2  # linear velocity: dr/dt, R^T dr/dt, dr/dt - omega x r with omega in space too
POLE = 1e-6                           # |cos pitch| at which Euler angles end
MOST_RETURNS = 6                      # evaluations of one projection; two are typical
CLOSED = 1e-15                        # |g| beside its size that needs no return


class MechanismInRows(NamedTuple):
    """A mechanism, and how its state is written in rows."""

    mechanism: Mechanism
    attitude: int  # of `geometry.groups.poses`
    twist: int     # MIXED, BODY_TWIST, SPATIAL
    unit_length: int  # 1: R(Q) of the normalised Q at every evaluation
    addresses: np.ndarray  # (2,) addresses of the machine code of `evaluate` and `observe`

    def read(self, y: np.ndarray) -> None:
        """Axes, places, rates and velocities of the centres of mass into the mechanism's scratch."""
        a, s, c = attitude_rows(self.attitude), self.mechanism.scratch, self.mechanism.constants
        for i in range(self.mechanism.bodies):
            b, m = i*(a + 3), MOVING*i
            if self.attitude == MATRIX:
                for k in range(3):
                    put(s, m + k, row(y, b + k))
            else:
                q = quaternion_at(self.attitude, y, b)
                put_axes(self.normalised(q) if self.unit_length == 1 else q, s, m)
            centre, rate, velocity = row(c, BODY*i + 7), row(y, b + a + 1), row(y, b + a + 2)
            if self.twist == SPATIAL:
                velocity = add(velocity, cross(rate, row(y, b + a)))
                rate = times(s, m, rate)
            elif self.twist == BODY_TWIST:
                velocity = across(s, m, velocity)
            put(s, m + PLACE, add(row(y, b + a), across(s, m, centre)))
            put(s, m + RATE, rate)
            put(s, m + TURN, across(s, m, rate))
            put(s, m + VELOCITY, add(velocity, across(s, m, cross(rate, centre))))
        if self.mechanism.clock == 1:
            s[s.shape[0] - 1, 0] = y[self.mechanism.bodies*(a + 3), 0]

    def normalised(self, q: Quaternion) -> Quaternion:
        """Q/|Q|."""
        f = 1.0/sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
        return f*q[0], f*q[1], f*q[2], f*q[3]

    @separate(2, int)
    def evaluate(self, y: np.ndarray, task: int) -> bool:
        """`Mechanism.evaluate` at a state."""
        self.read(y)
        return self.mechanism.evaluate(task)

    def twist_rate(self, y: np.ndarray, i: int) -> tuple[Vector, Vector]:
        """Rates of change of body rate and velocity of body i, after `evaluate`."""
        a, s, m = attitude_rows(self.attitude), self.mechanism.scratch, MOVING*i
        b = i*(a + 3)
        w, centre, spin = row(s, m + RATE), row(self.mechanism.constants, BODY*i + 7), row(s, m + SPIN)
        far = add(cross(spin, centre), cross(w, cross(w, centre)))
        if self.twist == BODY_TWIST:
            return spin, sub(sub(times(s, m, row(s, m + PUSH)), far), cross(w, row(y, b + a + 2)))
        push = sub(row(s, m + PUSH), across(s, m, far))
        if self.twist == MIXED:
            return spin, push
        spin, place, turn = across(s, m, spin), row(y, b + a), row(y, b + a + 1)
        return spin, sub(sub(push, cross(spin, place)), cross(turn, add(row(y, b + a + 2), cross(turn, place))))

    @separate(2, 1)
    def observe(self, y: np.ndarray, out: np.ndarray) -> None:
        """energy, angular momentum (3), then the largest |R^T R - 1|, |g| and |A V|, and |Q| farthest from 1. With a
        clock energy less work, and then work and energy."""
        self.evaluate(y, 1)
        out[0] = self.mechanism.energy()
        out[1], out[2], out[3] = self.mechanism.momentum()
        out[4] = 0.0
        out[7] = 1.0
        for i in range(self.mechanism.bodies):
            out[4] = larger(out[4], orthogonality_error(self.mechanism.scratch[MOVING*i:MOVING*i + 3]))
            if self.attitude == QUATERNION:
                b = 4*i
                size = sqrt(y[b, 0]*y[b, 0] + y[b, 1]*y[b, 1] + y[b, 2]*y[b, 2] + y[b, 3]*y[b, 3])
                out[7] = if_less(abs(out[7] - 1.0), abs(size - 1.0), size, out[7])  # the farthest from 1
        for c in range(2):
            out[5 + c] = 0.0
            for k in range(self.mechanism.rows):
                out[5 + c] = larger(out[5 + c], abs(self.mechanism.vectors[1 + c, k]))
        if self.mechanism.clock == 1:
            out[8], out[9] = y[self.mechanism.bodies*(attitude_rows(self.attitude) + 3), 1], out[0]
            out[0] -= out[8]

    def put_clock(self, out: np.ndarray, i: int) -> None:
        """Rates of time and work in row i, after `evaluate`."""
        if self.mechanism.clock == 1:
            put(out, i, (1.0, self.mechanism.scratch[self.mechanism.scratch.shape[0] - 1, 1], 0.0))


@hands_on("motion", Component, "observe")
class PoseGenerator(NamedTuple):
    """f: velocities of the poses in the algebra of `geometry.groups.poses.Poses`, and accelerations."""

    motion: MechanismInRows
    se3: int

    @outlined
    def algebra(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        if not self.motion.evaluate(y, 0):
            return False
        a, s = attitude_rows(self.motion.attitude), self.motion.mechanism.scratch
        for i in range(self.motion.mechanism.bodies):
            b, m = i*(a + 3), MOVING*i
            velocity = row(y, b + a + 2)
            if self.motion.twist == SPATIAL:
                velocity = add(velocity, cross(row(y, b + a + 1), row(y, b + a)))
            if self.se3 == 1 and self.motion.twist != BODY_TWIST:
                velocity = times(s, m, velocity)
            elif self.se3 == 0 and self.motion.twist == BODY_TWIST:
                velocity = across(s, m, velocity)
            put(out, 4*i, row(s, m + RATE))
            put(out, 4*i + 1, velocity)
            spin, push = self.motion.twist_rate(y, i)
            put(out, 4*i + 2, spin)
            put(out, 4*i + 3, push)
        self.motion.put_clock(out, 4*self.motion.mechanism.bodies)
        return True


@hands_on("motion", Component, "observe")
class MultibodyField(NamedTuple):
    """d/dt of the rows: dQ/dt = Q (0, w)/2, dR/dt = R hat w, or rates of Euler angles (roll, pitch, yaw); projection
    as the option says. With a multiplier dQ/dt = Q (0, w)/2 - lambda Q, and lambda holds the unit norm as it holds
    joints with Baumgarte's stabilisation: dg/dt = -rate g of g = |Q|^2 - 1."""

    motion: MechanismInRows
    normalise: int  # 1: Q/|Q| after each step, 2: by a multiplier
    rate: float     # of that multiplier, 1/s
    counters: np.ndarray

    def stage(self, weights: np.ndarray, h: float, k: np.ndarray, count: int, y: np.ndarray, out: np.ndarray) -> None:
        stage_columns(weights, h, k, count, y, out)

    def rhs(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        self.counters[Counter.RHS_EVALUATIONS] += 1
        if not self.motion.evaluate(y, 0):
            return False
        motion, s = self.motion, self.motion.mechanism.scratch
        a = attitude_rows(motion.attitude)
        for i in range(motion.mechanism.bodies):
            b, m = i*(a + 3), MOVING*i
            w, velocity = row(s, m + RATE), row(y, b + a + 2)
            if motion.attitude == MATRIX:
                spatial = row(s, m + TURN)
                for k in range(3):
                    put(out, b + k, cross(spatial, row(y, b + k)))
            elif motion.attitude == EULER:
                roll, along = y[b, 0], cos(y[b, 1])
                if below(abs(along), POLE):
                    return False
                turn = w[1]*sin(roll) + w[2]*cos(roll)
                put(out, b, (w[0] + turn*sin(y[b, 1])/along, w[1]*cos(roll) - w[2]*sin(roll), turn/along))
            else:
                out[b, 0], out[b, 1], out[b, 2], out[b, 3] = multiply(
                    (0.5*y[b, 0], 0.5*y[b, 1], 0.5*y[b, 2], 0.5*y[b, 3]), (0.0, w[0], w[1], w[2]))
                if self.normalise == 2:
                    size = y[b, 0]*y[b, 0] + y[b, 1]*y[b, 1] + y[b, 2]*y[b, 2] + y[b, 3]*y[b, 3]
                    for k in range(4):
                        out[b, k] -= 0.5*self.rate*(1.0 - 1.0/size)*y[b, k]
            if motion.twist == SPATIAL:
                velocity = add(velocity, cross(row(y, b + a + 1), row(y, b + a)))
            elif motion.twist == BODY_TWIST:
                velocity = across(s, m, velocity)
            put(out, b + a, velocity)
            spin, push = motion.twist_rate(y, i)
            put(out, b + a + 1, spin)
            put(out, b + a + 2, push)
        motion.put_clock(out, motion.mechanism.bodies*(a + 3))
        return True

    def project(self, y: np.ndarray) -> None:
        if self.normalise == 1:
            for i in range(self.motion.mechanism.bodies):
                b = 4*i
                y[b, 0], y[b, 1], y[b, 2], y[b, 3] = self.motion.normalised((y[b, 0], y[b, 1], y[b, 2], y[b, 3]))


@hands_on("poses", LieChart)
class ProjectedPoses(NamedTuple):
    """An `ActionForm` that returns to the joints after each step: poses by steps U = -M^-1 A^T (A M^-1 A^T)^-1 g
    through the action, until |g| stops to shrink, then velocities orthogonally in the metric M (lgt2022 with an
    extension of our own: the paper stabilises nothing)."""

    poses: ActionForm
    step: np.ndarray     # (algebra rows, 3)
    weights: np.ndarray  # (rows,) in the band: one over the size of each residual
    per_length: float    # of residuals that are lengths, 1/m
    counters: np.ndarray
    addresses: np.ndarray  # (1,) address of the machine code of `project`

    @separate(2)
    def project(self, y: np.ndarray) -> bool:
        mechanism, before = self.poses.generator.motion.mechanism, np.inf
        for _ in range(MOST_RETURNS):
            if not self.poses.generator.motion.evaluate(y, 2):
                return False
            worst = 0.0
            for k in range(mechanism.rows):
                worst = max(worst, abs(mechanism.vectors[1, k])*self.weights[k])
            if worst < CLOSED or not worst < 0.5*before:
                break
            before = worst
            mechanism.solve(1)
            for i in range(mechanism.bodies):
                spin, push = mechanism.pulled(i, 1)
                put(self.step, 4*i, spin)
                put(self.step, 4*i + 1, self.moved(i, self.poses.generator.se3, spin, push))
            self.poses.action.act(self.step, y, y)
        a, twist = attitude_rows(self.poses.action.attitude), self.poses.generator.motion.twist
        mechanism.solve(2)
        for i in range(mechanism.bodies):
            b = i*(a + 3)
            spin, push = mechanism.pulled(i, 2)
            change = self.moved(i, 1 if twist == BODY_TWIST else 0, spin, push)
            if twist == SPATIAL:
                spin = across(mechanism.scratch, MOVING*i, spin)
                change = sub(change, cross(spin, row(y, b + a)))
            add_to(y, b + a + 1, spin)
            add_to(y, b + a + 2, change)
        return True

    def projects(self) -> bool:
        return True

    def moved(self, i: int, body: int, spin: Vector, push: Vector) -> Vector:
        """Linear part at the reference point of what is (spin, push) at the centre of mass; body: in body axes."""
        mechanism = self.poses.generator.motion.mechanism
        far = cross(spin, row(mechanism.constants, BODY*i + 7))
        if body == 1:
            return sub(times(mechanism.scratch, MOVING*i, push), far)
        return sub(push, across(mechanism.scratch, MOVING*i, far))
