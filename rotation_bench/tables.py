"""Files that are written whole."""
import os
from pathlib import Path

from rotation_bench.liestep_judge import BadStates


def write_text(path: Path, text: str) -> None:
    """Write under a temporary name, then rename. Raises BadStates: the folder cannot be written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8", newline="")
        os.replace(temporary, path)
    except OSError as error:
        raise BadStates(f"cannot write {path}: {error.strerror or error}") from None
