"""How far a run is, as one line on a terminal or below a cell of a notebook."""
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WIDTH = 30  # characters of the bar


@contextmanager
def progress_bar(label: str, shown: bool = True) -> Iterator[Callable[[float], None] | None]:
    """Takes the fraction that is done; the line is taken away however the run ends. None where nothing is shown."""
    if not shown:
        yield None
        return
    last, began = "", time.monotonic()

    def show(fraction: float) -> None:
        nonlocal last
        line = f"{label} [{'#'*int(WIDTH*fraction):{WIDTH}}] {100*fraction:3.0f} %"
        if line != last:
            last, left = line, (time.monotonic() - began)*(1.0/max(fraction, 1e-3) - 1.0)
            print(f"\r{line}, {left:6.0f} s left", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(f"\r{' '*(len(last) + 20)}\r", end="", file=sys.stderr, flush=True)
