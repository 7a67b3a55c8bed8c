"""The table `crossover`: when the energy error of one method exceeds that of another for good."""
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from liestep.paper import RunFile, Table

if TYPE_CHECKING:
    from liestep.study.tables.results import StudyResults

PAIR = ("problem", "problem_label", "integrator", "resolution", "other", "other_resolution")
COLUMNS = ("study", *PAIR, "t_end", "first", "last", "other_first", "other_last", "crossover")


def crossover_rows(results: "StudyResults") -> list[dict[str, Any]]:
    """One row per problem and pair of its complete runs in which the method that begins with the smaller energy error
    ends with the larger one, columns COLUMNS. The energy error at t is the largest |E - E(0)| up to t, over all steps,
    at the ends of the hundredths of the run: first and last are those of the method, other_* those of the method it is
    compared with. crossover is the end of the first hundredth from which on the method's error is the larger one."""
    rows = []
    runs = results.metrics[(results.metrics["status"] == "ok") & (results.metrics["members"] == 1)].to_dict("records")
    for one, other in permutations(runs, 2):
        if one["problem"] != other["problem"]:
            continue
        errors, others = (energy_errors(results.file(run["problem"], run["integrator"], run["resolution"]))
                          for run in (one, other))
        if not (errors[0] < others[0] and errors[-1] > others[-1]):
            continue
        place = int(np.flatnonzero(errors <= others)[-1]) + 1
        values = (results.study.name, one["problem"], one["problem_label"], one["integrator"], one["resolution"],
                  other["integrator"], other["resolution"], one["t_end"],
                  *map(float, (errors[0], errors[-1], others[0], others[-1])), (place + 1)/len(errors)*one["t_end"])
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def energy_errors(file: RunFile) -> np.ndarray:
    """(blocks,): largest |E - E(0)| up to the end of each block."""
    return np.fmax.accumulate(file.block_extents("energy"))


TABLE = Table(COLUMNS, crossover_rows, readable=(*PAIR[1:], "t_end", "crossover", "first", "last", "other_first",
                                                 "other_last"))
