"""Judge the claims of a paper: printed number, ours, criterion, verdict."""
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from liestep.analysis.chaos import interval, quantile_position
from liestep.analysis.results import StudyResults
from liestep.claims import claimfile as rules
from liestep.claims.claimfile import Claim, ClaimFile, Limits, RunChoice
from liestep.claims.features import extrema, last_difference
from liestep.errors import InputError, unknown

COLUMNS = ("paper", "claim", "statement", "source", "printed", "ours", "ratio", "units", "criterion", "verdict",
           "known_beforehand", "evidence", "setting")
OWN_QUANTITY = "energy_change"  # last sample of the energy minus the first
Results = Mapping[str, StudyResults]


@dataclass(frozen=True)
class Outcome:
    """Whether a criterion is met, our number (NaN for none), and the numbers that decided in one line."""

    met: bool
    ours: float
    evidence: str


STOPPED = Outcome(False, math.nan, "the run stopped early")


def judge(claims: ClaimFile, results: Results) -> pd.DataFrame:
    """One row per claim, columns COLUMNS.

    Raises:
        InputError: a claim names a study, run or quantity that does not exist.
    """
    return pd.DataFrame([_row(claims.paper, claim, results) for claim in claims.claims], columns=list(COLUMNS))


def _row(paper: str, claim: Claim, results: Results) -> dict:
    if claim.criterion.kind == "none":
        outcome, verdict = Outcome(False, math.nan, ""), "not testable"
    else:
        try:
            outcome = CRITERIA[type(claim.criterion)](claim, results)
        except InputError as error:
            raise InputError(f"claim {claim.id} of {paper}: {error}") from None
        verdict = claim.verdict if outcome.met else "not reproduced"
    printed = math.nan if claim.printed is None else claim.printed
    return {"paper": paper, "claim": claim.id, "statement": claim.statement, "source": claim.source, "printed": printed,
            "ours": outcome.ours, "ratio": outcome.ours/printed if printed else math.nan, "units": claim.units,
            "criterion": describe(claim), "verdict": verdict, "known_beforehand": claim.known,
            "evidence": outcome.evidence, "setting": claim.setting + _scan(claim, outcome)}


def _scan(claim: Claim, outcome: Outcome) -> str:
    return f" ({claim.scanned} settings scanned)" if claim.scanned and outcome.met else ""


def describe(claim: Claim) -> str:
    """The criterion as a sentence."""
    rule, name = claim.criterion, claim.quantity
    match rule:
        case rules.Relative():
            return f"{name} within {rule.tolerance:g} relative of the printed number"
        case rules.Digits():
            return f"{name} rounds to the {rule.digits} printed digits"
        case rules.Factor():
            return f"{name} within a factor {rule.factor:g} of the printed number"
        case rules.Limit() | rules.Ratio():
            median = "median of " if rule.statistic == "median" else ""
            return (
                f"{median}{name}"
                f" {'divided by that of the compared runs ' if isinstance(rule, rules.Ratio) else ''}{_bounds(rule)}")
        case rules.Quantile():
            return f"printed number inside the central {rule.level:.0%} of the ensemble's {name}"
        case rules.Order():
            return f"observed order is asymptotic and {rule.theory:g} within its uncertainty (at least 0.05)"
        case rules.Drift():
            return f"drift verdict of {name} is {rule.verdict}"
        case rules.Extremum():
            kind = f"{rule.of} |{'d ' if rule.rate else ''}{name}{'/dt' if rule.rate else ''}|"
            factor = f", a factor {rule.prominence:g} from the median" if rule.prominence > 1.0 else ""
            return f"time of the {kind} in s {_bounds(rule)}{factor}"
        case rules.State():
            return f"last sample of {name} within {rule.tolerance:g} of {rule.expected}"
    return "no criterion can be stated"


def _bounds(rule: Limits) -> str:
    return " and ".join(f"{sign} {limit:g}"
                        for sign, limit in (("<=", rule.at_most), (">=", rule.at_least)) if limit is not None)


def _study(choice: RunChoice, results: Results) -> StudyResults:
    if choice.study not in results:
        raise InputError(f"study {choice.study} is not among the studies made")
    return results[choice.study]


def select(choice: RunChoice, results: Results) -> pd.DataFrame:
    """Rows of metrics.csv that a choice means.

    Raises:
        InputError: there is none.
    """
    rows = _study(choice, results).metrics
    for column in ("problem", "integrator", "resolution"):
        wanted = getattr(choice, column)
        if wanted is not None:
            known = dict.fromkeys(rows[column])
            if wanted not in known:
                raise InputError(f"study {choice.study}: {unknown(column, wanted, known)}")
            rows = rows[rows[column] == wanted]
    return rows


def values(claim: Claim, choices: list[RunChoice], results: Results) -> np.ndarray:
    """The claim's quantity for all chosen runs; a run that stopped early counts as NaN."""
    found = []
    for choice in choices:
        for _, row in select(choice, results).iterrows():
            _require_quantity(claim, [OWN_QUANTITY, *(name for name in row.index if not isinstance(row[name], str))])
            if row.status != "ok":
                found.append(math.nan)
            elif claim.quantity == OWN_QUANTITY:
                energy = _study(choice, results).file(row.problem, row.integrator, row.resolution)["energy"]
                found.append(float(energy[-1] - energy[0]))
            else:
                found.append(float(row[claim.quantity]))
    return np.array(found)


def _require_quantity(claim: Claim, known: Iterable[str]) -> None:
    """Raises InputError for a quantity that is not among the known ones; names the closest."""
    if claim.quantity not in known:
        raise InputError(unknown("quantity", claim.quantity, known))


def _compare_printed(claim: Claim, results: Results, met: Callable[[float], bool]) -> Outcome:
    found = values(claim, claim.runs, results)
    if found.size != 1:
        raise InputError(f"a printed number is compared with one run, not with {found.size}")
    return Outcome(bool(met(float(found[0]))), float(found[0]), f"{found[0]:.6g}")


def _relative(claim: Claim, results: Results) -> Outcome:
    return _compare_printed(claim, results, lambda ours: abs(ours/claim.printed - 1.0) <= claim.criterion.tolerance)


def _digits(claim: Claim, results: Results) -> Outcome:
    places = claim.criterion.digits - 1
    return _compare_printed(claim, results, lambda ours: f"{ours:.{places}e}" == f"{claim.printed:.{places}e}")


def _factor(claim: Claim, results: Results) -> Outcome:
    return _compare_printed(claim, results,
                            lambda ours: 1.0/claim.criterion.factor <= ours/claim.printed <= claim.criterion.factor)


def _within(found: np.ndarray, rule: Limits) -> bool:
    low = -math.inf if rule.at_least is None else rule.at_least
    high = math.inf if rule.at_most is None else rule.at_most
    return bool(np.all((found >= low) & (found <= high)))


def _worst(found: np.ndarray, rule: Limits) -> float:
    """The value nearest to (or furthest beyond) the limit."""
    if not np.all(np.isfinite(found)):
        return math.nan
    return float(found.max() if rule.at_most is not None else found.min())


def _judge_bounds(found: np.ndarray, rule: rules.Limit | rules.Ratio) -> Outcome:
    # NaN of a run that stopped early stays NaN
    judged = found if rule.statistic == "each" else np.array([np.median(found)])
    return Outcome(_within(judged, rule), _worst(judged, rule), ", ".join(f"{value:.4g}" for value in found))


def _limit(claim: Claim, results: Results) -> Outcome:
    return _judge_bounds(values(claim, claim.runs, results), claim.criterion)


def _ratio(claim: Claim, results: Results) -> Outcome:
    above, below = values(claim, claim.runs, results), values(claim, claim.against, results)
    if above.size != below.size and below.size != 1:
        raise InputError(f"{above.size} runs cannot be compared with {below.size}")
    with np.errstate(divide="ignore", invalid="ignore"):
        return _judge_bounds(above/below, claim.criterion)


def _quantile(claim: Claim, results: Results) -> Outcome:
    if len(claim.runs) != 1:
        raise InputError("a quantile needs one ensemble run")
    choice = claim.runs[0]
    rows = select(choice, results)
    if len(rows) != 1:
        raise InputError(f"a quantile needs one ensemble run, not {len(rows)}")
    row = rows.iloc[0]
    file = _study(choice, results).file(row.problem, row.integrator, row.resolution)
    _require_quantity(claim, file.variables)
    members = np.asarray(file[claim.quantity], dtype=float)
    if row.status != "ok" or not np.all(np.isfinite(members)):
        return Outcome(False, math.nan, f"the ensemble of {members.size} members has one that failed")
    low, high = interval(members, claim.criterion.level)
    position = quantile_position(claim.printed, members)
    return Outcome(bool(low <= claim.printed <= high), float(np.median(members)),
                   f"{claim.criterion.level:.0%} interval {low:.4g} .. {high:.4g} of {members.size} members, printed at"
                   f" quantile {position:.2f}")


def _order(claim: Claim, results: Results) -> Outcome:
    met, parts, orders = True, [], []
    for choice in claim.runs:
        table = _study(choice, results).table("orders")
        rows = table[(table.problem == choice.problem) & (table.integrator == choice.integrator)]
        if rows.empty:
            raise InputError(f"no order of {choice.problem}/{choice.integrator} in study {choice.study}")
        row = rows.iloc[0]
        near = row["class"] == "asymptotic" and abs(row["p"] - claim.criterion.theory) <= max(row["u"], 0.05)
        met = met and bool(near)
        orders.append(float(row["p"]))
        parts.append(f"{choice.problem} {row['p']:.3f} +- {row['u']:.3f} ({row['class']})")
    return Outcome(met, orders[0], "; ".join(parts))


def _drift(claim: Claim, results: Results) -> Outcome:
    parts = []
    met = True
    for choice in claim.runs:
        table = _study(choice, results).table("drift")
        rows = table[(table.problem == choice.problem) & (table.integrator == choice.integrator)
                     & (table.invariant == claim.quantity)]
        if rows.empty:
            raise InputError(f"no drift verdict of {claim.quantity} for {choice.problem}/{choice.integrator} in study"
                             f" {choice.study}")
        met = met and bool((rows.verdict == claim.criterion.verdict).all())
        parts.append(f"{choice.problem}: {', '.join(rows.verdict)}")
    return Outcome(met, math.nan, "; ".join(parts))


def _variable(claim: Claim, results: Results) -> tuple[np.ndarray, np.ndarray] | None:
    """Times and values of the claim's variable in the one run it names; None if that stopped early.

    Raises:
        InputError: several runs, or no such variable.
    """
    rows = [(choice, row) for choice in claim.runs for _, row in select(choice, results).iterrows()]
    if len(rows) != 1:
        raise InputError(f"criterion {claim.criterion.kind} needs one run, not {len(rows)}")
    choice, row = rows[0]
    if row.status != "ok":
        return None
    file = _study(choice, results).file(row.problem, row.integrator, row.resolution)
    _require_quantity(claim, file.variables)
    found = np.asarray(file[claim.quantity], dtype=float)
    return np.asarray(file["accepted_time" if claim.quantity.startswith("accepted_") else "time"], dtype=float), found


def _extremum(claim: Claim, results: Results) -> Outcome:
    if (found := _variable(claim, results)) is None:
        return STOPPED
    times, prominent, evidence = extrema(*found, claim.criterion)
    return Outcome(_within(times, claim.criterion) and prominent, _worst(times, claim.criterion), evidence)


def _state(claim: Claim, results: Results) -> Outcome:
    if (found := _variable(claim, results)) is None:
        return STOPPED
    difference = last_difference(found[1], claim.criterion)
    return Outcome(difference <= claim.criterion.tolerance, math.nan,
                   f"largest difference {difference:.4g} at t = {found[0][-1]:.6g}")


CRITERIA: dict[type, Callable[[Claim, Results], Outcome]] = {
    rules.Relative: _relative, rules.Digits: _digits, rules.Factor: _factor, rules.Limit: _limit, rules.Ratio: _ratio,
    rules.Quantile: _quantile, rules.Order: _order, rules.Drift: _drift, rules.Extremum: _extremum, rules.State: _state}
