"""The table `matrix`: what became of every pair of a problem and an integrator."""
from math import nan
from typing import TYPE_CHECKING, Any

from liestep.paper import Table

if TYPE_CHECKING:
    import pandas

    from liestep.study.tables.results import StudyResults

COLUMNS = ("study", "problem", "integrator", "outcome", "runs", "completed", "largest_step", "error_least",
           "error_largest", "sentence")


def matrix_rows(results: "StudyResults") -> list[dict[str, Any]]:
    """Rows with columns COLUMNS: every integrator on every problem. Outcomes are ok (every run ended), partly,
    failed (none did; the sentence of the shortest step), refused. A sentence says too where budgets were cut."""
    rows, runs_of = [], dict(iter(results.metrics.groupby(["problem", "integrator"], sort=False)))
    for problem in results.config.problems:
        for name in results.config.integrators:
            runs, sentence = runs_of.get((problem, name)), results.study.not_applicable.get((problem, name))
            row = {"study": results.study.name, "problem": problem, "integrator": name}
            if runs is not None:
                outcome = _outcome(runs)
                said = filter(None, (outcome["sentence"], results.study.capped(problem, name)))
                rows.append(row | outcome | {"sentence": "; ".join(said)})
            elif sentence is not None:
                rows.append(row | {"outcome": "refused", "runs": 0, "completed": 0, "sentence": sentence})
    return rows


def _outcome(runs: "pandas.DataFrame") -> dict[str, Any]:
    done = runs[runs["status"] == "ok"]
    order = runs.sort_values("tolerance" if runs["tolerance"].notna().all() else "step")
    stopped = order[order["status"] != "ok"]
    errors = done["error"].dropna() if "error" in done else done["step"][:0]
    outcome = "ok" if len(done) == len(runs) else "partly" if len(done) else "failed"
    return {"outcome": outcome, "runs": len(runs), "completed": len(done),
            "largest_step": float(done["step"].max()) if len(done) else nan,
            "error_least": float(errors.min()) if len(errors) else nan,
            "error_largest": float(errors.max()) if len(errors) else nan,
            "sentence": str(stopped["message"].iloc[0]) if len(stopped) else ""}


TABLE = Table(COLUMNS, matrix_rows, readable=COLUMNS[1:])
