"""The table `momentum`: errors of the momentum map of every run, and of all further invariants and residuals."""
import re
from typing import TYPE_CHECKING

from liestep.files.textfiles import TableRow
from liestep.study.tables.kinds import Table, of_maps
from liestep.study.tables.kinds.energy import LENGTH, RUN
from liestep.study.tables.metrics import STATISTICS, SUFFIX, over_steps

if TYPE_CHECKING:
    from liestep.study.tables.results import StudyResults

MAXIMA = re.compile(r"_(error|change)_max(_\w+)?$")
COLUMNS = (*RUN, "momentum_conserved", "momentum_scale", *(f"momentum_error_max_{axis}" for axis in "xyz"),
           "momentum_error_max", "momentum_error_max_relative", *LENGTH)


def columns(results: "StudyResults") -> tuple[str, ...]:
    """COLUMNS, then the largest errors of what else the systems keep, and of maps which cell a row is."""
    further = [name for name in results.metrics.columns
               if MAXIMA.search(name) and not name.endswith(SUFFIX) and name not in STATISTICS]
    return (*COLUMNS, *further, *of_maps(results.metrics.columns))


def momentum_rows(results: "StudyResults") -> list[TableRow]:
    """momentum_error_max_relative: over the conserved components, divided by sum_i |sum_j M_ij v_j| at the start."""
    rows, names = [], columns(results)
    for run in over_steps(results.metrics).to_dict("records"):
        scale = run["momentum_scale"]
        relative = {"momentum_error_max_relative": run["momentum_error_max"]/scale if scale else None}
        rows.append({name: run.get(name) for name in names} | relative)
    return rows


TABLE = Table(columns, momentum_rows,
    readable=("problem_label", "integrator_label", "resolution", "status", "momentum_conserved", "momentum_error_max_x",
              "momentum_error_max_y", "momentum_error_max_z", "momentum_error_max_relative", "unit_length_error_max"))
