"""Many starts of one motion: a free body, each of them within 1e-6 of the others, to t = 1 s. Ours are an ensemble of a
study whose members are reduced, with its checks, starts on the group, energies, momenta and defects of every step, and
the file. heyoka's batch of SIMD lanes goes from an array of starts to an array of ends, at tolerances whose errors lie
on both sides of ours. And steps of members that share registers beside those of the same loop of one after the other,
in turns, from arrays of rows to arrays of rows. Processor time of the process."""
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import liestep
from benchmarks.peers import natural, turned
from liestep.simulation.many import blocks
from liestep.simulation.runs.execution import build
from liestep.simulation.runs.files import write
from liestep.simulation.runs.maps import ensemble_shards
from liestep.simulation.runs.shards import carry_out_shard
from liestep.simulation.runs.specification import specify, start_of
from liestep.simulation.runs.specified import RunSpecification

MOTION: dict[str, Any] = {"preset": "asymmetric", "t_end": 1.0, "samples": 2}
STEPS = 100
TOLERANCES = (1e-6, 1e-8)


FAR, NEAR = 0.1, 1e-6  # how far rows of starts are apart, relative to them
CASES = (("free_rigid_body", "rk4", NEAR), ("heavy_top", "rkmk", NEAR), ("spherical_pendulum_chain", "vi_sphere", NEAR),
         ("henon_heiles", "verlet", NEAR), ("penning_trap", "boris", NEAR), ("heavy_top", "lgvi", FAR),
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
                    made = blocks.of_kind(spec, [pair], y, blocks.Width(size))
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


# label, system, its preset, options of the forms that suit taylor, field that is compared, end of the long motion
BESIDE: tuple[tuple[str, str, str | None, tuple[dict[str, str], ...], str, float], ...] = (
    ("free body", "free_rigid_body", "asymmetric", ({}, {"form": "quaternion"}), "attitude", 10.0),
    ("heavy top", "heavy_top", "asymmetric", ({}, {"form": "quaternion"}), "attitude", 10.0),
    ("double pendulum", "spherical_pendulum_chain", "orders", ({}, {"order": "raised"}), "q", 5.0),
    ("Henon-Heiles", "henon", None, ({}, {"order": "raised"}), "q", 10.0),
    ("Penning trap", "penning_trap", None, ({}, {"order": "raised"}), "position", 10.0))
ERRORS = (1e-8, 1e-10)
OURS = tuple(10.0**-k for k in range(4, 13))
THEIRS = tuple(10.0**-k for k in range(5, 14))


def beside(members: int, repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each motion, error and distance of starts: us a member of `liestep.ensemble` by `taylor`, from arrays
    of starts to ends, beside heyoka's batch, in turns. Errors are those of the first member."""
    for label, system, preset, forms, field, end in BESIDE:
        problem: Any = _henon() if system == "henon" else system
        equations, first = _equations(system, preset)
        for t_end in (1.0, end):
            _, exact = _batch_of(equations, first[:, None], t_end, 1e-16)
            for apart in sorted({NEAR, FAR}):
                faster = np.append(1.0, 1.0 + apart*np.random.default_rng(1).standard_normal(members - 1))
                starts = np.repeat(first[:, None], members, axis=1)
                starts[4 if len(first) == 7 else len(first)//2:] *= faster
                codes = {("heyoka", tolerance): _batch_of(equations, starts, t_end, tolerance) for tolerance in THEIRS}
                codes |= {(f"taylor {number}", tolerance): _ours(problem, preset, options, field, t_end, tolerance,
                                                                 faster)
                          for number, options in enumerate(forms) for tolerance in OURS}
                times = _in_turns({key: run for key, (run, _) in codes.items()}, repeats)
                call = min(_in_turns({"": _batch_of(equations, starts, 0.0, 1e-8)[0]}, repeats).values())
                curves: dict[str, list[tuple[float, float]]] = {}
                for (code, tolerance), (_, ends) in codes.items():
                    error = np.abs(_seen(system, ends()) - _seen(system, exact())).max()
                    curves.setdefault(code, []).append((float(error), times[code, tolerance]/members))
                for error in ERRORS:
                    theirs, *own = (_at(curve, error) for curve in curves.values())
                    ours = min(own)
                    yield {"motion": f"{label}, {t_end:g} s", "starts apart": apart, "error": error, "heyoka": theirs,
                           "taylor": ours, "ratio": ours/theirs, "without heyoka's call": ours/(theirs - call/members)}


def _in_turns(runs: dict[Any, Callable[[], None]], repeats: int) -> dict[Any, float]:
    """us of processor time of each, the least; the first turn compiles."""
    found = dict.fromkeys(runs, np.inf)
    for turn in range(repeats + 1):
        for key, run in runs.items():
            start = time.process_time()
            run()
            if turn:
                found[key] = min(found[key], 1e6*(time.process_time() - start))
    return found


def _at(curve: list[tuple[float, float]], error: float) -> float:
    """The time at an error, between those of the tolerances; infinite where none reaches it."""
    errors, times = zip(*sorted(curve), strict=True)
    if error < errors[0]:
        return np.inf
    return float(np.exp(np.interp(np.log(error), np.log(errors), np.log(times))))


def _ours(problem: Any, preset: str | None, options: dict[str, str], field: str, t_end: float, tolerance: float,
          faster: np.ndarray) -> tuple[Callable[[], None], Callable[[], np.ndarray]]:
    """A call, and the first member's field at its end."""
    initial = start_of(str(problem), preset=preset).initial
    *_, moved = initial  # velocities or momenta
    values = np.multiply.outer(faster, np.asarray(initial[moved]))
    kept: list[Any] = []

    def run() -> None:
        kept[:] = [liestep.ensemble(problem, "taylor", starts={moved: values}, tolerance=tolerance, t_end=t_end,
                                    preset=preset, options=options)]

    return run, lambda: kept[0][field].values[0]


def _batch_of(equations: Any, starts: np.ndarray, t_end: float, tolerance: float
              ) -> tuple[Callable[[], None], Callable[[], np.ndarray]]:
    """The same of heyoka's batch, from an array of starts (numbers, members) to one of ends."""
    import heyoka

    lanes = heyoka.recommended_simd_size()
    starts = np.concatenate([starts, np.repeat(starts[:, -1:], -starts.shape[1] % lanes, axis=1)], axis=1)
    flow = heyoka.taylor_adaptive_batch(equations, np.repeat(starts[:, :1], lanes, 1), tol=tolerance)
    ends, until = np.empty_like(starts), np.full(lanes, t_end)

    def run() -> None:
        for k in range(0, starts.shape[1], lanes):
            flow.set_time(0.0)
            flow.state[:] = starts[:, k:k + lanes]
            flow.propagate_until(until)
            ends[:, k:k + lanes] = flow.state

    def end() -> np.ndarray:
        if starts.shape[1] == lanes:
            run()
        return ends[:, 0]

    return run, end


def _seen(system: str, end: np.ndarray) -> np.ndarray:
    """What both codes have at the end: of heyoka's numbers the attitude or positions."""
    if end.ndim > 1 or len(end) < 4:
        return np.ravel(end)
    if system in ("free_rigid_body", "heavy_top"):
        return np.ravel(turned(*end[:4]))
    return end[:len(end)//2]


def _henon() -> Any:
    """Henon-Heiles, from functions."""
    return liestep.system("henon", lagrangian=lambda q, v, p: 0.5*(v @ v) - 0.5*(q @ q) - q[0]*q[0]*q[1]
                          + q[1]*q[1]*q[1]/3, parameters={}, start={"q": [0.1, -0.1], "v": [0.4, 0.2]})


def _equations(system: str, preset: str | None) -> tuple[Any, np.ndarray]:
    """heyoka's equations in the form that suits it, and the start: quaternions for bodies, Cartesian coordinates with
    two tensions for the pendulum."""
    import heyoka

    if system == "henon":
        x, y, u, v = heyoka.make_vars("x", "y", "u", "v")
        return [(x, u), (y, v), (u, -x - 2.0*x*y), (v, y*y - y - x*x)], np.array([0.1, -0.1, 0.4, 0.2])
    start = start_of(system, preset=preset)
    if system in ("free_rigid_body", "heavy_top"):
        return natural(start)
    if system == "penning_trap":
        x, y, z, u, v, w = heyoka.make_vars("x", "y", "z", "u", "v", "w")
        rates = [u, v, w, 0.5*x + 5.0*v, 0.5*y - 5.0*u, -1.0*z]
        return list(zip((x, y, z, u, v, w), rates, strict=True)), np.concatenate(list(start.initial.values()))
    q, omega = start.initial["q"], start.initial["omega"]
    names = heyoka.make_vars(*(f"x{k}" for k in range(12)))
    return _pendulum(names), np.concatenate([q.ravel(), np.cross(omega, q).ravel()])


def _pendulum(names: Any) -> list[tuple[Any, Any]]:
    """Unit masses and lengths."""
    import heyoka

    q1, q2, v1, v2 = (np.array(names[i:i + 3], dtype=object) for i in (0, 3, 6, 9))

    def dot(a: np.ndarray, b: np.ndarray) -> Any:
        return heyoka.sum(list(a*b))

    c, first, second = dot(q1, q2), dot(v1, v1) - 9.81*q1[2], dot(v2, v2)
    share = 2.0 - c*c
    one, two = (2.0*first + c*second)/share, (second + c*first)/share
    x1 = [two*q2[i] - one*q1[i] - (9.81 if i == 2 else 0.0) for i in range(3)]
    x2 = [one*q1[i] - 2.0*two*q2[i] for i in range(3)]
    return list(zip(names, [*v1, *v2, *x1, *x2], strict=True))


def compare(members: int, repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each code: us a member, and the error of the first member's attitude."""
    exact = _attitude(_specification("taylor", 1, tolerance=1e-15))
    spec = _specification("rk4", members, steps=STEPS)
    yield {"code": f"rk4, {STEPS} steps, with its file", "members": members,
           "us a member": _best(lambda: _filed(spec), repeats)/members,
           "error": float(np.abs(_attitude(_specification("rk4", 1, steps=STEPS)) - exact).max())}
    for tolerance in TOLERANCES:
        run, ends = _batch(members, tolerance)
        yield {"code": f"heyoka batch, tolerance {tolerance:g}", "members": members,
               "us a member": _best(run, repeats)/members,
               "error": float(np.abs(turned(*ends()[:4]) - exact).max())}


def _specification(integrator: str, members: int, **given: Any) -> RunSpecification:
    spec = specify("free_rigid_body", integrator, **MOTION, **given,
                   ensemble={"members": members, "amplitude": 1e-6, "seed": 1})
    return replace(spec, reduced=True)


def _filed(spec: RunSpecification) -> None:
    """Made and written as a study does it, a file for each shard."""
    with tempfile.TemporaryDirectory() as folder:
        for number, shard in enumerate(ensemble_shards(spec)):
            write(carry_out_shard(shard), Path(folder)/f"{number}.nc")


def _attitude(spec: RunSpecification) -> np.ndarray:
    return carry_out_shard(spec).variables["attitude_end"][1][0]


def _batch(members: int, tolerance: float) -> tuple[Callable[[], None], Callable[[], np.ndarray]]:
    equations, first = natural(start_of("free_rigid_body", preset="asymmetric"))
    starts = first[:, None] + 1e-6*np.random.default_rng(1).standard_normal((len(first), members))
    starts[:, 0] = first
    return _batch_of(equations, starts, MOTION["t_end"], tolerance)


def _best(call: Any, repeats: int) -> float:
    """us of processor time; the first call compiles."""
    call()
    found = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        found.append(1e6*(time.process_time() - start))
    return min(found)
