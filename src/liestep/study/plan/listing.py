"""The list of what a job made, written when all of it is made. Snakemake looks at the list instead of the files.

It would need seconds to look at thousands of files, and it removes the outputs of a job that fails: of ten hours on a
node that dies in the last minute nothing would be left.
"""
from collections.abc import Iterable
from pathlib import Path

from liestep.files.textfiles import csv_text, write_text_atomically

COLUMNS = ("path", "run_sha256", "source_hash")


def write_listing(path: Path, made: Iterable[tuple[Path, str, str]]) -> None:
    """Table with path, hash of the specification and source hash of each file; raises InputError
    when it cannot be written."""
    rows = ({"path": file.as_posix(), "run_sha256": sha256, "source_hash": source} for file, sha256, source in made)
    write_text_atomically(path, csv_text(COLUMNS, rows))
