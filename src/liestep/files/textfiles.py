"""Files that are written whole or not at all, and text products (tables), whose numbers read back as the same
floats."""
import csv
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from liestep.errors import InputError, number_or_nan
from liestep.files.records import record, remember

TableRow = dict[str, Any]  # columns and what is in them
TEMPORARY = ".*.[0-9]*.????????.tmp"  # names of files that were not finished


@contextmanager
def replacing(path: Path, suffix: str = ".tmp") -> Iterator[Path]:
    """A temporary name beside `path`; what the caller has written under it is flushed to disk and renamed at the end.
    Raises InputError: the folder cannot be written."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{uuid4().hex[:8]}{suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        record(path, temporary)
        os.replace(temporary, path)
        remember(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # renamed, or never made
            temporary.unlink()


if TYPE_CHECKING:
    import pandas

# columns of text, also where all entries are digits
TEXTS = ("study", "problem", "integrator", "resolution", "run_sha256", "source_hash")
TEXT_BYTES = 1 << 30  # most bytes of a text file that is read
FORMULA = re.compile(r"'*[=+\-@\t]")  # beginnings of cells that spreadsheets calculate, or that are quoted already


def write_text_atomically(path: Path, text: str) -> None:
    """Write under a temporary name, flush to disk, rename. Raises InputError: the folder cannot be written."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def csv_text(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV in the order of `columns`; a missing value, None and NaN are empty fields, floats are shortest
    decimals that round-trip. A text that spreadsheets would calculate begins with an apostrophe more, which `csv_rows`
    and `read_csv` take away."""
    columns = list(columns)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
    return out.getvalue()


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, str):
        return f"'{value}" if FORMULA.match(value) and number_or_nan(value) != number_or_nan(value) else value
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def _unquoted(cell: Any) -> Any:
    return cell[1:] if isinstance(cell, str) and cell[:1] == "'" and FORMULA.match(cell) else cell


def csv_rows(text: str) -> list[dict[str, str]]:
    """Rows of what `csv_text` has written; raises csv.Error."""
    return [{name: _unquoted(cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]


def without_markup(text: str) -> str:
    """Text for Markdown: what would be a tag of HTML is shown as it is written."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def require_file(path: Path, largest: int = TEXT_BYTES) -> None:
    """Raises InputError for what is no ordinary file (to open a pipe would wait for ever), or larger than `largest`
    bytes; a missing file and a folder are left to whoever opens them."""
    try:
        about = os.stat(path)
    except OSError:
        return
    if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
        raise InputError(f"cannot read {path}: it is a pipe or a device, not a file")
    if stat.S_ISREG(about.st_mode) and about.st_size > largest:
        raise InputError(f"cannot read {path}: it has {about.st_size} bytes, at most {largest} are allowed")


def read_text(path: Path, largest: int = TEXT_BYTES) -> str:
    """Content of a text file. Raises InputError: missing, not readable, not an ordinary file, larger than `largest`
    bytes, or not UTF-8."""
    path = Path(path)
    require_file(path, largest)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file in UTF-8 (byte {error.start + 1})") from None


def read_csv(path: Path, columns: Iterable[str] = ()) -> "pandas.DataFrame":
    """A table written by `csv_text`; only empty fields are missing values. Raises InputError: missing, truncated, not a
    table, or without one of the columns."""
    import pandas

    text = read_text(path)
    if not text.endswith("\n"):
        raise InputError(f"{path} is truncated: its last line has no end; remove it and make it again")
    try:
        table = pandas.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""],
                                dtype=dict.fromkeys(TEXTS, str))
    except Exception:  # of damaged text, pandas raises anything
        raise InputError(f"{path} is not a table of values with commas between them; remove it"
                         " and make it again") from None
    if "'" in text:
        table = table.map(_unquoted)
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise InputError(f"{path} has no column {missing[0]}: it is not a table of this program; remove it"
                         " and make it again")
    return table
