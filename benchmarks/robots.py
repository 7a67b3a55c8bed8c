"""Robots from files: time of a step of rk4 beside calls of pinocchio's articulated-body algorithm (`pip install pin`),
whose time includes the call from Python."""
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import liestep
from benchmarks.mechanisms import core_call
from benchmarks.timing import interleaved, median, ratio
from liestep.simulation.runs.specification import specify

STEPS, CALLS = 2000, 2000
# name -> parent of each link
ROBOTS = {"arm of 7 joints": [*range(-1, 6)], "arm of 30 joints": [*range(-1, 29)],
          "trunk, two legs, two arms, head: 30 joints": [-1, 0, 1, -1, *range(3, 8), -1, *range(9, 14), 2,
                                                         *range(15, 21), 2, *range(22, 28), 2]}


def urdf(parents: list[int]) -> str:
    """A robot whose links have an inertia about no axis of symmetry, and hinges about three axes in turn."""
    parts = ['<robot name="robot"><link name="base"/>']
    for i, parent in enumerate(parents):
        mass, axis = 0.5 + 3.0/(1 + i % 7), " ".join("1" if k == (2 - i) % 3 else "0" for k in range(3))
        parts.append(f'<link name="l{i}"><inertial><origin xyz="0.01 0.02 {0.1 + 0.01*(i % 3)}"/><mass value="{mass}"/>'
                     f'<inertia ixx="{0.02*mass}" iyy="{0.025*mass}" izz="{0.015*mass}" ixy="{0.001*mass}" ixz="0"'
                     f' iyz="0"/></inertial></link><joint name="j{i}" type="continuous"><parent link="'
                     f'{"base" if parent < 0 else f"l{parent}"}"/><child link="l{i}"/><origin xyz="0.02 0 0.2"/>'
                     f'<axis xyz="{axis}"/></joint>')
    return "".join([*parts, "</robot>"])


def aba(path: Path) -> Callable | None:
    """CALLS calls of pinocchio; None without it."""
    try:
        import pinocchio
    except ImportError:
        return None
    model = pinocchio.buildModelFromUrdf(str(path))
    data, random = model.createData(), np.random.default_rng(0)
    q, v, load = pinocchio.randomConfiguration(model), random.uniform(-1.0, 1.0, model.nv), np.zeros(model.nv)

    def call() -> None:
        for _ in range(CALLS):
            pinocchio.aba(model, data, q, v, load)

    return call


def compare(repeats: int) -> Iterator[dict[str, Any]]:
    """A row for each robot, the codes in turns."""
    for number, (name, parents) in enumerate(ROBOTS.items()):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)/f"robot_{number}.urdf"
            path.write_text(urdf(parents), "utf-8")
            robot, other = liestep.from_urdf(path), aba(path)
        joints, random = len(parents), np.random.default_rng(0)
        start = robot.start(random.uniform(-0.5, 0.5, joints), random.uniform(-0.5, 0.5, joints))
        spec = specify(robot, "rk4", steps=STEPS, t_end=1e-4*STEPS, initial=start)
        alternatives: dict[str, Callable] = {"own": partial(core_call, spec)}
        if other:
            alternatives["aba"] = partial(tuple, [other])
        seconds = interleaved(alternatives, repeats)
        step = median(seconds, "own")/STEPS*1e6
        row: dict[str, Any] = {"robot": name, "rk4, us a step": round(step, 1)}
        if other:
            row |= {"pinocchio's ABA, us": round(median(seconds, "aba")/CALLS*1e6, 2),
                    "calls a step": round(ratio(seconds, "own", "aba")*CALLS/STEPS, 2)}
        yield row

