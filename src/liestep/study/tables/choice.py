"""Who wins: the cheapest method that reaches an error, and who follows; for recommendations and for tables."""
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, isfinite

from liestep.files.textfiles import TableRow
from liestep.mechanics.contracts.method import Keeps

# what can be kept -> facts of which one must be declared
KEEP = {"energy": {Keeps.ENERGY, Keeps.BOUNDED}, "momentum": {Keeps.MOMENTUM}, "manifold": {Keeps.MANIFOLD},
        "symplectic": {Keeps.SYMPLECTIC}}
TIE = 1.1  # costs whose ratio is at most this are a tie


@dataclass(frozen=True)
class Choice:
    """The cheapest method and the next one. No winner: nobody reached the error; no runner-up: nobody else did.

    ratio   cost of the runner-up divided by that of the winner; infinite without a runner-up
    """

    winner: str | None
    cost: float
    runner_up: str | None
    ratio: float

    @property
    def tie(self) -> bool:
        """Whether the runner-up costs as much, within TIE."""
        return self.ratio <= TIE


def choose(table: Iterable[TableRow], error: float, cost: str = "seconds") -> Choice:
    """The choice among rows with the columns `integrator`, `error` and `cost` (in any unit). A row counts if its error
    is at most `error` and its cost a number; of each integrator the cheapest one counts. At equal costs the first row
    comes first."""
    best: dict[str, float] = {}
    for row in table:
        if row["error"] <= error and isfinite(row[cost]):
            best[row["integrator"]] = min(float(row[cost]), best.get(row["integrator"], inf))
    ranked = sorted(best, key=lambda name: best[name])
    if not ranked:
        return Choice(None, inf, None, inf)
    second = ranked[1] if len(ranked) > 1 else None
    return Choice(ranked[0], best[ranked[0]], second, best[second]/best[ranked[0]] if second else inf)
