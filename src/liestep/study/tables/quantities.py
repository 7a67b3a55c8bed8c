"""Quantities: numbers of a run that only one paper defines (its own norms, for example), as columns of metrics.csv. The
module that a paper declares as `quantities` (see `liestep.study.plan.papers`) has `QUANTITIES`, a tuple of functions of
a run's file and its problem's reference (None where the study asks for none) that return columns, name -> number,
`NAMES`, the names of these columns, and `VARIABLES`, names of all variables of the run's file that they read."""
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from liestep.errors import InputError
from liestep.simulation.runs.files import RunFile
from liestep.study.plan.papers import Paper, declared, given, paper_module, papers

Quantity = Callable[[RunFile, RunFile | None], Mapping[str, float]]


@dataclass(frozen=True)
class Quantities:
    """Functions of one paper, the columns that they give, what they read, and the file that has them."""

    functions: tuple[Quantity, ...] = ()
    names: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    place: str = ""

    def columns(self, file: RunFile, reference: RunFile | None) -> dict[str, float]:
        """All columns of a run. Raises InputError: two functions give one, or one that is not among the names."""
        found: dict[str, float] = {}
        for function in self.functions:
            columns = given(dict[str, float], function, file, reference)
            if twice := found.keys() & columns.keys():
                raise InputError(f"{self.place}: two quantities are called {min(twice)}")
            found |= columns
        if others := found.keys() - set(self.names):
            raise InputError(f"{self.place}: quantity {min(others)} is not among NAMES: {', '.join(self.names)}")
        return found


def quantities_of(study: str) -> Quantities:
    """Quantities of the paper that a study (`<paper>/<name>`) belongs to: none for other studies. Raises InputError:
    the paper's module lacks a part, or a column is one of another paper that was read, too."""
    paper = papers().get(study.partition("/")[0])
    own = _declared(paper)
    for other in papers().values():
        names: tuple[str, ...] = ()
        with suppress(InputError):  # which is said where the other paper's studies are read
            names = () if other is paper else _declared(other).names
        if same := set(own.names).intersection(names):
            raise InputError(f"{own.place}: the quantity {min(same)} is one of the paper {other.id} too; choose another"
                             " name")
    return own


def _declared(paper: Paper | None) -> Quantities:
    if paper is None or not paper.quantities:
        return Quantities()
    module = paper_module(paper, paper.quantities)
    names, variables = (declared(module, name, tuple[str, ...]) for name in ("NAMES", "VARIABLES"))
    return Quantities(declared(module, "QUANTITIES", tuple[Quantity, ...]), names, variables, str(module.__file__))
