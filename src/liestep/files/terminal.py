"""Texts that are no wider than the terminal. Where nobody looks (a pipe, a file) lines stay whole."""
import os
import re
import sys
import textwrap

from liestep.errors import InputError

LEAST = 40  # columns


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
    half of the width."""
    width = columns()
    if width is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        starts = [found.end() for found in re.finditer(r"^ +|(?<=\S) {2,}", line) if found.end() <= width//2]
        lines += [line] if len(line) <= width else textwrap.wrap(
            line, width, subsequent_indent=" "*(starts[-1] if starts else 0), break_on_hyphens=False,
            drop_whitespace=True)
    return "\n".join(lines)
