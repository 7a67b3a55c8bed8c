"""The table `horizons`: how long states of a chaotic motion can be compared."""
from typing import Any

from liestep.study.plan.plan import Study
from liestep.study.tables.chaos import horizon
from liestep.study.tables.errors import member_distances
from liestep.study.tables.kinds.drift import RUN_COLUMNS, run_columns
from liestep.study.tables.kinds.exponents import in_lyapunov_times, time_scale
from liestep.study.tables.reading import whole_file
from liestep.study.tables.table import Table

COLUMNS = (*RUN_COLUMNS, "members", "amplitude", "limit", "horizon", "lyapunov_time", "horizon_lyapunov_times",
           "separation_end")
LIMIT = 1e-6


def horizon_rows(study: Study) -> list[dict[str, Any]]:
    """One row per ensemble: first time at which a member is 1e-6 from the unperturbed one, columns COLUMNS. The
    distance is that of `member_distances`, the largest over the members; horizon is empty if it stays below, and the
    perturbation is the amplitude of the study. The Lyapunov time is that of a run of the study with exponents, of the
    same system, parameters and start."""
    rows = []
    for cell in study.cells:
        if cell.spec.ensemble is None or cell.spec.ensemble.first:
            continue
        file = whole_file(study, cell)
        apart = member_distances(file).max(axis=0, initial=0.0)
        amplitude = cell.spec.ensemble.amplitude
        found = horizon(file["time"], apart, amplitude, LIMIT) if amplitude < LIMIT else None
        scale = time_scale(study, cell.spec)
        rows.append({**run_columns(cell), "members": cell.spec.ensemble.members, "amplitude": amplitude,
                     "limit": LIMIT, "horizon": found, "lyapunov_time": scale,
                     "horizon_lyapunov_times": in_lyapunov_times(found, scale), "separation_end": float(apart[-1])})
    return rows


TABLE = Table(
    COLUMNS, lambda results: horizon_rows(results.study),
    readable=("problem", "integrator", "resolution", "t_end", "amplitude", "horizon", "lyapunov_time",
              "horizon_lyapunov_times", "separation_end"))
