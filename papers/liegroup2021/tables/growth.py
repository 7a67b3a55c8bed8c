"""The table `growth`: how the state error grows with time, e(t) = C t^k for the largest error up to t. Symplectic and
symmetric methods on integrable problems have k = 1, others k = 2 where their energy error drifts linearly."""
from dataclasses import dataclass
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from liestep.paper import Table
from liestep.study.tables.drift import CONFIRMATION, SLACK
from liestep.study.tables.errors import error_fields, error_history, reference_floor
from liestep.study.tables.order import FLOOR_FACTOR, LARGEST_ERROR

if TYPE_CHECKING:
    from liestep.study.tables.results import StudyResults

SPAN = 10.0          # the fit begins at T/SPAN
POINTS = 40          # equally spaced in log t
LEAST = 0.05         # smallest uncertainty that is reported
SURE = 0.1           # largest uncertainty of an exponent that gets a name
PART = 1.0/CONFIRMATION  # the fit over this part of the run must give the same name
NAMES = {0: "constant", 1: "linear", 2: "quadratic", 3: "cubic"}
PAIR = ("study", "problem", "problem_label", "integrator", "integrator_id", "integrator_label", "resolution",
        "step", "t_end")
COLUMNS = (*PAIR, "status", "error", "floor", "exponent", "uncertainty", "exponent_quarter", "uncertainty_quarter",
           "growth", "reason")


def growth_rows(results: "StudyResults") -> list[dict[str, Any]]:
    """One row per run with a reference, columns COLUMNS. growth is the name of the whole number k with |exponent - k|
    <= uncertainty <= SURE, if the fit over the first quarter of the run, which is the run of a quarter of the duration,
    gives the same name (a long run may be judged by its own first quarter because its steps are those of the short
    one); "undecided" if not (two powers of similar size, or of opposite sign, whose sum passes zero); "floor-limited"
    where the error at T/SPAN is below FLOOR_FACTOR times the reference's floor, "saturated" where it exceeds
    LARGEST_ERROR at the end."""
    rows = []
    for run in results.metrics.to_dict("records"):
        row = {name: run[name] for name in (*PAIR, "status")}
        if run["status"] == "ok" and run["members"] == 1:
            file, reference = (results.file(run["problem"], run["integrator"], run["resolution"]),
                               results.reference(run["problem"]))
            assert reference is not None
            fields = error_fields(file)
            row |= judge(file["time"], error_history(fields, file.variables, reference),
                         reference_floor(reference, fields))
        rows.append(row)
    return rows


def judge(time: np.ndarray, error: np.ndarray, floor: float) -> dict[str, Any]:
    """Exponent of the largest error up to t, its uncertainty and its name, for samples of the error at `time` (both
    (time,)). The uncertainty is the largest of: half the difference of the exponents of both halves (in log t), two
    standard errors, LEAST. It is a bound by disagreement, not a probability."""
    part = int(np.searchsorted(time, PART*time[-1]*(1.0 + SLACK), side="right"))
    whole, quarter = _fit(time, error, floor), _fit(time[:part], error[:part], floor)
    found = {"error": float(error.max()), "floor": floor, "exponent": whole.exponent, "uncertainty": whole.uncertainty,
             "exponent_quarter": quarter.exponent, "uncertainty_quarter": quarter.uncertainty, "growth": whole.name}
    if whole.name in NAMES.values() and whole.name != quarter.name:
        found["growth"] = "undecided"
    return found | {"reason": f"{quarter.words} up to T/{CONFIRMATION:g}, {whole.words} up to T"}


@dataclass(frozen=True)
class _Fit:
    """Exponent and uncertainty of one span of time (NaN for errors below the floor), and the name that they give."""

    exponent: float
    uncertainty: float
    name: str

    @property
    def words(self) -> str:
        return self.name if isnan(self.exponent) else f"{self.exponent:.2f} +- {self.uncertainty:.2f} ({self.name})"


def _fit(time: np.ndarray, error: np.ndarray, floor: float) -> _Fit:
    """The fit between T/SPAN and T for the times T = time[-1]."""
    largest = np.maximum.accumulate(error)
    at = time[-1]/SPAN*SPAN**np.linspace(0.0, 1.0, POINTS)
    values = np.interp(at, time, largest)
    if values[0] < max(FLOOR_FACTOR*floor, np.finfo(float).tiny):
        return _Fit(nan, nan, "floor-limited")
    x, y, middle = np.log(at), np.log(values), POINTS//2
    exponent, deviation = _slope(x, y)
    halves = _slope(x[:middle], y[:middle])[0], _slope(x[middle:], y[middle:])[0]
    uncertainty = max(0.5*abs(halves[1] - halves[0]), 2.0*deviation, LEAST)
    nearest = round(exponent)
    named = abs(exponent - nearest) <= uncertainty <= SURE and nearest in NAMES
    return _Fit(exponent, uncertainty,
                "saturated" if largest[-1] > LARGEST_ERROR else NAMES[nearest] if named else "undecided")


def _slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Least-squares slope and its standard error."""
    x, y = x - x.mean(), y - y.mean()
    spread = float(x @ x)
    slope = float(x @ y)/spread
    rest = y - slope*x
    return slope, sqrt(float(rest @ rest)/(len(x) - 2)/spread) if len(x) > 2 else nan


TABLE = Table(
    COLUMNS, growth_rows,
    readable=("problem_label", "integrator_label", "resolution", "t_end", "status", "growth", "reason", "error",
              "floor"),
    needed=("resolution", "exponent", "uncertainty", "growth"))
