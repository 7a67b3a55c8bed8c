"""The time loop of several trajectories in lockstep (`lockstep.lanes`). A step of all lanes has five phases: the
jets and the next step of each lane; the states after these steps and their observables; which steps are plain; outputs
within them; statistics.

A step is plain where it is accepted for certain and is not the last. Every other one (the first and the last of a
trajectory, one that may fail, one that ends at an output) is made by the loop of single runs, `advance_adaptive`, from
the same jet: what becomes of such steps is written there alone.
"""
from typing import Any, NamedTuple

import numpy as np

from liestep.compile.address import call_address
from liestep.compile.counters import Counter
from liestep.compile.dispatch import kernel
from liestep.compile.driver import advance_adaptive, record_before
from liestep.compile.status import Status
from liestep.integrators.taylor import TaylorWork
from liestep.simulation.machine_code.machine import StraightField
from liestep.simulation.runs.recorder import Integrals, Recorder

one_step = kernel(advance_adaptive)


class LaneMethod(NamedTuple):
    """A method of the system for all lanes, see `lockstep.code`."""

    address: int
    table: np.ndarray

    def call(self, a: np.ndarray, out: np.ndarray) -> None:
        call_address(self.address, a, self.table, out)


class LaneJet(NamedTuple):
    """One lane of a jet of several trajectories at once, whose machine code has run before the lane's step
    (`lockstep.lanes`); all numbers of the lanes stand side by side."""

    lane: int
    numbers: int              # (order + 1) m d
    ready: np.ndarray         # (lanes,) 1 where the coefficients belong to the state
    h: np.ndarray             # (lanes,) steps for which there are sums
    sums: np.ndarray          # (m d, lanes) states after them
    coefficients: np.ndarray  # ((order + 1) m d + 4 groups, lanes)
    gathered: np.ndarray      # (lanes,) 1 when the workspace holds the coefficients of the lane
    polynomial: int
    step: np.ndarray          # (1,)

    def evaluate(self, t: float, y: np.ndarray, out: np.ndarray) -> bool:
        """The largest numbers alone; False for a state whose coefficients are still to come."""
        if self.ready[self.lane] == 0:
            return False
        for i in range(self.numbers, out.shape[0]):
            out[i] = self.coefficients[i, self.lane]
        return True

    def sum(self, c: np.ndarray, h: float, out: np.ndarray) -> None:
        """out = sum_k c_k h^k"""
        if h == self.h[self.lane]:
            for i in range(out.shape[0]):
                for k in range(out.shape[1]):
                    out[i, k] = self.sums[i*out.shape[1] + k, self.lane]
            return
        if self.gathered[self.lane] == 0:
            for i in range(self.numbers):
                c[i] = self.coefficients[i, self.lane]
            self.gathered[self.lane] = 1
        self.step[0] = h
        call_address(self.polynomial, c, self.step, out)


class Alone(NamedTuple):
    """Workspace for a step of one lane in the loop of single runs."""

    polynomial: int       # sum of one
    gathered: np.ndarray  # (lanes,)
    c: np.ndarray         # ((order + 1) m d + 4 groups,)
    new: np.ndarray       # (m, d)
    when: np.ndarray      # (2,)
    step: np.ndarray      # (1,)
    out: np.ndarray       # (m, d)
    log: np.ndarray       # (1, 2) so that the loop returns after each step


class Lanes(NamedTuple):
    """Machine code of the lanes, and their numbers side by side."""

    jet: int
    sum: int
    project: LaneMethod
    observe: LaneMethod
    table: np.ndarray         # times of the lanes, then the constants of the system
    y: np.ndarray             # (m d, lanes)
    coefficients: np.ndarray  # ((order + 1) m d + 4 groups, lanes)
    following: np.ndarray     # (lanes,) next steps
    h: np.ndarray             # (lanes,) the same, not beyond the end
    sums: np.ndarray          # (m d, lanes) states after h
    new: np.ndarray           # (m d + 1, lanes) the same, projected, and the sum of their numbers
    seen: np.ndarray          # (K, lanes) observables of these
    statistics: Recorder      # of plain steps, in one block, of K lanes observables; `seen` is its scratch
    member: np.ndarray        # (lanes,) trajectory of each, -1 for none
    begun: np.ndarray         # (lanes,) 1 after the first step of a trajectory
    ready: np.ndarray         # (lanes,) 1 where the coefficients belong to the state
    due: np.ndarray           # (lanes,) time of the next output, inf after the last
    plain: np.ndarray         # (lanes,) 1 where the step is
    made: np.ndarray          # (lanes,) plain steps that the trajectory does not know of
    alone: Alone


class Members(NamedTuple):
    """Trajectories, of each what `advance_adaptive` needs; the first dimension is theirs."""

    y: np.ndarray       # (M, m, d)
    memory: np.ndarray  # (M, 4)
    counters: np.ndarray   # (M, counters)
    steps: np.ndarray   # (M,)
    status: np.ndarray  # (M,)
    taken: np.ndarray   # (1,) how many have a lane, or had one
    kept: np.ndarray    # (K,) 1 for the columns of invariants


def advance_lanes(pair: Any, problem: Any, outputs: Any, accepted: Any, lanes: Any, members: Any, interval: float,
                  t_end: float) -> None:
    """All trajectories to their ends; recorders have the trajectories as their first dimension."""
    alive, count = 0, lanes.member.shape[0]
    for lane in range(count):
        alive += begin(problem, outputs, lanes, members, lane, t_end)
    while alive > 0:
        expand(pair, lanes, t_end)
        move(lanes)
        sort(lanes, t_end)
        plain = 0
        for lane in range(count):
            if lanes.plain[lane] == 1 and lanes.table[lane] + lanes.h[lane] >= lanes.due[lane]:
                write_outputs(pair, problem, outputs, lanes, members, lane, interval)
            plain += lanes.plain[lane]
        if plain < alive:
            for lane in range(count):
                if lanes.plain[lane] == 0 and lanes.member[lane] >= 0:
                    leave(pair, accepted, lanes, members, lane)
        settle(accepted, lanes)
        if plain < alive:
            for lane in range(count):
                if lanes.plain[lane] == 0 and lanes.member[lane] >= 0:
                    status = step_alone(pair, problem, outputs, accepted, lanes, members, lane, interval, t_end)
                    if status == Status.RUNNING:
                        join(outputs, accepted, lanes, members, lane, interval)
                    else:
                        members.status[lanes.member[lane]] = status.value
                        alive += begin(problem, outputs, lanes, members, lane, t_end) - 1


@kernel
def begin(problem: Any, outputs: Any, lanes: Any, members: Any, lane: int, t_end: float) -> int:
    """Give a lane the next trajectory; how many it got, 0 or 1."""
    lanes.begun[lane], lanes.made[lane] = 0, 0
    i = members.taken[0]
    if i == members.y.shape[0]:
        lanes.member[lane], lanes.table[lane] = -1, t_end
        return 0
    lanes.member[lane], lanes.table[lane] = i, 0.0
    members.taken[0] = i + 1
    field = StraightField(problem.field, problem.projection, problem.observables, problem.stages, members.counters[i])
    field.observe(members.y[i], outputs.baseline[i])
    for c in range(members.kept.shape[0]):
        if members.kept[c] == 0:
            outputs.baseline[i, c] = 0.0
    show(lanes, members, lane)
    return 1


@kernel
def show(lanes: Any, members: Any, lane: int) -> None:
    """Copy the state of a trajectory to its lane."""
    y = members.y[lanes.member[lane]]
    for i in range(y.shape[0]):
        for k in range(y.shape[1]):
            lanes.y[i*y.shape[1] + k, lane] = y[i, k]


@kernel
def expand(pair: Any, lanes: Any, t_end: float) -> None:
    """Coefficients at the states of all lanes, and their next steps; where there are none these stay as they are."""
    there = call_address(lanes.jet, lanes.y, lanes.table, lanes.coefficients)
    c = lanes.coefficients
    for lane in range(lanes.h.shape[0]):
        lanes.ready[lane] = (there >> lane) & 1
        if lanes.ready[lane] == 1:
            pair.choose(c[:, lane])
            lanes.following[lane] = pair.control.next_step[0]
        lanes.h[lane] = min(lanes.following[lane], t_end - lanes.table[lane])


@kernel
def move(lanes: Any) -> None:
    """States of all lanes after their steps, and the observables there."""
    call_address(lanes.sum, lanes.coefficients, lanes.h, lanes.sums)
    lanes.project.call(lanes.sums, lanes.new)
    lanes.observe.call(lanes.new, lanes.seen)


@kernel
def sort(lanes: Any, t_end: float) -> None:
    """Find the lanes whose steps are plain."""
    last = lanes.new.shape[0] - 1
    for lane in range(lanes.plain.shape[0]):
        t, h = lanes.table[lane], lanes.following[lane]
        plain = (lanes.begun[lane] == 1) & (lanes.ready[lane] == 1) & (h < t_end - t) & (t + 0.0625*h > t)
        plain &= (abs(lanes.new[last, lane]) < np.inf) & (abs(lanes.seen[0, lane]) < np.inf)
        lanes.plain[lane] = 1 if plain else 0


@kernel
def write_outputs(pair: Any, problem: Any, outputs: Any, lanes: Any, members: Any, lane: int, interval: float) -> None:
    """Record the outputs within a plain step. Where one fails, or is due at its end, the step is not plain after
    all."""
    i, one, o = lanes.member[lane], lanes.alone, outputs
    t, h = lanes.table[lane], lanes.h[lane]
    members.memory[i, 0], one.gathered[lane] = t, 0
    sampled = Recorder(
        o.states[i], o.series[i], o.scratch[i], o.baseline[i], o.total[i], o.largest[i], o.block_sum[i], o.block_low[i],
        o.block_high[i], o.block_count[i], o.filled[i], Integrals(o.integrals.columns, o.integrals.last[i]), o.steps,
        o.points, o.stride, o.every)
    record_before(
        t + h, pair,
        StraightField(problem.field, problem.projection, problem.observables, problem.stages, members.counters[i]),
        sampled, members.y[i], h, one.out, members.memory[i], interval,
        TaylorWork(LaneJet(lane, (pair.order + 1)*lanes.y.shape[0], lanes.ready, lanes.h, lanes.sums,
                           lanes.coefficients, one.gathered, one.polynomial, one.step), one.c, one.new, one.when),
        0.0, 1.0)
    find_due(outputs, lanes, members, lane, interval)
    if lanes.due[lane] <= t + h:
        lanes.plain[lane] = 0


@kernel
def find_due(outputs: Any, lanes: Any, members: Any, lane: int, interval: float) -> None:
    """Time of the next output of a lane."""
    k = int(members.memory[lanes.member[lane], 3])
    lanes.due[lane] = k*interval if k <= outputs.points else np.inf


@kernel
def settle(accepted: Any, lanes: Any) -> None:
    """Accept the steps of all lanes; those that are not plain get their numbers from the trajectory again."""
    if accepted.integrals.columns.shape[0] > 0:
        for lane in range(lanes.plain.shape[0]):
            if lanes.plain[lane] == 1:
                own = Integrals(accepted.integrals.columns, accepted.integrals.last[lanes.member[lane]])
                own.replace(lanes.seen[:, lane], lanes.table[lane] + lanes.h[lane], accepted.steps)
    lanes.statistics.count(1)
    for i in range(lanes.y.shape[0]):
        for lane in range(lanes.y.shape[1]):
            lanes.y[i, lane] = lanes.new[i, lane]
    for lane in range(lanes.made.shape[0]):
        lanes.table[lane] += lanes.h[lane]
        lanes.made[lane] += 1


@kernel
def leave(pair: Any, accepted: Any, lanes: Any, members: Any, lane: int) -> None:
    """Tell a trajectory of the plain steps of its lane."""
    i, made, width = lanes.member[lane], lanes.made[lane], lanes.made.shape[0]
    if made == 0:
        return
    members.memory[i, 0] = lanes.table[lane]
    members.steps[i] += made
    members.counters[i, Counter.RHS_EVALUATIONS] += made*pair.order
    members.counters[i, Counter.STEPS_ACCEPTED] += made
    for k in range(members.y.shape[1]):
        for c in range(members.y.shape[2]):
            members.y[i, k, c] = lanes.y[k*members.y.shape[2] + c, lane]
    block, own = accepted.block_sum.shape[1] - 1, lanes.statistics
    accepted.block_count[i, block] += made
    accepted.filled[i, 1] += made
    for c in range(accepted.largest.shape[1]):
        at = c*width + lane
        accepted.total[i, 0, c], accepted.total[i, 1, c] = own.total[0, at], own.total[1, at]
        accepted.largest[i, c], accepted.block_sum[i, block, c] = own.largest[at], own.block_sum[0, at]
        accepted.block_low[i, block, c] = own.block_low[0, at]
        accepted.block_high[i, block, c] = own.block_high[0, at]


@kernel
def join(outputs: Any, accepted: Any, lanes: Any, members: Any, lane: int, interval: float) -> None:
    """Show a lane its trajectory after a step alone. All steps but the first are in the last block."""
    i, width = lanes.member[lane], lanes.made.shape[0]
    show(lanes, members, lane)
    lanes.table[lane], lanes.begun[lane], lanes.made[lane] = members.memory[i, 0], 1, 0
    find_due(outputs, lanes, members, lane, interval)
    block, own = accepted.block_sum.shape[1] - 1, lanes.statistics
    for c in range(accepted.largest.shape[1]):
        at = c*width + lane
        own.baseline[at] = accepted.baseline[i, c]
        own.total[0, at], own.total[1, at] = accepted.total[i, 0, c], accepted.total[i, 1, c]
        own.largest[at], own.block_sum[0, at] = accepted.largest[i, c], accepted.block_sum[i, block, c]
        own.block_low[0, at] = accepted.block_low[i, block, c]
        own.block_high[0, at] = accepted.block_high[i, block, c]


@kernel
def step_alone(pair: Any, problem: Any, outputs: Any, accepted: Any, lanes: Any, members: Any, lane: int,
               interval: float, t_end: float) -> Status:
    """A step of one lane by the loop of single runs; RUNNING before the end of the trajectory."""
    i, one, o, a = lanes.member[lane], lanes.alone, outputs, accepted
    one.when[1], one.gathered[lane] = lanes.ready[lane], 0
    if lanes.begun[lane] == 1:  # only the start of a trajectory asks for the coefficients
        members.memory[i, 1] = lanes.following[lane]
        lanes.ready[lane] = 0
    sampled = Recorder(
        o.states[i], o.series[i], o.scratch[i], o.baseline[i], o.total[i], o.largest[i], o.block_sum[i], o.block_low[i],
        o.block_high[i], o.block_count[i], o.filled[i], Integrals(o.integrals.columns, o.integrals.last[i]), o.steps,
        o.points, o.stride, o.every)
    counted = Recorder(
        a.states[i], a.series[i], a.scratch[i], a.baseline[i], a.total[i], a.largest[i], a.block_sum[i], a.block_low[i],
        a.block_high[i], a.block_count[i], a.filled[i], Integrals(a.integrals.columns, a.integrals.last[i]), a.steps,
        a.points, a.stride, a.every)
    status, made = one_step(
        pair,
        StraightField(problem.field, problem.projection, problem.observables, problem.stages, members.counters[i]),
        sampled, counted, members.y[i], one.out, members.memory[i], one.log, interval, t_end,
        TaylorWork(LaneJet(lane, (pair.order + 1)*lanes.y.shape[0], lanes.ready, lanes.h, lanes.sums,
                           lanes.coefficients, one.gathered, one.polynomial, one.step), one.c, one.new, one.when),
        0.0, 1.0)
    members.steps[i] += made
    return status
