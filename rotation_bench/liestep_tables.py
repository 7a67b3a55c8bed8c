"""Tables as CSV, whose numbers read back as the same floats, and as Markdown. liestep writes its own with these, too
(.ci/packing.py)."""
import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t]")  # beginnings of cells that spreadsheets calculate, or that are quoted already


def csv_text(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV in the order of `columns`; what is missing or NaN is empty. A text that spreadsheets would calculate
    begins with an apostrophe more, which `csv_rows` takes away."""
    columns, out = list(columns), io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
    return out.getvalue()


def csv_rows(text: str, missing: str | None = "") -> list[dict[str, Any]]:
    """Rows of what `csv_text` has written, with `missing` for what a row lacks at its end; raises csv.Error."""
    return [{name: unquoted(cell) for name, cell in row.items()}
            for row in csv.DictReader(io.StringIO(text), restval=missing)]


def unquoted(cell: Any) -> Any:
    """A cell without the apostrophe of `csv_text`."""
    return cell[1:] if isinstance(cell, str) and cell[:1] == "'" and FORMULA.match(cell) else cell


def _cell(value: Any) -> str:
    if not filled(value):
        return ""
    if isinstance(value, str):
        return f"'{value}" if FORMULA.match(value) and not _is_number(value) else value
    value = value.item() if hasattr(value, "item") else value
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def filled(value: Any) -> bool:
    """Neither None nor NaN."""
    return value is not None and value == value


def markdown(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A table with five significant digits; what is missing is empty."""
    columns = list(columns)
    lines = ["| " + " | ".join(map(_text, columns)) + " |", "|" + " --- |"*len(columns)]
    lines += ["| " + " | ".join(_text(row.get(name)) for name in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _text(value: Any) -> str:
    if not filled(value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.5g}"
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", str(value).replace("|", "\\|").replace("\n", " "))  # no tags of HTML
