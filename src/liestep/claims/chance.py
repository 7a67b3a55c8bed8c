"""How likely a scan of free data finds a printed number by chance. All settings of the scan but the one that was found
tell how densely settings give numbers around the printed one. The distance of a setting is the largest
|ln(ours/printed)| of the numbers that it must give. With n settings, k = ceil sqrt(n), and r the distance of the k-th
nearest, a setting that has nothing to do with the paper gives a number whose accepted interval is ln(high/low) = w wide
with probability (k/n) w/(2 r), and several numbers with the product of these factors. The product has no more factors
than data were varied, because settings on a curve do not fill a plane; the widest intervals are taken. Where at least
ENOUGH of the others give all numbers, their share counts if it is larger. N independent trials match at least once with
probability 1 - (1 - share)^N."""
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from liestep.claims import selection
from liestep.claims.claimfile import Claim, Scan
from liestep.claims.selection import Results, RunChoice, number_columns, require_quantity
from liestep.errors import InputError
from liestep.study.tables.quantities import quantities_of

if TYPE_CHECKING:
    import pandas

ENOUGH = 10      # settings that give all numbers, from which their share is known to a third
MEAN = "_error_mean"


@dataclass(frozen=True)
class Chance:
    """What a scan says. settings: number of settings tried. hits: how many of them give all numbers. share: probability
    that a setting gives them by chance. probability: that at least one of the settings does. sensitivity: relative
    change of the number divided by that of the step, tolerance or end time, between the neighbours of the setting
    found; NaN without neighbours."""

    settings: int
    hits: int
    share: float
    probability: float
    sensitivity: float


@dataclass(frozen=True)
class _Tried:
    """Settings of a scan: numbers of each, (settings, targets); what was varied along a sweep and which sweep it is,
    (settings,); which of them is that of the claim; and which were tried (the others only fill the space)."""

    numbers: np.ndarray
    along: np.ndarray
    sweep: np.ndarray
    found: np.ndarray
    tried: np.ndarray


def chance(claim: Claim, claims: Mapping[str, Claim], results: Results) -> Chance:
    """The chance that the scan of a claim gives its printed number, and those of the claims that it names. Raises
    InputError: the scan names a run or quantity that does not exist, or has fewer than three settings."""
    scan = claim.scan
    assert scan is not None
    targets = [claim, *(claims[name] for name in scan.jointly)]
    tried = _runs(claim, scan, targets, results) if scan.ends is None else _ends(claim, scan, scan.ends, results)
    count = int(tried.tried.sum())
    if count < 3:
        raise InputError(f"a scan needs at least three settings, not {count}")
    printed = np.array([target.printed or 0.0 for target in targets])
    if printed.min() <= 0.0:
        raise InputError("a scan needs a printed number above zero")
    accepted = np.array([target.criterion.accepted(target, results) for target in targets])
    inside = np.all((tried.numbers >= accepted[:, 0]) & (tried.numbers <= accepted[:, 1]), axis=1)
    others = ~tried.found
    share = _share(tried.numbers[others], printed, np.log(accepted[:, 1]/accepted[:, 0]), len(scan.over))
    if inside[others].sum() >= ENOUGH:
        share = max(share, float(inside[others].mean()))
    probability = -math.expm1(count*math.log1p(-share)) if share < 1.0 else 1.0
    return Chance(count, int((inside & tried.tried).sum()), share, probability, _sensitivity(tried))


def _share(numbers: np.ndarray, printed: np.ndarray, widths: np.ndarray, data: int) -> float:
    """Probability that a setting gives all printed numbers, see the module.

    Args:
        numbers: (settings, targets), NaN for failed runs.
        printed: (targets,).
        widths: (targets,) of the accepted intervals, in logarithms.
        data: number of data that were varied.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.abs(np.log(numbers/printed)).max(axis=1)
    distance = np.sort(np.where(np.isfinite(distance), distance, math.inf))
    k = math.ceil(math.sqrt(distance.size))
    while k > 1 and not math.isfinite(distance[k - 1]):
        k -= 1
    if not math.isfinite(distance[k - 1]):
        return 1.0  # no setting says anything
    widest = np.sort(widths)[::-1][:min(data, widths.size)]
    factors = widest/np.maximum(widest, 2.0*distance[k - 1])
    return float(min(1.0, k/distance.size*np.prod(factors)))


def _sensitivity(tried: _Tried) -> float:
    """Slope in logarithms between the nearest settings of the same sweep on both sides of the one found."""
    if tried.found.sum() != 1:
        return math.nan
    place, = np.flatnonzero(tried.found)
    beside = tried.tried & (tried.sweep == tried.sweep[place])
    there = np.flatnonzero(beside & np.all(np.isfinite(tried.numbers), axis=1))
    below, above = (there[tried.along[there] < tried.along[place]], there[tried.along[there] > tried.along[place]])
    low = below[tried.along[below].argmax()] if below.size else place
    high = above[tried.along[above].argmin()] if above.size else place
    if low == high or min(tried.numbers[low, 0], tried.numbers[high, 0]) <= 0.0:
        return math.nan
    return float(math.log(tried.numbers[high, 0]/tried.numbers[low, 0])/math.log(tried.along[high]/tried.along[low]))


def _rows(choices: list[RunChoice], results: Results) -> list[tuple[RunChoice, "pandas.Series"]]:
    """Rows of metrics.csv of all choices, each run once."""
    return list({(choice.study, row.problem, row.integrator, row.resolution): (choice, row)
                 for choice in choices for _, row in selection.select(choice, results).iterrows()}.values())


def _own(claim: Claim, results: Results) -> "pandas.Series":
    """Row of metrics.csv of the claim's run; of an ensemble that of its first member, which has the start itself."""
    (choice, row), = _rows(claim.runs, results)
    if row.get("members", 1) > 1 and claim.quantity in quantities_of(choice.study).names:  # no column of an ensemble
        file, _ = selection.ensemble_of("scan", claim.runs, results)
        row[claim.quantity] = selection.member_values(file, claim.quantity, choice.study)[0]
    require_quantity(claim.quantity, number_columns(row))
    return row


def _runs(claim: Claim, scan: Scan, targets: list[Claim], results: Results) -> _Tried:
    """Every run of the scan is a setting."""
    rows = _rows(scan.runs, results)
    for target in targets:
        require_quantity(target.quantity, number_columns(rows[0][1]))
    numbers = np.array([[float(row[target.quantity]) if row.status == "ok" else math.nan for target in targets]
                        for _, row in rows])
    sweeps = [(choice.study, row.problem, row.integrator) for choice, row in rows]
    along = [row.step if math.isnan(row.tolerance) else row.tolerance for _, row in rows]
    own = _own(claim, results)[claim.quantity]  # its setting gives the claim's number in all digits but the last
    return _Tried(numbers, np.array(along, dtype=float), np.array([sweeps.index(sweep) for sweep in sweeps]),
                  np.isclose(numbers[:, 0], own, rtol=1e-12, atol=0.0), np.full(len(rows), True))


def _ends(claim: Claim, scan: Scan, ends: float, results: Results) -> _Tried:
    """Every stored time of the runs is a setting; those that are multiples of `ends` were tried."""
    if scan.jointly or not claim.quantity.endswith(MEAN):
        raise InputError(f"a scan of ends needs a quantity <invariant>{MEAN} and no other claims")
    own, parts = _own(claim, results), []
    for number, (choice, row) in enumerate(_rows(scan.runs, results)):
        file = results[choice.study].file(row.problem, row.integrator, row.resolution)
        time, values = selection.variable(file, "time"), selection.variable(file, claim.quantity.removesuffix(MEAN))
        if values.ndim != 1 or time.size != int(row.steps) + 1:
            raise InputError(f"a scan of ends needs one number for each step; {row.problem}/{row.integrator} stores"
                             f" {time.size} samples of {int(row.steps)} steps")
        means = np.cumsum(np.abs(values - values[0]))/np.arange(1, time.size + 1)
        multiple = time/ends
        tried = np.abs(multiple - np.round(multiple)) <= 1e-9*np.maximum(1.0, multiple)
        same = np.isclose(time, own.t_end, atol=0.0) & np.isclose(means, own[claim.quantity], rtol=1e-9, atol=0.0)
        parts.append((means[1:, None], time[1:], np.full(time.size - 1, number), same[1:], tried[1:]))
    return _Tried(*(np.concatenate([columns[k] for columns in parts]) for k in range(5)))
