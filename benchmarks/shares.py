"""Operations a second of the kernels in which most of the workflow's stepping is spent, over what the processor can do.

Operations are counted by a step in plain Python on numbers that count: additions, multiplications, divisions, roots and
other functions, each one. The processor's are multiplications with addition (two operations each) of as many
independent numbers as hide their latency, in C with the widest registers that the core's code has, fused where it has
such an instruction. The core's code has none: a fused product is rounded once, and bits would depend on the machine."""
import ctypes
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.counterparts import FLAGS
from benchmarks.mechanisms import core_call
from benchmarks.timing import interleaved
from liestep.compile.tracing import plain_component
from liestep.mechanics.formulations.symbolic import COUNTING, Counted
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.specification import specify
from liestep.simulation.runs.specified import RunSpecification

# label -> system, method, preset, options, step in s, steps
KERNELS: dict[str, tuple[str, str, str, dict[str, Any], float, int]] = {
    "642 molecules, vi_sphere": ("lennard_jones_sphere", "vi_sphere", "paper", {}, 5e-3, 50),
    "ring of 80 particles, (25)": ("bonded_ring", "rodrigues", "rescaled", {}, 1e-2, 2000),
    "four bonded particles, rk4": ("bonded_particles", "rk4", "cluster", {}, 7.5e-3, 20_000),
    "top, rkmk": ("heavy_top", "rkmk", "printed", {"action": "semidirect"}, 1e-3, 50_000),
    "free body, rk4": ("free_rigid_body", "rk4", "asymmetric", {}, 1e-2, 100_000)}
PEAK = """
#include <stdint.h>
void run(double *restrict x, double a, double b, int64_t rounds)
{
    double s[96];
    for (int i = 0; i < 96; i++) s[i] = x[i];
    for (int64_t k = 0; k < rounds; k++)
        for (int i = 0; i < 96; i++) s[i] = s[i]*a + b;
    for (int i = 0; i < 96; i++) x[i] = s[i];
}
"""
NUMBERS, ROUNDS = 96, 200_000


def compare(repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each kernel: operations and us of a step, and its share of the processor's operations."""
    with tempfile.TemporaryDirectory() as folder:
        peak = _peak(Path(folder))
        for label, (system, method, preset, options, step, steps) in KERNELS.items():
            spec = specify(system, method, preset=preset, options=options, steps=steps, t_end=step*steps, samples=2)
            seconds = interleaved({"core": lambda spec=spec: core_call(spec), "peak": lambda: (peak, None)}, repeats)
            counted, best = operations(spec), min(seconds["core"])/steps
            most = 2.0*NUMBERS*ROUNDS/min(seconds["peak"])
            yield {"kernel": label, "operations a step": counted, "us a step": 1e6*best,
                   "1e9 operations/s": 1e-9*counted/best, "processor, 1e9/s": 1e-9*most, "share": counted/best/most}


def operations(spec: RunSpecification) -> int:
    """Of the first step of a run."""
    formulated, integrator = build(spec)
    y, tally = formulated.start, [0]
    work = integrator.workspace(formulated.problem, y.copy())
    integrator, problem, work = plain_component((integrator, formulated.problem, work), COUNTING)
    state = np.array([Counted(value, tally) for value in y.ravel().tolist()], dtype=object).reshape(y.shape)
    integrator.start(problem, 0.0, state, spec.step, work)
    tally[0] = 0
    integrator.step(problem, 0.0, state, spec.step, work)
    return tally[0]


def _peak(folder: Path) -> Any:
    source, target = folder/"peak.c", folder/"peak.so"
    source.write_text(PEAK, "utf-8")
    flags = [flag for flag in FLAGS if flag != "-ffp-contract=off"]
    subprocess.run(["gcc", *flags, "-o", str(target), str(source)], check=True)
    code, x = ctypes.CDLL(str(target)), np.ones(NUMBERS)
    code.run.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int64]
    return lambda: code.run(x.ctypes.data, 0.999999, 1e-6, ROUNDS)
