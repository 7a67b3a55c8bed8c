"""Make the missing or outdated files of a sweep, one after the other in this process."""
import sys
from collections.abc import Iterable

from liestep.study.content import carry_out
from liestep.study.files import is_current, write
from liestep.study.plan import Cell


def run_cells(cells: Iterable[Cell]) -> tuple[int, int, int]:
    """Make what is missing or out of date; says each run on standard error. Returns (made, kept, failed)."""
    made = kept = failed = 0
    for cell in cells:
        name = f"{cell.study} {cell.problem} {cell.integrator} {cell.resolution}"
        if is_current(cell.path, cell.spec):
            kept += 1
            continue
        content = carry_out(cell.spec)
        write(content, cell.path)
        made += 1
        if content.attributes["status"] != "ok":
            failed += 1
        print(f"made {name}: {content.attributes['message']}", file=sys.stderr)
    return made, kept, failed
