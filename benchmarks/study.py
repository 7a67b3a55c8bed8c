"""Times of the workflow: everything from nothing, with machine code, with nothing to do; what a
process and a run in it cost."""
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from liestep.study.plan.names import study_files

ROOT = Path(__file__).parents[1]
SNAKEMAKE = ["snakemake", "--snakefile", str(ROOT/"Snakefile"), "--cores", "2"]
PROGRAMS = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}  # those of this environment first
QUICK_STUDY = "twospheres2009/example2"
FURTHER = 20  # runs in the larger of two sweeps
# Targets in seconds were set on a machine where this import took so much processor time. Here they are
# multiplied by the ratio.
YARDSTICK, YARDSTICK_SECONDS = ("-c", "import numba, netCDF4"), 0.3

SWEEP = """
title: overhead
problems: {{bodies: {{system: sphere_nbody, t_end: 0.01}}}}
integrators: {{vi_sphere: }}
steps: {steps}
"""
GRID = (10, 5, 20)  # problems, integrators, steps of a large study
LARGE = """
title: A thousand runs
problems:
{problems}
integrators: {{vi_sphere: , vi_sphere_y4: {{id: vi_sphere, options: {{weights: y4}}}}, rk2_midpoint: , rk4: ,
               rkmk4: {{id: rkmk}}}}
steps: {{counts: {counts}}}
tables: [energy]
"""


def measure(folder: Path, quick: bool) -> Iterator[dict[str, Any]]:
    """One row per measurement; `quick` makes one study instead of those of each paper."""
    environment = {**os.environ, **PROGRAMS}
    factor = _yardstick(folder, environment)
    yield {"measurement": "targets are multiplied by", "wall s": "", "processor s": "", "target s": "",
           "target here s": factor}
    rows = [_paper(folder/"quick", environment, [QUICK_STUDY], QUICK_STUDY)] if quick else \
        [_paper(folder/paper, environment, names, paper) for paper, names in papers().items()]
    for row in chain(*rows, _overheads(folder, environment), _large(folder/"large", environment)):
        print(f"{row['measurement']}: {row['wall s']:.4g} s", file=sys.stderr)
        yield row | {"target here s": row["target s"]*factor}


def papers() -> dict[str, list[str]]:
    """Paper -> its studies."""
    found: dict[str, list[str]] = {}
    for name in study_files(ROOT/"config"):
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


def _yardstick(folder: Path, environment: dict[str, str]) -> float:
    """How many times longer a fixed piece of work takes here."""
    times = [run([sys.executable, *YARDSTICK], folder, environment)[1] for _ in range(5)]
    return min(times)/YARDSTICK_SECONDS


def _paper(work: Path, environment: dict[str, str], studies: list[str], label: str) -> Iterator[dict[str, Any]]:
    """Everything that belongs to these studies, in a new working folder with an empty cache; then with
    machine code; then once more."""
    work.mkdir()
    for folder in ("config", "papers"):
        shutil.copytree(ROOT/folder, work/folder)
    environment = {**environment, "LIESTEP_CACHE": str(work/"cache")}
    command = [*SNAKEMAKE, "--config", f"studies={json.dumps(studies)}"]
    yield _row(f"{label}, empty cache", command, work, environment, 360)
    shutil.rmtree(work/"results")
    yield _row(f"{label}, machine code kept", command, work, environment, 180)
    yield _row(f"{label}, nothing to do", command, work, environment, 3)


def _row(label: str, command: list[str], work: Path, environment: dict[str, str], target: float) -> dict[str, Any]:
    wall, cpu = run(command, work, environment)
    return {"measurement": label, "wall s": wall, "processor s": cpu, "target s": target}


def _large(work: Path, environment: dict[str, str]) -> Iterator[dict[str, Any]]:
    """A study of 1,000 runs in 50 sweeps: time per run, and with nothing to do."""
    problems, integrators, steps = GRID
    (work/"config"/"studies").mkdir(parents=True)
    lines = "\n".join(f"  p{k}: {{system: sphere_nbody, t_end: {0.01*(k + 1):g}}}" for k in range(problems))
    (work/"config"/"studies"/"large.yaml").write_text(LARGE.format(problems=lines, counts=list(range(10, 10 + steps))))
    (work/"config"/"config.yaml").symlink_to(ROOT/"config"/"config.yaml")
    runs = problems*integrators*steps
    wall, cpu = run(SNAKEMAKE, work, environment)
    yield {"measurement": f"{runs} runs, per run", "wall s": wall/runs, "processor s": cpu/runs, "target s": 0.03}
    yield _row(f"{runs} runs, nothing to do", SNAKEMAKE, work, environment, 2.5)


def _overheads(folder: Path, environment: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Processor time of a warm sweep with one run, and of each further run in it."""
    environment = {**environment, "LIESTEP_CACHE": str(folder/"cache")}
    work = folder/"overhead"
    studies = work/"config"/"studies"
    studies.mkdir(parents=True)
    ladders = {"one": [0.01], "many": [0.01/(k + 1) for k in range(FURTHER + 1)]}
    seconds = {}
    for name, steps in ladders.items():
        (studies/f"{name}.yaml").write_text(SWEEP.format(steps=steps))
        command = ["liestep", "job", "sweep", name, "bodies", "vi_sphere"]
        run(command, work, environment)  # compiles
        times = []
        for _ in range(5):
            shutil.rmtree(work/"results")
            times.append(run(command, work, environment))
        seconds[name] = min(times, key=lambda pair: pair[1])
    further = [(many - one)/FURTHER for one, many in zip(seconds["one"], seconds["many"], strict=True)]
    yield {"measurement": "sweep of one run", "wall s": seconds["one"][0], "processor s": seconds["one"][1],
           "target s": 1.0}
    yield {"measurement": "each further run", "wall s": further[0], "processor s": further[1], "target s": 0.01}


def run(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Wall and processor seconds of a command and all its children; its output goes to <folder>/output.log.

    Raises:
        RuntimeError: the command failed.
    """
    start, before = time.perf_counter(), _children()
    with (folder/"output.log").open("a") as log:
        code = subprocess.run(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT,
                              check=False).returncode
    if code:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(folder/'output.log').read_text()[-3000:]}")
    return time.perf_counter() - start, _children() - before


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system
