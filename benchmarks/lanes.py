"""Members of ensembles in lockstep beside single runs: processor time of one member in the loops of runs, with the
observables of every accepted step, and of whole ensembles; seconds of one and of two threads.

Loops are timed in turns of alternating order in one process, in processor time of the thread; the smallest of the
repeats counts. What two threads gain is the largest of a few ratios of times on the clock, which other programs on the
machine spoil, and of processor times, as if each thread had a core of its own."""
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.peers import ours, timed
from liestep.compile.cache import loop_for
from liestep.lockstep import lanes
from liestep.lockstep.loop import advance_lanes
from liestep.simulation.runs.execution import Outcome, build, ensemble_states, run_once
from liestep.simulation.runs.specification import RunSpecification, specify

# label, system, preset, end
PROBLEMS = (("free body", "free_rigid_body", "asymmetric", 50.0), ("heavy top", "heavy_top", "asymmetric", 20.0),
            ("double pendulum", "spherical_pendulum_chain", "orders", 20.0),
            ("three bodies", "sphere_nbody", "paper", 20.0))
TOLERANCES = (1e-8, 1e-12)  # orders 11 and 15
MEMBERS = 64


def compare(repeats: int) -> Iterator[dict[str, Any]]:
    """One row for each problem and tolerance."""
    for label, system, preset, t_end in PROBLEMS:
        for tolerance in TOLERANCES:
            spec = specify(system, "taylor", preset=preset, tolerance=tolerance, t_end=t_end, samples=2,
                           ensemble={"members": MEMBERS, "amplitude": 1e-12, "seed": 0})
            states = ensemble_states(spec)
            found = [run() for run in lanes.outcomes(spec, states)]
            single = [run_once(spec, state) for state in states[:8]]
            widths = (4, 8)
            seconds = timed([ours(system, preset, "taylor", t_end, tolerance).call,
                             *(lockstep(spec, width) for width in widths)], repeats)
            alone, *members = [seconds[0], *(each/MEMBERS for each in seconds[1:])]
            yield {"problem": label, "tolerance": tolerance, "steps": found[0].steps, "single us": 1e6*alone,
                   **{f"{width} lanes, times faster": alone/each for width, each in zip(widths, members, strict=True)},
                   "largest difference of ends": max(map(_difference, found, single)),
                   "whole ensemble, times faster": whole(spec, states), **two_threads(spec)}


def lockstep(spec: RunSpecification, width: int) -> Callable[[], None]:
    """The loop of all members of an ensemble."""
    states = ensemble_states(spec)
    formulated, pair = build(spec, states[0])
    code = lanes.LaneCode(spec, formulated, pair, width)
    built = [build(spec, state)[0] for state in states]
    given = code.arrays(built)
    loop = loop_for(advance_lanes, *given[:-2])
    starts = np.array([one.start for one in built])

    def call() -> None:
        *_, outputs, accepted, _, members = given[:-2]
        for changed in (members.memory, members.counters, members.steps, members.taken, outputs.filled, accepted.filled,
                        accepted.integrals.last):
            changed[...] = 0
        members.y[:] = starts
        loop(*given)

    return call


def whole(spec: RunSpecification, states: list[dict[str, np.ndarray]]) -> float:
    """Processor time of single runs over that of lanes, with all that Python does for each."""
    def several() -> None:
        for run in lanes.outcomes(spec, states):
            run()

    def single() -> None:
        for state in states[:8]:
            run_once(spec, state)

    seconds = timed([single, several], 3)
    return seconds[0]/8*MEMBERS/seconds[1]


def two_threads(spec: RunSpecification) -> dict[str, float]:
    """Two loops one after the other over both at the same time, each repeated until a time slice of other programs does
    not decide."""
    calls, clock, processor = [lockstep(spec, 8) for _ in range(2)], 0.0, 0.0
    count = max(1, int(0.05/timed([calls[0]], 3)[0]))

    def often(call: Callable[[], None]) -> tuple[float, float]:
        begin = time.perf_counter(), time.thread_time()
        for _ in range(count):
            call()
        return time.perf_counter() - begin[0], time.thread_time() - begin[1]

    with ThreadPoolExecutor(2) as pool:
        for _ in range(7):
            single = [often(call) for call in calls]
            begin = time.perf_counter()
            both = list(pool.map(often, calls))
            clock = max(clock, sum(each[0] for each in single)/(time.perf_counter() - begin))
            processor = max(processor, sum(each[1] for each in single)/max(each[1] for each in both))
    return {"two threads, clock": clock, "two threads, processor": processor}


def _difference(one: Outcome, other: Outcome) -> float:
    return float(np.abs(one.outputs.states[-1] - other.outputs.states[-1]).max())
