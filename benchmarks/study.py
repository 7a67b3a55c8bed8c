"""Times of the workflow: everything from nothing, with machine code, with nothing to do; what a process and a run in it cost."""
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
QUICK_STUDY = "twospheres2009/example2"
FURTHER = 20  # runs in the larger of two sweeps

SWEEP = """
title: overhead
problems: {{bodies: {{system: sphere_nbody, t_end: 0.01}}}}
integrators: {{vi_sphere: }}
steps: {steps}
"""


def measure(folder: Path, quick: bool) -> Iterator[dict[str, Any]]:
    """One row per measurement in a new working folder with an empty cache; `quick` makes one study instead of all."""
    work = folder/"work"
    work.mkdir()
    for name in ("config", "workflow"):
        (work/name).symlink_to(ROOT/name)
    environment = {**os.environ, "LIESTEP_CACHE": str(folder/"cache"), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = ["snakemake", "--cores", "2", *(["--config", f"studies={QUICK_STUDY}"] if quick else [])]
    what = QUICK_STUDY if quick else "whole study"

    def row(label: str, target: float | str, arguments: list[str]) -> dict[str, Any]:
        wall, cpu = run(arguments, work, environment)
        return {"measurement": label, "wall s": wall, "processor s": cpu, "target s": target}

    yield row(f"{what}, empty cache", "" if quick else 360, command)
    shutil.rmtree(work/"results")
    yield row(f"{what}, machine code kept", "" if quick else 180, command)
    yield row("nothing to do", 3, command)
    yield from _overheads(folder, environment)


def _overheads(folder: Path, environment: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Processor time of a warm sweep with one run, and of each further run in it."""
    work = folder/"overhead"
    studies = work/"config"/"studies"
    studies.mkdir(parents=True)
    ladders = {"one": [0.01], "many": [0.01/(k + 1) for k in range(FURTHER + 1)]}
    seconds = {}
    for name, steps in ladders.items():
        (studies/f"{name}.yaml").write_text(SWEEP.format(steps=steps))
        command = ["liestep", "sweep", name, "bodies", "vi_sphere"]
        run(command, work, environment)  # compiles
        times = []
        for _ in range(5):
            shutil.rmtree(work/"results")
            times.append(run(command, work, environment))
        seconds[name] = min(times, key=lambda pair: pair[1])
    further = [(many - one)/FURTHER for one, many in zip(seconds["one"], seconds["many"], strict=True)]
    yield {"measurement": "sweep of one run", "wall s": seconds["one"][0], "processor s": seconds["one"][1], "target s": 1.0}
    yield {"measurement": "each further run", "wall s": further[0], "processor s": further[1], "target s": 0.01}


def run(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Wall and processor seconds of a command and all its children; its output goes to <folder>/output.log.

    Raises:
        RuntimeError: the command failed.
    """
    start, before = time.perf_counter(), _children()
    with (folder/"output.log").open("a") as log:
        code = subprocess.run(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    if code:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(folder/'output.log').read_text()[-3000:]}")
    return time.perf_counter() - start, _children() - before


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system
