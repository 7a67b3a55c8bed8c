"""The table `crossover_time`: of two methods at one cost, from when on the better one is better for good."""
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, pairwise
from math import inf, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from liestep.compile.counters import EVALUATIONS, evaluations_of
from liestep.paper import RunFile, Table
from liestep.simulation.runs.content import BLOCKS_SUFFIX
from liestep.study.tables.choice import TIE
from liestep.study.tables.errors import error_fields, error_history
from liestep.study.tables.kinds import KEYS

if TYPE_CHECKING:
    import pandas

    from liestep.study.tables.results import StudyResults

COLUMNS = ("study", "motion", "quantity", "evaluations_per_period", "method", "other", "verdict", "crossover_time",
           "crossover_periods", "ratio", "error", "error_other", "t_end")
NEAR = 1.1        # a run whose cost differs by at most this factor from what is asked for stands for it
LEAST = 1e-300    # errors of zero have no logarithm
KEPT = 1e-11      # relative errors of momentum and manifold below which nobody is better


class Curve(NamedTuple):
    """Largest error up to each time: (n,) s, (n,); infinite after the time at which a run stopped."""

    times: np.ndarray
    errors: np.ndarray


Spent = dict[float, list[tuple[float, Curve]]]  # horizon -> (evaluations in a period, errors) of each run


class MotionHorizons(NamedTuple):
    """Problems that are one motion over several horizons: (t_end, key), growing."""

    name: str
    period: float
    budgets: tuple[float, ...]    # evaluations in a period
    horizons: tuple[tuple[float, str], ...]


def crossover_time_rows(results: "StudyResults") -> list[dict[str, Any]]:
    """One row for each motion, quantity, cost and pair of methods, columns COLUMNS. method is the one that has the
    smaller error at the end of the longest horizon that both have. crossover_time is the first time from which on its
    error stays the smaller one; 0 where it always is. Errors are the largest up to a time: of the energy (J) and the
    momentum (relative) over all steps at the ends of the hundredths of each horizon, of the manifold likewise, of the
    state at the samples. verdict: from the start, takes over, tie (the errors at the end differ by 10 % at most, or
    both keep momentum or manifold to KEPT), neither (both stopped)."""
    rows = []
    for motion in motions(results):
        known = {name: spent(results, motion, name) for name in results.config.integrators}
        for quantity in QUANTITIES:
            for budget in motion.budgets:
                found = {name: parts for name in known if (parts := at_cost(known[name][quantity], budget))}
                for one, other in combinations(found, 2):
                    row = compare({one: found[one], other: found[other]}, quantity)
                    if row is not None:
                        rows.append({"study": results.study.name, "motion": motion.name, "quantity": quantity,
                                     "evaluations_per_period": budget, **row,
                                     "crossover_periods": row["crossover_time"]/motion.period})
    return rows


def motions(results: "StudyResults") -> list[MotionHorizons]:
    """The problems of a study that have horizons."""
    groups: dict[str, list[tuple[float, str]]] = {}
    for key, setup in results.config.problems.items():
        name, _, count = key.rpartition("_")
        if setup.period is not None and setup.evaluations and count.isdigit() and setup.t_end is not None:
            groups.setdefault(name, []).append((setup.t_end, key))
    found = []
    for name, horizons in groups.items():
        setup = results.config.problems[horizons[0][1]]
        assert setup.period is not None
        periods = round(horizons[0][0]/setup.period)
        found.append(MotionHorizons(name, setup.period, tuple(n/periods for n in setup.evaluations or ()),
                            tuple(sorted(horizons))))
    return found


def compare(pair: Mapping[str, Mapping[float, Curve]], quantity: str) -> dict[str, Any] | None:
    """What a row says of two methods (name -> horizon -> curve); None if they have no horizon together."""
    (one, first), (other, second) = pair.items()
    common = sorted(first.keys() & second.keys())
    if not common:
        return None
    times, errors = joined(first, common)
    _, others = joined(second, common)
    if errors[-1] > others[-1]:
        one, other, errors, others = other, one, others, errors
    crossover_time = takes_over(times, errors, others)
    ratio = others[-1]/errors[-1] if errors[-1] > 0.0 and np.isfinite(errors[-1]) else nan
    if not np.isfinite(errors[-1]):
        verdict = "neither"
    elif others[-1] <= TIE*errors[-1] or (quantity in ("momentum", "manifold") and others[-1] < KEPT):
        verdict = "tie"
    else:
        verdict = "from the start" if crossover_time == 0.0 else "takes over"
    if verdict in ("neither", "tie"):
        crossover_time = nan
    return {"method": one, "other": other, "verdict": verdict, "crossover_time": crossover_time, "ratio": ratio,
            "error": errors[-1], "error_other": others[-1], "t_end": common[-1]}


def takes_over(times: np.ndarray, errors: np.ndarray, others: np.ndarray) -> float:
    """First time from which on the errors stay below the others; 0 if they always are, infinite if not at the end.
    times, errors, others: shape (n,), of one grid."""
    above = np.flatnonzero(~(errors < others))
    if above.size == 0:
        return 0.0
    return inf if above[-1] == len(times) - 1 else float(times[above[-1] + 1])


def joined(parts: Mapping[float, Curve], horizons: list[float]) -> Curve:
    """One curve of several horizons: of each the times after the one before it."""
    before, times, errors = 0.0, [], []
    for t_end in horizons:
        late = parts[t_end].times > before*(1.0 + 1e-9)
        times.append(parts[t_end].times[late])
        errors.append(parts[t_end].errors[late])
        before = t_end
    return Curve(np.concatenate(times), np.maximum.accumulate(np.concatenate(errors)))


def spent(results: "StudyResults", motion: MotionHorizons, integrator: str, quantities: Iterable[str] = ()
          ) -> dict[str, Spent]:
    """What the runs of a method show, by quantity (default: all)."""
    found: dict[str, Spent] = {name: {} for name in quantities or QUANTITIES}
    for t_end, problem in motion.horizons:
        runs = results.select(problem, integrator)
        for run in runs[["resolution", "time_reached", *EVALUATIONS, "steps"]].to_dict("records"):
            cost = spent_in_a_period(run, motion.period)
            if cost > 0.0:
                file = results.file(problem, integrator, run["resolution"])
                for name, parts in found.items():
                    if (curve := QUANTITIES[name](results, problem, file)) is not None:
                        parts.setdefault(t_end, []).append((cost, curve))
    return found


def at_cost(parts: Spent, budget: float) -> dict[float, Curve]:
    """Horizon -> errors of a method that spends `budget` evaluations in a period: of a run within NEAR, or interpolated
    (logarithms) between the two runs that enclose it; horizons without either are left out."""
    found = {t_end: interpolated(sorted(runs, key=lambda run: run[0]), budget) for t_end, runs in parts.items()}
    return {t_end: curve for t_end, curve in found.items() if curve is not None}


def spent_in_a_period(run: Mapping[Any, Any], period: float) -> float:
    """Evaluations of forces or right-hand sides in a period of the time reached; 0 for a run without a step."""
    return float(evaluations_of(run)*period/run["time_reached"]) if run["time_reached"] > 0.0 else 0.0


def interpolated(runs: list[tuple[float, Curve]], budget: float) -> Curve | None:
    """Errors at a cost from those of runs by growing cost; None if they do not enclose it."""
    near = min(runs, key=lambda run: abs(np.log(run[0]/budget)), default=None)
    if near is not None and max(near[0]/budget, budget/near[0]) <= NEAR:
        return near[1]
    for (low, cheap), (high, dear) in pairwise(runs):
        if low <= budget <= high:
            share = np.log(budget/low)/np.log(high/low)
            with np.errstate(invalid="ignore"):
                parts = (1.0 - share)*np.log(np.maximum(cheap.errors, LEAST)), share*np.log(
                    np.maximum(dear.errors, LEAST))
            return Curve(cheap.times, np.exp(parts[0] + parts[1]))
    return None


def _stopped(curve: Curve, file: RunFile) -> Curve:
    """Infinite errors after the end of a run that stopped early: it is no winner."""
    late = curve.times > file.attributes["time_reached"]*(1.0 + 1e-9)
    return Curve(curve.times, np.where(late & file.failed, inf, curve.errors))


def _blocks(file: RunFile, extents: np.ndarray) -> Curve:
    """Largest values up to the end of each part of a run; a part without a step keeps what was before it."""
    times = (np.arange(extents.size) + 1.0)/extents.size*file.attributes["t_end"]
    return _stopped(Curve(times, np.nan_to_num(np.fmax.accumulate(extents), nan=0.0)), file)


def energy_curve(results: "StudyResults", problem: str, file: RunFile) -> Curve:
    """|E - E(0)|, J."""
    return _blocks(file, file.block_extents("energy"))


def momentum_curve(results: "StudyResults", problem: str, file: RunFile) -> Curve | None:
    """Conserved components of the momentum map, relative to its size; None where there are none."""
    axes = ["xyz".index(axis) for axis in file.attributes.get("momentum_conserved", "none") if axis in "xyz"]
    if f"momentum_map{BLOCKS_SUFFIX}" not in file.variables or file.attributes["momentum_conserved"] == "none":
        return None
    scale = float(file.attributes["momentum_scale"]) or 1.0
    return _blocks(file, file.block_extents("momentum_map")[:, axes].max(axis=1)/scale)


def manifold_curve(results: "StudyResults", problem: str, file: RunFile) -> Curve | None:
    """Largest distance from the manifold, of lengths and orthogonality; None for states that cannot leave it."""
    names = [name.removesuffix(BLOCKS_SUFFIX) for name in file.variables if name.endswith(f"_error{BLOCKS_SUFFIX}")]
    parts = [extents for name in names if (extents := file.block_extents(name)).ndim == 1]
    return _blocks(file, np.max(parts, axis=0)) if parts else None


def state_curve(results: "StudyResults", problem: str, file: RunFile) -> Curve | None:
    """Scaled state error at the samples; None without a reference."""
    reference = results.reference(problem)
    if reference is None:
        return None
    fields, kept = error_fields(file), len(file["time"])
    if kept < len(reference["time"]):     # it stopped early: its samples end before
        names = [part.name for part in fields]
        cut = RunFile(reference.path, reference.attributes, {**reference.variables,
                                                             **{name: reference[name][:kept] for name in names}})
        history = error_history(fields, file.variables, cut) if kept else np.empty(0)
        history = np.concatenate((history, np.full(len(reference["time"]) - kept, inf)))
    else:
        history = error_history(fields, file.variables, reference)
    return _stopped(Curve(reference["time"][1:], np.maximum.accumulate(history)[1:]), file)


QUANTITIES: dict[str, Callable[["StudyResults", str, RunFile], Curve | None]] = {
    "energy": energy_curve, "momentum": momentum_curve, "manifold": manifold_curve, "state": state_curve}


def crossover_times(table: "pandas.DataFrame", motion: str, quantity: str, method: str, other: str
              ) -> Iterator[tuple[float, float]]:
    """(evaluations in a period, periods after which `method` takes over from `other`) of a table; infinite where the
    other one is better in the end or neither comes to it, NaN for a tie."""
    rows = table[(table["motion"] == motion) & (table["quantity"] == quantity)]
    for row in rows.to_dict("records"):
        if {row["method"], row["other"]} == {method, other}:
            lost = row["verdict"] == "neither" or (row["verdict"] != "tie" and row["method"] != method)
            yield row["evaluations_per_period"], inf if lost else row["crossover_periods"]


TABLE = Table(
    COLUMNS, crossover_time_rows, readable=COLUMNS[1:], keys=KEYS[:1],
    needed=("motion", "quantity", "evaluations_per_period", "method", "other", "verdict", "crossover_periods"))
