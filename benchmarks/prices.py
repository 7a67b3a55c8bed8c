"""What a step of each method takes beside the plain estimate, from the times of a full run:

    python -m benchmarks.prices            from results/*/*/timings.csv to src/liestep/simulation/runs/prices.toml
"""
import csv
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from liestep.files.textfiles import write_text_atomically
from liestep.simulation.runs import estimate
from liestep.study.plan.plan import Study

LEAST = 2.0  # factor, or its inverse, that is worth a line


def measured(results: Path) -> dict[str, list[float]]:
    """Integrator -> measured over estimated seconds of a step, one for each timed pair of fixed steps."""
    found = defaultdict(list)
    for path in sorted(results.glob("*/*/timings.csv")):
        study = Study.find(path.parent.relative_to(results).as_posix(), results=results)
        with path.open(newline="") as file:
            seconds = {(row["problem"], row["integrator"], row["resolution"]): float(row["seconds"])
                       for row in csv.DictReader(file) if row["runtime"] == "core" and row["seconds"]}
        for sweep in study.sweeps:
            longest = max(sweep.cells, key=lambda cell: cell.spec.steps or 0)
            taken = seconds.get((sweep.problem, sweep.integrator, longest.resolution))
            if longest.spec.steps and taken:
                found[longest.spec.integrator].append(taken/longest.spec.steps/estimate.plain_seconds(longest.spec))
    return found


def main(results: str = "results") -> None:
    lines = [f"{name} = {median(ratios):.1f}" for name, ratios in sorted(measured(Path(results)).items())
             if not 1.0/LEAST < median(ratios) < LEAST]
    head = "# Seconds of a step over those that its formulation and order let expect; python -m benchmarks.prices"
    write_text_atomically(Path("src/liestep/simulation/runs/prices.toml"), "\n".join([head, *lines, ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
