"""Make the missing or outdated files of a sweep, one after the other in this process."""
import sys
from collections.abc import Sequence
from typing import NamedTuple

from liestep.errors import InputError, PluginError
from liestep.simulation.runs.content import Content
from liestep.simulation.runs.estimate import require_memory
from liestep.simulation.runs.files import is_current, write
from liestep.simulation.runs.maps import ShardSpecification
from liestep.simulation.runs.outcomes import carry_out, not_compiled
from liestep.simulation.runs.shards import carry_out_shard
from liestep.simulation.runs.store import Store
from liestep.study.plan.plan import Cell


class Counts(NamedTuple):
    """How many runs were computed, were there, stopped early (of those computed), and were taken from the store."""

    made: int
    kept: int
    failed: int
    linked: int


def run_cells(cells: Sequence[Cell], store: Store | None = None, again: bool = False) -> Counts:
    """Make what is missing or out of date, or again all; names each run on standard error. What the store has is not
    computed, unless again. Raises
    InputError: a run that memory cannot hold; a file that cannot be written; or, when all other runs are made, a run
    that cannot even be a failed one."""
    for cell in cells:
        require_memory(cell.spec, _name(cell))
    made = kept = failed = linked = 0
    refused: list[str] = []
    for cell in cells:
        name = _name(cell)
        if not again and is_current(cell.path, cell.spec):
            kept += 1
            if store:  # a process that was killed may not have come to it
                store.put(cell.spec, cell.path)
            continue
        if store and not again and store.take(cell.spec, cell.path):
            linked += 1
            print(f"linked {name}: it was made before", file=sys.stderr)
            continue
        try:
            content = computed(cell)
        except InputError as error:
            refused.append(f"{name}: {error}")
            continue
        write(content, cell.path)
        if store:
            store.put(cell.spec, cell.path)
        made += 1
        if content.attributes["status"] != "ok":
            failed += 1
        print(f"made {name}: {content.attributes['message']}", file=sys.stderr)
    if refused:
        raise InputError(refused[0] + (f" (and {len(refused) - 1} more runs)" if len(refused) > 1 else ""))
    return Counts(made, kept, failed, linked)


def _name(cell: Cell) -> str:
    return f"{cell.study} {cell.problem} {cell.integrator} {cell.resolution}"


def computed(cell: Cell) -> Content:
    """The run, or the failed run that stands for code that cannot be compiled."""
    if isinstance(cell.spec, ShardSpecification) or cell.spec.reduced:
        return carry_out_shard(cell.spec)
    try:
        return carry_out(cell.spec)
    except PluginError as error:
        return not_compiled(cell.spec, error)
