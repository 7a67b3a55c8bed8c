"""The table `ensembles`: means over time of chaotic motions, with intervals, compared between methods."""
from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from liestep.paper import Table
from liestep.study.plan.config import FEWEST

if TYPE_CHECKING:
    from liestep.study.tables.results import StudyResults

COLUMNS = ("study", "problem", "integrator", "resolution", "quantity", "members", "mean", "low", "high", "energy_error",
           "against", "deviation", "verdict")
APART = 3.0       # standard errors of the difference beyond which two means differ


def ensemble_rows(results: "StudyResults") -> list[dict[str, Any]]:
    """One row for each ensemble: mean over members and samples of the kinetic energy, with its 95 % interval from the
    spread of the members' means (they are independent where the perturbations have grown), columns COLUMNS. against is
    the ensemble of the same problem with the smallest energy error; deviation is the difference of the two means in
    standard errors. verdict: reference (it is that one), agrees (at most APART), differs, too few (members),
    stopped."""
    found: dict[str, list[dict[str, Any]]] = {}
    for cell in results.study.cells:
        if cell.spec.ensemble is None:
            continue
        file = results.file(cell.problem, cell.integrator, cell.resolution)
        row: dict[str, Any] = {"study": results.study.name, "problem": cell.problem, "integrator": cell.integrator,
                               "resolution": cell.resolution, "quantity": "kinetic_energy",
                               "members": cell.spec.ensemble.members}
        found.setdefault(cell.problem, []).append(row)
        if file.failed:
            row["verdict"] = "stopped"
            continue
        kinetic, energy = cell.spec.sheet.kinetic_energy, file["energy"]
        means = np.array([float(np.mean(kinetic(cell.spec.parameters, one.variables)))
                          for one in islice(file.members(), row["members"])])
        row |= summary(means) | {"energy_error": float(np.abs(energy - energy[:, :1]).max())}
    return [row for rows in found.values() for row in compared(rows)]


def summary(means: np.ndarray) -> dict[str, float]:
    """Mean, 95 % interval and standard error of independent numbers, shape (members,)."""
    from scipy.special import stdtrit  # which takes 0.2 s, and every plan of a workflow reads this file

    count = len(means)
    mean, error = float(means.mean()), float(means.std(ddof=1)/sqrt(count)) if count > 1 else float("nan")
    quantile = float(stdtrit(max(count - 1, 1), 0.975))  # of Student's distribution
    return {"mean": mean, "low": mean - quantile*error, "high": mean + quantile*error, "standard_error": error}


def compared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of one problem, each beside that of the smallest energy error."""
    done = [row for row in rows if "mean" in row]
    best = min(done, key=lambda row: row["energy_error"], default=None)
    for row in done:
        assert best is not None
        row["against"] = f"{best['integrator']} {best['resolution']}"
        if row is best:
            row["verdict"] = "reference" if row["members"] >= FEWEST else "too few"
            continue
        row["deviation"] = abs(row["mean"] - best["mean"])/sqrt(row["standard_error"]**2 + best["standard_error"]**2)
        few = min(row["members"], best["members"]) < FEWEST
        row["verdict"] = "too few" if few else "agrees" if row["deviation"] <= APART else "differs"
    return rows


TABLE = Table(COLUMNS, ensemble_rows, readable=COLUMNS[1:])
