"""Many starts of one motion: a free body, each of them within 1e-6 of the others, to t = 1 s. Ours are an ensemble of a
study whose members are reduced, with its checks, starts on the group, energies, momenta and defects of every step, and
the file. heyoka's batch of SIMD lanes goes from an array of starts to an array of ends, at tolerances whose errors lie
on both sides of ours. And steps of members that share registers beside those of the same loop of one after the other,
in turns, from arrays of rows to arrays of rows. Processor time of the process."""
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import liestep
from benchmarks.peers import natural, turned
from liestep.simulation.many import blocks
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.files import write
from liestep.simulation.runs.shards import carry_out_shard
from liestep.simulation.runs.specification import specify, start_of
from liestep.simulation.runs.specified import RunSpecification

MOTION: dict[str, Any] = {"preset": "asymmetric", "t_end": 1.0, "samples": 2}
STEPS = 100
TOLERANCES = (1e-6, 1e-8)


FAR, NEAR = 0.1, 1e-6  # how far rows of starts are apart, relative to them
CASES = (("free_rigid_body", "rk4", NEAR), ("heavy_top", "rkmk", NEAR), ("spherical_pendulum_chain", "vi_sphere", NEAR),
         ("mass_spring", "verlet", NEAR), ("penning_trap", "boris", NEAR), ("heavy_top", "lgvi", FAR),
         ("free_rigid_body", "gauss", FAR), ("heavy_top", "vi_livens", FAR))


def shared(members: int, repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each method: us a member of 100 steps, and which part was run again alone."""
    for problem, integrator, amplitude in CASES:
        more = {"preset": "asymmetric"} if problem == "heavy_top" else {}
        for every in (STEPS, 1):
            spec = specify(problem, integrator, t_end=1.0, steps=STEPS, samples=2, statistics_every=every, **more)
            pair = build(spec)
            y = np.repeat(pair[0].start[None], members, axis=0)
            y[1:] *= 1.0 + amplitude*np.random.default_rng(1).standard_normal((members - 1, 1, 1))
            found: dict[int, list[float]] = {1: [], blocks.width(): []}
            for _ in range(repeats + 1):  # the first ones compile
                for size, times in found.items():
                    start = time.process_time()
                    made = blocks.of_kind(spec, [pair], y, blocks.Kind(size), False, 1)
                    times.append(1e6*(time.process_time() - start)/members)
            alone, together = (min(times[1:]) for times in found.values())
            yield {"case": f"{problem}, {integrator}", "statistics": "every step" if every == 1 else "both ends",
                   "starts apart": amplitude, "alone": alone, "lanes": together, "ratio": together/alone,
                   "run again": made.again/members}
    start = np.random.default_rng(1).normal([0.3, 0.1, 1.0], NEAR, (members, 3))

    def call() -> None:
        liestep.ensemble("free_rigid_body", "rk4", starts={"angular_momentum": start}, step=1.0/STEPS, t_end=1.0)

    yield {"case": "liestep.ensemble, free_rigid_body, rk4", "statistics": "both ends", "starts apart": NEAR,
           "alone": np.nan, "lanes": _best(call, repeats)/members, "ratio": np.nan, "run again": np.nan}


def compare(members: int, repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each code: us a member, and the error of the first member's attitude."""
    exact = _attitude(_specification("taylor", 1, tolerance=1e-15))
    spec = _specification("rk4", members, steps=STEPS)
    alone = replace(spec, ensemble=replace(spec.ensemble, members=1), steps=STEPS*members,
                    t_end=spec.t_end*members)
    yield {"code": f"rk4, {STEPS} steps, with its file", "members": members, "us a member": _best(
        lambda: _filed(spec), repeats)/members, "of it steps": _best(lambda: carry_out_shard(alone), repeats)/members,
        "error": float(np.abs(_attitude(_specification("rk4", 1, steps=STEPS)) - exact).max())}
    for tolerance in TOLERANCES:
        run, ends = _batch(members, tolerance)
        yield {"code": f"heyoka batch, tolerance {tolerance:g}", "members": members,
               "us a member": _best(run, repeats)/members, "of it steps": np.nan,
               "error": float(np.abs(turned(*ends[:4, 0]) - exact).max())}


def _specification(integrator: str, members: int, **given: Any) -> RunSpecification:
    spec = specify("free_rigid_body", integrator, **MOTION, **given,
                   ensemble={"members": members, "amplitude": 1e-6, "seed": 1})
    return replace(spec, reduced=True)


def _filed(spec: RunSpecification) -> None:
    """Made and written as a study does it, a file for each shard."""
    with tempfile.TemporaryDirectory() as folder:
        for number, part in enumerate(spec.ensemble.shards() if spec.ensemble else ()):
            write(carry_out_shard(replace(spec, ensemble=part)), Path(folder)/f"{number}.nc")


def _attitude(spec: RunSpecification) -> np.ndarray:
    return carry_out_shard(spec).variables["attitude_end"][1][0]


def _batch(members: int, tolerance: float) -> tuple[Any, np.ndarray]:
    import heyoka

    equations, first = natural(start_of("free_rigid_body", preset="asymmetric"))
    lanes = heyoka.recommended_simd_size()
    flow = heyoka.taylor_adaptive_batch(equations, np.repeat(first[:, None], lanes, 1), tol=tolerance)
    starts = first[:, None] + 1e-6*np.random.default_rng(1).standard_normal((len(first), members + -members % lanes))
    starts[:, 0] = first
    ends, until = np.empty_like(starts), np.full(lanes, MOTION["t_end"])

    def run() -> None:
        for k in range(0, starts.shape[1], lanes):
            flow.set_time(0.0)
            flow.state[:] = starts[:, k:k + lanes]
            flow.propagate_until(until)
            ends[:, k:k + lanes] = flow.state

    return run, ends


def _best(call: Any, repeats: int) -> float:
    """us of processor time; the first call compiles."""
    call()
    found = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        found.append(1e6*(time.process_time() - start))
    return min(found)
