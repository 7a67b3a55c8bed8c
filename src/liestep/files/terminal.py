"""Lines on a terminal: texts that are no wider (where nobody looks, in a pipe or a file, lines stay whole), and how far
a run is, also below a cell of a notebook."""
import os
import re
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from liestep.errors import InputError

LEAST = 40  # columns
BAR = 30  # characters of the bar


def columns() -> int | None:
    """Width of the terminal, or of COLUMNS; None where the output goes elsewhere. Raises InputError: too narrow."""
    told = os.environ.get("COLUMNS", "")
    width = int(told) if told.isdecimal() else None
    if width is None and sys.stdout.isatty():
        width = max(LEAST, os.get_terminal_size(sys.stdout.fileno()).columns or LEAST)
    if width is not None and width < LEAST:
        raise InputError(f"COLUMNS is {told}; allowed are {LEAST} columns or more")
    return width


def fitted(text: str) -> str:
    """The text with longer lines broken; what follows stands below the line's last column of words, if that leaves
    half of the width. Lines that fit with less space before them are moved."""
    width = columns()
    if width is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        starts = [found.end() for found in re.finditer(r"^ +|(?<=\S) {2,}", line) if found.end() <= width//2]
        lines += [line[max(0, len(line) - width):]] if not line[:-width].strip() else textwrap.wrap(
            line, width, subsequent_indent=" "*(starts[-1] if starts else 0), break_on_hyphens=False,
            drop_whitespace=True)
    return "\n".join(lines)


@contextmanager
def progress_bar(label: str, shown: bool = True) -> Iterator[Callable[[float], None] | None]:
    """Takes the fraction that is done; the line is taken away however the run ends. None where nothing is shown."""
    if not shown:
        yield None
        return
    last, began = "", time.monotonic()

    def show(fraction: float) -> None:
        nonlocal last
        line = f"{label} [{'#'*int(BAR*fraction):{BAR}}] {100*fraction:3.0f} %"
        if line != last:
            last, left = line, (time.monotonic() - began)*(1.0/max(fraction, 1e-3) - 1.0)
            print(f"\r{line}, {left:6.0f} s left", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(f"\r{' '*(len(last) + 20)}\r", end="", file=sys.stderr, flush=True)
