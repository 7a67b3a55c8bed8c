"""Make the missing or outdated files of a sweep, one after the other in this process."""
import sys
from collections.abc import Sequence

from liestep.errors import InputError, PluginError
from liestep.runs.content import Content, carry_out, not_compiled
from liestep.runs.estimate import require_memory
from liestep.runs.files import is_current, write
from liestep.study.plan import Cell


def run_cells(cells: Sequence[Cell]) -> tuple[int, int, int]:
    """Make what is missing or out of date; names each run on standard error. Returns (made, kept, failed).

    Raises:
        InputError: a run that memory cannot hold; a file that cannot be written;
            or, when all other runs are made, a run that cannot even be a failed one.
    """
    for cell in cells:
        require_memory(cell.spec, _name(cell))
    made = kept = failed = 0
    refused: list[str] = []
    for cell in cells:
        name = _name(cell)
        if is_current(cell.path, cell.spec):
            kept += 1
            continue
        try:
            content = _content(cell)
        except InputError as error:
            refused.append(f"{name}: {error}")
            continue
        write(content, cell.path)
        made += 1
        if content.attributes["status"] != "ok":
            failed += 1
        print(f"made {name}: {content.attributes['message']}", file=sys.stderr)
    if refused:
        raise InputError(refused[0] + (f" (and {len(refused) - 1} more runs)" if len(refused) > 1 else ""))
    return made, kept, failed


def _name(cell: Cell) -> str:
    return f"{cell.study} {cell.problem} {cell.integrator} {cell.resolution}"


def _content(cell: Cell) -> Content:
    """The run, or the failed run that stands for code that cannot be compiled."""
    try:
        return carry_out(cell.spec)
    except PluginError as error:
        return not_compiled(cell.spec, error)
