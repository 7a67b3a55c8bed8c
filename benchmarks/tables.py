"""Rows of numbers as Markdown and CSV."""
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def number(value: Any) -> str:
    """Three significant digits in plain decimal style where that is short."""
    if not isinstance(value, float):
        return str(value)
    if value != 0.0 and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.1e}"
    digits = f"{value:.3g}"
    return f"{value:.0f}" if "e" in digits else digits


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Table with the keys of the first row as header."""
    names = list(rows[0])
    lines = [names, ["---"]*len(names), *([number(row[name]) for name in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
