"""The table `validity`: the largest step that completes, and the largest accurate one, along an axis of problems."""
from math import nan
from typing import TYPE_CHECKING, Any

from liestep.compile.counters import evaluations_of
from liestep.paper import Table

if TYPE_CHECKING:
    import pandas

    from liestep.study.tables.results import StudyResults

ACCURATE = 1e-4
COLUMNS = ("study", "axis", "value", "problem", "integrator", "completes", "accurate", "evaluations", "smallest",
           "largest", "sentence")


def validity_rows(results: "StudyResults") -> list[dict[str, Any]]:
    """One row for each problem that lies on an axis (`at`) and each of its methods of fixed steps, columns COLUMNS.
    completes: the largest step of which, and of all smaller ones, the run came to its end; accurate: the largest step
    of which, and of all smaller ones, the state error is at most ACCURATE, and the evaluations of that run. smallest
    and largest are the ends of the ladder: a number that equals largest is a lower limit. NaN where the smallest step
    fails. sentence: why the next larger step did not complete."""
    rows = []
    for problem, setup in results.config.problems.items():
        for axis, value in setup.at.items():
            for integrator in results.config.integrators:
                runs = results.select(problem, integrator)
                runs = runs[~runs["adaptive"].astype(bool)]
                if len(runs):
                    rows.append({"study": results.study.name, "axis": axis, "value": value, "problem": problem,
                                 "integrator": integrator, **largest_steps(runs)})
    return rows


def largest_steps(runs: "pandas.DataFrame") -> dict[str, Any]:
    """What a row says of the runs of one method on one problem."""
    runs = runs.sort_values("step")
    complete = runs[(runs["status"] == "ok").cummin()]
    accurate = complete[(complete["error"] <= ACCURATE).cummin()]
    stopped = runs["message"][runs["status"] != "ok"]
    return {"completes": complete["step"].max(), "accurate": accurate["step"].max(),
            "evaluations": int(evaluations_of(accurate.iloc[-1])) if len(accurate) else nan,
            "smallest": runs["step"].min(), "largest": runs["step"].max(),
            "sentence": str(stopped.iloc[0]) if len(stopped) else ""}


TABLE = Table(COLUMNS, validity_rows, readable=COLUMNS[1:], needed=("axis", "value", "completes", "accurate"))
