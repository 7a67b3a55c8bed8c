"""What a claim asks its criterion: which runs, and the numbers that it is judged by."""
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Protocol

import numpy as np
from pydantic import Field

from liestep.errors import InputError, unknown
from liestep.study.plan.yamlfile import Strict
from liestep.study.tables.quantities import quantities_of

if TYPE_CHECKING:
    import pandas

    from liestep.simulation.runs.files import RunFile
    from liestep.study.tables.results import StudyResults

OWN_QUANTITY = "energy_change"  # last sample of the energy minus the first
CHANGE = "_change_(?=mean|max)"
REACHED = "time_reached"        # in s; a run that stopped early has it too
Results = Mapping[str, "StudyResults"]


# a file of a public code: repository (owner/name), path in it, hash of a commit
CodeFile = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+ [^\s:]+ [0-9a-f]{10,40}$")]


class RunChoice(Strict):
    """Runs of a study by their keys; what is left out matches everything."""

    study: str = Field(description="id of the study")
    problem: str = Field(description="key of the problem")
    integrator: str = Field(description="key of the integrator")
    method: str | None = Field(None, description="id of the integrator (default: the one that the key is or begins"
                               " with, as slgi_half begins with slgi)")
    resolution: str | None = Field(None,
                                   description="label of the resolution, for example h0.01 or tol0.0001 (default: all)")


class Question(Protocol):
    """What criteria know of a claim: its runs, those to compare with, the quantity, and the printed number."""

    runs: list[RunChoice]
    against: list[RunChoice]
    quantity: str
    printed: float | None


def select(choice: RunChoice, results: Results) -> "pandas.DataFrame":
    """Rows of metrics.csv that a choice means. Raises InputError: there is none."""
    rows = results[choice.study].metrics
    for column in ("problem", "integrator", "resolution"):
        wanted = getattr(choice, column)
        if wanted is not None:
            known = dict.fromkeys(rows[column])
            if wanted not in known:
                raise InputError(f"study {choice.study}: {unknown(column, wanted, known)}")
            rows = rows[rows[column] == wanted]
    # a claim may call a change of what the motion does not keep an error, as its paper, or as files do
    changes = {re.sub(CHANGE, "_error_", name): rows[name] for name in rows.columns if re.search(CHANGE, name)}
    return rows.assign(**{name: rows[name].fillna(values) if name in rows else values
                          for name, values in changes.items()})


def values(claim: Question, choices: list[RunChoice], results: Results) -> np.ndarray:
    """The claim's quantity for all chosen runs; a run that stopped early counts as NaN, except for how far it came."""
    numbers = []
    for choice in choices:
        for _, row in select(choice, results).iterrows():
            require_quantity(claim.quantity, [OWN_QUANTITY, *number_columns(row)])
            if row.status != "ok" and claim.quantity != REACHED:
                numbers.append(math.nan)
            elif claim.quantity == OWN_QUANTITY:
                energy = results[choice.study].file(row.problem, row.integrator, row.resolution)["energy"]
                numbers.append(float(energy[-1] - energy[0]))
            else:
                numbers.append(float(row[claim.quantity]))
    return np.array(numbers)


def number_columns(row: "pandas.Series") -> list[str]:
    """Columns of a row of metrics.csv that hold no text."""
    return [name for name in row.index if not isinstance(row[name], str)]


def require_quantity(name: str, known: Iterable[str]) -> None:
    """Raises InputError for a quantity that is not among the known ones; names the closest."""
    if name not in known:
        raise InputError(unknown("quantity", name, known))


def variable(file: "RunFile", name: str) -> np.ndarray:
    """A stored variable as float64; raises InputError when the file has none of this name."""
    require_quantity(name, file.variables)
    return np.asarray(file[name], dtype=float)


def ensemble_of(what: str, choices: list[RunChoice], results: Results) -> "tuple[RunFile, bool]":
    """The file of the one ensemble that choices name, and whether it came to its end; `what` needs it. Raises
    InputError: they name several runs."""
    rows = [(choice, row) for choice in choices for _, row in select(choice, results).iterrows()]
    if len(rows) != 1:
        raise InputError(f"a {what} needs one ensemble run, not {len(rows)}")
    (choice, row), = rows
    return results[choice.study].file(row.problem, row.integrator, row.resolution), bool(row.status == "ok")


def member_values(file: "RunFile", name: str, study: str = "") -> np.ndarray:
    """A stored number of each member of an ensemble, its energy change, or a quantity of the paper of a study;
    (members,) float64. What is taken from samples is NaN where a member stopped early: there the file ends for all."""
    own = quantities_of(study)
    if name != OWN_QUANTITY and name not in own.names:
        return variable(file, name)
    energy = variable(file, "energy")
    if file.failed or name == OWN_QUANTITY:
        return np.full(len(energy), np.nan) if file.failed else energy[:, -1] - energy[:, 0]
    return np.array([own.columns(member, None).get(name, np.nan) for member in file.members()])

