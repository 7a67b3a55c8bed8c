"""Rigid bodies: the core beside C counterparts (pair loop, neighbour list) and numpy, statistics of every step,
rotation updates beside each other, and the time per particle."""
import ctypes
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case, CoreRun
from benchmarks.timing import interleaved, ratio
from liestep import load_plugin

SOURCES = Path(__file__).parent/"counterparts"
FLAGS = ("-O3", "-ffp-contract=off", "-shared", "-fPIC")
RING_TARGETS = {80: 0.95, 320: 0.5}  # core over the pair loop in C
LIST_TARGET, PENDULUM_TARGET, STATISTICS_TARGET, NUMPY_TARGET, GROWTH_TARGET = 1.3, 1.3, 1.6, 40.0, 1.6
RULES = {"rodrigues drift=exact": 0, "rodrigues": 1, "rodrigues drift=exp": 2}
UPDATES = ("rodrigues drift=exact", "rodrigues drift=exp", "lgvi", "dlm", "richardson", "rkmk")
SIZES = {"ring": (100, 1000, 10_000, 100_000), "block": (125, 1000, 10_000, 100_000)}
CELLS = {125: [5, 5, 5], 1000: [10, 10, 10], 10_000: [25, 20, 20], 100_000: [50, 50, 40]}
_folder = tempfile.TemporaryDirectory(prefix="liestep-bodies-")


@cache
def library(name: str, *defines: str) -> ctypes.CDLL:
    """counterparts/<name>.c with macros as a shared library."""
    target = Path(_folder.name)/f"{name}-{'-'.join(defines)}.so"
    subprocess.run(["gcc", *FLAGS, *(f"-D{define}" for define in defines), "-o", str(target), str(SOURCES/f"{name}.c"),
                    "-lm"], check=True)
    return ctypes.CDLL(str(target))


def pointer(values: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)


class BondedTwin:
    """The C counterpart of map (25) on a ring; `listed`: contacts by a neighbour list."""

    def __init__(self, core: CoreRun, listed: bool):
        self.core, self.system = core, core.formulated.problem.system
        self.code = library("bonded", f"LIST={int(listed)}")
        system = self.system
        self.numbers = np.array([system.diameter[0], system.bending[0], system.axial[0], system.shear[0],
                                 system.contact, system.wall, core.formulated.problem.inertia[0, 0]])

    def prepare(self) -> tuple[Callable[[], Any], np.ndarray]:
        y, system, spec = self.core.formulated.start.copy(), self.system, self.core.spec
        counts = ctypes.c_int64(len(system.diameter)), ctypes.c_int64(len(system.first))
        arrays = [pointer(part) for part in (system.first, system.second, system.length, system.direction,
                                             self.numbers)]
        return lambda: self.code.run(*counts, *arrays, pointer(y), ctypes.c_double(spec.step),
                                     ctypes.c_int64(spec.steps)), y


class PinnedTwin:
    """The C counterpart of a map on the pendulum."""

    def __init__(self, core: CoreRun, rule: int):
        self.core, self.code = core, library("pinned", f"RULE={rule}")

    def prepare(self) -> tuple[Callable[[], Any], np.ndarray]:
        y, system, spec = self.core.formulated.start.copy(), self.core.formulated.problem.system, self.core.spec
        arrays = [pointer(part) for part in (system.inertia, system.lever, system.gravity, y)]
        return lambda: self.code.run(*arrays, ctypes.c_double(spec.step), ctypes.c_int64(spec.steps)), y


class BondedArrays:
    """The same map in vectorised numpy, contacts between all pairs, some steps of it."""

    def __init__(self, core: CoreRun, steps: int):
        self.core, self.steps, self.system = core, steps, core.formulated.problem.system

    def forces(self, frames: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Torques and forces (n, 3) at axes (n, 3 axes, 3) and positions."""
        s, torque, force = self.system, np.zeros_like(x), np.zeros_like(x)
        one, two, gap = frames[s.first], frames[s.second], x[s.first] - x[s.second]
        r = np.linalg.norm(gap, axis=1)
        d, sine = gap/r[:, None], np.cross(two, one).sum(axis=1)
        size, cosine = np.linalg.norm(sine, axis=1), np.einsum("bki,bki->b", one, two) - 1.0
        with np.errstate(invalid="ignore"):
            theta = np.where(size < 1e-8, 0.5, np.arctan2(size, cosine)/size)[:, None]*sine
        left, right = np.einsum("bki,bk->bi", one, s.direction), np.einsum("bki,bk->bi", two, d)
        c = np.sum(left*right, axis=1)
        k = s.shear*(1.0 - c)
        turned = np.einsum("bki,bi->bk", two, left)
        pull = (-s.axial/s.length*(r/s.length - 1.0))[:, None]*d + (k/r)[:, None]*(turned - c[:, None]*d)
        twist = k[:, None]*np.cross(left, right) - s.bending[:, None]*theta
        for rows, values in ((torque, twist), (force, pull)):
            np.add.at(rows, s.first, values)
            np.add.at(rows, s.second, -values)
        i, j = np.triu_indices(len(x), 1)
        gap = x[i] - x[j]
        square, reach = np.sum(gap*gap, axis=1), s.diameter[0]
        near = square < reach*reach
        i, j, gap, r = i[near], j[near], gap[near], np.sqrt(square[near])
        push = (s.contact/reach*(1.0 - r/reach)**1.5/r)[:, None]*gap
        np.add.at(force, i, push)
        np.add.at(force, j, -push)
        depth = np.maximum(1.0 - x[:, 0]/(0.5*reach), 0.0)
        force[:, 0] += s.wall/(0.5*reach)*depth**1.5
        return torque, force

    def prepare(self) -> tuple[Callable[[], Any], np.ndarray]:
        y, h, n = self.core.formulated.start.copy(), self.core.spec.step, len(self.system.diameter)
        frames, p, x, v = y[:3*n].reshape(n, 3, 3), y[3*n:4*n], y[4*n:5*n], y[5*n:]

        def call() -> None:
            torque, force = self.forces(frames, x)
            for _ in range(self.steps):
                p[:] += 0.5*h*torque
                v[:] += 0.5*h*force
                share = 4.0/(4.0 + h*h*np.sum(p*p, axis=1))
                once = np.cross(p[:, None], frames)
                frames[:] += (h*share)[:, None, None]*once + (0.5*h*h*share)[:, None, None]*np.cross(p[:, None], once)
                x[:] += h*v
                torque, force = self.forces(frames, x)
                p[:] += 0.5*h*torque
                v[:] += 0.5*h*force

        return call, y


def ring_case(n: int, steps: int, integrator: str = "rodrigues", step: float = 0.01) -> Case:
    """A ring of spheres of one size whatever n is, so close to the wall that it touches within the run."""
    return Case(f"ring of {n}", "bonded_ring", integrator, "", step, steps, 0.0, "rescaled",
                {"particles": n, "ring_diameter": 0.375*n, "gap": 0.05})


def last_difference(one: Any, other: Any) -> float:
    """Largest difference of the states at the end of two prepared runs."""
    (run, y), (rerun, z) = one.prepare(), other.prepare()
    run()
    rerun()
    return float(np.max(np.abs(y - z)))


def rings(repeats: int) -> Iterator[dict[str, Any]]:
    """Map (25): core over both C counterparts, over itself with statistics of every step, and numpy over the core."""
    for n, target in RING_TARGETS.items():
        case = ring_case(n, 1000)
        core, short = CoreRun(case, statistics=False), CoreRun(ring_case(n, 20), statistics=False)
        runs = {"core": core, "statistics": CoreRun(case, statistics=True), "pairs": BondedTwin(core, False),
                "list": BondedTwin(core, True), "short": short, "numpy": BondedArrays(short, 20)}
        seconds = interleaved({name: run.prepare for name, run in runs.items()}, repeats)
        yield {"case": case.label, "core, us/step": 1e6*min(seconds["core"])/case.steps,
               "core/C pair loop": ratio(seconds, "core", "pairs"), "target": target,
               "core/C neighbour list": ratio(seconds, "core", "list"), "target, list": LIST_TARGET,
               "statistics/bare": ratio(seconds, "statistics", "core"), "target, statistics": STATISTICS_TARGET,
               "numpy/core": ratio(seconds, "numpy", "short"), "target, numpy": NUMPY_TARGET,
               "largest difference": max(last_difference(core, runs[name]) for name in ("pairs", "list")),
               "difference, numpy": last_difference(short, runs["numpy"])}


def pendulum(repeats: int) -> Iterator[dict[str, Any]]:
    """Maps of the three-dimensional pendulum over C, and over (25)."""
    runs: dict[str, Any] = {}
    for name in ("rodrigues", *UPDATES):
        runs[name] = CoreRun(Case("", "heavy_top", name, "", 0.01, 20_000, 0.0, "rodrigues2021"), statistics=False)
    counterparts = {f"C {name}": PinnedTwin(runs[name], rule) for name, rule in RULES.items()}
    seconds = interleaved({name: run.prepare for name, run in (runs | counterparts).items()}, repeats)
    for name, run in runs.items():
        known = name in RULES
        yield {"case": f"pendulum, {name}", "core, us/step": 1e6*min(seconds[name])/20_000,
               "core/C": ratio(seconds, name, f"C {name}") if known else "", "target": PENDULUM_TARGET if known else "",
               "over (25)": ratio(seconds, name, "rodrigues"),
               "largest difference": last_difference(run, counterparts[f"C {name}"]) if known else ""}


def updates(repeats: int) -> Iterator[dict[str, Any]]:
    """Rotation updates on the ring of 80, over (25)."""
    runs = {name: CoreRun(ring_case(80, 400, name), statistics=False) for name in ("rodrigues", *UPDATES)}
    seconds = interleaved({name: run.prepare for name, run in runs.items()}, repeats)
    for name in runs:
        yield {"case": f"ring of 80, {name}", "core, us/step": 1e6*min(seconds[name])/400,
               "over (25)": ratio(seconds, name, "rodrigues")}


def particles(repeats: int) -> Iterator[dict[str, Any]]:
    """Time per particle and step of map (25), over that at 1,000 particles."""
    for shape, sizes in SIZES.items():
        runs = {}
        load_plugin("papers/rodrigues2021/studies/bonded_block.py")
        for n in sizes:
            steps = max(100, 200_000//n)  # some lists of pairs are made in every run, about one in 25 steps
            case = ring_case(n, steps) if shape == "ring" else Case(
                f"block of {n}", "bonded_block", "rodrigues", "", 0.01, steps, 0.0, "small",
                {"cells": CELLS[n]})
            runs[n] = CoreRun(case, statistics=False)
        seconds = interleaved({str(n): run.prepare for n, run in runs.items()}, repeats)
        cost = {n: min(seconds[str(n)])/run.spec.steps/n for n, run in runs.items()}
        for n in sizes:
            yield {"case": f"{shape} of {n}", "ns per particle and step": 1e9*cost[n],
                   "over 1,000 particles": cost[n]/cost[1000], "target": GROWTH_TARGET if n > 1000 else ""}
