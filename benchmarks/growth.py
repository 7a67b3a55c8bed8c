"""How the time of a step grows with the number of bodies."""
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import DENSE, Case, CoreRun
from benchmarks.mechanisms import CHAIN
from benchmarks.timing import interleaved
from liestep.simulation.plugins.loading import load_plugin

RODS = (5, 10, 20, 50, 100, 200)
CHAINS = (2, 5, 10, 20, 50)
LINKS = (30, 100, 300, 1000, 3000, 10_000)
JOINTED = (10, 100, 1000)  # 40 steps each, so that the start, which takes as long as some steps, has the same share
BARS = (16, 64, 256)  # rigid bodies with spherical joints: from 64 to 256 at most 4.6 times, an exponent of 1.10
LEVELS = (("level1", 42), ("level2", 162), ("paper", 642), ("level4", 2562))
# with a cut-off: an exponent of 1.09 over all sizes; steps are shorter as molecules are closer: lists last as long
CUT = (("level2", 162), ("level3", 642), ("level4", 2562), ("level5", 10242))


def _cases() -> Iterator[tuple[str, int, Case]]:
    for n in RODS:
        yield "elastic rod, vi_sphere (multipliers)", n, Case(
            "", "elastic_rod", "vi_sphere", "multipliers", 1e-3/(n*n), max(3, 30_000//n**2), 0.0,
            parameters={"elements": n})
    for integrator in ("rk4", "rkmk"):
        for n in CHAINS:
            parameters = {"mass": [1.0]*n, "length": [1.0]*n}
            yield f"pendulum chain, {integrator}", n, Case(
                "", "spherical_pendulum_chain", integrator, "", 1e-3, max(3, 50_000//n**3), 0.0,
                "paper_scaled", parameters, DENSE)
    for n in LINKS:
        yield "pendulum chain, vi_sphere (multipliers in a band)", n, Case(
            "", "spherical_pendulum_chain", "vi_sphere", "multipliers", 1e-4, max(20, 60_000//n), 0.0, "paper_scaled",
            {"mass": [1.0]*n, "length": [1.0]*n})
    for integrator in ("eml", "emh"):
        for n in BARS:
            yield f"chain of bars, {integrator}", n, Case("", "rigid_chain", integrator, "", 1e-3, 6400//n, 0.0,
                                                          "long" if n == 64 else f"bars_{n}")
    load_plugin(CHAIN)
    for n in JOINTED:
        yield "chain of rods, generalized_alpha", n, Case("", "body_chain", "generalized_alpha", "", 1e-4, 40, 0.0,
                                                          f"chain_{n}")
    for preset, n in LEVELS:
        yield "molecules, vi_sphere (explicit)", n, Case(
            "", "lennard_jones_sphere", "vi_sphere", "explicit", 0.005, max(2, 4_000_000//n**2), 0.0, preset)
    load_plugin(Path(__file__).with_name("lennard_jones_cutoff.py"))
    for preset, n in CUT:
        yield "molecules with a cut-off, vi_sphere (explicit)", n, Case(
            "", "lennard_jones_cutoff", "vi_sphere", "explicit", 0.1/n**0.5, 400, 0.0, preset)


def growth(repeats: int) -> Iterator[dict[str, Any]]:
    """One row per size; the exponent is that of the time between this size and the one before."""
    before: tuple[str, int, float] | None = None
    for label, n, case in _cases():
        run = CoreRun(case, statistics=False)
        seconds = min(interleaved({"core": run.prepare}, repeats)["core"])/case.steps
        exponent = float(np.log(seconds/before[2])/np.log(n/before[1])) if before and before[0] == label else ""
        yield {"loop": label, "n": n, "us/step": 1e6*seconds, "exponent": exponent}
        before = (label, n, seconds)
