"""The table `validity`: the largest step that completes, and the largest accurate one, along an axis of problems."""
from math import nan
from typing import Any

import pandas

from liestep.compile.counters import evaluations_of
from liestep.study.tables.results import StudyResults
from liestep.study.tables.table import Table

ACCURATE = 1e-4
COLUMNS = ("study", "axis", "value", "problem", "integrator", "completes", "accurate", "evaluations", "smallest",
           "largest", "sentence")


def validity_rows(results: StudyResults) -> list[dict[str, Any]]:
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


def largest_steps(runs: pandas.DataFrame) -> dict[str, Any]:
    """What a row says of the runs of one method on one problem."""
    found: dict[str, Any] = {"completes": nan, "accurate": nan, "evaluations": nan, "sentence": "",
                             "smallest": float(runs["step"].min()), "largest": float(runs["step"].max())}
    accurate = True
    for run in runs.sort_values("step").to_dict("records"):
        if run["status"] != "ok":
            found["sentence"] = str(run["message"])
            break
        found["completes"] = run["step"]
        accurate = accurate and run["error"] <= ACCURATE
        if accurate:
            found["accurate"] = run["step"]
            found["evaluations"] = int(evaluations_of(run))
    return found


TABLE = Table(COLUMNS, validity_rows, readable=COLUMNS[1:], needed=("axis", "value", "completes", "accurate"))
