"""Processor time of the workflow's jobs: each appends a line to logs/seconds.csv of the results, whatever its end."""
import argparse
import csv
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from liestep.errors import InputError

FILE = Path("logs", "seconds.csv")
HEAD = "ended,seconds,kind,study,job"  # s since 1970, s of processor time


def note(results: Path, words: Sequence[str], seconds: float) -> None:
    """Append one line. A folder that cannot be written keeps nothing."""
    kind, *rest = words[1:] if words[0] == "job" else words
    study = rest[0] if kind in ("sweep", "reference", "time", "products") and rest else ""
    path = results/FILE
    about = " ".join(rest[1:]) if study else " ".join(rest[:1])
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            if not file.tell():
                file.write(f"{HEAD}\n")
            csv.writer(file, lineterminator="\n").writerow((f"{time.time():.0f}", f"{seconds:.2f}", kind, study, about))


@contextmanager
def noted(results: Path, words: Sequence[str]) -> Iterator[None]:
    """Note the processor time of what is done inside, with that of its processes."""
    before = sum(os.times()[:4])
    try:
        yield
    finally:
        note(results, words, sum(os.times()[:4]) - before)


def table(results: Path, longest: int = 10) -> Iterator[str]:
    """Lines on where the time of all jobs went since the file was begun, with the longest jobs. Raises
    InputError: there is none."""
    path = results/FILE
    if not path.is_file():
        raise InputError(f"{path} is not there: jobs of the workflow write it")
    import pandas

    rows = pandas.read_csv(path, keep_default_na=False)
    total = rows["seconds"].sum()
    yield f"{total:.0f} s of processor time in {len(rows)} jobs ({path}; without the file they are counted anew)"
    for key in ("kind", "study"):
        yield f"\n{key:32}{'jobs':>6}{'s':>10}{'share':>8}"
        groups = rows.groupby(key, sort=False)["seconds"].agg(["count", "sum"]).sort_values("sum", ascending=False)
        for name, count, seconds in groups.itertuples():
            yield f"{name or 'of several':32}{count:6}{seconds:10.1f}{seconds/max(total, 1e-9):8.1%}"
    yield "\nlongest jobs"
    for row in rows.nlargest(longest, "seconds").itertuples():
        yield f"{row.seconds:10.1f}  {row.kind} {row.study} {row.job}".rstrip()


def command_seconds(arguments: argparse.Namespace) -> None:
    print(*table(arguments.results, arguments.jobs), sep="\n")
