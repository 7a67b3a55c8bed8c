"""Times of alternatives on a noisy machine: interleaved repeats, each in processor time of this
thread, medians and ratios."""
import statistics
import time
from collections.abc import Callable, Mapping


def interleaved(alternatives: Mapping[str, Callable], repeats: int) -> dict[str, list[float]]:
    """Seconds of each alternative, `repeats` times, in turns. Each is a function that prepares a run and returns
    the call to be timed first."""
    seconds: dict[str, list[float]] = {name: [] for name in alternatives}
    for prepare in alternatives.values():
        prepare()[0]()  # compile, load, warm up
    for _ in range(repeats):
        for name, prepare in alternatives.items():
            call = prepare()[0]
            start = time.thread_time()
            call()
            seconds[name].append(time.thread_time() - start)
    return seconds


def ratio(seconds: Mapping[str, list[float]], name: str, other: str) -> float:
    """Median over the turns of the time of `name` divided by that of `other` in the same turn."""
    return statistics.median(a/b for a, b in zip(seconds[name], seconds[other], strict=True))


def median(seconds: Mapping[str, list[float]], name: str) -> float:
    return statistics.median(seconds[name])
