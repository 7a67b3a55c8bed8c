"""The table `energy`: energy errors of every run, with those of lengths."""
from typing import TYPE_CHECKING

import numpy as np

from liestep.files.textfiles import TableRow
from liestep.study.tables.kinds import Table, of_maps
from liestep.study.tables.metrics import SUFFIX, over_steps

if TYPE_CHECKING:
    from liestep.study.tables.results import StudyResults

RUN = ("study", "problem", "problem_label", "integrator", "integrator_id", "integrator_label", "resolution", "step",
       "tolerance", "t_end", "members", "status", "message")
LENGTH = ("unit_length_error_mean", "unit_length_error_max", "tangency_error_max")
COLUMNS = (*RUN, "energy_start", "energy_change", "energy_error_mean", "energy_error_max", "energy_error_mean_relative",
           "member_low", "member_median", "member_high", *LENGTH)


def columns(results: "StudyResults") -> tuple[str, ...]:
    """COLUMNS, and of maps which cell a row is."""
    return (*COLUMNS, *of_maps(results.metrics.columns))


def energy_rows(results: "StudyResults") -> list[TableRow]:
    """energy_change is E(end) - E(0); member_* are the 5, 50 and 95 % quantiles of an ensemble's mean energy errors.
    All errors are over every step, those of adaptive runs over the accepted ones."""
    rows, names = [], columns(results)
    for run in over_steps(results.metrics).to_dict("records"):
        row = {name: run.get(name) for name in names}
        if run["members"] > 1:
            members = results.file(run["problem"], run["integrator"], run["resolution"]).variables
            means = members.get(f"energy_error_mean{SUFFIX}", members["energy_error_mean"])
            row |= dict(zip(("member_low", "member_median", "member_high"),
                            map(float, np.quantile(means, (0.05, 0.5, 0.95))), strict=True))
        rows.append(row)
    return rows


TABLE = Table(columns, energy_rows,
    readable=("problem_label", "integrator_label", "resolution", "status", "energy_error_mean", "energy_error_max",
              "energy_change", "energy_error_mean_relative", "member_low", "member_median", "member_high",
              "unit_length_error_mean"))
