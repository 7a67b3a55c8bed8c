"""A judgement of a long run counts when the same run over four times the duration gives it again: which runs do so."""
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from liestep.simulation.runs.specification import RunSpecification
from liestep.study.plan.plan import Cell

CONFIRMATION = 4.0  # a confirming run is at least this many times as long
SLACK = 1e-9
UNCONFIRMED = "unconfirmed"  # verdict on a run without a longer or shorter version


@dataclass(frozen=True)
class Pair:
    """A run and the longer one that confirms or refutes it."""

    first: Cell
    longer: Cell


def pairs(cells: Iterable[Cell]) -> dict[Path, Pair]:
    """File of a run -> the pair that judges it: with the shortest run at least four times as long, or, where there is
    none, with the longest run that it confirms itself. A run without either has no entry."""
    cells = list(cells)
    found = {cell.path: Pair(cell, other) for cell in cells if (other := _longer(cell, cells)) is not None}
    by_length = sorted(found.values(), key=lambda pair: pair.first.spec.t_end)
    return {pair.longer.path: pair for pair in by_length} | found


def _longer(cell: Cell, cells: Iterable[Cell]) -> Cell | None:
    """The shortest run that differs from this one by a t_end at least four times as long."""
    same = [other for other in cells if other.spec.t_end >= CONFIRMATION*cell.spec.t_end*(1.0 - SLACK)
            and identity(other.spec) == identity(cell.spec)]
    return min(same, key=lambda other: other.spec.t_end, default=None)


def identity(spec: RunSpecification) -> tuple:
    """What a run and its longer version share; the ensemble comes last."""
    content = spec.canonical()
    size = spec.tolerance if spec.steps is None else float(f"{spec.step:.9g}")
    return (size,
            *(str(content.get(name)) for name in ("problem", "parameters", "initial", "integrator", "options",
                                                  "plugins", "ensemble")))
