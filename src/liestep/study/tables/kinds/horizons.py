"""The table `horizons`: how long states of a chaotic motion can be compared."""
from math import log

import numpy as np

from liestep.files.textfiles import TableRow
from liestep.study.plan.plan import Study
from liestep.study.tables.errors import member_distances
from liestep.study.tables.kinds import Table
from liestep.study.tables.kinds.drift import RUN_COLUMNS, run_columns
from liestep.study.tables.kinds.exponents import time_scale
from liestep.study.tables.reading import whole_file

COLUMNS = (*RUN_COLUMNS, "members", "amplitude", "limit", "horizon", "lyapunov_time", "horizon_lyapunov_times",
           "separation_end")
LIMIT = 1e-6


def horizon_rows(study: Study) -> list[TableRow]:
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
        time = horizon(file["time"], apart, amplitude, LIMIT) if amplitude < LIMIT else None
        scale = time_scale(study, cell.spec)
        rows.append({**run_columns(cell), "members": cell.spec.ensemble.members, "amplitude": amplitude,
                     "limit": LIMIT, "horizon": time, "lyapunov_time": scale,
                     "horizon_lyapunov_times": None if time is None else time/scale,  # NaN without a scale
                     "separation_end": float(apart[-1])})
    return rows


def horizon(time: np.ndarray, separation: np.ndarray, start: float, limit: float) -> float | None:
    """First time at which a perturbation of size `start` has grown to `limit`; None if it never does. time, separation:
    shape (n,), times that increase and the distance of the perturbed from the unperturbed motion, in the norm of
    `start` and `limit`. Between samples log(separation) is interpolated; separations below `start` count as `start`."""
    reached = np.flatnonzero(separation >= limit)
    if reached.size == 0:
        return None
    i = int(reached[0])
    if i == 0:
        return float(time[0])
    before = max(float(separation[i - 1]), start)
    return float(time[i - 1] + (time[i] - time[i - 1])*log(limit/before)/log(separation[i]/before))


TABLE = Table(COLUMNS, lambda results: horizon_rows(results.study),
    readable=("problem", "integrator", "resolution", "t_end", "amplitude", "horizon", "lyapunov_time",
              "horizon_lyapunov_times", "separation_end"))
