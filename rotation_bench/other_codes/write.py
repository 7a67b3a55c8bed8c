"""One code writes its files: `python -m rotation_bench.other_codes.write CODE PROBLEMS FOLDER`, with the Python of
their environment.

Files are CSV as docs/judging.md has it. The last line of the output is JSON: version and what could not be run."""
import csv
import importlib
import importlib.metadata
import json
import sys
import time
from pathlib import Path

import numpy as np

from rotation_bench.other_codes.contract import (
    LONG_TOLERANCE,
    TOLERANCES,
    Method,
    Problem,
    Run,
    States,
    file_name,
    read_problem,
)

LEAST, MOST, LONG = 0.05, 5, 1.0  # seconds after which a run is not repeated, repeats, seconds of a long run


def sizes(problem: Problem, method: Method) -> list[float]:
    """Numbers of steps, or tolerances, from coarse to fine."""
    if problem.runs == 1:
        return [LONG_TOLERANCE if method.tolerances else problem.fewest]
    return list(TOLERANCES) if method.tolerances else [problem.fewest*2**k for k in range(problem.runs)]


def timed(run: Run) -> tuple[States, float]:
    """States and the smallest processor time of the process (s); the first call warms up, and counts if it is long."""
    begin = time.process_time()
    states = run()
    best, total = time.process_time() - begin, 0.0
    if best > LONG:
        return states, best
    best = np.inf
    for _ in range(MOST):
        begin = time.process_time()
        states = run()
        best = min(best, time.process_time() - begin)
        total += best
        if total > LEAST:
            break
    return states, best


def write(problem: Problem, label: str, method: Method, size: float, folder: Path, run: Run) -> Path:
    states, seconds = timed(run)
    with np.errstate(over="ignore"):  # squares, because the energy has them
        finite = all(np.isfinite(part**2).all() for part in (states.rotation, states.momentum))
    if not finite:
        raise ArithmeticError("the states are not finite")
    facts = {"label": label, "seconds": f"{seconds:.3g}"}
    if method.tolerances:
        facts["tolerance"] = repr(size)
    else:
        facts |= {"step": repr(problem.t_end/size), "steps": str(int(size))}
    if method.order:
        facts |= {"order": str(method.order), "symmetric": str(method.symmetric).lower()}
    evaluations = states.evaluations or method.evaluations*(0 if method.tolerances else int(size))
    if evaluations:
        facts["rhs_evaluations"] = str(evaluations)
    part = ([f"attitude_{x}_{k}" for x in "xyz" for k in range(3)] if states.rotation.ndim == 3
            else [f"quaternion_{x}" for x in "wxyz"])
    resolution = f"tol{size:.0e}" if method.tolerances else f"n{int(size)}"
    path = folder/f"{problem.name}.{file_name(label)}.{resolution}.csv"
    rows = np.column_stack([problem.times, states.rotation.reshape(problem.samples, -1), states.momentum])
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.writelines(f"# {name} = {value}\n" for name, value in facts.items())
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["time", *part, *(f"angular_momentum_{x}" for x in "xyz")])
        table.writerows(rows.tolist())
    return path


def main(code: str, problems: Path, folder: Path) -> None:
    module = importlib.import_module(f"rotation_bench.other_codes.codes.{code}")
    said: dict = {"version": importlib.metadata.version(module.DISTRIBUTION), "failed": []}
    for path in sorted(problems.glob("*.json")):
        problem = read_problem(path)
        for name, method in module.METHODS.items():
            for size in sizes(problem, method):
                try:
                    write(problem, f"{code} {name}", method, size, folder, module.prepare(problem, name, size))
                except Exception as error:  # of a foreign code anything can come: its sentence is the result
                    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
                    said["failed"].append({"problem": problem.name, "label": f"{code} {name}", "size": size,
                                           "reason": reason})
    print(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
