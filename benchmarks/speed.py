"""Ratios of the core to its C counterparts and to numpy."""
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.cases import (
    CASES,
    NUMPY_TARGET,
    PENDULUM,
    STATISTICS_TARGET,
    TOP,
    ArrayRun,
    Case,
    CoreRun,
    CounterpartRun,
)
from benchmarks.rowsum import RowSums
from benchmarks.timing import interleaved, ratio

ARRAY_STEPS = 20
LENNARD_JONES = (("level2", 162, 200), ("paper", 642, 20), ("level4", 2562, 3))
MEMORY_TARGET = 400.0  # MB
COMPILE_TARGET = 3.0  # s
SECONDS = (("rkmk", "rkmk tableau=dormand_prince5"), ("cf4", "cg3"))  # methods of one class
SECOND_TARGET = 0.1  # s, for building the problem and the steps themselves
ORDERS = {"same loop order": 0, "half loop": 1, "half loop on rows": 3, "row sums": 2}
ORDER_TARGETS = {"same loop order": 1.5, "half loop on rows": 0.9}
ROW_SUM_TARGET = 4.0


def core_and_counterparts(repeats: int) -> Iterator[dict[str, Any]]:
    """One row per case: steps per second, ratios to C without and with statistics, ratio to numpy."""
    for case in CASES:
        plain, counted = CoreRun(case, statistics=False), CoreRun(case, statistics=True)
        runs = {"core": plain, "C": CounterpartRun(case, plain, statistics=False), "core, statistics": counted,
                "C, statistics": CounterpartRun(case, counted, statistics=True)}
        same = difference(runs["core"], runs["C"])
        numpy_run = ArrayRun(plain, ARRAY_STEPS)
        if numpy_run.step is not None:
            runs["numpy"] = numpy_run
        seconds = interleaved({name: run.prepare for name, run in runs.items()}, repeats)
        row = {"case": case.label, "core steps/s": case.steps/min(seconds["core"]),
               "C steps/s": case.steps/min(seconds["C"]), "core/C": ratio(seconds, "core", "C"), "target": case.target,
               "core/C, statistics": ratio(seconds, "core, statistics", "C, statistics"),
               "target, statistics": STATISTICS_TARGET, "statistics/none": ratio(seconds, "core, statistics", "core"),
               "largest difference": same, "numpy/core": "", "target, numpy": ""}
        if numpy_run.step is not None:
            row["numpy/core"] = ratio(seconds, "numpy", "core")*case.steps/numpy_run.steps
            row["target, numpy"] = NUMPY_TARGET if case.small else ""
        yield row


def difference(first, second) -> float:
    """Largest difference of two runs' final states."""
    (run, y), (other, z) = first.prepare(), second.prepare()
    run()
    other()
    return float(np.max(np.abs(y - z)))


def lennard_jones(repeats: int) -> Iterator[dict[str, Any]]:
    """Whole explicit steps of the molecules; the force is nearly all of their time."""
    for preset, n, steps in LENNARD_JONES:
        case = Case(f"n = {n}", "lennard_jones_sphere", "vi_sphere", "explicit", 0.005, steps, 1.5, preset=preset)
        core = CoreRun(case, statistics=False)
        runs = {"core": core,
                **{name: CounterpartRun(case, core, statistics=False, order=order) for name, order in ORDERS.items()},
                "row sums by Numba": CoreRun(case, statistics=False, system=RowSums), "numpy": ArrayRun(core, 1)}
        apart = {name: difference(core, run) for name, run in runs.items() if name not in ("core", "numpy")}
        seconds = interleaved({name: run.prepare for name, run in runs.items()}, repeats)
        seconds["numpy"] = [value*steps for value in seconds["numpy"]]
        for name in runs:
            if name == "core":
                continue
            yield {"molecules": n, "other": name, "core ms/step": 1e3*statistics.median(seconds["core"])/steps,
                   "other ms/step": 1e3*statistics.median(seconds[name])/steps,
                   "core/other": ratio(seconds, "core", name),
                   "target": ORDER_TARGETS.get(name, 1.0/ROW_SUM_TARGET if name == "row sums by Numba" else ""),
                   "largest difference": apart.get(name, "")}


MEMORY_PROGRAM = """
from pathlib import Path
from benchmarks.cases import Case, CoreRun
case = Case("", "lennard_jones_sphere", "vi_sphere", "explicit", 0.005, 1000, 1.5, preset="paper")
run = CoreRun(case, statistics=False)
run.prepare()[0]()
# Not getrusage: its maximum is inherited from the parent.
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(float(peak.split()[1])/1024)
"""
COMPILE_PROGRAM = """
import sys, time
from benchmarks.cases import CASES, CoreRun
start = time.process_time()
CoreRun(CASES[int(sys.argv[1])], statistics=True).prepare()[0]()
print(time.process_time() - start)
"""
SECOND_PROGRAM = """
import sys, time
from dataclasses import replace
from benchmarks.cases import CASES, CoreRun
from liestep.compile.cache import _loops
case = next(case for case in CASES if case.label == sys.argv[1])
for integrator in sys.argv[2:]:
    before, start = len(_loops), time.process_time()
    CoreRun(replace(case, integrator=integrator, steps=10), statistics=True).prepare()[0]()
    print(time.process_time() - start, len(_loops) - before)
"""


def _program(text: str, *arguments: str, cache: str | None = None) -> list[float]:
    """The numbers that a program prints in a process of its own."""
    environment = {**os.environ, **({"LIESTEP_CACHE": cache} if cache else {})}
    found = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True, check=True,
                           env=environment)
    return [float(number) for number in found.stdout.split()]


def memory() -> Iterator[dict[str, Any]]:
    """Peak memory of a process that makes 1000 steps of 642 molecules."""
    yield {"process": "1000 steps of 642 molecules", "peak MB": _program(MEMORY_PROGRAM)[0], "target": MEMORY_TARGET}


def compile_times(repeats: int) -> Iterator[dict[str, Any]]:
    """Processor seconds of the first run of each case in a process: nothing compiled before,
    and machine code from disk."""
    for index, case in enumerate(CASES):
        with tempfile.TemporaryDirectory(prefix="liestep-cold-") as folder:
            cold = [_program(COMPILE_PROGRAM, str(index), cache=f"{folder}/{k}")[0] for k in range(repeats)]
            warm = [_program(COMPILE_PROGRAM, str(index), cache=f"{folder}/0")[0] for _ in range(repeats)]
        yield {"case": case.label, "compiling, s": min(cold), "code from disk, s": min(warm),
               "target, compiling": COMPILE_TARGET}


def second_methods() -> Iterator[dict[str, Any]]:
    """Processor seconds of the first ten steps of two methods of one class, one after the other in a
    process with an empty cache.

    The coefficients are data, so the second one runs the machine code of the first.
    """
    for first, second in SECONDS:
        for system in (PENDULUM, TOP):
            with tempfile.TemporaryDirectory(prefix="liestep-cold-") as folder:
                found = _program(SECOND_PROGRAM, f"{system}, {first}", first, second, cache=folder)
            yield {"case": system, "first": first, "second": second, "first, s": found[0], "second, s": found[2],
                   "loops for the first": int(found[1]), "loops for the second": int(found[3]),
                   "target, second, s": SECOND_TARGET}
