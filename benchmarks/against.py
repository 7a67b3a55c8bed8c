"""The core of this checkout beside that of another one, such as an older commit: `python -m benchmarks against
CHECKOUT`.

Each checkout has a process of its own, which makes the runs that it is asked for; one run of each is timed in turns.
Machine code lies differently in the memory of each process and is up to 2 % faster or slower for it, so several pairs
of processes are measured. Only cases that both checkouts have are compared.
"""
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.cases import CASES

PAIRS = 5
LOW, HIGH = 0.97, 1.03
SERVER = """
import sys, time
from benchmarks.cases import CASES, CoreRun
runs, known = {}, {case.label: case for case in CASES}
for line in sys.stdin:
    label, statistics = line.rstrip("\\n").split("|")
    if label not in known:
        print("none none", flush=True)
        continue
    if line not in runs:
        runs[line] = CoreRun(known[label], statistics=statistics == "True")
        runs[line].prepare()[0]()
    call, y = runs[line].prepare()
    start = time.thread_time()
    call()
    print(time.thread_time() - start, repr(float(y.sum())), flush=True)
"""


class Server:
    """A process that makes runs of one checkout with its own modules."""

    def __init__(self, checkout: Path, cache: Path):
        self.checkout = checkout
        place = {**os.environ, "PYTHONPATH": f"{checkout/'src'}{os.pathsep}{checkout}", "LIESTEP_CACHE": str(cache)}
        self.process = subprocess.Popen([sys.executable, "-u", "-c", SERVER], cwd=checkout, env=place, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, label: str, statistics: bool) -> tuple[float, str] | None:
        """(processor seconds, sum of the final state) of a run; None where the checkout lacks the case."""
        asked, told = self.process.stdin, self.process.stdout
        assert asked is not None
        assert told is not None
        print(f"{label}|{statistics}", file=asked, flush=True)
        words = told.readline().split()
        if not words:
            raise SystemExit(f"python -m benchmarks against: the process of {self.checkout} ended; it says why above")
        return None if words[0] == "none" else (float(words[0]), words[1])

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def compare(other: Path, folder: Path, repeats: int, pairs: int = PAIRS) -> Iterator[dict[str, Any]]:
    """One row per case, without and with statistics: the median over pairs of processes of the ratio this/other.

    other: root of a checkout with `src` and `benchmarks`. folder: for machine code. Raises SystemExit if it has none.
    """
    if not (other/"benchmarks"/"cases.py").is_file():
        raise SystemExit(f"python -m benchmarks against: {other} is not the root of a checkout of liestep: it has no"
                         " benchmarks/cases.py")
    here = Path(__file__).resolve().parents[1]
    ratios: dict[tuple[str, bool], list[float]] = {}
    equal = {}
    for _ in range(pairs):
        mine, theirs = Server(here, folder/"mine"), Server(other.resolve(), folder/"theirs")
        for case in CASES:
            for counted in (False, True):
                first, second = mine.run(case.label, counted), theirs.run(case.label, counted)
                if first is None or second is None:
                    continue
                equal[case.label, counted] = first[1] == second[1]
                turns = [_turn(mine, theirs, case.label, counted) for _ in range(repeats)]
                ratios.setdefault((case.label, counted), []).append(statistics.median(turns))
        mine.close()
        theirs.close()
    for (label, counted), found in ratios.items():
        middle = statistics.median(found)
        yield {"case": label, "statistics": "yes" if counted else "no", "this/other": middle, "lowest": min(found),
               "highest": max(found), "same state": "yes" if equal[label, counted] else "no",
               "within 0.97 to 1.03": "yes" if LOW <= middle <= HIGH else "no"}


def _turn(mine: Server, theirs: Server, label: str, counted: bool) -> float:
    first, second = mine.run(label, counted), theirs.run(label, counted)
    assert first is not None
    assert second is not None
    return first[0]/second[0]
